"""Persons, households and other units: counted in a run's release, with warnings where nothing counts them.

The release has no column of units, so that only the run itself can count them there: it knows the class of
each record of the input.

Where constraints count records, a key of persons that repeats is a reason to warn. Such a column is neither a
quasi-identifier nor sensitive and divides no class, but it may tell which records are of one person. Its
values are counted in each class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from anonymizer.attacks.base import IGNORED, LINKS, Attack
from anonymizer.attacks.three_questions import Answer
from anonymizer.config.model import Acknowledgement
from anonymizer.data.relation import Relation
from anonymizer.data.source import KeyColumns
from anonymizer.errors import AuditFailed, listed, plural
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, count_exactly, group_rows
from anonymizer.model.classes import Classes, ClassValues, Released, SensitiveCodes, classes_of_rows
from anonymizer.model.households import MEMBERS, Households
from anonymizer.model.population import PopulationSizes
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import LEFT_OUT, Numerals, Role, SamplingWeights, ValueType
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD, Ties, UnitsByName
from anonymizer.profile.column_statistics import ColumnFacts, has_fractions, measure_column
from anonymizer.profile.knowledge import (
    HOMES,
    HOUSEHOLD_KEYS,
    MOMENT,
    NUMBERED_PEOPLE,
    PERSON_KEYS,
    SERVING,
    Ground,
    subject_of,
)
from anonymizer.release.query import rows_of_records
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import Prepared, owned_view, people_of_rows, stored_units, units_of_rows
from anonymizer.search.base import sensitive_codes


def class_of_records(prepared: Prepared, recoding: Recoding) -> tuple[IntArray, int]:
    """Return the class of each record of the input, -1 if it is not released, and the number of classes."""
    rows, stays = _rows(prepared, recoding), ~recoding.removed
    columns = ((each.codes[stays], len(each.labels)) for each in recoding.class_columns())
    groups, number = group_rows(columns, int(stays.sum()))
    of_row = np.full(len(stays), -1, dtype=np.int64)
    of_row[stays] = groups
    return of_row[rows], number


def _rows(prepared: Prepared, recoding: Recoding) -> CodeArray:
    """Return the row of the recoding's table for each record, shape (records,)."""
    released = tuple(prepared.plan.released(prepared.encoded.relation.columns))
    return rows_of_records(prepared.encoded.relation, prepared.rows(recoding), recoding, released)


def released_records(prepared: Prepared, recoding: Recoding) -> Classes:
    """Return the classes of a release, counted record by record from the columns of units.

    The search counts distinct rows instead; the two share no sums. If the engine stores the units, it counts
    them once more, from the records at the published levels.
    """
    if not prepared.units:
        return _counted_by_engine(prepared, recoding)[0]
    class_of, number = class_of_records(prepared, recoding)
    records = np.flatnonzero(class_of >= 0)
    people = None
    if prepared.problem.table.population is not None:
        first = np.zeros(number, dtype=np.int64)
        first[class_of[records]] = records
        rows = prepared.rows(recoding)[first].astype(np.int64)
        people = people_of_rows(prepared.problem.table, recoding, rows)
    linked = prepared.plan.pseudonym is not None
    classes = _classes(prepared, class_of, records, number, linked=linked, people=people)

    if not classes.linked:

        def one_of_each() -> IntArray:
            # A class publishes what any of its records does.
            own = records[np.unique(class_of[records], return_index=True)[1]]
            return _rows(prepared, recoding)[own].astype(np.int64)

        classes.values = _published(recoding, one_of_each)
    return classes


def with_owners(prepared: Prepared, recoding: Recoding, view: AdversaryView) -> AdversaryView:
    """Return the view of a run's release with the owners of its records, if the config names units."""
    if not prepared.units or view.original is None:
        return view
    table, encoded = prepared.problem.table, prepared.encoded
    return owned_view(prepared.plan, encoded, prepared.units, table, recoding, view)


def all_records(prepared: Prepared, recoding: Recoding) -> Classes:
    """Return one class of all records of the input, counted as for ``released_records``."""
    if not prepared.units:
        return _counted_by_engine(prepared, recoding)[1].pooled()
    rows = prepared.encoded.relation.rows
    return _classes(prepared, np.zeros(rows, dtype=np.int64), np.arange(rows), 1)


def with_person_records(prepared: Prepared, found: Released) -> Released:
    """Return a release with the number of records of each person in each row, if persons are counted."""
    table, units = found.table, found.table.units
    if PERSON not in units or units[PERSON].records is not None:
        return found
    if prepared.units:
        persons, rows = {PERSON: prepared.units[PERSON]}, _rows(prepared, found.recoding)
        own = units_of_rows(persons, rows, table.combinations, [PERSON])
    else:
        own = _units_by_engine(prepared, found.recoding, [PERSON])
    return replace(found, table=replace(table, units={**units, PERSON: own[PERSON]}))


