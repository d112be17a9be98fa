"""The base of every config section: strict, immutable, all errors in one message in plain language.

The JSON Schema of a section includes the bounds of exact numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    RootModel,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from anonymizer.errors import nearest, shown, suggestion
from anonymizer.model.feature_rows import Conflict
from anonymizer.plugins import LARGEST_WHOLE, Settings

JsonSchema = dict[str, Any]
KeyPath = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[\w-]+", re.ASCII)
_PER_CENT = re.compile(r"\s*(\d{1,3}(?:[.,]\d{1,9})?)\s*%\s*", re.ASCII)


def dotted(path: KeyPath) -> str:
    """Return a path into the config in the notation of messages and ``--set``.

    >>> dotted(("constraints", 0, "k")), dotted(("attributes", "a.b", "role"))
    ('constraints[0].k', 'attributes."a.b".role')
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _PLAIN_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{name}" if text else name
    return text


def resolved(schema: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """Return a schema with references followed and the null branch of an optional value dropped."""
    while True:
        if "$ref" in schema:
            schema = {**definitions[schema["$ref"].rpartition("/")[2]], **_without(schema, "$ref")}
        elif len(_branches(schema)) == 1:
            schema = {**_branches(schema)[0], **_without(schema, "anyOf")}
        else:
            return schema


def _without(schema: JsonSchema, key: str) -> JsonSchema:
    return {name: value for name, value in schema.items() if name != key}


def _branches(schema: JsonSchema) -> list[JsonSchema]:
    return [branch for branch in schema.get("anyOf", []) if branch.get("type") != "null"]


def choices(schema: JsonSchema) -> tuple[str, ...]:
    """Return the texts that a resolved schema lists; empty if it lists none."""
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return tuple(value for value in listed if isinstance(value, str))


def types(schema: JsonSchema, definitions: JsonSchema) -> frozenset[str]:
    """Return the JSON types that a schema allows; empty if it allows any."""
    schema = resolved(schema, definitions)
    branches = _branches(schema) or schema.get("oneOf", [])
    if branches:
        every = [types(branch, definitions) for branch in branches]
        return frozenset().union(*every) if all(every) else frozenset()
    given = schema.get("type", [])
    return frozenset([given] if isinstance(given, str) else given)


def describe(schema: JsonSchema, definitions: JsonSchema) -> str:
    """Return the values that a schema accepts in words, such as ``a whole number >= 1``.

    >>> describe({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {})
    'a number > 0 and <= 1'
    """
    schema = resolved(schema, definitions)
    if choices(schema):
        return ", ".join(choices(schema))
    if _branches(schema):
        *first, last = dict.fromkeys(describe(branch, definitions) for branch in _branches(schema))
        return f"{', '.join(first)} or {last}" if first else last
    kind = schema.get("type", "object" if "oneOf" in schema else None)
    match kind[0] if isinstance(kind, list) else kind:
        case "integer":
            words = "a whole number" + _bounds(schema)
        case "number":
            words = "a number" + _bounds(schema)
        case "boolean":
            words = "true or false"
        case "string":
            words = "text" + _example(schema)
        case "array":
            words = "a list" + (_each(describe(schema["items"], definitions)) if "items" in schema else "")
        case "object":
            words = "a mapping" + _keys(schema)
        case _:
            words = "a value of another kind"
    return words


_SEVERAL = {
    "a whole number": "whole numbers",
    "a number": "numbers",
    "text": "texts",
    "a mapping": "mappings",
}


def _each(item: str) -> str:
    """Return the end of a description of a list from that of its items."""
    for one, several in _SEVERAL.items():
        if item.startswith(one) and " or " not in item:
            return f" of {several}{item.removeprefix(one)}"
    return f", each {item}"


def _keys(schema: JsonSchema) -> str:
    return _with_keys(schema["properties"]) if schema.get("properties") else ""


def _with_keys(names: Collection[str]) -> str:
    return f" with the {'key' if len(names) == 1 else 'keys'} {', '.join(names)}"


def _example(schema: JsonSchema) -> str:
    if not schema.get("examples"):
        return ""
    return f" {'of the form' if 'pattern' in schema else 'such as'} {schema['examples'][0]}"


def _bounds(schema: JsonSchema) -> str:
    if schema.get("maximum") == LARGEST_WHOLE:
        # Every whole number has this bound; only a message about a larger one shows it.
        schema = _without(schema, "maximum")
    if "minimum" in schema and "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]
    return " " + " and ".join(bounds) if bounds else ""


_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def key_of(name: str, field: FieldInfo) -> str:
    """Return the key of a field in the config: its alias, if it has one, or its name."""
    return field.validation_alias if isinstance(field.validation_alias, str) else name


@lru_cache(maxsize=512)
def keys(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the field names of a settings class by their key in the config."""
    return {key_of(name, field): name for name, field in model.model_fields.items()}


@lru_cache(maxsize=512)
def field_schema(model: type[BaseModel], name: str) -> JsonSchema:
    """Return the schema of one field of a settings class, with its ``$defs``."""
    field = model.model_fields[name]
    annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    schema = TypeAdapter(annotation).json_schema()
    schema.update(field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {})
    if field.examples:
        schema["examples"] = field.examples
    return _with_bounds(schema, field)


def _with_bounds(schema: JsonSchema, field: FieldInfo) -> JsonSchema:
    """Add the bounds of a field that its schema lacks, as it does for an exact number."""
    for limit in field.metadata:
        for attribute, keyword in _BOUNDS.items():
            bound = getattr(limit, attribute, None)
            if bound is not None:
                number = int(bound) if bound == int(bound) else float(bound)
                _add_bound(schema, keyword, number)
    return schema


def with_field_bounds(properties: JsonSchema, model: type[BaseModel]) -> JsonSchema:
    """Return the properties of a settings class with the bounds of its exact numbers."""
    names = keys(model)
    return {
        key: _with_bounds(dict(value), model.model_fields[names[key]]) for key, value in properties.items()
    }


def _add_bound(schema: JsonSchema, keyword: str, number: int | float) -> None:
    for part in [schema, *schema.get("anyOf", [])]:
        if part.get("type") in {"integer", "number"}:
            part.setdefault(keyword, number)


def plain(value: Any) -> Any:
    """Return a dumped setting in plain JSON types; a decimal becomes a number that reads back as the same.

    A decimal with more digits than a JSON reader keeps becomes text, which the config accepts as well.
    """
    match value:
        case Decimal():
            return _number(value)
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case str():
            return str(value)
        case _:
            return value


def _number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value() and value.adjusted() < 16:
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)


Model = TypeVar("Model", bound=BaseModel)

SETTINGS = "\0settings"
"""Key of a plug-in's parameters while its section is validated; no file can contain this key."""


def problem(what: str, path: KeyPath = (), given: Any = None) -> InitErrorDetails:
    """Return an error at a path below the section that is being validated."""
    kind = PydanticCustomError("config", "{what}", {"what": what})
    return InitErrorDetails(type=kind, loc=path, input=given)


def refusal(problems: Iterable[InitErrorDetails]) -> ValidationError:
    """Return the exception that carries errors to the loader."""
    return ValidationError.from_exception_data("config", list(problems))


def refuse(found: Iterable[Conflict]) -> None:
    """Refuse what does not go together in the section that is being validated.

    Raises
    ------
    ValidationError: there is something.
    """
    problems = [problem(each.what, each.path) for each in found]
    if problems:
        raise refusal(problems)


class Section(Settings):
    """A part of the config."""

    @model_validator(mode="wrap")
    @classmethod
    def _in_plain_words(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, cls):
            return data
        data = cls.normalize_input(data)
        if not isinstance(data, Mapping):
            raise refusal([problem(f"{shown(data)}; accepted: {cls._form(data)}", (), data)])
        return validated(cls, data, handler, cls.accepted_keys)

    @classmethod
    def _form(cls, data: Any) -> str:
        """Return the accepted mapping in words; given text is shown under the section's first key."""
        accepted = cls.accepted_keys()
        example = f", such as {{{accepted[0]}: {data}}}" if isinstance(data, str) and data else ""
        return f"a mapping{_with_keys(accepted)}{example}"

    @classmethod
    def _broken(cls, said: Sequence[tuple[str, str]]) -> ValueError:
        return refusal(problem(what, (at,) if at else ()) for what, at in said)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return raw data by the names of the class's fields; ``config_form`` is the inverse."""
        return data

    @classmethod
    def accepted_keys(cls) -> list[str]:
        """Return the keys of this section in a config."""
        return [key for key in keys(cls) if key != SETTINGS]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema with the bounds of exact numbers."""
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        schema["properties"] = with_field_bounds(schema["properties"], cls)
        return reference

    def to_dict(self) -> dict[str, Any]:
        """Return the section in plain JSON types, defaults included; ``load_config`` reads it back."""
        return settings_to_dict(self)

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> Any:
        """Return dumped fields by the keys of a config; ``normalize_input`` is the inverse."""
        return own


class ShortSection(Section):
    """A section that may be given by the value of one of its keys alone.

    Class attributes
    ----------------
    short: that key, of a text unless a class says otherwise.
    """

    short: ClassVar[str]

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return a text as a mapping with that text only."""
        return {cls.short: data} if isinstance(data, str) else data

    @classmethod
    def forms(cls, frame: JsonSchema) -> list[JsonSchema]:
        """Return the schemas of both forms, given that of the mapping."""
        return [{"type": "string", "minLength": 1}, frame]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of either form."""
        frame = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core_schema, handler))
        about = {"title": cls.__name__, "description": frame.get("description", "")}
        return {**about, "oneOf": cls.forms(frame)}


def settings_to_dict(settings: BaseModel) -> dict[str, Any]:
    """Return settings by their config keys in plain JSON types, without those that are None."""
    by_key = {key: getattr(settings, name) for key, name in keys(type(settings)).items()}
    own = {key: _dumped(value) for key, value in by_key.items() if value is not None}
    form: dict[str, Any] = settings.config_form(own) if isinstance(settings, Section) else own
    return form


def _dumped(value: Any) -> Any:
    match value:
        case RootModel():
            return plain(value.model_dump(by_alias=True))
        case BaseModel():
            return settings_to_dict(value)
        case dict():
            return {str(key): _dumped(item) for key, item in value.items()}
        case tuple() | list():
            return [_dumped(item) for item in value]
        case _:
            return plain(value)


Elsewhere = Callable[[str], str | None]
"""Returns what to do to use a key that a model lacks; None if no other has it."""


def nowhere(_: str) -> None:
    """Return None: no other model has the key."""


def validated(
    model: type[Model],
    data: Any,
    handler: ModelWrapValidatorHandler[Model],
    accepted: Callable[[], Iterable[str]],
    elsewhere: Elsewhere = nowhere,
) -> Model:
    """Validate data by a model.

    Parameters
    ----------
    accepted: returns the keys that a message names; some are those of plug-ins, which it imports.
    elsewhere: asked about each key that the model lacks.

    Raises
    ------
    ValidationError: with messages in plain language.
    """
    misfits = _misfits(model, data)
    try:
        result = handler(data)
    except ValidationError as error:
        known = accepted()
        found = [_explained(model, data, line, known, elsewhere) for line in error.errors(include_url=False)]
        raise refusal(_first_of_each_place(misfits + found)) from None
    if misfits:
        raise refusal(misfits)
    return result


def _first_of_each_place(problems: list[InitErrorDetails]) -> list[InitErrorDetails]:
    by_place: dict[tuple[KeyPath, str], InitErrorDetails] = {}
    for one in problems:
        place = one["loc"]
        # Messages without a path are about the whole section: there may be several.
        by_place.setdefault((place, "" if place else str(one["type"])), one)
    return list(by_place.values())


def _misfits(model: type[BaseModel], data: Any) -> list[InitErrorDetails]:
    """Return an error for each truth value or text in place of a number; pydantic would convert them."""
    if not isinstance(data, Mapping):
        return []
    names = keys(model)
    found = []
    for key, value in data.items():
        # The schema of sections takes long, and imports every plug-in.
        if key in names and _may_misfit(value, texts=not _has_sections(model, names[key])):
            schema = field_schema(model, names[key])
            found += _misfits_in(value, schema, schema.get("$defs", {}), (key,))
    return found


def _may_misfit(value: Any, *, texts: bool) -> bool:
    """Return whether a value is, or a list contains, a truth value or, with ``texts``, a text."""
    if isinstance(value, list | tuple):
        return any(_may_misfit(each, texts=texts) for each in value)
    return isinstance(value, bool) or (texts and isinstance(value, str))


@lru_cache(maxsize=2048)
def _has_sections(model: type[BaseModel], name: str) -> bool:
    """Return whether a field is a section or a list of them, which report texts themselves."""
    return _is_of_sections(model.model_fields[name].annotation)


def _is_of_sections(annotation: Any) -> bool:
    """Return whether a type has no values but sections, lists of them, and None."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return issubclass(annotation, Section)
    parts = get_args(annotation)
    parts = parts[:1] if get_origin(annotation) is Annotated else parts
    inner = [each for each in parts if each not in (..., type(None))]
    return bool(inner) and all(map(_is_of_sections, inner))


def _misfits_in(
    value: Any, schema: JsonSchema, definitions: JsonSchema, path: KeyPath
) -> list[InitErrorDetails]:
    if isinstance(value, list | tuple):
        items = resolved(schema, definitions).get("items", {})
        each = [_misfits_in(item, items, definitions, (*path, place)) for place, item in enumerate(value)]
        return [bad for found in each for bad in found]
    allowed = types(schema, definitions)
    truth = isinstance(value, bool) and bool(allowed) and "boolean" not in allowed
    text = isinstance(value, str) and bool(allowed) and allowed <= {"integer", "number", "boolean"}
    if truth or (text and not ("number" in allowed and _is_number(value))):
        return [problem(_refused(value, schema, definitions), path, value)]
    return []


def _refused(value: Any, schema: JsonSchema, definitions: JsonSchema) -> str:
    """Return the message about a value that a schema refuses; a share in per cent also as a number."""
    message = f"{shown(value)}; accepted: {describe(schema, definitions)}"
    if isinstance(value, int) and value > LARGEST_WHOLE == _largest(schema, definitions):
        return f"{message}, at most {LARGEST_WHOLE}"
    share = _of_per_cent(value)
    if share is None or not _accepts(share, schema, definitions):
        return message
    return f"{message}; write {share}"


def _largest(schema: JsonSchema, definitions: JsonSchema) -> Any:
    """Return the largest number that a schema accepts; None if it has no bound."""
    schema = resolved(schema, definitions)
    parts = [resolved(each, definitions) for each in _branches(schema)] or [schema]
    return max((each["maximum"] for each in parts if "maximum" in each), default=None)


def _of_per_cent(value: Any) -> Decimal | None:
    """Return the share that a text gives in per cent.

    >>> _of_per_cent("2%"), _of_per_cent("2,5 %"), _of_per_cent("2")
    (Decimal('0.02'), Decimal('0.025'), None)
    """
    given = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    return Decimal(given[1].replace(",", ".")).scaleb(-2).normalize() if given else None


def _accepts(share: Decimal, schema: JsonSchema, definitions: JsonSchema) -> bool:
    """Return whether a schema accepts a number, and none above 1."""
    schema = resolved(schema, definitions)
    if _branches(schema):
        return any(_accepts(share, branch, definitions) for branch in _branches(schema))
    tests = {
        "minimum": Decimal.__ge__,
        "exclusiveMinimum": Decimal.__gt__,
        "maximum": Decimal.__le__,
        "exclusiveMaximum": Decimal.__lt__,
    }
    bounds = {key: Decimal(str(schema[key])) for key in tests if key in schema}
    most = [bounds[key] for key in ("maximum", "exclusiveMaximum") if key in bounds]
    return bool(most) and min(most) <= 1 and all(tests[key](share, bound) for key, bound in bounds.items())


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _explained(
    model: type[BaseModel],
    data: Any,
    line: ErrorDetails,
    accepted: Iterable[str],
    elsewhere: Elsewhere,
) -> InitErrorDetails:
    path: KeyPath = tuple(part for part in line["loc"] if part != SETTINGS)
    if line["type"] == "config":
        return problem(line["msg"], path, line["input"])
    if line["type"] == "extra_forbidden":
        key = str(path[0])
        inner = _place(model, path[:-1])[0].get("properties") if len(path) > 1 else None
        remedy = suggestion(str(path[-1]), inner) if inner else "remove it"
        if len(path) == 1:
            remedy = _instead_of(key, accepted, elsewhere)
        return problem(f"unknown key; {remedy}", path, line["input"])
    schema, definitions, path = _place(model, path)
    if line["type"] == "value_error":
        return problem(str(line["ctx"]["error"]), path, line["input"])
    if line["type"] == "missing":
        return problem(f"missing; accepted: {describe(schema, definitions)}", path)
    given = _at(data, path, line["input"])
    if isinstance(given, str) and choices(schema):
        return problem(f"{shown(given)}; {suggestion(given, choices(schema))}", path, given)
    return problem(_refused(given, schema, definitions), path, given)


def _instead_of(key: str, accepted: Iterable[str], elsewhere: Elsewhere) -> str:
    """Return what to do about an unknown key: a misspelt key of the model is likelier than one of another."""
    names = list(accepted)
    other = None if nearest(key, names) else elsewhere(key)
    return other or suggestion(key, names)


def _place(model: type[BaseModel], path: KeyPath) -> tuple[JsonSchema, JsonSchema, KeyPath]:
    """Return the schema at a path below a model, its definitions, and the part of the path that it has."""
    names = keys(model)
    if not path or path[0] not in names:
        schema = model.model_json_schema()
        return schema, schema.get("$defs", {}), ()
    schema = field_schema(model, names[str(path[0])])
    definitions = schema.get("$defs", {})
    schema = resolved(schema, definitions)
    for depth, part in enumerate(path[1:], start=1):
        inner = schema.get("items") if isinstance(part, int) else _member(schema, part)
        if not isinstance(inner, dict):
            return schema, definitions, path[:depth]
        schema = resolved(inner, definitions)
    return schema, definitions, path


def _member(schema: JsonSchema, key: str) -> Any:
    return schema.get("properties", {}).get(key, schema.get("additionalProperties"))


def _at(data: Any, path: KeyPath, default: Any) -> Any:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return default
    return data
