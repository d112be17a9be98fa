"""Mondrian: multidimensional recoding by cutting regions of records in two, again and again.

Out of core the distinct rows lie on disk and are cut there, where cuts are chosen as in memory. The recoding
follows from the traces of regions and their sensitive values, which are much shorter than the rows.

All open regions are cut at once, in memory or on disk. For a large region a few rows may suffice to prove the
cost of a side. Cuts are logged, so that records that are appended later can be placed with equal ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from anonymizer.errors import AuditFailed
from anonymizer.loss.base import CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import (
    SPACE,
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    add_up,
    freeze,
    group_keys,
    numbered,
)
from anonymizer.model.classes import Classes, Traces, released
from anonymizer.model.features import Feature, Limit, SuppressionMethod
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import (
    CutTree,
    FullDomainRecoding,
    Outcome,
    Published,
    Recoding,
    Status,
    Step,
    levels_by_name,
)
from anonymizer.model.table import PlacedRows, QuasiIdentifier, Table
from anonymizer.plugins import Settings
from anonymizer.privacy.base import Merging, describe
from anonymizer.search.base import (
    Control,
    Incumbent,
    Progress,
    SearchAlgorithm,
    SearchProblem,
    SearchRun,
    nodes_at,
    offer_outcome,
    search_with,
)
from anonymizer.search.judge import (
    MEASURED,
    CandidateVerdict,
    Judge,
    explained,
    measured_end,
    search_with_attack_checks,
)
from anonymizer.search.mondrian.axes import MASKED_UNITS, Frames, LargeSetAxis, NodeAxis
from anonymizer.search.mondrian.labelling import (
    DefaultLabelling,
    IntervalLabelling,
    Labelling,
    NodeLabelling,
    Publishing,
    Rows,
    SetLabelling,
    hides,
)
from anonymizer.search.mondrian.merging import merged
from anonymizer.search.mondrian.regions import (
    Checks,
    Regions,
    Segments,
    Sharing,
    UnitsOfRows,
)
from anonymizer.search.mondrian.store import CHUNK, Batch, Coding, Span, Store, chunks, looked_up, stored
from anonymizer.search.partition.merging import Asked, Known
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.suppressor import References, references
from anonymizer.system import DiskArrays, release_free_memory


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

    def accept(
        self, closed: Regions, opened: Regions, left: IntArray, chosen: Chosen
    ) -> tuple[BoolArray, bool]:
        """Return the accepted cuts, judged together with the closed regions.

        Without any cut the release is that of the level before, which satisfies all models.

        Parameters
        ----------
        left: records of each row of the open regions that go to the left, shape (rows,), int64.

        Returns
        -------
        Which regions are cut, shape (regions,), bool, and whether this level is the last.
        """
        cuts = _LevelCuts(closed, opened, left)
        every = self._consistent(cuts, chosen.cut)
        if self._tables_hold(cuts, every):
            return every, False
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
        return best, True

    def _consistent(self, cuts: _LevelCuts, cut: BoolArray) -> BoolArray:
        """Take back cuts until no class as published violates a model.

        Those with a half in a violating class; for a class without halves, those of the regions that it lost.
        """
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
                guilty = self._leaving(cuts, cut, np.unique(region_of[rows]))
            if not len(guilty):
                break
            cut = cut.copy()
            cut[guilty] = False
        return cut

    def _leaving(self, cuts: _LevelCuts, cut: BoolArray, failing: IntArray) -> IntArray:
        """Return the cut regions that shared a class with regions of a violating class, none of which is cut.

        Parameters
        ----------
        failing: regions after the cuts, which come first: closed ones, then open ones without a cut.
        """
        before, region_of = self._classes(cuts.after(np.zeros_like(cut))[0])
        placed = region_of >= 0
        class_of = np.full(cuts.closed.number + len(cut), -1, dtype=np.int64)
        class_of[region_of[placed]] = before.class_of[placed]
        closed = np.arange(cuts.closed.number)
        same = np.concatenate([closed, cuts.closed.number + np.flatnonzero(~cut)])[failing]
        opened = class_of[cuts.closed.number :]
        return np.flatnonzero(cut & np.isin(opened, class_of[same]))

    def _tables_hold(self, cuts: _LevelCuts, cut: BoolArray) -> bool:
        if not self._tables:
            return True
        classes, _ = self._classes(cuts.after(cut)[0])
        return all(each.holds(classes) for each in self._tables)

    def after(self, closed: Regions, opened: Regions, left: IntArray, cut: BoolArray) -> Classes:
        """Return the classes that cuts would lead to; other parameters are those of ``accept``."""
        return self._classes(_LevelCuts(closed, opened, left).after(cut)[0])[0]

    def _classes(self, regions: Regions) -> tuple[Classes, IntArray]:
        return self._publishing.classes(regions, self._checks)


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

    def close(self, cuts: IntArray | BoolArray) -> None:
        """Close cuts that failed: their positions, or which of all."""
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
        return part_of < np.repeat(ends, rows)


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


@dataclass(frozen=True, eq=False)
class Proposed:
    """One cut for each of some regions along one axis.

    Attributes
    ----------
    axis: position of the quasi-identifier, shape (regions,), int64; -1 without a cut.
    part: last part with records on the left, in the order of the axis's cuts, shape (regions,), int64.
    target: records on the left, shape (regions,), int64.
    """

    axis: IntArray
    part: IntArray
    target: IntArray

    @classmethod
    def none(cls, regions: int) -> Proposed:
        """Return no cut for any region."""
        return cls(*(np.full(regions, -1, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of some cuts.

    Attributes
    ----------
    left, right: traces of the sides, each of shape (cuts,).
    listed: costs of the sides that traces do not determine, left sides first, shape (2 * cuts,), or None.
    """

    left: Traces
    right: Traces
    listed: FloatArray | None = None


def slots_of(cuts: AxisCuts, proposals: list[Cuts]) -> tuple[IntArray, IntArray]:
    """Return the slot of each part between cuts, and the last slot on the left of each cut.

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
    """Return the parts that go to the left, region after region, and the first place of each region.

    Parameters
    ----------
    views: by axis.

    Returns
    -------
    ``starts``, shape (regions + 1,), and ``left`` of ``Chosen``.
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
    """The slots where the sides of cuts end.

    Attributes
    ----------
    cut: which regions have a cut, shape (proposals, regions), bool.
    last, first: last slot on the left and first on the right, shape (proposals, regions), int64.
    """

    cut: BoolArray
    last: IntArray
    first: IntArray

    @property
    def of_cuts(self) -> tuple[IntArray, IntArray, IntArray]:
        """Region of each cut, last slot on its left and first on its right, shape (cuts,) each, int64."""
        proposal, region = np.nonzero(self.cut)
        return region, self.last[proposal, region], self.first[proposal, region]

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


SAMPLE = 256
"""Rows of a large region that are sampled first."""

LARGE = 4 * SAMPLE
"""Fewest rows of a large region."""

FEW_ROWS = 100_000
"""Rows of a batch below which tracing all takes less time than choosing some: at 20,000 a fourth less."""


@dataclass(frozen=True, eq=False)
class Slotted:
    """Parts of a batch along an axis, with their slots between cuts.

    Attributes
    ----------
    position: of the axis.
    of_part: slot of each part in the order of the cuts, shape (parts,), ascending within a region.
    of_row: slot of each row, shape (rows,).
    number: of slots.
    """

    position: int
    cuts: AxisCuts
    of_part: IntArray
    of_row: NDArray[Any]
    number: int


