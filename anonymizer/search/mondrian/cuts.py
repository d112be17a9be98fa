"""Proposal and acceptance of the cuts of one Mondrian level: strict and relaxed modes, along one axis.

A cut is accepted only if the resulting regions, judged together as published, satisfy the models.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.privacy.base import Merging
from anonymizer.search.base import SearchProblem
from anonymizer.search.mondrian.labelling import Publishing
from anonymizer.search.mondrian.regions import Checks, Regions, Segments, Sharing


@dataclass(frozen=True, eq=False)
class Chosen:
    """The cuts of a level.

    Attributes
    ----------
    cut: which regions are cut, shape (regions,), bool.
    axis: position of the cut's quasi-identifier, shape (regions,), int64; -1 without a cut.
    starts: the parts of region i that go to the left are ``left[starts[i]:starts[i + 1]]``, shape
        (regions + 1,), int64.
    left: numbers of parts as in the region's Frames, in the order of the cuts, int64; ``Axis.named`` says
        which nodes or units they are.
    target: records on the left, shape (regions,), int64. In a relaxed cut some records of the last part on
        the left may be on the right.
    gain: loss that each cut saves, in records, shape (regions,), float64.
    tried: cuts whose loss was computed.
    """

    cut: BoolArray
    axis: IntArray
    starts: IntArray
    left: IntArray
    target: IntArray
    gain: FloatArray
    tried: int

    @classmethod
    def joined(cls, several: Sequence[Chosen]) -> Chosen:
        """Return the cuts of several groups of regions as one."""
        sizes = [np.diff(each.starts) for each in several]
        return cls(
            np.concatenate([each.cut for each in several]),
            np.concatenate([each.axis for each in several]),
            np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
            np.concatenate([each.left for each in several]),
            np.concatenate([each.target for each in several]),
            np.concatenate([each.gain for each in several]),
            sum(each.tried for each in several),
        )


@dataclass(frozen=True, eq=False)
class PartSummary:
    """The parts of the open regions along one axis.

    Attributes
    ----------
    region: of each part, shape (parts,), int64, ascending; regions of one part may be missing.
    part: number of each part in its region as in ``Frames``, shape (parts,), int64, ascending in it.
    records: of each part, shape (parts,), int64, positive.
    """

    region: IntArray
    part: IntArray
    records: IntArray


@dataclass(frozen=True, eq=False)
class Accepted:
    """The accepted cuts.

    Attributes
    ----------
    cut: shape (regions,), bool.
    final: whether this level is the last.
    """

    cut: BoolArray
    final: bool


@dataclass(frozen=True, eq=False)
class _LevelCuts:
    """The regions before a level, with the records on the left of the open ones."""

    closed: Regions
    opened: Regions
    left: IntArray

    def after(self, cut: BoolArray) -> tuple[Regions, IntArray]:
        """Return all regions after some cuts, and the open region of each before, -1 for closed ones."""
        both = np.flatnonzero(cut)
        parent = np.concatenate([np.full(self.closed.number, -1), np.flatnonzero(~cut), both, both])
        halves = self.opened.halves(self.left, cut)
        return Regions.joined([self.closed, self.opened.keep(~cut), halves]), parent


class Acceptance:
    """Judges cuts by the models for which both sides alone do not suffice.

    Regions that are published alike are one class. If merging can violate a model, cuts that lead to a
    violating class are taken back. Models of the whole table are judged after each level; once one is
    violated, bisection finds the longest run of the level's cuts, in the order of their gain, that satisfies
    all, and the search ends.
    """

    def __init__(self, problem: SearchProblem, checks: Checks, publishing: Publishing) -> None:
        self._checks = checks
        self._publishing = publishing
        self._merging = any(each.merging is Merging.NONE for each in problem.class_constraints)
        self._tables = problem.table_constraints

    @property
    def together(self) -> bool:
        """Whether any model judges regions together; otherwise all cuts are accepted."""
        return self._merging or bool(self._tables)

    def accept(self, closed: Regions, opened: Regions, left: IntArray, chosen: Chosen) -> Accepted:
        """Return the accepted cuts, judged together with the closed regions.

        Without any cut the release is that of the level before, which satisfies all models.

        Parameters
        ----------
        left: records of each row of the open regions that go to the left, shape (rows,), int64.
        """
        cuts = _LevelCuts(closed, opened, left)
        every = self._consistent(cuts, chosen.cut)
        if self._tables_hold(cuts, every):
            return Accepted(every, final=False)
        order = np.flatnonzero(chosen.cut)
        order = order[np.argsort(-chosen.gain[order], kind="stable")]
        best, low, high = np.zeros_like(chosen.cut), 0, len(order)
        while high - low > 1:
            middle = (low + high) // 2
            some = np.zeros_like(chosen.cut)
            some[order[:middle]] = True
            some = self._consistent(cuts, some)
            if self._tables_hold(cuts, some):
                best, low = some, middle
            else:
                high = middle
        return Accepted(best, final=True)

    def _consistent(self, cuts: _LevelCuts, cut: BoolArray) -> BoolArray:
        """Take back cuts with a half in a violating class as published, until no class violates a model."""
        while self._merging and cut.any():
            regions, parent = cuts.after(cut)
            classes, region_of = self._classes(regions)
            failing = ~self._checks.hold(classes)
            # Suppressed records that stay are in no region; their class was judged at the start.
            rows = (region_of >= 0) & failing[classes.class_of]
            guilty = np.unique(parent[region_of[rows]])
            guilty = guilty[guilty >= 0]
            guilty = guilty[cut[guilty]]
            if not len(guilty):
                break
            cut = cut.copy()
            cut[guilty] = False
        return cut

    def _tables_hold(self, cuts: _LevelCuts, cut: BoolArray) -> bool:
        if not self._tables:
            return True
        classes, _ = self._classes(cuts.after(cut)[0])
        return all(each.holds(classes) for each in self._tables)

    def _classes(self, regions: Regions) -> tuple[Classes, IntArray]:
        release = self._publishing.release(regions)
        classes = self._checks.classes(release.owner, release.counts, release.class_of, release.classes)
        return classes, release.region_of


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

    A cut lies behind a part: that one and all before it go to the left. It is open while both sides have
    enough records and it has not failed.

    Parameters
    ----------
    summary: of regions numbered from 0, each with at least one part.
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
        """Return the records of the region after each part."""
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
        """Return the first part of each region up to which there are so many records, shape (regions,)."""
        return self.parts.first(np.flatnonzero(self.upto >= target[self.parts.of_row]))

    def several(self) -> BoolArray:
        """Return which regions have more than one part, shape (regions,)."""
        return np.diff(self.parts.starts, append=len(self.upto)) > 1

    def close(self, cuts: IntArray) -> None:
        """Close cuts that failed."""
        self._open[cuts] = False

    def whole(self, part: IntArray) -> Cuts:
        """Return cuts behind whole parts, -1 for none, shape (regions,)."""
        return Cuts(part, np.where(part >= 0, self.upto[part], 0))


_NONE = np.iinfo(np.int64).max


def _most_frequent_first(summary: PartSummary) -> IntArray:
    """Return the order of parts by falling records within each region, stable."""
    if not len(summary.part):
        return np.zeros(0, dtype=np.int64)
    place = np.arange(len(summary.part))
    most, last = int(summary.records.max()), int(summary.region[-1])
    low, middle = len(place).bit_length(), most.bit_length()
    if low + middle + last.bit_length() > 62:
        return np.lexsort((-summary.records, summary.region))
    # Sorting whole numbers is several times faster than sorting by two keys.
    keys = (((summary.region << middle) | (most - summary.records)) << low) | place
    keys.sort()
    return keys & ((1 << low) - 1)


class Mode(ABC):
    """The proposed cuts, and the records that go to the left.

    Class attributes
    ----------------
    divides: whether a part may have records on both sides.
    """

    divides: ClassVar[bool]

    @abstractmethod
    def proposals(self, cuts: AxisCuts) -> list[Cuts]:
        """Return the cuts to try first, in order of preference."""

    @abstractmethod
    def left(
        self, cuts: AxisCuts, part_of: IntArray, counts: IntArray, rows: IntArray, chosen: Cuts
    ) -> NDArray[Any]:
        """Return the records of each row that go to the left, shape (rows,), int64; 0 without a cut.

        If no part is ever divided: whether the row goes to the left, bool.

        Parameters
        ----------
        part_of: position in the order of the cuts of each row's part, shape (rows,).
        counts: records of each row, shape (rows,).
        rows: number of rows of each region, shape (regions,).
        """


class Strict(Mode):
    """Equal values stay together: regions are disjoint boxes.

    Proposes the cut nearest to the median, and those with the smallest side on either end, which separate an
    outlying value.
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
        counts: IntArray,  # noqa: ARG002
        rows: IntArray,
        chosen: Cuts,
    ) -> BoolArray:
        """Return which rows are in the parts up to the cut."""
        ends = (chosen.part + 1).astype(part_of.dtype)
        left: BoolArray = part_of < np.repeat(ends, rows)
        return left


class Relaxed(Mode):
    """Records with the median value may go to either side, so that both have the same size.

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
        """Return all records of the parts before the cut, and of its own part the rest of the target."""
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
