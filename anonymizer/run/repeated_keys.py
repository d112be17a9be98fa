"""Warnings about keys of persons that repeat: constraints count records, and such a person has several.

A column that is neither a quasi-identifier nor sensitive divides no class, but it may tell which records are
of one person. Its values are counted in each class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymizer.config.model import Acknowledgement
from anonymizer.data.relation import Relation
from anonymizer.errors import listed
from anonymizer.model.arrays import IntArray, group_rows
from anonymizer.model.table import LEFT_OUT, Role, ValueType
from anonymizer.model.units import PERSON, RECORD
from anonymizer.profile.column_statistics import ColumnFacts, measure_column
from anonymizer.profile.detection import PersonNumbers, named_as_number
from anonymizer.profile.knowledge import HOUSEHOLD_KEYS, PERSON_KEYS, Ground, subject_of
from anonymizer.report.distribution import smallest_shown
from anonymizer.report.wording import NOT_PEOPLE, masked_count
from anonymizer.run.plan import Plan
from anonymizer.run.shape import Found
from anonymizer.run.units import class_of_records

_CODE = re.compile(r".*[\d@].*", re.DOTALL)
_DATE = re.compile(r".*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*", re.DOTALL)

MOSTLY = 0.9
"""Minimum share of the values that have the form of a code."""

MANY, OF_IDENTIFIER = 0.2, 0.02
"""Minimum number of values per record of a key without the name of one, and of an identifier."""

MANY_PERSONS = 30
"""Minimum number of values of such an identifier: fewer may be remarks."""

KNOWN = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT)
"""Roles of columns that are no keys."""

NO_PERSONS = f"if no person has two records, set acknowledge: [{Acknowledgement.ROWS_ARE_PERSONS}]"


@dataclass(frozen=True)
class RepeatedKey:
    """A column whose values are shared by records.

    Attributes
    ----------
    persons: number of different values.
    records: with a value.
    below, classes: number of classes that hold fewer than k of its values, and of all; None if not counted.
    known: whether the config names it, but no constraint counts its values.
    """

    name: str
    persons: int
    records: int
    below: int | None = None
    classes: int | None = None
    known: bool = False

    def warning(self, k: int | None) -> str:
        """Return the warning about the key, which no constraint counts.

        >>> RepeatedKey("id", 6127, 19609, 136, 2476).warning(5)[:83]
        "column 'id' repeats: 6,127 values in 19,609 records; k counts records, not people: "
        >>> RepeatedKey("id", 20, 40, 2, 3).warning(11)[74:122]
        ': some of 3 classes hold fewer than 11 of its va'
        """
        what = f"column '{self.name}' repeats: {self.persons:,} values in {self.records:,} records"
        counted = f"{'k counts' if k else 'constraints count'} {NOT_PEOPLE}"
        if self.below is not None and self.classes is not None:
            below = masked_count(self.below, smallest_shown(k), self.classes)
            counted += f": {below} of {self.classes:,} classes hold fewer than {k or 2} of its values"
        remedy = (
            f"remove unit: {RECORD} from a constraint" if self.known else f"set input.person: {self.name}"
        )
        return f"{what}; {counted}; to protect persons, {remedy}; {NO_PERSONS}"

    def drafted(self) -> str:
        """Return the note about the key of a draft, which counts persons by it.

        >>> RepeatedKey("id", 6127, 19609).drafted()[:75]
        "column 'id' repeats: 6,127 values in 19,609 records; the draft takes them f"
        """
        return (
            f"column '{self.name}' repeats: {self.persons:,} values in {self.records:,} records; the draft "
            "takes them for persons, and its constraints count persons (input.person); if they are not "
            "persons, remove that line"
        )


def person_among(keys: Sequence[RepeatedKey]) -> str | None:
    """Return the key of persons among keys that repeat, by its name or as the only one; None if unclear."""
    named = [each.name for each in keys if PERSON_KEYS.fit(each.name)]
    others = [each.name for each in keys if not HOUSEHOLD_KEYS.fit(each.name)]
    found = named[:1] or (others if len(others) == 1 else [])
    return next(iter(found), None)


def repeats(column: ColumnFacts, role: Role | None) -> bool:
    """Return whether a column looks like a key of persons that have several records.

    The name of a column that is left out need not say that it is a key.
    """
    dropped = role in LEFT_OUT
    if not 1 < column.distinct < column.present:
        return False
    found = PersonNumbers().look(column)
    if found is not None:
        return found.certain or dropped
    identifier = role is Role.IDENTIFIER and column.distinct >= MANY_PERSONS
    least = OF_IDENTIFIER if identifier else MANY
    if not dropped or column.distinctness < least or column.type in (ValueType.NUMBER, ValueType.DATE):
        return False
    texts = column.texts
    coded = sum(bool(_CODE.fullmatch(text)) for text in texts) >= MOSTLY * len(texts)
    dated = column.dated or all(_DATE.fullmatch(text) for text in texts)
    subject = subject_of(column.name)
    return coded and not dated and (subject is None or subject.ground is not Ground.OUTSIDE)


def keys_among(
    relation: Relation, columns: Iterable[tuple[str, Role | None]], person: str | None = None
) -> Iterator[RepeatedKey]:
    """Yield the keys that repeat among some columns of an open input.

    Parameters
    ----------
    columns: with their roles; None for a column without one.
    person: the column that the config names as the key of persons; None without one.
    """
    for name, role in columns:
        # Measuring every column of a wide file would take long.
        if name != person and (role in KNOWN or not (role in LEFT_OUT or named_as_number(name))):
            continue
        facts = measure_column(relation, name)
        named = name == person and facts.distinct < facts.present
        if named or repeats(facts, role):
            yield RepeatedKey(name, facts.distinct, facts.present, known=name == person)


def key_warnings(plan: Plan, found: Found) -> list[str]:
    """Return the warnings about the repeated keys of a run, with the classes of the release that they divide.

    The classes are counted if the distinct rows are in memory and the records have an order.
    """
    if Acknowledgement.ROWS_ARE_PERSONS in plan.acknowledged or plan.counts_persons:
        return []
    relation = found.prepared.encoded.relation
    columns = [(name, plan.columns[name].role) for name in relation.columns]
    keys = [*keys_among(relation, columns, plan.units.get(PERSON))]
    if keys and found.prepared.problem.source is None and relation.ordered and not plan.applied:
        own, number = class_of_records(plan, found.prepared, found.recoding)
        keys = [_counted(relation, each, own, number, plan) for each in keys]
    return [each.warning(plan.k) for each in keys]


def _counted(
    relation: Relation, key: RepeatedKey, class_of: IntArray, number: int, plan: Plan
) -> RepeatedKey:
    """Return the key with the number of classes that hold fewer than k of its values."""
    absent = {None, *plan.missing}
    present = np.array([text not in absent for text, _ in relation.dictionary(key.name)])
    codes = relation.codes(key.name).astype(np.int64)
    counted = (class_of >= 0) & present[codes]
    values = values_by_class(class_of[counted], codes[counted], len(present), number)
    return replace(key, below=int((values < (plan.k or 2)).sum()), classes=number)


def values_by_class(class_of: IntArray, codes: IntArray, size: int, number: int) -> IntArray:
    """Return the number of different values in each class, shape (number,).

    Parameters
    ----------
    class_of, codes: class and value of each record, shape (records,), int64.
    size: of the values; each code is below it.
    """
    return np.bincount(np.unique(class_of * size + codes) // size, minlength=number)


UNLINKED = "the attacks ignore that pseudonyms link the rows of a person, so their figures may be too low"

ATTACKED_RECORDS = f"attacks count {NOT_PEOPLE}; constraints with unit: {PERSON} count persons"


def records_warnings(plan: Plan, entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the warning about attacks that counted records, although constraints count persons.

    Attacks of the config with ``unit: record`` are left out.

    Parameters
    ----------
    entries: of a report's ``attacks``.
    """
    asked = {each.name for each in plan.attacks if getattr(each.settings, "unit", None) == RECORD}
    counted = [each["attack"] for each in entries if "unit" not in each["knowledge"]]
    names = [each for each in dict.fromkeys(counted) if each not in asked]
    if not names or not plan.counts_persons or Acknowledgement.ROWS_ARE_PERSONS in plan.acknowledged:
        return []
    return [f"{listed(names)} counted {NOT_PEOPLE}; constraints with unit: {PERSON} count persons"]


