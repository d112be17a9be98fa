"""One level of Mondrian: where each open region is cut, all of them at once, in memory or on disk.

For a large region a few rows may suffice to prove the cost of a side. Cuts are logged, so that records that
are appended later can be placed with equal ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.outcome import CutTree
from anonymizer.search.mondrian.axes import Frames, ListedAxis, NodeAxis
from anonymizer.search.mondrian.cuts import AxisCuts, Chosen, Cuts, Mode, PartSummary
from anonymizer.search.mondrian.regions import Checks, Segments, distinct_keys
from anonymizer.search.mondrian.store import Batch, Coding, Span, Store, chunks, looked_up


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
    side is in the sample, all are traced.
    """
    coding, slots, slot_of = batch.coding, slotted.number, slotted.of_row
    large = batch.rows >= LARGE
    if not large.any():
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
    proposal, region = np.nonzero(ends.cut)
    upto, onwards = np.cumsum(rows, axis=1), np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    left, right = ends.last[proposal, region], ends.first[proposal, region]
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

    Attributes
    ----------
    regions: regions of the batch with several parts and enough records for two, shape (regions of the view,).
    cuts: their parts and open cuts, the regions numbered as in ``regions``.
    part_of: position in the order of the cuts of each row's part, shape (rows of the view,).
    batch: the rows of these regions.
    """

    cuts: AxisCuts
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
        self._number = batch.number
        views = {place: View(batch, place, mode, minimum) for place in range(len(batch.coding.axes))}
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
        if self._checks.by_size:
            return asked
        held = np.zeros(self._number, dtype=bool)
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
        """Return the loss of both sides of cuts together, in records, infinite without a cut."""
        view, coding = self._views[axis], self._batch.coding
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
            np.where(failed, self._losses(column.axis, [new])[0], column.loss),
            column.followed,
        )


def choose_cuts(store: Store, mode: Mode, checks: Checks, minimum: int) -> tuple[Chosen, NDArray[Any]]:
    """Return the cuts of the open regions, and what of each of their rows goes to the left.

    That is a number of records, or in a mode that never divides a row, whether all of them go there.

    Parameters
    ----------
    checks: the models that both sides of a cut must satisfy.
    minimum: no class with fewer records satisfies them.
    """

    def chosen(span: Span) -> tuple[Chosen, NDArray[Any]]:
        level = Level(store.batch(span), mode, checks, minimum)
        proposed, lowest = level.propose()
        left = level.left(proposed)
        return level.chosen(proposed, lowest), left

    found = store.each(chosen, store.batches())
    return Chosen.joined([own for own, _ in found]), np.concatenate([left for _, left in found])


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
