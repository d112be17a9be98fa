"""Columns that repeat as the keys of persons, households and other units do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.errors import listed
from anonymizer.exposure.finding import ROWS_ARE_PERSONS
from anonymizer.model.table import LEFT_OUT, Role, ValueType
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.profile.column_statistics import ColumnFacts, has_fractions, measure_column
from anonymizer.profile.detection import PersonNames, PersonNumbers, are_days, named_as_number
from anonymizer.profile.knowledge import (
    HOMES,
    HOUSEHOLD_KEYS,
    MOMENT,
    PERSON_KEYS,
    Ground,
    numbers_people,
    subject_of,
    thing_of,
)
from anonymizer.report.small_counts import masked_count, smallest_shown

if TYPE_CHECKING:
    from anonymizer.people.evidence import Evidence

_CODE = re.compile(r".*[\d@].*", re.DOTALL)
_DATE = re.compile(r".*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*", re.DOTALL)

MOSTLY = 0.9
"""Minimum share of the values that have the form of a code."""

MANY, OF_IDENTIFIER = 0.2, 0.02
"""Minimum number of values per record of a key without the name of one, and of one with a name or role."""

MANY_PERSONS = 30
"""Minimum number of values of such an identifier: fewer may be remarks."""

TOGETHER = 0.8
"""Maximum number of homes per record whose people live together; a few equal addresses are no households."""

KNOWN = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT)
"""Roles of columns that are no keys."""

ACKNOWLEDGE = f"set acknowledge: [{ROWS_ARE_PERSONS}]"

NOT_PEOPLE = ", not people"
"""In the warning that persons have several records."""


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
    alone: a column that numbers persons and never repeats, so that each record is a person; None without one.
    beside: of a key of a household, whether a key of persons repeats, too, whose warning says what to do for
        persons.
    time: of such a key, a column of times, such as the wave of a panel; None without one.
    once: whether no two records of a value have the same time, so that they may be one household.
    thing: what else it numbers by its name, such as "a position"; None for persons, households and unknown.
    varies: a column of the sex, birth or age in which records of a value differ; None without one.
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
    thing: str | None = None
    varies: str | None = None

    @property
    def may_be_judged(self) -> bool:
        """Whether its records may tell what it numbers, where its name does not."""
        return not (self.household or self.thing or self.known)

    @property
    def may_be_person(self) -> bool:
        """Whether its values may be persons: nothing else is better, and nothing contradicts it."""
        return not (self.household or self.thing or self.varies or self.alone)

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

        what = self._what
        others = listed([f"{unit}s" for unit in units]) if units else "records"
        counted = f"{'k counts' if k else 'constraints count'} {others}{NOT_PEOPLE}"
        if self.below is not None and self.classes is not None and self.thing is None:
            below = masked_count(self.below, smallest_shown(k), self.classes)
            few = "a few" if below.startswith("fewer") else below
            counted += (
                f": {few} of {self.classes:,} classes contain fewer than {k or 2} of these values"
                if self.below
                else f": each of {self.classes:,} classes contains at least {k or 2} of these values, but no "
                "constraint requires this"
            )
        return ". ".join([what, counted, *self._remedies()])

    @property
    def _what(self) -> str:
        """That the key repeats, and what it numbers rather than persons."""
        what = f"column '{self.name}' repeats: {self.persons:,} values in {self.records:,} records"
        if self.thing is not None:
            return f"{what}, like the number of {self.thing}"
        if self.varies is None or self.household:
            return what
        return f"{what}, with different values of '{self.varies}', so they are hardly those of persons"

    def _remedies(self) -> Iterator[str]:
        """Yield what would do: a household is no person, and rows are never taken for persons unasked."""
        if self.may_be_person:
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
            f"{self._what}. The draft treats each value as one person, and its constraints count persons. If "
            "the values are not persons, remove input.person"
        )

    def drafted_household(self, least: int) -> str:
        """Return the note about the key of a draft that counts households by it.

        Parameters
        ----------
        least: households in each class.

        >>> RepeatedKey("hid", 800, 2797, household=True, alone="pid").drafted_household(3)[83:129]
        'The draft names it in input.household, and eac'
        """
        what = f"{self._what}, like the number of a household. The draft names it in input.household, and"
        unit = f"input.household and unit: {HOUSEHOLD}"
        if self.once and self.alone is None:
            what += (
                f" its constraints count households, as no two records of a household have the same "
                f"'{self.time}'. If each record is a person at one time, add a constraint that counts records"
            )
        else:
            what += f" each class has people of at least {least} households"
        return ". ".join(
            [f"{what}. If its values are not households, remove {unit}", *self._acknowledgement()]
        )

    def drafted_unit(self, least: int) -> str:
        """Return the note about the key of another unit that constraints of a draft count.

        Parameters
        ----------
        least: units in each class.
        """
        said = (
            f"{self._what}. Other columns have one value in all records of a unit, so the draft names it in "
            f"input.units, and each class has records of at least {least} units. k counts records, not people"
        )
        return ". ".join([said, *self._acknowledgement()])


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


def warnings_of(keys: Sequence[RepeatedKey], k: int | None, units: Sequence[str] = ()) -> list[str]:
    """Return the warnings about keys, which no constraint counts.

    One is enough for all that number other things than persons and households, and none is needed beside
    another key.

    Parameters
    ----------
    k, units: as for ``RepeatedKey.warning``.
    """
    of_people = [each for each in keys if each.thing is None]
    things = [each for each in keys if each.thing is not None]
    if of_people or not things:
        return [each.warning(k, units) for each in of_people]
    first = things[0].warning(k, units)
    others = [f"'{each.name}' ({each.thing})" for each in things[1:]]
    return [f"{first}. The same is true of {listed(others)}" if others else first]


def person_among(keys: Sequence[RepeatedKey]) -> str | None:
    """Return the key of persons among keys that repeat, by its name or as the only one; None if unclear."""
    possible = [each.name for each in keys if each.may_be_person]
    named = next(filter(PERSON_KEYS.fit, possible), None)
    return named or (possible[0] if len(possible) == 1 else None)


def repeats(column: ColumnFacts, role: Role | None) -> bool:
    """Return whether a column looks like a key of persons that have several records.

    The name of a column that is left out need not say that it is a key.
    """

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
    numbered = role is Role.IDENTIFIER or thing_of(column.name) is not None
    identifier = numbered and column.distinct >= MANY_PERSONS
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
    """Return the keys that repeat among some columns of an open input, with what their records tell.

    Parameters
    ----------
    columns, units: as for ``repeating``.
    """
    return judged(relation, repeating(relation, columns, units), partial(measure_column, relation))


def repeating(
    relation: Relation, columns: Iterable[tuple[str, Role | None]], units: Mapping[str, str]
) -> list[RepeatedKey]:
    """Return the keys that repeat among some columns of an open input, by their names and values alone.

    Parameters
    ----------
    columns: with their roles; None for a column without one.
    units: columns that the config names as keys of units.
    """

    measured = []
    person = units.get(PERSON)
    for name, role in columns:
        # Measuring every column of a wide file would take long.
        if name == person or (role not in KNOWN and (role in LEFT_OUT or named_as_number(name))):
            measured.append((measure_column(relation, name), role))
    return keys_of(measured, units)


def judged(
    relation: Relation, keys: Sequence[RepeatedKey], facts: Callable[[str], ColumnFacts]
) -> list[RepeatedKey]:
    """Return keys with what the records of a value have in common: of one person, or of a household.

    Keys of households have the column of times that best tells their records apart: in a panel the records of
    a value may be one household, or its people, at several times.

    Parameters
    ----------
    facts: returns the statistics of a column.
    """
    if relation.ordered and any(each.may_be_judged for each in keys):
        from anonymizer.people.evidence import Evidence  # noqa: PLC0415 - most runs judge no key

        evidence = Evidence(relation, facts)
        keys = [_judged(each, evidence, facts) if each.may_be_judged else each for each in keys]
    times = [name for name in relation.columns if subject_of(name) is MOMENT]
    return [_with_time(relation, each, times) if each.household else each for each in keys]


def _judged(key: RepeatedKey, evidence: Evidence, facts: Callable[[str], ColumnFacts]) -> RepeatedKey:
    varies = evidence.varies(key.name)
    if varies is None:
        return key
    home = not PERSON_KEYS.fit(key.name) and evidence.like_household(facts(key.name))
    return replace(key, varies=varies, household=home)


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
            thing=_thing_of(facts.name, units),
        )
        for facts, role in columns
        if repeats(facts, role) or (facts.name == person and facts.distinct < facts.present)
    ]
    if not keys:
        return []
    own = [facts for facts, _ in columns]
    sure = next(_people_by_row(own), None)
    if sure is None and any(PERSON_KEYS.fit(each.name) for each in keys if each.may_be_person):
        return [replace(each, beside=each.household) for each in keys]
    alone = sure or next(_one_by_row(own), None)
    return [replace(each, alone=alone if each.household or each.thing else sure) for each in keys]


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


def _people_by_row(columns: Iterable[ColumnFacts]) -> Iterator[str]:
    """Yield the columns that number or name persons, hardly one of whom has two records."""

    for own in columns:
        if own.distinct == own.rows > 1 and numbers_people(own.name):
            yield own.name
        elif own.type is ValueType.TEXT and own.present == own.rows and own.distinctness >= NAMED_ONCE:
            found = PersonNames().look(own)
            if found is not None and found.certain:
                yield own.name


NAMED_ONCE = 0.98
"""Minimum number of names per record of persons who have one record each; namesakes are few."""


def _one_by_row(columns: Iterable[ColumnFacts]) -> Iterator[str]:
    """Yield the columns that number persons by their names, and never repeat."""
    return (own.name for own in columns if own.distinct == own.rows and _of_person(own.name))


def _thing_of(name: str, units: Mapping[str, str]) -> str | None:
    """Return what else a key is of by its name, unless the config says otherwise."""
    named = name in (units.get(PERSON), units.get(HOUSEHOLD)) or _of_household(name)
    return None if named else thing_of(name)


def _of_household(name: str) -> bool:
    return _of_home(name) and not PERSON_KEYS.fit(name)


def _of_person(name: str) -> bool:
    return PERSON_KEYS.fit(name) and not _of_home(name)


def _of_home(name: str) -> bool:
    return HOUSEHOLD_KEYS.fit(name) or HOMES.fit(name)