def proven_traces(batch: Batch, slotted: Slotted, ends: Ends) -> Traces:
    """Return traces of slots that give the exact costs of all sides, shape (regions, slots).

    A side costs at least as much as a sample of its rows, and at most as much as the region with only the
    parts of the side. If the two are equal, the other rows do not matter; otherwise, and if no row of the
    side is in the sample, all are traced. Small batches are traced whole at once.
    """
    coding, slots, slot_of = batch.coding, slotted.number, slotted.of_row
    large = batch.rows >= LARGE
    if not large.any() or len(batch.counts) < FEW_ROWS:
        return batch.slot_traces(slot_of, slots)
    rows, number = _some_rows(batch, large)
    found = batch.take(rows, number).slot_traces(slot_of[rows], slots)
    regions = np.flatnonzero(large)
    own_ends = Ends(ends.cut[:, large], ends.last[:, large], ends.first[:, large])
    least = _costs(coding, own_ends, [own[regions] for own in found])
    most = _costs(coding, own_ends, _bounds(batch, slotted, regions))
    empty = _empty(own_ends, _slots_seen(number, slot_of[rows], slots)[regions])
    wanted = _slots_of(own_ends, empty | (least < most), slots)
    if wanted.any():
        _complete(found, batch, regions, wanted, slotted)
    return found


def _some_rows(batch: Batch, large: BoolArray) -> tuple[IntArray, IntArray]:
    """Return all rows of small regions and some of large ones, and their number in each region."""
    number = np.where(large, SAMPLE, batch.rows)
    step = batch.rows / number
    region = np.repeat(np.arange(batch.number), number)
    place = np.arange(len(region)) - np.repeat(np.cumsum(number) - number, number)
    return batch.starts[region] + (place * step[region]).astype(np.int64), number


def _slots_seen(number: IntArray, slot_of: NDArray[Any], slots: int) -> IntArray:
    """Count rows by slot, shape (regions, slots), from the number of rows of each region and their slots."""
    keys = np.repeat(np.arange(0, len(number) * slots, slots), number) + slot_of
    return np.bincount(keys, minlength=len(number) * slots).reshape(len(number), slots)


def _empty(ends: Ends, rows: IntArray) -> BoolArray:
    """Return which sides have no row, in the order of _costs; ``rows`` has shape (regions, slots)."""
    region, left, right = ends.of_cuts
    upto, onwards = np.cumsum(rows, axis=1), np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.concatenate([upto[region, left], onwards[region, right]]) == 0)


