"""Every local recoding of a few records under k-anonymity, by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product

from tests.twins.loss import Cell, certainty_penalty, generalization, leaf_share
from tests.twins.microdata import Microdata, Value

CELLS: dict[str, Cell] = {"loss": leaf_share, "ncp": certainty_penalty, "precision": generalization}

Combination = tuple[Value, ...]


class LocalOptimum:
    """The least loss of any local recoding: classes of k records or more, some records suppressed.

    Records with equal quasi-identifiers may go to different classes.
    """

    def __init__(self, data: Microdata, k: int, limit: int, metric: str) -> None:
        self._data, self._k, self._limit, self._cell = data, k, limit, CELLS[metric]
        width = len(data.quasi_identifiers)
        counted = Counter(record[:width] for record in data.records)
        self.combinations: list[Combination] = list(counted)
        self.counts = tuple(counted[own] for own in self.combinations)
        self._total = sum(spec.weight for spec in data.quasi_identifiers)
        self._class_cost = cache(self._cheapest_publication)
        self._least = cache(self._least_total)

    def value(self) -> float:
        """Return the least loss; infinite where no local recoding is allowed."""
        return self._least(self.counts, self._limit) / sum(self.counts)

    def publications(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield for every vector of nodes the combinations that it covers and what it costs a record."""
        seen = set()
        levels = [range(own.minimum, own.maximum + 1) for own in self._data.quasi_identifiers]
        for vector in product(*levels):
            for own in self.combinations:
                labels = self._labels(own, vector)
                if (vector, labels) not in seen:
                    seen.add((vector, labels))
                    alike = [self._labels(other, vector) == labels for other in self.combinations]
                    covered = tuple(i for i, same in enumerate(alike) if same)
                    yield covered, self._cost(own, vector)

    def _labels(self, combination: Combination, vector: tuple[int, ...]) -> tuple[str, ...]:
        specs = self._data.quasi_identifiers
        return tuple(
            spec.paths[value][level] for spec, value, level in zip(specs, combination, vector, strict=True)
        )

    def _cost(self, combination: Combination, vector: tuple[int, ...]) -> float:
        return sum(
            spec.weight / self._total * self._cell(self._data, position, vector[position], value)
            for position, (spec, value) in enumerate(
                zip(self._data.quasi_identifiers, combination, strict=True)
            )
        )

    def _cheapest_publication(self, members: tuple[int, ...]) -> float:
        """Return what a record costs where these combinations are published alike."""
        costs = [cost for covered, cost in self._publications if set(members) <= set(covered)]
        return min(costs, default=float("inf"))

    @property
    def _publications(self) -> list[tuple[tuple[int, ...], float]]:
        if not hasattr(self, "_known"):
            self._known = list(self.publications())
        return self._known

    def _least_total(self, left: tuple[int, ...], may_go: int) -> float:
        """Return the least sum of losses of the records left, by the class of the first of them."""
        if not any(left):
            return 0.0
        first = next(i for i, number in enumerate(left) if number)
        best = float("inf")
        if may_go:
            without = tuple(number - (i == first) for i, number in enumerate(left))
            best = 1 + self._least(without, may_go - 1)
        for taken in product(*(range(number + 1) for number in left)):
            size = sum(taken)
            if not taken[first] or size < self._k:
                continue
            members = tuple(i for i, number in enumerate(taken) if number)
            rest = tuple(have - gone for have, gone in zip(left, taken, strict=True))
            best = min(best, size * self._class_cost(members) + self._least(rest, may_go))
        return best
