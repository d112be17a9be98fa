"""What was cut, so that further records can be put where equal ones are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.outcome import CutTree
from anonymizer.search.cutting.chosen import Chosen
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.regions.node_axis import NodeAxis


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

    def join(self, kept: BoolArray, parts: Sequence[tuple[IntArray, CutLog]]) -> None:
        """Put what became of regions elsewhere behind those that are kept as they are.

        Parameters
        ----------
        kept: shape (regions,); the others come back in the parts.
        parts: the numbers of regions with which each log began, and that log.
        """
        regions = [self._regions[kept]]
        for given, log in parts:
            further = self._number + np.arange(log.number - len(given))
            number = np.concatenate([given, further])
            regions.append(number[log.regions])
            self._levels += [
                _Level(number[own.regions], own.axis, number[own.left], own.sizes, own.parts)
                for own in log._levels
            ]
            self._number += len(further)
        self._regions = np.concatenate(regions)
        self._number_anew()

    def _number_anew(self) -> None:
        """Number regions level by level, each in the order of the one before, as if all had been here."""
        left = np.full(self._number, -1, dtype=np.int64)
        for own in self._levels:
            left[own.regions] = own.left
        here = np.arange(self._first)
        number, known = np.arange(self._number), self._first
        while len(here):
            sides = left[here][left[here] >= 0]
            here = np.stack([sides, sides + 1], axis=1).ravel()
            number[here] = known + np.arange(len(here))
            known += len(here)
        self._regions = number[self._regions]
        self._levels = [
            _Level(number[own.regions], own.axis, number[own.left], own.sizes, own.parts)
            for own in self._levels
        ]

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