def _units_by_engine(prepared: Prepared, recoding: Recoding, recorded: Collection[str] = ()) -> UnitsByName:
    """Return the units of the rows of the recoding's table, as the engine counts them.

    Parameters
    ----------
    recorded: as for ``stored_units``.
    """
    codings = prepared.codings(recoding)
    sizes = [coding.size for coding in codings]
    with ExitStack() as stack:
        stored = stored_units(prepared.plan, prepared.encoded.relation, codings, recorded)
        return {
            name: stack.enter_context(own).fetch().of_rows(recoding.table.codes, sizes)
            for name, own in stored.items()
        }


def _counted_by_engine(prepared: Prepared, recoding: Recoding) -> tuple[Classes, Classes]:
    """Return the classes of the release, and of all records."""
    table, units = recoding.table, _units_by_engine(prepared, recoding)
    columns = [(each.codes, len(each.labels)) for each in recoding.class_columns()]
    class_of, number = group_rows([(recoding.removed.astype(np.int64), 2), *columns], table.combinations)
    released = np.ones(number, dtype=np.bool_)
    released[class_of[recoding.removed]] = False
    every = Classes(class_of, table.counts, number, sensitive_codes(table), units)
    every.values = _published(recoding, lambda: np.unique(class_of, return_index=True)[1])
    return every.keep(released), every


def _published(recoding: Recoding, rows: Callable[[], IntArray]) -> ClassValues:
    """Return what classes publish.

    Parameters
    ----------
    rows: returns a row of each class, shape (classes,), int64.
    """
    columns = recoding.published()

    def codes() -> CodeArray:
        own = rows()
        return np.stack([each.codes[own] for each in columns], axis=1)

    names = [each.name for each in recoding.table.quasi_identifiers]
    return ClassValues(names, codes, lambda: [each.labels for each in columns])


def _classes(
    prepared: Prepared,
    class_of: IntArray,
    records: IntArray,
    number: int,
    *,
    linked: bool = False,
    people: PopulationSizes | None = None,
) -> Classes:
    table, rows = prepared.problem.table, prepared.encoded.combination[records]
    sensitive = {
        each.name: SensitiveCodes(each, table.sensitive_codes(each.name)[rows].astype(np.int64))
        for each in table.sensitive
    }
    own = {name: each[records] for name, each in prepared.units.items()}
    items = np.arange(len(records))
    units = dict(units_of_rows(own, items, len(records), prepared.plan.recorded_units))
    if HOUSEHOLD in own:
        households = own[HOUSEHOLD]
        units[MEMBERS] = Households.of_records(items, households, len(records), person_of=own.get(PERSON))
    ones = np.ones(len(records), dtype=np.int64)
    ties = Ties(own[PERSON], int(own[PERSON].max(initial=-1)) + 1, ones) if linked else None
    classes = classes_of_rows(class_of[records], ones, number, sensitive, units, ties)
    return classes if people is None else classes.with_population(people)


def shares_of_persons(prepared: Prepared, recoding: Recoding) -> tuple[IntArray, dict[str, Any]] | None:
    """Return what the records of each row count if each person counts once, and the number of persons.

    The shares are of shape (rows of the recoding's table,), int64. None without persons in memory.
    """
    if PERSON not in prepared.units:
        return None
    unit_of = prepared.units[PERSON]
    known = unit_of >= 0
    sizes, missing = np.bincount(unit_of[known]), int((~known).sum())
    # A record without a key is a person of its own.
    sizes, numbers = np.append(np.maximum(sizes, 1), 1), np.append(sizes > 0, missing).astype(np.int64)
    weights, codes = SamplingWeights.of_units(PERSON, prepared.plan.units[PERSON], sizes, numbers)
    own = weights.values[codes[np.where(known, unit_of, len(sizes) - 1)]]
    shares = count_exactly(_rows(prepared, recoding), own, recoding.table.combinations)
    return shares, {"unit": PERSON, "units": int(numbers.sum())}


def suppressed_records(prepared: Prepared, recoding: Recoding) -> BoolArray:
    """Return which records of the input are suppressed, shape (records,)."""
    return recoding.suppressed[_rows(prepared, recoding)]


def check_whole(prepared: Prepared, recoding: Recoding) -> None:
    """Check record by record that all records of a unit are suppressed, or none.

    Raises
    ------
    AuditFailed: some are, and others of the same unit are not.
    """
    plan = prepared.plan
    if plan.whole is None:
        return
    units, suppressed = prepared.units[plan.whole], suppressed_records(prepared, recoding)
    records = np.bincount(units[units >= 0])
    gone = np.bincount(units[suppressed & (units >= 0)], minlength=len(records))
    torn = int(((gone > 0) & (gone < records)).sum())
    if torn:
        raise AuditFailed(
            f"some but not all records of {plural(torn, plan.whole)} are suppressed, but suppression.whole "
            "requires all or none"
        )


