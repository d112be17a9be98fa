"""Levels of Mondrian over rows in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.batch import Batch
from anonymizer.search.cutting.ends import Ends
from anonymizer.search.cutting.proof import Slotted, proven_traces
from anonymizer.search.cutting.source import Proposed, Sides, Source, View, slots_of
from anonymizer.search.cutting.summary import Groups, PartSummary
from anonymizer.search.regions.axis import Frames, ListedAxis
from anonymizer.search.regions.checks import Checks
from anonymizer.search.regions.cuts import AxisCuts, Cuts
from anonymizer.search.regions.mode import Mode
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import Segments, distinct_keys

_DENSE_SHARE = 4
"""Parts are numbered in a dense array while there may be up to so many for each row."""


class RowView(View):
    """Regions of rows along one axis.

    Attributes
    ----------
    part_of: position in the order of the cuts of each row's part, shape (rows of the view,).
    batch: the rows of the regions that have several parts.
    """

    part_of: NDArray[Any]

    def __init__(self, batch: Batch, position: int, mode: Mode, minimum: int) -> None:
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
        self.part_of = rank[number_of][keys]

    def left(self, chosen: Cuts) -> IntArray:
        """Return the records of each row that go to the left, shape (rows of the view,); 0 without a cut."""
        return self._mode.left(self.cuts, self.part_of, self.batch.counts, self.batch.rows, chosen)

    def sides(self, proposals: list[Cuts]) -> list[Sides]:
        """Return the sides of the cuts that are proposed."""
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
        of_row = of_part.astype(np.uint8)[self.part_of]
        slotted = Slotted(self._position, self.cuts, of_part, of_row, len(proposals) + 1)
        ends = Ends(np.stack([own.part >= 0 for own in proposals]), last, last + 1)
        if self.batch.coding.bitwise:
            return of_row, ends, proven_traces(self.batch, slotted, ends)
        return of_row, ends, self.batch.slot_traces(of_row, slotted.number)

    def _divided(self, proposals: list[Cuts]) -> tuple[NDArray[Any], Ends, Traces]:
        """Return the same for one cut that divides rows: these lie in a slot between the sides."""
        (chosen,) = proposals
        left = self.left(chosen)
        of_row = (left < self.batch.counts).astype(np.uint8) + (left == 0)
        ones = np.ones((1, len(self.regions)), dtype=np.int64)
        ends = Ends((chosen.part >= 0)[np.newaxis], ones, ones)
        return of_row, ends, self.batch.slot_traces(of_row, 3)

    def _listed(self, slot_of: NDArray[Any], last: IntArray, first: IntArray, cut: BoolArray) -> FloatArray:
        """Return what axes cost whose costs no traces tell, left sides first."""
        coding, costs = self.batch.coding, np.zeros(2 * int(cut.sum()))
        region_of = self.batch.region_of
        number = np.cumsum(cut) - 1
        for position, axis in enumerate(coding.axes):
            if not isinstance(axis, ListedAxis) or not axis.share:
                continue
            column = self.batch.columns[coding.fields[position][0].column]
            both = []
            for own in (slot_of <= last[region_of], slot_of >= first[region_of]):
                rows = np.flatnonzero(own & cut[region_of])
                groups = Segments(number[region_of[rows]], int(cut.sum()))
                both.append(axis.share * axis.listed_costs(column[rows], groups))
            costs += np.concatenate(both)
        return costs


class RowSource(Source):
    """The open regions as rows.

    Parameters
    ----------
    checks: the models that both sides of a cut have to satisfy.
    """

    def __init__(self, batch: Batch, mode: Mode, checks: Checks) -> None:
        self.coding = batch.coding
        self.groups = Groups(batch.records, batch.traces)
        self._batch = batch
        self._mode = mode
        self._checks = checks
        self._views: dict[int, RowView] = {}

    def view(self, position: int, minimum: int) -> RowView:
        """Return the regions along an axis."""
        view = RowView(self._batch, position, self._mode, minimum)
        if len(view.regions):
            self._views[position] = view
        return view

    def hold(self, proposed: Proposed, asked: BoolArray) -> BoolArray:
        """Tell which of the regions that are asked about satisfy the models on both sides of their cut."""
        if self._checks.by_size:
            return asked
        held = np.zeros(self._batch.number, dtype=bool)
        own = self._batch
        regions = Regions(own.owner, own.counts, own.segments)
        sides = regions.halves(self.left(proposed), asked)
        held[asked] = self._checks.regions_hold(sides).reshape(2, -1).all(axis=0)
        return held

    def left(self, proposed: Proposed) -> IntArray:
        """Return the records of each row that go to the left, shape (rows,); 0 without a cut."""
        left = np.zeros(len(self._batch.counts), dtype=self._batch.counts.dtype)
        for axis, view in self._views.items():
            own = proposed.axis[view.regions] == axis
            if own.any():
                part = np.where(own, proposed.part[view.regions], -1)
                chosen = Cuts(part, proposed.target[view.regions])
                kept = np.zeros(self._batch.number, dtype=bool)
                kept[view.regions] = True
                rows = slice(None) if kept.all() else np.repeat(kept, self._batch.rows)
                left[rows] += view.left(chosen).astype(left.dtype, copy=False)
        return left


def _summary(batch: Batch, position: int, frames: Frames) -> tuple[PartSummary, NDArray[Any], IntArray]:
    """Return the parts with their records, a key for each row, and the number of each key's part."""
    axis, field = batch.coding.axes[position], batch.coding.fields[position][0]
    before = np.cumsum(frames.parts) - frames.parts
    space = int(frames.parts.sum())
    kind = next(kind for kind in (np.uint8, np.uint16, np.int64) if space <= np.iinfo(kind).max)
    keys = np.empty(len(batch.counts), dtype=kind)
    for rows, regions, inside in batch.chunks():
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
        keys, distinct = distinct_keys(keys.astype(np.int64, copy=False), space)
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
