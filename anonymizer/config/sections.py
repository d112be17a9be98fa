"""The keys of a config, each valid alone; ``features`` has what goes with what.

``apply:`` recodes new records as an earlier run did. ``scenarios:`` are adversaries who know some of the
quasi-identifiers, each with models of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import combinations
from math import comb
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from anonymizer.config.attribute import AttributeSettings, Distance
from anonymizer.config.entries import Entry, conflicts_of_entry, not_defined
from anonymizer.config.exposure import Acknowledgement, ExposureSettings
from anonymizer.config.files import InputSettings, OutputSettings
from anonymizer.config.plugin_sections import (
    AttackSettings,
    ConstraintSettings,
    UtilitySettings,
)
from anonymizer.config.search import (
    AlgorithmSettings,
    Attackers,
    BudgetSettings,
    Defaults,
    EngineSettings,
    ObjectiveSettings,
    SuppressionSettings,
)
from anonymizer.config.section import JsonSchema, Section, ShortSection, problem, refusal
from anonymizer.config.signing import SignSettings
from anonymizer.errors import shown, suggestion
from anonymizer.model.classes import Knowledge
from anonymizer.model.features import Supporter
from anonymizer.model.naming import ColumnName, Name
from anonymizer.model.recoding import Bound
from anonymizer.model.spelling import suggested
from anonymizer.model.table import Numerals, Role
from anonymizer.model.units import RECORD
from anonymizer.plugins import FilePath, WholeNumber, accepts
from anonymizer.presets.preset import PRESETS

MOST_SETS = 2_000
"""Most sets of known columns of one scenario: each is counted for each candidate of a search."""


class KnownSettings(ShortSection):
    """The columns that an adversary knows: a list, or any so many of them."""

    short: ClassVar[str] = "of"
    any: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="how many of them the adversary knows, whichever these are; default: all"
    )
    of: tuple[ColumnName, ...] = Field(
        description="names of quasi-identifiers", json_schema_extra={"minItems": 1}
    )

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return a list as a mapping with that list only."""
        return {cls.short: data} if isinstance(data, list | tuple) else data

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> Any:
        """Return a list where all are known."""
        return own if "any" in own else own["of"]

    @classmethod
    def forms(cls, frame: JsonSchema) -> list[JsonSchema]:
        """Return the schemas of a list and of a mapping."""
        return [frame["properties"][cls.short], {**frame, "required": ["any", "of"]}]

    @classmethod
    def _form(cls, data: Any) -> str:  # noqa: ARG003 - the same for any
        return "a list of quasi-identifiers, or a mapping such as {any: 3, of: [age, sex, zip, job]}"

    @property
    def number(self) -> int:
        """How many columns the adversary knows."""
        return len(self.of) if self.any is None else self.any

    @property
    def sets(self) -> Knowledge:
        """Every set of columns that the adversary may know."""
        return tuple(frozenset(each) for each in combinations(self.of, self.number))


def _has_sets(known: KnownSettings) -> KnownSettings:
    columns, path = len(known.of), () if known.any is None else ("of",)
    if not columns:
        raise refusal([problem("no column; name at least one quasi-identifier", path)])
    twice = [name for place, name in enumerate(known.of) if name in known.of[:place]]
    if twice:
        raise refusal([problem(f"'{twice[0]}' is named twice; name each column once", path)])
    if known.number > columns:
        what = f"{known.any}, but `of` has {columns} columns; accepted: a whole number from 1 to {columns}"
        raise refusal([problem(what, ("any",))])
    if comb(columns, known.number) > MOST_SETS:
        what = f"{known.any} of {columns} columns are {comb(columns, known.number):,} sets"
        raise refusal([problem(f"{what}; accepted: at most {MOST_SETS:,} sets", ("any",))])
    return known


class ScenarioSettings(Section):
    """An adversary who knows some of the quasi-identifiers, and what must hold against that adversary."""

    known: Annotated[KnownSettings, AfterValidator(_has_sets)] = Field(
        description="quasi-identifiers that the adversary knows: a list, or {any: 3, of: [...]} for any "
        "three of the columns"
    )
    models: Annotated[
        tuple[ConstraintSettings, ...],
        Field(
            description="privacy models; all must be satisfied by the classes of the known columns",
            json_schema_extra={"minItems": 1},
        ),
        accepts(len, "no model; add at least one, such as {{model: k-anonymity, k: 5}}"),
    ]
    unit: str | None = Field(
        default=None,
        description="what the models count, unless they say so themselves: record, person, household or a "
        "name of input.units",
    )
    recipient: str | None = Field(default=None, description="who the adversary is, for readers of the report")

    def counting(self, model: ConstraintSettings) -> ConstraintSettings:
        """Return a model with the unit of the scenario unless it has its own."""
        return model if model.unit is not None else model.model_copy(update={"unit": self.unit})