def check_unit_limit(prepared: Prepared, recoding: Recoding) -> None:
    """Check record by record that no more units lose a record than the limit allows.

    Raises
    ------
    AuditFailed: more do.
    """
    limit = prepared.problem.unit_limit
    if limit is None:
        return
    lost = _units_lost(prepared, recoding, limit.unit)
    if lost > limit.most:
        raise AuditFailed(
            f"{plural(lost, limit.unit)} of {limit.number:,} lose records, but suppression.limit allows "
            f"{limit.most:,}"
        )


def _units_lost(prepared: Prepared, recoding: Recoding, unit: str) -> int:
    """Return how many units lose a record, counted record by record; by the engine if it stores the units."""
    if not prepared.units:
        return _counted_by_engine(prepared, recoding)[1].units_in(unit, recoding.suppressed)
    return _distinct(prepared.units[unit][suppressed_records(prepared, recoding)])


def _distinct(units: IntArray) -> int:
    """Return the number of units of some records, each without one being a unit of its own."""
    return len(np.unique(units[units >= 0])) + int((units < 0).sum())


def _lost(prepared: Prepared, recoding: Recoding | None) -> dict[str, dict[str, int]]:
    """Return the facts about the unit that the suppression limit counts, by its name."""
    limit = prepared.problem.unit_limit
    if limit is None:
        return {}
    found = {"lost_at_most": limit.most}
    if recoding is not None and not prepared.units and limit.unit in recoding.table.units:
        # The check of the release has asked the engine; it need not count again.
        found["lost"] = recoding.table.units[limit.unit].at(recoding.suppressed).number
    elif recoding is not None:
        found["lost"] = _units_lost(prepared, recoding, limit.unit)
    return {limit.unit: found}


def unit_facts(prepared: Prepared, recoding: Recoding | None = None) -> dict[str, Any] | None:
    """Return the ``units`` entry of the report; None where the config names no units that can be counted.

    Parameters
    ----------
    recoding: of the release, by which suppressed units are counted if they are suppressed as a whole.
    """
    plan = prepared.plan
    if not prepared.units and not prepared.problem.table.units:
        return None
    lost = _lost(prepared, recoding)
    facts = {name: _facts_of(prepared, name) | lost.get(name, {}) for name in plan.units}
    if not prepared.units or recoding is None or plan.applied:
        return facts
    suppressed = suppressed_records(prepared, recoding)
    if plan.whole is not None:
        facts[plan.whole]["suppressed"] = _distinct(prepared.units[plan.whole][suppressed])
    if plan.pseudonym is not None:
        facts[PERSON]["linked_classes"] = released_records(prepared, recoding).number
        return facts
    linked = _linked_by(prepared, ~suppressed)
    if linked:
        facts[PERSON]["linked_by"] = linked
    return facts


def _facts_of(prepared: Prepared, name: str) -> dict[str, Any]:
    """Return the facts about a unit in the input, counted by the engine if it stores the units."""
    plan, relation = prepared.plan, prepared.encoded.relation
    column = plan.units[name]
    if name in prepared.units:
        units = prepared.units[name]
        sizes, blank = np.bincount(units[units >= 0]), int((units < 0).sum())
        number, most = int(np.count_nonzero(sizes)) + blank, int(sizes.max(initial=min(blank, 1)))
        if name == HOUSEHOLD and PERSON in prepared.units:
            # Persons have a household in records that do not name it, too.
            blank = relation.unit_facts(column, plan.absent).without
    else:
        own = relation.unit_facts(column, plan.absent)
        number, blank, most = own.units + own.without, own.without, max(own.most, min(own.without, 1))
    facts = {
        "column": column,
        "units": number,
        "records": relation.rows,
        "records_without": blank,
        "most_records": most,
    }
    return facts if name != PERSON or plan.pseudonym is None else {**facts, "released_as": "pseudonym"}


