"""Equivalence classes: their sizes, counts of sensitive values, and measured constraints.

Row statistics are mergeable: those of two sets of rows give those of their union.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.counting import count, group_keys
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SensitiveAttribute, Table


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference distribution of a sensitive attribute, which classes are compared with.

    Attributes
    ----------
    counts: records of the reference table with each sensitive value, shape (values,), int64, in the order of
        the column's codes; a missing value, if any, comes last.
    """

    counts: IntArray

    @cached_property
    def total(self) -> int:
        """Number of records of the reference table."""
        return int(self.counts.sum())

    @cached_property
    def present(self) -> BoolArray:
        """Which values occur in the reference table, shape (values,)."""
        return self.counts > 0


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """The records of each sensitive value in each class: a sparse matrix with sorted rows.

    Attributes
    ----------
    attribute: the sensitive attribute.
    starts: entries of class i are ``starts[i]:starts[i + 1]``, shape (classes + 1,), int64; none is empty.
    values: value code of each entry, shape (entries,), int64, ascending within a class.
    counts: records of each entry, shape (entries,), int64, positive.
    """

    attribute: SensitiveAttribute
    starts: IntArray
    values: IntArray
    counts: IntArray

    @cached_property
    def owners(self) -> IntArray:
        """Class of each entry, shape (entries,), int64."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of_class(self, position: int) -> list[tuple[int, int]]:
        """Return the value codes and counts of a class as Python integers, for exact arithmetic."""
        span = slice(self.starts[position], self.starts[position + 1])
        return list(zip(self.values[span].tolist(), self.counts[span].tolist(), strict=True))

    def reference(self) -> Reference:
        """Return the distribution over all classes."""
        return Reference(count(self.values, self.counts, self.attribute.column.size))

    def keep(self, kept: BoolArray) -> SensitiveCounts:
        """Return the counts of some classes; ``kept`` has shape (classes,)."""
        entries = kept[self.owners]
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[kept])])
        return SensitiveCounts(self.attribute, starts, self.values[entries], self.counts[entries])


@dataclass(frozen=True, eq=False)
class ClassView:
    """The classes with the sensitive attribute of one privacy model.

    Attributes
    ----------
    sizes: records in each class, shape (classes,), int64, positive.
    sensitive: counts of the model's sensitive attribute, None for a model without one.
    missing: code of the missing value if it does not count as a distinct value, else None.
    """

    sizes: IntArray
    sensitive: SensitiveCounts | None = None
    missing: int | None = None

    @property
    def counted(self) -> SensitiveCounts:
        """The counts of the sensitive attribute, which the model must have."""
        assert self.sensitive is not None, "the model was bound to no sensitive attribute"
        return self.sensitive


@dataclass(frozen=True, eq=False)
class SensitiveCodes:
    """The values of a sensitive attribute for each item.

    Attributes
    ----------
    codes: value code of each item, shape (items,).
    """

    attribute: SensitiveAttribute
    codes: IntArray

    def at(self, items: IntArray | BoolArray) -> SensitiveCodes:
        """Return the values of some items."""
        return SensitiveCodes(self.attribute, self.codes[items])


class Classes:
    """The partition of counted items (distinct rows of a table) into classes.

    Parameters
    ----------
    class_of: class of each item, shape (items,), int64; every class has an item.
    counts: records of each item, shape (items,), int64.
    number: number of classes.
    sensitive: the items' sensitive values by attribute name.
    """

    def __init__(
        self, class_of: IntArray, counts: IntArray, number: int, sensitive: Mapping[str, SensitiveCodes]
    ) -> None:
        self._class_of = class_of
        self.counts = counts
        self.number = number
        self._sensitive = sensitive
        self._counted: dict[tuple[str, bool], tuple[SensitiveCounts, IntArray]] = {}

    @property
    def class_of(self) -> IntArray:
        """Class of each item, shape (items,), int64."""
        return self._class_of

    @cached_property
    def sizes(self) -> IntArray:
        """Records in each class, shape (classes,), int64."""
        return count(self.class_of, self.counts, self.number)

    @property
    def records(self) -> int:
        """Number of records in all classes."""
        return int(self.counts.sum())

    def sensitive_codes(self, name: str) -> IntArray:
        """Return the value code of each item, shape (items,), int64."""
        return self._sensitive[name].codes

    def sensitive_counts(self, name: str, *, combined: bool = False) -> tuple[SensitiveCounts, IntArray]:
        """Count the values of a sensitive attribute in each class.

        Parameters
        ----------
        combined: whether the other sensitive attributes divide classes too, as quasi-identifiers do.

        Returns
        -------
        The counts, and the equivalence class of each of their classes, shape (classes,), int64.
        """
        key = (name, combined)
        if key not in self._counted:
            self._counted[key] = self._count(name, combined=combined)
        return self._counted[key]

    def _count(self, name: str, *, combined: bool) -> tuple[SensitiveCounts, IntArray]:
        groups, number, owner = self.class_of, self.number, np.arange(self.number)
        if combined:
            for other in self._sensitive.values():
                if other.attribute.name != name:
                    size = other.attribute.column.size
                    groups, distinct = group_keys(groups * size + other.codes, number * size)
                    owner, number = owner[distinct // size], len(distinct)
        own = self._sensitive[name]
        size = own.attribute.column.size
        entry_of, distinct = group_keys(groups * size + own.codes, number * size)
        counts = count(entry_of, self.counts, len(distinct))
        starts = np.searchsorted(distinct, np.arange(number + 1) * size)
        return SensitiveCounts(own.attribute, starts, distinct % size, counts), owner

    def keep(self, kept: BoolArray) -> Classes:
        """Return some classes, renumbered; ``kept`` has shape (classes,)."""
        items = kept[self.class_of]
        numbers = np.cumsum(kept) - 1
        sensitive = {name: own.at(items) for name, own in self._sensitive.items()}
        part = Classes(numbers[self.class_of[items]], self.counts[items], int(kept.sum()), sensitive)
        for key, (counts, owner) in self._counted.items():
            inside = kept[owner]
            part._counted[key] = counts.keep(inside), numbers[owner[inside]]
        return part

    def part(self, counts: IntArray) -> tuple[Classes, IntArray]:
        """Return the classes with fewer records of each item, without empty items and classes.

        Parameters
        ----------
        counts: remaining records of each item, shape (items,), int64.

        Returns
        -------
        The classes, renumbered, and the positions of their items among these, shape (items left,), int64.
        """
        items = np.flatnonzero(counts)
        present = np.zeros(self.number, dtype=bool)
        present[self.class_of[items]] = True
        numbers = np.cumsum(present) - 1
        own = {name: each.at(items) for name, each in self._sensitive.items()}
        return Classes(numbers[self.class_of[items]], counts[items], int(present.sum()), own), items

    def pooled(self) -> Classes:
        """Return one class of all records, at least one."""
        return Classes(np.zeros_like(self.class_of), self.counts, 1, self._sensitive)

    def beside(self, other: Classes) -> Classes:
        """Return these classes followed by those of another partition with the same attributes."""
        sensitive = {
            name: SensitiveCodes(own.attribute, np.concatenate([own.codes, other.sensitive_codes(name)]))
            for name, own in self._sensitive.items()
        }
        return Classes(
            np.concatenate([self.class_of, other.class_of + self.number]),
            np.concatenate([self.counts, other.counts]),
            self.number + other.number,
            sensitive,
        )


@dataclass(frozen=True)
class Measurement:
    """One privacy model, measured.

    Attributes
    ----------
    model, attribute, parameters: as requested.
    measured: the worst measure, as defined for the model; None for a release without records.
    satisfied: whether the model is satisfied; None if unknown.
    worst_classes: number of classes with the worst measure, 0 for models of the whole table.
    verifiable_from_release: whether it can be measured from the release alone.
    """

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool | None
    worst_classes: int
    verifiable_from_release: bool


@dataclass(frozen=True, eq=False)
class Released:
    """A recoding with its equivalence classes.

    Attributes
    ----------
    class_sizes: records of each class that was not suppressed, shape (classes,), int64.
    kept_suppressed: suppressed records that stay in the release, with ``*`` in every quasi-identifier.
    suppressed: all suppressed records, including ``kept_suppressed``.
    k: of the config's k-anonymity, None without.
    """

    table: Table
    recoding: Recoding
    class_sizes: IntArray
    kept_suppressed: int
    suppressed: int
    k: int | None

    @property
    def records(self) -> int:
        """Number of input records, N."""
        return self.table.records

    @property
    def merged(self) -> Released:
        """The same with equally published rows merged."""
        merged = self.recoding.merged
        return replace(self, table=merged.table, recoding=merged)

    @property
    def classes(self) -> int:
        """Number of equivalence classes of the release; suppressed records that stay form one."""
        return len(self.class_sizes) + (1 if self.kept_suppressed else 0)


def released(recoding: Recoding, k: int | None) -> Released:
    """Return the recoding with its class sizes and suppressed records."""
    merged = recoding.merged
    counts = merged.table.counts
    kept_suppressed = int(counts[merged.suppressed & ~merged.removed].sum())
    suppressed = int(counts[merged.suppressed].sum())
    return Released(recoding.table, recoding, merged.class_sizes(), kept_suppressed, suppressed, k)


class Reduction(StrEnum):
    """An aggregate of the numbers of a group, by its name in SQL."""

    OR = "bit_or"
    AND = "bit_and"
    MIN = "min"
    MAX = "max"

    @property
    def ufunc(self) -> np.ufunc:
        """The function of two numbers."""
        return _UFUNCS[self]

    @property
    def identity(self) -> int:
        """The neutral number, which is the aggregate of an empty group."""
        return _IDENTITIES[self]


_UFUNCS = {
    Reduction.OR: np.bitwise_or,
    Reduction.AND: np.bitwise_and,
    Reduction.MIN: np.minimum,
    Reduction.MAX: np.maximum,
}
_IDENTITIES = {
    Reduction.OR: 0,
    Reduction.AND: -1,
    Reduction.MIN: int(np.iinfo(np.int64).max),
    Reduction.MAX: -1,
}


@dataclass(frozen=True)
class GroupStatistic:
    """An aggregate of one column in a group of rows.

    Attributes
    ----------
    column: position of the column in the coded rows.
    """

    column: int
    reduction: Reduction


Traces = list[IntArray]
"""Statistics of each group, an array of shape (groups,), int64 for each ``GroupStatistic`` of a coding."""
