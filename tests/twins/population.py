"""Exhaustive search where classes are compared with a population, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.twins.microdata import Value
from tests.twins.search import BruteForce, ProblemSpec, Release, Rows

People = Sequence[tuple[tuple[Value, ...], Fraction]]
"""The quasi-identifiers of each row of a population, and how many people it stands for."""


@dataclass(frozen=True)
class Bounds:
    """k-map with ``k``, or delta-presence with the two shares."""

    k: int | None = None
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)


class PopulationBruteForce(BruteForce):
    """Evaluates nodes by the definitions; ``estimated`` where people are the sums of the records' weights."""

    def __init__(self, problem: ProblemSpec, people: People, bounds: Bounds, *, estimated: bool) -> None:
        super().__init__(problem)
        self._people, self._bounds, self._estimated = people, bounds, estimated
        self._at: dict[tuple[str, ...], Fraction] = {}
        self._levels: tuple[int, ...] = ()

    def _key(self, cells: Sequence[Value]) -> tuple[str, ...]:
        own = zip(self.data.quasi_identifiers, cells, self._levels, strict=False)
        return tuple(spec.paths[cell][level] for spec, cell, level in own)

    def classes(self, levels: tuple[int, ...]) -> list[Rows]:
        self._levels, self._at = levels, {}
        for cells, number in self._people:
            key = self._key(cells)
            self._at[key] = self._at.get(key, Fraction(0)) + number
        return super().classes(levels)

    def release(self, classes: list[Rows]) -> Release | None:
        inside = {self._key(self.data.records[rows[0]]) for rows in classes}
        if self._bounds.low > 0 and set(self._at) - inside:
            return None
        return super().release(classes)

    def people(self, rows: Rows) -> Fraction:
        """Return how many people a class has."""
        people = self._at[self._key(self.data.records[rows[0]])]
        return max(people, Fraction(len(rows))) if self._estimated else people

    def holds(self, rows: Rows, reference: Rows) -> bool:
        people = self.people(rows)
        share = Fraction(len(rows)) / people
        if self._bounds.k is not None and people < self._bounds.k:
            return False
        return self._bounds.low <= share <= self._bounds.high and super().holds(rows, reference)


class RiskBruteForce(PopulationBruteForce):
    """Judges the risks of single records; ``mean`` over all of them, else the highest, by class."""

    most: Fraction
    mean: bool
    of_people: bool

    def _risk(self, rows: Rows) -> Fraction:
        return 1 / (self.people(rows) if self.of_people else Fraction(len(rows)))

    def holds(self, rows: Rows, reference: Rows) -> bool:
        return super().holds(rows, reference) and (self.mean or self._risk(rows) <= self.most)

    def table_holds(self, release: list[Rows]) -> bool:
        found = [self._risk(rows) for rows in release for _ in rows]
        return super().table_holds(release) and (not self.mean or sum(found) <= self.most * len(found))