def _linked_by(prepared: Prepared, released: BoolArray) -> dict[str, int]:
    """Return how many persons each column that is released unchanged links the records of.

    It does where a person with several records has the same value in all of them, and no other person has it.

    Parameters
    ----------
    released: which records are, shape (records,).
    """
    if PERSON not in prepared.units:
        return {}
    relation, units = prepared.encoded.relation, prepared.units[PERSON]
    records = np.flatnonzero(released & (units >= 0))
    own, found = units[records], {}
    if not len(own):
        return {}
    several = np.bincount(own) > 1
    last = np.empty(len(several), dtype=np.int64)
    recoded = prepared.plan.with_role(Role.QUASI_IDENTIFIER)
    for name in prepared.plan.released(relation.columns):
        if name in recoded or not several.any():
            continue
        # A missing value is one, too.
        values = _values_of_records(prepared.plan, relation, name)[records] + 1
        # Whoever has another value than in the last record has several, and so have values other persons.
        last[own] = values
        linked = several.copy()
        linked[own[values != last[own]]] = False
        holder = np.empty(int(values.max()) + 1, dtype=np.int64)
        shared = np.zeros(len(holder), dtype=np.bool_)
        holder[values] = own
        shared[values[own != holder[values]]] = True
        linked[own[shared[values]]] = False
        number = int(linked.sum())
        if number:
            found[name] = number
    return found


def unit_warnings(facts: dict[str, Any] | None) -> list[str]:
    """Return the warnings about units that each have one record, and about records without one.

    Parameters
    ----------
    facts: the ``units`` entry of the report.
    """
    warnings = []
    facts = facts or {}
    for name, own in facts.items():
        column, missing = own["column"], own["records_without"]
        warnings += [
            f"column '{each}' links the records of {plural(number, name)}: each {name} has one value in "
            f"all records, and no other {name} has this value; leave the column out, or make it a "
            "quasi-identifier"
            for each, number in own.get("linked_by", {}).items()
        ]
        if missing and name == HOUSEHOLD and PERSON in facts:
            warnings.append(
                f"column '{column}' is empty in {plural(missing, 'record')}; their persons are in the {name} "
                f"of their other records, or in a {name} of their own. If several persons belong to one "
                f"{name}, fill in the column, or set input.missing_person: refuse"
            )
        elif missing:
            warnings.append(
                f"column '{column}' is empty in {plural(missing, 'record')}; each of them counts as a "
                f"{name}. If several belong to one {name}, fill in the column, or set "
                "input.missing_person: refuse"
            )
        elif own["units"] == own["records"]:
            warnings.append(
                f"column '{column}' has a different value in every record, so each {name} has one record"
            )
    return warnings


_CODE = re.compile(r".*[\d@].*", re.DOTALL)
_DATE = re.compile(r".*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*", re.DOTALL)

MOSTLY = 0.9
"""Minimum share of the values that have the form of a code."""

MANY, OF_IDENTIFIER = 0.2, 0.02
"""Minimum number of values per record of a key without the name of one, and of an identifier."""

MANY_PERSONS = 30
"""Minimum number of values of such an identifier: fewer may be remarks."""

TOGETHER = 0.8
"""Maximum number of homes per record whose people live together; a few equal addresses are no households."""

KNOWN = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT)
"""Roles of columns that are no keys."""

ACKNOWLEDGE = f"set acknowledge: [{Acknowledgement.ROWS_ARE_PERSONS}]"


