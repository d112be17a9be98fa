"""How a region may be cut along an axis: what strict and relaxed Mondrian differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.search.regions.cuts import AxisCuts, Cuts
from anonymizer.search.regions.sharing import Sharing


class Mode(ABC):
    """What cuts are proposed, and who goes to the left.

    Class attributes
    ----------------
    divides: whether a part may have records on both sides.
    """

    divides: ClassVar[bool]

    @abstractmethod
    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the cuts that are tried at first, the preferred ones first."""

    @abstractmethod
    def left(
        self, cuts: AxisCuts, part_of: IntArray, counts: IntArray, rows: IntArray, chosen: Cuts
    ) -> IntArray:
        """Return the records of each row that go to the left, shape (rows,), int64; 0 without a cut.

        Parameters
        ----------
        part_of: position in the order of the cuts of each row's part, shape (rows,).
        counts: records of each row, shape (rows,).
        rows: number of rows of each region, shape (regions,).
        """


class Strict(Mode):
    """Equal values stay together: regions are disjoint boxes.

    Proposes the cut that halves the region best, and those with the smallest side on either end, which set
    a value apart that hides behind others.
    """

    divides = False

    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the nearest cut to the median, the first and the last."""
        nearest, first, last = cuts.nearest(), cuts.first(), cuts.last()
        first = np.where(first == nearest, -1, first)
        last = np.where((last == nearest) | (last == first), -1, last)
        return [cuts.whole(part) for part in (nearest, first, last)]

    def left(
        self,
        cuts: AxisCuts,  # noqa: ARG002 - whole parts need no counting
        part_of: IntArray,
        counts: IntArray,
        rows: IntArray,
        chosen: Cuts,
    ) -> IntArray:
        """Return all records of the parts up to the cut."""
        ends = (chosen.part + 1).astype(part_of.dtype)
        left: IntArray = counts * (part_of < np.repeat(ends, rows))
        return left


class Relaxed(Mode):
    """Records with the median value may go to either side, so that the sides are of equal size.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101), section 3.2.
    """

    divides = True

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing

    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the cut into halves."""
        half = cuts.sizes // 2
        possible = cuts.several() & (half >= cuts.minimum)
        return [Cuts(np.where(possible, cuts.reached(half), -1), half)]

    def left(
        self, cuts: AxisCuts, part_of: IntArray, counts: IntArray, rows: IntArray, chosen: Cuts
    ) -> IntArray:
        """Return all records of the parts before the cut, and of its own part what the target leaves."""
        region_of = np.repeat(np.arange(len(rows)), rows)
        part = chosen.part[region_of]
        left = np.where(part_of < part, counts, 0).astype(np.int64)
        own_rows = np.flatnonzero(part_of == part)
        if len(own_rows):
            region = region_of[own_rows]
            own = chosen.part[region]
            taken = chosen.target[region] - (cuts.upto[own] - cuts.counts[own])
            left[own_rows] = self._sharing.share(
                counts[own_rows].astype(np.int64), region, taken, cuts.counts[own]
            )
        return left
