"""Traces of the sides of large regions from few of their rows, where these prove what the cost is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.batch import Batch, slot_traces
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.ends import Ends, accumulated
from anonymizer.search.regions.cuts import AxisCuts

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
    slots = slotted.number
    every = np.zeros((batch.number, slots), dtype=bool)
    every[regions] = wanted
    places = []
    for span, inside_regions, inside in batch.chunks():
        keys = np.repeat(np.arange(0, len(inside) * slots, slots), inside) + slotted.of_row[span]
        places.append(np.flatnonzero(every[inside_regions].ravel()[keys]) + span.start)
    rows = np.concatenate(places)
    number = np.bincount(np.searchsorted(np.cumsum(batch.rows), rows, side="right"), minlength=batch.number)
    columns = tuple(own[rows] for own in batch.columns)
    whole = slot_traces(batch.coding, columns, number, slotted.of_row[rows], slots)
    for own, exact in zip(found, whole, strict=True):
        own[every] = exact[every]
