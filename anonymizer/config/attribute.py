"""``attributes:`` of a config: the role of each column, its recoding and its ``hierarchy:``.

A hierarchy has one source with its parameters, and a rule for unknown values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.plugin_sections import hierarchy_sources, parse_settings, plug_in_schema
from anonymizer.config.section import SETTINGS, Section, problem, refusal, shown
from anonymizer.errors import HierarchyError, suggestion
from anonymizer.model.table import ValueType
from anonymizer.plugins import Exact, WholeNumber


class Unknown(StrEnum):
    """What happens to a value that the hierarchy lacks."""

    ERROR = "error"
    TOP = "top"


class HierarchySettings(Section):
    """Where the generalization hierarchy of a column comes from."""

    source: str = Field(description="name of the hierarchy source")
    settings: Any = Field(default=None, validation_alias=SETTINGS)
    unknown: Unknown = Field(
        default=Unknown.ERROR, description="a value the hierarchy lacks is an error, or goes under the top"
    )

    def build(self) -> Any:
        """Return the hierarchy source, made with its parameters."""
        return hierarchy_sources()[self.source](self.settings)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Split the one source key into its name and its parameters; a networkx tree becomes ``tree``."""
        if not isinstance(data, Mapping):
            data = {"tree": _nested(data)} if _is_graph(data) else data
        if not isinstance(data, Mapping):
            accepted = f"a mapping with one of the keys {', '.join(hierarchy_sources())}"
            raise refusal([problem(f"{shown(data)}; accepted: {accepted}", (), data)])
        named = [key for key in data if key in hierarchy_sources()]
        strange = [key for key in data if key not in named and key != "unknown"]
        problems = [
            problem(f"unknown key; {suggestion(key, cls.accepted_keys())}", (key,)) for key in strange
        ]
        if len(named) > 1:
            problems.append(problem(f"{' and '.join(named)} are given; accepted: exactly one source"))
        if not named and not strange:
            problems.append(problem(f"no source; accepted: one of {', '.join(hierarchy_sources())}"))
        if problems:
            raise refusal(problems)
        rest = {key: value for key, value in data.items() if key == "unknown"}
        return {"source": named[0], SETTINGS: data[named[0]], **rest}

    @classmethod
    def accepted_keys(cls) -> list[str]:
        """Return the sources and ``unknown``."""
        return [*hierarchy_sources(), "unknown"]

    @field_validator("settings", mode="before")
    @classmethod
    def _parsed(cls, raw: Any, info: ValidationInfo) -> Any:
        source = info.data["source"]
        try:
            return parse_settings(hierarchy_sources()[source], raw)
        except ValidationError as error:
            below = [(line["msg"], (source, *line["loc"])) for line in error.errors(include_url=False)]
            raise refusal([problem(what, path) for what, path in below]) from None

    @classmethod
    def arranged(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the mapping with the source as its key."""
        return {own["source"]: own[SETTINGS], "unknown": own["unknown"]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return one alternative for each registered source."""
        frame = handler.resolve_ref_schema(handler(core_schema))
        sources = hierarchy_sources()
        alternatives = [
            {
                "title": name,
                "type": "object",
                "properties": {
                    name: plug_in_schema(sources[name], handler),
                    "unknown": frame["properties"]["unknown"],
                },
                "required": [name],
                "additionalProperties": False,
            }
            for name in sources
        ]
        return {"title": cls.__name__, "description": frame.get("description", ""), "oneOf": alternatives}


def _is_graph(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("successors", "in_degree", "nodes"))


def _nested(graph: Any) -> dict[str, Any]:
    """Return a networkx tree as the nested mapping of the ``tree`` source, leaves mapped to nothing."""
    from anonymizer.hierarchy.graph import pad, root_of  # noqa: PLC0415

    try:
        tree = pad(graph, "the networkx tree")
    except HierarchyError as error:
        raise refusal([problem(str(error))]) from None
    return _below(tree, [root_of(tree, "")])


def _below(tree: Any, nodes: list[Any]) -> dict[str, Any]:
    return {node[1]: _below(tree, list(tree.successors(node))) or None for node in nodes}


class Role(StrEnum):
    """What a column is to an adversary."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class Distance(StrEnum):
    """Ground distance between sensitive values for t-closeness."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


LARGEST_WEIGHT = 10**6
"""Weights further apart than this and its inverse drown each other in rounding."""

_COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_ALLOWED_ROLES: dict[str, tuple[Role, ...]] = {
    "type": _COUNTED,
    "hierarchy": _COUNTED,
    "weight": (Role.QUASI_IDENTIFIER,),
    "levels": (Role.QUASI_IDENTIFIER,),
    "distance": (Role.SENSITIVE,),
}


class LevelRange(Section):
    """The generalization levels that a search may use, both ends included."""

    min: Annotated[WholeNumber, Field(ge=0)] | None = Field(default=None, description="default 0")
    max: Annotated[WholeNumber, Field(ge=0)] | None = Field(default=None, description="default the top")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}; accepted: min <= max")
        return self


class AttributeSettings(Section):
    """One column of the file."""

    role: Role = Field(description="identifiers are dropped, insensitive columns are released as they are")
    type: ValueType | None = Field(default=None, description="default: detected from the values")
    hierarchy: HierarchySettings | None = Field(
        default=None, description="how values generalize; default: the value, then *"
    )
    weight: Annotated[Exact, Field(ge=0, le=LARGEST_WEIGHT)] = Field(
        default=Decimal(1), description="share of the attribute in aggregates of loss"
    )
    levels: LevelRange | None = Field(default=None, description="levels that the search may use")
    distance: Distance | None = Field(
        default=None, description="ground distance for t-closeness; default: ordered for numbers and dates"
    )

    @field_validator("weight")
    @classmethod
    def _counts_at_all(cls, weight: Decimal) -> Decimal:
        if 0 < weight * LARGEST_WEIGHT < 1:
            raise ValueError(f"{weight}; accepted: 0, or a number from 0.000001 to {LARGEST_WEIGHT}")
        return weight

    @model_validator(mode="after")
    def _fits_role(self) -> Self:
        problems = [problem(what, (key,)) for key, what in self._misplaced()]
        if self.distance is Distance.HIERARCHICAL and self.hierarchy is None:
            what = "'hierarchical' needs a hierarchy; give the attribute one"
            problems.append(problem(what, ("distance",)))
        if problems:
            raise refusal(problems)
        return self

    def _misplaced(self) -> Iterator[tuple[str, str]]:
        for key, roles in _ALLOWED_ROLES.items():
            if key in self.model_fields_set and getattr(self, key) is not None and self.role not in roles:
                fitting = " and ".join(f"{role} columns" for role in roles)
                yield key, f"has no effect on a column with role {self.role}; accepted for {fitting}"

    @classmethod
    def arranged(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the section, without the keys that its role does not take."""
        barred = {key for key, roles in _ALLOWED_ROLES.items() if own["role"] not in roles}
        return {key: value for key, value in own.items() if key not in barred}
