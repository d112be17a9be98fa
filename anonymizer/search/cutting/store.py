"""All rows of a search in their regions, cut in place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.batch import Batch
from anonymizer.search.cutting.coding import Coding, Columns
from anonymizer.search.cutting.threads import in_threads
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import Segments

BATCH = 1 << 18
"""Rows of regions that are cut together; a larger region is cut alone."""


@dataclass(frozen=True, eq=False)
class Span:
    """Open regions that are cut together.

    Attributes
    ----------
    regions: which of the open regions.
    first: rows of open regions before them.
    starts, rows: place of the first row of each, and their number, shape (regions,), int64.
    """

    regions: slice
    first: int
    starts: IntArray
    rows: IntArray

    def places(self) -> slice | IntArray:
        """Return where the rows are."""
        start, end, number = int(self.starts[0]), int(self.starts[-1] + self.rows[-1]), int(self.rows.sum())
        if end - start == number:
            return slice(start, end)
        before = np.cumsum(self.rows) - self.rows
        places: IntArray = np.arange(number) + np.repeat(self.starts - before, self.rows)
        return places


class Store:
    """Rows sorted by region, each some records of one combination; regions are cut in place.

    Attributes
    ----------
    owner: combination of each row, shape (rows,), ascending within a region.
    counts: records of each row, shape (rows,).
    columns: coded rows.
    rows: number of rows of each region, shape (regions,), int64.
    records: of each region, shape (regions,), int64.
    open: regions that may still be cut, shape (regions,), bool.
    """

    def __init__(
        self, coding: Coding, owner: NDArray[Any], counts: NDArray[Any], columns: Columns, rows: IntArray
    ) -> None:
        self.coding = coding
        self.owner, self.counts, self.columns = owner, counts, columns
        self.rows = rows
        self.records: IntArray = np.add.reduceat(counts, np.cumsum(rows) - rows, dtype=np.int64)
        self.open: BoolArray = np.ones(len(rows), dtype=bool)

    def batches(self) -> list[Span]:
        """Return which open regions are cut together."""
        starts = np.cumsum(self.rows) - self.rows
        opened = np.flatnonzero(self.open)
        rows = self.rows[opened]
        before = np.cumsum(rows) - rows
        firsts = np.flatnonzero(np.diff(before // BATCH, prepend=-1))
        return [
            Span(
                slice(int(first), int(last)), int(before[first]), starts[opened[first:last]], rows[first:last]
            )
            for first, last in pairwise([*firsts, len(opened)])
        ]

    def batch(self, span: Span) -> Batch:
        """Return the rows of some regions."""
        places = span.places()
        columns = tuple(own[places] for own in self.columns)
        return Batch(self.coding, self.owner[places], self.counts[places], columns, span.rows)

    def regions(self, chosen: BoolArray) -> Regions:
        """Return some regions with copies of their rows; ``chosen`` is of shape (regions,)."""
        rows = slice(None) if chosen.all() else np.repeat(chosen, self.rows)
        own = self.rows[chosen]
        region_of = np.repeat(np.arange(len(own)), own)
        return Regions(
            self.owner[rows].astype(np.int64),
            self.counts[rows].astype(np.int64),
            Segments(region_of, len(own)),
        )

    def everything(self) -> Regions:
        """Return all regions."""
        return self.regions(np.ones(len(self.rows), dtype=bool))

    def traces(self) -> Traces:
        """Return the traces of all regions."""
        return self.coding.traced(self.columns, np.cumsum(self.rows) - self.rows)

    def close(self, staying: BoolArray) -> None:
        """Close the open regions that do not stay open, shape (open regions,)."""
        self.open[np.flatnonzero(self.open)[~staying]] = False

    def cut(self, cut: BoolArray, target: IntArray, left: NDArray[Any]) -> None:
        """Cut open regions in two, left side first, and close the others.

        Parameters
        ----------
        cut: shape (open regions,).
        target: records of each open region that go to the left, shape (open regions,).
        left: records of each open row that go to the left, or whether all do, shape (rows of open regions,).
        """
        if left.dtype != np.bool_:
            left = self._divided(left)

        def sort(span: Span) -> IntArray:
            own = np.repeat(cut[span.regions], span.rows)
            right = own & (left[span.first : span.first + len(own)] == 0)
            self._sort(span, right)
            return np.add.reduceat(right, np.cumsum(span.rows) - span.rows, dtype=np.int64)

        self._renumber(cut, target, np.concatenate(in_threads(sort, self.batches())))

    def _divided(self, left: NDArray[Any]) -> NDArray[Any]:
        """Make two rows of each that has records on both sides, and return what goes to the left of each."""
        opened = np.repeat(self.open, self.rows)
        places = np.flatnonzero(opened)
        divided = (left > 0) & (left < self.counts[places])
        if not divided.any():
            return left
        times = np.ones(len(self.counts), dtype=np.int64)
        times[places[divided]] = 2
        second = np.cumsum(times)[places[divided]] - 1
        rest = self.counts[places[divided]] - left[divided]
        self.owner, self.counts = np.repeat(self.owner, times), np.repeat(self.counts, times)
        self.columns = tuple(np.repeat(own, times) for own in self.columns)
        self.counts[second - 1], self.counts[second] = left[divided], rest
        first = np.cumsum(self.rows) - self.rows
        self.rows = np.add.reduceat(times, first)
        left = np.repeat(left, times[places])
        inside = np.cumsum(times[places])[divided] - 1
        left[inside] = 0
        return left

    def _sort(self, span: Span, right: BoolArray) -> None:
        """Move the rows on the right of each region behind the others."""
        number = len(span.rows)
        if number == 1:
            order = np.concatenate([np.flatnonzero(~right), np.flatnonzero(right)])
        else:
            kind = np.uint16 if 2 * number <= 1 << 16 else np.int64
            keys = np.repeat(np.arange(0, 2 * number, 2, dtype=kind), span.rows) + right
            order = np.argsort(keys.astype(kind, copy=False), kind="stable")
        places = span.places()
        for own in (self.owner, self.counts, *self.columns):
            own[places] = own[places][order]

    def _renumber(self, cut: BoolArray, target: IntArray, right: IntArray) -> None:
        """Number regions anew after cuts; ``right`` tells the rows on the right of each open region."""
        opened = np.flatnonzero(self.open)
        times = np.ones(len(self.rows), dtype=np.int64)
        times[opened[cut]] = 2
        second = np.cumsum(times)[opened[cut]] - 1
        rows = np.repeat(self.rows, times)
        rows[second - 1] -= right[cut]
        rows[second] = right[cut]
        records = np.repeat(self.records, times)
        records[second - 1] = target[cut]
        records[second] -= target[cut]
        self.rows, self.records = rows, records
        self.open = np.zeros(len(rows), dtype=bool)
        self.open[second - 1] = self.open[second] = True


def stored(coding: Coding, owner: IntArray, counts: IntArray, columns: Columns, region_of: IntArray) -> Store:
    """Return rows sorted by region; within one they stay in the order they have.

    Parameters
    ----------
    region_of: of each row, shape (rows,), every region with a row.
    """
    rows = np.bincount(region_of)
    owner, counts = _narrow(owner), _narrow(counts)
    if len(rows) > 1:
        order = np.argsort(region_of, kind="stable")
        owner, counts, columns = owner[order], counts[order], tuple(own[order] for own in columns)
    return Store(coding, owner, counts, columns, rows)


def _narrow(numbers: IntArray) -> NDArray[Any]:
    """Return a copy of whole numbers in half as many bytes where they fit."""
    fits = not len(numbers) or int(numbers.max()) <= np.iinfo(np.int32).max
    return numbers.astype(np.int32 if fits else np.int64)
