"""A release by its distinct rows, of which most findings can be ruled out before any record is read.

What is ruled out holds for too few records, by bounds that need no order of the records. What is left is
measured record by record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from anonymizer.exposure.records import ReleasedRecords
from anonymizer.model.arrays import BLOCK, BoolArray, CodeArray, FloatArray, IntArray, group_rows
from anonymizer.model.table import Role


class ColumnFacts(Protocol):
    """What is known of a published column, whether by records or by distinct rows."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def role(self) -> Role:
        """Its role."""

    @property
    def numbers(self) -> FloatArray | None:
        """The number of each value; None for texts."""

    @property
    def days(self) -> bool:
        """Whether these are ordinals of dates."""

    @property
    def size(self) -> int:
        """Number of codes of its values in the input."""

    @property
    def several(self) -> bool:
        """Whether more than one value is published."""

    @property
    def exact(self) -> bool:
        """Whether every published value stands for one value."""


AnyColumn = TypeVar("AnyColumn", bound=ColumnFacts)


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of the input, with the records of each that are released.

    Attributes
    ----------
    counts: records of each row, shape (rows,), int64.
    removed: which rows are not released, shape (rows,), bool.
    """

    counts: IntArray
    removed: BoolArray

    @cached_property
    def _kept(self) -> BoolArray | None:
        """Which rows are released; None if all are."""
        return ~self.removed if self.removed.any() else None

    @cached_property
    def _some(self) -> IntArray:
        """Released rows from all over the table, as neighbours are alike."""
        step = len(self.counts) // BLOCK
        return np.flatnonzero(~self.removed[::step]) * step

    def blocks(self) -> Iterator[slice | IntArray]:
        """Yield which released rows to look at together: some from all over, and then all in turn."""
        if len(self.counts) > BLOCK:
            yield self._some
        yield from self.in_turn()

    def in_turn(self, size: int = BLOCK) -> Iterator[slice | IntArray]:
        """Yield all released rows, so many at a time."""
        for start in range(0, len(self.counts), size):
            block = slice(start, min(start + size, len(self.counts)))
            yield block if self._kept is None else start + np.flatnonzero(self._kept[block])

    def records_with(self, groups: CodeArray, size: int, asked: BoolArray | None = None) -> IntArray:
        """Return the released records in each group of rows, shape (size,), int64.

        Parameters
        ----------
        groups: of each row, shape (rows,), each in [0, size).
        asked: rows that count; None for all.
        """
        found = np.zeros(size)
        for block in self.in_turn(max(BLOCK, size)):
            counts = self.counts[block] if asked is None else self.counts[block] * asked[block]
            found += np.bincount(groups[block], weights=counts, minlength=size)
        # Sums are below 2**53, and so exact.
        return found.astype(np.int64)


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """A published column by distinct rows.

    Attributes
    ----------
    rows: that have its values.
    own: code of the value in the input, shape (rows,).
    published: returns the code of the published value of each row, likewise, and the number of these codes;
        None for a column that is released as it is.
    absent, numbers, days: as for ``ReleasedColumn``.
    """

    name: str
    role: Role
    rows: Rows
    own: CodeArray
    published: Callable[[], tuple[CodeArray, int]] | None
    absent: int | None
    numbers: FloatArray | None
    days: bool

    @cached_property
    def size(self) -> int:
        """Number of codes of ``own``."""
        return int(max((self.own[block].max(initial=-1) for block in self.rows.in_turn()), default=-1)) + 1

    @property
    def several(self) -> bool:
        """Whether more than one value may be published."""
        return self.published is not None or self.size > 1

    def shown(self) -> tuple[CodeArray, int]:
        """Return the code of the published value of each row, and the number of codes; not kept."""
        if self.published is None:
            return self.own, int(self.own.max(initial=-1)) + 1
        return self.published()

    @cached_property
    def exact(self) -> bool:
        """Whether every published value stands for one value."""
        if self.published is None:
            return True
        return all(constant.all() for constant in _narrowed(self.rows, *self.published(), self.own))

    @cached_property
    def coarse(self) -> BoolArray:
        """Whether a row's published value stands for several values of its column, shape (rows,)."""
        shown, number = self.shown()
        *_, constant = _narrowed(self.rows, shown, number, self.own)
        found: BoolArray = ~constant[shown]
        return found


def _narrowed(rows: Rows, groups: CodeArray, number: int, own: CodeArray) -> Iterator[BoolArray]:
    """Yield which groups have at most one code among the rows looked at: some, twice as many, and so on."""
    constant, one_of = np.ones(number, dtype=np.bool_), np.full(number, -1, dtype=np.int32)
    for block_number, block in enumerate(rows.blocks()):
        place, codes = groups[block], own[block]
        known = one_of.take(place)
        if (new := known < 0).any():
            one_of[place[new]] = codes[new]
            known = one_of.take(place)
        constant[place[codes != known]] = False
        # So often that few are looked at in vain, so seldom that asking about all groups takes no time.
        if block_number & (block_number + 1) == 0:
            yield constant
    yield constant


@dataclass(frozen=True, eq=False)
class CountedRelease:
    """A release whose columns are those of the distinct rows, and that names no units.

    Attributes
    ----------
    published: what it shows, equal records counted.
    columns: all of them, in their order.
    read: returns its records, in the order of the input.
    """

    published: ReleasedRecords
    columns: tuple[CountedColumn, ...]
    rows: Rows
    read: Callable[[], ReleasedRecords]

    @cached_property
    def whole(self) -> ReleasedRecords:
        """Each record by itself."""
        return self.read()

    @property
    def records(self) -> int:
        """Number of released records."""
        return self.published.records

    def having(self, *roles: Role) -> list[CountedColumn]:
        """Return the columns of some roles, in their order."""
        return [each for each in self.columns if each.role in roles]

    def view(self, *columns: CountedColumn) -> CountedView:
        """Return what some columns show together."""
        shown = [each.shown() for each in columns]
        if len(shown) == 1:
            return CountedView(self.rows, *shown[0])
        groups, number = group_rows(shown, len(self.rows.counts))
        return CountedView(self.rows, groups.astype(np.int32), number)


@dataclass(frozen=True, eq=False)
class CountedView:
    """Published values of some columns by distinct rows.

    Attributes
    ----------
    groups: of rows with the same values, shape (rows,), each in [0, number).
    """

    rows: Rows
    groups: CodeArray
    number: int

    @cached_property
    def shared(self) -> IntArray:
        """Records of each group with several, else 0, shape (number,), int64."""
        records = self.rows.records_with(self.groups, self.number)
        return np.where(records > 1, records, 0)

    def may_name(self, secret: CountedColumn, most: float) -> bool:
        """Return whether it names a hidden value in more than so many records.

        Counted are records with a hidden value that share what is shown with others, if all of these have one
        value.
        """
        for constant in _narrowed(self.rows, self.groups, self.number, secret.own):
            if not constant.any() or self.shared[constant].sum() <= most:
                return False
        asked = secret.coarse if secret.absent is None else secret.coarse & (secret.own != secret.absent)
        held = self.rows.records_with(self.groups, self.number, asked)
        return bool(held[constant & (self.shared > 0)].sum() > most)