@dataclass(frozen=True)
class RepeatedKey:
    """A column whose values are shared by records.

    Attributes
    ----------
    persons: number of different values.
    records: with a value.
    below, classes: number of classes that hold fewer than k of its values, and of all; None if not counted.
    known: whether the config names it, but no constraint counts its values.
    household: whether it tells who lives together, not whose the records are.
    alone: of such a key, a column that is named like a key of persons and never repeats; None without one.
    beside: of such a key, whether a key of persons repeats, too: its own warning says what to do for persons.
    time: of such a key, a column of times, such as the wave of a panel; None without one.
    once: whether no two records of a value have the same time, so that they may be one household.
    """

    name: str
    persons: int
    records: int
    below: int | None = None
    classes: int | None = None
    known: bool = False
    household: bool = False
    alone: str | None = None
    beside: bool = False
    time: str | None = None
    once: bool = False

    def warning(self, k: int | None, units: Sequence[str] = ()) -> str:
        """Return the warning about the key, which no constraint counts.

        Parameters
        ----------
        units: that constraints count in place of records.

        >>> RepeatedKey("id", 6127, 19609, 136, 2476).warning(5)[:83]
        "column 'id' repeats: 6,127 values in 19,609 records. k counts records, not people: "
        >>> RepeatedKey("id", 20, 40, 2, 3).warning(11)[74:122]
        ': some of 3 classes contain fewer than 11 of the'
        """
        from anonymizer.report.facts import smallest_shown  # noqa: PLC0415 - few runs need the warning
        from anonymizer.report.wording import NOT_PEOPLE, masked_count  # noqa: PLC0415

        what = f"column '{self.name}' repeats: {self.persons:,} values in {self.records:,} records"
        others = listed([f"{unit}s" for unit in units]) if units else "records"
        counted = f"{'k counts' if k else 'constraints count'} {others}{NOT_PEOPLE}"
        if self.below is not None and self.classes is not None:
            below = masked_count(self.below, smallest_shown(k), self.classes)
            few = "a few" if below.startswith("fewer") else below
            counted += (
                f": {few} of {self.classes:,} classes contain fewer than {k or 2} of these values"
                if self.below
                else f": each of {self.classes:,} classes contains at least {k or 2} of these values, but no "
                "constraint requires this"
            )
        return ". ".join([what, counted, *self._remedies()])

    def _remedies(self) -> Iterator[str]:
        """Yield what would do: a household is no person, and rows are never taken for persons unasked."""
        if not (self.household or SERVING.fit(self.name)):
            named = f"set input.person: {self.name}"
            yield f"To protect persons, {f'add a constraint with unit: {PERSON}' if self.known else named}"
        yield from self._acknowledgement()
        if self.household and not self.known:
            yield (
                f"No two records of a household have the same '{self.time}'. If each record is a household "
                f"at one time, set input.household: {self.name} and unit: {HOUSEHOLD} in every constraint"
                if self.once
                else f"To protect households too, set input.household: {self.name} and add a constraint with "
                f"unit: {HOUSEHOLD} (or household-risk, which needs algorithm lattice)"
            )

    def _acknowledgement(self) -> Iterator[str]:
        """Yield when rows are persons, unless another key's warning does and this one has a remedy."""
        if self.alone is not None:
            yield (
                f"Column '{self.alone}' has a different value in every record. If it identifies persons, "
                f"each record is a person, so {ACKNOWLEDGE}"
            )
        elif not self.beside or self.known:
            again = f", not even with different values of '{self.time}'" if self.time is not None else ""
            yield f"If no person has two records{again}, {ACKNOWLEDGE}"

    def drafted(self) -> str:
        """Return the note about the key of a draft, which counts persons by it.

        >>> RepeatedKey("id", 6127, 19609).drafted()[:74]
        "column 'id' repeats: 6,127 values in 19,609 records. The draft treats each"
        """
        return (
            f"column '{self.name}' repeats: {self.persons:,} values in {self.records:,} records. The draft "
            "treats each value as one person, and its constraints count persons. If the values are not "
            "persons, remove input.person"
        )


def household_note(relation: Relation, person: str, household: str, absent: Collection[str]) -> str:
    """Return what to do about a key of households beside the key of persons that a draft counts.

    Parameters
    ----------
    person, household: the columns.
    absent: texts of missing values.
    """
    groups = relation.group_counts([person, household])
    known = [
        np.array([text is not None and text not in absent for text in own], dtype=np.bool_)
        for own in groups.values
    ]
    codes = groups.codes[known[0][groups.codes[:, 0]] & known[1][groups.codes[:, 1]]]
    several = int(np.count_nonzero(np.bincount(codes[:, 0]) > 1)) if len(codes) else 0
    if several:
        return (
            f"{several:,} values of column '{person}' occur with two or more values of column '{household}'. "
            f"If these are different persons, '{person}' does not identify persons: combine both columns "
            f"into one in the file, or remove input.person. If persons moved, name '{household}' in "
            "input.units, where units may share persons"
        )
    return (
        f"column '{household}' looks like the key of a household. To protect households too, set "
        f"input.household: {household} and add a constraint with unit: {HOUSEHOLD}"
    )


def person_among(keys: Sequence[RepeatedKey], columns: Iterable[ColumnFacts]) -> str | None:
    """Return the key of persons among keys that repeat, by its name or as the only one; None if unclear.

    Parameters
    ----------
    columns: of the table. Where one that numbers persons by its name never repeats, only names decide.
    """
    named = next((each.name for each in keys if PERSON_KEYS.fit(each.name)), None)
    others = [each.name for each in keys if not each.household and not SERVING.fit(each.name)]
    if named is not None or len(others) != 1 or any(map(NUMBERED_PEOPLE.fit, _one_by_row(columns))):
        return named
    return others[0]


def repeats(column: ColumnFacts, role: Role | None) -> bool:
    """Return whether a column looks like a key of persons that have several records.

    The name of a column that is left out need not say that it is a key.
    """
    from anonymizer.profile.detection import (  # noqa: PLC0415 - most runs look at no key
        PersonNumbers,
        are_days,
    )

    dropped = role in LEFT_OUT
    if not 1 < column.distinct < column.present:
        return False
    found = PersonNumbers().look(column)
    named = found is not None and found.certain
    days = column.type is ValueType.INTEGER and are_days(column.numbers)
    if not named and (column.clock or days):
        return False
    if found is not None:
        return named or dropped
    if dropped and _of_household(column.name) and column.distinctness <= TOGETHER:
        return True
    identifier = role is Role.IDENTIFIER and column.distinct >= MANY_PERSONS
    least = OF_IDENTIFIER if identifier else MANY
    if not dropped or column.distinctness < least or column.type is ValueType.DATE or has_fractions(column):
        return False
    texts = column.texts
    coded = sum(bool(_CODE.fullmatch(text)) for text in texts) >= MOSTLY * len(texts)
    dated = column.dated or all(_DATE.fullmatch(text) for text in texts)
    subject = subject_of(column.name)
    return coded and not dated and (subject is None or subject.ground is not Ground.OUTSIDE)


