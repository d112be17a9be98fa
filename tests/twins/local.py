"""The best local recoding of a few records, by going through all of their subsets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import inf

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

    def optimum(self) -> float:
        """Return the least loss, infinite where nothing may be released."""
        everyone = (1 << self._rows) - 1
        best = inf
        for kept in range(1, everyone + 1):
            suppressed = self._rows - kept.bit_count()
            if suppressed <= self.problem.limit:
                best = min(best, self._partitioned[kept] + suppressed)
        return best / self._rows

    @property
    def _partitioned(self) -> list[float]:
        """Return the least cost of classes of each set of rows."""
        if not hasattr(self, "_known"):
            known = [0.0] * (1 << self._rows)
            for rows in range(1, len(known)):
                known[rows] = min(self._cost(own) + known[rows ^ own] for own in _with_first(rows))
            self._known = known
        return self._known

    def class_cost(self, members: int) -> float:
        """Return what some rows cost as a class, infinite where they must not be one."""
        rows = [row for row in range(self._rows) if members >> row & 1]
        if not self.holds(rows, list(range(self._rows))):
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
            total += spec.weight * leaf_share(self.data, position, shared[0], value)
            weights += spec.weight
        return total / weights


def _with_first(rows: int) -> Iterator[int]:
    """Return the subsets of some rows that contain the first of them."""
    first = rows & -rows
    rest = rows ^ first
    own = rest
    while True:
        yield own | first
        if not own:
            return
        own = (own - 1) & rest