class Otherwise(StrEnum):
    """What to do if the applied recoding violates a constraint."""

    REFUSE = "refuse"
    SEARCH = "search"


class Batch(StrEnum):
    """Whether new records must satisfy the constraints alone: anyone can subtract the earlier release."""

    WARN = "warn"
    REQUIRE = "require"


class ApplySettings(ShortSection, Supporter):
    """The earlier run whose recoding is applied; in short, the path of its report."""

    short: ClassVar[str] = "report"
    report: FilePath = Field(description="report.json of the earlier run, relative to the config")
    otherwise: Otherwise = Field(
        default=Otherwise.REFUSE,
        description="if a constraint is violated: refuse, or search a recoding for the new records alone",
    )
    batch: Batch = Field(
        default=Batch.WARN,
        description="if new records alone violate a constraint: warn, or suppress them (require)",
    )


class Reference(StrEnum):
    """The table whose sensitive distribution each class is compared with."""

    RELEASE = "release"
    INPUT = "input"


class Steps(StrEnum):
    """Which steps of a search hold what each constraint measured."""

    KEPT = "kept"
    ALL = "all"


def _with_role(attributes: dict[str, AttributeSettings], role: Role) -> list[str]:
    return [name for name, attribute in attributes.items() if attribute.role is role]


def _require_sensitive(plug_in: str, attributes: dict[str, AttributeSettings]) -> None:
    if not _with_role(attributes, Role.SENSITIVE):
        raise refusal([problem(f"{plug_in} needs a sensitive attribute; set role: sensitive for a column")])


def _suits_units(constraint: ConstraintSettings, info: ValidationInfo) -> ConstraintSettings:
    given: InputSettings | None = info.data.get("input")
    return constraint if given is None else _supported(constraint, given)


def _supported(constraint: ConstraintSettings, given: InputSettings | None) -> ConstraintSettings:
    """Refuse a constraint that does not support what it counts, or without an input a scenario."""
    problems = [problem(each.what, each.path) for each in conflicts_of_entry(Entry(constraint, given))]
    if problems:
        raise refusal(problems)
    return constraint


def _suits_attributes(constraint: ConstraintSettings, info: ValidationInfo) -> ConstraintSettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is None:
        return constraint
    if constraint.build().needs_sensitive:
        _require_sensitive(constraint.model, attributes)
    sensitive = _with_role(attributes, Role.SENSITIVE)
    asked = constraint.attribute
    if asked is not None and asked not in sensitive:
        known = f"'{asked}' is not a sensitive attribute; {suggested(asked, sensitive)}"
        raise refusal([problem(known, ("attribute",))])
    _require_known(constraint.build().known, attributes)
    if constraint.build().parameters().get("distance") == Distance.HIERARCHICAL:
        bare = [name for name in ([asked] if asked else sensitive) if attributes[name].hierarchy is None]
        if bare:
            what = f"'hierarchical' needs a hierarchy; add one to {' and '.join(bare)}"
            raise refusal([problem(what, ("distance",))])
    return constraint


def _suits_scenario(scenario: ScenarioSettings, info: ValidationInfo) -> ScenarioSettings:
    found = []
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    given = attributes or {}
    known = _with_role(given, Role.QUASI_IDENTIFIER)
    for name in () if attributes is None else scenario.known.of:
        if name not in known:
            what = "is not a quasi-identifier" if name in given else "is not a column of attributes"
            found.append(problem(f"'{name}' {what}; {suggested(name, known)}", ("known",)))
    for place, each in enumerate(scenario.models):
        try:
            _suits_units(scenario.counting(_suits_attributes(_supported(each, None), info)), info)
        except ValidationError as error:
            shared = each.unit is None and scenario.unit is not None
            for line in error.errors(include_url=False):
                of_scenario = shared and line["loc"] == ("unit",)
                path = line["loc"] if of_scenario else ("models", place, *line["loc"])
                found.append(problem(line["msg"], path, line["input"]))
    if found:
        raise refusal(found)
    return scenario


