"""Where the regions may be cut along one axis."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import BoolArray, IntArray
from anonymizer.core.grouping import count
from anonymizer.search.regions.axis import Axis
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import Segments, distinct_keys


class AxisCuts:
    """The parts of every region in the order in which they are cut, and the cuts that are still open.

    A cut lies behind a part: that one and all before it go to the left. It is open when both sides have
    enough records and it has not failed yet.

    Attributes
    ----------
    part_of: position in this order of each row's part, shape (rows,), int64.
    parts: region of each part, shape (parts,).
    counts: records of each part, shape (parts,), int64.
    upto: records of the region up to and with each part, shape (parts,), int64.
    sizes: records of each region, shape (regions,), int64.
    minimum: fewest records that a side may have.
    """

    def __init__(self, axis: Axis, regions: Regions, minimum: int) -> None:
        keys = regions.region_of * axis.parts + axis.parts_of(axis.values[regions.owner], regions.segments)
        self.part_of, distinct = distinct_keys(keys, regions.number * axis.parts)
        self.parts = Segments(distinct // axis.parts, regions.number)
        self.counts = count(self.part_of, regions.counts, len(distinct))
        if not axis.ordered:
            self._most_frequent_first()
        self.upto = self.parts.running(self.counts)
        self.sizes = regions.sizes
        self.minimum = minimum
        above = self._above(np.arange(len(distinct)))
        self._open = (self.upto >= minimum) & (above >= minimum) & (above > 0)

    def _most_frequent_first(self) -> None:
        # Equally frequent parts stay in the order of their keys: lexsort is stable.
        order = np.lexsort((-self.counts, self.parts.of_row))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        self.part_of, self.counts = rank[self.part_of], self.counts[order]

    def _above(self, parts: IntArray) -> IntArray:
        """Return the records of the region that come after some parts."""
        above: IntArray = self.sizes[self.parts.of_row[parts]] - self.upto[parts]
        return above

    def nearest(self) -> IntArray:
        """Return the open cut of each region that halves it best, -1 without one, shape (regions,)."""
        cuts = np.flatnonzero(self._open)
        uneven = np.abs(self.upto[cuts] - self._above(cuts))
        order = np.lexsort((uneven, self.parts.of_row[cuts]))
        own = self.parts.of_row[cuts[order]]
        best = order[np.concatenate([[True], own[1:] != own[:-1]])[: len(own)]]
        found = np.full(self.parts.number, -1, dtype=np.int64)
        found[self.parts.of_row[cuts[best]]] = cuts[best]
        return found

    def first(self) -> IntArray:
        """Return the open cut of each region with the smallest left side, -1 without one."""
        return self.parts.first(np.flatnonzero(self._open))

    def last(self) -> IntArray:
        """Return the open cut of each region with the smallest right side, -1 without one."""
        found = np.full(self.parts.number, -1, dtype=np.int64)
        cuts = np.flatnonzero(self._open)
        found[self.parts.of_row[cuts]] = cuts
        return found

    def reached(self, target: IntArray) -> IntArray:
        """Return the part of each region with which the records up to it reach a number, shape (regions,)."""
        return self.parts.first(np.flatnonzero(self.upto >= target[self.parts.of_row]))

    def several(self) -> BoolArray:
        """Tell which regions have more than one part, shape (regions,)."""
        return np.bincount(self.parts.of_row, minlength=self.parts.number) > 1

    def close(self, cuts: IntArray) -> None:
        """Close cuts that failed."""
        self._open[cuts] = False
