"""Linear and mixed-integer programmes as arrays, solved by HiGHS through OR-Tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.system import run_interruptibly

if TYPE_CHECKING:
    from ortools.math_opt.python.mathopt import SolveResult


class SolverBroken(Exception):
    """HiGHS failed with an error, as on some degenerate programmes."""


@dataclass(frozen=True, eq=False)
class Effort:
    """Limits of a solution; all but ``seconds`` and ``stopped`` are deterministic.

    Attributes
    ----------
    nodes: of branch and bound.
    slack: accepted distance of a solution from the bound.
    seconds: None for no limit.
    stopped: returns whether the user wants to stop.
    """

    nodes: int
    slack: float = 0.0
    seconds: float | None = None
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution with its bound.

    Attributes
    ----------
    values: of the variables, shape (variables,), float64; None without a solution.
    bound: of the objective; infinite if proven infeasible.
    ended: whether it ended by itself, not by the clock or the user, so that the result is repeatable.
    """

    values: FloatArray | None
    bound: float
    ended: bool


@dataclass(frozen=True, eq=False)
class Programme:
    """Minimise a linear function: variables at least 0 and linear constraints.

    Attributes
    ----------
    costs, upper: of each variable, shape (variables,), float64.
    whole: variables that must be whole numbers, shape (variables,), bool.
    row, column, coefficient: the constraint matrix, entry by entry; equal positions add up.
    row_low, row_high: bounds of each constraint, shape (constraints,), float64.
    """

    costs: FloatArray
    upper: FloatArray
    whole: BoolArray
    row: IntArray
    column: IntArray
    coefficient: FloatArray
    row_low: FloatArray
    row_high: FloatArray

    def duals(self, first: int, effort: Effort) -> FloatArray | None:
        """Solve the linear relaxation; return the dual values of the first constraints.

        None if it did not finish.
        """
        try:
            result = self._run(np.zeros(len(self.whole), dtype=bool), effort, None)
        except SolverBroken:
            return None
        if result is None or not result.has_dual_feasible_solution():
            return None
        constraints = list(islice(result.dual_values(), first))
        return np.array(result.dual_values(constraints))

    def solved(self, effort: Effort, hint: FloatArray | None) -> Solved:
        """Return a solution, starting from a hint if one is given; none if the solver fails."""
        try:
            return _read(self._run(self.whole, effort, hint), len(self.costs))
        except SolverBroken:
            return Solved(None, -np.inf, ended=True)

    def _run(self, whole: BoolArray, effort: Effort, hint: FloatArray | None) -> SolveResult | None:
        # Importing it takes longer than all the rest, and most runs need no solver.
        from ortools.math_opt.python import mathopt  # noqa: PLC0415

        model = mathopt.Model.from_model_proto(self._proto(whole))
        parameters = mathopt.SolveParameters(
            relative_gap_tolerance=0.0,
            node_limit=effort.nodes if whole.any() else None,
            time_limit=None if effort.seconds is None else timedelta(seconds=max(effort.seconds, 0.0)),
        )
        parameters.highs.double_options["mip_abs_gap"] = effort.slack
        hints = []
        if hint is not None:
            values = {variable: float(hint[variable.id]) for variable in model.variables()}
            hints.append(mathopt.SolutionHint(variable_values=values))
        start = mathopt.ModelSolveParameters(solution_hints=hints)
        try:
            return run_interruptibly(
                lambda: mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, model_params=start),
                effort.stopped,
            )
        except Exception as failure:  # HiGHS fails in several ways
            raise SolverBroken from failure

    def _proto(self, whole: BoolArray) -> Any:
        # With the solver, see above.
        from ortools.math_opt import model_pb2  # noqa: PLC0415

        proto = model_pb2.ModelProto()
        variables, constraints = len(self.costs), len(self.row_low)
        proto.variables.ids.extend(range(variables))
        proto.variables.lower_bounds.extend([0.0] * variables)
        proto.variables.upper_bounds.extend(self.upper.tolist())
        proto.variables.integers.extend(whole.tolist())
        charged = np.flatnonzero(self.costs)
        proto.objective.linear_coefficients.ids.extend(charged.tolist())
        proto.objective.linear_coefficients.values.extend(self.costs[charged].tolist())
        proto.linear_constraints.ids.extend(range(constraints))
        proto.linear_constraints.lower_bounds.extend(self.row_low.tolist())
        proto.linear_constraints.upper_bounds.extend(self.row_high.tolist())
        entry, distinct = np.unique(self.row * variables + self.column, return_inverse=True)
        sums = np.bincount(distinct, self.coefficient, len(entry))
        proto.linear_constraint_matrix.row_ids.extend((entry // variables).tolist())
        proto.linear_constraint_matrix.column_ids.extend((entry % variables).tolist())
        proto.linear_constraint_matrix.coefficients.extend(sums.tolist())
        return proto


def _read(result: SolveResult | None, variables: int) -> Solved:
    from ortools.math_opt.python import mathopt  # noqa: PLC0415  with the solver, see above

    if result is None:
        return Solved(None, -np.inf, ended=False)
    if result.termination.reason is mathopt.TerminationReason.INFEASIBLE:
        return Solved(None, np.inf, ended=True)
    bound = float(result.termination.objective_bounds.dual_bound)
    ended = result.termination.limit is not mathopt.Limit.TIME
    if not result.has_primal_feasible_solution():
        return Solved(None, bound, ended)
    values = np.zeros(variables)
    for variable, value in result.variable_values().items():
        values[variable.id] = value
    return Solved(values, bound, ended)
