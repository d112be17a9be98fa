"""The config: all settings that determine a release, and their JSON Schema.

The schema is composed from the registered plug-ins; editors complete config files with it. ``apply:`` recodes
new records as an earlier run did. ``scenarios:`` are adversaries who know some of the quasi-identifiers, each
with models of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from anonymizer.config.attribute import AttributeSettings, Distance
from anonymizer.config.exposure import Acknowledgement, ExposureSettings
from anonymizer.config.files import InputSettings, OutputSettings
from anonymizer.config.plugin_sections import (
    AttackSettings,
    ConstraintSettings,
    UtilitySettings,
    privacy_models,
)
from anonymizer.config.search import (
    AlgorithmSettings,
    Attackers,
    BudgetSettings,
    EngineName,
    EngineSettings,
    Method,
    ObjectiveSettings,
    SuppressionSettings,
)
from anonymizer.config.section import JsonSchema, KeyPath, Section, ShortSection, problem, refusal
from anonymizer.data.source import is_url
from anonymizer.errors import suggestion
from anonymizer.model.classes import Knowledge, ScenarioSupport
from anonymizer.model.invocation import RunCommand
from anonymizer.model.naming import ColumnName, Name
from anonymizer.model.recoding import Bound
from anonymizer.model.spelling import suggested
from anonymizer.model.table import NumberColumns, NumberLabels, Numerals, Role
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.plugins import FilePath, WholeNumber
from anonymizer.presets.preset import PRESETS
from anonymizer.system import real_path, same_file

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
    models: tuple[ConstraintSettings, ...] = Field(
        description="privacy models; all must be satisfied by the classes of the known columns",
        json_schema_extra={"minItems": 1},
    )
    unit: str | None = Field(
        default=None,
        description="what the models count, unless they say so themselves: record, person, household or a "
        "name of input.units",
    )
    recipient: str | None = Field(default=None, description="who the adversary is, for readers of the report")

    @field_validator("models")
    @classmethod
    def _at_least_one(cls, models: tuple[ConstraintSettings, ...]) -> tuple[ConstraintSettings, ...]:
        if not models:
            raise ValueError("no model; add at least one, such as {model: k-anonymity, k: 5}")
        return models

    def counting(self, model: ConstraintSettings) -> ConstraintSettings:
        """Return a model with the unit of the scenario unless it has its own."""
        return model if model.unit is not None else model.model_copy(update={"unit": self.unit})


ALGORITHMS = ("auto", "lattice", "mondrian")
"""Algorithms that ``apply`` accepts: their recodings can be applied to new records."""


class Otherwise(StrEnum):
    """What to do if the applied recoding violates a constraint."""

    REFUSE = "refuse"
    SEARCH = "search"


class Batch(StrEnum):
    """Whether new records must satisfy the constraints alone: anyone can subtract the earlier release."""

    WARN = "warn"
    REQUIRE = "require"


class ApplySettings(ShortSection):
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


def _conflicts_with_algorithm(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield the method of suppression that the algorithm does not support, and the message about it."""
    name, method = config.algorithm.name, config.suppression.method.value
    accepted = sorted(each.value for each in config.algorithm.plug_in.suppressions)
    if method not in accepted:
        algorithms = config.algorithm.registry().items()
        others = [other for other, each in algorithms if method in each.suppressions]
        what = f"algorithm {name} does not support '{method}'; accepted: {', '.join(accepted)}"
        if others:
            what += f", or algorithm {' or '.join(others)}"
        yield ("suppression", "method"), what


