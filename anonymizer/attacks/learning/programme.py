"""The programme of Torra and Abril: fewest wrong links, by HiGHS through OR-Tools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.attacks.learning.cuts import Cuts
from anonymizer.attacks.learning.family import Family
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.system import run_interruptibly

if TYPE_CHECKING:
    from ortools.math_opt.python.mathopt import SolveResult, Variable

WHOLE = 1e-6
"""A bound this close to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What the solver found.

    Attributes
    ----------
    weights: shape (weights,); None where there are none, or none were found in time.
    wrong: K_i of each original, shape (records,); zeros without weights.
    bound: no weights have a smaller sum of K_i.
    """

    weights: FloatArray | None
    wrong: FloatArray
    bound: float


class Programme:
    """Minimise the sum of K_i subject to the conditions found so far, K_i being 0 or 1.

    Parameters
    ----------
    records: originals.
    """

    def __init__(self, family: Family, records: int) -> None:
        # Takes longer to import than most commands take.
        from ortools.math_opt.python import mathopt  # noqa: PLC0415

        self._mathopt = mathopt
        self._records = records
        self._model = mathopt.Model()
        single = np.count_nonzero(family.cone, axis=1) == 1
        held = set(np.nonzero(family.cone[single])[1].tolist())
        self._weights = [
            self._model.add_variable(lb=0.0 if position in held else -np.inf)
            for position in range(len(family.members))
        ]
        self._wrong: dict[int, Variable] = {}
        self._model.add_linear_constraint(mathopt.LinearSum(self._terms(family.total)) == 1.0)
        self._fewer = self._model.add_linear_constraint(ub=float(records))
        self.restrict(family.cone[~single])

    def restrict(self, cone: FloatArray) -> None:
        """Add conditions on the weights: rows that must give at least 0, shape (conditions, weights)."""
        for row in cone:
            self._model.add_linear_constraint(self._mathopt.LinearSum(self._terms(row)) >= 0.0)

    def add(self, cuts: Cuts) -> None:
        """Add conditions K_i + row @ w >= 0."""
        for record, row in zip(cuts.record.tolist(), cuts.rows, strict=True):
            if record not in self._wrong:
                variable = self._model.add_variable(lb=0.0, ub=1.0)
                self._wrong[record] = variable
                self._model.objective.set_linear_coefficient(variable, 1.0)
                self._fewer.set_coefficient(variable, 1.0)
            terms = [*self._terms(row), self._wrong[record]]
            self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 0.0)

    def exclude(self, contradiction: IntArray) -> None:
        """Add that one or more of some originals are linked wrongly."""
        terms = [self._wrong[record] for record in contradiction.tolist()]
        self._model.add_linear_constraint(self._mathopt.LinearSum(terms) >= 1.0)

    def relaxed(self, seconds: float) -> Solved:
        """Solve with K_i between 0 and 1."""
        return self._solved(seconds, whole=False)

    def fewer(self, wrong: int, seconds: float) -> Solved:
        """Find the fewest wrong links when there are fewer than some; with a bound of that many, none are."""
        # Half a link to spare, so that no rounding error excludes a solution.
        self._fewer.upper_bound = wrong - 0.5
        solved = self._solved(seconds, whole=True)
        self._fewer.upper_bound = float(self._records)
        return Solved(solved.weights, solved.wrong, float(min(np.ceil(solved.bound - WHOLE), wrong)))

    def _terms(self, row: FloatArray) -> list[object]:
        return [float(row[position]) * self._weights[position] for position in np.flatnonzero(row)]

    def _solved(self, seconds: float, *, whole: bool) -> Solved:
        """Solve in a thread of its own, so that Ctrl-C is heard at once; the solver then ends by its time."""
        mathopt = self._mathopt
        for variable in self._wrong.values():
            variable.integer = whole
        # The objective is a whole number: a bound less than one away from a solution proves it.
        parameters = mathopt.SolveParameters(
            time_limit=timedelta(seconds=seconds), relative_gap_tolerance=0.0, absolute_gap_tolerance=0.99
        )
        result = run_interruptibly(
            lambda: mathopt.solve(self._model, mathopt.SolverType.HIGHS, params=parameters)
        )
        assert result is not None, "nobody asks it to stop"
        return self._read(result)

    def _read(self, result: SolveResult) -> Solved:
        reason = self._mathopt.TerminationReason
        wrong = np.zeros(self._records)
        # The sum cannot be unbounded.
        if result.termination.reason in (reason.INFEASIBLE, reason.INFEASIBLE_OR_UNBOUNDED):
            return Solved(None, wrong, np.inf)
        bound = max(result.termination.objective_bounds.dual_bound, 0.0)
        if not result.has_primal_feasible_solution():
            return Solved(None, wrong, bound)
        wrong[list(self._wrong)] = result.variable_values(list(self._wrong.values()))
        return Solved(np.array(result.variable_values(self._weights)), wrong, bound)
