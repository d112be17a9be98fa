"""What the records of a unit have in common: whether they may be of one person, or of one household.

The sex and the birth of a person are the same in all records of the person, and the age grows with time. A
column in whose values they differ numbers no persons, whatever its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, constant_in_groups
from anonymizer.profile.column_statistics import NO_VALUES, ColumnFacts, names_any
from anonymizer.profile.combinations import UniquenessProfile
from anonymizer.profile.hierarchies import date_format
from anonymizer.profile.keys import may_number_homes, told_by_key
from anonymizer.profile.knowledge import (
    AGE,
    BIRTH,
    EVENT_DATE,
    MOMENT,
    SEX,
    split_terms,
    subject_of,
    word_lists,
)

CONSTANT = 0.9
"""Minimum share of the persons with several records in whose records nothing differs but by mistake."""

CLOSE = 0.25
"""Maximum variance of ages within persons by that among all records, where no time orders the records."""

MOST_MEASURED, MOST_CELLS = 30, 5_000_000
"""Maximum number of columns whose values are looked at, and of their values, which takes two seconds."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Evidence:
    """The columns beside keys that repeat.

    Parameters
    ----------
    relation: open while this is in use; its records have an order.
    facts: returns the statistics of a column.
    """

    def __init__(self, relation: Relation, facts: Callable[[str], ColumnFacts]) -> None:
        self._relation = relation
        self._facts = facts
        self._measured: dict[str, ColumnFacts] = {}

    def varies(self, key: str) -> str | None:
        """Return a column of the sex, birth or age in which records of a value differ as no person does."""
        unit = _several(self._codes(key))
        steady = next((name for name in self._steady if name != key and not self._constant(unit, name)), None)
        if steady is not None:
            return steady
        return next((name for name in self._ages if name != key and not self._grows(unit, name)), None)

    def like_household(self, key: ColumnFacts) -> bool:
        """Return whether few records share a value, and agree in what people who live together share."""
        if not may_number_homes(key):
            return False
        others = [self._of(name) for name in self._shown if name != key.name]
        return bool(told_by_key(key, others, UniquenessProfile(self._relation)))

    @property
    def _shown(self) -> Sequence[str]:
        most = max(MOST_CELLS // max(self._relation.rows, 1), 2)
        return self._relation.columns[: min(most, MOST_MEASURED)]

    @cached_property
    def _steady(self) -> list[str]:
        """The columns of sexes and births: by their names, else by their values."""
        from anonymizer.profile.proposal import shows_sex  # noqa: PLC0415 - loads much

        births = [name for name in self._relation.columns if BIRTH.fit(name) and not _is_age(name)]
        sexes = [name for name in self._relation.columns if SEX.fit(name)]
        return births + (sexes or [name for name in self._shown if shows_sex(self._of(name))])

    @cached_property
    def _ages(self) -> list[str]:
        return [name for name in self._relation.columns if _is_age(name)]

    @cached_property
    def _times(self) -> list[str]:
        columns = [name for name in self._relation.columns if not BIRTH.fit(name)]
        return [name for name in columns if subject_of(name) in (MOMENT, EVENT_DATE)]

    def _of(self, name: str) -> ColumnFacts:
        if name not in self._measured:
            self._measured[name] = self._facts(name)
        return self._measured[name]

    def _codes(self, name: str) -> IntArray:
        """Return a code for each record, equal for equal texts, and -1 for missing values."""
        absent = [text is None or text in NO_VALUES for text, _ in self._relation.dictionary(name)]
        codes = self._relation.codes(name).astype(np.int64)
        return np.where(np.array(absent, dtype=np.bool_)[codes], -1, codes)

    def _constant(self, unit: IntArray, name: str) -> bool:
        """Return whether a column has one value in the records of most units with several."""
        codes = self._codes(name)
        given = (unit >= 0) & (codes >= 0)
        if not given.any():
            return True
        present = np.bincount(unit[given]) > 0
        return bool(constant_in_groups(unit[given], codes[given])[present].mean() >= CONSTANT)

    def _grows(self, unit: IntArray, name: str) -> bool:
        """Return whether ages are those of persons: constant, growing with a time, or close together."""
        if self._constant(unit, name):
            return True
        ages = self._numbers(name)
        given = (unit >= 0) & ~np.isnan(ages)
        unit, ages = unit[given], ages[given]
        if not len(ages):
            return True
        if any(_ascend(unit, self._numbers(time)[given], ages) for time in self._times):
            return True
        return _variance_within(unit, ages) <= CLOSE * float(np.var(ages))

    def _numbers(self, name: str) -> FloatArray:
        """Return a number for each record that orders it by its age or time; NaN without one."""
        facts = self._of(name)
        texts = [text or "" for text, _ in self._relation.dictionary(name)]
        if facts.dated:
            dates = date_format(facts)
            days = [getattr(dates.read(text), "text", "") for text in texts]
            rank = {day: number for number, day in enumerate(sorted(set(days)))}
            numbers = [float(rank[day]) if day else np.nan for day in days]
        else:
            found = [_NUMBER.search(text) for text in texts]
            numbers = [np.nan if each is None else float(each.group()) for each in found]
        return np.array(numbers, dtype=np.float64)[self._relation.codes(name)]


def _is_age(name: str) -> bool:
    return AGE.named(name) or names_any(name, split_terms(word_lists()["ready hierarchies"]["age"]))


def _several(codes: IntArray) -> IntArray:
    """Return the number of the unit of each record, -1 for units of one record and for missing keys."""
    _, unit, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return np.where((codes >= 0) & (sizes[unit] > 1), unit, -1).astype(np.int64)


def _ascend(unit: IntArray, times: FloatArray, ages: FloatArray) -> bool:
    """Return whether ages grow with time in the records of most units, and the times differ."""
    order = np.lexsort((ages, times, unit))
    unit, times, ages = unit[order], times[order], ages[order]
    same = unit[1:] == unit[:-1]
    later: BoolArray = same & (times[1:] > times[:-1])
    if not later.any():
        return False
    falls = np.bincount(unit[1:][same & ~(ages[1:] >= ages[:-1])], minlength=int(unit.max()) + 1)
    seen = np.unique(unit[1:][later])
    return bool((falls[seen] == 0).mean() >= CONSTANT)


def _variance_within(unit: IntArray, numbers: FloatArray) -> float:
    """Return the mean variance of numbers within units."""
    sizes = np.bincount(unit)
    mean = np.bincount(unit, numbers) / np.maximum(sizes, 1)
    return float(np.mean((numbers - mean[unit]) ** 2))