def _bounds(batch: Batch, slotted: Slotted, regions: IntArray) -> Traces:
    """Return traces at least as wide as those of the slots: those of the region, limited to the own parts."""
    coding, cuts, slots = batch.coding, slotted.cuts, slotted.number
    number = np.full(batch.number, -1)
    number[regions] = np.arange(len(regions))
    own = number[cuts.parts.of_row]
    parts = np.flatnonzero(own >= 0)
    keys = own[parts] * slots + slotted.of_part[parts]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    keys = keys[starts]
    of_key = regions[keys // slots]
    frames = coding.frames(batch.traces, slotted.position)
    shift, mask = frames.shift[of_key], frames.mask[of_key]
    column = coding.fields[slotted.position][0].column
    bounds = []
    for trace, traced in zip(coding.traces, batch.traces, strict=True):
        bound = np.full(len(regions) * slots, trace.reduction.identity, dtype=np.int64)
        bound[keys] = traced[of_key]
        if trace.column == column:
            children = trace.reduction.ufunc.reduceat(cuts.part[parts], starts)
            bound[keys] = (bound[keys] & ~(mask << shift)) | (children << shift)
        bounds.append(bound.reshape(len(regions), slots))
    return bounds


def _costs(coding: Coding, ends: Ends, traces: Traces) -> FloatArray:
    """Return the costs of the left sides of all cuts, then of the right ones, shape (2 * cuts,)."""
    region, left, right = ends.of_cuts
    both = zip(*accumulated(coding, traces), strict=True)
    return coding.costs([np.concatenate([upto[region, left], on[region, right]]) for upto, on in both])


def _slots_of(ends: Ends, wanted: BoolArray, slots: int) -> BoolArray:
    """Return the slots of some sides, shape (regions, slots); ``wanted`` is in the order of _costs."""
    region, last, first = ends.of_cuts
    left, right = np.split(wanted, 2)
    found = np.zeros((ends.cut.shape[1], slots), dtype=bool)
    for slot in range(slots):
        found[region[left & (slot <= last)], slot] = True
        found[region[right & (slot >= first)], slot] = True
    return found


def _complete(found: Traces, batch: Batch, regions: IntArray, wanted: BoolArray, slotted: Slotted) -> None:
    """Trace all rows of some slots of some regions."""
    every = np.zeros((batch.number, slotted.number), dtype=bool)
    every[regions] = wanted
    whole = batch.slot_traces(slotted.of_row, slotted.number, every)
    for own, exact in zip(found, whole, strict=True):
        own[every] = exact[every]


_DENSE_SHARE = 4
"""Possible parts for each row up to which parts are numbered in a dense array."""


class View:
    """The open regions of a batch along one axis.

    Parameters
    ----------
    units: of which a class needs several, in the rows of the batch.

    Attributes
    ----------
    regions: regions of the batch with several parts and enough records for two, shape (regions of the view,).
    cuts: their parts and open cuts, the regions numbered as in ``regions``.
    part_of: position in the order of the cuts of each row's part, shape (rows of the view,).
    batch: the rows of these regions.
    """

    cuts: AxisCuts
    part_of: NDArray[Any]

    def __init__(
        self, batch: Batch, position: int, mode: Mode, minimum: int, units: Sequence[UnitsOfRows] = ()
    ) -> None:
        frames = batch.coding.frames(batch.traces, position)
        self.regions = np.flatnonzero((frames.parts > 1) & (batch.records >= 2 * minimum))
        self.batch = batch.select(self.regions)
        self._mode = mode
        self._position = position
        if not len(self.regions):
            return
        frames = Frames(*(own[self.regions] for own in vars(frames).values()))
        summary, keys, number_of = _summary(self.batch, position, frames)
        ordered = batch.coding.axes[position].ordered
        self.cuts = AxisCuts(summary, self.batch.records, minimum, ordered=ordered)
        kinds = (kind for kind in (np.uint8, np.uint16, np.uint32) if len(summary.part) <= np.iinfo(kind).max)
        rank = self.cuts.rank.astype(next(kinds))
        self.part_of = looked_up(rank[number_of], keys)
        if units and len(self.regions) < batch.number:
            kept = np.zeros(batch.number, dtype=bool)
            kept[self.regions] = True
            units = [each.select(np.repeat(kept, batch.rows)) for each in units]
        for each in units:
            self.cuts.close(~each.suffice(self.part_of, self.cuts.parts))

    def left(self, chosen: Cuts) -> NDArray[Any]:
        """Return what of each row goes to the left, as ``Mode.left`` does, shape (rows of the view,)."""
        return self._mode.left(self.cuts, self.part_of, self.batch.counts, self.batch.rows, chosen)

    def sides(self, proposals: list[Cuts]) -> list[Sides]:
        """Return the sides of cuts, for each proposal those of the regions that have one, in their order."""
        slot_of, ends, traces = self._divided(proposals) if self._mode.divides else self._whole(proposals)
        sides = ends.sides(self.batch.coding, traces)
        if self.batch.coding.traced_whole:
            return sides
        bounds = zip(ends.last, ends.first, ends.cut, strict=True)
        listed = [self._listed(slot_of, *own) for own in bounds]
        return [replace(own, listed=costs) for own, costs in zip(sides, listed, strict=True)]

    def _whole(self, proposals: list[Cuts]) -> tuple[NDArray[Any], Ends, Traces]:
        """Return the slot of each row, where the sides end, and the traces of the slots."""
        of_part, last = slots_of(self.cuts, proposals)
        of_row = looked_up(of_part.astype(np.uint8), self.part_of)
        slotted = Slotted(self._position, self.cuts, of_part, of_row, len(proposals) + 1)
        ends = Ends(np.stack([own.part >= 0 for own in proposals]), last, last + 1)
        if self.batch.coding.bitwise:
            return of_row, ends, proven_traces(self.batch, slotted, ends)
        return of_row, ends, self.batch.slot_traces(of_row, slotted.number)

    def _divided(self, proposals: list[Cuts]) -> tuple[NDArray[Any], Ends, Traces]:
        """Return the same for one cut that divides rows; divided rows are in a slot between the sides."""
        (chosen,) = proposals
        left = self.left(chosen)
        of_row = (left < self.batch.counts).astype(np.uint8) + (left == 0)
        ones = np.ones((1, len(self.regions)), dtype=np.int64)
        ends = Ends((chosen.part >= 0)[np.newaxis], ones, ones)
        return of_row, ends, self.batch.slot_traces(of_row, 3)

    def _listed(self, slot_of: NDArray[Any], last: IntArray, first: IntArray, cut: BoolArray) -> FloatArray:
        """Return the costs of axes that traces do not determine, left sides first."""
        coding, costs = self.batch.coding, np.zeros(2 * int(cut.sum()))
        region_of = self.batch.region_of
        number = np.cumsum(cut) - 1
        for position, axis in enumerate(coding.axes):
            if not isinstance(axis, LargeSetAxis) or not axis.share:
                continue
            column = self.batch.columns[coding.fields[position][0].column]
            both = []
            for own in (slot_of <= last[region_of], slot_of >= first[region_of]):
                rows = np.flatnonzero(own & cut[region_of])
                groups = Segments(number[region_of[rows]], int(cut.sum()))
                both.append(axis.share * axis.listed_costs(column[rows], groups))
            costs += np.concatenate(both)
        return costs


def _summary(batch: Batch, position: int, frames: Frames) -> tuple[PartSummary, NDArray[Any], IntArray]:
    """Return the parts with their records, a key for each row, and the number of each key's part."""
    axis, field = batch.coding.axes[position], batch.coding.fields[position][0]
    before = np.cumsum(frames.parts) - frames.parts
    space = int(frames.parts.sum())
    kind = next(kind for kind in (np.uint8, np.uint16, np.int64) if space <= np.iinfo(kind).max)
    keys = np.empty(len(batch.counts), dtype=kind)
    for rows, regions, inside in chunks(batch.rows):
        own = Frames(*(each[regions] for each in vars(frames).values()))
        parts = axis.parts_of(batch.columns[field.column][rows], own, inside)
        parts += np.repeat(before[regions] - own.first, inside)
        keys[rows] = parts
    if space <= _DENSE_SHARE * len(keys):
        records = _counted(batch, keys, space)
        distinct = np.flatnonzero(records)
        number_of = np.zeros(space, dtype=np.int64)
        number_of[distinct] = np.arange(len(distinct))
        records = records[distinct]
    else:
        keys, distinct = group_keys(keys.astype(np.int64, copy=False), space)
        number_of = np.arange(len(distinct))
        records = _counted(batch, keys, len(distinct))
    region = np.searchsorted(before, distinct, side="right") - 1
    return PartSummary(region, distinct - before[region], records), keys, number_of


def _counted(batch: Batch, keys: NDArray[Any], space: int) -> IntArray:
    records = np.zeros(space, dtype=np.int64)
    for first in range(0, len(keys), 1 << 20):
        rows = slice(first, first + (1 << 20))
        weights = None if batch.single else batch.counts[rows]
        records += np.bincount(keys[rows], weights, space).astype(np.int64, copy=False)
    return records


TRIES = 8
"""Further cuts of a region along an axis that are tried if the first proposals violate a model."""

FEWER_DIGITS = 1_000_000
"""Records of a region above which losses are rounded to fewer than 9 decimals."""


@dataclass(frozen=True, eq=False)
class _Column:
    """One proposed cut for each region along one axis, with the resulting loss.

    Attributes
    ----------
    loss: in records, shape (regions of the level,), float64; infinite without a cut.
    followed: whether the next nearest cut replaces a failed one.
    """

    axis: int
    cuts: Cuts
    loss: FloatArray
    followed: bool


@dataclass(frozen=True, eq=False)
class _Sides:
    """The sides of cuts along an axis, and where their losses go.

    Attributes
    ----------
    loss: shape (regions of the level,), float64.
    """

    view: View
    cuts: Cuts
    sides: Sides
    loss: FloatArray

    @property
    def number(self) -> int:
        """How many regions are cut."""
        return len(self.sides.left[0])

    def fill(self, costs: FloatArray) -> None:
        """Fill in the losses from the costs of the left sides, followed by those of the right ones."""
        if self.sides.listed is not None:
            costs = costs + self.sides.listed
        cut, sizes = self.cuts.part >= 0, self.view.cuts.sizes
        left = self.cuts.target[cut]
        both_sides = costs[: self.number] * left + costs[self.number :] * (sizes[cut] - left)
        self.loss[self.view.regions[cut]] = without_rounding_errors(both_sides, sizes[cut])


@dataclass(frozen=True, eq=False)
class _FirstRefused:
    """The best cuts of some regions, whether or not they satisfy the models.

    Attributes
    ----------
    regions: of the level, shape (regions,).
    sides: left sides of their cuts, followed by the right ones.
    """

    regions: IntArray
    sides: Regions


class Level:
    """Finds for every region the cut of lowest loss with a satisfying class on both sides.

    Parameters
    ----------
    batch: the open regions.
    checks: the models that both sides of a cut must satisfy.
    minimum: no class with fewer records satisfies the constraints.
    """

    def __init__(self, batch: Batch, mode: Mode, checks: Checks, minimum: int) -> None:
        self._batch = batch
        self._mode = mode
        self._checks = checks
        self._first: _FirstRefused | None = None
        self._number = batch.number
        units = checks.units(batch.owner, batch.counts, batch.segments)
        views = {place: View(batch, place, mode, minimum, units) for place in range(len(batch.coding.axes))}
        self._views = {position: view for position, view in views.items() if len(view.regions)}
        self._tried = 0

    def propose(self) -> tuple[Proposed, FloatArray]:
        """Return the cut of each region and the resulting loss, infinite without one.

        In each round the best of each region is checked, and replaced if it fails.
        """
        columns = self._columns()
        taken = Proposed.none(self._number)
        lowest = np.full(self._number, np.inf)
        rounds = {axis: np.zeros(self._number, dtype=np.int64) for axis in self._views}
        while columns:
            losses = np.stack([column.loss for column in columns])
            best, least = losses.argmin(axis=0), losses.min(axis=0)
            asked = (taken.axis < 0) & (least < np.inf)
            if not asked.any():
                break
            proposed = self._best(columns, best, asked)
            held = self._hold(proposed, asked)
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

    def _hold(self, proposed: Proposed, asked: BoolArray) -> BoolArray:
        """Return which of the asked regions satisfy the models on both sides of their cut."""
        if self._checks.by_size or (self._checks.by_sizes and not self._mode.divides):
            return asked
        held = np.zeros(self._number, dtype=bool)
        sides = self._batch.halves(self.left(proposed), asked)
        held[asked] = self._checks.regions_hold(sides).reshape(2, -1).all(axis=0)
        if self._first is None:
            self._first = _FirstRefused(np.flatnonzero(asked), sides)
        return held

    def refused(self, taken: Proposed) -> Regions | None:
        """Return both sides of the best cut of each region without an accepted one; None if there are none.

        Parameters
        ----------
        taken: the accepted cuts.
        """
        if self._first is None:
            return None
        uncut = taken.axis[self._first.regions] < 0
        return self._first.sides.keep(np.tile(uncut, 2)) if uncut.any() else None

    def left(self, proposed: Proposed) -> NDArray[Any]:
        """Return what of each row goes to the left, as ``Mode.left`` does, shape (rows,)."""
        kind = self._batch.counts.dtype if self._mode.divides else np.bool_
        left = np.zeros(len(self._batch.counts), dtype=kind)
        for axis, view in self._views.items():
            own = proposed.axis[view.regions] == axis
            if own.any():
                chosen = Cuts(np.where(own, proposed.part[view.regions], -1), proposed.target[view.regions])
                kept = np.zeros(self._number, dtype=bool)
                kept[view.regions] = True
                rows = slice(None) if kept.all() else np.repeat(kept, self._batch.rows)
                left[rows] += view.left(chosen).astype(left.dtype, copy=False)
        return left

    def chosen(self, proposed: Proposed, lowest: FloatArray) -> Chosen:
        """Return cuts with the parts that go to the left."""
        cut = proposed.axis >= 0
        own = self._batch.coding.costs(self._batch.traces) * self._batch.records
        starts, left = left_parts(self._views, proposed)
        gain = np.where(cut, own - np.where(cut, lowest, 0.0), 0.0)
        return Chosen(cut, proposed.axis, starts, left, proposed.target, gain, self._tried)

    def _columns(self) -> list[_Column]:
        proposals = {axis: self._mode.proposals(view.cuts) for axis, view in self._views.items()}
        losses = self._losses(proposals)
        return [
            _Column(axis, cuts, loss, followed=i == 0)
            for axis, own in proposals.items()
            for i, (cuts, loss) in enumerate(zip(own, losses[axis], strict=True))
            if (cuts.part >= 0).any()
        ]

    def _losses(self, proposals: Mapping[int, list[Cuts]]) -> dict[int, list[FloatArray]]:
        """Return the loss of both sides of cuts together, in records, infinite without a cut, by axis.

        Sides of several axes are priced together: where regions are few, the calls would take the time.
        """
        losses = {axis: [np.full(self._number, np.inf) for _ in own] for axis, own in proposals.items()}
        waiting: list[_Sides] = []
        for axis, own in proposals.items():
            if not any((each.part >= 0).any() for each in own):
                continue
            view = self._views[axis]
            for loss, cuts, sides in zip(losses[axis], own, view.sides(own), strict=True):
                if (cuts.part >= 0).any():
                    waiting.append(_Sides(view, cuts, sides, loss))
            if sum(each.number for each in waiting) >= CHUNK:
                self._price(waiting)
                waiting = []
        self._price(waiting)
        return losses

    def _price(self, waiting: Sequence[_Sides]) -> None:
        """Fill in the losses of cuts."""
        if not waiting:
            return
        both = zip(*(side for each in waiting for side in (each.sides.left, each.sides.right)), strict=True)
        costs = self._batch.coding.costs([np.concatenate(own) for own in both])
        ends = np.cumsum([2 * each.number for each in waiting])
        for each, own in zip(waiting, np.split(costs, ends[:-1]), strict=True):
            each.fill(own)
            self._tried += each.number

    def _best(self, columns: Sequence[_Column], best: IntArray, asked: BoolArray) -> Proposed:
        """Return the cut of lowest loss of each asked region."""
        proposed = Proposed.none(self._number)
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
            np.where(failed, self._losses({column.axis: [new]})[column.axis][0], column.loss),
            column.followed,
        )


