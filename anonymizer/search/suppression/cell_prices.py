"""The prices that prove most: the linear relaxation, with patterns added as they turn out to be worth it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.suppression.cell_bound import Proof, prove
from anonymizer.search.suppression.cell_patterns import Patterns
from anonymizer.search.suppression.cell_problem import CellProblem
from anonymizer.search.suppression.cell_programme import Assignment
from anonymizer.search.suppression.cell_solver import Effort

CHEAPEST = 6
"""Patterns of each row that the first relaxation has."""

ADDED = 0.5
"""A round adds at most this share of the entries that there are so far."""

MOST_ENTRIES = 120_000
"""Of a relaxation; larger ones take minutes."""


@dataclass
class Prices:
    """Looks for the prices of the highest bound, round by round.

    Attributes
    ----------
    prices: the best so far, shape (rows,), float64.
    proof: what they prove.
    settled: whether no other prices prove more, or no larger relaxation is tried.
    """

    problem: CellProblem
    patterns: Patterns
    chosen: BoolArray
    prices: FloatArray
    proof: Proof
    settled: bool = False

    @classmethod
    def of(cls, problem: CellProblem, patterns: Patterns, served: IntArray) -> Prices:
        """Start from the patterns in use, those that the rows are published as, and each row's cheapest.

        Parameters
        ----------
        served: records served by each entry in a first solution.
        """
        chosen = np.zeros(patterns.number, dtype=bool)
        chosen[patterns.pattern[patterns.own | (served > 0)]] = True
        order = np.lexsort((patterns.cost, patterns.row))
        starts = np.searchsorted(patterns.row[order], np.arange(problem.rows))
        rank = np.arange(len(order)) - starts[patterns.row[order]]
        chosen[patterns.pattern[order[rank < CHEAPEST]]] = True
        nothing = np.zeros(problem.rows)
        return cls(problem, patterns, chosen, nothing, prove(problem, patterns, nothing))

    def improve(self, effort: Effort) -> bool:
        """Solve the relaxation over the chosen patterns, and add those that its prices would open.

        Returns whether there are prices: it came to an end, and there is a solution.
        """
        entries = np.flatnonzero(self.chosen[self.patterns.pattern])
        none_open = np.zeros(self.problem.rows, dtype=bool)
        prices = Assignment(self.problem, self.patterns, entries, none_open).prices(effort)
        if prices is None:
            self.settled = True
            return False
        proof = prove(self.problem, self.patterns, prices)
        if proof.bound >= self.proof.bound:
            self.prices, self.proof = prices, proof
        self._add(proof.gains, len(entries))
        return True

    def _add(self, gains: FloatArray, entries: int) -> None:
        worth = np.flatnonzero((gains > 1e-7) & ~self.chosen)
        worth = worth[np.argsort(-gains[worth], kind="stable")]
        sizes = np.cumsum(np.diff(self.patterns.starts)[worth])
        worth = worth[sizes <= max(ADDED * entries, sizes[0] if len(sizes) else 0)]
        self.chosen[worth] = True
        grown = entries + int(np.diff(self.patterns.starts)[worth].sum())
        self.settled = not len(worth) or grown > MOST_ENTRIES
