"""Where the regions may be cut along one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.search.cutting.summary import PartSummary
from anonymizer.search.regions.segments import Segments


@dataclass(frozen=True, eq=False)
class Cuts:
    """At most one cut of each region along one axis.

    Attributes
    ----------
    part: the last part with records on the left, in the order of AxisCuts, shape (regions,), int64, -1
        without a cut.
    target: records on the left, shape (regions,), int64.
    """

    part: IntArray
    target: IntArray


class AxisCuts:
    """The parts of every region in the order in which they are cut, and the cuts that are still open.

    A cut lies behind a part: that one and all before it go to the left. It is open when both sides have
    enough records and it has not failed yet.

    Parameters
    ----------
    summary: of regions numbered from 0, each with a part at least.
    sizes: records of each region, shape (regions,), int64.
    ordered: whether parts keep their order; otherwise the most frequent come first.

    Attributes
    ----------
    rank: position in the order of each part of the summary, shape (parts,), int64.
    part: number of each part in its region, in the order, shape (parts,), int64.
    parts: region of each part.
    counts: records of each part, shape (parts,), int64.
    upto: records of the region up to and with each part, shape (parts,), int64.
    minimum: fewest records that a side may have.
    """

    def __init__(self, summary: PartSummary, sizes: IntArray, minimum: int, *, ordered: bool) -> None:
        order = np.arange(len(summary.part)) if ordered else _most_frequent_first(summary)
        self.rank = np.empty_like(order)
        self.rank[order] = np.arange(len(order))
        self.part = summary.part[order]
        self.parts = Segments(summary.region, len(sizes))
        self.counts = summary.records[order]
        self.upto = self.parts.running(self.counts)
        self.sizes = sizes
        self.minimum = minimum
        above = self._above()
        self._open = (self.upto >= minimum) & (above >= minimum) & (above > 0)

    def _above(self) -> IntArray:
        """Return the records of the region that come after each part."""
        return self.sizes[self.parts.of_row] - self.upto

    def nearest(self) -> IntArray:
        """Return the open cut of each region that halves it best, -1 without one, shape (regions,)."""
        uneven = np.where(self._open, np.abs(self.upto - self._above()), _NONE)
        least = np.minimum.reduceat(uneven, self.parts.starts)
        return self.parts.first(np.flatnonzero(self._open & (uneven == least[self.parts.of_row])))

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
        return np.diff(self.parts.starts, append=len(self.upto)) > 1

    def close(self, cuts: IntArray) -> None:
        """Close cuts that failed."""
        self._open[cuts] = False

    def whole(self, part: IntArray) -> Cuts:
        """Return cuts behind whole parts, -1 for none, shape (regions,)."""
        return Cuts(part, np.where(part >= 0, self.upto[part], 0))


_NONE = np.iinfo(np.int64).max


def _most_frequent_first(summary: PartSummary) -> IntArray:
    """Return the parts of each region by their records; equally frequent ones stay in their order."""
    if not len(summary.part):
        return np.zeros(0, dtype=np.int64)
    place = np.arange(len(summary.part))
    most, last = int(summary.records.max()), int(summary.region[-1])
    low, middle = len(place).bit_length(), most.bit_length()
    if low + middle + last.bit_length() > 62:
        return np.lexsort((-summary.records, summary.region))
    # Sorting whole numbers is several times faster than finding the order of two keys.
    keys = (((summary.region << middle) | (most - summary.records)) << low) | place
    keys.sort()
    return keys & ((1 << low) - 1)
