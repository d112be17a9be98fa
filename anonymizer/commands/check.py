"""``check``: privacy models measured on a file or an Anatomy release, without recoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from anonymizer.adversary.candidate import truth_of_tuples
from anonymizer.adversary.original import original_of_files
from anonymizer.adversary.release import by_config_names, read_release, unite_published, with_labels
from anonymizer.attacks.special_uniques import SpecialUniquesSettings, details_of
from anonymizer.config.model import Config
from anonymizer.data.open import unite_keys
from anonymizer.data.relation import Relation
from anonymizer.data.source import KeyColumns
from anonymizer.data.table import ColumnRequest, read_columns, unite_spellings
from anonymizer.errors import InputError
from anonymizer.exposure.finding import ROWS_ARE_PERSONS
from anonymizer.hierarchy.date import are_groups_in_order
from anonymizer.job.constraints import attacked, countable_constraints, unmeasured
from anonymizer.job.source import open_foreign_release
from anonymizer.job.verify import RelationPair, attribute_in_groups
from anonymizer.model.adversary import AdversaryView, AnatomyRelease, Links, Original
from anonymizer.model.classes import Measurement
from anonymizer.model.features import Feature
from anonymizer.model.naming import Spellings
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.spelling import suggested
from anonymizer.model.table import Column, Numerals, Role, SensitiveAttribute
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.people.keys import keys_by_name
from anonymizer.people.population import people_of_file
from anonymizer.people.units import units_of_records
from anonymizer.people.warnings import check_warnings, released_key_warnings
from anonymizer.people.weights import rounding_warnings
from anonymizer.plan.bands import put_in_bands, put_values_in_bands
from anonymizer.plan.columns import Columns
from anonymizer.plan.counting import Counting
from anonymizer.plan.goal import probes
from anonymizer.plan.plan import Plan
from anonymizer.privacy.base import PRIVACY_MODELS, Constraint, CountedConstraint, ReleaseConstraint
from anonymizer.profile.column_statistics import writing_of
from anonymizer.profile.spellings import key_warnings, sensitive_warnings, unused_code_warnings
from anonymizer.release.anatomy import AnatomyFiles
from anonymizer.release.classes import (
    UnitColumns,
    count_classes,
    measure,
    measure_pair,
    published_with_owners,
    read_pair,
)


@dataclass(frozen=True)
class Check:
    """The measurements of a file.

    Attributes
    ----------
    constraints: those of the config; unmeasured are those by attacks that need more than the file, and those
        on units that the file does not name; empty without a config.
    measures: the privacy models that the file allows, measured with neutral thresholds.
    scenarios: the constraints of each scenario of the config; those of an Anatomy release unmeasured.
    warnings: parts of the file that were not measured.
    special_uniques: as the attack of that name reports them; None unless asked for.
    """

    rows: int
    classes: int
    constraints: list[Measurement]
    measures: list[Measurement]
    scenarios: dict[str, list[Measurement]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    special_uniques: dict[str, Any] | None = None

    @property
    def satisfied(self) -> bool:
        """Whether no constraint is known to be violated."""
        every = (*self.constraints, *(each for own in self.scenarios.values() for each in own))
        return all(each.satisfied is not False for each in every)


def chosen_parameters(measure: Measurement) -> dict[str, Any]:
    """Return the parameters of a measure but for neutral thresholds, which do not change what it measures."""
    neutral = PRIVACY_MODELS[measure.model].neutral()
    return {key: value for key, value in measure.parameters.items() if value != neutral.get(key)}


def with_special_uniques(found: Check, relation: Relation, names: Sequence[str], size: int) -> Check:
    """Return the measurements of a file with its special uniques.

    Parameters
    ----------
    names: of the quasi-identifiers.
    size: largest number of values that single out a record.
    """
    table, _ = published_with_owners(relation, names, UnitColumns({}))
    fraction = float(SpecialUniquesSettings(size=size).fraction)
    return replace(found, special_uniques=details_of(table, table.names, size, fraction))


def check_names(
    relation: Relation, quasi_identifiers: Sequence[str], sensitive: Sequence[str], person: str | None = None
) -> Check:
    """Measure a file by the names of its quasi-identifiers and sensitive attributes.

    The file is its own reference distribution.

    Parameters
    ----------
    person: column that says whose records these are; models then count persons too.

    Raises
    ------
    InputError: no quasi-identifier, an unknown column, or one with two roles.
    """
    spellings = Spellings(relation.columns)
    quasi_identifiers, sensitive = (list(map(spellings.of, each)) for each in (quasi_identifiers, sensitive))
    units = UnitColumns({} if person is None else {PERSON: spellings.of(person)})
    _check_columns(relation, quasi_identifiers, (*sensitive, *units.columns.values()))
    both = sorted(set(quasi_identifiers) & set(sensitive))
    if both:
        raise InputError(
            f"{relation.name}: '{both[0]}' is given both as quasi-identifier and as sensitive; "
            "name it in only one of them"
        )
    numerals = _numerals_of(relation, [*quasi_identifiers, *sensitive, *units.columns.values()])
    requests = [ColumnRequest(name, None, numerals, generalized=True) for name in quasi_identifiers]
    unite_spellings(relation, requests)
    if person is not None:
        unite_keys(relation, KeyColumns(tuple(units.columns.values()), numerals=numerals))
    columns = read_columns(
        relation, [ColumnRequest(name, None, numerals, grouped=True) for name in sensitive]
    )
    attributes = [_as_released(read.column) for read in columns.values()]
    known: dict[str, Role | None] = dict.fromkeys(relation.columns)
    known |= dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER) | dict.fromkeys(
        sensitive, Role.SENSITIVE
    )
    return _check_table(relation, quasi_identifiers, attributes, None, known, units)


def _as_released(column: Column) -> SensitiveAttribute:
    """Return a sensitive attribute of a file without a config; groups of numbers or dates keep their order.

    A run measures t-closeness of such groups by their order, though they are texts in the release.
    """
    return SensitiveAttribute(column, distance="ordered" if are_groups_in_order(column) else None)


def _numerals_of(relation: Relation, names: Sequence[str]) -> Numerals:
    """Return the decimal sign of the numbers in columns, as a draft of a config would have it."""
    texts = {
        name: [(text, number) for text, number in relation.dictionary(name) if text is not None]
        for name in names
        if relation.is_text(name)
    }
    return writing_of(texts, relation.separator).numerals


def _check_columns(relation: Relation, quasi_identifiers: Sequence[str], others: Sequence[str]) -> None:
    if not quasi_identifiers:
        raise InputError(f"{relation.name}: no quasi-identifier given; name at least one column")
    for name in (*quasi_identifiers, *others):
        if name not in relation.columns:
            raise InputError(f"{relation.name}: no column '{name}'; {suggested(name, relation.columns)}")


def check_config(relation: Relation, plan: Plan, *, is_input: bool = False) -> Check:
    """Measure a file by the roles, distances and constraints of a config.

    The file is its own reference distribution. It may be an input, which is read as a run reads it, or a
    release.

    Parameters
    ----------
    is_input: whether it certainly is the input, so that numbers do not stand for labels.

    Raises
    ------
    InputError: the file lacks a quasi-identifier or a sensitive column of the config.
    """
    relation = relation if is_input else with_labels(plan.columns, relation)
    put_values_in_bands(plan.columns, relation)
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        for name in plan.columns.with_role(role):
            relation.position(name)
    # A release has other texts for missing values, and lacks columns.
    whole = all(name in relation.columns for name in plan.columns)
    unused = unused_code_warnings(relation, plan.columns.missing) if whole else []
    unite_spellings(
        relation, plan.columns.requests(plan.columns.with_role(Role.QUASI_IDENTIFIER)), plan.columns.missing
    )
    attributes = plan.columns.read_sensitive(relation, plan.columns.with_role(Role.SENSITIVE))
    known = {name: plan.columns[name].role if name in plan.columns else None for name in relation.columns}
    # A release has no such columns.
    units = {name: column for name, column in plan.counting.units.items() if column in relation.columns}
    if relation.ordered:
        units_of_records(replace(plan.counting, units=units), relation)
    linked = PERSON if plan.counting.pseudonym in relation.columns else None
    own_units = UnitColumns(units, plan.columns.absent, linked)
    found = _check_table(
        relation, plan.columns.with_role(Role.QUASI_IDENTIFIER), attributes, plan, known, own_units
    )
    return replace(found, warnings=[*_unknown_units(plan.counting, relation), *unused, *found.warnings])


def _unknown_units(counting: Counting, relation: Relation) -> Iterator[str]:
    """Yield a warning for each unit that is to be counted and that the file does not name."""
    asked = {each.unit for each in counting.constraints} | (
        {HOUSEHOLD} if counting.needs_households else set()
    )
    for name, column in counting.units.items():
        if name in asked and column not in relation.columns:
            yield (
                f"no column '{column}' in this file, so it does not say which records belong to one {name}: "
                f"constraints that count by {name} are shown as ?, and the measures count records; the "
                "report of the run says what it verified"
            )


def _check_table(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    attributes: Sequence[SensitiveAttribute],
    plan: Plan | None,
    known: Mapping[str, Role | None],
    units: UnitColumns,
) -> Check:
    classes = count_classes(relation, quasi_identifiers, attributes, units)
    persons = classes.sizes_in(PERSON) if PERSON in units.columns else None
    people = None if plan is None else people_of_file(plan, relation, quasi_identifiers, persons)
    if people is not None and units.linked is None:
        classes = classes.with_population(people)
    counts = KnownCounts(tuple(units.columns), people is not None and units.linked is None)

    def look() -> AdversaryView:
        table, owners = published_with_owners(relation, quasi_identifiers, units)
        if owners is None:
            return AdversaryView(table)
        rows = np.arange(len(table.counts))
        links = Links(rows, rows, table.counts)
        original = Original(table.source, (), table.codes, {}, table.counts, links, (), owners=owners)
        return AdversaryView(table, original=original)

    constraints, measures, scenarios = _measured(partial(measure, classes), attributes, plan, counts, look)
    if units.linked is not None:
        classes = classes.published
        measures = _measured(partial(measure, classes), attributes, None, counts, look)[1]
    named = units.columns if plan is None else plan.counting.units or units.columns
    acknowledged = plan is not None and ROWS_ARE_PERSONS in plan.assessment.acknowledged
    unnamed = {} if acknowledged else keys_by_name(known.items(), named)
    warnings = [*relation.header_warnings, *key_warnings(relation, named, unnamed)]
    warnings += [own for each in attributes for own in sensitive_warnings(each.column)]
    if people is not None and people.estimated and plan is not None:
        warnings += rounding_warnings(plan.columns, relation, [plan.columns.sampling_weight])
    if plan is not None:
        warnings += released_key_warnings(relation, known, plan.columns.numerals)
    counted = PERSON in units.columns if plan is None else plan.counting.counts_persons
    if not counted and not acknowledged:
        warnings += check_warnings(relation, quasi_identifiers, known.items(), plan)
    return Check(relation.rows, classes.number, constraints, measures, scenarios, warnings)


class KnownCounts(NamedTuple):
    """What can be counted in a file besides records.

    Attributes
    ----------
    units: names of units.
    people: whether the people of the population are known.
    classes: whether the classes of some quasi-identifiers are known, not only buckets.
    """

    units: tuple[str, ...] = ()
    people: bool = False
    classes: bool = True

    def allow(self, constraint: Constraint) -> bool:
        """Return whether a constraint can be measured."""
        own = constraint.unit
        units = own is None or (own in self.units and constraint.model.limit_of(own) is None)
        units = units and (self.classes or constraint.scenario is None)
        model = constraint.model
        people = self.people or not model.needs_population
        persons = PERSON not in self.units or Feature.PERSONS_AMONG_PEOPLE not in model.limits
        return units and people and persons and (HOUSEHOLD in self.units or not model.needs_households)


def _measured(
    measure_all: Callable[[Sequence[CountedConstraint]], list[Measurement]],
    attributes: Sequence[SensitiveAttribute],
    plan: Plan | None,
    known: KnownCounts,
    look: Callable[[], AdversaryView],
) -> tuple[list[Measurement], list[Measurement], dict[str, list[Measurement]]]:
    """Return the measurements of the constraints of a config, of privacy models, and of scenarios.

    Parameters
    ----------
    known: what every model measures besides records, if it can.
    look: returns the view of an adversary with the file alone, and of whose its records are.
    """
    own = [] if plan is None else plan.goal.constraints([each.name for each in attributes])
    if plan is not None:
        plan.goal.check_measurable(own, attributes)
    asked = {each.model.name for each in own}
    models = [
        each
        for name, each in PRIVACY_MODELS.items()
        if known.people or name in asked or each.measured_by_default or each.needs_households
    ]
    every = [probe for attribute in (None, *attributes) for probe in probes(attribute, models)]
    if PERSON in known.units:
        every = [replace(each, unit=PERSON) if each.model.people_units else each for each in every]
    wanted = [probe for probe in countable_constraints(every) if known.allow(probe)]
    wanted += [
        replace(probe, unit=unit)
        for unit in known.units
        for probe in wanted
        if Feature.UNITS in probe.model.supports
    ]
    counted = [each for each in countable_constraints(own) if known.allow(each)]
    measured = iter(measure_all(counted))
    constraints: list[Measurement] = []
    scenarios: dict[str, list[Measurement]] = {}
    for each in own:
        of_file = isinstance(each, ReleaseConstraint) and replace(each, unit=None).of_release_alone
        if isinstance(each, ReleaseConstraint) and of_file and known.allow(each):
            found = attacked(each, look(), np.random.default_rng(0))
        else:
            found = next(measured) if each in counted else unmeasured(each)
        (constraints if each.scenario is None else scenarios.setdefault(each.scenario, [])).append(found)
    return constraints, measure_all(wanted), scenarios


@contextmanager
def open_pair(pair: AnatomyFiles, config: Config | None = None) -> Iterator[RelationPair]:
    """Open the QIT and the ST of an Anatomy release, written as a config writes them, or as usual."""
    with (
        open_foreign_release(pair.records, config) as records,
        open_foreign_release(pair.values, config) as values,
    ):
        yield records, values


def grouped_of_config(columns: Columns, tables: RelationPair) -> AnatomyRelease:
    """Count an Anatomy release by the roles of a config.

    Raises
    ------
    InputError: the config has not exactly one sensitive attribute.
    DataError: a column is missing, or the tables do not belong together.
    """
    records, values = tables
    names = columns.with_role(Role.QUASI_IDENTIFIER)
    for name in (*names, GROUP):
        records.position(name)
    sensitive = attribute_in_groups(columns)
    values.position(sensitive)
    (attribute,) = columns.read_sensitive(values, [sensitive])
    own = [name for name in records.columns if name in names]
    return read_pair(records, values, own, attribute)


def check_pair_config(tables: RelationPair, plan: Plan) -> Check:
    """Measure an Anatomy release by the roles and constraints of a config; it is its own reference.

    Raises
    ------
    InputError: a file lacks a column of the config, or the files do not belong together.
    """
    return _check_groups(grouped_of_config(plan.columns, tables), plan)


def check_pair_names(
    tables: RelationPair, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> Check:
    """Measure an Anatomy release by the names of its columns.

    Raises
    ------
    InputError: a column is missing, or the sensitive attribute is not in the ST.
    """
    records, values = tables
    quasi_identifiers = list(map(Spellings(records.columns).of, quasi_identifiers))
    sensitive = list(map(Spellings(values.columns).of, sensitive))
    _check_columns(records, quasi_identifiers, [GROUP])
    own = [name for name in values.columns if name not in (GROUP, COUNT)]
    if len(own) != 1 or list(sensitive or own) != own:
        raise InputError(
            f"{values.name}: has the columns {', '.join(values.columns)}; expected {GROUP}, {COUNT} and the "
            "sensitive attribute; leave --sensitive out, or name that column"
        )
    read = read_columns(values, [ColumnRequest(own[0], grouped=True)])
    attribute = _as_released(read[own[0]].column)
    return _check_groups(read_pair(records, values, quasi_identifiers, attribute), None)


def _check_groups(grouped: AnatomyRelease, plan: Plan | None) -> Check:
    known = KnownCounts(classes=False)
    attribute = grouped.sensitive.attribute
    found = _measured(
        partial(measure_pair, grouped),
        [attribute],
        plan,
        known,
        lambda: AdversaryView(grouped.tuples, grouped=grouped),
    )
    return Check(grouped.records, len(grouped.groups), *found)


def view_of_pair(
    plan: Plan,
    tables: RelationPair,
    original: Relation | None = None,
    weights: Sequence[str] = (),
) -> AdversaryView:
    """Return the view of an adversary with an Anatomy release, and optionally original records.

    Parameters
    ----------
    weights: columns of the QIT with sampling weights.

    Raises
    ------
    InputError: a column is missing, the files do not belong together, or the original has other columns.
    """
    records, original, values = by_config_names(plan.assessment, tables[0], original, tables[1])
    assert values is not None
    unite_published(plan.columns, records)
    grouped = grouped_of_config(plan.columns, (records, values))
    release = read_release(plan.columns, records, weights)
    if original is None:
        return AdversaryView(release, grouped=grouped)
    put_in_bands(plan.columns, original)
    name = grouped.sensitive.attribute.name
    own = original_of_files(plan, release, records, original, name)
    if own.sensitive and own.names == release.names:
        grouped = replace(grouped, truth=truth_of_tuples(grouped, own, release))
    return AdversaryView(release, original=own, grouped=grouped)


def refused_second(source: str) -> InputError:
    """Return the error for a second release next to an Anatomy release.

    Parameters
    ----------
    source: name of the Anatomy release in messages.
    """
    return InputError(
        f"{source}: is an Anatomy release, which no attack compares with a second release; leave the second "
        "release out"
    )
