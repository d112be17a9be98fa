"""The Mondrian kernel: one level of cuts over rows, in memory or on disk.

For large regions a few rows may suffice to prove what a side costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.mondrian.axes import Frames, ListedAxis
from anonymizer.search.mondrian.cuts import AxisCuts, Chosen, Cuts, Groups, Mode, PartSummary
from anonymizer.search.mondrian.level import Ends, Level, Proposed, Sides, Source, View, accumulated, slots_of
from anonymizer.search.mondrian.regions import Checks, Segments, distinct_keys
from anonymizer.search.mondrian.store import Batch, Coding, Store, looked_up, slot_traces

SAMPLE = 256
"""Rows of a large region that are looked at first."""

LARGE = 4 * SAMPLE
"""Regions with at least so many rows are large."""


@dataclass(frozen=True, eq=False)
class Slotted:
    """Parts of a batch along an axis, and the slots between cuts that they lie in.

    Attributes
    ----------
    position: of the axis.
    of_part: slot of each part in the order of the cuts, shape (parts,), ascending within a region.
    of_row: slot of each row, shape (rows,).
    number: how many slots there are.
    """

    position: int
    cuts: AxisCuts
    of_part: IntArray
    of_row: NDArray[Any]
    number: int


def proven_traces(batch: Batch, slotted: Slotted, ends: Ends) -> Traces:
    """Return traces of slots from which the costs of all sides follow exactly, shape (regions, slots).

    A side costs at least what some of its rows cost, and at most what the region would cost with only the
    parts of the side. Where the two are equal no other row has to be looked at; else all those of the side.
    Where no row of a side is among the few, they prove nothing.
    """
    coding, slots, slot_of = batch.coding, slotted.number, slotted.of_row
    large = batch.rows >= LARGE
    if not large.any():
        return batch.slot_traces(slot_of, slots)
    rows, number = _some_rows(batch, large)
    found = slot_traces(coding, tuple(own[rows] for own in batch.columns), number, slot_of[rows], slots)
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
    """Return all rows of small regions and some of large ones, and how many rows of each region these are."""
    number = np.where(large, SAMPLE, batch.rows)
    step = batch.rows / number
    region = np.repeat(np.arange(batch.number), number)
    place = np.arange(len(region)) - np.repeat(np.cumsum(number) - number, number)
    return batch.starts[region] + (place * step[region]).astype(np.int64), number


def _slots_seen(number: IntArray, slot_of: NDArray[Any], slots: int) -> IntArray:
    """Count rows by slot, shape (regions, slots), given the number of rows of each region and their slots."""
    keys = np.repeat(np.arange(0, len(number) * slots, slots), number) + slot_of
    return np.bincount(keys, minlength=len(number) * slots).reshape(len(number), slots)


def _empty(ends: Ends, rows: IntArray) -> BoolArray:
    """Tell which sides have no row, in the order of _costs; ``rows`` is of shape (regions, slots)."""
    proposal, region = np.nonzero(ends.cut)
    upto, onwards = np.cumsum(rows, axis=1), np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    left, right = ends.last[proposal, region], ends.first[proposal, region]
    return np.asarray(np.concatenate([upto[region, left], onwards[region, right]]) == 0)


def _bounds(batch: Batch, slotted: Slotted, regions: IntArray) -> Traces:
    """Return traces that are as wide as those of the slots or wider: of the region, but for the own parts."""
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
    """Return what the left sides of all cuts cost, then the right ones, shape (2 * cuts,)."""
    proposal, region = np.nonzero(ends.cut)
    left, right = ends.last[proposal, region], ends.first[proposal, region]
    both = zip(*accumulated(coding, traces), strict=True)
    return coding.costs([np.concatenate([upto[region, left], on[region, right]]) for upto, on in both])


def _slots_of(ends: Ends, wanted: BoolArray, slots: int) -> BoolArray:
    """Return the slots of some sides, shape (regions, slots); ``wanted`` is in the order of _costs."""
    proposal, region = np.nonzero(ends.cut)
    left, right = np.split(wanted, 2)
    found = np.zeros((ends.cut.shape[1], slots), dtype=bool)
    for slot in range(slots):
        found[region[left & (slot <= ends.last[proposal, region])], slot] = True
        found[region[right & (slot >= ends.first[proposal, region])], slot] = True
    return found


def _complete(found: Traces, batch: Batch, regions: IntArray, wanted: BoolArray, slotted: Slotted) -> None:
    """Look at all rows of some slots of some regions."""
    every = np.zeros((batch.number, slotted.number), dtype=bool)
    every[regions] = wanted
    whole = slot_traces(batch.coding, batch.columns, batch.rows, slotted.of_row, slotted.number, every)
    for own, exact in zip(found, whole, strict=True):
        own[every] = exact[every]


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
        self.part_of = looked_up(rank[number_of], keys)

    def left(self, chosen: Cuts) -> NDArray[Any]:
        """Return what of each row goes to the left, as ``Mode.left`` does, shape (rows of the view,)."""
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
        of_row = looked_up(of_part.astype(np.uint8), self.part_of)
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
        sides = self._batch.halves(self.left(proposed), asked)
        held[asked] = self._checks.regions_hold(sides).reshape(2, -1).all(axis=0)
        return held

    def left(self, proposed: Proposed) -> NDArray[Any]:
        """Return what of each row goes to the left, as ``Mode.left`` does, shape (rows,)."""
        kind = self._batch.counts.dtype if self._mode.divides else np.bool_
        left = np.zeros(len(self._batch.counts), dtype=kind)
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


class Kernel:
    """Chooses the cuts of levels.

    Parameters
    ----------
    checks: the models that both sides of a cut have to satisfy.
    minimum: no class with fewer records satisfies them.
    """

    def __init__(self, mode: Mode, checks: Checks, minimum: int) -> None:
        self._mode = mode
        self._checks = checks
        self._minimum = minimum

    def large(self, store: Store) -> BoolArray:
        """Tell which open regions have enough records for two, shape (open regions,)."""
        large: BoolArray = store.records[store.open] >= 2 * self._minimum
        return large

    def choose(self, store: Store) -> tuple[Chosen, NDArray[Any]]:
        """Return the cuts of the open regions, and what of each of their rows goes to the left.

        That is the number of records, or whether all go there in a mode that never divides a row.
        """
        found = store.each(lambda span: self._chosen(store.batch(span)), store.batches())
        return Chosen.joined([chosen for chosen, _ in found]), np.concatenate([left for _, left in found])

    def _chosen(self, batch: Batch) -> tuple[Chosen, NDArray[Any]]:
        source = RowSource(batch, self._mode, self._checks)
        level = Level(source, self._mode, self._minimum)
        proposed, lowest = level.propose()
        left = source.left(proposed)
        return level.chosen(proposed, lowest), left
