"""All rows of a Mondrian search in their regions, cut in place on all processors.

Rows are coded as a few whole numbers, from which values are read and regions are traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, add_up
from anonymizer.model.classes import GroupStatistic, Reduction, Traces
from anonymizer.search.mondrian.axes import Axis, Frames, LargeSetAxis
from anonymizer.search.mondrian.regions import Regions, Segments
from anonymizer.system import DiskArrays, processors

WORD_BITS = 62
"""Bits of a word: it stays a positive 64-bit integer."""

Columns = tuple[NDArray[Any], ...]
"""Coded rows: one array of whole numbers for each column of the coding, shape (rows,)."""


class Field(NamedTuple):
    """The bits of a number of an axis.

    Attributes
    ----------
    column: of the coded rows.
    shift, bits: the number is ``(column >> shift) & (2**bits - 1)``.
    """

    column: int
    shift: int
    bits: int


class Coding:
    """Writes the values of a distinct row as a few columns of whole numbers.

    The bits of several axes share a word, so that one ``bit_or`` and one ``bit_and`` of a group of rows give
    their common values in all of these axes.

    Attributes
    ----------
    axes: one for each quasi-identifier.
    fields: the bits of the numbers of each axis.
    traces: statistics of a group of rows.
    """

    def __init__(self, axes: Sequence[Axis[Any]]) -> None:
        self.axes = tuple(axes)
        self._bits: list[int] = []
        self._shared: list[bool] = []
        self.fields = [[self._place(own.bits, own.bitwise) for own in axis.numbers] for axis in axes]
        number: dict[GroupStatistic, int] = {}
        self._reductions = [
            [
                (number.setdefault(GroupStatistic(field.column, reduction), len(number)), field, reduction)
                for own, field in zip(axis.numbers, fields, strict=True)
                for reduction in own.reductions
            ]
            for axis, fields in zip(axes, self.fields, strict=True)
        ]
        self.traces = tuple(number)

    def _place(self, bits: int, shared: bool) -> Field:
        for column, taken in enumerate(self._bits):
            if shared and self._shared[column] and taken + bits <= WORD_BITS:
                self._bits[column] += bits
                return Field(column, taken, bits)
        self._bits.append(bits)
        self._shared.append(shared)
        return Field(len(self._bits) - 1, 0, bits)

    @property
    def bitwise(self) -> bool:
        """Whether all traces are bitwise."""
        return all(own.bitwise for axis in self.axes for own in axis.numbers)

    @property
    def traced_whole(self) -> bool:
        """Whether traces determine all costs, so that no values need to be listed."""
        return not any(isinstance(axis, LargeSetAxis) and axis.share for axis in self.axes)

    @property
    def kinds(self) -> list[type[np.integer[Any]]]:
        """The type of each column of the coded rows."""
        return [
            next((kind for kind in (np.uint8, np.uint16) if bits <= np.iinfo(kind).bits), np.int64)
            for bits in self._bits
        ]

    def encode(self, codes: CodeArray) -> Columns:
        """Return the coded rows.

        Parameters
        ----------
        codes: of the values, shape (rows, at least one for each quasi-identifier), as in a Table.
        """
        columns = [np.zeros(len(codes), dtype=kind) for kind in self.kinds]
        for position, (axis, fields) in enumerate(zip(self.axes, self.fields, strict=True)):
            for own, field in zip(axis.numbers, fields, strict=True):
                kind = columns[field.column].dtype
                of_code = (own.of_code << field.shift).astype(kind)
                columns[field.column] |= of_code[codes[:, position]]
        return tuple(columns)

    def numbers(self, traces: Traces, position: int) -> Traces:
        """Return the reductions of an axis's numbers over groups, in their order, from the traces."""
        return [
            _field(traces[place], field, reduction) for place, field, reduction in self._reductions[position]
        ]

    def frames(self, traces: Traces, position: int) -> Frames:
        """Return the parts of groups along an axis, read from the column of its first number."""
        frames = self.axes[position].frames(self.numbers(traces, position))
        return replace(frames, shift=frames.shift + self.fields[position][0].shift)

    def costs(self, traces: Traces) -> FloatArray:
        """Return the cost of a record of each group as published, shape (groups,), in [0, 1]."""
        costs = np.zeros(len(traces[0]))
        for position, axis in enumerate(self.axes):
            if axis.share:
                costs += axis.share * axis.costs(self.numbers(traces, position))
        return costs

    def traced(self, columns: Columns, starts: IntArray) -> Traces:
        """Return the traces of consecutive groups of rows, none empty, from their first rows."""
        return [
            own.reduction.ufunc.reduceat(columns[own.column], starts).astype(np.int64, copy=False)
            for own in self.traces
        ]


