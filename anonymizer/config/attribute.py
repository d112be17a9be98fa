"""``attributes:`` of a config: the role of each column, its recoding and its ``hierarchy:``.

A hierarchy has one source with its parameters, and a rule for unknown values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.plugin_sections import (
    hierarchy_sources,
    key_of_another,
    parse_settings,
    plug_in_schema,
)
from anonymizer.config.section import (
    SETTINGS,
    JsonSchema,
    Section,
    ShortSection,
    problem,
    refusal,
)
from anonymizer.errors import HierarchyError, listed, shown, suggestion
from anonymizer.hierarchy.placement import Unknown
from anonymizer.hierarchy.source import pad, root_of
from anonymizer.model.dates import PIVOT, DateFormat, format_problem
from anonymizer.model.labels import NumberLabels
from anonymizer.model.table import LEFT_OUT, Role, ValueType
from anonymizer.plugins import Exact, Rule, WholeNumber, accepts, ordered


class HierarchySettings(Section):
    """Where the generalization hierarchy of a column comes from."""

    source: str = Field(description="name of the hierarchy source")
    settings: Any = Field(default=None, validation_alias=SETTINGS)
    unknown: Unknown = Field(
        default=Unknown.ERROR,
        description="values that the hierarchy lacks: an error, or placed under its top",
    )

    def build(self) -> Any:
        """Return the hierarchy source with its parameters."""
        return hierarchy_sources()[self.source](self.settings)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Split the one source key into its name and its parameters; a networkx tree becomes ``tree``."""
        if not isinstance(data, Mapping):
            data = {"tree": _nested(data)} if _is_graph(data) else data
        if not isinstance(data, Mapping):
            accepted = f"a mapping with one of the keys {', '.join(hierarchy_sources())}"
            raise refusal([problem(f"{shown(data)}; accepted: {accepted}", (), data)])
        named = [key for key in data if key != "unknown" and key in hierarchy_sources()]
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
            another = partial(key_of_another, hierarchy_sources(), source, "choose hierarchy ")
            return parse_settings(hierarchy_sources()[source], raw, elsewhere=another)
        except ValidationError as error:
            lines = error.errors(include_url=False)
            raise refusal([problem(line["msg"], (source, *line["loc"])) for line in lines]) from None

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the fields as a mapping with the source as its key."""
        return {own["source"]: own[SETTINGS], "unknown": own["unknown"]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a schema with one alternative for each registered source."""
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
    """Return a networkx tree as the nested mapping of the ``tree`` source, leaves mapped to None."""

    try:
        tree = pad(graph, "the networkx tree")
    except HierarchyError as error:
        raise refusal([problem(str(error))]) from None
    return _mapping_of(tree, [root_of(tree, "")])


def _mapping_of(tree: Any, nodes: Iterable[Any]) -> dict[str, Any]:
    return {node[1]: _mapping_of(tree, tree.successors(node)) or None for node in nodes}


