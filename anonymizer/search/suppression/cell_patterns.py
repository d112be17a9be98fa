"""Masked patterns: what the records of one class may be published as when cells are blanked.

A pattern is a set of blanked attributes and the values of the others; it may serve every row that matches it.
Only closed patterns are listed: where all rows that match agree in a blanked attribute, not blanking it
serves the same rows at no higher cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import count, group_keys
from anonymizer.search.suppression.cell_problem import BLANK, CellProblem

_Groupings = Iterator[tuple[BoolArray, IntArray, int]]

MOST_CELLS = 8_000_000
"""Rows times masks that are listed; beyond it, only masks of few attributes and of all but one."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns that may serve as classes, with the rows that match each: entries, pattern by pattern.

    Attributes
    ----------
    blanks: attributes published as ``*``, shape (patterns, attributes), bool.
    pattern: of each entry, shape (entries,), int64, ascending.
    row: of each entry, shape (entries,), int64.
    cost: of serving one record of the row by the pattern, shape (entries,), float64.
    own: whether the pattern is what the row is published as before blanking, shape (entries,), bool.
    least, most: records that a pattern serves when it is opened, shape (patterns,), int64.
    gone: whether the pattern stands for suppression: it asks nothing, serves few, and is no class, shape
        (patterns,), bool.
    outside: a record of each row served by a pattern that is not listed costs at least this, shape (rows,),
        float64; infinite where all are listed.
    """

    blanks: BoolArray
    pattern: IntArray
    row: IntArray
    cost: FloatArray
    own: BoolArray
    least: IntArray
    most: IntArray
    gone: BoolArray
    outside: FloatArray

    @property
    def number(self) -> int:
        """Number of patterns."""
        return len(self.blanks)

    @cached_property
    def starts(self) -> IntArray:
        """Entries of pattern p are ``starts[p]:starts[p + 1]``, shape (patterns + 1,), int64."""
        starts: IntArray = np.searchsorted(self.pattern, np.arange(self.number + 1))
        return starts

    @cached_property
    def of_row(self) -> tuple[IntArray, IntArray]:
        """Patterns ordered by the row they match, and where each row's begin, shape (rows + 1,)."""
        order = np.argsort(self.row, kind="stable")
        return self.pattern[order], np.searchsorted(self.row[order], np.arange(len(self.outside) + 1))


@dataclass(frozen=True, eq=False)
class _Listed:
    """The patterns of one mask, numbered from 0, with their entries.

    Attributes
    ----------
    mask: blanked attributes, shape (attributes,), bool.
    pattern, row, cost: of each entry, shape (entries,).
    number: number of patterns.
    gone: whether the one pattern is suppression.
    """

    mask: BoolArray
    pattern: IntArray
    row: IntArray
    cost: FloatArray
    number: int
    gone: bool = False


def closed_patterns(problem: CellProblem) -> Patterns:
    """List the closed patterns that at least ``problem.smallest`` records match, and suppression."""
    depth = _depth(problem)
    listed = list(_listed(problem, depth))
    sizes = [each.number for each in listed]
    offsets = np.cumsum([0, *sizes])[:-1]
    pattern = _joined([each.pattern + offset for each, offset in zip(listed, offsets, strict=True)], np.int64)
    row, cost = (
        _joined([each.row for each in listed], np.int64),
        _joined([each.cost for each in listed], float),
    )
    order = np.argsort(pattern, kind="stable")
    pattern, row, cost = pattern[order], row[order], cost[order]
    masks = np.array([each.mask for each in listed], dtype=bool).reshape(-1, problem.attributes)
    masks = np.repeat(masks, sizes, axis=0)
    gone = np.repeat(np.array([each.gone for each in listed], dtype=bool), sizes)
    own = (masks[pattern] == problem.native[row]).all(axis=1) & ~gone[pattern]
    least = np.where(gone, 0, problem.smallest)
    most = np.where(gone, problem.most_gone, int(problem.counts.sum()))
    return Patterns(masks, pattern, row, cost, own, least, most, gone, _outside(problem, depth))


def _joined(arrays: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *arrays])


