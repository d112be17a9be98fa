"""Adversaries who know some of the quasi-identifiers, record by record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tests.twins.loss import LOSS_TWINS, TwinRelease
from tests.twins.privacy import TABLE_TWINS
from tests.twins.search import BruteForce, ConstraintSpec, NodeResult, ProblemSpec, Rows


class KnownBruteForce(BruteForce):
    """Evaluates nodes by the classes that each adversary sees."""

    def __init__(self, problem: ProblemSpec) -> None:
        super().__init__(problem)
        self._alone = [
            (each, BruteForce(replace(problem, constraints=(each,)))) for each in problem.constraints
        ]

    def evaluate(self, levels: tuple[int, ...]) -> NodeResult | None:
        """Return what a node gives, None when it may not be released."""
        cells = [
            [
                spec.paths[cell][level]
                for spec, cell, level in zip(self.data.quasi_identifiers, row, levels, strict=False)
            ]
            for row in self.data.records
        ]
        staying = self._stable(cells, self._everyone, moving=False)
        if self.problem.moving_reference:
            staying = self._stable(cells, staying, moving=True)
        suppressed = frozenset(self._everyone) - frozenset(staying)
        if not staying or self.exceeds_limit(suppressed) or not self.satisfied(cells, staying):
            return None
        everything = frozenset(range(len(self.data.quasi_identifiers)))
        sizes = tuple(len(rows) for rows in grouped(cells, staying, everything))
        release = TwinRelease(self.data, levels, sizes, suppressed, 0, self.problem.k)
        objective = LOSS_TWINS[self.problem.metric](release, self.problem.aggregate)
        return NodeResult(levels, objective, suppressed, False)

    def _stable(self, cells: list[list[str]], staying: Rows, *, moving: bool) -> Rows:
        while True:
            failing = set(self.failing(cells, staying, staying if moving else self._everyone))
            if self.problem.whole:
                persons = {self.data.persons[row] for row in failing} - {None}
                failing |= {row for row in staying if self.data.persons[row] in persons}
            if not failing:
                return staying
            staying = [row for row in staying if row not in failing]

    def failing(self, cells: list[list[str]], rows: Rows, reference: Rows) -> Iterable[int]:
        """Yield the rows in a class that fails for some adversary."""
        for constraint, alone in self._alone:
            for known in self._knowledge(constraint):
                for own in grouped(cells, rows, known):
                    if not alone.holds(own, reference):
                        yield from own

    def satisfied(self, cells: list[list[str]], rows: Rows) -> bool:
        """Tell whether the whole release satisfies the models of whole releases for each adversary."""
        return all(
            alone.table_holds(grouped(cells, rows, known))
            for constraint, alone in self._alone
            if constraint.model in TABLE_TWINS
            for known in self._knowledge(constraint)
        )

    def _knowledge(self, constraint: ConstraintSpec) -> tuple[frozenset[int], ...]:
        return constraint.knowledge or (frozenset(range(len(self.data.quasi_identifiers))),)


def grouped(cells: list[list[str]], rows: Rows, known: frozenset[int]) -> list[Rows]:
    """Return the rows with equal published values of the known quasi-identifiers."""
    found: dict[tuple[str, ...], Rows] = {}
    for row in rows:
        found.setdefault(tuple(cells[row][place] for place in sorted(known)), []).append(row)
    return list(found.values())
