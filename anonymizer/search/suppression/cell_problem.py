"""Which cells to blank so that every class as published satisfies what is asked: problem and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd, isfinite, lcm

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import group_keys

BLANK = -1
"""Code of a cell that is published as ``*`` already."""

ClassJudge = Callable[[IntArray, IntArray, IntArray, int], BoolArray]
"""Tells which classes satisfy every model, shape (classes,): given the class, the row and the number of
records of each piece, each of shape (pieces,), and the number of classes, none of which is empty."""

LARGEST_DENOMINATOR = 10**6


@dataclass(frozen=True, eq=False)
class ValueRule:
    """What the values of one sensitive attribute must satisfy in a class, as far as it is linear.

    Attributes
    ----------
    values: value code of each row, shape (rows,), int64.
    distinct: fewest distinct values; a value below 0 does not count.
    caps: largest share of each value, shape (values,), float64; None without.
    """

    values: IntArray
    distinct: int = 0
    caps: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class CellProblem:
    """The rows as published before cells are blanked, what a blank costs, and what a class must satisfy.

    Attributes
    ----------
    codes: published code of each cell, ``BLANK`` for one that is ``*`` already, shape (rows, attributes),
        int64. Rows that agree in everything that the judge looks at should be one.
    counts: records of each row, shape (rows,), int64, positive.
    costs: of blanking a cell of one record, shape (rows, attributes), float64, at least 0.
    gone_costs: of suppressing one record, shape (rows,), float64, at least those of blanking all its cells.
    smallest: no class with fewer records satisfies the models.
    judge: the models.
    most_gone: most records that may be suppressed. A record of which nothing but ``*`` would be left, at
        least one of them by a blank, is one of these: its class need not satisfy the models.
    rules: linear conditions, none stricter than the judge.
    complete: whether ``smallest`` and ``rules`` say all that the judge asks.
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
        """Cells that are blank before any is blanked, shape (rows, attributes)."""
        native: BoolArray = self.codes == BLANK
        return native

    @cached_property
    def safe(self) -> BoolArray:
        """Rows that are enough records for a class of their own, which no other can join, shape (rows,)."""
        mixed = self.native.any(axis=0) & ~self.native.all(axis=0)
        safe: BoolArray = (self.counts >= self.smallest) & ~self.native[:, mixed].any(axis=1)
        return safe

    @property
    def by_size_alone(self) -> bool:
        """Whether a class satisfies the models as soon as it is large enough."""
        return self.complete and not self.rules

    @cached_property
    def own_class(self) -> tuple[IntArray, int]:
        """Class of each row as published before blanking, shape (rows,), int64, and the number of classes."""
        return self.published(np.arange(self.rows), np.zeros((self.rows, self.attributes), dtype=bool))

    def published(self, rows: IntArray, blanks: BoolArray) -> tuple[IntArray, int]:
        """Number the classes of pieces of rows by what is published of them, a blank being a value.

        Parameters
        ----------
        rows: row of each piece, shape (pieces,).
        blanks: blanked cells, shape (pieces, attributes), bool.
        """
        codes = np.where(blanks, BLANK, self.codes[rows]) + 1
        keys, number = np.zeros(len(rows), dtype=np.int64), 1
        for column in codes.T:
            size = int(column.max(initial=0)) + 1
            keys, distinct = group_keys(keys * size + column, number * size)
            number = len(distinct)
        return keys, number

    @cached_property
    def grain(self) -> float:
        """A number of which every possible cost is a multiple; 0 where none was found."""
        fractions = []
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
        """Return the lowest possible cost at or above a bound, but for a rounding error of the bound."""
        if not self.grain or not isfinite(bound):
            return bound
        return ceil(bound / self.grain - 1e-6) * self.grain


@dataclass(frozen=True, eq=False)
class CellSuppression:
    """A choice of cells to blank: rows in pieces, each blanked in its own way.

    Attributes
    ----------
    row: of each piece, shape (pieces,), int64, ascending.
    count: records of each piece, shape (pieces,), int64; those of a row add up to its count.
    blanks: cells that are blanked, shape (pieces, attributes), bool; none that was blank before.
    gone: pieces that are suppressed, shape (pieces,), bool.
    """

    row: IntArray
    count: IntArray
    blanks: BoolArray
    gone: BoolArray

    def cost(self, problem: CellProblem) -> float:
        """Return the sum of the costs of all blanked cells of all records."""
        per_record = np.where(self.blanks, problem.costs[self.row], 0.0).sum(axis=1)
        return float(np.where(self.gone, problem.gone_costs[self.row], per_record) @ self.count)

    def cells(self) -> int:
        """Return the number of blanked cells of all records that are not suppressed."""
        return int(self.blanks[~self.gone].sum(axis=1) @ self.count[~self.gone])

    def emptied(self, problem: CellProblem) -> BoolArray:
        """Tell which pieces have nothing but ``*`` left, at least one of them by a blank, shape (pieces,)."""
        left = ~(self.blanks | problem.native[self.row])
        blanked: BoolArray = np.logical_or.reduce(self.blanks, axis=1)
        blanked &= ~np.logical_or.reduce(left, axis=1)
        return blanked

    def holds(self, problem: CellProblem) -> bool:
        """Tell whether every class as published satisfies the models, and few enough records are gone."""
        if int(self.count[self.gone].sum()) > problem.most_gone or self.gone.all():
            return False
        kept = ~self.gone
        if self.emptied(problem)[kept].any():
            return False
        classes, number = problem.published(self.row[kept], self.blanks[kept])
        return bool(problem.judge(classes, self.row[kept], self.count[kept], number).all())


@dataclass(frozen=True, eq=False)
class CellSolution:
    """What was found and what is proven.

    Attributes
    ----------
    blanking: the best found, None without one.
    cost: of it, infinite without one.
    bound: no valid choice of cells costs less; infinite where there is none.
    steps: rounds of the exact phase.
    interrupted: whether the user ended it.
    """

    blanking: CellSuppression | None
    cost: float
    bound: float
    steps: int = field(default=0)
    interrupted: bool = field(default=False)

    @property
    def optimal(self) -> bool:
        """Whether nothing can be cheaper than what was found."""
        return self.blanking is not None and self.cost - self.bound <= 1e-9 * max(1.0, self.cost)

    @property
    def infeasible(self) -> bool:
        """Whether there is proven to be no valid choice of cells."""
        return self.blanking is None and bool(np.isposinf(self.bound))
