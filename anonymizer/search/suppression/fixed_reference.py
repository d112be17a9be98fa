"""The fewest records to suppress of each class while the reference stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.model.counting import count
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.search.suppression.by_size import Retained
from anonymizer.search.suppression.class_problem import ClassProblem, ClassSolution, View
from anonymizer.search.suppression.class_solver import solve
from anonymizer.search.suppression.rules import Rules, rules_of
from anonymizer.search.suppression.sensitive_cells import SensitiveCells, sensitive_cells
from anonymizer.search.suppression.suppressor import (
    References,
    Suppressed,
    certain_losses,
    holding,
    suppressed_items,
)


class FixedReference:
    """The fewest records of each class under one reference.

    Solutions of the integer programme are remembered by the counts of the class.

    Parameters
    ----------
    worthwhile: once more records than this are certain to go, failing classes go as a whole, unsolved.
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
        """Return the fewest records of each class; ``certain`` is what any split of it must lose as well."""
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
        """Meet one constraint after the other where that leaves more of a class than was found."""
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
        """Return what stays of each cell, shape (cells,), and at most of each class, shape (own classes,)."""
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
        """Settle what one rule alone decides; bound the rest."""
        rules = self._rules.rules
        if not rules:
            # Models that say nothing of single records suppress classes as a whole.
            sizes = np.bincount(cells.class_of, weights=cells.counts).astype(np.int64)
            return Retained(np.zeros_like(cells.counts), sizes, np.ones(len(sizes), dtype=bool))
        if len(rules) == 1:
            return rules[0].retain(cells)
        sizes = np.bincount(cells.class_of, weights=cells.counts).astype(np.int64)
        most = np.min([sizes, *(rule.most(cells) for rule in rules)], axis=0)
        return Retained(np.zeros_like(cells.counts), most, most == 0)

    def _verified(self, cells: SensitiveCells, kept: IntArray) -> BoolArray:
        """Tell which classes hold with what stays of them, or have nothing left."""
        verified = np.ones(len(cells.chosen), dtype=bool)
        classes, left = cells.classes(kept)
        if len(left):
            verified[left] = holding(self._constraints, classes, self._references)
        return verified

    def _solution(self, cells: SensitiveCells, position: int, most: int) -> ClassSolution:
        """Solve one class by integer programming, once for equal ones."""
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
