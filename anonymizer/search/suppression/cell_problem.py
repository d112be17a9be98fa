"""The local suppression problem: which cells to suppress so that every published class is valid.

A pattern is a set of suppressed attributes and the values of the others; it may serve every row that
matches it. Only closed patterns are listed: if all matching rows agree in a suppressed attribute,
publishing it serves the same rows at no higher cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, gcd, isfinite, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, group_keys, numbered

BLANK = -1
"""Code of a cell published as ``*`` before any suppression."""

ClassJudge = Callable[[IntArray, IntArray, IntArray, int], BoolArray]
"""Returns which classes satisfy every model, shape (classes,), from the class, the row and the number of
records of each piece, each of shape (pieces,), and the number of classes, none empty."""

LARGEST_DENOMINATOR = 10**6


@dataclass(frozen=True, eq=False)
class ValueRule:
    """The linear conditions on the values of one sensitive attribute in a class.

    Attributes
    ----------
    values: value code of each row, shape (rows,), int64.
    distinct: fewest distinct values; values below 0 do not count.
    caps: largest share of each value, shape (values,), float64; None without.
    """

    values: IntArray
    distinct: int = 0
    caps: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class CellProblem:
    """The rows before local suppression, the costs of suppressed cells, and the conditions of classes.

    Attributes
    ----------
    codes: published code of each cell, ``BLANK`` for ``*``, shape (rows, attributes), int64. Rows that the
        judge cannot distinguish should be one.
    counts: records of each row, shape (rows,), int64, positive.
    costs: of suppressing a cell of one record, shape (rows, attributes), float64, at least 0.
    gone_costs: of suppressing one record, shape (rows,), float64, at least the sum over its cells.
    smallest: smallest size of a class that satisfies the models.
    judge: the models.
    most_gone: most records that may be suppressed. A record with only ``*``, at least one of them a
        suppressed cell, counts as suppressed: its class need not satisfy the models.
    rules: linear conditions, none stricter than the judge.
    complete: whether ``smallest`` and ``rules`` are equivalent to the judge.
    weighed: whether costs are multiples of sampling weights, and have no common divisor.
    """

    codes: IntArray
    counts: IntArray
    costs: FloatArray
    gone_costs: FloatArray
    smallest: int
    judge: ClassJudge
    most_gone: int = 0
    rules: tuple[ValueRule, ...] = ()
    complete: bool = True
    weighed: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.counts)

    @property
    def attributes(self) -> int:
        """Number of quasi-identifiers."""
        return int(self.codes.shape[1])

    @cached_property
    def native(self) -> BoolArray:
        """Cells with ``*`` before any suppression, shape (rows, attributes)."""
        native: BoolArray = self.codes == BLANK
        return native

    @cached_property
    def safe(self) -> BoolArray:
        """Rows with enough records for a class of their own that no other row can join, shape (rows,)."""
        mixed = self.native.any(axis=0) & ~self.native.all(axis=0)
        # Rows that differ in weights or units alone are one class if they stay unchanged.
        published = numbered((self.codes + 1).T, self.rows)[0]
        alone = np.bincount(published)[published] == 1
        safe: BoolArray = alone & (self.counts >= self.smallest) & ~self.native[:, mixed].any(axis=1)
        return safe

    @property
    def by_size_alone(self) -> bool:
        """Whether every class that is large enough satisfies the models."""
        return self.complete and not self.rules

    def published(self, rows: IntArray, blanks: BoolArray) -> tuple[IntArray, int]:
        """Number the classes of pieces of rows as published; ``*`` is a value of its own.

        Parameters
        ----------
        rows: row of each piece, shape (pieces,).
        blanks: suppressed cells, shape (pieces, attributes), bool.
        """
        keys, first = numbered((np.where(blanks, BLANK, self.codes[rows]) + 1).T, len(rows))
        return keys, len(first)

    @cached_property
    def grain(self) -> float:
        """A common divisor of all possible costs; 0 if none was found."""
        fractions = []
        if self.weighed:
            return 0.0
        for cost in np.unique(np.append(self.costs, self.gone_costs)).tolist():
            fraction = Fraction(cost).limit_denominator(LARGEST_DENOMINATOR)
            if abs(float(fraction) - cost) > 1e-12 * max(1.0, cost):
                return 0.0
            fractions.append(fraction)
        common = lcm(*(each.denominator for each in fractions))
        if common > LARGEST_DENOMINATOR or not any(fractions):
            return 0.0
        return gcd(*(int(each * common) for each in fractions)) / common

    def raised(self, bound: float) -> float:
        """Return the lowest possible cost at or above a bound, up to its rounding error."""
        if not self.grain or not isfinite(bound):
            return bound
        return ceil(bound / self.grain - 1e-6) * self.grain


@dataclass(frozen=True, eq=False)
class CellSuppression:
    """A choice of suppressed cells: rows in pieces with different suppressed cells.

    Attributes
    ----------
    row: of each piece, shape (pieces,), int64, ascending.
    count: records of each piece, shape (pieces,), int64; those of a row add up to its count.
    blanks: suppressed cells, shape (pieces, attributes), bool; none of the native ``*``.
    gone: pieces that are suppressed, shape (pieces,), bool.
    """

    row: IntArray
    count: IntArray
    blanks: BoolArray
    gone: BoolArray

    @classmethod
    def joined(
        cls, kept: CellSuppression, rows: IntArray, counts: IntArray, native: BoolArray
    ) -> CellSuppression:
        """Return pieces in any order with suppressed ones, sorted by row.

        Parameters
        ----------
        rows, counts: row and records of each suppressed piece, shape (suppressed,).
        native: cells with ``*`` before any suppression, shape (rows of the problem, attributes).
        """
        every = np.concatenate([kept.row, rows])
        order = np.argsort(every, kind="stable")
        return cls(
            every[order],
            np.concatenate([kept.count, counts])[order],
            np.concatenate([kept.blanks, ~native[rows]])[order],
            np.concatenate([kept.gone, np.ones(len(rows), dtype=bool)])[order],
        )

    def cost(self, problem: CellProblem) -> float:
        """Return the cost of all suppressed cells and records."""
        per_record = np.where(self.blanks, problem.costs[self.row], 0.0).sum(axis=1)
        return float(np.where(self.gone, problem.gone_costs[self.row], per_record) @ self.count)

    def cells(self) -> int:
        """Return the number of suppressed cells in the other records."""
        return int(self.blanks[~self.gone].sum(axis=1) @ self.count[~self.gone])

    def emptied(self, problem: CellProblem) -> BoolArray:
        """Return which pieces have only ``*``, at least one of them a suppressed cell, shape (pieces,)."""
        left = ~(self.blanks | problem.native[self.row])
        blanked: BoolArray = np.logical_or.reduce(self.blanks, axis=1)
        blanked &= ~np.logical_or.reduce(left, axis=1)
        return blanked

    def holds(self, problem: CellProblem) -> bool:
        """Return whether every class as published satisfies the models within the suppression limit."""
        if int(self.count[self.gone].sum()) > problem.most_gone or self.gone.all():
            return False
        kept = ~self.gone
        if self.emptied(problem)[kept].any():
            return False
        classes, number = problem.published(self.row[kept], self.blanks[kept])
        return bool(problem.judge(classes, self.row[kept], self.count[kept], number).all())


@dataclass(frozen=True, eq=False)
class CellSolution:
    """The best choice of cells with its bound.

    Attributes
    ----------
    blanking: the best found, None without one.
    cost: of it, infinite without one.
    bound: lower bound on the cost of valid choices; infinite if there is none.
    steps: rounds of the exact phase.
    interrupted: whether the user ended the search.
    """

    blanking: CellSuppression | None
    cost: float
    bound: float
    steps: int = field(default=0)
    interrupted: bool = field(default=False)

    @property
    def optimal(self) -> bool:
        """Whether the best found is proven optimal."""
        return self.blanking is not None and self.cost - self.bound <= 1e-9 * max(1.0, self.cost)

    @property
    def infeasible(self) -> bool:
        """Whether it is proven that no choice of cells is valid."""
        return self.blanking is None and bool(np.isposinf(self.bound))


_Groupings = Iterator[tuple[BoolArray, IntArray, int]]

MOST_CELLS = 8_000_000
"""Most rows times listed masks; beyond it, only masks of few attributes and of all but one."""

MOST_MASKS = 1 << 13
"""Most listed masks, so that few rows of very many attributes take no minutes."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns that may become classes, with their matching rows as entries, pattern by pattern.

    Attributes
    ----------
    blanks: attributes published as ``*``, shape (patterns, attributes), bool.
    pattern: of each entry, shape (entries,), int64, ascending.
    row: of each entry, shape (entries,), int64.
    cost: of serving one record of the row by the pattern, shape (entries,), float64.
    own: whether the pattern is the row without suppressed cells, shape (entries,), bool.
    least, most: records that an open pattern serves, shape (patterns,), int64.
    gone: whether the pattern means suppression of records: it has no conditions but the limit, and is not a
        class, shape (patterns,), bool.
    outside: least cost of a record of each row served by an unlisted pattern, shape (rows,), float64;
        infinite if all are listed.
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
        return np.searchsorted(self.pattern, np.arange(self.number + 1))

    @cached_property
    def of_row(self) -> tuple[IntArray, IntArray]:
        """Patterns by matching row, and the first of each row, shape (rows + 1,)."""
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
    gone: whether its only pattern means suppression of records.
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
            # Any other record would be suppressed.
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
    """Return the most attributes of a listed mask, apart from masks of all and of all but one."""
    attributes, masks = problem.attributes, 0
    for depth in range(attributes + 1):
        masks += comb(attributes, depth)
        if masks * problem.rows > MOST_CELLS or masks > MOST_MASKS:
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
    """Return whether a listed mask can start with these attributes."""
    blanked = sum(mask)
    return blanked <= depth or blanked + attributes - len(mask) >= attributes - 1


def _good_groups(problem: CellProblem, mask: BoolArray, groups: IntArray, number: int) -> BoolArray:
    """Return which groups are closed patterns with enough matching records, shape (groups,)."""
    good: BoolArray = count(groups, problem.counts, number) >= problem.smallest
    for rule in problem.rules:
        good &= _distinct(rule.values, groups, number) >= rule.distinct
    for position in range(problem.attributes):
        codes = problem.codes[:, position]
        if not mask[position]:
            # Rows with ``*`` here are listed with the attribute in the mask.
            good[groups[codes == BLANK]] = False
            continue
        low, high = np.full(number, np.iinfo(np.int64).max), np.full(number, BLANK)
        np.minimum.at(low, groups, codes)
        np.maximum.at(high, groups, codes)
        good &= (low < high) | (low == BLANK)
    return good


def _distinct(values: IntArray, groups: IntArray, number: int) -> IntArray:
    """Return the number of distinct values from 0 of each group, shape (groups,)."""
    known = values >= 0
    size = int(values.max(initial=0)) + 1
    _, cells = group_keys(groups[known] * size + values[known], number * size)
    return np.bincount(cells // size, minlength=number)