def keys_among(
    relation: Relation, columns: Iterable[tuple[str, Role | None]], units: Mapping[str, str]
) -> list[RepeatedKey]:
    """Return the keys that repeat among some columns of an open input.

    Parameters
    ----------
    columns: with their roles; None for a column without one.
    units: columns that the config names as keys of units.
    """
    from anonymizer.profile.detection import named_as_number  # noqa: PLC0415 - most runs look at no key

    measured = []
    person = units.get(PERSON)
    for name, role in columns:
        # Measuring every column of a wide file would take long.
        if name == person or (role not in KNOWN and (role in LEFT_OUT or named_as_number(name))):
            measured.append((measure_column(relation, name), role))
    return with_times(relation, keys_of(measured, units))


def with_times(relation: Relation, keys: Iterable[RepeatedKey]) -> list[RepeatedKey]:
    """Return keys, those of households with the column of times that best tells their records apart.

    In a panel the records of a value may be one household, or its people, at several times.
    """
    times = [name for name in relation.columns if subject_of(name) is MOMENT]
    return [_with_time(relation, each, times) if each.household else each for each in keys]


def _with_time(relation: Relation, key: RepeatedKey, times: Sequence[str]) -> RepeatedKey:
    """Return a key with the first column of times that tells its records apart, else with any such column."""
    once = (time for time in times if relation.group_counts([key.name, time]).counts.max(initial=0) == 1)
    time = next(once, None)
    return replace(key, time=time or next(iter(times), None), once=time is not None)


def keys_of(
    columns: Sequence[tuple[ColumnFacts, Role | None]], units: Mapping[str, str]
) -> list[RepeatedKey]:
    """Return the keys that repeat among some columns, those of households with one of persons that does not.

    Parameters
    ----------
    columns, units: as for ``keys_among``.
    """
    person, household = units.get(PERSON), units.get(HOUSEHOLD)
    keys = [
        RepeatedKey(
            facts.name,
            facts.distinct,
            facts.present,
            known=facts.name in (person, household),
            household=facts.name != person and (facts.name == household or _of_household(facts.name)),
        )
        for facts, role in columns
        if repeats(facts, role) or (facts.name == person and facts.distinct < facts.present)
    ]
    if any(PERSON_KEYS.fit(each.name) for each in keys if not each.household):
        return [replace(each, beside=each.household) for each in keys]
    alone = next(_one_by_row(own for own, _ in columns), None)
    return [replace(each, alone=alone) if each.household else each for each in keys]


MOST_KEYS = 3
"""Maximum number of columns whose keys are compared although the config does not name them."""


def keys_by_name(
    columns: Iterable[tuple[str, Role | None]], units: Collection[str] = frozenset()
) -> dict[str, str]:
    """Return the units that some columns may be keys of, by their names: those of the first few columns.

    Parameters
    ----------
    columns: as for ``keys_among``.
    units: whose key the config names.
    """
    found: dict[str, str] = {}
    for name, role in columns:
        person = PERSON if _of_person(name) or (role is Role.IDENTIFIER and not _of_home(name)) else None
        home = HOUSEHOLD if HOUSEHOLD_KEYS.fit(name) and _of_household(name) else None
        unit = home or person
        if unit is not None and unit not in units and role not in KNOWN and len(found) < MOST_KEYS:
            found[name] = unit
    return found


MOST_LOOKED_AT = 30
"""Maximum number of released columns in which keys are looked for."""


