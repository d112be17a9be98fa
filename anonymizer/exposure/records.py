"""Records as they are released, beside what the input holds of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    add_up,
    constant_in_groups,
    count,
    distinct_in_groups,
    group_rows,
)
from anonymizer.model.table import Role, ValueType


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A published column.

    Attributes
    ----------
    shown: code of the published value of each record, shape (records,), none negative.
    own: code of the value in the input, equal ones by identity, shape (records,), none negative.
    absent: code in ``own`` of a missing value; None without one.
    numbers: number of each code of ``own``, of dates the proleptic ordinal, shape (codes,), NaN for a missing
        value; None for texts.
    days: whether ``numbers`` are ordinals of dates.
    """

    name: str
    role: Role
    shown: CodeArray
    own: CodeArray
    absent: int | None = None
    numbers: FloatArray | None = None
    days: bool = False

    @property
    def type(self) -> ValueType:
        """The type of its values."""
        if self.numbers is None:
            return ValueType.TEXT
        return ValueType.DATE if self.days else ValueType.NUMBER

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Number of codes of ``shown`` and of ``own``."""
        return int(self.shown.max(initial=-1)) + 1, int(self.own.max(initial=-1)) + 1

    @property
    def size(self) -> int:
        """Number of codes of ``own``."""
        return self.sizes[1]

    @property
    def several(self) -> bool:
        """Whether more than one value is published."""
        return self.sizes[0] > 1

    @cached_property
    def coarse(self) -> BoolArray:
        """Whether a record's published value stands for several values of its column, shape (records,)."""
        found: BoolArray = ~constant_in_groups(self.shown, self.own)[self.shown]
        return found

    @property
    def has_groups(self) -> bool:
        """Whether groups of its values are something between the values and one for all."""
        return self.sizes[0] - (self.absent is not None) > 2

    @cached_property
    def exact(self) -> bool:
        """Whether every published value stands for one value."""
        return not self.coarse.any()

    @cached_property
    def present(self) -> BoolArray:
        """Whether a record has a value, shape (records,), bool."""
        if self.absent is None:
            return np.ones(len(self.own), dtype=bool)
        found: BoolArray = self.own != self.absent
        return found

    @cached_property
    def values(self) -> FloatArray:
        """The number of each record, shape (records,); NaN without one, as in texts."""
        return np.full(len(self.own), np.nan) if self.numbers is None else self.numbers[self.own]