class Distance(StrEnum):
    """Ground distance between sensitive values for t-closeness."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


LARGEST_WEIGHT = 10**6
"""Largest weight; the smallest is its inverse. Beyond them, rounding loses the smaller weights."""

BANDED = {
    Role.SENSITIVE: (NumberLabels.RANGE, NumberLabels.MIDPOINT),
    Role.INSENSITIVE: (NumberLabels.RANGE, NumberLabels.MIDPOINT),
    Role.WEIGHT: (NumberLabels.MIDPOINT,),
}
"""How bands of a column that is not generalized can be released, by its role; weights stay numbers."""

_COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_ALLOWED_ROLES: dict[str, tuple[Role, ...]] = {
    "type": _COUNTED,
    "format": _COUNTED,
    "pivot": _COUNTED,
    "hierarchy": _COUNTED,
    "weight": (Role.QUASI_IDENTIFIER,),
    "levels": (Role.QUASI_IDENTIFIER,),
    "labels": (Role.QUASI_IDENTIFIER, *BANDED),
    "distance": (Role.SENSITIVE,),
    "release": (Role.WEIGHT,),
}
_FOR_BANDS = ("type", "format", "pivot", "hierarchy")
"""Keys that an insensitive column or a weight has only together with ``labels``."""


class Treatment(StrEnum):
    """What a run does with a column."""

    GENERALIZED = "generalized"
    IN_GROUPS = "released in groups"
    UNCHANGED = "released unchanged"
    LEFT_OUT = "left out"


def treatment_of(settings: Mapping[str, Any]) -> Treatment:
    """Return what a run does with a column by the settings that a draft or a report has of it."""
    role = Role(settings["role"])
    if role in LEFT_OUT or not settings.get("release", True):
        return Treatment.LEFT_OUT
    if role is Role.QUASI_IDENTIFIER:
        return Treatment.GENERALIZED
    return Treatment.IN_GROUPS if settings.get("labels") else Treatment.UNCHANGED


class LevelRange(Section):
    """The generalization levels that a search may use, both ends included."""

    min: Annotated[WholeNumber, Field(ge=0)] | None = Field(default=None, description="default 0")
    max: Annotated[WholeNumber, Field(ge=0)] | None = Field(default=None, description="default the top")

    together = (ordered("min", "max"),)


_TURNED = str.maketrans("dm", "md")


def contradictory(forms: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with formats that read one text as two dates: the day first, and the month."""
    for form in forms:
        turned = form.translate(_TURNED)
        if form < turned and turned in forms:
            yield f"'{form}' and '{turned}' read 1/2 as different days; keep one of the formats"


_OF_TYPE = (
    Rule(
        lambda own: any(map(format_problem, own.dates.forms)),
        lambda own: next(filter(None, map(format_problem, own.dates.forms))),
        "format",
    ),
    Rule(
        lambda own: own.dates.forms and own.type is not ValueType.DATE and own.role in _COUNTED,
        "needs type: date; add it",
        "format",
    ),
    Rule(
        lambda own: any(contradictory(own.dates.forms)),
        lambda own: next(contradictory(own.dates.forms)),
        "format",
    ),
    Rule(
        lambda own: own.pivot is not None and not any("%y" in form for form in own.dates.forms),
        "needs a format with %y, a year of two digits; add one, or remove pivot",
        "pivot",
    ),
)
"""What a column fulfils for its type."""


def _only_for(key: str, roles: Sequence[Role]) -> Rule:
    """Return the rule that a key is set for columns with some roles alone."""
    bands = ", and insensitive columns with labels" if key in _FOR_BANDS else ""
    what = f"has no effect on a column with role {{own.role}}, only on {listed(roles)} columns{bands}"

    def broken(own: AttributeSettings) -> bool:
        fits = own.role in roles or (own.bands is not None and key in _FOR_BANDS)
        return not fits and key in own.model_fields_set and getattr(own, key) is not None

    return Rule(broken, f"{what}; remove {key}, or change the role", key)


_OF_ROLE = (
    *(_only_for(key, roles) for key, roles in _ALLOWED_ROLES.items()),
    Rule(
        lambda own: own.distance is Distance.HIERARCHICAL and own.hierarchy is None,
        "'hierarchical' needs a hierarchy; add one",
        "distance",
    ),
    Rule(
        lambda own: own.bands is not None and own.bands not in BANDED[own.role],
        lambda own: (
            f"'{own.bands}' of a {own.role} column; accepted: {', '.join(BANDED[own.role])}, or role: "
            "quasi-identifier"
        ),
        "labels",
    ),
    Rule(
        lambda own: own.bands is not None and own.hierarchy is None,
        "a {own.role} column has no groups without a hierarchy; add a hierarchy, or remove labels",
        "labels",
    ),
    Rule(
        lambda own: own.bands is not None and own.distance is Distance.HIERARCHICAL,
        "'hierarchical' of a column released in groups; accepted: equal, ordered",
        "distance",
    ),
)
"""What a column fulfils for its role."""


