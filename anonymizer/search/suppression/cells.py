"""The fewest cells to blank so that every class as published satisfies the models, with a proof.

Source of the problem: Meyerson, Williams (PODS 2004, doi:10.1145/1055558.1055591), k-anonymity by suppression
of cells; they show that it is NP-hard. Here it is solved as facility location over masked patterns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.search.suppression.cell_bound import Proof
from anonymizer.search.suppression.cell_classes import ValidClasses
from anonymizer.search.suppression.cell_merging import first_blanking, first_classes, holding_classes
from anonymizer.search.suppression.cell_patterns import closed_patterns
from anonymizer.search.suppression.cell_prices import Prices
from anonymizer.search.suppression.cell_problem import CellProblem, CellSolution, CellSuppression
from anonymizer.search.suppression.cell_programme import Assignment, blanking_of
from anonymizer.search.suppression.cell_solver import Effort
from anonymizer.search.suppression.cell_tightening import tightened

if TYPE_CHECKING:
    from anonymizer.search.control import Control

FIRST_ENTRIES = 2_500
"""Entries, cheapest by their penalty, of the first programme; each next one has ``GROWTH`` times as many."""

GROWTH = 3

MOST_ENTRIES = 40_000
"""Entries of the last programme."""

NODES = 3_000
"""Branch and bound nodes of one programme, where no time is set."""


class CellSearch:
    """Looks for the cheapest blanking: a greedy start, prices that bound it, programmes that grow.

    Every step is deterministic; a budget of time or steps only decides after which of them to end. A
    programme has the entries of lowest penalty. What it leaves out costs at least the lowest penalty left
    out, so its own bound and that one together bound everything.

    Parameters
    ----------
    before: steps that the budget has been spent on already.
    ceiling: once nothing can be cheaper than this, there is no need to go on.

    Attributes
    ----------
    best: the best blanking so far, None without one.
    cost: of it.
    bound: no valid blanking costs less.
    steps: programmes solved so far.
    """

    def __init__(
        self, problem: CellProblem, control: Control, before: int = 0, ceiling: float = np.inf
    ) -> None:
        self._problem = problem
        self._control = control
        self._before = before
        self._ceiling = ceiling
        self._patterns = closed_patterns(problem)
        self._served = np.zeros(len(self._patterns.row), dtype=np.int64)
        self.best: CellSuppression | None = None
        self.cost = np.inf
        self.bound = 0.0
        self.steps = 0
        self._interrupted = False

    def start(self) -> None:
        """Find a first blanking."""
        served = first_classes(self._problem, self._patterns)
        found = first_blanking(self._problem, self._patterns, served)
        if found is not None:
            self._keep(found)
        if np.array_equal(np.bincount(self._patterns.row, served, self._problem.rows), self._problem.counts):
            self._served = served

    def run(self) -> CellSolution:
        """Improve and prove until it is optimal or the effort is spent."""
        self.start()
        if self._gap_left() and not self._ended() and not self._exhaust() and self._patterns.number:
            self._prove_and_improve()
        if not self._patterns.number and self.best is None:
            self.bound = np.inf
        return self.solution()

    def solution(self) -> CellSolution:
        """Return what is known so far."""
        bound = min(self.bound, self.cost)
        return CellSolution(self.best, self.cost, bound, self.steps, self._interrupted)

    def _exhaust(self) -> bool:
        """Solve small problems under models that are not linear over all classes; tell if that was done."""
        classes = None if self._problem.complete else ValidClasses.of(self._problem)
        if classes is None:
            return False
        result, found = classes.solve(self._effort())
        self.steps += result.ended
        self._raise(result.bound)
        if result.ended and found is not None:
            self._keep(found)
        return True

    def _prove_and_improve(self) -> None:
        prices = Prices.of(self._problem, self._patterns, self._served)
        while self._gap_left() and not prices.settled:
            if self._ended():
                return
            self.steps += prices.improve(self._effort())
            self._raise(prices.proof.bound)
        proof, entries = prices.proof, FIRST_ENTRIES
        while self._gap_left() and not self._ended():
            within = int((proof.penalties <= self._room(proof)).sum())
            entries = MOST_ENTRIES if entries > FIRST_ENTRIES and within <= MOST_ENTRIES else entries
            if self._round(proof, entries) or entries >= MOST_ENTRIES:
                return
            entries = min(entries * GROWTH, MOST_ENTRIES)

    def _room(self, proof: Proof) -> float:
        """Return by how much the cost of a better solution exceeds what the prices prove, at most."""
        return self.cost - self._step() - proof.bound

    def _round(self, proof: Proof, most: int) -> bool:
        """Solve a programme over the cheapest entries; tell whether a larger one cannot do more."""
        room = self._room(proof)
        chosen, unmatched_columns = self._cheapest(proof, room, most)
        open_rows = self._open(proof, min(room, unmatched_columns))
        used = np.zeros(len(self._served), dtype=bool)
        used[chosen] = True
        assignment = Assignment(
            self._problem, self._patterns, np.flatnonzero(used | (self._served > 0)), open_rows
        )
        result = assignment.solve(self._effort(), self._served if self._served.any() else None)
        # What the clock or the user ended is no step: what it found could not be found again.
        self.steps += result.ended
        closed = float(proof.closing[open_rows].min(initial=np.inf))
        self._raise(min(result.bound, proof.bound + unmatched_columns, proof.bound + closed))
        if result.values is not None and result.ended:
            self._offer(assignment.served(result.values, self._effort()))
        return unmatched_columns > room and result.ended

    def _cheapest(self, proof: Proof, room: float, most: int) -> tuple[IntArray, float]:
        """Return the entries of lowest penalty that could be in a better solution, and what others cost."""
        within = np.flatnonzero(proof.penalties <= room)
        rest = float(proof.penalties[proof.penalties > room].min(initial=proof.outside))
        if len(within) > most:
            order = within[np.argsort(proof.penalties[within], kind="stable")]
            within, rest = np.sort(order[:most]), min(rest, float(proof.penalties[order[most]]))
        return within, rest

    def _open(self, proof: Proof, room: float) -> BoolArray:
        """Return the safe rows that no solution within this of the bound breaks up, nor the best so far."""
        if not self._problem.by_size_alone:
            return np.zeros(self._problem.rows, dtype=bool)
        own = self._patterns.own
        staying = np.bincount(self._patterns.row[own], self._served[own], self._problem.rows)
        intact = (staying >= self._problem.smallest) | (not self._served.any())
        return self._problem.safe & (proof.closing > room) & intact

    def _offer(self, served: IntArray | None) -> None:
        """Keep a solution that is valid and better."""
        if served is None:
            return
        if self._keep(blanking_of(self._problem, self._patterns, served)):
            self._served = served
        elif not self._problem.complete:
            holding = holding_classes(self._problem, self._patterns, served)
            repaired = first_blanking(self._problem, self._patterns, holding)
            if repaired is not None:
                self._keep(repaired)

    def _keep(self, found: CellSuppression) -> bool:
        if found.cost(self._problem) >= self.cost or not found.holds(self._problem):
            return False
        tighter = tightened(self._problem, found)
        self.best, self.cost = tighter, tighter.cost(self._problem)
        return True

    def _raise(self, bound: float) -> None:
        self.bound = max(self.bound, self._problem.raised(bound))

    def _step(self) -> float:
        """Return by how much a better solution is cheaper, a little less for rounding errors."""
        return max(self._problem.grain * (1 - 1e-6), 1e-9 * max(1.0, self.cost if self.best else 1.0))

    def _gap_left(self) -> bool:
        if self.bound >= self._ceiling:
            return False
        return self.best is None or self.cost - self.bound > 1e-9 * max(1.0, self.cost)

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(0, self._before + self.steps)

    def _effort(self) -> Effort:
        seconds = self._control.seconds
        left = None if seconds is None else max(seconds - self._control.elapsed, 0.0)
        return Effort(NODES, self._step(), left, self._control.stopped)
