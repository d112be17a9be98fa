"""The base of every part of the config: strict, immutable, and errors in plain words, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    RootModel,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from anonymizer.config.fields import field_schema, keys, plain, with_field_bounds
from anonymizer.config.words import JsonSchema, KeyPath, choices, describe, resolved, shown, types
from anonymizer.errors import suggestion
from anonymizer.plugins import Settings

Model = TypeVar("Model", bound=BaseModel)

SETTINGS = "\0settings"
"""Where a section keeps the parameters of its plug-in while it is validated; no file can hold this key."""


def problem(what: str, path: KeyPath = (), given: Any = None) -> InitErrorDetails:
    """Return one thing that is wrong at a path below the section that is being validated."""
    kind = PydanticCustomError("config", "{what}", {"what": what})
    return InitErrorDetails(type=kind, loc=path, input=given)


def refusal(problems: Iterable[InitErrorDetails]) -> ValidationError:
    """Return the error that carries problems to the loader."""
    return ValidationError.from_exception_data("config", list(problems))


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
        return validated(cls, data, handler, cls.accepted_keys())

    @classmethod
    def _form(cls, data: Any) -> str:
        """Return what is accepted where no mapping was given, with a text under the key it was meant for."""
        accepted = cls.accepted_keys()
        example = f", such as {{{accepted[0]}: {data}}}" if isinstance(data, str) and data else ""
        return f"a mapping with the keys {', '.join(accepted)}{example}"

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return the raw data in the shape of the class's fields."""
        return data

    @classmethod
    def accepted_keys(cls) -> list[str]:
        """Return the keys that a config may give here."""
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


def settings_to_dict(settings: BaseModel) -> dict[str, Any]:
    """Return settings by their config keys in plain JSON types; absent optional ones are left out."""
    by_key = {key: getattr(settings, name) for key, name in keys(type(settings)).items()}
    return {key: _dumped(value) for key, value in by_key.items() if value is not None}


def _dumped(value: Any) -> Any:
    match value:
        case Section():
            return value.to_dict()
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


def validated(
    model: type[Model], data: Any, handler: ModelWrapValidatorHandler[Model], accepted: Iterable[str]
) -> Model:
    """Validate data by a model, its errors in plain words.

    Raises
    ------
    ValidationError: whose every message is ready to be shown.
    """
    misfits = _misfits(model, data)
    try:
        result = handler(data)
    except ValidationError as error:
        found = [_explained(model, data, line, accepted) for line in error.errors(include_url=False)]
        raise refusal(_first_of_each_place(misfits + found)) from None
    if misfits:
        raise refusal(misfits)
    return result


def _first_of_each_place(problems: list[InitErrorDetails]) -> list[InitErrorDetails]:
    by_place: dict[tuple[KeyPath, str], InitErrorDetails] = {}
    for one in problems:
        place = one["loc"]
        # Messages without a place of their own are of the whole section: there may be several.
        by_place.setdefault((place, "" if place else str(one["type"])), one)
    return list(by_place.values())


def _misfits(model: type[BaseModel], data: Any) -> list[InitErrorDetails]:
    """Find truth values and texts where a number belongs: pydantic would convert them in silence."""
    if not isinstance(data, Mapping):
        return []
    names = keys(model)
    found = []
    for key, value in data.items():
        # The schema of a list of sections takes long, and imports every plug-in that they may name.
        if key in names and _may_misfit(value, texts=not _lists_sections(model, names[key])):
            schema = field_schema(model, names[key])
            found += _misfits_in(value, schema, schema.get("$defs", {}), (key,))
    return found


def _may_misfit(value: Any, *, texts: bool) -> bool:
    """Tell whether a value is, or a list holds, a truth value or, where those matter, a text."""
    if isinstance(value, list | tuple):
        return any(_may_misfit(each, texts=texts) for each in value)
    return isinstance(value, bool) or (texts and isinstance(value, str))


def _lists_sections(model: type[BaseModel], name: str) -> bool:
    """Tell whether a field is a list of sections, which say themselves what is wrong with a text."""
    of = get_args(model.model_fields[name].annotation)
    listed = [get_args(each)[0] if get_origin(each) is Annotated else each for each in of if each is not ...]
    return bool(listed) and all(isinstance(each, type) and issubclass(each, Section) for each in listed)


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
        return [problem(f"{shown(value)}; accepted: {describe(schema, definitions)}", path, value)]
    return []


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _explained(
    model: type[BaseModel], data: Any, line: ErrorDetails, accepted: Iterable[str]
) -> InitErrorDetails:
    path: KeyPath = tuple(part for part in line["loc"] if part != SETTINGS)
    if line["type"] == "config":
        return problem(line["msg"], path, line["input"])
    if line["type"] == "extra_forbidden":
        where = suggestion(str(path[0]), accepted) if len(path) == 1 else "remove it"
        return problem(f"unknown key; {where}", path, line["input"])
    schema, definitions, path = _place(model, path)
    if line["type"] == "value_error":
        return problem(str(line["ctx"]["error"]), path, line["input"])
    if line["type"] == "missing":
        return problem(f"missing; accepted: {describe(schema, definitions)}", path)
    given = _at(data, path, line["input"])
    if isinstance(given, str) and choices(schema):
        return problem(f"{shown(given)}; {suggestion(given, choices(schema))}", path, given)
    return problem(f"{shown(given)}; accepted: {describe(schema, definitions)}", path, given)


def _place(model: type[BaseModel], path: KeyPath) -> tuple[JsonSchema, JsonSchema, KeyPath]:
    """Return the schema at a path below a model, its definitions, and as much of the path as exists in it."""
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
