"""Rows as few whole numbers from which parts are read and groups are summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import GroupStatistic, Reduction, Traces
from anonymizer.model.out_of_core import CodedRows
from anonymizer.search.regions.axis import Axis, Frames, ListedAxis

WORD_BITS = 62
"""Bits of a word: it stays a positive 64-bit integer, in an SQL engine too."""

Columns = tuple[NDArray[Any], ...]
"""Coded rows: one array of whole numbers for each column of the coding, shape (rows,)."""


@dataclass(frozen=True)
class Field:
    """Where a number of an axis stands.

    Attributes
    ----------
    column: of the coded rows.
    shift, bits: the number is ``(column >> shift) & (2**bits - 1)``.
    """

    column: int
    shift: int
    bits: int


class Coding:
    """How the values of a combination are written as a few columns of whole numbers.

    The bits of several axes share a word, so that one ``bit_or`` and one ``bit_and`` of a group of rows say
    what they have in common in all of these axes.

    Attributes
    ----------
    axes: one for each quasi-identifier.
    fields: for each axis, where each of its numbers stands.
    traces: what is remembered of a group of rows.
    """

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)
        self._bits: list[int] = []
        self._shared: list[bool] = []
        self.fields = [[self._place(own.bits, own.bitwise) for own in axis.numbers] for axis in axes]
        wanted = {
            GroupStatistic(field.column, reduction): None
            for axis, fields in zip(axes, self.fields, strict=True)
            for own, field in zip(axis.numbers, fields, strict=True)
            for reduction in own.reductions
        }
        self.traces = tuple(wanted)

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
        """Whether all traces are of bits."""
        return all(own.bitwise for axis in self.axes for own in axis.numbers)

    @property
    def traced_whole(self) -> bool:
        """Whether traces tell all costs, so that no values have to be listed."""
        return not any(isinstance(axis, ListedAxis) and axis.share for axis in self.axes)

    @property
    def columns(self) -> int:
        """How many columns a coded row has."""
        return len(self._bits)

    def encode(self, codes: CodeArray) -> Columns:
        """Return the coded rows.

        Parameters
        ----------
        codes: of the values, shape (rows, at least one for each quasi-identifier), as in a Table.
        """
        columns = [np.zeros(len(codes), dtype=_dtype(bits)) for bits in self._bits]
        for position, (axis, fields) in enumerate(zip(self.axes, self.fields, strict=True)):
            for own, field in zip(axis.numbers, fields, strict=True):
                kind = columns[field.column].dtype
                of_code = (own.of_code << field.shift).astype(kind)
                columns[field.column] |= of_code[codes[:, position]]
        return tuple(columns)

    @property
    def rows(self) -> CodedRows:
        """What an engine has to know to sum up combinations that it keeps."""
        words: list[dict[int, IntArray]] = [{} for _ in self._bits]
        for position, (axis, fields) in enumerate(zip(self.axes, self.fields, strict=True)):
            for own, field in zip(axis.numbers, fields, strict=True):
                adds = own.of_code.astype(np.int64) << field.shift
                words[field.column][position] = words[field.column].get(position, 0) + adds
        return CodedRows(tuple(words), self.traces)

    def numbers(self, traces: Traces, position: int) -> Traces:
        """Return what the traces of groups say of one axis: its numbers' reductions, in their order."""
        found = dict(zip(self.traces, traces, strict=True))
        return [
            _field(found[GroupStatistic(field.column, reduction)], field, reduction)
            for own, field in zip(self.axes[position].numbers, self.fields[position], strict=True)
            for reduction in own.reductions
        ]

    def frames(self, traces: Traces, position: int) -> Frames:
        """Return how groups fall into parts along an axis, by the column that its first number stands in."""
        frames = self.axes[position].frames(self.numbers(traces, position))
        return replace(frames, shift=frames.shift + self.fields[position][0].shift)

    def costs(self, traces: Traces) -> FloatArray:
        """Return what a record of each group costs as published, shape (groups,), in [0, 1]."""
        costs = np.zeros(len(traces[0]))
        for position, axis in enumerate(self.axes):
            if axis.share:
                costs += axis.share * axis.costs(self.numbers(traces, position))
        return costs

    def traced(self, columns: Columns, starts: IntArray) -> Traces:
        """Return the traces of consecutive groups of rows, none of them empty, by their first rows."""
        return [
            own.reduction.ufunc.reduceat(columns[own.column], starts).astype(np.int64, copy=False)
            for own in self.traces
        ]


def _field(traced: IntArray, field: Field, reduction: Reduction) -> IntArray:
    if reduction in (Reduction.MIN, Reduction.MAX):
        return traced
    return (traced >> field.shift) & ((1 << field.bits) - 1)


def _dtype(bits: int) -> type[np.integer[Any]]:
    return next((kind for kind in (np.uint8, np.uint16) if bits <= np.iinfo(kind).bits), np.int64)
