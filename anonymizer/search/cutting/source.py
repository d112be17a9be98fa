"""Where a level of Mondrian gets what it chooses from: rows in memory, or the sums that an engine returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from anonymizer.core.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.summary import Groups
from anonymizer.search.cutting.trace import Traces
from anonymizer.search.regions.cuts import AxisCuts, Cuts


@dataclass(frozen=True, eq=False)
class Proposed:
    """One cut for each of some regions along one axis.

    Attributes
    ----------
    axis: position of the quasi-identifier, shape (regions,), int64; -1 without a cut.
    part: the last part with records on the left, in the order of the axis's cuts, shape (regions,), int64.
    target: records on the left, shape (regions,), int64.
    """

    axis: IntArray
    part: IntArray
    target: IntArray


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of some cuts.

    Attributes
    ----------
    left, right: traces of the sides, each of shape (cuts,).
    listed: what the sides cost beyond what the traces tell, left sides first, shape (2 * cuts,), or None.
    """

    left: Traces
    right: Traces
    listed: FloatArray | None = None


class View(ABC):
    """The open regions along one axis.

    Attributes
    ----------
    regions: those of the level that have several parts, ascending, shape (regions of the view,), int64.
    cuts: their parts and open cuts, the regions numbered as in ``regions``.
    """

    regions: IntArray
    cuts: AxisCuts

    @abstractmethod
    def sides(self, proposals: list[Cuts]) -> list[Sides]:
        """Return the sides of cuts, for each proposal those of the regions that have one, in their order."""


class Source(ABC):
    """The open regions of a level."""

    coding: Coding
    groups: Groups

    @abstractmethod
    def view(self, position: int, minimum: int) -> View:
        """Return the regions along an axis; both sides of a cut need at least ``minimum`` records."""

    @abstractmethod
    def hold(self, proposed: Proposed, asked: BoolArray) -> BoolArray:
        """Tell which of the regions that are asked about satisfy the models on both sides of their cut."""


def slots_of(cuts: AxisCuts, proposals: list[Cuts]) -> tuple[IntArray, IntArray]:
    """Return the slot of each part between cuts, and how many slots are left of each cut, less one.

    Parameters
    ----------
    proposals: cuts behind whole parts.

    Returns
    -------
    Slot of each part in the order of the cuts, shape (parts,), int64, and for each proposal the last slot on
    the left, shape (proposals, regions), int64.
    """
    ends = np.stack([own.part for own in proposals])
    slot = np.zeros(len(cuts.part), dtype=np.int64)
    place = np.arange(len(slot))
    for own in ends:
        slot += place > own[cuts.parts.of_row]
    return slot, np.stack([(ends < own).sum(axis=0) for own in ends])
