"""The fewest records to suppress so that all models are satisfied.

With a fixed reference distribution, classes are solved one by one. If the reference is the distribution of
the remaining records, all classes are solved jointly by trying references: the numbers of suppressed records
by value of the referring attributes determine one, and the remaining records must add up to it.

If no single rule decides which records of a class stay, an integer programme does, solved by HiGHS through
OR-Tools. An entropy condition is enforced by cuts: linear conditions that every class of enough entropy
satisfies and a given one violates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isfinite
from typing import Any

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, Reference
from anonymizer.model.counting import count
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.privacy.conditions import CountConditions, Deviation, Dominance
from anonymizer.privacy.exact import has_entropy
from anonymizer.search.base import SearchProblem
from anonymizer.search.suppression.cell_models import SensitiveCells, sensitive_cells
from anonymizer.search.suppression.rules import ClassProblem, ClassSolution, Retained, Rules, View, rules_of
from anonymizer.search.suppression.suppressor import (
    References,
    Suppressed,
    Suppressor,
    WholeClasses,
    certain_losses,
    holding,
    references_of,
    suppressed_items,
)
from anonymizer.system import quiet_output

FLAT = 0.01
"""Slope of the entropy up to which it counts as 0."""


@dataclass(frozen=True, eq=False)
class Cut:
    """The weighted counts of some cells add up to 0 or more.

    Attributes
    ----------
    cells: positions, shape (cells of the cut,), int64.
    weights: shape (cells of the cut,), float64.
    """

    cells: IntArray
    weights: FloatArray


def cut_off(rule: CountConditions, part: IntArray, value: IntArray, kept: IntArray) -> Iterator[Cut]:
    """Yield a cut for every part of a class with too little entropy.

    n (H(y / n) - ln l) is concave in the counts y and grows in proportion to them, so its gradient at any
    point, as weights, bounds it from above: a sum below 0 means too little entropy. At counts of 0 the
    gradient is infinite; a little is added there, too little to satisfy the cut at the given counts.

    Parameters
    ----------
    part, value: of each cell, shape (cells,), int64.
    kept: remaining records of each cell, shape (cells,), int64.
    """
    for l in rule.entropies:  # noqa: E741
        for own in np.unique(part[kept > 0]).tolist():
            cells = np.flatnonzero(part == own)
            _, groups = np.unique(value[cells], return_inverse=True)
            counts = np.bincount(groups, weights=kept[cells]).astype(np.float64)
            if not has_entropy([int(count) for count in counts if count], l):
                yield Cut(cells, _gradient(counts, l)[groups])


def tangents(rule: CountConditions, part: IntArray, value: IntArray, kept: FloatArray) -> Iterator[Cut]:
    """Yield the same for fractional counts with clearly too little entropy.

    The gradient is taken where the way from these to even counts reaches the threshold: that cut is tight, so
    that fewer are needed.
    """
    for l in rule.entropies:  # noqa: E741
        for own in np.unique(part[kept > 0]).tolist():
            cells = np.flatnonzero(part == own)
            _, groups = np.unique(value[cells], return_inverse=True)
            counts = np.bincount(groups, weights=kept[cells]).astype(np.float64)
            if _lacking(counts, l) > 1e-7 * counts.sum():
                weights = _gradient(_border(counts, l), l)
                # Around even counts the entropy is flat, and its gradient mostly rounding error.
                clear = np.abs(weights).max() > FLAT
                yield Cut(cells, (weights if clear else _gradient(counts, l))[groups])


def _lacking(counts: FloatArray, l: Fraction) -> float:  # noqa: E741
    """Return n (ln l - H)."""
    positive = counts[counts > 0]
    size = counts.sum()
    return float(size * np.log(float(l)) - positive @ np.log(size / positive))


def _border(counts: FloatArray, l: Fraction) -> FloatArray:  # noqa: E741
    """Return the counts nearest to the given ones, on the way to even ones, that have enough entropy."""
    even = np.full_like(counts, counts.mean())
    if _lacking(even, l) > 0:
        return counts
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        lacking = _lacking(counts + middle * (even - counts), l) > 0
        low, high = (middle, high) if lacking else (low, middle)
    border: FloatArray = counts + high * (even - counts)
    return border


def _gradient(counts: FloatArray, l: Fraction) -> FloatArray:  # noqa: E741
    lacking = _lacking(counts, l)
    added = np.where(counts > 0, 0.0, min(0.5, max(lacking, 1e-9) / (4 * len(counts))))
    smooth = counts + added
    gradient: FloatArray = np.log(smooth.sum() / (float(l) * smooth))
    return gradient


Expression = Any
"""A linear expression; OR-Tools has no common type for variables and sums."""

TOLERANCE = 1e-9
"""Tolerance of the solver for a condition; its solutions are verified exactly."""


class Programme:
    """Variables for the records of each cell; conditions of every part of every view."""

    def __init__(self, problem: ClassProblem, cuts: Sequence[Cut], margin: float) -> None:
        # Importing it is slow, and most searches do not need it.
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
        """Return kept counts or None, a bound on their sum, and the branch and bound nodes."""
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
        """Return fractional kept counts or None, and a bound on their sum."""
        mathopt = self._mathopt
        for variable in self._model.variables():
            variable.integer = False
        result = mathopt.solve(self._model, mathopt.SolverType.GLOP)
        if result.termination.reason is not mathopt.TerminationReason.OPTIMAL:
            return None, self._problem.most
        # The bound allows for the solver's tolerance.
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
        # Other parts may stay without this one.
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
        """Bound the sum of |count of a group - expected count|, groups adding up from the inside."""
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


MARGIN = 1e-5
"""Amount by which conditions are tightened after a solution failed the exact verification."""

NODES = 10_000
"""Branch and bound nodes times cells for one class; a count, so that runs are repeatable."""

ROUND = 20
"""Fewest nodes that one more programme counts as."""

TANGENTS = 60
"""Rounds of cuts on the entropy of fractional counts."""

ROOM = Fraction(101, 100)
"""Factor on the required effective number of values before counts are rounded."""


def solve(problem: ClassProblem, verify: Callable[[IntArray], bool]) -> ClassSolution:
    """Keep as many records of a class as the rules allow.

    Parameters
    ----------
    verify: the exact check of kept counts, shape (cells,); failing ones are not returned.
    """
    nothing = np.zeros_like(problem.counts)
    cuts, most, margin = [], problem.most, 0.0
    if any(view.rule.entropies for view in problem.views):
        relaxed = _relaxed(problem, 0.0)
        cuts, most = list(relaxed.cuts), relaxed.most
    nodes = max(NODES // len(problem.counts), 1)
    while nodes > 0:
        if most < problem.smallest:
            return ClassSolution(nothing, 0)
        found, bound, taken = Programme(problem, cuts, margin).solve(nodes)
        nodes -= max(taken, ROUND)
        if not margin:
            most = min(most, bound)
        if found is None:
            break
        if verify(found):
            return ClassSolution(found, most)
        new = [cut for view in problem.views for cut in cut_off(view.rule, view.part, view.value, found)]
        cuts += new
        if not new:
            if margin:
                break
            margin = MARGIN
    found = nothing if problem.sums else _rounded(problem)
    return ClassSolution(found if found.any() and verify(found) else nothing, most)


def _rounded(problem: ClassProblem) -> IntArray:
    """Round a fractional solution with enough room for the rounding; 0 without one.

    Running sums are rounded, so that sums over consecutive values are at most one record off.
    """
    views = [
        replace(view, rule=replace(view.rule, entropies=tuple(map(ROOM.__mul__, view.rule.entropies))))
        for view in problem.views
    ]
    kept = _relaxed(replace(problem, views=tuple(views)), float(len(problem.counts))).kept
    return np.clip(np.diff(np.rint(np.cumsum(kept)), prepend=0).astype(np.int64), 0, problem.counts)


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """A fractional solution.

    Attributes
    ----------
    cuts: on the entropy.
    kept: records of each cell, shape (cells,), float64; 0 without a solution.
    most: most records that can stay, if the margin is 0.
    """

    cuts: tuple[Cut, ...]
    kept: FloatArray
    most: int


def _relaxed(problem: ClassProblem, margin: float) -> _Relaxed:
    """Cut the relaxed programme until its solution nearly has the required entropy."""
    cuts: list[Cut] = []
    kept, most = np.zeros(len(problem.counts)), problem.most
    for _ in range(TANGENTS):
        found, bound = Programme(problem, cuts, margin).relaxed()
        if found is None:
            return _Relaxed(tuple(cuts), np.zeros_like(kept), most)
        kept, most = found, min(most, bound)
        new = [cut for view in problem.views for cut in tangents(view.rule, view.part, view.value, kept)]
        if not new:
            break
        cuts += new
    return _Relaxed(tuple(cuts), kept, most)


class FixedReference:
    """The fewest records of each class under one reference.

    Solutions of the integer programme are remembered by the counts of the class.

    Parameters
    ----------
    worthwhile: if certain losses exceed this, violating classes are suppressed as a whole, unsolved.
    """

    def __init__(
        self, table: Table, constraints: Sequence[ClassConstraint], references: References, worthwhile: int
    ) -> None:
        self._table = table
        self._constraints = tuple(constraints)
        self._references = references
        self._rules: Rules = rules_of(table, constraints, references)
        combined = any(each.combined for each in constraints)
        named = {each.attribute for each in constraints}
        self._attributes: list[SensitiveAttribute] = [
            each for each in table.sensitive if combined or each.name in named
        ]
        self._worthwhile = worthwhile
        self._solved: dict[tuple[object, ...], ClassSolution] = {}

    def suppress(self, classes: Classes) -> Suppressed:
        """Return the fewest records of each class; ``certain`` bounds any split of it too."""
        held = holding(self._constraints, classes, self._references)
        certain = certain_losses(self._constraints, classes, self._references)
        gone = np.where(held[classes.class_of], 0, classes.counts)
        least = np.where(held, 0, classes.sizes)
        chosen = ~held & (certain < classes.sizes)
        if chosen.any() and certain.sum() <= self._worthwhile:
            cells = sensitive_cells(classes, chosen, self._attributes)
            kept, most = self._retain(cells, self._worthwhile - int(certain[~chosen].sum()))
            gone[cells.items] = cells.gone(cells.counts - kept)
            least[cells.chosen] = np.maximum(classes.sizes[cells.chosen] - most, certain[cells.chosen])
            open_classes = count(classes.class_of, gone, classes.number) > least
            if open_classes.any() and len(self._constraints) > 1:
                gone = self._in_turns(classes, gone, open_classes)
        else:
            least = certain
        if all(each.merging is not Merging.NONE for each in self._constraints):
            certain = least
        return suppressed_items(classes, gone, least, certain, int(least.sum()))

    def _in_turns(self, classes: Classes, gone: IntArray, chosen: BoolArray) -> IntArray:
        """Satisfy one constraint after the other; keep that for classes of which more records stay."""
        kept = np.where(chosen[classes.class_of], classes.counts, 0)
        while True:
            left, items = classes.part(kept)
            if not left.number or holding(self._constraints, left, self._references).all():
                break
            for constraint in self._constraints:
                left, items = classes.part(kept)
                if not left.number:
                    break
                own = FixedReference(self._table, [constraint], self._references, left.records)
                kept[items] -= own.suppress(left).gone
        more = count(classes.class_of, kept, classes.number) > count(
            classes.class_of, classes.counts - gone, classes.number
        )
        return np.where(more[classes.class_of], classes.counts - kept, gone)

    def _retain(self, cells: SensitiveCells, worthwhile: int) -> tuple[IntArray, IntArray]:
        """Return the remaining records of each cell, and a bound for each of the own classes."""
        found = self._by_rules(cells)
        kept, most, settled = found.counts.copy(), found.most.copy(), found.settled.copy()
        small = most < self._rules.smallest
        most[small] = 0
        kept[small[cells.class_of]] = 0
        settled |= small
        kept[~settled[cells.class_of]] = 0
        verified = settled & self._verified(cells, kept)
        spare = worthwhile - (int(cells.counts.sum()) - int(most.sum()))
        for position in np.flatnonzero(~verified).tolist():
            if spare < 0:
                break
            before = int(most[position])
            span = slice(cells.starts[position], cells.starts[position + 1])
            solution = self._solution(cells, position, int(most[position]))
            kept[span], most[position] = solution.kept, solution.most
            spare -= before - solution.most
        return kept, most

    def _by_rules(self, cells: SensitiveCells) -> Retained:
        """Solve classes with one rule; bound the others."""
        rules = self._rules.rules
        if not rules:
            # Models without rules for records suppress classes as a whole.
            sizes = np.bincount(cells.class_of, weights=cells.counts).astype(np.int64)
            return Retained(np.zeros_like(cells.counts), sizes, np.ones(len(sizes), dtype=bool))
        if len(rules) == 1:
            return rules[0].retain(cells)
        sizes = np.bincount(cells.class_of, weights=cells.counts).astype(np.int64)
        most = np.min([sizes, *(rule.most(cells) for rule in rules)], axis=0)
        return Retained(np.zeros_like(cells.counts), most, most == 0)

    def _verified(self, cells: SensitiveCells, kept: IntArray) -> BoolArray:
        """Return which classes are valid with their remaining records, or empty."""
        verified = np.ones(len(cells.chosen), dtype=bool)
        classes, left = cells.classes(kept)
        if len(left):
            verified[left] = holding(self._constraints, classes, self._references)
        return verified

    def _solution(self, cells: SensitiveCells, position: int, most: int) -> ClassSolution:
        """Solve one class by integer programming; equal classes share the solution."""
        span = slice(cells.starts[position], cells.starts[position + 1])
        views = []
        for rule in self._rules.rules:
            parts = cells.parts(rule.attribute.name, combined=rule.combined)[0][span]
            own = np.unique(parts, return_inverse=True)[1].astype(np.int64)
            views.append(View(rule.retention, own, rule.values(cells)[span]))
        counts = cells.counts[span]
        key = (counts.tobytes(), *(view.signature for view in views))
        if key not in self._solved:

            def verify(kept: IntArray) -> bool:
                one = cells.one_class(position, kept)
                return bool(holding(self._constraints, one, self._references)[0])

            problem = ClassProblem(counts, tuple(views), self._rules.smallest, most)
            self._solved[key] = solve(problem, verify)
        return self._solved[key]


FEW = 8
"""Records up to which every combination of losses may be tried."""

TRIED = 50
"""Most references that are tried for one candidate."""

CELLS = 40
"""Most cells of a candidate for trying references, as each may take an integer programme."""


@dataclass(frozen=True, eq=False)
class Joint:
    """The suppressed records of all classes.

    Attributes
    ----------
    gone: records of each item, shape (items,), int64; None if nothing better was found.
    fewest: no fewer records can be suppressed.
    """

    gone: IntArray | None
    fewest: int


class MovingReference:
    """The fewest suppressed records of all classes under the reference of the remaining ones.

    Parameters
    ----------
    references: of every attribute; only those in constraints change.
    """

    def __init__(self, table: Table, constraints: Sequence[ClassConstraint], references: References) -> None:
        self._table = table
        self._standing = references
        self._constraints = tuple(constraints)
        referring = {each.attribute for each in constraints if each.model.uses_reference}
        self._referring = [each for each in table.sensitive if each.name in referring]

    def suppress(self, classes: Classes, fewest: int, below: int) -> Joint:
        """Return the fewest records to suppress if they are below a number.

        Parameters
        ----------
        fewest: no fewer records can be suppressed.
        """
        cells = sensitive_cells(classes, np.ones(classes.number, dtype=bool), self._table.sensitive)
        if len(cells.counts) > CELLS:
            return Joint(None, fewest)
        kinds = _Kinds.of(cells, self._referring)
        tried = 0
        for gone in range(fewest, min(below, classes.records)):
            for lost in kinds.losses(gone):
                tried += 1
                if tried > TRIED and classes.records > FEW:
                    return Joint(None, gone)
                kept, possible = self._with_losses(cells, kinds, lost)
                if kept is not None:
                    found = np.zeros_like(classes.counts)
                    found[cells.items] = cells.gone(cells.counts - kept)
                    return Joint(found, gone)
                if possible:
                    return Joint(None, gone)
        return Joint(None, max(fewest, below))

    def _with_losses(
        self, cells: SensitiveCells, kinds: _Kinds, lost: IntArray
    ) -> tuple[IntArray | None, bool]:
        """Return the remaining records of each cell, None without any; and whether some may exist."""
        left = kinds.totals - lost
        references = {**self._standing, **kinds.references(left)}
        # No class may have values that the reference has lost.
        allowed = np.where(left[kinds.of_cell] > 0, cells.counts, 0)
        classes, own = cells.classes(allowed)
        fixed = FixedReference(self._table, self._constraints, references, int(lost.sum()))
        spared = classes.sizes - fixed.suppress(classes).least
        if spared.sum() < left.sum():
            return None, False
        held = np.flatnonzero(allowed)
        numbers = np.zeros(len(cells.chosen), dtype=np.int64)
        numbers[own] = np.arange(len(own))
        kept = np.zeros_like(cells.counts)
        problem = self._programme(cells, references, held, numbers, kinds.of_cell[held], left)

        def verify(counts: IntArray) -> bool:
            kept[held] = counts
            staying, _ = cells.classes(kept)
            return bool(holding(self._constraints, staying, references).all())

        solution = solve(problem, verify)
        if solution.kept.any():
            kept[held] = solution.kept
            return kept, True
        return None, solution.most >= problem.most

    def _programme(
        self,
        cells: SensitiveCells,
        references: References,
        held: IntArray,
        numbers: IntArray,
        kinds: IntArray,
        left: IntArray,
    ) -> ClassProblem:
        """Return the problem of all classes with the cells that may stay."""
        rules = rules_of(self._table, self._constraints, references)
        class_of = numbers[cells.class_of[held]]
        views = [View(CountConditions(smallest=rules.smallest), class_of, np.zeros_like(class_of))]
        for rule in rules.rules:
            parts = cells.parts(rule.attribute.name, combined=rule.combined)[0][held]
            own = np.unique(parts, return_inverse=True)[1].astype(np.int64)
            views.append(View(rule.retention, own, rule.values(cells)[held]))
        sums = tuple((np.flatnonzero(kinds == kind), int(left[kind])) for kind in np.unique(kinds).tolist())
        return ClassProblem(cells.counts[held], tuple(views), 1, int(left.sum()), sums)


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The combinations of values of the referring attributes.

    Attributes
    ----------
    attributes: the referring ones.
    codes: of each kind, shape (kinds, attributes), int64.
    totals: records of each kind, shape (kinds,), int64.
    of_cell: kind of each cell, shape (cells,), int64.
    """

    attributes: Sequence[SensitiveAttribute]
    codes: IntArray
    totals: IntArray
    of_cell: IntArray

    @classmethod
    def of(cls, cells: SensitiveCells, attributes: Sequence[SensitiveAttribute]) -> _Kinds:
        """Return the kinds of some cells."""
        codes = np.stack([cells.sensitive[each.name].codes for each in attributes], axis=1)
        kinds, of_cell = np.unique(codes, axis=0, return_inverse=True)
        of_cell = of_cell.reshape(-1).astype(np.int64)
        return cls(attributes, kinds, count(of_cell, cells.counts, len(kinds)), of_cell)

    def references(self, left: IntArray) -> References:
        """Return the distribution of each referring attribute for remaining records of each kind."""
        return {
            each.name: Reference(count(self.codes[:, position], left, each.column.size))
            for position, each in enumerate(self.attributes)
        }

    def losses(self, number: int) -> Iterator[IntArray]:
        """Yield every way to take a number of records from the kinds, shape (kinds,), int64."""
        totals = self.totals.tolist()
        yield from (np.array(own, dtype=np.int64) for own in _ways(totals, number))


