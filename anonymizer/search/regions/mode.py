"""How a region may be cut along an axis: what strict and relaxed Mondrian differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.search.regions.cuts import AxisCuts
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.sharing import Sharing


@dataclass(frozen=True, eq=False)
class Cuts:
    """At most one cut of each region along one axis.

    Attributes
    ----------
    part: the last part with records on the left, shape (regions,), int64, -1 without a cut.
    target: records on the left, shape (regions,), int64.
    """

    part: IntArray
    target: IntArray


class Mode(ABC):
    """What cuts are proposed, and who goes to the left."""

    @abstractmethod
    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the cuts that are tried at first, the preferred ones first."""

    @abstractmethod
    def left(self, cuts: AxisCuts, regions: Regions, chosen: Cuts) -> IntArray:
        """Return the records of each row that go to the left, shape (rows,), int64; 0 without a cut."""


def whole(cuts: AxisCuts, part: IntArray) -> Cuts:
    """Return cuts behind whole parts."""
    return Cuts(part, np.where(part >= 0, cuts.upto[part], 0))


class Strict(Mode):
    """Equal values stay together: regions are disjoint boxes.

    Proposes the cut that halves the region best, and those with the smallest side on either end, which set
    a value apart that hides behind others.
    """

    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the nearest cut to the median, the first and the last."""
        nearest, first, last = cuts.nearest(), cuts.first(), cuts.last()
        first = np.where(first == nearest, -1, first)
        last = np.where((last == nearest) | (last == first), -1, last)
        return [whole(cuts, part) for part in (nearest, first, last)]

    def left(self, cuts: AxisCuts, regions: Regions, chosen: Cuts) -> IntArray:
        """Return all records of the parts up to the cut."""
        return np.where(cuts.part_of <= chosen.part[regions.region_of], regions.counts, 0)


class Relaxed(Mode):
    """Records with the median value may go to either side, so that the sides are of equal size.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101), section 3.2.
    """

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing

    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the cut into halves."""
        half = cuts.sizes // 2
        possible = cuts.several() & (half >= cuts.minimum)
        return [Cuts(np.where(possible, cuts.reached(half), -1), half)]

    def left(self, cuts: AxisCuts, regions: Regions, chosen: Cuts) -> IntArray:
        """Return all records of the parts before the cut, and of its own part what the target leaves."""
        part = chosen.part[regions.region_of]
        left = np.where(cuts.part_of < part, regions.counts, 0)
        rows = np.flatnonzero(cuts.part_of == part)
        if len(rows):
            region = regions.region_of[rows]
            own = chosen.part[region]
            taken = chosen.target[region] - (cuts.upto[own] - cuts.counts[own])
            left[rows] = self._sharing.share(regions.counts[rows], region, taken, cuts.counts[own])
        return left