def _field(traced: IntArray, field: Field, reduction: Reduction) -> IntArray:
    if reduction in (Reduction.MIN, Reduction.MAX):
        return traced
    return (traced >> field.shift) & ((1 << field.bits) - 1)


CHUNK = 1 << 17
"""Rows that are processed at once, so that intermediate results stay in the cache."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows sorted by region, each some records of one combination.

    Attributes
    ----------
    owner: as the store has it.
    counts: records of each row, shape (rows,), positive.
    columns: coded rows.
    rows: number of rows of each region, shape (regions,), int64, positive.
    cells: as the store has it.
    """

    coding: Coding
    owner: NDArray[Any]
    counts: NDArray[Any]
    columns: Columns
    rows: IntArray
    cells: int = 0

    @property
    def number(self) -> int:
        """How many regions there are."""
        return len(self.rows)

    @cached_property
    def starts(self) -> IntArray:
        """First row of each region, shape (regions,), int64."""
        return np.cumsum(self.rows) - self.rows

    @cached_property
    def region_of(self) -> IntArray:
        """Region of each row, shape (rows,), int64."""
        return np.repeat(np.arange(self.number), self.rows)

    @property
    def segments(self) -> Segments:
        """The rows in their regions."""
        return Segments(self.region_of, self.number)

    @cached_property
    def records(self) -> IntArray:
        """Records of each region, shape (regions,), int64."""
        return np.add.reduceat(self.counts, self.starts, dtype=np.int64)

    @cached_property
    def single(self) -> bool:
        """Whether every row is one record."""
        return bool(self.records.sum() == len(self.counts))

    @cached_property
    def traces(self) -> Traces:
        """Traces of the regions."""
        return self.coding.traced(self.columns, self.starts)

    def select(self, regions: IntArray) -> Batch:
        """Return only some regions, ascending."""
        if len(regions) == self.number:
            return self
        kept = np.zeros(self.number, dtype=bool)
        kept[regions] = True
        return self.take(np.flatnonzero(np.repeat(kept, self.rows)), self.rows[regions])

    def take(self, rows: IntArray, number: IntArray) -> Batch:
        """Return some rows, ascending, with the number in each region that is left."""
        columns = tuple(own[rows] for own in self.columns)
        return Batch(self.coding, self.owner[rows], self.counts[rows], columns, number, self.cells)

    def halves(self, left: NDArray[Any], cut: BoolArray) -> Regions:
        """Return the left sides of the cut regions, followed by their right sides.

        Parameters
        ----------
        left: records of each row that go to the left, or whether all do, shape (rows,).
        cut: shape (regions,).
        """
        if not self.cells:
            records = self.counts * left if left.dtype == np.bool_ else left
            return Regions(self.owner, self.counts, self.segments).halves(records, cut)
        number, regions = np.cumsum(cut) - 1, int(cut.sum())
        found = []
        for span, own, inside in chunks(self.rows):
            kept = np.flatnonzero(np.repeat(cut[own], inside))
            side = np.repeat(number[own], inside)[kept] + regions * (left[span][kept] == 0)
            keys = side * self.cells + self.owner[span][kept]
            found.append(add_up(keys, self.counts[span][kept], 2 * regions * self.cells))
        return summed_up(found, 2 * regions, self.cells)

    def slot_traces(self, slot_of: NDArray[Any], slots: int, wanted: BoolArray | None = None) -> Traces:
        """Return traces of the rows of each slot of each region, shape (regions, slots).

        Parameters
        ----------
        slot_of: of each row, shape (rows,), small whole numbers below ``slots``.
        wanted: the slots to trace, shape (regions, slots); None for all.
        """
        number = self.number
        found = [
            np.full(number * slots, own.reduction.identity, dtype=np.int64) for own in self.coding.traces
        ]
        for span, regions, inside in chunks(self.rows):
            space = len(inside) * slots
            kind = _narrowest(space)
            keys = np.repeat(np.arange(0, space, slots, dtype=kind), inside)
            keys += slot_of[span].astype(kind, copy=False)
            columns = [own[span] for own in self.columns]
            if wanted is not None:
                kept = np.flatnonzero(wanted[regions].ravel()[keys])
                if not len(kept):
                    continue
                keys, columns = keys[kept], [own[kept] for own in columns]
            order, present, starts = _sorted(keys, space)
            sorted_columns = [own.take(order) for own in columns]
            groups = regions.start * slots + present
            for every, own in zip(found, self.coding.traces, strict=True):
                traced = own.reduction.ufunc.reduceat(sorted_columns[own.column], starts)
                every[groups] = own.reduction.ufunc(every[groups], traced)
        return [own.reshape(number, slots) for own in found]


