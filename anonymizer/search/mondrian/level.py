"""One level of Mondrian: where each open region is cut, all of them at once.

Cuts are logged so that further records can be placed with equal ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.outcome import CutTree
from anonymizer.search.mondrian.axes import NodeAxis
from anonymizer.search.mondrian.cuts import AxisCuts, Chosen, Cuts, Groups, Mode
from anonymizer.search.mondrian.store import Coding


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


@dataclass(frozen=True, eq=False)
class Ends:
    """Where the sides of cuts end.

    Attributes
    ----------
    cut: regions that have a cut, shape (proposals, regions), bool.
    last, first: last slot on the left and first on the right, shape (proposals, regions), int64.
    """

    cut: BoolArray
    last: IntArray
    first: IntArray

    def sides(self, coding: Coding, traces: Traces) -> list[Sides]:
        """Return the sides of each proposal for the regions that have one.

        Parameters
        ----------
        traces: of the slots, shape (regions, slots).
        """
        upto, onwards = accumulated(coding, traces)
        found = []
        for cut, last, first in zip(self.cut, self.last, self.first, strict=True):
            own = np.flatnonzero(cut)
            left, right = last[own], first[own]
            found.append(Sides([each[own, left] for each in upto], [each[own, right] for each in onwards]))
        return found


def accumulated(coding: Coding, traces: Traces) -> tuple[Traces, Traces]:
    """Return the traces of all slots up to each, and of all from each on, shape (regions, slots)."""
    ufuncs = [own.reduction.ufunc for own in coding.traces]
    upto = [own.accumulate(each, axis=1) for own, each in zip(ufuncs, traces, strict=True)]
    onwards = [
        own.accumulate(each[:, ::-1], axis=1)[:, ::-1] for own, each in zip(ufuncs, traces, strict=True)
    ]
    return upto, onwards


TRIES = 8
"""How many further cuts of a region are tried along an axis when those proposed at first fail a model."""

FEWER_DIGITS = 1_000_000
"""Losses of regions of more records are rounded to fewer than 9 decimals."""


@dataclass(frozen=True, eq=False)
class _Column:
    """One proposed cut for each region along one axis, with the loss that it leaves.

    Attributes
    ----------
    loss: in records, shape (regions of the level,), float64; infinite without a cut.
    followed: whether the next nearest cut takes the place of one that fails.
    """

    axis: int
    cuts: Cuts
    loss: FloatArray
    followed: bool


class Level:
    """Finds for every region the cut that leaves the lowest loss and a satisfying class on both sides.

    Parameters
    ----------
    minimum: no class with fewer records satisfies the constraints.
    """

    def __init__(self, source: Source, mode: Mode, minimum: int) -> None:
        self._source = source
        self._mode = mode
        self._number = source.groups.number
        views = {position: source.view(position, minimum) for position in range(len(source.coding.axes))}
        self._views = {position: view for position, view in views.items() if len(view.regions)}
        self._tried = 0

    def propose(self) -> tuple[Proposed, FloatArray]:
        """Return the cut of each region and the loss it leaves, infinite without one.

        In each round the best of each region is checked, and replaced if it fails.
        """
        columns = self._columns()
        taken = Proposed(*(np.full(self._number, -1, dtype=np.int64) for _ in range(3)))
        lowest = np.full(self._number, np.inf)
        rounds = {axis: np.zeros(self._number, dtype=np.int64) for axis in self._views}
        while columns:
            losses = np.stack([column.loss for column in columns])
            best, least = losses.argmin(axis=0), losses.min(axis=0)
            asked = (taken.axis < 0) & (least < np.inf)
            if not asked.any():
                break
            proposed = self._best(columns, best, asked)
            held = self._source.hold(proposed, asked)
            taken = Proposed(
                np.where(held, proposed.axis, taken.axis),
                np.where(held, proposed.part, taken.part),
                np.where(held, proposed.target, taken.target),
            )
            lowest[held] = least[held]
            failed = asked & ~held
            columns = [
                self._replaced(column, failed & (best == i), rounds[column.axis])
                for i, column in enumerate(columns)
            ]
        return taken, lowest

    def chosen(self, proposed: Proposed, lowest: FloatArray) -> Chosen:
        """Return cuts with the parts that go to the left."""
        cut = proposed.axis >= 0
        own = self._source.coding.costs(self._source.groups.traces) * self._source.groups.records
        starts, left = left_parts(self._views, proposed)
        gain = np.where(cut, own - np.where(cut, lowest, 0.0), 0.0)
        return Chosen(cut, proposed.axis, starts, left, proposed.target, gain, self._tried)

    def _columns(self) -> list[_Column]:
        found = []
        for axis, view in self._views.items():
            proposals = self._mode.proposals(view.cuts)
            losses = self._losses(axis, proposals)
            found += [
                _Column(axis, cuts, loss, followed=i == 0)
                for i, (cuts, loss) in enumerate(zip(proposals, losses, strict=True))
                if (cuts.part >= 0).any()
            ]
        return found

    def _losses(self, axis: int, proposals: list[Cuts]) -> list[FloatArray]:
        """Return the loss that cuts leave in both sides together, in records, infinite without a cut."""
        view, coding = self._views[axis], self._source.coding
        losses = [np.full(self._number, np.inf) for _ in proposals]
        if not any((own.part >= 0).any() for own in proposals):
            return losses
        for loss, own, sides in zip(losses, proposals, view.sides(proposals), strict=True):
            cut = own.part >= 0
            if not cut.any():
                continue
            left = own.target[cut]
            both = [np.concatenate(pair) for pair in zip(sides.left, sides.right, strict=True)]
            costs = coding.costs(both)
            if sides.listed is not None:
                costs = costs + sides.listed
            costs[: len(left)] *= left
            costs[len(left) :] *= view.cuts.sizes[cut] - left
            both_sides = costs[: len(left)] + costs[len(left) :]
            loss[view.regions[cut]] = without_rounding_errors(both_sides, view.cuts.sizes[cut])
            self._tried += len(left)
        return losses

    def _best(self, columns: Sequence[_Column], best: IntArray, asked: BoolArray) -> Proposed:
        """Return the cut of the lowest loss of each region that is asked about."""
        proposed = Proposed(*(np.full(self._number, -1, dtype=np.int64) for _ in range(3)))
        for i, column in enumerate(columns):
            regions = self._views[column.axis].regions
            own = (asked & (best == i))[regions]
            proposed.axis[regions[own]] = column.axis
            proposed.part[regions[own]] = column.cuts.part[own]
            proposed.target[regions[own]] = column.cuts.target[own]
        return proposed

    def _replaced(self, column: _Column, failed: BoolArray, rounds: IntArray) -> _Column:
        """Propose the next nearest cuts where those of a column failed, a limited number of times."""
        if not failed.any():
            return column
        view, old = self._views[column.axis], column.cuts
        cuts = view.cuts
        again = failed[view.regions]
        cuts.close(old.part[again & (old.target == cuts.upto[old.part])])
        part = np.full_like(old.part, -1)
        if column.followed:
            rounds[failed] += 1
            part = np.where(again & (rounds[view.regions] <= TRIES), cuts.nearest(), -1)
        new = cuts.whole(part)
        return _Column(
            column.axis,
            Cuts(np.where(again, part, old.part), np.where(again, new.target, old.target)),
            np.where(failed, self._losses(column.axis, [new])[0], column.loss),
            column.followed,
        )


def without_rounding_errors(losses: FloatArray, records: IntArray) -> FloatArray:
    """Round losses, so that equal ones are not told apart by how computing them was rounded.

    Parameters
    ----------
    losses: in records, shape (cuts,).
    records: of the region of each, no fewer, shape (cuts,). Of up to a million 9 decimals are kept, of more
        as many as leave 14 digits: a float has no more than 16, and the last of these are errors.
    """
    digits = np.ceil(np.log10(np.maximum(records, 1)))
    scale = 10.0 ** np.where(records <= FEWER_DIGITS, 9, 14 - digits)
    return np.rint(losses * scale) / scale


@dataclass(frozen=True, eq=False)
class _Level:
    """The cuts of a level: number, axis and left side of each region, and how many parts go there, which."""

    regions: IntArray
    axis: IntArray
    left: IntArray
    sizes: IntArray
    parts: IntArray


class CutLog:
    """Follows regions while they are cut; nothing else is known of them until the end.

    Each has a number. Those that the search begins with are numbered first, both sides of a cut one after the
    other.

    Parameters
    ----------
    regions: that the search begins with.
    """

    def __init__(self, regions: int) -> None:
        self._regions = np.arange(regions)
        self._first = self._number = regions
        self._levels: list[_Level] = []

    @property
    def regions(self) -> IntArray:
        """Number of each region that was not cut, in their order, shape (regions,), int64."""
        return self._regions

    @property
    def number(self) -> int:
        """How many regions there were, and the number that the next one gets."""
        return self._number

    def note(self, places: IntArray, chosen: Chosen, cut: BoolArray) -> IntArray:
        """Note the cuts of a level; in the order of regions both sides take the place of the one cut.

        Parameters
        ----------
        places: of the regions that are cut, shape (cuts,).
        cut: which of the chosen cuts are made, shape (regions of the level,).

        Returns
        -------
        Place of the right side of each after the cuts, the left one being just before, shape (cuts,).
        """
        left = self._number + 2 * np.arange(len(places))
        sizes = np.diff(chosen.starts)
        parts = chosen.left[np.repeat(cut, sizes)]
        self._levels.append(_Level(self._regions[places], chosen.axis[cut], left, sizes[cut], parts))
        times = np.ones(len(self._regions), dtype=np.int64)
        times[places] = 2
        second: IntArray = np.cumsum(times)[places] - 1
        self._regions = np.repeat(self._regions, times)
        self._regions[second - 1], self._regions[second] = left, left + 1
        self._number += 2 * len(places)
        return second

    def tree(self, coding: Coding, ends: Traces, levels: Sequence[int], first: CodeArray) -> CutTree:
        """Return what was cut, of a search whose axes are all along hierarchies.

        Parameters
        ----------
        ends: traces of the regions that were not cut, in their order.
        levels, first: as ``CutTree`` has them.
        """
        traces = self._traces(coding, ends)
        nodes = np.zeros((self._number, len(coding.axes)), dtype=np.int32)
        axis = np.full(self._number, -1, dtype=np.int64)
        left, sizes = np.zeros(self._number, dtype=np.int64), np.zeros(self._number, dtype=np.int64)
        for own in self._levels:
            axis[own.regions], left[own.regions], sizes[own.regions] = own.axis, own.left, own.sizes
        # Regions are numbered as they are made, but a level's are cut in the order of the store.
        owner = np.concatenate([np.repeat(own.regions, own.sizes) for own in self._levels] or [left[:0]])
        parts = np.concatenate([own.parts for own in self._levels] or [left[:0]])
        order = np.argsort(owner, kind="stable")
        owner, parts = owner[order], parts[order]
        listed = np.zeros_like(parts)
        right_listed = np.zeros(self._number, dtype=bool)
        for position, each in enumerate(coding.axes):
            assert isinstance(each, NodeAxis), "only cuts along hierarchies are kept"
            numbers = coding.numbers(traces, position)
            nodes[:, position] = each.nodes(numbers)
            mine = axis[owner] == position
            listed[mine] = each.named(numbers, owner[mine], parts[mine])
            cuts = np.flatnonzero(axis == position)
            above, below = nodes[cuts, position], nodes[left[cuts], position]
            # What no record had goes to the side whose published node stands above it.
            right_listed[cuts] = (nodes[left[cuts] + 1, position] != above) & (below == above)
        return self._listing(
            coding, CutTree(tuple(levels), first, axis, left, right_listed, sizes, listed, nodes), owner
        )

    def _traces(self, coding: Coding, ends: Traces) -> Traces:
        """Return the traces of all regions, those that were cut too."""
        traces = []
        for own, known in zip(coding.traces, ends, strict=True):
            every = np.zeros(self._number, dtype=np.int64)
            every[self._regions] = known
            for level in reversed(self._levels):
                every[level.regions] = own.reduction.ufunc(every[level.left], every[level.left + 1])
            traces.append(every)
        return traces

    def _listing(self, coding: Coding, tree: CutTree, owner: IntArray) -> CutTree:
        """List the one part on the right, instead of those on the left, where others are to go there."""
        kept = ~tree.listed_right[owner]
        parts, of_part = tree.parts[kept], owner[kept]
        single = np.flatnonzero(tree.listed_right)
        begin = np.searchsorted(owner, single)
        ones = np.zeros(len(single), dtype=np.int64)
        for position, each in enumerate(coding.axes):
            mine = tree.axis[single] == position
            hierarchy = each.attribute.hierarchy
            levels = hierarchy.level[tree.parts[begin[mine]]]
            leaf = hierarchy.first_leaf[tree.published[tree.left[single[mine]] + 1, position]]
            ones[mine] = hierarchy.ancestors[levels, leaf]
        of_part, parts = np.concatenate([of_part, single]), np.concatenate([parts, ones])
        order = np.argsort(of_part, kind="stable")
        starts = np.searchsorted(of_part[order], np.arange(self._number + 1))
        return CutTree(
            tree.levels,
            tree.first,
            tree.axis,
            tree.left,
            tree.listed_right,
            starts,
            parts[order],
            tree.published,
        )