def released_key_warnings(
    relation: Relation,
    roles: Mapping[str, Role | None],
    numerals: Numerals,
    measured: Mapping[str, ColumnFacts] = MappingProxyType({}),
) -> list[str]:
    """Return warnings about columns that are released unchanged and number groups, though no name says so.

    Such as the number of a household, whose members agree in its size and region.

    Parameters
    ----------
    roles: of the columns; insensitive ones are looked at.
    measured: statistics of some columns that are known already.
    """
    from anonymizer.profile.proposal import may_number_groups, released_keys  # noqa: PLC0415 - loads much

    if not relation.ordered:
        return []
    kept = [name for name, role in roles.items() if role not in LEFT_OUT]
    shown = [name for name in kept if roles[name] is Role.INSENSITIVE][:MOST_LOOKED_AT]
    known = {name: measured.get(name) or measure_column(relation, name, numerals) for name in shown}
    found = [name for name, own in known.items() if may_number_groups(own) and not repeats(own, roles[name])]
    if not found:
        return []
    for name in kept:
        known.setdefault(name, measure_column(relation, name, numerals))
    return [
        f"column '{name}' is released unchanged and looks like the number of a household, a person or "
        f"another group: its {known[name].distinct:,} values repeat, and records with the same value "
        f"agree in {listed(told)}. Leave the column out with role: drop. If it is such a number, also name "
        "it in input.household or input.person"
        for name, told in released_keys(relation, found, known).items()
    ]


def _one_by_row(columns: Iterable[ColumnFacts]) -> Iterator[str]:
    """Yield the columns that number persons by their names, and never repeat."""
    return (own.name for own in columns if own.distinct == own.rows and _of_person(own.name))


def _of_household(name: str) -> bool:
    return _of_home(name) and not PERSON_KEYS.fit(name)


def _of_person(name: str) -> bool:
    return PERSON_KEYS.fit(name) and not _of_home(name)


def _of_home(name: str) -> bool:
    return HOUSEHOLD_KEYS.fit(name) or HOMES.fit(name)


def key_warnings(prepared: Prepared, recoding: Recoding) -> list[str]:
    """Return the warnings about the repeated keys of a run, with the classes of the release that they divide.

    The classes are counted if the distinct rows are in memory and the records have an order.
    """
    plan = prepared.plan
    if Acknowledgement.ROWS_ARE_PERSONS in plan.acknowledged or plan.counts_persons:
        return []
    relation = prepared.encoded.relation
    columns = [(name, plan.columns[name].role) for name in relation.columns]
    keys = _uncounted(plan, keys_among(relation, columns, plan.units))
    if keys and prepared.problem.source is None and relation.ordered and not plan.applied:
        own, number = class_of_records(prepared, recoding)
        keys = [_counted(relation, each, own, number, plan) for each in keys]
    return [each.warning(plan.k, _in_place_of_records(plan)) for each in keys]


def _uncounted(plan: Plan, keys: Iterable[RepeatedKey]) -> list[RepeatedKey]:
    """Return the keys whose values no constraint counts."""
    counted = {plan.units[unit] for unit in plan.counted_units if unit in plan.units}
    return [each for each in keys if each.name not in counted]


def _in_place_of_records(plan: Plan) -> list[str]:
    """Return the units that constraints count; none if a constraint counts records."""
    return [] if any(each.unit is None for each in plan.planned) else plan.counted_units


def _counted(
    relation: Relation, key: RepeatedKey, class_of: IntArray, number: int, plan: Plan
) -> RepeatedKey:
    """Return the key with the number of classes that hold fewer than k of its values."""
    values = _values_of_records(plan, relation, key.name)
    counted = (class_of >= 0) & (values >= 0)
    found = values_by_class(class_of[counted], values[counted], len(values), number)
    return replace(key, below=int((found < (plan.k or 2)).sum()), classes=number)


def _values_of_records(plan: Plan, relation: Relation, name: str) -> IntArray:
    """Return the value of a column in each record, however it is spelled, shape (records,); -1 if missing."""
    texts = [text for text, _ in relation.dictionary(name)]
    return _values_of_texts(relation, texts, _key_columns(plan, name))[relation.codes(name)]


def _key_columns(plan: Plan, *names: str) -> KeyColumns:
    return KeyColumns(names, tuple(plan.missing), plan.numerals)


def _values_of_texts(relation: Relation, texts: Sequence[str | None], keys: KeyColumns) -> IntArray:
    """Return the value of each text of a column, the same for other spellings of it; -1 if it is missing."""
    (name,) = keys.names
    found, absent = relation.key_identities(name, keys), {None, *keys.codes}
    own = [None if text is None else found.get(text, text) for text in texts]
    places = {text: place for place, text in enumerate(dict.fromkeys(own)) if text not in absent}
    return np.array([places.get(text, -1) for text in own], dtype=np.int64)


