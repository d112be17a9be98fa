"""A quick first choice of cells: classes of the lowest cost for each record that they rescue."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.search.suppression.cell_patterns import Patterns
from anonymizer.search.suppression.cell_problem import CellProblem


class CheapestClasses:
    """Opens one pattern after another, where size is all that counts.

    A pattern serves all records that match it and are in no class yet, and where these are too few it borrows
    from rows that are classes by themselves and can spare some. The next one is that of the lowest cost for
    each record rescued.
    """

    def __init__(self, problem: CellProblem, patterns: Patterns) -> None:
        self._patterns = patterns
        self._smallest = problem.smallest
        failing = problem.counts < problem.smallest
        failing |= ~problem.safe
        self._left = np.where(failing, problem.counts, 0)
        self._spare = np.where(failing, 0, problem.counts - problem.smallest)
        self._costs = patterns.cost
        number = patterns.number
        self._needy = np.bincount(patterns.pattern, self._left[patterns.row], number).astype(np.int64)
        self._lenders = np.bincount(patterns.pattern, self._spare[patterns.row], number).astype(np.int64)
        mean = np.bincount(patterns.pattern, patterns.cost, number)
        self._mean = mean / np.maximum(np.diff(patterns.starts), 1)
        self._scores = self._score(np.arange(number))
        self._served = np.zeros(len(patterns.row), dtype=np.int64)

    def run(self) -> IntArray:
        """Return the records served by each entry, shape (entries,); what found no class is not served."""
        while self._left.any() and self._patterns.number:
            best = int(self._scores.argmin())
            if not np.isfinite(self._scores[best]):
                break
            self._open(best)
        return self._served

    def _score(self, chosen: IntArray) -> FloatArray:
        """Return the cost of opening patterns for each record rescued; infinite where too few match."""
        needy = self._needy[chosen]
        possible = (needy > 0) & (needy + self._lenders[chosen] >= self._smallest)
        possible &= ~self._patterns.gone[chosen]
        size = np.maximum(needy, self._smallest)
        scores = self._mean[chosen] * size / np.maximum(needy, 1) - 1e-6 * needy
        return np.where(possible, scores, np.inf)

    def _open(self, pattern: int) -> None:
        span = slice(self._patterns.starts[pattern], self._patterns.starts[pattern + 1])
        rows = self._patterns.row[span]
        taken = self._left[rows].copy()
        short = max(self._smallest - int(taken.sum()), 0)
        spare = self._spare[rows]
        order = np.lexsort((-spare, self._costs[span]))
        before = np.cumsum(spare[order]) - spare[order]
        lent = np.zeros_like(spare)
        lent[order] = np.clip(short - before, 0, spare[order])
        self._served[span] += taken + lent
        self._left[rows] -= taken
        self._spare[rows] -= lent
        self._update(rows, taken, lent)

    def _update(self, rows: IntArray, taken: IntArray, lent: IntArray) -> None:
        """Count anew what the patterns of these rows could serve."""
        patterns, starts = self._patterns.of_row
        for at in np.flatnonzero(taken + lent).tolist():
            row = rows[at]
            own = patterns[starts[row] : starts[row + 1]]
            self._needy[own] -= taken[at]
            self._lenders[own] -= lent[at]
            self._scores[own] = self._score(own)