def choose_cuts(
    store: Store, mode: Mode, checks: Checks, minimum: int
) -> tuple[Chosen, NDArray[Any], Regions | None]:
    """Return the cuts of the open regions, what of each of their rows goes to the left, and refused sides.

    To the left goes a number of records, or in a mode that never divides a row, whether all of them do. The
    sides are those of cuts that the models refused in regions that are not cut; None without any, or if they
    may not fit in memory.

    Parameters
    ----------
    checks: the models that both sides of a cut must satisfy.
    minimum: no class with fewer records satisfies them.
    """

    most, rows = MEASURED if store.cells else inf, list[int]()

    def chosen(span: Span) -> tuple[Chosen, NDArray[Any], Regions | None]:
        level = Level(store.batch(span), mode, checks, minimum)
        proposed, lowest = level.propose()
        left, sides = level.left(proposed), level.refused(proposed)
        rows.append(0 if sides is None else len(sides.owner))
        return level.chosen(proposed, lowest), left, sides if sum(rows) <= most else None

    found = store.each(chosen, store.batches())
    refused = [sides for _, _, sides in found if sides is not None]
    return (
        Chosen.joined([own for own, _, _ in found]),
        np.concatenate([left for _, left, _ in found]),
        Regions.joined(refused) if refused and sum(rows) <= most else None,
    )


def without_rounding_errors(losses: FloatArray, records: IntArray) -> FloatArray:
    """Round losses so that rounding errors do not distinguish equal ones.

    Parameters
    ----------
    losses: in records, shape (cuts,).
    records: of the region of each, at least the loss, shape (cuts,). Up to a million records 9 decimals are
        kept, above it 14 digits: of the 16 digits of a float the last are errors.
    """
    digits = np.ceil(np.log10(np.maximum(records, 1)))
    scale = 10.0 ** np.where(records <= FEWER_DIGITS, 9, 14 - digits)
    return np.rint(losses * scale) / scale


@dataclass(frozen=True, eq=False)
class _Level:
    """The cuts of a level: number, axis and left side of each region, and the parts on the left."""

    regions: IntArray
    axis: IntArray
    left: IntArray
    sizes: IntArray
    parts: IntArray


