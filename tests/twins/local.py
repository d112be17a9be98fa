"""The best local recoding of a few records, by going through all of their subsets."""

from __future__ import annotations

from functools import cache, partial
from math import inf

import numpy as np

from tests.twins.loss import leaf_share
from tests.twins.search import BruteForce, ProblemSpec, Rows


class TwinLocal(BruteForce):
    """Finds the least ``loss`` of all ways to suppress records and put the rest into classes that hold.

    Two classes that are published alike are one to whoever reads the release: the answer is right for models
    that merging cannot break. A set of records is a number whose bits say which rows are in it.
    """

    def __init__(self, problem: ProblemSpec) -> None:
        super().__init__(problem)
        self._rows = len(problem.data.records)
        self._cost = cache(self.class_cost)
        self._leaf_share = cache(partial(leaf_share, problem.data))

    def optimum(self) -> float:
        """Return the least loss, infinite where nothing may be released."""
        everyone, known = (1 << self._rows) - 1, self._partitioned
        best = inf
        for kept in range(1, everyone + 1):
            suppressed = [row for row in range(self._rows) if not kept >> row & 1]
            if not self.exceeds_limit(suppressed):
                best = min(best, known[kept] + len(suppressed))
        return best / self._rows

    @property
    def _partitioned(self) -> list[float]:
        """Return the least cost of classes of each set of rows."""
        if not hasattr(self, "_known"):
            known = np.zeros(1 << self._rows)
            for first in reversed(range(self._rows)):
                # All sets of rows whose first row this is: its class, and the classes of the others.
                bit, later = 1 << first, (1 << self._rows) - (2 << first)
                known[bit | subsets(later)] = inf
                for more in subsets(later).tolist():
                    cost = self._cost(bit | more)
                    if cost < inf:
                        others = subsets(later ^ more)
                        place = bit | more | others
                        known[place] = np.minimum(known[place], cost + known[others])
            self._known = known.tolist()
        return self._known

    def class_cost(self, members: int) -> float:
        """Return what some rows cost as a class, infinite where they must not be one."""
        rows = [row for row in range(self._rows) if members >> row & 1]
        if not self.holds(rows, self._everyone):
            return inf
        return len(rows) * self.node_cost(rows)

    def node_cost(self, rows: Rows) -> float:
        """Return the loss of each record at the lowest nodes that rows share, infinite without any."""
        total = weights = 0.0
        for position, spec in enumerate(self.data.quasi_identifiers):
            paths = [spec.paths[value] for value in self.data.column(position, rows)]
            shared = [
                level
                for level in range(spec.minimum, spec.maximum + 1)
                if len({path[level] for path in paths}) == 1
            ]
            if not shared:
                return inf
            value = self.data.records[rows[0]][position]
            total += spec.weight * self._leaf_share(position, shared[0], value)
            weights += spec.weight
        return total / weights


@cache
def subsets(rows: int) -> np.ndarray:
    """Return all subsets of some rows."""
    found = np.zeros(1, dtype=np.int64)
    for bit in (1 << row for row in range(rows.bit_length()) if rows >> row & 1):
        found = np.concatenate([found, found | bit])
    return found
