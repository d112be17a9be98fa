"""Config sections that name a plug-in with its parameters: constraints, attacks and utility measures.

The modules of plug-ins are imported on first use.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, GetJsonSchemaHandler, ValidationInfo, field_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.section import (
    SETTINGS,
    Elsewhere,
    JsonSchema,
    Section,
    keys,
    nowhere,
    problem,
    refusal,
    validated,
    with_field_bounds,
)
from anonymizer.errors import listed, nearest, shown, suggestion
from anonymizer.model.naming import ColumnName
from anonymizer.plugins import Registry, Rule

AnyRegistry: TypeAlias = Registry[Any]


def privacy_models() -> AnyRegistry:
    """Return the plug-ins for ``constraints``."""
    from anonymizer.privacy.base import PRIVACY_MODELS

    return PRIVACY_MODELS


def loss_metrics() -> AnyRegistry:
    """Return the plug-ins for ``objective``."""
    from anonymizer.loss.base import LOSS_METRICS

    return LOSS_METRICS


def search_algorithms() -> AnyRegistry:
    """Return the plug-ins for ``algorithm``."""
    from anonymizer.search.base import SEARCH_ALGORITHMS

    return SEARCH_ALGORITHMS


def attacks() -> AnyRegistry:
    """Return the plug-ins for ``attacks``."""
    from anonymizer.attacks.base import ATTACKS

    return ATTACKS


def hierarchy_sources() -> AnyRegistry:
    """Return the plug-ins for ``hierarchy``."""
    from anonymizer.hierarchy.source import HIERARCHY_SOURCES

    return HIERARCHY_SOURCES


def utility_measures() -> AnyRegistry:
    """Return the plug-ins for ``utility``."""
    from anonymizer.utility.base import UTILITY_MEASURES

    return UTILITY_MEASURES


PLUG_IN_SETTINGS = Field(default=None, validation_alias=SETTINGS)
"""The field for the parameters of a plug-in, an instance of its ``Settings``."""


ABLE = 3
"""Most plug-ins with a key that a message names."""


def parse_settings(
    plug_in: type[Any], raw: Any, own_keys: Iterable[str] = (), elsewhere: Elsewhere = nowhere
) -> Any:
    """Validate the parameters of a plug-in by its ``Settings``.

    Parameters
    ----------
    own_keys: other keys of the section, for the message about an unknown key.
    elsewhere: as for ``validated``.

    Raises
    ------
    ValidationError: with messages in plain language.
    """
    model = plug_in.Settings
    if isinstance(raw, model):
        return raw
    return validated(model, raw, model.model_validate, lambda: [*own_keys, *keys(model)], elsewhere)


def key_of_another(registry: AnyRegistry, name: str, choose: str, key: str) -> str | None:
    """Return what to do about a key that other plug-ins have, or one like it; None if a list says more.

    Users forget to name the plug-in. All are imported for it, so only a key that is refused may ask.

    Parameters
    ----------
    name: the plug-in with the key.
    choose: words before the names of the others.
    """
    by_key: dict[str, list[str]] = {}
    for each, plug_in in registry.items():
        for own in keys(plug_in.Settings):
            by_key.setdefault(own, []).append(each)
    meant = nearest(key, by_key)
    able = [] if meant is None else by_key[meant]
    few = len(able) <= ABLE
    if not able or (meant == key and not few):
        return None
    guess = "" if meant == key else f"did you mean '{meant}'? "
    remedy = (
        f"; to use it, {choose}{listed(able, 'or')}; otherwise remove it"
        if few
        else ", but others do; remove it"
    )
    return f"{guess}{name} does not have it{remedy}"


def named(registry: AnyRegistry, name: Any) -> str:
    """Return the name of a registered plug-in unchanged.

    Raises
    ------
    ValidationError: no plug-in has the name; the message suggests one.
    """
    if isinstance(name, str) and name in registry:
        return name
    raise refusal([problem(f"{shown(name)}; {suggestion(str(name), registry)}", (), name)])


class PluginSection(Section):
    """A section that names a plug-in; keys that are not the section's own are the plug-in's parameters.

    Class attributes
    ----------------
    selector: the key, and the field, with the name of the plug-in.
    registry: returns the registered plug-ins.
    """

    selector: ClassVar[str]
    registry: ClassVar[Callable[[], AnyRegistry]]

    if TYPE_CHECKING:  # each subclass declares it after the selector, by which it is validated
        settings: Any

    @property
    def plug_in(self) -> type[Any]:
        """The class of the plug-in."""
        found: type[Any] = type(self).registry()[getattr(self, self.selector)]
        return found

    def build(self) -> Any:
        """Return the plug-in with its parameters."""
        return self.plug_in(self.settings)

    @classmethod
    def _default(cls) -> Any:
        """Return the name of the plug-in where none is given."""
        return cls.model_fields[cls.selector].get_default(call_default_factory=True)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Move the parameters of the plug-in under one key."""
        if not isinstance(data, Mapping):
            return data
        if cls.selector not in data and cls.model_fields[cls.selector].is_required():
            what = f"missing; accepted: {', '.join(cls.registry())}"
            raise refusal([problem(what, (cls.selector,))])
        own = {key: value for key, value in data.items() if key in cls.accepted_keys()}
        return {**own, SETTINGS: {key: value for key, value in data.items() if key not in own}}

    @field_validator("*", mode="before")
    @classmethod
    def _known(cls, value: Any, info: ValidationInfo) -> Any:
        return named(cls.registry(), value) if info.field_name == cls.selector else value

    @field_validator("settings", mode="before", check_fields=False)
    @classmethod
    def _parsed(cls, raw: Any, info: ValidationInfo) -> Any:
        name = info.data.get(cls.selector)
        # Parameters of an unknown plug-in cannot be validated; the selector has an error already.
        if name is None:
            return raw
        called = f"{name} (the default)" if name == cls._default() else name
        return parse_settings(
            cls.registry()[name],
            raw,
            cls.accepted_keys(),
            partial(key_of_another, cls.registry(), called, f"set {cls.selector}: "),
        )

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with the parameters of the plug-in as keys of the section."""
        return {**{key: value for key, value in own.items() if key != SETTINGS}, **own[SETTINGS]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a schema with one alternative for each registered plug-in, its parameters included."""
        frame = handler.resolve_ref_schema(handler(core_schema))
        hidden = {SETTINGS, cls.selector}
        own = {key: value for key, value in frame["properties"].items() if key not in hidden}
        schemas = {name: plug_in_schema(plug_in, handler) for name, plug_in in cls.registry().items()}
        alternatives = [cls._alternative(name, own, schema) for name, schema in schemas.items()]
        return {"title": cls.__name__, "description": frame.get("description", ""), "oneOf": alternatives}

    @classmethod
    def _alternative(cls, name: str, own: JsonSchema, parameters: JsonSchema) -> JsonSchemaValue:
        selector = {"const": name, "description": parameters["description"]}
        optional = cls._default() == name
        required = ([] if optional else [cls.selector]) + parameters.get("required", [])
        return {
            "title": name,
            "type": "object",
            "properties": {cls.selector: selector, **parameters.get("properties", {}), **own},
            "required": required,
            "additionalProperties": False,
        }