def _listed(problem: CellProblem, depth: int) -> Iterator[_Listed]:
    costs = np.where(problem.native, 0.0, problem.costs)
    for mask, groups, size in _groupings(problem, depth):
        if mask.all():
            # Any record that was not blank before would be suppressed.
            inside, good = np.flatnonzero(problem.native.all(axis=1)), np.ones(1, dtype=bool)
        else:
            good = _good_groups(problem, mask, groups, size)
            inside = np.flatnonzero(good[groups])
        if problem.counts[inside].sum() >= problem.smallest and len(inside):
            numbers = (np.cumsum(good) - 1)[groups[inside]]
            yield _Listed(mask, numbers, inside, costs[inside] @ mask, int(good.sum()))
    if problem.most_gone:
        every = np.arange(problem.rows)
        blank = np.ones(problem.attributes, dtype=bool)
        yield _Listed(blank, np.zeros_like(every), every, problem.gone_costs, 1, gone=True)


def _depth(problem: CellProblem) -> int:
    """Return the most attributes that a listed mask has, those of all but one and of all aside."""
    attributes, masks = problem.attributes, 0
    for depth in range(attributes + 1):
        masks += comb(attributes, depth)
        if masks * problem.rows > MOST_CELLS:
            return max(depth - 1, 1)
    return attributes


def _outside(problem: CellProblem, depth: int) -> FloatArray:
    if depth >= problem.attributes - 2:
        return np.full(problem.rows, np.inf)
    costs = np.sort(np.where(problem.native, 0.0, problem.costs), axis=1)
    cheapest: FloatArray = costs[:, : depth + 1].sum(axis=1)
    return cheapest


def _groupings(problem: CellProblem, depth: int) -> _Groupings:
    """Yield each listed mask with the group of each row under it and the number of groups."""
    attributes, codes = problem.attributes, problem.codes + 1
    sizes = [int(column.max(initial=0)) + 1 for column in codes.T]
    always: BoolArray = np.logical_and.reduce(problem.native, axis=0)

    def visit(mask: tuple[bool, ...], groups: IntArray, number: int) -> _Groupings:
        position = len(mask)
        if position == attributes:
            yield np.array(mask), groups, number
            return
        if not always[position] and _leads_on((*mask, False), attributes, depth):
            keys = groups * sizes[position] + codes[:, position]
            finer, distinct = group_keys(keys, number * sizes[position])
            yield from visit((*mask, False), finer, len(distinct))
        if always[position] or _leads_on((*mask, True), attributes, depth):
            yield from visit((*mask, True), groups, number)

    yield from visit((), np.zeros(problem.rows, dtype=np.int64), 1)


def _leads_on(mask: tuple[bool, ...], attributes: int, depth: int) -> bool:
    """Tell whether the first attributes of a mask can be those of one that is listed."""
    blanked = sum(mask)
    return blanked <= depth or blanked + attributes - len(mask) >= attributes - 1


def _good_groups(problem: CellProblem, mask: BoolArray, groups: IntArray, number: int) -> BoolArray:
    """Tell which groups are closed patterns that enough records match, shape (groups,)."""
    good: BoolArray = count(groups, problem.counts, number) >= problem.smallest
    for rule in problem.rules:
        good &= _distinct(rule.values, groups, number) >= rule.distinct
    for position in range(problem.attributes):
        codes = problem.codes[:, position]
        if not mask[position]:
            # What has a blank here is listed with the attribute in the mask.
            good[groups[codes == BLANK]] = False
            continue
        low, high = np.full(number, np.iinfo(np.int64).max), np.full(number, BLANK)
        np.minimum.at(low, groups, codes)
        np.maximum.at(high, groups, codes)
        good &= (low < high) | (low == BLANK)
    return good


def _distinct(values: IntArray, groups: IntArray, number: int) -> IntArray:
    """Return how many values that count each group has, shape (groups,)."""
    known = values >= 0
    size = int(values.max(initial=0)) + 1
    _, cells = group_keys(groups[known] * size + values[known], number * size)
    return np.bincount(cells // size, minlength=number)