class CutLog:
    """Logs the cuts of regions.

    Each region has a number: the first regions of the search, then both sides of each cut in turn.

    Parameters
    ----------
    regions: number of the first ones.
    """

    def __init__(self, regions: int) -> None:
        self._regions = np.arange(regions)
        self._first = self._number = regions
        self._levels: list[_Level] = []

    def note(self, places: IntArray, chosen: Chosen, cut: BoolArray) -> None:
        """Log the cuts of a level; in the order of regions both sides replace the cut one.

        Parameters
        ----------
        places: of the regions that are cut, shape (cuts,).
        cut: which of the chosen cuts are made, shape (regions of the level,).
        """
        left = self._number + 2 * np.arange(len(places))
        sizes = np.diff(chosen.starts)
        parts = chosen.left[np.repeat(cut, sizes)]
        self._levels.append(_Level(self._regions[places], chosen.axis[cut], left, sizes[cut], parts))
        times = np.ones(len(self._regions), dtype=np.int64)
        times[places] = 2
        second = np.cumsum(times)[places] - 1
        self._regions = np.repeat(self._regions, times)
        self._regions[second - 1], self._regions[second] = left, left + 1
        self._number += 2 * len(places)

    def tree(self, coding: Coding, ends: Traces, levels: Sequence[int], first: CodeArray) -> CutTree:
        """Return the cuts of a search with axes along hierarchies only.

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
        # Regions are numbered as they arise, but those of a level are cut in the order of the store.
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
            # A value of no record goes to the side whose published node is above it.
            right_listed[cuts] = (nodes[left[cuts] + 1, position] != above) & (below == above)
        return self._listing(
            coding, CutTree(tuple(levels), first, axis, left, right_listed, sizes, listed, nodes), owner
        )

    def _traces(self, coding: Coding, ends: Traces) -> Traces:
        """Return the traces of all regions, cut ones too."""
        traces = []
        for own, known in zip(coding.traces, ends, strict=True):
            every = np.zeros(self._number, dtype=np.int64)
            every[self._regions] = known
            for level in reversed(self._levels):
                every[level.regions] = own.reduction.ufunc(every[level.left], every[level.left + 1])
            traces.append(every)
        return traces

    def _listing(self, coding: Coding, tree: CutTree, owner: IntArray) -> CutTree:
        """List the one part on the right where all other parts go to the left."""
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
        return replace(tree, starts=starts, parts=parts[order])


class ModeName(StrEnum):
    """Whether equal values stay together in a cut."""

    STRICT = "strict"
    RELAXED = "relaxed"


class LabelName(StrEnum):
    """How regions are published."""

    HIERARCHY = "hierarchy"
    INTERVAL = "interval"
    SET = "set"


LABELLINGS: dict[LabelName, type[Labelling[Any]]] = {
    LabelName.HIERARCHY: NodeLabelling,
    LabelName.INTERVAL: IntervalLabelling,
    LabelName.SET: SetLabelling,
}
"""The labelling of each name."""


class MondrianSettings(Settings):
    """Parameters of Mondrian."""

    mode: ModeName = Field(
        default=ModeName.STRICT,
        description="strict: equal values stay together in a cut; relaxed: records with the median value may "
        "go to either side, which gives smaller classes at a higher loss",
    )
    labels: LabelName | None = Field(
        default=None,
        description="hierarchy: nodes, and cuts follow the tree; interval: of numbers and dates, sets of "
        "other values; set: of the values that occur; default: hierarchy, and interval for numbers and dates "
        "without one",
    )


class Mondrian(SearchAlgorithm):
    """Cuts the table into regions, level by level, as long as both sides of a cut satisfy every model.

    All regions of a level are cut at once. Along each attribute the cut nearest to the median is tried, and
    those that separate the first or the last part; the one with the lowest loss of both sides in all
    attributes is taken. Parts are values in their order; categories and children of a node go by their
    frequency in the region, the most frequent first.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101).
    """

    name = "mondrian"
    Settings = MondrianSettings
    settings: MondrianSettings
    supports = frozenset(
        {
            Feature.CLASSES,
            Feature.RECORDS,
            Feature.APPLY,
            Feature.WHOLE,
            Feature.UNIT_LIMIT,
            Feature.UNITS,
            Feature.STORED_UNITS,
            Feature.SCENARIOS,
            Feature.SCENARIOS_BY_RECORD,
            Feature.NUMBERS,
            Feature.OUT_OF_CORE,
        }
    )
    by_codes = False

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Regions that divide rows divide units; sets are no numbers."""
        divided = (Feature.WHOLE, Feature.STORED_UNITS) if self.settings.mode is ModeName.RELAXED else ()
        relaxed = dict.fromkeys(divided, Limit())
        if self.settings.labels is not LabelName.SET:
            return relaxed
        what = "'{form}' needs intervals, but algorithm.labels is 'set'"
        return relaxed | {Feature.NUMBERS: Limit(what, "set algorithm.labels: interval or hierarchy")}

    def publishes(
        self,
        attributes: Sequence[QuasiIdentifier],
        method: SuppressionMethod,  # noqa: ARG002 - of others
    ) -> frozenset[Published]:
        """Return what its labels are; by default intervals of numbers without a hierarchy, else nodes."""
        labels = self.settings.labels
        if labels is None and any(each.by_range for each in attributes):
            return frozenset({Published.NODES, Published.INTERVALS})
        return frozenset({Published.INTERVALS if labels is LabelName.INTERVAL else Published.NODES})

    def in_intervals(self) -> tuple[str, SearchAlgorithm] | None:
        """Return the labels, where those of hierarchies were asked for."""
        if self.settings.labels is not LabelName.HIERARCHY:
            return None
        settings = self.settings.model_copy(update={"labels": LabelName.INTERVAL})
        return "algorithm.labels=interval", type(self)(settings)

    @property
    def most_parts(self) -> float:
        """Any number where rows are divided between regions."""
        return inf if self.settings.mode is ModeName.RELAXED else 0

    def out_of_core_gaps(self, problem: SearchProblem) -> Iterator[str]:
        """Yield what needs all rows in memory: divided rows, long sets, models of several regions."""
        if self.settings.mode is ModeName.RELAXED:
            yield "algorithm mondrian with mode relaxed (accepted: strict)"
        for axis in labelling_of(problem, self.settings).axes:
            if isinstance(axis, LargeSetAxis):
                yield (
                    f"algorithm mondrian with labels {self.settings.labels} of '{axis.attribute.name}', "
                    f"which has more than {MASKED_UNITS} values (accepted: labels hierarchy)"
                )
        for each in problem.class_constraints:
            if each.unit is not None:
                yield f"algorithm mondrian with constraint {describe(each)} (accepted: lattice)"
        own = (each for each in problem.class_constraints if each.unit is None)
        merged = (each for each in own if each.merging is Merging.NONE)
        for name in (*map(describe, merged), *map(describe, problem.table_constraints)):
            yield f"algorithm mondrian with constraint {name}, which judges all regions together"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the regions that no further cut improves, or those at the end of the budget.

        Raises
        ------
        InputError: the metric has no value for the kind of labels.
        Interrupted: the user ended the search before there was a release.
        """
        known = Known.of(control)
        return search_with_attack_checks(
            problem, control, lambda asked, left: self._search(asked, left, known)
        )

    def first(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the regions cut from the top."""
        return self._known_cut(problem, control, Known.of(control))

    def _search(self, problem: SearchProblem, control: Control, known: Known) -> Outcome:
        found = self._known_cut(problem, control, known)
        if control.explained:
            found = measured_end(problem, found)
        whole = problem.source is None and found.status is not Status.INFEASIBLE
        if whole and along_trees(problem, self.settings):
            return merged(
                problem, control, found, lambda asked, left: self._known_cut(asked, left, known), known
            )
        return found

    def _known_cut(self, problem: SearchProblem, control: Control, known: Known) -> Outcome:
        """Return the outcome of cuts, which another search of the table may have made."""
        return known.cut(Asked(problem, self.settings), control, lambda: self._cut(problem, control))

    def _cut(self, problem: SearchProblem, control: Control) -> Outcome:
        start = _find_start(problem, control)
        if isinstance(start, Outcome):
            return start
        labelling = labelling_of(problem, self.settings)
        _require_value(problem, labelling, self.settings)
        rows = _HeldRows if problem.source is None else _DiskRows
        outcome = _Run(problem, control, self.settings, start, rows(problem, start, labelling)).run()
        if outcome is None:
            return self._cut(replace(problem, keep_rows=False), control)
        if problem.source is not None:
            return outcome
        return _no_worse(outcome, _full_domain(problem, start, labelling))