def values_by_class(class_of: IntArray, codes: IntArray, size: int, number: int) -> IntArray:
    """Return the number of different values in each class, shape (number,).

    Parameters
    ----------
    class_of, codes: class and value of each record, shape (records,), int64.
    size: of the values; each code is below it.
    """
    return np.bincount(np.unique(class_of * size + codes) // size, minlength=number)


def _unlike_constraints(plan: Plan, reason: str = "") -> str:
    """Return what attacks count, and why, unlike constraints."""
    from anonymizer.report.wording import NOT_PEOPLE  # noqa: PLC0415 - init says none of this

    unlike = ". Constraints count persons, so the numbers cannot be compared" if plan.counts_persons else ""
    return f"records{NOT_PEOPLE}{reason}{unlike}"


def records_warnings(
    plan: Plan, found: Iterable[tuple[Attack, Mapping[str, Any]]], answers: Iterable[Answer] = ()
) -> list[str]:
    """Return the warnings about attacks that ignored pseudonyms, or counted records where constraints do not.

    Attacks with ``unit: record`` are left out of the latter. Where the config has several attacks of one
    name, a warning says which.

    Parameters
    ----------
    found: attacks with the knowledge of each result.
    answers: to the three questions of European law.
    """
    unlike = plan.counts_persons and Acknowledgement.ROWS_ARE_PERSONS not in plan.acknowledged
    counted, ignoring, three = [], [], "singling out, linkability and inference"
    for attack, knowledge in found:
        places = [place for place, each in enumerate(plan.attacks) if each.name == attack.name]
        own = next((place for place in places if plan.attacks[place] is attack), None)
        name = attack.name if own is None or len(places) == 1 else f"{attack.name} (attacks[{own}])"
        if knowledge.get(LINKS) == IGNORED:
            ignoring.append(name)
        if "unit" not in knowledge and getattr(attack.settings, "unit", None) != RECORD:
            counted.append(name)
    answers = list(answers)
    if any("unit" not in each.knowledge for each in answers):
        counted.append(three)
    if answers and plan.pseudonym is not None:
        ignoring.append(three)
    said = []
    if ignoring:
        what = "ignored that pseudonyms link the rows of a person, so their figures may be too low"
        said.append(f"{listed(list(dict.fromkeys(ignoring)))} {what}")
    if counted and unlike:
        needed = f"count persons only if input and control have column '{plan.units[PERSON]}'"
        counting = _unlike_constraints(plan)
        counting += f". {three.capitalize()} {needed}" if three in counted else ""
        said.append(f"{listed(list(dict.fromkeys(counted)))} counted {counting}")
    return said


def attack_warnings(plan: Plan, original: Relation | None, view: AdversaryView) -> list[str]:
    """Return the warnings about persons with several records, whom attacks take for several persons.

    Parameters
    ----------
    original: the records that the adversary has, None without.
    """
    if Acknowledgement.ROWS_ARE_PERSONS in plan.acknowledged:
        return []
    unowned = PERSON in plan.units and view.holders is None
    said = [f"attacks count {_unlike_constraints(plan, _unowned(plan, original, view))}"] if unowned else []
    if original is None or plan.counts_persons:
        return said
    known = {name: own.role for name, own in plan.columns.items()}
    columns = [(name, known.get(name)) for name in original.columns]
    keys = _uncounted(plan, keys_among(original, columns, plan.units))
    return [*said, *(each.warning(plan.k, _in_place_of_records(plan)) for each in keys)]


def _unowned(plan: Plan, original: Relation | None, view: AdversaryView) -> str:
    """Return why it is not known whose the released records are, to follow what is counted in their place."""
    own = view.original
    if original is None or own is None:
        return ", because no original records are given (--original)"
    if view.grouped is not None:
        return ", because nobody knows whose the records of an Anatomy release are"
    lacking = [each for each in plan.units.values() if each not in original.columns]
    if lacking:
        return f", because {original.name} has no column '{lacking[0]}'"
    if own.links.records < view.release.records:
        return f", because not every released record has one of {original.name} that fits it"
    return f", because records of {original.name} fit several released rows, so nobody knows whose these are"


def check_warnings(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    columns: Iterable[tuple[str, Role | None]],
    plan: Plan | None,
) -> list[str]:
    """Return the warnings about the repeated keys of a file, whose classes have equal quasi-identifiers.

    Parameters
    ----------
    columns: as for ``keys_among``.
    plan: of the config; None without one.
    """
    k, units, keys = (None, {}, KeyColumns(())) if plan is None else (plan.k, plan.units, _key_columns(plan))
    warnings = []
    for key in keys_among(relation, columns, units):
        groups = relation.group_counts([*quasi_identifiers, key.name])
        sizes = [len(values) for values in groups.values[:-1]]
        class_of, number = group_rows(zip(groups.codes.T[:-1], sizes, strict=True), len(groups.counts))
        own = _values_of_texts(relation, groups.values[-1], replace(keys, names=(key.name,)))
        values = own[groups.codes[:, -1]]
        present = values >= 0
        found = values_by_class(class_of[present], values[present], len(own), number)
        below = int((found < (k or 2)).sum())
        warnings.append(replace(key, below=below, classes=number).warning(k))
    return warnings