def _require_known(names: Iterable[str], attributes: dict[str, AttributeSettings]) -> None:
    """Refuse knowledge of columns that are not quasi-identifiers."""
    known = _with_role(attributes, Role.QUASI_IDENTIFIER)
    for name in names:
        if name not in known:
            what = (
                f"'{name}' is not a quasi-identifier; adversaries are assumed to know quasi-identifiers only"
            )
            raise refusal([problem(f"{what}; {suggested(name, known)}", ("knowledge",))])


def _suits_knowledge(attack: AttackSettings, info: ValidationInfo) -> AttackSettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is None:
        return attack
    named, given = attack.build().named, info.data.get("input")
    _require_known(named.known, attributes)
    for name in named.columns:
        if name not in attributes:
            what = f"'{name}' is not a column of attributes; {suggested(name, attributes)}"
            raise refusal([problem(what, ("columns",))])
    if named.unit is not None and given is not None and named.unit not in (RECORD, *given.unit_columns):
        raise refusal([problem(not_defined(named.unit, given, RECORD), ("unit",))])
    weights = named.weights
    if weights in attributes and not attributes[weights].released:
        remedy = "accepted: a released column, such as one with role: weight"
        if attributes[weights].role is Role.WEIGHT:
            remedy = f"set attributes.{weights}.release: true, or use the constraint population-uniqueness"
        what = f"'{weights}' is not released; {remedy}"
        raise refusal([problem(what, ("weights",))])
    return attack


_DEFAULT, _NONE = "default", "none"


def _listed_attacks(given: Any) -> Any:
    """Return attacks as a list, None for those of a config that names none."""
    if not isinstance(given, str):
        return given
    if given not in (_DEFAULT, _NONE):
        what = f"{shown(given)}; accepted: {_DEFAULT}, {_NONE}, or a list such as [linkage, homogeneity]"
        raise refusal([problem(what, (), given)])
    return None if given == _DEFAULT else ()


def _or_a_word(schema: JsonSchema) -> None:
    """Put the words that may stand for a list in place of null."""
    schema["anyOf"][-1] = {"enum": [_DEFAULT, _NONE], "type": "string"}
    schema["default"] = _DEFAULT


def _suits_roles(measure: UtilitySettings, info: ValidationInfo) -> UtilitySettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is not None and measure.plug_in.needs_sensitive:
        _require_sensitive(measure.measure, attributes)
    return measure