def attack_warnings(plan: Plan, original: Relation | None, *, owners: bool = False) -> list[str]:
    """Return the warnings about persons with several records, whom attacks take for several persons.

    Parameters
    ----------
    original: the records that the adversary has, None without.
    owners: whether it is known whose the released records are.
    """
    if Acknowledgement.ROWS_ARE_PERSONS in plan.acknowledged:
        return []
    if plan.pseudonym is not None:
        return [UNLINKED]
    if plan.counts_persons:
        return [] if owners else [ATTACKED_RECORDS]
    if original is None:
        return []
    known = {name: own.role for name, own in plan.columns.items()}
    columns = [(name, known.get(name)) for name in original.columns]
    return [each.warning(plan.k) for each in keys_among(original, columns, plan.units.get(PERSON))]


def check_warnings(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    columns: Iterable[tuple[str, Role | None]],
    k: int | None,
    person: str | None = None,
) -> list[str]:
    """Return the warnings about the repeated keys of a file, whose classes have equal quasi-identifiers.

    Parameters
    ----------
    columns, person: as for ``keys_among``.
    """
    warnings = []
    for key in keys_among(relation, columns, person):
        groups = relation.group_counts([*quasi_identifiers, key.name])
        sizes = [len(values) for values in groups.values[:-1]]
        class_of, number = group_rows(zip(groups.codes.T[:-1], sizes, strict=True), len(groups.counts))
        present = np.array([text is not None and text != "" for text in groups.values[-1]])
        values = np.bincount(class_of[present[groups.codes[:, -1]]], minlength=number)
        below = int((values < (k or 2)).sum())
        warnings.append(replace(key, below=below, classes=number).warning(k))
    return warnings