class NamedSection(PluginSection):
    """A plug-in section that may be the name of the plug-in alone."""

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return a name as a mapping with that name only."""
        return super().normalize_input({cls.selector: data} if isinstance(data, str) else data)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of a name, or of a mapping for each plug-in."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        return {**schema, "oneOf": [{"enum": list(cls.registry()), "type": "string"}, *schema["oneOf"]]}


def _needed(plug_in: type[Any]) -> list[str]:
    """Return the parameters without a default."""
    fields = plug_in.Settings.model_fields
    return [key for key, name in keys(plug_in.Settings).items() if fields[name].is_required()]


def plug_in_schema(plug_in: type[Any], handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    """Return the schema of a plug-in's parameters, described by the first line of its class."""
    model = plug_in.Settings
    schema = dict(handler.resolve_ref_schema(handler(model.__pydantic_core_schema__)))
    if schema.get("properties"):
        schema["properties"] = with_field_bounds(schema["properties"], model)
    schema["description"] = (plug_in.__doc__ or "").strip().partition("\n")[0]
    return schema


class AttackSettings(NamedSection):
    """An attack with its options; in short, its name."""

    selector: ClassVar[str] = "attack"
    attack: str = Field(description="name of the attack")
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(attacks)


def _of_sensitive(key: str) -> Rule:
    """Return the rule that a key goes with models that use a sensitive attribute."""
    return Rule(
        lambda own: getattr(own, key) and not own.build().needs_sensitive,
        "{own.model} uses no sensitive attribute, so this key has no meaning; remove the key",
        key,
    )