@dataclass(frozen=True, eq=False)
class ReleasedRecords:
    """All records of a release.

    Equal ones may be one row; then only ``shown`` is known of its columns, and records are counted.

    Attributes
    ----------
    records: their number.
    k: fewest units that a value or class is expected to have.
    unit: name of what is counted, such as record or person.
    units: unit of each record, shape (records,), int64, -1 for a record that is a unit of its own; None
        where records are counted.
    homes: household of each record, as ``units``; None where the config names none.
    keys: of units that the release does not name, by column: the key of each record, shape (records,), int64,
        -1 without one.
    unknown: insensitive columns that nobody outside knows.
    alone: whether they were read from the release alone, so that hidden values and keys are not known.
    grouped: whether sensitive values are published for groups of records, so that who finds a record learns
        nothing but its insensitive values.
    counts: records of each row, shape (rows,), int64; None where each row is one.
    """

    columns: tuple[ReleasedColumn, ...]
    records: int
    k: int
    unit: str = "record"
    units: IntArray | None = None
    homes: IntArray | None = None
    keys: Mapping[str, IntArray] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    alone: bool = False
    grouped: bool = False
    counts: IntArray | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.records if self.counts is None else len(self.counts)

    @property
    def published(self) -> ReleasedRecords:
        """What the release alone shows of them."""
        return self

    @property
    def whole(self) -> ReleasedRecords:
        """Each record by itself."""
        return self

    def column(self, name: str) -> ReleasedColumn:
        """Return a column by its name."""
        return next(each for each in self.columns if each.name == name)

    def every(self, step: int) -> ReleasedRecords:
        """Return each record of so many."""
        if step == 1:
            return self
        return replace(
            self,
            columns=tuple(
                replace(each, shown=each.shown[::step], own=each.own[::step]) for each in self.columns
            ),
            records=-(-self.records // step),
            units=None if self.units is None else self.units[::step],
            homes=None if self.homes is None else self.homes[::step],
            keys={name: key[::step] for name, key in self.keys.items()},
        )

    def having(self, *roles: Role) -> list[ReleasedColumn]:
        """Return the columns of some roles, in their order."""
        return [each for each in self.columns if each.role in roles]

    @cached_property
    def owners(self) -> IntArray:
        """Unit of each record, shape (records,), int64, from 0."""
        return np.arange(self.records) if self.units is None else each_with_one(self.units)

    @cached_property
    def number(self) -> int:
        """Number of units."""
        if self.units is None:
            return self.records
        return int(self.owners.max(initial=-1)) + 1

    def records_in(self, groups: IntArray | CodeArray, number: int) -> IntArray:
        """Return the records of each group of rows, shape (number,), int64."""
        if self.counts is None:
            return np.bincount(groups, minlength=number).astype(np.int64, copy=False)
        return count(groups.astype(np.int64, copy=False), self.counts, number)

    def records_of(self, among: BoolArray) -> int:
        """Return the number of records in some rows."""
        return int(among.sum()) if self.counts is None else int(self.counts[among].sum())

    def records_with(self, keys: IntArray, among: BoolArray, space: int) -> tuple[IntArray, IntArray]:
        """Return the distinct keys of some rows, ascending, and the records with each.

        Parameters
        ----------
        keys: of these rows, each in [0, space).
        """
        ones = np.ones(len(keys), dtype=np.int8)
        return add_up(keys, ones if self.counts is None else self.counts[among], space)

    def units_in(self, groups: IntArray, number: int) -> IntArray:
        """Return the distinct units of each group of records, shape (number,), int64."""
        if self.units is None:
            return self.records_in(groups, number)
        return distinct_in_groups(groups, self.owners, number)

    def holders_in(self, groups: IntArray, number: int) -> IntArray:
        """Return the distinct units of each group, a household being one, shape (number,), int64.

        Of groups that must have k households as they have so many units, it is the number of units.
        """
        units = self.units_in(groups, number)
        if self.homes is None:
            return units
        homes, largest = self._homes
        few = np.flatnonzero((units <= self.k * largest)[groups])
        held = distinct_in_groups(groups[few], homes[few], number)
        return np.where(units <= self.k * largest, np.minimum(units, held), units)

    @cached_property
    def _homes(self) -> tuple[IntArray, int]:
        """Household of each record, each without one being its own, and the units of the largest."""
        assert self.homes is not None
        homes = each_with_one(self.homes)
        return homes, int(self.units_in(homes, 0).max(initial=0))

    @cached_property
    def _together(self) -> list[IntArray]:
        """Household, or another unit that the release does not name, of each record; without one, its own."""
        homes = [] if self.homes is None else [self.homes]
        return [each_with_one(key) for key in (*self.keys.values(), *homes)]

    def shared(self, groups: IntArray, number: int) -> BoolArray:
        """Return which records are in a group with another unit, and not with their household alone.

        By chance no two households share the values of several columns; members of one say nothing of others.

        Parameters
        ----------
        groups: of each record, shape (records,), int64, each in [0, number).
        """
        found: BoolArray = (self.units_in(groups, number) > 1)[groups]
        for key in self._together:
            found &= ~constant_in_groups(groups, key)[groups]
        return found

    def units_of(self, among: BoolArray) -> int:
        """Return the number of units with one of some records."""
        if self.units is None:
            return self.records_of(among)
        return len(np.unique(self.owners[among]))

    def together(self, columns: Sequence[ReleasedColumn]) -> ReleasedColumn:
        """Return columns as one, whose values are the combinations of theirs."""
        groups, _ = group_rows(((each.shown, each.sizes[0]) for each in columns), self.rows)
        codes = groups.astype(np.int32)
        return ReleasedColumn("", Role.QUASI_IDENTIFIER, codes, codes)

    @cached_property
    def seen(self) -> list[ReleasedColumn]:
        """The columns that somebody who knows a unit sees."""
        insensitive = [each for each in self.having(Role.INSENSITIVE) if each.name not in self.unknown]
        return [*self.having(Role.QUASI_IDENTIFIER), *insensitive]

    @cached_property
    def seen_together(self) -> ReleasedColumn:
        """These columns as one."""
        return self.together(self.seen)

    def in_small(self, columns: Sequence[ReleasedColumn], least: int) -> BoolArray:
        """Return which records share their published values with fewer than ``least`` units."""
        groups, number = group_rows(((each.shown, each.sizes[0]) for each in columns), self.rows)
        return (self.units_in(groups, number) < least)[groups]


def each_with_one(units: IntArray) -> IntArray:
    """Return the unit of each record, of one that has none a unit of its own, shape (records,), from 0."""
    own = int(units.max(initial=-1)) + 1 + np.arange(len(units))
    return np.unique(np.where(units < 0, own, units), return_inverse=True)[1].astype(np.int64)
