"""Config sections that name a plug-in with its parameters: constraints, attacks and utility measures.

The modules of plug-ins are imported on first use.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, GetJsonSchemaHandler, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.section import (
    SETTINGS,
    JsonSchema,
    Section,
    keys,
    problem,
    refusal,
    shown,
    validated,
    with_field_bounds,
)
from anonymizer.errors import suggestion
from anonymizer.plugins import Registry

AnyRegistry: TypeAlias = Registry[Any]


def privacy_models() -> AnyRegistry:
    """Return what ``constraints`` may name."""
    from anonymizer.privacy.base import PRIVACY_MODELS

    return PRIVACY_MODELS


def loss_metrics() -> AnyRegistry:
    """Return what ``objective`` may name."""
    from anonymizer.loss.base import LOSS_METRICS

    return LOSS_METRICS


def search_algorithms() -> AnyRegistry:
    """Return what ``algorithm`` may name."""
    from anonymizer.search.base import SEARCH_ALGORITHMS

    return SEARCH_ALGORITHMS


def attacks() -> AnyRegistry:
    """Return what ``attacks`` may name."""
    from anonymizer.attacks.base import ATTACKS

    return ATTACKS


def hierarchy_sources() -> AnyRegistry:
    """Return what ``hierarchy`` may name."""
    from anonymizer.hierarchy.source import HIERARCHY_SOURCES

    return HIERARCHY_SOURCES


def utility_measures() -> AnyRegistry:
    """Return what ``utility`` may name."""
    from anonymizer.utility.base import UTILITY_MEASURES

    return UTILITY_MEASURES


PLUG_IN_SETTINGS = Field(default=None, validation_alias=SETTINGS)
"""The field of a plug-in's parameters: an instance of its class's ``Settings``."""


def parse_settings(plug_in: type[Any], raw: Any, own_keys: Iterable[str] = ()) -> Any:
    """Validate a plug-in's parameters by its ``Settings``, errors in plain words.

    Parameters
    ----------
    own_keys: keys of the section around them, for the message about an unknown one.

    Raises
    ------
    ValidationError: whose every message is ready to be shown.
    """
    model = plug_in.Settings
    if isinstance(raw, model):
        return raw
    return validated(model, raw, model.model_validate, [*own_keys, *keys(model)])


def named(registry: AnyRegistry, name: Any) -> str:
    """Return the name of a registered plug-in.

    Raises
    ------
    ValidationError: naming the nearest one.
    """
    if isinstance(name, str) and name in registry:
        return name
    raise refusal([problem(f"{shown(name)}; {suggestion(str(name), registry)}", (), name)])


class PluginSection(Section):
    """A section whose ``selector`` key names a plug-in; keys that are not its own are the plug-in's.

    Class attributes
    ----------------
    selector: the key that holds the plug-in's name, also the name of the field.
    registry: returns the plug-ins that may be named.
    """

    selector: ClassVar[str]
    registry: ClassVar[Callable[[], AnyRegistry]]

    if TYPE_CHECKING:  # each subclass declares it last: it is validated when the selector is known
        settings: Any

    @property
    def plug_in(self) -> type[Any]:
        """The class that is named."""
        found: type[Any] = type(self).registry()[getattr(self, self.selector)]
        return found

    def build(self) -> Any:
        """Return the plug-in, made with its parameters."""
        return self.plug_in(self.settings)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Put the plug-in's parameters together under a key of their own."""
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
        # Without a known plug-in its parameters cannot be judged; the selector's own error is enough.
        return raw if name is None else parse_settings(cls.registry()[name], raw, cls.accepted_keys())

    @classmethod
    def arranged(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the section with the plug-in's parameters beside its own keys."""
        return {**{key: value for key, value in own.items() if key != SETTINGS}, **own[SETTINGS]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return one alternative for each registered plug-in, its parameters beside the section's keys."""
        frame = handler.resolve_ref_schema(handler(core_schema))
        hidden = {SETTINGS, cls.selector}
        own = {key: value for key, value in frame["properties"].items() if key not in hidden}
        schemas = {name: plug_in_schema(plug_in, handler) for name, plug_in in cls.registry().items()}
        alternatives = [cls._alternative(name, own, schema) for name, schema in schemas.items()]
        return {"title": cls.__name__, "description": frame.get("description", ""), "oneOf": alternatives}

    @classmethod
    def _alternative(cls, name: str, own: JsonSchema, parameters: JsonSchema) -> JsonSchemaValue:
        selector = {"const": name, "description": parameters["description"]}
        optional = cls.model_fields[cls.selector].default == name
        required = ([] if optional else [cls.selector]) + parameters.get("required", [])
        return {
            "title": name,
            "type": "object",
            "properties": {cls.selector: selector, **parameters.get("properties", {}), **own},
            "required": required,
            "additionalProperties": False,
        }


class NamedSection(PluginSection):
    """A plugged section for which the plug-in's name alone stands where it has no options."""

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Take a name alone for a mapping with nothing else."""
        return super().normalize_input({cls.selector: data} if isinstance(data, str) else data)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the names, and one mapping for each plug-in."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        return {**schema, "oneOf": [{"enum": list(cls.registry()), "type": "string"}, *schema["oneOf"]]}


def plug_in_schema(plug_in: type[Any], handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    """Return the schema of a plug-in's parameters, described by the first line of its class."""
    model = plug_in.Settings
    schema = dict(handler.resolve_ref_schema(handler(model.__pydantic_core_schema__)))
    if schema.get("properties"):
        schema["properties"] = with_field_bounds(schema["properties"], model)
    schema["description"] = (plug_in.__doc__ or "").strip().partition("\n")[0]
    return schema


class AttackSettings(NamedSection):
    """An attack with its options; without options its name alone will do."""

    selector: ClassVar[str] = "attack"
    attack: str = Field(description="name of the attack")
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(attacks)


class ConstraintSettings(PluginSection):
    """A privacy model with its parameters; every constraint must hold."""

    selector: ClassVar[str] = "model"
    model: str = Field(description="name of the privacy model")
    attribute: str | None = Field(
        default=None, description="the sensitive attribute; default: each of them by itself"
    )
    quasi_identifiers: Literal["combined"] | None = Field(
        default=None, description="combined: the other sensitive attributes are quasi-identifiers for it"
    )
    missing_sensitive: Literal["value"] | None = Field(
        default=None, description="value: a missing sensitive value counts as one of the distinct values"
    )
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(privacy_models)

    @property
    def needs_sensitive(self) -> bool:
        """Whether the model says something about a sensitive attribute."""
        return bool(self.build().needs_sensitive)

    @model_validator(mode="after")
    def _fits_model(self) -> Self:
        counting = ("quasi_identifiers", "missing_sensitive")
        if not self.needs_sensitive:
            self._refuse(("attribute", *counting), "does not look at sensitive attributes")
        elif not self.registry()[self.model].counts_values:
            self._refuse(counting, "is measured by an attack, which counts no values")
        return self

    def _refuse(self, keys: tuple[str, ...], reason: str) -> None:
        given = [key for key in keys if getattr(self, key)]
        if given:
            raise refusal([problem(f"{self.model} {reason}; remove the key", (key,)) for key in given])


class UtilitySettings(NamedSection):
    """A measure of utility with its options; without options its name alone will do."""

    selector: ClassVar[str] = "measure"
    measure: str = Field(description="name of the measure")
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(utility_measures)