def chunks(rows: IntArray) -> Iterator[tuple[slice, slice, IntArray]]:
    """Yield small chunks of rows with their regions and the number of rows of each region.

    Parameters
    ----------
    rows: of each region, shape (regions,).
    """
    ends = np.cumsum(rows)
    number = int(ends[-1]) if len(ends) else 0
    for first in range(0, number, CHUNK):
        last = min(first + CHUNK, number)
        regions = slice(int(np.searchsorted(ends, first, side="right")), int(np.searchsorted(ends, last)) + 1)
        inside = np.minimum(ends[regions], last) - np.maximum(ends[regions] - rows[regions], first)
        yield slice(first, last), regions, inside


def summed_up(parts: Sequence[tuple[IntArray, IntArray]], regions: int, cells: int) -> Regions:
    """Return regions with one row for each owner, summed over parts of their rows.

    Parameters
    ----------
    parts: keys ``region * cells + owner``, each with records.
    """
    keys, counts = (np.concatenate(own) for own in zip(*parts, strict=True))
    if len(parts) > 1:
        keys, counts = add_up(keys, counts, regions * cells)
    return Regions(keys % cells, counts, Segments(keys // cells, regions))


def looked_up(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return ``values[places]`` in chunks; numpy would convert all places to 64 bits at once."""
    found = np.empty(len(places), dtype=values.dtype)
    for first in range(0, len(places), CHUNK):
        found[first : first + CHUNK] = values[places[first : first + CHUNK]]
    return found


def _narrowest(numbers: int) -> type[np.integer[Any]]:
    """Return the smallest type of whole numbers below a bound; 16 bits sort fastest."""
    return np.uint16 if numbers <= 1 << 16 else np.int64


def _sorted(keys: NDArray[Any], space: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the order that sorts keys, the distinct keys ascending, and the first place of each."""
    counted = np.bincount(keys, minlength=space)
    present = np.flatnonzero(counted)
    counted = counted[present]
    return np.argsort(keys, kind="stable"), present, np.cumsum(counted) - counted


Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_threads(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    """Return the results of all pieces in their order; threads run in parallel while numpy computes."""
    workers = min(processors(), len(pieces))
    if workers < 2:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(work, pieces))


BATCH = 1 << 18
"""Rows of regions that are cut together; a larger region is cut alone."""


@dataclass(frozen=True, eq=False)
class Span:
    """Open regions that are cut together.

    Attributes
    ----------
    regions: which of the open regions.
    first: number of rows of open regions before them.
    starts, rows: place of the first row of each, and their number, shape (regions,), int64.
    """

    regions: slice
    first: int
    starts: IntArray
    rows: IntArray

    def places(self) -> slice | IntArray:
        """Return where the rows are."""
        start, end, number = int(self.starts[0]), int(self.starts[-1] + self.rows[-1]), int(self.rows.sum())
        if end - start == number:
            return slice(start, end)
        before = np.cumsum(self.rows) - self.rows
        places: IntArray = np.arange(number) + np.repeat(self.starts - before, self.rows)
        return places


class Store:
    """Rows sorted by region, each some records of one combination; regions are cut in place.

    Attributes
    ----------
    owner: combination of each row, or its sensitive values only, shape (rows,).
    counts: records of each row, shape (rows,).
    columns: coded rows.
    rows: number of rows of each region, shape (regions,), int64.
    keys: carried along with the rows, each of shape (rows,).
    cells: number of owners if rows with the same one may be summed up; else 0, and owners are distinct and
        ascending within a region.
    disk: of the arrays; None in memory.
    records: of each region, shape (regions,), int64.
    open: regions that may still be cut, shape (regions,), bool.
    """

    def __init__(
        self,
        coding: Coding,
        owner: NDArray[Any],
        counts: NDArray[Any],
        columns: Columns,
        rows: IntArray,
        *,
        keys: Columns = (),
        cells: int = 0,
        disk: DiskArrays | None = None,
    ) -> None:
        self.coding = coding
        self.owner, self.counts, self.columns = owner, counts, columns
        self.rows = rows
        self.keys, self.cells = keys, cells
        self._disk = disk
        self.records: IntArray = np.add.reduceat(counts, np.cumsum(rows) - rows, dtype=np.int64)
        self.open: BoolArray = np.ones(len(rows), dtype=bool)

    def batches(self) -> list[Span]:
        """Return the open regions in batches."""
        return self._spans(np.flatnonzero(self.open))

    def every_batch(self) -> list[Span]:
        """Return all regions in batches, open or not."""
        return self._spans(np.arange(len(self.rows)))

    def _spans(self, opened: IntArray) -> list[Span]:
        starts = np.cumsum(self.rows) - self.rows
        rows = self.rows[opened]
        before = np.cumsum(rows) - rows
        firsts = np.flatnonzero(np.diff(before // BATCH, prepend=-1))
        return [
            Span(
                slice(int(first), int(last)), int(before[first]), starts[opened[first:last]], rows[first:last]
            )
            for first, last in pairwise([*firsts, len(opened)])
        ]

    def batch(self, span: Span) -> Batch:
        """Return the rows of some regions."""
        places = span.places()
        columns = tuple(own[places] for own in self.columns)
        return Batch(self.coding, self.owner[places], self.counts[places], columns, span.rows, self.cells)

    def each(self, work: Callable[[Span], Result], spans: Sequence[Span]) -> list[Result]:
        """Return the results for some regions at a time; their rows need not stay in memory."""

        def worked(span: Span) -> Result:
            found = work(span)
            if self._disk is not None:
                self._disk.forget()
            return found

        return in_threads(worked, spans)

    def regions(self, chosen: BoolArray) -> Regions:
        """Return some regions with copies of their rows; ``chosen`` has shape (regions,)."""
        rows = slice(None) if chosen.all() else np.repeat(chosen, self.rows)
        own = self.rows[chosen]
        region_of = np.repeat(np.arange(len(own)), own)
        return Regions(
            self.owner[rows].astype(np.int64),
            self.counts[rows].astype(np.int64),
            Segments(region_of, len(own)),
        )

    def everything(self) -> Regions:
        """Return all regions."""
        return self.regions(np.ones(len(self.rows), dtype=bool))

    def traces(self) -> Traces:
        """Return the traces of all regions."""
        found = self.each(lambda span: self.batch(span).traces, self.every_batch())
        none = [np.zeros(0, dtype=np.int64) for _ in self.coding.traces]
        return [np.concatenate(own) for own in zip(none, *found, strict=True)]

    def close(self, staying: BoolArray) -> None:
        """Close the open regions that do not stay open, shape (open regions,)."""
        self.open[np.flatnonzero(self.open)[~staying]] = False

    def cut(self, cut: BoolArray, target: IntArray, left: NDArray[Any]) -> None:
        """Cut open regions in two, left side first, and close the others.

        Parameters
        ----------
        cut: shape (open regions,).
        target: records of each open region that go to the left, shape (open regions,).
        left: records of each open row that go to the left, or whether all do, shape (open rows,).
        """
        if left.dtype != np.bool_:
            left = self._divided(left)

        def sort(span: Span) -> IntArray:
            own = np.repeat(cut[span.regions], span.rows)
            right = own
            right &= left[span.first : span.first + len(own)] == 0
            self._sort(span, right)
            return np.add.reduceat(right, np.cumsum(span.rows) - span.rows, dtype=np.int64)

        self._renumber(cut, target, np.concatenate(self.each(sort, self.batches())))

    def _divided(self, left: NDArray[Any]) -> NDArray[Any]:
        """Split each row with records on both sides in two, and return the left records of each row."""
        opened = np.repeat(self.open, self.rows)
        places = np.flatnonzero(opened)
        divided = (left > 0) & (left < self.counts[places])
        if not divided.any():
            return left
        times = np.ones(len(self.counts), dtype=np.int64)
        times[places[divided]] = 2
        second = np.cumsum(times)[places[divided]] - 1
        rest = self.counts[places[divided]] - left[divided]
        self.owner, self.counts = np.repeat(self.owner, times), np.repeat(self.counts, times)
        self.columns = tuple(np.repeat(own, times) for own in self.columns)
        self.counts[second - 1], self.counts[second] = left[divided], rest
        first = np.cumsum(self.rows) - self.rows
        self.rows = np.add.reduceat(times, first)
        left = np.repeat(left, times[places])
        inside = np.cumsum(times[places])[divided] - 1
        left[inside] = 0
        return left

    def _sort(self, span: Span, right: BoolArray) -> None:
        """Move the rows on the right of each region behind the others."""
        number, places = len(span.rows), span.places()
        if number == 1:
            for own in self._arrays:
                _divide(own[places], right)
            return
        kind = np.uint16 if 2 * number <= 1 << 16 else np.int64
        keys = np.repeat(np.arange(0, 2 * number, 2, dtype=kind), span.rows) + right
        order = np.argsort(keys.astype(kind, copy=False), kind="stable")
        for own in self._arrays:
            own[places] = own[places][order]

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays of rows."""
        return (self.owner, self.counts, *self.columns, *self.keys)

    def _renumber(self, cut: BoolArray, target: IntArray, right: IntArray) -> None:
        """Number regions anew after cuts; ``right`` is the number of right rows of each open region."""
        opened = np.flatnonzero(self.open)
        times = np.ones(len(self.rows), dtype=np.int64)
        times[opened[cut]] = 2
        second = np.cumsum(times)[opened[cut]] - 1
        rows = np.repeat(self.rows, times)
        rows[second - 1] -= right[cut]
        rows[second] = right[cut]
        records = np.repeat(self.records, times)
        records[second - 1] = target[cut]
        records[second] -= target[cut]
        self.rows, self.records = rows, records
        self.open = np.zeros(len(rows), dtype=bool)
        self.open[second - 1] = self.open[second] = True


def _divide(rows: NDArray[Any], right: BoolArray) -> None:
    """Move the rows on the right behind the others, in place; only those are copied."""
    put, behind = 0, []
    for first in range(0, len(rows), CHUNK):
        chunk, own = rows[first : first + CHUNK], right[first : first + CHUNK]
        behind.append(chunk[own])
        left = chunk[~own]
        rows[put : put + len(left)] = left
        put += len(left)
    for chunk in behind:
        rows[put : put + len(chunk)] = chunk
        put += len(chunk)


def stored(coding: Coding, owner: IntArray, counts: IntArray, columns: Columns, region_of: IntArray) -> Store:
    """Return rows sorted by region, stable within each.

    Parameters
    ----------
    region_of: of each row, shape (rows,), every region with a row.
    """
    rows = np.bincount(region_of)
    owner, counts = _narrow(owner), _narrow(counts)
    if len(rows) > 1:
        order = np.argsort(region_of, kind="stable")
        owner, counts, columns = owner[order], counts[order], tuple(own[order] for own in columns)
    return Store(coding, owner, counts, columns, rows)


def _narrow(numbers: IntArray) -> NDArray[Any]:
    """Return a copy of whole numbers as int32 if they fit."""
    fits = not len(numbers) or int(numbers.max()) <= np.iinfo(np.int32).max
    return numbers.astype(np.int32 if fits else np.int64)
