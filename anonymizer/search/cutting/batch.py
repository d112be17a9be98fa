"""Coded rows of consecutive regions, and what is summed up over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.coding import Coding, Columns
from anonymizer.search.regions.segments import Segments

CHUNK = 1 << 17
"""Rows that are looked at in one go, so that what is computed of them stays in the cache."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows sorted by region, each some records of one combination.

    Attributes
    ----------
    owner: combination of the table for each row, shape (rows,), ascending within a region.
    counts: records of each row, shape (rows,), positive.
    columns: coded rows.
    rows: number of rows of each region, shape (regions,), int64, positive.
    """

    coding: Coding
    owner: NDArray[Any]
    counts: NDArray[Any]
    columns: Columns
    rows: IntArray

    @property
    def number(self) -> int:
        """How many regions there are."""
        return len(self.rows)

    @cached_property
    def starts(self) -> IntArray:
        """First row of each region, shape (regions,), int64."""
        return np.cumsum(self.rows) - self.rows

    @cached_property
    def region_of(self) -> IntArray:
        """Region of each row, shape (rows,), int64."""
        return np.repeat(np.arange(self.number), self.rows)

    @property
    def segments(self) -> Segments:
        """The rows in their regions."""
        return Segments(self.region_of, self.number)

    @cached_property
    def records(self) -> IntArray:
        """Records of each region, shape (regions,), int64."""
        return np.add.reduceat(self.counts, self.starts, dtype=np.int64)

    @cached_property
    def single(self) -> bool:
        """Whether every row is one record."""
        return bool(self.records.sum() == len(self.counts))

    @cached_property
    def traces(self) -> Traces:
        """Traces of the regions."""
        return self.coding.traced(self.columns, self.starts)

    def select(self, regions: IntArray) -> Batch:
        """Return only some regions, ascending."""
        if len(regions) == self.number:
            return self
        kept = np.zeros(self.number, dtype=bool)
        kept[regions] = True
        rows = np.flatnonzero(np.repeat(kept, self.rows))
        columns = tuple(own[rows] for own in self.columns)
        return Batch(self.coding, self.owner[rows], self.counts[rows], columns, self.rows[regions])

    def chunks(self) -> Iterator[tuple[slice, slice, IntArray]]:
        """Return rows in small chunks, the regions that they lie in, and the rows of each of these."""
        return chunks(self.rows)

    def slot_traces(self, slot_of: NDArray[Any], slots: int) -> Traces:
        """Return traces of the rows of each slot of each region, shape (regions, slots).

        Parameters
        ----------
        slot_of: of each row, shape (rows,), small whole numbers below ``slots``.
        """
        return slot_traces(self.coding, self.columns, self.rows, slot_of, slots)


def chunks(rows: IntArray) -> Iterator[tuple[slice, slice, IntArray]]:
    """Return rows in small chunks, the regions that they lie in, and the rows of each of these.

    Parameters
    ----------
    rows: of each region, shape (regions,).
    """
    ends = np.cumsum(rows)
    number = int(ends[-1]) if len(ends) else 0
    for first in range(0, number, CHUNK):
        last = min(first + CHUNK, number)
        regions = slice(int(np.searchsorted(ends, first, side="right")), int(np.searchsorted(ends, last)) + 1)
        inside = np.minimum(ends[regions], last) - np.maximum(ends[regions] - rows[regions], first)
        yield slice(first, last), regions, inside


def slot_traces(
    coding: Coding, columns: Columns, rows: IntArray, slot_of: NDArray[Any], slots: int
) -> Traces:
    """Return traces of the rows of each slot of each region, shape (regions, slots).

    Parameters
    ----------
    columns: coded rows, region after region.
    rows: of each region, shape (regions,); there may be none.
    slot_of: of each row, shape (rows,), small whole numbers below ``slots``.
    """
    found = [np.full(len(rows) * slots, own.reduction.identity, dtype=np.int64) for own in coding.traces]
    for span, regions, inside in chunks(rows):
        space = len(inside) * slots
        kind = _narrowest(space)
        keys = np.repeat(np.arange(0, space, slots, dtype=kind), inside)
        keys += slot_of[span].astype(kind, copy=False)
        order, present, starts = _sorted(keys, space)
        sorted_columns = [own[span].take(order) for own in columns]
        groups = regions.start * slots + present
        for all_of_it, own in zip(found, coding.traces, strict=True):
            traced = own.reduction.ufunc.reduceat(sorted_columns[own.column], starts)
            all_of_it[groups] = own.reduction.ufunc(all_of_it[groups], traced)
    return [own.reshape(len(rows), slots) for own in found]


def _narrowest(numbers: int) -> type[np.integer[Any]]:
    """Return the smallest type of whole numbers below a bound; 16 bits sort fastest."""
    return np.uint16 if numbers <= 1 << 16 else np.int64


def _sorted(keys: NDArray[Any], space: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the order that sorts keys, the distinct ones ascending, and the first place of each."""
    counted = np.bincount(keys, minlength=space)
    present = np.flatnonzero(counted)
    counted = counted[present]
    return np.argsort(keys, kind="stable"), present, np.cumsum(counted) - counted
