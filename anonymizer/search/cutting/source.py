"""Where a level of Mondrian gets what it chooses from: rows in memory, or the sums that an engine returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.summary import Groups
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


def left_parts(views: Mapping[int, View], proposed: Proposed) -> tuple[IntArray, IntArray]:
    """Return the parts that go to the left, region after region, and where each region's start.

    Parameters
    ----------
    views: by axis.

    Returns
    -------
    As ``Chosen`` has them: ``starts``, shape (regions + 1,), and ``left``.
    """
    number = len(proposed.axis)
    first, sizes = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    for axis, view in views.items():
        own = proposed.axis[view.regions] == axis
        first[view.regions[own]] = view.cuts.parts.starts[own]
    cut = proposed.axis >= 0
    sizes[cut] = proposed.part[cut] - first[cut] + 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    owner = np.repeat(np.arange(number), sizes)
    place = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
    left = np.zeros(len(place), dtype=np.int64)
    for axis, view in views.items():
        own = proposed.axis[owner] == axis
        left[own] = view.cuts.part[place[own]]
    return starts, left