def _of_values(key: str) -> Rule:
    """Return the rule that a key goes with models that count values."""
    return Rule(
        lambda own: getattr(own, key) and not own.plug_in.counts_values,
        "{own.model} is measured by an attack, which does not count values; remove the key",
        key,
    )


class ConstraintSettings(PluginSection):
    """A privacy model with its parameters; in short, its name with the one parameter that it needs."""

    selector: ClassVar[str] = "model"
    model: str = Field(description="name of the privacy model")
    attribute: ColumnName | None = Field(
        default=None, description="the sensitive attribute; default: every one, separately"
    )
    quasi_identifiers: Literal["combined"] | None = Field(
        default=None, description="combined: the other sensitive attributes count as quasi-identifiers"
    )
    missing_sensitive: Literal["value"] | None = Field(
        default=None, description="value: missing sensitive values count as one distinct value"
    )
    unit: str | None = Field(
        default=None,
        description="what is counted: record, person, household or a name of input.units; default: person "
        "where input.person is set, else record",
    )
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(privacy_models)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return either form as a mapping with the parameters of the model under one key."""
        return super().normalize_input(cls.in_long_form(data))

    @classmethod
    def in_long_form(cls, data: Any) -> Any:
        """Return raw data with the model and its parameter under keys of their own; others unchanged.

        >>> ConstraintSettings.in_long_form({"l-diversity": 2, "attribute": "diagnosis"})
        {'model': 'l-diversity', 'l': 2, 'attribute': 'diagnosis'}

        Raises
        ------
        ValidationError: the model needs several parameters.
        """
        if not isinstance(data, Mapping) or cls.selector in data:
            return data
        models = [key for key in data if key in cls.registry()]
        if len(models) != 1:
            return data
        name = models[0]
        needed = _needed(cls.registry()[name])
        if len(needed) != 1:
            several = ", ".join(f"{key}: ..." for key in needed)
            what = f"needs {listed(needed)}; write {{{cls.selector}: {name}, {several}}}"
            raise refusal([problem(what, (name,), data[name])])
        rest = {key: value for key, value in data.items() if key != name}
        return {cls.selector: name, needed[0]: data[name], **rest}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a schema with two alternatives for each model that needs one parameter."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        short = []
        for name, plug_in in cls.registry().items():
            needed = _needed(plug_in)
            own = next(each for each in schema["oneOf"] if each["title"] == name)
            if len(needed) == 1:
                parameter = own["properties"][needed[0]]
                hidden = {cls.selector, needed[0]}
                rest = {key: each for key, each in own["properties"].items() if key not in hidden}
                short.append(
                    {
                        "type": "object",
                        "properties": {name: parameter, **rest},
                        "required": [name],
                        "additionalProperties": False,
                    }
                )
        return {**schema, "oneOf": [*schema["oneOf"], *short]}

    def build(self) -> Any:
        """Return the model that its parameters choose."""
        return self.plug_in.of(self.settings)

    together = (
        tuple(map(_of_sensitive, ("attribute", "quasi_identifiers", "missing_sensitive"))),
        tuple(map(_of_values, ("quasi_identifiers", "missing_sensitive"))),
    )


class UtilitySettings(NamedSection):
    """A utility measure with its options; in short, its name."""

    selector: ClassVar[str] = "measure"
    measure: str = Field(description="name of the utility measure")
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(utility_measures)
