"""The config: all settings that determine a release, and their JSON Schema.

The schema is composed from the registered plug-ins; editors complete config files with it. With ``apply:``,
new records get the recoding of an earlier run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.attribute import AttributeSettings, Distance, Role
from anonymizer.config.files import InputSettings, OutputSettings
from anonymizer.config.plugin_sections import AttackSettings, ConstraintSettings, UtilitySettings
from anonymizer.config.search import (
    AlgorithmSettings,
    BudgetSettings,
    EngineSettings,
    Method,
    ObjectiveSettings,
    SuppressionSettings,
)
from anonymizer.config.section import Section, problem, refusal
from anonymizer.errors import suggestion
from anonymizer.plugins import FilePath, WholeNumber

ALGORITHMS = ("auto", "lattice", "mondrian")
"""Algorithms that may stand beside ``apply``: what they find can be applied, or searched anew."""


class Otherwise(StrEnum):
    """What happens when the recoding cannot be applied so that every constraint holds."""

    REFUSE = "refuse"
    SEARCH = "search"


class Batch(StrEnum):
    """What is asked of the new records by themselves, for whoever subtracts the earlier release."""

    WARN = "warn"
    REQUIRE = "require"


class ApplySettings(Section):
    """The earlier run whose recoding is applied; the path of its report alone will do."""

    report: FilePath = Field(description="report.json of the earlier run, relative to the config")
    otherwise: Otherwise = Field(
        default=Otherwise.REFUSE,
        description="when constraints break: refuse, or search another recoding for the new records alone",
    )
    batch: Batch = Field(
        default=Batch.WARN,
        description="new records whose class fails without the earlier ones: warn, or release (require) none",
    )

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Take a path alone for a mapping with nothing else."""
        return {"report": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a path, or the mapping."""
        frame = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core_schema, handler))
        path = {"type": "string", "minLength": 1}
        about = {"title": cls.__name__, "description": frame.get("description", "")}
        return {**about, "oneOf": [path, frame]}


def unsuitable(config: Config) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys that cannot stand beside ``apply``, each with what would do."""
    if config.algorithm.name not in ALGORITHMS:
        name = config.algorithm.name
        what = f"what '{name}' finds cannot be applied to other records; accepted: {', '.join(ALGORITHMS)}"
        yield ("algorithm", "name"), what
    if config.suppression.method is not Method.CLASSES:
        yield ("suppression", "method"), "beside apply whole classes are suppressed; accepted: classes"
    if config.suppression.keep_rows:
        yield ("suppression", "keep_rows"), "beside apply suppressed records are removed; accepted: false"
    if config.utility:
        what = "is measured against all original records, and the earlier ones are not here; remove it"
        yield ("utility",), what
    if config.output.table is not None:
        yield ("output", "table"), "beside apply the release is a file; set output.path instead"


class Reference(StrEnum):
    """The table whose sensitive distribution p a class is compared with."""

    RELEASE = "release"
    INPUT = "input"


@dataclass(frozen=True)
class Origin:
    """Where a config was read; no part of what it says, so that configs compare by content."""

    name: str = field(default="config", compare=False)
    folder: Path = field(default=Path(), compare=False)


def _suits_attributes(constraint: ConstraintSettings, info: ValidationInfo) -> ConstraintSettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is None:
        return constraint
    sensitive = [name for name, each in attributes.items() if each.role is Role.SENSITIVE]
    asked = constraint.attribute
    if constraint.needs_sensitive and not sensitive:
        what = f"{constraint.model} needs a sensitive attribute; give a column role: sensitive"
        raise refusal([problem(what)])
    if asked is not None and asked not in sensitive:
        known = f"'{asked}' is no sensitive attribute; {suggestion(asked, sensitive)}"
        raise refusal([problem(known, ("attribute",))])
    if getattr(constraint.settings, "distance", None) == Distance.HIERARCHICAL:
        bare = [name for name in ([asked] if asked else sensitive) if attributes[name].hierarchy is None]
        if bare:
            what = f"'hierarchical' needs a hierarchy, which {' and '.join(bare)} lacks; give it one"
            raise refusal([problem(what, ("distance",))])
    return constraint


def _suits_knowledge(attack: AttackSettings, info: ValidationInfo) -> AttackSettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is None:
        return attack
    known = [name for name, each in attributes.items() if each.role is Role.QUASI_IDENTIFIER]
    for name in getattr(attack.settings, "knowledge", None) or ():
        if name not in known:
            what = (
                f"'{name}' is no quasi-identifier, so nobody is taken to know it; {suggestion(name, known)}"
            )
            raise refusal([problem(what, ("knowledge",))])
    return attack


def _suits_roles(measure: UtilitySettings, info: ValidationInfo) -> UtilitySettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is None or not measure.plug_in.needs_sensitive:
        return measure
    if all(each.role is not Role.SENSITIVE for each in attributes.values()):
        what = f"{measure.measure} needs a sensitive attribute; give a column role: sensitive"
        raise refusal([problem(what)])
    return measure


class Config(Section):
    """A whole config. ``load_config`` makes one from a file or a mapping."""

    input: InputSettings = Field(
        default_factory=InputSettings, description="the file or table, and how to read it"
    )
    attributes: dict[str, AttributeSettings] = Field(
        description="every column of the file, by name", json_schema_extra={"minProperties": 1}
    )
    constraints: tuple[Annotated[ConstraintSettings, AfterValidator(_suits_attributes)], ...] = Field(
        description="privacy models; all must hold on the released file", json_schema_extra={"minItems": 1}
    )
    reference: Reference = Field(
        default=Reference.RELEASE, description="where the distribution of a sensitive attribute comes from"
    )
    suppression: SuppressionSettings = Field(
        default_factory=SuppressionSettings, description="how many records may be suppressed"
    )
    algorithm: AlgorithmSettings = Field(
        default_factory=lambda: AlgorithmSettings.model_validate({}), description="how to search"
    )
    objective: ObjectiveSettings = Field(
        default_factory=lambda: ObjectiveSettings.model_validate({}), description="what to make small"
    )
    budget: BudgetSettings = Field(default_factory=BudgetSettings, description="when to stop searching")
    engine: EngineSettings = Field(default_factory=EngineSettings, description="where records live")
    attacks: tuple[Annotated[AttackSettings, AfterValidator(_suits_knowledge)], ...] = Field(
        default=(), description="run on the release and reported: names, or mappings with attack and options"
    )
    utility: tuple[Annotated[UtilitySettings, AfterValidator(_suits_roles)], ...] = Field(
        default=(),
        description="measured on the release and reported: names, or mappings with measure and options",
    )
    apply: ApplySettings | None = Field(
        default=None,
        description="an earlier run, whose recoding the records of the input get; its release goes on",
    )
    output: OutputSettings = Field(default_factory=OutputSettings, description="the released file or table")
    seed: Annotated[WholeNumber, Field(ge=0)] = Field(default=0, description="of everything random")

    _origin: Origin = PrivateAttr(default_factory=Origin)

    @field_validator("attributes")
    @classmethod
    def _quasi_identifiers_weigh(
        cls, attributes: dict[str, AttributeSettings]
    ) -> dict[str, AttributeSettings]:
        weights = [each.weight for each in attributes.values() if each.role is Role.QUASI_IDENTIFIER]
        if not weights:
            raise ValueError("no quasi-identifier; give at least one column role: quasi-identifier")
        if not any(weights):
            raise ValueError("every quasi-identifier has weight 0; accepted: at least one weight > 0")
        return attributes

    @field_validator("constraints")
    @classmethod
    def _at_least_one(cls, constraints: tuple[ConstraintSettings, ...]) -> tuple[ConstraintSettings, ...]:
        if not constraints:
            raise ValueError("no constraint; give at least one, such as {model: k-anonymity, k: 5}")
        return constraints

    @model_validator(mode="after")
    def _method_suits_algorithm(self) -> Self:
        name, method = self.algorithm.name, self.suppression.method.value
        accepted = sorted(each.value for each in self.algorithm.plug_in.suppressions)
        if method not in accepted:
            algorithms = self.algorithm.registry().items()
            others = [other for other, each in algorithms if method in each.suppressions]
            what = f"'{method}' is not for algorithm {name}; accepted: {', '.join(accepted)}"
            if others:
                what += f", or algorithm {' or '.join(others)}"
            raise refusal([problem(what, ("suppression", "method"))])
        return self

    @model_validator(mode="after")
    def _suits_apply(self) -> Self:
        found = [] if self.apply is None else [problem(what, path) for path, what in unsuitable(self)]
        if found:
            raise refusal(found)
        return self

    @property
    def source(self) -> str:
        """What messages call the config: its path as given."""
        return self._origin.name

    @property
    def folder(self) -> Path:
        """What relative paths in the config are relative to."""
        return self._origin.folder

    def located(self, origin: Origin) -> Config:
        """Return the same config as read from another place."""
        copy = self.model_copy()
        copy._origin = origin
        return copy

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in the order of the config."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role is role)

    def to_dict(self) -> dict[str, Any]:
        """Return the config in plain JSON types, defaults included; ``load_config`` reads it back."""
        return super().to_dict()


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a config, every plug-in's parameters included."""
    schema = Config.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "anonymizer config",
    }
