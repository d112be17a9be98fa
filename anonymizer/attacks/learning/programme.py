"""The programme of Torra and Abril: fewest wrong links, by HiGHS through OR-Tools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.rows import Rows
from anonymizer.core.arrays import BoolArray, FloatArray
from anonymizer.core.background import heard_meanwhile

if TYPE_CHECKING:
    from ortools.math_opt.python.mathopt import Model, ModelSolveParameters, SolveResult, Variable

NOTHING = 1e-12
"""A gap that no weights bring below minus this needs no row."""
WHOLE = 1e-6
"""A bound this close to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What the solver found.

    Attributes
    ----------
    weights: of the fewest wrong links, shape (weights,); None where it found none in time.
    wrong: lower bound on how many of the originals that are not hopeless go wrong, ties being right.
    """

    weights: FloatArray | None
    wrong: int


def fewest_wrong(
    rows: Rows, family: Family, cuts: FloatArray, hopeless: BoolArray, start: FloatArray, seconds: float
) -> Solved:
    """Minimise the sum of K_i subject to gap @ w + M K_i >= 0 for each row, K_i being 0 or 1.

    M is, for each row, the least that its gap can give in the family, so no smaller one would be right.

    Parameters
    ----------
    cuts: further conditions of the family, rows that must give at least 0, shape (cuts, weights).
    hopeless: originals that are left out, shape (records,).
    start: weights to begin with.
    seconds: to work at most.
    """
    # Takes longer to import than most commands take.
    from ortools.math_opt.python import mathopt  # noqa: PLC0415

    model = mathopt.Model()
    weights = _weights(model, family, cuts)
    wrong = _rows(model, weights, rows, family, hopeless)
    model.minimize(mathopt.LinearSum(wrong.values()))
    right = rows.right(start)
    hint = dict(zip(weights, start.tolist(), strict=True))
    hint.update((variable, float(not right[record])) for record, variable in wrong.items())
    result = _solved(
        model, mathopt.ModelSolveParameters(solution_hints=[mathopt.SolutionHint(hint)]), seconds
    )
    bound = result.termination.objective_bounds.dual_bound
    least = int(np.ceil(bound - WHOLE)) if np.isfinite(bound) else 0
    if not result.has_primal_feasible_solution():
        return Solved(None, max(least, 0))
    return Solved(np.array(result.variable_values(weights)), max(least, 0))


def _weights(model: Model, family: Family, cuts: FloatArray) -> list[Variable]:
    """Add the weights and the conditions on them."""
    from ortools.math_opt.python import mathopt  # noqa: PLC0415  with the solver, see above

    cone = np.concatenate([family.cone, cuts])
    single = np.count_nonzero(cone, axis=1) == 1
    held = set(np.nonzero(cone[single])[1].tolist())
    weights = [
        model.add_variable(lb=0.0 if position in held else -np.inf) for position in range(len(family.members))
    ]
    for row in cone[~single]:
        model.add_linear_constraint(mathopt.LinearSum(_terms(row, weights)) >= 0.0)
    model.add_linear_constraint(mathopt.LinearSum(_terms(family.total, weights)) == 1.0)
    return weights


def _rows(
    model: Model, weights: list[Variable], rows: Rows, family: Family, hopeless: BoolArray
) -> dict[int, Variable]:
    """Add the rows; return K_i of each original that some weights link wrongly."""
    from ortools.math_opt.python import mathopt  # noqa: PLC0415  with the solver, see above

    depth = -family.least(rows.gaps)
    wrong: dict[int, Variable] = {}
    for row in np.flatnonzero((depth > NOTHING) & ~hopeless[rows.record]):
        record = int(rows.record[row])
        if record not in wrong:
            wrong[record] = model.add_binary_variable()
        # Divided by M, so that the solver's tolerances mean the same in every row.
        terms = _terms(rows.gaps[row] / depth[row], weights)
        model.add_linear_constraint(mathopt.LinearSum([*terms, wrong[record]]) >= 0.0)
    return wrong


def _terms(row: FloatArray, weights: list[Variable]) -> list[object]:
    return [float(row[position]) * weights[position] for position in np.flatnonzero(row)]


def _solved(model: Model, start: ModelSolveParameters, seconds: float) -> SolveResult:
    """Solve in a thread of its own, so that Ctrl-C is heard at once; the solver then ends by its time."""
    from ortools.math_opt.python import mathopt  # noqa: PLC0415  with the solver, see above

    # The objective is a whole number: a bound less than one away from a solution proves it.
    parameters = mathopt.SolveParameters(
        time_limit=timedelta(seconds=seconds), relative_gap_tolerance=0.0, absolute_gap_tolerance=0.99
    )
    result = heard_meanwhile(
        lambda: mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, model_params=start)
    )
    assert result is not None, "nobody asks it to stop"
    return result