def labelling_of(problem: SearchProblem, settings: MondrianSettings) -> Labelling[Any]:
    """Return the labelling of the settings; the objective guides cuts if it is a cell metric, or ``loss``."""
    guide = problem.metric if isinstance(problem.metric, CellMetric) else LeafShareLoss()
    return _labelling_class(problem, settings)(problem.table, guide)


def _labelling_class(problem: SearchProblem, settings: MondrianSettings) -> type[Labelling[Any]]:
    if settings.labels is None and any(each.by_range for each in problem.table.quasi_identifiers):
        return DefaultLabelling
    return LABELLINGS[settings.labels or LabelName.HIERARCHY]


def along_trees(problem: SearchProblem, settings: MondrianSettings) -> bool:
    """Return whether cuts follow the hierarchies and keep equal values together."""
    return settings.mode is ModeName.STRICT and _labelling_class(problem, settings) is NodeLabelling


@dataclass(frozen=True, eq=False)
class _Start:
    """A full-domain recoding whose classes are the first regions.

    Attributes
    ----------
    table: of the problem, or a finer one of its source at the levels.
    class_of: class of each combination, shape (combinations,), int64.
    classes: number of classes.
    gone: suppressed records of each combination, shape (combinations,), int64.
    kept_suppressed: whether these stay as a class of their own.
    references: distributions with which every class is compared.
    steps: of the search so far.
    levels: the generalization level of each quasi-identifier.
    full_domain: the outcome of the lattice; None for the highest levels.
    """

    table: Table
    class_of: IntArray
    classes: int
    gone: IntArray
    kept_suppressed: bool
    references: Sequence[References]
    steps: tuple[Step, ...]
    levels: tuple[int, ...]
    full_domain: Outcome | None = None


def _find_start(problem: SearchProblem, control: Control) -> _Start | Outcome:
    """Return the classes at the highest allowed levels, or the best of the lattice where these fail.

    Every recoding at allowed levels refines the classes at the highest ones, so their certain losses are
    losses of all. If no full-domain recoding can be released, the outcome is undecided, or proven infeasible.

    Raises
    ------
    Interrupted: the user ended the search before it found a start.
    """
    levels = tuple(attribute.maximum for attribute in problem.table.quasi_identifiers)
    classes = RollUp.of(problem.table).classes(levels)
    verdict = Judge(problem).judge(classes)
    candidate = {"levels": levels_by_name(problem.table.quasi_identifiers, levels)}
    own = Step(candidate, None, verdict.valid, verdict.failed, None, verdict.suppressed, verdict.checks)
    if verdict.valid:
        return _started(problem, levels, classes, verdict, (own,))
    if verdict.excludes_finer:
        return Outcome(Status.INFEASIBLE, None, None, None, 1, 1, (own,), control.elapsed, False)
    left = None if control.steps is None else control.steps - 1
    found = search_with("lattice", problem, replace(control, steps=left, memory=None))
    steps = (own, *found.steps)
    if found.recoding is None or found.recoding.levels is None:
        number, seconds = len(steps), control.elapsed
        return Outcome(Status.UNDECIDED, None, None, None, number, number, steps, seconds, found.interrupted)
    levels = tuple(found.recoding.levels)
    problem = replace(problem, table=_at(problem, levels))
    classes = RollUp.of(problem.table).classes(levels)
    start = _started(problem, levels, classes, Judge(problem).judge(classes), steps)
    return replace(start, full_domain=found)


def _no_worse(outcome: Outcome, full_domain: tuple[float | None, Recoding | None]) -> Outcome:
    """Return the regions, or the full-domain recoding that they were cut from if it loses less.

    Parameters
    ----------
    full_domain: its objective, and itself; None where it loses no less.
    """
    objective, recoding = full_domain
    best: Incumbent[Outcome] = Incumbent()
    offer_outcome(best, outcome)
    if recoding is None or not offer_outcome(best, replace(outcome, recoding=recoding, objective=objective)):
        return outcome
    return replace(outcome, recoding=recoding, objective=objective, cuts=None)


def _full_domain(
    problem: SearchProblem, start: _Start, labelling: Labelling[Any]
) -> tuple[float | None, Recoding | None]:
    """Return the objective of the recoding that regions are cut from, and it; None if it loses no less.

    It can where labels or the metric are not those of the hierarchies: a metric that counts classes need not
    fall with each cut.
    """
    if start.full_domain is not None:
        return start.full_domain.objective, start.full_domain.recoding
    if isinstance(problem.metric, CellMetric) and isinstance(labelling, NodeLabelling):
        return None, None
    own = FullDomainRecoding.suppressing(start.table, start.levels, start.gone, kept=start.kept_suppressed)
    objective = problem.metric.value(released(own, problem.k))
    return objective, None if objective is None else own


def _at(problem: SearchProblem, levels: Sequence[int]) -> Table:
    """Return the table at some levels that the lattice search has counted."""
    found = problem.table if problem.source is None else problem.source.at(levels, problem.most)
    assert found is not None, "the lattice found the node, so its table fits"
    return found


def _started(
    problem: SearchProblem,
    levels: tuple[int, ...],
    classes: Classes,
    verdict: CandidateVerdict,
    steps: tuple[Step, ...],
) -> _Start:
    table, gone = problem.table, verdict.gone
    compared = [references(table, table.counts)]
    if problem.moving_reference and gone.any() and not verdict.kept_suppressed:
        compared.append(references(table, table.counts - gone))
        if problem.suppression is not SuppressionMethod.CLASSES:
            # Whole classes are dropped under p of the input first, records under p of the rest only.
            compared = compared[1:]
    class_of, number = classes.class_of, classes.number
    return _Start(table, class_of, number, gone, verdict.kept_suppressed, compared, steps, levels)


class _HeldRows:
    """The rows of a table in memory, in the first regions of a search.

    Attributes
    ----------
    store, first, checks: as for ``_DiskRows``; owners of rows are distinct rows of the table.
    """

    ends = None

    def __init__(self, problem: SearchProblem, start: _Start, labelling: Labelling[Any]) -> None:
        table = problem.table
        kept = table.counts - start.gone
        rows = np.flatnonzero(kept)
        region_of, _ = group_keys(start.class_of[rows], start.classes)
        coding = Coding(labelling.axes)
        columns = coding.encode(table.codes if len(rows) == len(kept) else table.codes[rows])
        self.store = stored(coding, rows, kept[rows], columns, region_of)
        starts = np.cumsum(self.store.rows) - self.store.rows
        self.first = nodes_at(table, start.levels, self.store.owner[starts])
        self.checks = Checks.of(problem, start.references)
        self.publishing = Publishing(table, labelling, start.gone, kept_suppressed=start.kept_suppressed)

    def recoding(self) -> Recoding:
        """Return the recoding of all regions."""
        return self.publishing.recoding(self.store.everything())