def _conflicts_with_attackers(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield what attacks at every step cannot be combined with, and the message about it."""
    if config.attackers is not Attackers.EVERY_STEP:
        return
    own = config.algorithm.plug_in
    if not own.attacks_every_step or config.suppression.method is Method.CELLS:
        able = [name for name, each in config.algorithm.registry().items() if each.attacks_every_step]
        what = f"'every-step' needs algorithm {' or '.join(able)} without suppression.method: cells"
        yield ("attackers",), f"{what}; accepted here: by-loss"
    elif not any(each.plug_in.by_attack for each in config.constraints):
        attacked = [name for name, each in privacy_models().items() if each.by_attack]
        what = f"no constraint is measured by an attack; add one of {', '.join(attacked)}, or remove the key"
        yield ("attackers",), what


def _conflicts_with_apply(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that ``apply`` cannot be combined with, and the message about it."""
    if config.apply is None:
        return
    if config.algorithm.name not in ALGORITHMS:
        what = f"recodings of '{config.algorithm.name}' cannot be applied to new records"
        yield ("algorithm", "name"), f"{what}; accepted: {', '.join(ALGORITHMS)}"
    if config.suppression.method is not Method.CLASSES:
        what = f"method {config.suppression.method} cannot be combined with apply"
        yield ("suppression", "method"), f"{what}; set suppression.method: {Method.CLASSES}"
    if config.suppression.keep_rows:
        yield ("suppression", "keep_rows"), "cannot be combined with apply; set keep_rows: false"
    if config.utility:
        what = "needs all original records, and apply reads only the new ones; remove it"
        yield ("utility",), what
    if config.output.table is not None:
        yield ("output", "table"), "with apply, the release is a file; set output.path instead"


def _conflicts_with_units(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that cannot be combined with units other than records, and the message about it."""
    for name, column in config.input.unit_columns.items():
        path = ("input", name) if name in (PERSON, HOUSEHOLD) else ("input", "units", name)
        if column not in config.attributes:
            yield path, f"no column '{column}' in attributes; {suggested(column, config.attributes)}"
        elif config.attributes[column].released:
            yield (
                ("attributes", column, "role"),
                f"'{column}' shows which records belong to one {name}, so it must not be released; "
                "accepted: identifier, drop",
            )
    if config.input.missing_person is not None and not config.input.unit_columns:
        yield (
            ("input", "missing_person"),
            "needs input.person, household or units; add one, or remove the key",
        )
    apart = "suppression.whole" if config.input.pseudonym is None else "input.person.release_as"
    if config.engine.name not in set(EngineName) and (config.suppression.whole or config.input.pseudonym):
        what = f"engine {config.engine.name} does not support {apart}"
        yield ("engine", "name"), f"{what}; accepted: {', '.join(EngineName)}; or remove {apart}"
    yield from _conflicts_with_whole(config)
    yield from _conflicts_with_unit_limit(config)
    yield from _conflicts_with_pseudonyms(config)
    if not config.counts_units:
        return
    yield from _counted_by_records(config)
    if config.apply is not None:
        what = "the earlier release does not show which of its records belong to the same persons as new ones"
        remedy = f"set unit: {RECORD} in each constraint, or run on all records without apply"
        yield ("apply",), f"{what}; {remedy}"


def _counted_by_records(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield an algorithm or a method of suppression that cannot count units, and the message about it."""
    method, plug_in = config.suppression.method, config.algorithm.plug_in
    registry = config.algorithm.registry()
    accepted = sorted(each.value for each in plug_in.unit_suppressions)
    if not accepted:
        able = [name for name, each in registry.items() if each.unit_suppressions]
        what = f"{config.algorithm.name} counts records only"
        if plug_in.in_groups:
            what += (
                ": its two tables show how many records a person has in a bucket and how often each value "
                "occurs there, which can reveal the value of the person"
            )
        remedy = f"accepted: {', '.join(able)}; or set unit: {RECORD} in each constraint"
        yield ("algorithm", "name"), f"{what}; {remedy}"
    elif method.value not in accepted and config.input.pseudonym is None:
        what = f"algorithm {config.algorithm.name} cannot count units with method {method.value}"
        able = [name for name, each in registry.items() if method.value in each.unit_suppressions]
        other = f", or algorithm.name: {' or '.join(able)}" if able else ""
        yield ("suppression", "method"), f"{what}; set suppression.method: {' or '.join(accepted)}{other}"


def _conflicts_with_whole(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that cannot be combined with ``suppression.whole``, and the message about it."""
    unit = config.suppression.whole
    if unit is None:
        return
    path = ("suppression", "whole")
    if unit not in config.input.unit_columns:
        yield path, _not_defined(unit, config.input)
    if config.suppression.method is not Method.CLASSES:
        what = f"method {config.suppression.method} can suppress some records of a {unit} and keep others"
        yield path, f"{what}; set suppression.method: {Method.CLASSES}, or remove suppression.whole"
    if not config.algorithm.build().suppresses_units:
        able = [name for name, each in config.algorithm.registry().items() if each().suppresses_units]
        given = " with the parameters given here" if config.algorithm.name in able else ""
        what = (
            f"algorithm {config.algorithm.name}{given} can suppress some records of a {unit} and keep others"
        )
        other = f"set algorithm.name to one of {', '.join(able)}, with default parameters"
        yield path, f"{what}; {other}, or remove suppression.whole"
    if config.apply is not None:
        yield path, "cannot be combined with apply; remove one of the two"


def _conflicts_with_unit_limit(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that a limit on lost units cannot be combined with, and the message about it."""
    unit, plug_in = config.suppression.unit, config.algorithm.plug_in
    if unit is None:
        return
    path = ("suppression", "unit")
    if unit not in config.input.unit_columns:
        yield path, _not_defined(unit, config.input, RECORD)
    if config.suppression.method is not Method.CLASSES:
        what = f"with method {config.suppression.method}, the limit counts records and cannot count {unit}s"
        yield path, f"{what}; set suppression.method: {Method.CLASSES}, or unit: {RECORD}"
    if not plug_in.unit_suppressions:
        able = [name for name, each in config.algorithm.registry().items() if each.unit_suppressions]
        what = f"algorithm {config.algorithm.name} cannot limit how many {unit}s lose records"
        yield path, f"{what}; set algorithm.name to one of {', '.join(able)}, or unit: {RECORD}"
    if config.apply is not None:
        what = f"apply needs to know which records belong to one {unit}, but the earlier release hides this"
        yield path, f"{what}; set unit: {RECORD}, or run on all records without apply"


def _conflicts_with_population(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that constraints on the population cannot be combined with, and the message about it."""
    if config.input.population is not None and config.numerals != config.input.numerals:
        what = "must be equal to input.decimal, which applies to input.population, too; remove output.decimal"
        yield ("output", "decimal"), what
    needing = [place for place, each in enumerate(config.constraints) if each.build().needs_population]
    households = [place for place, each in enumerate(config.constraints) if each.build().needs_households]
    if not needing and not households:
        return
    owner = config.constraints[households[0]].model if households else ""
    asked = "constraints that count the population" if needing else owner
    if households and config.input.household is None:
        what = f"{owner} needs to know which records belong to one household"
        yield ("constraints", households[0], "model"), f"{what}; name their column in input.household"
    if households and config.scenarios:
        what = f"{owner} cannot be combined with scenarios; remove scenarios, or the constraint"
        yield ("constraints", households[0], "model"), what
    for place in needing if config.input.person is not None else ():
        fault = config.constraints[place].build().fault_with_persons
        if fault is not None:
            yield ("constraints", place, "estimator"), fault
    weights = config.with_role(Role.WEIGHT)
    if needing and config.input.population is None and len(weights) != 1:
        found = f"found {len(weights)}: {', '.join(weights)}" if weights else "found none"
        model = config.constraints[needing[0]].model
        what = f"{model} needs input.population, or one column with role weight; {found}"
        yield ("constraints", needing[0], "model"), what
    if not config.algorithm.plug_in.counts_population:
        able = [name for name, each in config.algorithm.registry().items() if each.counts_population]
        other = "" if needing else f"; or use a constraint with unit: {HOUSEHOLD} in place of {asked}"
        what = f"{config.algorithm.name} does not support {asked}; accepted: {', '.join(able)}{other}"
        yield ("algorithm", "name"), what
    fault = f"cannot be combined with {asked}"
    if config.suppression.method is not Method.CLASSES:
        what = f"method {config.suppression.method} {fault}; set suppression.method: {Method.CLASSES}"
        yield ("suppression", "method"), what
    if config.suppression.keep_rows:
        yield ("suppression", "keep_rows"), f"{fault}; set keep_rows: false"
    if config.apply is not None:
        yield ("apply",), f"{fault}; remove apply, or {'these constraints' if needing else 'this constraint'}"
    if config.suppression.whole is not None:
        # Only whole classes may lose records; whole units would lose them in several classes.
        yield ("suppression", "whole"), f"{fault}; remove suppression.whole"


def _conflicts_with_weights(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that a loss by sampling weights cannot be combined with, and the message about it."""
    name = config.objective.weights
    if name is None:
        return
    weights = config.with_role(Role.WEIGHT)
    if name not in weights:
        what = "not a column of attributes"
        others = f"use {' or '.join(weights)}, or " if weights else ""
        hint = f"{others}add the column there with role: weight"
        if name in config.attributes:
            what = "not a column with role weight"
            hint = f"accepted: {', '.join(weights)}" if weights else "set role: weight for this column"
        yield ("objective", "weights"), f"'{name}' is {what}; {hint}"
    if config.apply is not None:
        what = "with apply, the recoding is chosen already; remove objective.weights or the key apply"
        yield ("objective", "weights"), what


def _conflicts_with_loss_unit(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that a loss over units cannot be combined with, and the message about it."""
    unit = config.objective.unit
    if unit is None:
        return
    if unit not in config.input.unit_columns:
        yield ("objective", "unit"), _not_defined(unit, config.input, RECORD)
    if config.apply is not None:
        what = "with apply, the recoding is chosen already; remove objective.unit or the key apply"
        yield ("objective", "unit"), what


def _conflicts_with_control(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that people who were held out cannot be combined with, and the message about it."""
    if config.input.control is None:
        return
    if config.algorithm.plug_in.in_groups:
        what = f"held-out people cannot be compared with the two tables of {config.algorithm.name}"
        yield ("input", "control"), f"{what}; remove input.control, or choose another algorithm"
    if config.apply is not None:
        what = "apply has no originals of the earlier records to compare with held-out people"
        yield ("input", "control"), f"{what}; remove input.control or the key apply"
    if config.engine.name not in set(EngineName):
        what = f"engine {config.engine.name} cannot compare a release with held-out people"
        yield ("engine", "name"), f"{what}; accepted: {', '.join(EngineName)}; or remove input.control"


def _conflicts_with_buckets(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each attack of a constraint that an Anatomy release has nothing for, and the message about it."""
    if not config.algorithm.plug_in.in_groups:
        return
    able = [name for name, each in config.algorithm.registry().items() if not each.in_groups]
    for place, each in enumerate(config.constraints):
        fault = each.build().fault_in_buckets
        if fault is not None:
            remedy = f"or algorithm.name to one of {', '.join(able)}"
            yield ("constraints", place, "attack"), f"{fault}, {remedy}"


def _conflicts_with_pseudonyms(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that cannot be combined with released pseudonyms, and the message about it."""
    if config.input.pseudonym is None:
        return
    fault, remedy = "cannot be combined with released pseudonyms", "or remove input.person.release_as"
    if not config.algorithm.plug_in.links_units:
        able = ", ".join(name for name, each in config.algorithm.registry().items() if each.links_units)
        what = f"{config.algorithm.name} cannot release pseudonyms"
        yield ("algorithm", "name"), f"{what}; accepted: {able}; {remedy}"
    if config.suppression.method is not Method.CLASSES:
        what = f"method {config.suppression.method} {fault}; set suppression.method: {Method.CLASSES}"
        yield ("suppression", "method"), f"{what}, {remedy}"
    if config.suppression.keep_rows:
        what = "a pseudonym would show how many records a suppressed person has; set keep_rows: false"
        yield ("suppression", "keep_rows"), f"{what}, {remedy}"
    if config.suppression.whole not in (None, PERSON):
        what = f"'{config.suppression.whole}' {fault}; set suppression.whole: {PERSON}"
        yield ("suppression", "whole"), f"{what}, {remedy}"
    if config.apply is not None and not config.counts_units:
        what = "pseudonyms of an earlier release are unknown"
        yield ("apply",), f"{what}; remove apply, or input.person.release_as"
    for position, constraint in enumerate(config.constraints):
        model = constraint.build()
        if not model.counts_units or model.by_attack or model.needs_entries:
            what = f"{constraint.model} does not consider that a pseudonym links the rows of a person"
            yield ("constraints", position, "model"), f"{what}; remove the constraint, {remedy}"


BY_LEVELS = ("auto", "lattice")
"""Algorithms that count the classes of adversaries who know some of the quasi-identifiers."""


def _conflicts_with_scenarios(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each key that cannot be combined with scenarios, and the message about it."""
    if not config.scenarios:
        return
    algorithm, able = config.algorithm.plug_in, config.algorithm.registry().items()
    if algorithm.scenarios is ScenarioSupport.NONE:
        others = ", ".join(name for name, each in able if each.scenarios is not ScenarioSupport.NONE)
        yield ("algorithm", "name"), f"{algorithm.name} cannot satisfy scenarios; accepted: {others}"
    elif algorithm.name in BY_LEVELS and config.suppression.method is not Method.CLASSES:
        what = f"with scenarios, {algorithm.name} cannot use method {config.suppression.method}"
        yield ("suppression", "method"), f"{what}; set suppression.method: {Method.CLASSES}"
    if config.suppression.keep_rows:
        yield ("suppression", "keep_rows"), "cannot be combined with scenarios; set keep_rows: false"
    if config.apply is not None:
        yield ("apply",), "scenarios are not checked on appended records; remove scenarios or the key apply"
    if config.input.pseudonym is not None:
        what = "pseudonyms cannot be released with scenarios, which do not count linked rows"
        yield ("input", "person"), f"{what}; remove scenarios, or release_as"
    for place, constraint in enumerate(config.constraints):
        if constraint.build().needs_population:
            what = (
                f"{constraint.model} cannot be combined with scenarios; remove scenarios, or the constraint"
            )
            yield ("constraints", place, "model"), what
    if algorithm.scenarios is not ScenarioSupport.ALL_KNOWN:
        return
    exact = ", ".join(name for name, each in able if each.scenarios is ScenarioSupport.EXACT)
    for name, scenario in config.scenarios.items():
        for place, each in enumerate(scenario.models):
            if not _lasts(each, config.unit_of(scenario.counting(each))):
                yield (
                    ("scenarios", name, "models", place),
                    f"with {algorithm.name}, {each.model} may fail against an adversary who knows only some "
                    f"quasi-identifiers; set algorithm.name: {exact}",
                )


def _lasts(model: ConstraintSettings, unit: str | None) -> bool:
    """Return whether unions of classes that satisfy a model satisfy it."""
    from anonymizer.privacy.base import ClassConstraint, ClassModel, Merging  # noqa: PLC0415 - plug-ins

    built = model.build()
    if not isinstance(built, ClassModel):
        return False
    combined = model.quasi_identifiers is not None
    return ClassConstraint(combined=combined, unit=unit, model=built).merging is not Merging.NONE


IN_NUMBERS = ("auto", "lattice", "local", "mondrian")
"""Algorithms whose generalized values can be released as numbers."""


def _conflicts_with_labels(config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield each column whose ``labels`` the rest of the config contradicts, and the message about it."""
    present = {name.casefold(): name for name in config.attributes}
    algorithm = config.algorithm.name
    for name, settings in config.attributes.items():
        form, path = settings.number_labels, ("attributes", name, "labels")
        if settings.bands is not None and config.apply is not None:
            yield (
                path,
                "with apply, columns that are not generalized cannot be released in groups; if the earlier "
                "run released this column in groups, run on all records without apply, else remove labels",
            )
        if form is NumberLabels.RANGE:
            continue
        if algorithm not in IN_NUMBERS:
            what = f"'{form}' does not work with algorithm {algorithm}"
            yield path, f"{what}; set algorithm.name to one of {', '.join(IN_NUMBERS)}, or labels: range"
        elif getattr(config.algorithm.settings, "labels", None) == "set":
            yield (
                path,
                f"'{form}' needs intervals, but algorithm.labels is 'set'; set algorithm.labels: interval or "
                "hierarchy",
            )
        elif config.apply is not None:
            yield path, f"'{form}' cannot be combined with apply; set labels: range"
        elif config.engine.name not in set(EngineName):
            yield path, f"'{form}' is not written by engine {config.engine.name}; accepted: range"
        elif config.output.missing:
            yield (
                path,
                f"'{form}' publishes hidden and missing values of '{name}' as empty fields, so "
                f"output.missing cannot be '{config.output.missing}'; set output.missing to '', or use "
                "labels: range",
            )
        for column in NumberColumns(name, form).columns:
            other = present.get(column.casefold(), name)
            if other != name:
                yield (
                    path,
                    f"'{form}' adds a column '{column}', but there is a column '{other}'; rename that column",
                )


CONFLICTS = (
    (_conflicts_with_algorithm,),
    (_conflicts_with_attackers,),
    (_conflicts_with_apply,),
    (
        _conflicts_with_units,
        _conflicts_with_population,
        _conflicts_with_weights,
        _conflicts_with_loss_unit,
        _conflicts_with_control,
        _conflicts_with_scenarios,
        _conflicts_with_buckets,
    ),
    (_conflicts_with_labels,),
)
"""What cannot be combined in a config; the problems of a group are reported if those before it have none."""


class Reference(StrEnum):
    """The table whose sensitive distribution each class is compared with."""

    RELEASE = "release"
    INPUT = "input"


@dataclass(frozen=True)
class Origin:
    """Where a config was read; ignored by comparison, so that configs compare by content."""

    name: str = field(default="config", compare=False)
    folder: Path = field(default=Path(), compare=False)
    command: RunCommand | None = field(default=None, compare=False)


def _with_role(attributes: dict[str, AttributeSettings], role: Role) -> list[str]:
    return [name for name, attribute in attributes.items() if attribute.role is role]


def _require_sensitive(plug_in: str, attributes: dict[str, AttributeSettings]) -> None:
    if not _with_role(attributes, Role.SENSITIVE):
        raise refusal([problem(f"{plug_in} needs a sensitive attribute; set role: sensitive for a column")])


def _suits_units(constraint: ConstraintSettings, info: ValidationInfo) -> ConstraintSettings:
    given: InputSettings | None = info.data.get("input")
    if given is None:
        return constraint
    unit, built = constraint.unit, constraint.build()
    if unit is not None and unit not in (RECORD, *given.unit_columns):
        raise _undefined(unit, given)
    if built.counts_units:
        fault = built.fault_of(unit or given.default_unit)
        if fault is not None:
            raise refusal([problem(fault, ("unit",))])
        return constraint
    people = built.people_units if given.person is not None else ()
    if people and unit not in (None, *people):
        what = f"{constraint.model} counts people, not {unit}s; accepted: {', '.join(people)}"
        raise refusal([problem(what, ("unit",))])
    if people or (unit or given.default_unit) == RECORD:
        return constraint
    guesser = getattr(constraint.settings, "attack", None)
    model = f"{constraint.model} with attack: {guesser}" if isinstance(guesser, str) else constraint.model
    what, instead = f"{model} counts records only", ""
    if constraint.plug_in.counts_units or constraint.plug_in.people_units:
        # A risk of the whole release; that of each class counts persons.
        at = "mean" if constraint.settings.at == "mean" else "{share-above: ...}"
        what, instead = (
            f"{constraint.model} with at: {at} counts records only",
            ", or use at: highest, which counts persons",
        )
    if unit is None:
        # Nobody wrote a unit.
        what += f", and input.person makes persons the default; add unit: {RECORD} to the constraint{instead}"
        problems = [problem(what, ("model",))]
        if given.person is not None and built.fault_with_persons is not None:
            # It would refuse what the first message asks for.
            problems.append(problem(built.fault_with_persons, ("estimator",)))
        raise refusal(problems)
    raise refusal([problem(f"{what}; set unit: {RECORD}{instead}", ("unit",))])


def _undefined(unit: str, given: InputSettings) -> ValidationError:
    """Return the error about a unit that the input does not define."""
    return refusal([problem(_not_defined(unit, given, RECORD), ("unit",))])


def _not_defined(unit: str, given: InputSettings, *others: str) -> str:
    """Return the message about a unit that the input does not define, where it and others are accepted."""
    accepted = [*others, *given.unit_columns]
    known = f"; {suggestion(unit, accepted)}" if accepted else ""
    if unit == RECORD:
        return f"'{unit}'{known or '; accepted: a unit of input.person, household or units'}"
    own = next((name for name, column in given.unit_columns.items() if column == unit), None)
    if own is not None:
        return f"'{unit}' is a column; write {own}, the unit that it defines"
    if known.endswith("?"):
        return f"'{unit}' is not defined{known}"
    key = f"input.{unit}" if unit in (PERSON, HOUSEHOLD) else "input.units"
    return f"'{unit}' is not defined{known}; to define it, name its column in {key}"


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
    _require_known(constraint.settings, attributes)
    if getattr(constraint.settings, "distance", None) == Distance.HIERARCHICAL:
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
            _suits_units(scenario.counting(_suits_attributes(_judges(each), info)), info)
        except ValidationError as error:
            shared = each.unit is None and scenario.unit is not None
            for line in error.errors(include_url=False):
                of_scenario = shared and line["loc"] == ("unit",)
                path = line["loc"] if of_scenario else ("models", place, *line["loc"])
                found.append(problem(line["msg"], path, line["input"]))
    if found:
        raise refusal(found)
    return scenario


def _judges(model: ConstraintSettings) -> ConstraintSettings:
    """Refuse a model that classes of some quasi-identifiers do not determine."""
    from anonymizer.privacy.base import AttackModel  # noqa: PLC0415 - imports every plug-in of attacks

    built = model.build()
    if built.needs_population or built.needs_households:
        what = f"{model.model} needs an adversary who knows all quasi-identifiers; move it to constraints"
        raise refusal([problem(what, ("model",))])
    if isinstance(built, AttackModel):
        what = f"{model.model} is measured by an attack on the whole release; move it to constraints"
        raise refusal([problem(what, ("model",))])
    return model


def _require_known(settings: Any, attributes: dict[str, AttributeSettings]) -> None:
    """Refuse knowledge of columns that are not quasi-identifiers."""
    known = _with_role(attributes, Role.QUASI_IDENTIFIER)
    knowledge = getattr(settings, "knowledge", None)
    for name in getattr(knowledge, "of", knowledge) or ():
        if name not in known:
            what = (
                f"'{name}' is not a quasi-identifier; adversaries are assumed to know quasi-identifiers only"
            )
            raise refusal([problem(f"{what}; {suggested(name, known)}", ("knowledge",))])


def _suits_knowledge(attack: AttackSettings, info: ValidationInfo) -> AttackSettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is None:
        return attack
    _require_known(attack.settings, attributes)
    for name in getattr(attack.settings, "columns", None) or ():
        if name not in attributes:
            what = f"'{name}' is not a column of attributes; {suggested(name, attributes)}"
            raise refusal([problem(what, ("columns",))])
    unit, given = getattr(attack.settings, "unit", None), info.data.get("input")
    if unit is not None and given is not None and unit not in (RECORD, *given.unit_columns):
        raise _undefined(unit, given)
    weights = getattr(attack.settings, "weights", None)
    if weights in attributes and not attributes[weights].released:
        remedy = "accepted: a released column, such as one with role: weight"
        if attributes[weights].role is Role.WEIGHT:
            remedy = f"set attributes.{weights}.release: true, or use the constraint population-uniqueness"
        what = f"'{weights}' is not released; {remedy}"
        raise refusal([problem(what, ("weights",))])
    return attack


def _suits_roles(measure: UtilitySettings, info: ValidationInfo) -> UtilitySettings:
    attributes: dict[str, AttributeSettings] | None = info.data.get("attributes")
    if attributes is not None and measure.plug_in.needs_sensitive:
        _require_sensitive(measure.measure, attributes)
    return measure


class Config(Section):
    """A whole config. ``load_config`` returns one for a file or a mapping."""

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
    attacks: tuple[Annotated[AttackSettings, AfterValidator(_suits_knowledge)], ...] = Field(
        default=(), description="run on the release and reported: names, or mappings with attack and options"
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
    acknowledge: tuple[Acknowledgement, ...] | None = Field(
        default=None,
        description="warnings and findings that you read and that a run need not repeat: rows-are-persons "
        "says that no person has two records",
    )
    exposure: ExposureSettings | None = Field(
        default=None,
        description="how much a release may show beyond its constraints before a run says SATISFIED, BUT",
    )
    preset: str | None = Field(
        default=None,
        description="the rule that the release follows; a run says what departs from it: hipaa-safe-harbor, "
        "hipaa-expert, ema-0070, public-use or research-contract",
    )
    apply: ApplySettings | None = Field(
        default=None,
        description="an earlier run: recode the input as that run did and append it to that release",
    )
    output: OutputSettings = Field(default_factory=OutputSettings, description="the released file or table")
    seed: Annotated[WholeNumber, Field(ge=0)] = Field(default=0, description="seed of all randomness")

    _origin: Origin = PrivateAttr(default_factory=Origin)

    @field_validator("preset")
    @classmethod
    def _is_a_preset(cls, given: str | None) -> str | None:
        if given is not None and given not in PRESETS:
            raise ValueError(f"unknown preset '{given}'; {suggestion(given, PRESETS)}")
        return given

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

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for group in CONFLICTS:
            found = [problem(what, path) for conflicts in group for path, what in conflicts(self)]
            if found:
                raise refusal(found)
        return self

    def unit_of(self, constraint: ConstraintSettings) -> str | None:
        """Return the unit that a constraint counts; None for records."""
        own = None if constraint.build().people_units else constraint.unit
        unit = own or self.input.default_unit
        return None if unit == RECORD else unit

    @property
    def in_input_database(self) -> bool:
        """Whether input and release are in one database."""
        source, output = self.input, self.output
        if output.database is None:
            return output.url is not None and source.url == output.url
        return source.database is not None and same_file(
            self.folder / source.database, self.folder / output.database
        )

    @property
    def counts_units(self) -> bool:
        """Whether a constraint or a scenario counts units other than records."""
        models = [each.counting(own) for each in (self.scenarios or {}).values() for own in each.models]
        return any(self.unit_of(each) is not None for each in (*self.constraints, *models))

    @property
    def counts_population(self) -> bool:
        """Whether a constraint counts the population or households."""
        models = [each.build() for each in self.constraints]
        return any(each.needs_population or each.needs_households for each in models)

    @property
    def source(self) -> str:
        """Name of the config in messages: its path as given."""
        return self._origin.name

    @property
    def folder(self) -> Path:
        """Folder that relative paths in the config start from."""
        return self._origin.folder

    @property
    def command(self) -> RunCommand | None:
        """The command that runs this config; None where it was not started by one."""
        return self._origin.command

    def started_by(self, command: RunCommand) -> Config:
        """Return a copy of the config that was started by a command."""
        return self.located(replace(self._origin, command=command))

    def located(self, origin: Origin) -> Config:
        """Return a copy of the config with another origin."""
        copy = self.model_copy()
        copy._origin = origin
        return copy

    def moved_to(self, folder: Path) -> dict[str, Any]:
        """Return the config as a mapping for a file in another folder, with the paths of files from there."""
        content = self.to_dict()
        given, own, options = content["input"], content.get("output") or {}, content["engine"]["options"]
        holders = [(given, "path"), (given, "database"), (given, "control"), (own, "database")]
        holders += [(given.get("population") or {}, "path"), (content.get("apply") or {}, "report")]
        holders += [(options, "temp_directory")]
        columns = (each for each in content["attributes"].values() if isinstance(each, dict))
        holders += [(each["hierarchy"], "file") for each in columns if each.get("hierarchy")]
        for section, key in holders:
            if isinstance(section.get(key), str) and not is_url(section[key]):
                section[key] = _path_from(folder, self.folder / section[key])
        return content

    @property
    def numerals(self) -> Numerals:
        """Notation of numbers in a release, and in the input once it is open."""
        sign = self.output.decimal
        return self.input.numerals if sign is None else Numerals(sign.value)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in the order of the config."""
        return tuple(_with_role(self.attributes, role))


def _path_from(folder: Path, path: Path) -> str:
    """Return a path from a folder, or a whole one where there is no way between them."""
    target = real_path(path.parent) / path.name
    try:
        return Path(os.path.relpath(target, real_path(folder))).as_posix()
    except ValueError:  # on another drive
        return target.as_posix()


def in_long_form(data: Any, path: KeyPath) -> Any:
    """Return the raw section at a path as a mapping, if it is in its short form; other data unchanged.

    >>> in_long_form("mondrian", ("algorithm",)), in_long_form({"k-anonymity": 5}, ("constraints", "0"))
    ({'name': 'mondrian'}, {'model': 'k-anonymity', 'k': 5})
    >>> in_long_form("drop", ("attributes", "age")), in_long_form("a.csv", ("input", "path"))
    ({'role': 'drop'}, 'a.csv')
    """
    match path:
        case ("algorithm",) if isinstance(data, str):
            return {AlgorithmSettings.selector: data}
        case ("objective",) if isinstance(data, str):
            return {ObjectiveSettings.selector: data}
        case ("attributes", _) if isinstance(data, str):
            return {AttributeSettings.short: data}
        case ("constraints", _) | ("scenarios", _, "models", _):
            with suppress(ValidationError):  # reported when the whole config is validated
                return ConstraintSettings.in_long_form(data)
    return data


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a config with the parameters of every plug-in."""
    schema = Config.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "anonymizer config",
        "anyOf": [
            {"required": ["scenarios"], "properties": {"scenarios": {"minProperties": 1}}},
            {"required": ["constraints"], "properties": {"constraints": {"minItems": 1}}},
        ],
    }
