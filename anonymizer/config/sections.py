"""The keys of a config, each valid alone; ``features`` has what goes with what.

``apply:`` recodes new records as an earlier run did. ``scenarios:`` are adversaries who know some of the
quasi-identifiers, each with models of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from anonymizer.config.attribute import AttributeSettings, Distance
from anonymizer.config.entries import ENTRIES, Entry, not_defined
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
from anonymizer.config.section import JsonSchema, Section, ShortSection, problem, refusal, refuse
from anonymizer.config.signing import SignSettings
from anonymizer.errors import shown, suggestion
from anonymizer.model.classes import Knowledge
from anonymizer.model.feature_rows import Asking
from anonymizer.model.features import Supporter
from anonymizer.model.naming import ColumnName, Name
from anonymizer.model.recoding import Bound
from anonymizer.model.spelling import suggested
from anonymizer.model.table import Numerals, Role
from anonymizer.model.units import RECORD
from anonymizer.plugins import FilePath, Rule, WholeNumber, accepts
from anonymizer.presets.preset import PRESETS

MOST_SETS = 2_000
"""Most sets of known columns of one scenario: each is counted for each candidate of a search."""


def _repeated(names: Sequence[str]) -> str:
    """Return the first name that is also before."""
    return next(name for place, name in enumerate(names) if name in names[:place])


def _place_of_columns(known: KnownSettings) -> str:
    """Return where a message about the columns belongs; a list is the section itself."""
    return "" if known.any is None else "of"


class KnownSettings(ShortSection):
    """The columns that an adversary knows: a list, or any so many of them."""

    together = (
        Rule(lambda own: not own.of, "no column; name at least one quasi-identifier", _place_of_columns),
        Rule(
            lambda own: len(set(own.of)) < len(own.of),
            lambda own: f"'{_repeated(own.of)}' is named twice; name each column once",
            _place_of_columns,
        ),
        Rule(
            lambda own: own.number > len(own.of),
            lambda own: (
                f"{own.any}, but `of` has {len(own.of)} columns; accepted: a whole number from 1 to "
                f"{len(own.of)}"
            ),
            "any",
        ),
        Rule(
            lambda own: comb(len(own.of), own.number) > MOST_SETS,
            lambda own: (
                f"{own.any} of {len(own.of)} columns are {comb(len(own.of), own.number):,} sets; accepted: "
                f"at most {MOST_SETS:,} sets"
            ),
            "any",
        ),
    )

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


class ScenarioSettings(Section):
    """An adversary who knows some of the quasi-identifiers, and what must hold against that adversary."""

    known: KnownSettings = Field(
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


def _suits_units(constraint: ConstraintSettings, info: ValidationInfo) -> ConstraintSettings:
    given: InputSettings | None = info.data.get("input")
    return constraint if given is None else _supported(constraint, given)


def _supported(constraint: ConstraintSettings, given: InputSettings | None) -> ConstraintSettings:
    """Refuse a constraint that does not support what it counts, or without an input a scenario."""
    refuse(Asking(ENTRIES, Entry(constraint, given), {"model": constraint.model}).conflicts())
    return constraint


@dataclass(frozen=True)
class _Placed:
    """A constraint, attack or utility measure among the columns of its config, asked by rules.

    Attributes
    ----------
    entry: the section.
    attributes: columns by name.
    given: the input; None if it is wrong.
    """

    entry: Any
    attributes: dict[str, AttributeSettings]
    given: InputSettings | None

    @property
    def plug_in(self) -> str:
        """Its name."""
        return str(getattr(self.entry, self.entry.selector))

    @cached_property
    def built(self) -> Any:
        """The model or attack with its parameters."""
        return self.entry.build()

    @cached_property
    def sensitive(self) -> list[str]:
        """The sensitive attributes."""
        return _with_role(self.attributes, Role.SENSITIVE)

    @property
    def bare(self) -> list[str]:
        """The sensitive attributes that it measures and that have no hierarchy."""
        measured = [self.entry.attribute] if self.entry.attribute else self.sensitive
        return [name for name in measured if self.attributes[name].hierarchy is None]

    def stranger(self, known: Iterable[str]) -> str | None:
        """Return the first column that is known and no quasi-identifier."""
        own = _with_role(self.attributes, Role.QUASI_IDENTIFIER)
        return next((name for name in known if name not in own), None)

    def not_known(self, known: Iterable[str]) -> str:
        """Return the message about it."""
        name = str(self.stranger(known))
        what = f"'{name}' is not a quasi-identifier; adversaries are assumed to know quasi-identifiers only"
        return f"{what}; {suggested(name, _with_role(self.attributes, Role.QUASI_IDENTIFIER))}"

    @property
    def missing(self) -> str | None:
        """The first name in an attack that is not a column."""
        return next((name for name in self.built.named.columns if name not in self.attributes), None)

    @property
    def hidden_weights(self) -> str | None:
        """The column of weights that an attack names, if it is not released."""
        name: str | None = self.built.named.weights
        return name if name in self.attributes and not self.attributes[name].released else None

    @property
    def how_to_release_weights(self) -> str:
        """What to do about it."""
        name = str(self.hidden_weights)
        if self.attributes[name].role is Role.WEIGHT:
            return f"set attributes.{name}.release: true, or use the constraint population-uniqueness"
        return "accepted: a released column, such as one with role: weight"


def _needs_sensitive(needs: Callable[[_Placed], bool]) -> Rule:
    """Return the rule that what needs a sensitive attribute has one."""
    return Rule(
        lambda own: needs(own) and not own.sensitive,
        "{own.plug_in} needs a sensitive attribute; set role: sensitive for a column",
    )


_OF_CONSTRAINTS = (
    _needs_sensitive(lambda own: own.built.needs_sensitive),
    Rule(
        lambda own: own.entry.attribute is not None and own.entry.attribute not in own.sensitive,
        lambda own: (
            f"'{own.entry.attribute}' is not a sensitive attribute; "
            f"{suggested(own.entry.attribute, own.sensitive)}"
        ),
        "attribute",
    ),
    Rule(
        lambda own: own.stranger(own.built.known) is not None,
        lambda own: own.not_known(own.built.known),
        "knowledge",
    ),
    Rule(
        lambda own: own.built.parameters().get("distance") == Distance.HIERARCHICAL and own.bare,
        lambda own: f"'hierarchical' needs a hierarchy; add one to {' and '.join(own.bare)}",
        "distance",
    ),
)
"""What constraints ask of the columns; the first rule that is broken is reported."""

_OF_ATTACKS = (
    Rule(
        lambda own: own.stranger(own.built.named.known) is not None,
        lambda own: own.not_known(own.built.named.known),
        "knowledge",
    ),
    Rule(
        lambda own: own.missing is not None,
        lambda own: (
            f"'{own.missing}' is not a column of attributes; {suggested(own.missing, own.attributes)}"
        ),
        "columns",
    ),
    Rule(
        lambda own: (
            own.built.named.unit is not None
            and own.given is not None
            and own.built.named.unit not in (RECORD, *own.given.unit_columns)
        ),
        lambda own: not_defined(own.built.named.unit, own.given, RECORD),
        "unit",
    ),
    Rule(
        lambda own: own.hidden_weights is not None,
        "'{own.hidden_weights}' is not released; {own.how_to_release_weights}",
        "weights",
    ),
)
"""What attacks ask of them."""

_OF_UTILITY = (_needs_sensitive(lambda own: own.entry.plug_in.needs_sensitive),)
"""What measures of utility ask of them."""

E = TypeVar("E", bound=Section)


def _among(rules: Sequence[Rule], entry: E, info: ValidationInfo) -> E:
    """Refuse an entry that breaks a rule about the columns of its config; all are kept if these are wrong."""
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is not None:
        own = _Placed(entry, attributes, info.data.get("input"))
        broken = next((rule for rule in rules if rule.broken(own)), None)
        if broken is not None:
            place = broken.place(own)
            raise refusal([problem(broken.said(own), (place,) if place else ())])
    return entry


def _suits_attributes(constraint: ConstraintSettings, info: ValidationInfo) -> ConstraintSettings:
    return _among(_OF_CONSTRAINTS, constraint, info)


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


def _suits_knowledge(attack: AttackSettings, info: ValidationInfo) -> AttackSettings:
    return _among(_OF_ATTACKS, attack, info)


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
    return _among(_OF_UTILITY, measure, info)


class ConfigSections(Section):
    """All keys of a config."""

    input: InputSettings = Field(
        default_factory=InputSettings, description="the file or table, and how to read it"
    )
    attributes: Annotated[
        dict[ColumnName, AttributeSettings],
        accepts(
            lambda attributes: _with_role(attributes, Role.QUASI_IDENTIFIER),
            "no quasi-identifier; set role: quasi-identifier for at least one column",
        ),
        accepts(
            lambda attributes: any(
                attributes[name].weight for name in _with_role(attributes, Role.QUASI_IDENTIFIER)
            ),
            "every quasi-identifier has weight 0; accepted: at least one weight > 0",
        ),
    ] = Field(description="every column of the file, by name", json_schema_extra={"minProperties": 1})
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