class _StartRows:
    """Finds the row of a start's table to which a distinct row is generalized.

    Parameters
    ----------
    start: of a search whose source has finer rows.
    """

    def __init__(self, start: _Start) -> None:
        table = start.table
        own = zip(table.quasi_identifiers, start.levels, strict=True)
        self._tables = [attribute.nodes(level).astype(np.int64) for attribute, level in own]
        self._tables += [np.arange(each.column.size) for each in table.sensitive]
        self._known: dict[int, IntArray] = {}
        keys = self._keys(table.codes, learning=True)
        self._order = np.argsort(keys)
        self._known[len(self._tables)] = keys[self._order]

    def find(self, codes: CodeArray) -> IntArray:
        """Return the row of the table for each of some rows, shape (rows,).

        Parameters
        ----------
        codes: of the quasi-identifiers and sensitive attributes, shape (rows, columns).

        Raises
        ------
        AuditFailed: the table has no such row.
        """
        return self._order[self._ranks(len(self._tables), self._keys(codes, learning=False))]

    def _keys(self, codes: CodeArray, *, learning: bool) -> IntArray:
        """Return a number for each row; if the columns do not fit one number, the first ones are ranked."""
        keys, space = np.zeros(len(codes), dtype=np.int64), 1
        for place, table in enumerate(self._tables):
            size = int(table.max(initial=0)) + 1
            if space * size >= SPACE:
                if learning:
                    self._known[place] = np.unique(keys)
                keys, space = self._ranks(place, keys), len(self._known[place])
            keys *= size
            keys += table[codes[:, place]]
            space *= size
        return keys

    def _ranks(self, place: int, keys: IntArray) -> IntArray:
        known = self._known[place]
        ranks = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        if not np.array_equal(known[ranks], keys):
            raise AuditFailed(
                "the engine returned distinct rows that are missing from its counts at higher levels"
            )
        return ranks


class _DiskRows:
    """The distinct rows of a source, in the first regions of a search.

    Parameters
    ----------
    problem: with a source; no model may look at several regions together.
    labelling: of the problem.

    Attributes
    ----------
    store: the rows; their owners are combinations of sensitive values.
    first: nodes of the first regions, at the levels of the start, shape (regions, quasi-identifiers).
    checks: the models.
    """

    def __init__(self, problem: SearchProblem, start: _Start, labelling: Labelling[Any]) -> None:
        assert problem.source is not None, "rows that fit are searched in memory"
        self._problem, self._start, self._labelling = problem, start, labelling
        self._source = problem.source
        table = start.table
        width = len(table.quasi_identifiers)
        self._rows = _StartRows(start)
        self._cell_of, cells = numbered(table.codes[:, width:].T, len(table.counts))
        self._cells: CodeArray = table.codes[cells, width:]
        kept = table.counts > start.gone
        classes, first = np.unique(start.class_of[kept], return_index=True)
        self._region_of = np.where(kept, np.searchsorted(classes, start.class_of), -1)
        self.first = nodes_at(table, start.levels, np.flatnonzero(kept)[first])
        self.checks = Checks(problem.class_constraints, table.sensitive, self._cells, start.references)
        self.store = self._stored(Coding(labelling.axes), len(classes))

    def _stored(self, coding: Coding, regions: int) -> Store:
        """Read all rows from the source."""
        source, disk = self._source, DiskArrays(self._source.folder)
        records = int(self._start.table.counts.sum())
        kinds = [
            np.min_scalar_type(max(len(self._cells) - 1, 0)),
            np.dtype(np.int32 if records <= np.iinfo(np.int32).max else np.int64),
            *map(np.dtype, coding.kinds),
        ]
        arrays = [disk.zeros(source.number, kind) for kind in kinds]
        region_of = disk.zeros(source.number, np.int32)
        keys: list[NDArray[Any]] = []
        number, rows = 0, np.zeros(regions, dtype=np.int64)
        for piece in source.pieces():
            codes = source.codes(piece.keys)
            found = self._rows.find(codes)
            region = self._region_of[found]
            values = [self._cell_of[found], piece.counts, *coding.encode(codes)]
            if self._problem.placing:
                keys = keys or [disk.zeros(source.number, np.int64) for _ in piece.keys]
                values += piece.keys
            kept = np.flatnonzero(region >= 0)
            span = slice(number, number + len(kept))
            for own, read in zip((region_of, *arrays, *keys), (region, *values), strict=True):
                own[span] = read[kept]
            rows += np.bincount(region[kept], minlength=regions)
            number += len(kept)
            disk.forget()
        arrays = [own[:number] for own in (*arrays, *keys)]
        if regions > 1:
            arrays, disk = _by_region(arrays, region_of[:number], rows, DiskArrays(source.folder))
        owner, counts, *others = arrays
        columns, kept_keys = others[: len(coding.kinds)], others[len(coding.kinds) :]
        return Store(
            coding,
            owner,
            counts,
            tuple(columns),
            rows,
            keys=tuple(kept_keys),
            cells=len(self._cells),
            disk=disk,
        )

    @property
    def ends(self) -> PlacedRows | None:
        """The region of each row, if the problem asks for it and not all are suppressed."""
        keys = self.store.keys
        return PlacedRows(keys, self.store.rows) if keys and len(keys[0]) else None

    def recoding(self) -> Recoding:
        """Return the recoding of a table with a row for each region and combination of sensitive values.

        Raises
        ------
        AuditFailed: the rows of the source are not those that were searched.
        """
        table, coding = self._start.table, self.store.coding
        # The C library still keeps the memory of the cuts in pieces.
        release_free_memory()
        traces, region_of, cell, counts = self._ended()
        gone = np.flatnonzero(self._start.gone)
        suppressed = np.arange(len(counts) + len(gone)) >= len(counts)
        removed = np.zeros_like(suppressed) if self._start.kept_suppressed else suppressed
        if len(gone):
            # Suppressed records are a region of their own.
            own = coding.traced(coding.encode(table.codes[gone]), np.zeros(1, dtype=np.int64))
            region_of = np.concatenate([region_of, np.full(len(gone), len(traces[0]))])
            traces = [np.concatenate(pair) for pair in zip(traces, own, strict=True)]
        codes = np.empty((table.codes.shape[1], len(suppressed)), dtype=np.int32)
        for position, axis in enumerate(coding.axes):
            codes[position] = axis.codes(coding.numbers(traces, position))[region_of]
        codes[len(coding.axes) :, : len(counts)] = self._cells[cell].T
        codes[:, len(counts) :] = table.codes[gone].T
        records = np.concatenate([counts, self._start.gone[gone]])
        for array in (codes, records):
            freeze(array)
        attributes = self._problem.table.quasi_identifiers
        reduced = Table(attributes, table.sensitive, codes.T, Measure(records), coarse=True)
        # One axis at a time: the numbers of all axes are longer than everything else about regions.
        numbers = (coding.numbers(traces, position) for position in range(len(coding.axes)))
        return self._labelling.traced_recoding(Rows(reduced, None, region_of, suppressed, removed), numbers)

    def _ended(self) -> tuple[Traces, IntArray, IntArray, IntArray]:
        """Return the traces of regions, and their records by region and combination of sensitive values."""
        store, cells = self.store, len(self._cells)

        def counted(span: Span) -> tuple[IntArray, IntArray]:
            batch = store.batch(span)
            keys = batch.region_of * cells + batch.owner
            self._check(span)
            distinct, counts = add_up(keys, batch.counts, batch.number * cells)
            return distinct + span.regions.start * cells, counts

        found = store.each(counted, store.every_batch())
        none = np.zeros(0, dtype=np.int64)
        keys = np.concatenate([none, *(own for own, _ in found)])
        counts = np.concatenate([none, *(own for _, own in found)])
        return store.traces(), keys // max(cells, 1), keys % max(cells, 1), counts

    def _check(self, span: Span) -> None:
        """Check that the keys of rows, if the outcome has them, belong to the searched rows."""
        store, places = self.store, span.places()
        if not store.keys:
            return
        codes = self._source.codes([own[places] for own in store.keys])
        same = [
            np.array_equal(own[places], other)
            for own, other in zip(store.columns, store.coding.encode(codes), strict=True)
        ]
        if not all(same) or not np.array_equal(store.owner[places], self._cell_of[self._rows.find(codes)]):
            raise AuditFailed("the engine returned distinct rows that belong in other regions")


