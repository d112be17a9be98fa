"""The records that stay in one class as an integer programme, solved by HiGHS through OR-Tools."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from typing import Any

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.privacy.conditions import CountConditions, Deviation, Dominance
from anonymizer.search.suppression.class_problem import ClassProblem, View
from anonymizer.search.suppression.entropy_cuts import Cut
from anonymizer.system import quiet_output

Expression = Any
"""A linear expression; OR-Tools has no common type for variables and sums."""

TOLERANCE = 1e-9
"""By how much a solution may miss a condition in the solver's eyes; what it finds is verified exactly."""


class Programme:
    """Variables for the records of each cell; conditions of every part of every view."""

    def __init__(self, problem: ClassProblem, cuts: Sequence[Cut], margin: float) -> None:
        # Slow to import, and most searches never need it.
        from ortools.math_opt.python import mathopt  # noqa: PLC0415

        self._mathopt = mathopt
        self._problem = problem
        self._margin = margin
        self._model = mathopt.Model()
        self._kept = [self._model.add_integer_variable(lb=0, ub=int(kept)) for kept in problem.counts]
        size = mathopt.fast_sum(self._kept)
        self._model.add_linear_constraint(size >= max(problem.smallest, 1))
        self._model.add_linear_constraint(size <= problem.most)
        for cells, number in problem.sums:
            self._model.add_linear_constraint(self._total(cells.tolist()) == number)
        for view in problem.views:
            for part in np.unique(view.part).tolist():
                self._add_part(view, np.flatnonzero(view.part == part))
        for cut in cuts:
            terms = zip(cut.cells.tolist(), cut.weights.tolist(), strict=True)
            self._model.add_linear_constraint(
                mathopt.fast_sum(weight * self._kept[cell] for cell, weight in terms) >= margin
            )
        self._model.maximize(size)

    def solve(self, nodes: int) -> tuple[IntArray | None, int, int]:
        """Return kept counts, None without any, a bound on their sum, and the branch and bound nodes."""
        mathopt = self._mathopt
        parameters = mathopt.SolveParameters(relative_gap_tolerance=0.0, node_limit=nodes)
        options = parameters.highs.double_options
        for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
            options[name] = TOLERANCE
        with quiet_output():
            result = mathopt.solve(self._model, mathopt.SolverType.HIGHS, params=parameters)
        if result.termination.reason is mathopt.TerminationReason.INFEASIBLE:
            return None, 0, 0
        bound = result.termination.objective_bounds.dual_bound
        most = int(np.floor(bound + 1e-6)) if isfinite(bound) else self._problem.most
        if not result.has_primal_feasible_solution():
            return None, most, nodes
        values = result.variable_values(self._kept)
        return np.rint(values).astype(np.int64), most, result.solve_stats.node_count

    def relaxed(self) -> tuple[FloatArray | None, int]:
        """Return kept counts that need not be whole, None without any, and a bound on their sum."""
        mathopt = self._mathopt
        for variable in self._model.variables():
            variable.integer = False
        result = mathopt.solve(self._model, mathopt.SolverType.GLOP)
        if result.termination.reason is not mathopt.TerminationReason.OPTIMAL:
            return None, self._problem.most
        # Within the tolerance of the solver nothing is proven.
        bound = result.objective_value() * (1 + 1e-6) + 1e-3
        return np.maximum(result.variable_values(self._kept), 0.0), int(bound)

    def _add_part(self, view: View, cells: IntArray) -> None:
        rule = view.rule
        by_value: dict[int, list[int]] = {}
        for cell, value in zip(cells.tolist(), view.value[cells].tolist(), strict=True):
            by_value.setdefault(value, []).append(cell)
        counts = {value: self._total(own) for value, own in by_value.items()}
        size = self._total(cells.tolist())
        whole = len(cells) == len(self._kept)
        records = int(self._problem.counts[cells].sum())
        # Another part may stay without this one.
        stays: Expression = 1 if whole else self._model.add_binary_variable()
        if not whole:
            self._model.add_linear_constraint(size <= records * stays)
        self._model.add_linear_constraint(size >= max(rule.smallest, 1) * stays)
        self._add_shares(rule, counts, size, records)
        self._add_values(rule, counts, stays)
        for dominance in rule.dominances:
            self._add_dominance(dominance, list(counts.values()), size, stays)
        for deviation in rule.deviations:
            self._add_deviation(deviation, counts, size)

    def _total(self, cells: Sequence[int]) -> Expression:
        return self._mathopt.fast_sum(self._kept[cell] for cell in cells)

    def _add_shares(
        self, rule: CountConditions, counts: dict[int, Expression], size: Expression, records: int
    ) -> None:
        for value, kept in counts.items():
            if rule.caps is not None and rule.caps[value] < 1:
                cap = float(rule.caps[value])
                self._model.add_linear_constraint(kept <= cap * size - self._margin * (cap > 0))
            if rule.floors is not None and rule.floors[value] > 0:
                floor = float(rule.floors[value])
                present = self._model.add_binary_variable()
                self._model.add_linear_constraint(kept <= records * present)
                self._model.add_linear_constraint(kept >= present)
                self._model.add_linear_constraint(
                    kept >= floor * size + self._margin - ceil(floor * records + 1) * (1 - present)
                )

    def _add_values(self, rule: CountConditions, counts: dict[int, Expression], stays: Expression) -> None:
        if rule.required is not None:
            for value in np.flatnonzero(rule.required).tolist():
                self._model.add_linear_constraint(counts.get(value, 0) - stays >= 0)
        for distinct in rule.distinct:
            present = []
            for value, kept in counts.items():
                if value != distinct.missing:
                    present.append(self._model.add_binary_variable())
                    self._model.add_linear_constraint(present[-1] <= kept)
            self._model.add_linear_constraint(self._mathopt.fast_sum(present) - distinct.number * stays >= 0)

    def _add_dominance(
        self, dominance: Dominance, counts: list[Expression], size: Expression, stays: Expression
    ) -> None:
        """Bound r_1 + c (r_1 + ... + r_{l-1}) by c n.

        The sum of the l - 1 largest counts is the least (l - 1) level + sum max(count - level, 0).
        """
        numerator, denominator = dominance.c.as_integer_ratio()
        scale = max(numerator, denominator)
        largest, level = self._model.add_variable(lb=0), self._model.add_variable(lb=0)
        above = [self._model.add_variable(lb=0) for _ in counts]
        for kept, excess in zip(counts, above, strict=True):
            self._model.add_linear_constraint(largest >= kept)
            self._model.add_linear_constraint(excess >= kept - level)
        top = (dominance.l - 1) * level + self._mathopt.fast_sum(above)
        self._model.add_linear_constraint(
            denominator / scale * largest + numerator / scale * (top - size) + stays / scale <= -self._margin
        )

    def _add_deviation(self, deviation: Deviation, counts: dict[int, Expression], size: Expression) -> None:
        """Bound the sum of |count of a group - what is expected in it|, groups adding up from the inside."""
        own: dict[int, list[Expression]] = {}
        for value, kept in counts.items():
            own.setdefault(int(deviation.group_of[value]), []).append(kept)
        far = []
        for group, parent in enumerate(deviation.parent.tolist()):
            kept = self._model.add_variable(lb=0)
            self._model.add_linear_constraint(kept == self._mathopt.fast_sum(own.get(group, [])))
            own.setdefault(parent, []).append(kept)
            expected = int(deviation.expected[group]) / deviation.total * size
            far.append(self._model.add_variable(lb=0))
            self._model.add_linear_constraint(far[-1] >= kept - expected)
            self._model.add_linear_constraint(far[-1] >= expected - kept)
        self._model.add_linear_constraint(
            self._mathopt.fast_sum(far) <= float(deviation.limit) * size - self._margin
        )