def _ways(totals: Sequence[int], number: int) -> Iterator[tuple[int, ...]]:
    if not totals:
        if not number:
            yield ()
        return
    first, *rest = totals
    for own in range(max(0, number - sum(rest)), min(first, number) + 1):
        for others in _ways(rest, number - own):
            yield (own, *others)


ROUNDS = 12
"""Rounds in which the reference of the remaining records replaces the one before."""


class OptimalRecords(Suppressor):
    """Suppresses the fewest records of each violating class.

    With p of the remaining records, the records of one class move the reference of all.

    Solving is repeated with the reference of the remaining records until that agrees with itself, or no class
    violates a constraint; then everything is verified under it. Conditions under any reference within the
    limit give the bound.
    """

    chooses = True

    def __init__(self, problem: SearchProblem) -> None:
        super().__init__(problem)
        # With a moving reference, suppression under p of the input is not a bound.
        self._worthwhile = self.table.records if problem.moving_reference else problem.limit
        self._fixed = self._under(self.input)
        self._names = self.table.sensitive_names
        self._whole = WholeClasses(problem)
        self._rules: dict[int, Rules] = {}
        self._moving = MovingReference(self.table, self.constraints, self.input)

    def under_input(self, classes: Classes) -> Suppressed:
        """Suppress the fewest records of each class."""
        return self._fixed.suppress(classes)

    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Return the best result of repeated solving; optimal only if it equals the bound."""
        found = [gone for gone in (self._repeated(classes, first.gone),) if gone is not None]
        found.append(self._descended(classes, first.gone))
        found.append(self._by_classes(classes))
        best = self._improved(classes, min(found, key=_records))
        least = self._least(classes, self.limit)
        fewest, below = _records(least), min(_records(best), self.limit + 1)
        if 0 < below <= self.limit:
            # A better solution moves p less than the best so far.
            fewest = max(fewest, min(_records(self._least(classes, below - 1)), below))
        joint = self._moving.suppress(classes, fewest, below)
        gone = best if joint.gone is None else joint.gone
        return suppressed_items(classes, gone, least, self._certain(classes, least), joint.fewest)

    def _certain(self, classes: Classes, least: IntArray) -> IntArray:
        """Return the bound for any split of the classes, from the bound without a split.

        If merging can violate a model, the parts of a class may lose less than the class.
        """
        if all(each.merging is not Merging.NONE for each in self.constraints):
            return least
        fixed = [each for each in self.constraints if not each.model.uses_reference]
        return certain_losses(fixed, classes, self.input)

    def _by_classes(self, classes: Classes) -> IntArray:
        """Suppress whole classes, which is a solution too."""
        return self._whole.under_release(classes, self._whole.under_input(classes)).gone

    def _improved(self, classes: Classes, gone: IntArray) -> IntArray:
        """Solve again under the reference of the best while that suppresses fewer records."""
        while True:
            left, _ = classes.part(classes.counts - gone)
            if not left.number:
                return gone
            anew = self._under(references_of(left, self._names)).suppress(classes).gone
            anew = self._descended(classes, anew)
            if _records(anew) >= _records(gone):
                return gone
            gone = anew

    def _repeated(self, classes: Classes, gone: IntArray) -> IntArray | None:
        """Solve again under the reference of the remaining records until it verifies itself, or None."""
        seen: set[bytes] = set()
        for _ in range(ROUNDS):
            left, _ = classes.part(classes.counts - gone)
            references = references_of(left, self._names)
            if not left.number or holding(self.constraints, left, references).all():
                return gone
            key = b"".join(references[name].counts.tobytes() for name in self._names)
            if key in seen:
                return None
            seen.add(key)
            gone = self._under(references).suppress(classes).gone
        return None

    def _descended(self, classes: Classes, gone: IntArray) -> IntArray:
        """Suppress more records until the rest is valid under its own reference."""
        while True:
            left, items = classes.part(classes.counts - gone)
            references = references_of(left, self._names)
            if not left.number or holding(self.constraints, left, references).all():
                return gone
            gone = gone.copy()
            gone[items] += self._under(references).suppress(left).gone

    def _drifted(self, number: int) -> Rules:
        """Return the rules under any reference that results from the input's by losing so many records."""
        if number not in self._rules:
            share = Fraction(number, self.table.records)
            self._rules[number] = rules_of(self.table, self.constraints, self.input, share)
        return self._rules[number]

    def _under(self, references: References) -> FixedReference:
        return FixedReference(self.table, self.constraints, references, self._worthwhile)

    def _least(self, classes: Classes, number: int) -> IntArray:
        """Return a lower bound for each class under any p if at most a number of records are suppressed."""
        fixed = [each for each in self.constraints if not each.model.uses_reference]
        least = certain_losses(fixed, classes, self.input)
        chosen = least < classes.sizes
        if number >= self.table.records or not chosen.any():
            return least
        cells = sensitive_cells(classes, chosen, self.table.sensitive)
        for rule in self._drifted(number).rules:
            own = classes.sizes[cells.chosen] - rule.most(cells)
            least[cells.chosen] = np.maximum(least[cells.chosen], own)
        return least


def _records(counts: IntArray) -> int:
    return int(counts.sum())