def _by_region(
    arrays: Sequence[NDArray[Any]], region_of: NDArray[Any], rows: IntArray, disk: DiskArrays
) -> tuple[list[NDArray[Any]], DiskArrays]:
    """Return copies of arrays sorted by region; within a region rows keep their order.

    Parameters
    ----------
    rows: of each region, shape (regions,).
    disk: where the copies are made; it is returned with them.
    """
    made = [disk.zeros(len(own), own.dtype) for own in arrays]
    put = np.cumsum(rows) - rows
    for first in range(0, len(region_of), _SORTED):
        span = slice(first, first + _SORTED)
        order = np.argsort(region_of[span], kind="stable")
        region = region_of[span][order]
        number = np.bincount(region, minlength=len(rows))
        places = np.arange(len(region)) + np.repeat(put - (np.cumsum(number) - number), number)
        for own, other in zip(made, arrays, strict=True):
            own[places] = other[span][order]
        put += number
    return made, disk


_SORTED = 1 << 20
"""Rows that are sorted at a time."""


class _Run(SearchRun):
    def __init__(
        self,
        problem: SearchProblem,
        control: Control,
        settings: MondrianSettings,
        start: _Start,
        rows: _HeldRows | _DiskRows,
    ) -> None:
        super().__init__(control)
        self._problem = problem
        self._rows = rows
        self._acceptance = (
            Acceptance(problem, rows.checks, rows.publishing) if isinstance(rows, _HeldRows) else None
        )
        self._steps += start.steps
        self._tried = len(start.steps)
        self._store = rows.store
        # Only these cuts determine the side of any record, also of later ones.
        labelling = _labelling_class(problem, settings)
        self._log = CutLog(len(self._store.rows)) if along_trees(problem, settings) else None
        self._start = start
        relaxed = settings.mode is ModeName.RELAXED
        self._mode: Mode = Relaxed(labelling.sharing) if relaxed else Strict()

    def run(self) -> Outcome | None:
        """Return the outcome; None if other records are published like the suppressed ones that stay."""
        while self._store.open.any() and not self._ended(self._tried):
            self._control.tell(lambda: Progress(self._tried, self._tried, None, None))
            self._store.close(self._store.records[self._store.open] >= 2 * self._problem.minimum_size)
            if self._store.open.any():
                self._cut()
        return self._outcome()

    def _cut(self) -> None:
        """Cut the open regions and close those that cannot be cut."""
        store, checks = self._store, self._rows.checks
        chosen, left, sides = choose_cuts(store, self._mode, checks, self._problem.minimum_size)
        cut, final = chosen.cut, False
        refused = None if sides is None else partial(self._refused_sides, sides)
        if self._acceptance is not None and self._acceptance.together:
            opened, closed = store.regions(store.open), store.regions(~store.open)
            records = opened.counts * left if left.dtype == np.bool_ else left.astype(np.int64)
            cut, final = self._acceptance.accept(closed, opened, records, chosen)
            if (cut < chosen.cut).any():
                refused = partial(self._refused_level, closed, opened, records, chosen.cut)
        if self._log is not None:
            self._log.note(np.flatnonzero(store.open)[cut], chosen, cut)
        store.cut(cut, chosen.target, left)
        if final:
            store.open[:] = False
        self._tried += chosen.tried
        counted = {"regions": len(store.rows), "cuts": int(cut.sum())}
        # Every round is better than the one before: measured are the last, and cuts that were refused last.
        self._steps.note(Step(counted, None, accepted=True), self._explained, measured=False)
        if refused is not None:
            self._steps.refused(refused)

    def _explained(self, step: Step) -> Step:
        """Return the step of a round with the loss of its regions and what each constraint measures."""
        recoding = self._rows.recoding()
        objective = self._problem.metric.value(released(recoding, self._problem.k))
        return replace(explained(self._problem, step, recoding), objective=objective)

    def _refused_sides(self, sides: Regions, step: Step) -> Step:
        """Return the step of a round with what each class constraint measures on both sides of some cuts."""
        classes = self._rows.checks.classes(sides.owner, sides.counts, sides.region_of, sides.number)
        judge = Judge(replace(self._problem, table_constraints=()))
        return replace(step, refused=judge.measured(classes))

    def _refused_level(
        self, closed: Regions, opened: Regions, left: IntArray, cut: BoolArray, step: Step
    ) -> Step:
        """Return the step of a round with what each constraint measures after all of its cuts."""
        assert self._acceptance is not None, "it refused some of them"
        classes = self._acceptance.after(closed, opened, left, cut)
        return replace(step, refused=Judge(self._problem).measured(classes))

    def _outcome(self) -> Outcome | None:
        recoding = self._rows.recoding()
        if self._start.kept_suppressed and hides(recoding):
            return None
        release_free_memory()
        best = self._problem.metric.value(released(recoding, self._problem.k)), recoding
        found = self._finished(Status.SATISFIED, best, None, self._tried, self._tried)
        store, cuts = self._store, None
        if self._log is not None:
            cuts = self._log.tree(store.coding, store.traces(), self._start.levels, self._rows.first)
        return replace(found, cuts=cuts, ends=self._rows.ends)


def _require_value(problem: SearchProblem, labelling: Labelling[Any], settings: MondrianSettings) -> None:
    """Refuse a metric without a value for the kind of recoding, tested on one record."""
    table = problem.table
    one = table.with_rows(table.codes[:1], table.counts[:1])
    alone, no = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)
    recoding = labelling.recoding(one, Regions(alone, one.counts, Segments(alone, 1)), no, no)
    labels = settings.labels or (LabelName.HIERARCHY if recoding.along_hierarchies else LabelName.INTERVAL)
    problem.loss(recoding, f"algorithm mondrian with labels {labels}")