QI = "qi"
"""Short for the role of a quasi-identifier."""

_ROLE_SCHEMA = {"type": "string", "enum": [*map(str, Role), QI]}


def _role_in_full(given: Any) -> Any:
    return Role.QUASI_IDENTIFIER.value if given == QI else given


class AttributeSettings(ShortSection):
    """One column of the file; in short, its role."""

    together = (_OF_TYPE, _OF_ROLE)

    short: ClassVar[str] = "role"
    role: Annotated[Role, BeforeValidator(_role_in_full), WithJsonSchema(_ROLE_SCHEMA)] = Field(
        description="role of the column; identifiers and columns with role drop are left out, insensitive "
        "columns and sampling weights are released unchanged"
    )
    type: ValueType | None = Field(default=None, description="default: detected from the values")
    format: str | Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="with type: date: how dates are written, one or several formats of strptime; default: "
        "ISO 8601, as 2024-01-31 or 2024-01-31T14:30",
    )
    pivot: Annotated[WholeNumber, Field(ge=0, le=99)] | None = Field(
        default=None,
        description=f"with %y: largest two-digit year that is 20yy, larger ones are 19yy; default: {PIVOT}",
    )
    hierarchy: HierarchySettings | None = Field(
        default=None, description="how values generalize; default: the value, then *"
    )
    weight: Annotated[
        Exact,
        Field(ge=0, le=LARGEST_WEIGHT, description="weight of the attribute in the aggregated loss"),
        accepts(
            lambda weight: not 0 < weight * LARGEST_WEIGHT < 1,
            f"{{value}}; accepted: 0, or a number from 0.000001 to {LARGEST_WEIGHT}",
        ),
    ] = Decimal(1)
    levels: LevelRange | None = Field(default=None, description="levels that the search may use")
    labels: NumberLabels | None = Field(
        default=None,
        description="how groups of numbers are released: range (the default), their labels, such as 20-29, "
        "or for analysis midpoint, one column of numbers, or low-high, two columns NAME_low and NAME_high. "
        "A sensitive or insensitive column with labels is released, and measured, in the groups of level 1 "
        "of its hierarchy: range or midpoint. A sampling weight with labels: midpoint is rounded in this way",
    )
    distance: Distance | None = Field(
        default=None, description="ground distance for t-closeness; default: ordered for numbers and dates"
    )
    release: bool = Field(default=True, description="whether a sampling weight is released")

    @property
    def released(self) -> bool:
        """Whether the release has the column."""
        return self.role not in LEFT_OUT and self.release

    @property
    def number_labels(self) -> NumberLabels:
        """How the groups of a quasi-identifier are released."""
        given = self.labels if self.role is Role.QUASI_IDENTIFIER else None
        return given or NumberLabels.RANGE

    @property
    def bands(self) -> NumberLabels | None:
        """How the bands of a column that is not generalized are released; None to release its values."""
        return self.labels if self.role in BANDED else None

    @classmethod
    def _form(cls, data: Any) -> str:
        return f"a role ({', '.join(Role)}), or {super()._form(data)}"

    @classmethod
    def forms(cls, frame: JsonSchema) -> list[JsonSchema]:
        """Return the schemas of a role and of a mapping."""
        return [frame["properties"][cls.short], frame]

    @cached_property
    def dates(self) -> DateFormat:
        """The format of dates in text."""
        forms = (self.format,) if isinstance(self.format, str) else self.format or ()
        return DateFormat(forms, PIVOT if self.pivot is None else self.pivot)

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the fields without the keys that the role does not accept, and without default labels."""
        role, labels = own["role"], own.get("labels")
        unused = {key for key, roles in _ALLOWED_ROLES.items() if role not in roles}
        if labels is not None and role in BANDED:
            unused -= {*_FOR_BANDS}
        if labels is None or (labels == NumberLabels.RANGE and role not in BANDED):
            unused.add("labels")
        return {key: value for key, value in own.items() if key not in unused}