class ConfigSections(Section):
    """All keys of a config."""

    input: InputSettings = Field(
        default_factory=InputSettings, description="the file or table, and how to read it"
    )
    attributes: dict[ColumnName, AttributeSettings] = Field(
        description="every column of the file, by name", json_schema_extra={"minProperties": 1}
    )
    scenarios: dict[Name, Annotated[ScenarioSettings, AfterValidator(_suits_scenario)]] | None = Field(
        default=None,
        description="adversaries who know some of the quasi-identifiers, by name, each with models of its "
        "own; all must be satisfied on the released file, besides the constraints",
    )
    constraints: tuple[
        Annotated[ConstraintSettings, AfterValidator(_suits_attributes), AfterValidator(_suits_units)], ...
    ] = Field(
        default=(),
        validate_default=True,
        description="privacy models; all must be satisfied on the released file, by the classes of all "
        "quasi-identifiers; at least one unless there are scenarios",
    )
    reference: Reference = Field(
        default=Reference.RELEASE,
        description="table with the reference distribution of each sensitive attribute",
    )
    suppression: SuppressionSettings = Field(
        default_factory=SuppressionSettings, description="how much may be suppressed, and how"
    )
    algorithm: AlgorithmSettings = Field(
        default_factory=lambda: AlgorithmSettings.model_validate({}), description="how to search"
    )
    objective: ObjectiveSettings = Field(
        default_factory=lambda: ObjectiveSettings.model_validate({}), description="the loss to minimize"
    )
    budget: BudgetSettings = Field(default_factory=BudgetSettings, description="when to stop searching")
    bound: Bound = Field(
        default=Bound.QUICK,
        description="lower bound on the loss of every recoding along the hierarchies, besides that of the "
        "algorithm's own kind: quick takes at most a fraction of a second, finds little, and ends early "
        "where that tells nothing beside the algorithm's own bound; full may take longer than the search; "
        "none",
    )
    engine: EngineSettings = Field(
        default_factory=EngineSettings, description="what reads, counts and writes the records"
    )
    attacks: Annotated[
        tuple[Annotated[AttackSettings, AfterValidator(_suits_knowledge)], ...] | None,
        BeforeValidator(_listed_attacks),
    ] = Field(
        default_factory=lambda: _listed_attacks(Defaults.attacks),
        description="run on the release and reported: names, or mappings with attack and options; none; "
        "default: a few that take a second or two at most",
        json_schema_extra=_or_a_word,
    )
    utility: tuple[Annotated[UtilitySettings, AfterValidator(_suits_roles)], ...] = Field(
        default=(),
        description="measured on the release and reported: names, or mappings with measure and options",
    )
    attackers: Attackers | None = Field(
        default=None,
        description="candidates that the attackers of constraints are asked about: by-loss (default), in the "
        "order of loss, those that may be the release; every-step, each that satisfies all other constraints",
    )
    steps: Steps | None = Field(
        default=None,
        description="steps of the search that hold what each constraint measured: kept (default), those that "
        "improved and the one refused last; all, which takes longer and makes a longer report",
    )
    acknowledge: tuple[Acknowledgement, ...] | None = Field(
        default=None,
        description="warnings and findings that you read and that a run need not repeat: rows-are-persons "
        "says that no person has two records",
    )
    exposure: ExposureSettings | None = Field(
        default=None,
        description="how much a release may show beyond its constraints before a run says SATISFIED, BUT",
    )
    preset: Annotated[
        str | None,
        Field(
            description="the rule that the release follows; a run says what departs from it: "
            "hipaa-safe-harbor, hipaa-expert, ema-0070, public-use or research-contract",
        ),
        accepts(
            lambda name: name is None or name in PRESETS,
            lambda name: f"unknown preset '{name}'; {suggestion(name, PRESETS)}",
        ),
    ] = None
    apply: ApplySettings | None = Field(
        default=None,
        description="an earlier run: recode the input as that run did and append it to that release",
    )
    output: OutputSettings = Field(default_factory=OutputSettings, description="the released file or table")
    sign: SignSettings | None = Field(
        default=None, description="sign all that is handed over, so that audit --key notices what was altered"
    )
    seed: Annotated[WholeNumber, Field(ge=0)] = Field(default=0, description="seed of all randomness")

    @field_validator("attributes")
    @classmethod
    def _quasi_identifiers_weigh(
        cls, attributes: dict[str, AttributeSettings]
    ) -> dict[str, AttributeSettings]:
        weights = [attributes[name].weight for name in _with_role(attributes, Role.QUASI_IDENTIFIER)]
        if not weights:
            raise ValueError("no quasi-identifier; set role: quasi-identifier for at least one column")
        if not any(weights):
            raise ValueError("every quasi-identifier has weight 0; accepted: at least one weight > 0")
        return attributes

    @field_validator("constraints")
    @classmethod
    def _at_least_one(
        cls, constraints: tuple[ConstraintSettings, ...], info: ValidationInfo
    ) -> tuple[ConstraintSettings, ...]:
        if not constraints and not info.data.get("scenarios", True):
            raise ValueError("no constraint; add at least one, such as {model: k-anonymity, k: 5}")
        return constraints

    def unit_of(self, constraint: ConstraintSettings) -> str | None:
        """Return the unit that a constraint counts; None for records."""
        own = None if constraint.build().people_units else constraint.unit
        unit = own or self.input.default_unit
        return None if unit == RECORD else unit

    @property
    def counts_units(self) -> bool:
        """Whether a constraint or a scenario counts units other than records."""
        models = [each.counting(own) for each in (self.scenarios or {}).values() for own in each.models]
        return any(self.unit_of(each) is not None for each in (*self.constraints, *models))

    @property
    def numerals(self) -> Numerals:
        """Notation of numbers in a release, and in the input once it is open."""
        sign = self.output.decimal
        return self.input.numerals if sign is None else Numerals(sign.value)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in the order of the config."""
        return tuple(_with_role(self.attributes, role))
