"""Levels and blanks together: the nodes of the lattice in the order of what they cost at least."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from anonymizer.errors import InputError
from anonymizer.loss.base import CellMetric
from anonymizer.model.classes import released
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import FullDomainRecoding, LocalSuppressionRecoding, levels_by_name
from anonymizer.model.table import SUPPRESSED
from anonymizer.search.base import SearchProblem
from anonymizer.search.control import Control
from anonymizer.search.full_domain.frontier import Frontier, Levels
from anonymizer.search.full_domain.lattice_run import LatticeRun
from anonymizer.search.full_domain.rollup import RollUp
from anonymizer.search.full_domain.tiles import Tiles
from anonymizer.search.suppression.cell_models import CellModels
from anonymizer.search.suppression.cell_node import CellNode
from anonymizer.search.suppression.cell_problem import CellSuppression
from anonymizer.search.suppression.cell_weights import CellWeights
from anonymizer.search.suppression.cells import CellSearch
from anonymizer.search.suppression.suppressor import certain_losses


@dataclass(order=True)
class _Open:
    """A node that may still be better than the best found.

    Attributes
    ----------
    bound: nothing published at it has a lower objective.
    levels: of the node.
    counted: whether its classes were counted.
    """

    bound: float
    levels: Levels
    counted: bool = field(default=False)


class CellSuppressionSearch(LatticeRun):
    """Finds levels, and the cells to blank at them, of the lowest objective.

    A node costs at least what its levels cost. Once its classes are counted, every record of a class that
    fails, and will fail however many of its records leave it, costs at least its cheapest cell. The open node
    that may cost least is looked at next: its classes are counted, then its cells are chosen. It ends when no
    open node can be better than the best found, which is then proven to be the optimum.
    """

    def __init__(self, problem: SearchProblem, control: Control) -> None:
        self._loss = problem.metric.on_lattice(problem.table, problem.k)
        super().__init__(control, Tiles(problem.table, self._loss), np.inf)
        self._problem = problem
        self._models = CellModels(problem)
        self._weights = CellWeights.of(problem.table, problem.metric)
        # Only metrics of cells are known to be no lower where cells are blanked.
        self._bounded = isinstance(problem.metric, CellMetric)
        self._rollup = RollUp.of(problem.table)
        self._recoding: LocalSuppressionRecoding | None = None
        self._require_value()

    def run(self) -> Outcome:
        """Return the optimum, or the best found and what is proven when the budget ends first.

        Raises
        ------
        InputError: the metric has no value where cells are blanked.
        Interrupted: by the user, before anything was found.
        """
        for frontier in self._tiles.in_order(lambda: self._best if self._bounded else np.inf):
            pending = self._opened(frontier)
            while pending and not self._settled(pending[0]):
                if self._ended():
                    return self._outcome(
                        self._recoding, min(pending[0].bound, self._tiles.bound, self._unproven)
                    )
                node = heapq.heappop(pending)
                self._tell(node.bound)
                if node.counted:
                    self._blank(node)
                else:
                    heapq.heappush(pending, self._count(node))
        self._star_everything()
        return self._outcome(self._recoding, self._unproven)

    def _require_value(self) -> None:
        table = self._problem.table
        none = np.zeros(table.combinations, dtype=bool)
        base = FullDomainRecoding(table, [each.minimum for each in table.quasi_identifiers], none, none)
        blanks = np.zeros((table.combinations, len(table.quasi_identifiers)), dtype=bool)
        if self._value(LocalSuppressionRecoding(table, base, blanks)) == np.inf:
            what = f"metric {self._problem.metric.name} has no value where single cells are blanked"
            raise InputError(f"{what}; use another metric, such as loss, or another suppression.method")

    def _opened(self, frontier: Frontier) -> list[_Open]:
        bounds = frontier.bounds if self._bounded else np.full(frontier.bounds.shape, -np.inf)
        pending = [_Open(float(bounds[at]), frontier.levels(at)) for at in np.ndindex(*bounds.shape)]
        heapq.heapify(pending)
        return pending

    def _settled(self, node: _Open) -> bool:
        return node.bound >= self._best - self._loss.rounding * abs(self._best)

    def _count(self, node: _Open) -> _Open:
        """Count the classes of a node, and raise its bound by what is certain."""
        self._evaluated += 1
        self._note(node.levels)
        if not self._weights.additive:
            return _Open(node.bound, node.levels, counted=True)
        classes = self._rollup.classes(node.levels)
        fixed = [
            each
            for each in self._problem.class_constraints
            if not (self._models.moving and each.model.uses_reference)
        ]
        lost = int(certain_losses(fixed, classes, self._models.input).sum())
        bound = node.bound + lost * self._cheapest(node.levels) * self._weights.unit
        return _Open(bound, node.levels, counted=True)

    def _cheapest(self, levels: Levels) -> float:
        """Return what blanking a cell costs at least; 0 where records could join a class by a blank."""
        least = np.inf
        for attribute, level, costs in zip(
            self._problem.table.quasi_identifiers, levels, self._weights.blank, strict=True
        ):
            nodes = np.unique(attribute.nodes(level))
            kept_suppressed = [attribute.hierarchy.labels[node] == SUPPRESSED for node in nodes.tolist()]
            if any(kept_suppressed) and not all(kept_suppressed):
                return 0.0
            least = least if all(kept_suppressed) else min(least, float(costs[nodes].min()))
        return 0.0 if np.isinf(least) else least

    def _blank(self, node: _Open) -> None:
        """Choose the cells of a node; what is proven of it is noted."""
        own = CellNode.of(self._problem, self._models, self._weights, node.levels)
        proven = self._search(own, node, proving=not self._models.moving)
        if self._models.moving and not self._ended():
            # Where nothing is suppressed, the reference is the input's.
            self._search(own.without_suppression(), node, proving=False)
        self._unproven = min(self._unproven, max(proven, node.bound))

    def _search(self, own: CellNode, node: _Open, *, proving: bool) -> float:
        """Look for the cheapest cells; return a bound of what could still be better, infinite for nothing."""
        ceiling = np.inf
        if self._weights.additive and np.isfinite(self._best):
            ceiling = (self._best - self._floor(node.levels)) / self._weights.unit
        # The first choice is a step by itself, so that a budget of steps ends where a budget of time did.
        search = CellSearch(own.cells, self._control, len(self._steps) + 1, ceiling)
        found = search.run()
        self._interrupted = self._interrupted or found.interrupted
        objective = self._offer(own, found.blanking)
        for _ in range(found.steps + 1):
            self._note(node.levels, objective)
        if not proving:
            return -np.inf
        if not self._weights.additive:
            return np.inf if found.infeasible else -np.inf
        bound = self._floor(node.levels) + found.bound * self._weights.unit
        reached = found.optimal and np.isfinite(objective)
        return np.inf if reached or bound >= self._best else bound

    def _floor(self, levels: Levels) -> float:
        """Return the objective of some levels without a blank."""
        parts = [floor[level : level + 1] for floor, level in zip(self._loss.floors, levels, strict=True)]
        return float(self._loss.combine(parts).item())

    def _offer(self, own: CellNode, blanking: CellSuppression | None) -> float:
        """Keep a choice of cells if it is valid and the best; return its objective, infinite if it is not."""
        recoding = None if blanking is None else own.recoding(blanking)
        if recoding is None:
            return np.inf
        objective = self._value(recoding)
        if objective < self._best - self._loss.rounding * abs(objective):
            self._best, self._recoding = objective, recoding
        return objective

    def _value(self, recoding: LocalSuppressionRecoding) -> float:
        value = self._problem.metric.value(released(recoding, self._problem.k))
        return np.inf if value is None else value

    def _star_everything(self) -> None:
        """Where nothing else is valid, the limit may let all records stay with no quasi-identifier."""
        table = self._problem.table
        if self._recoding is not None or self._problem.limit < table.records or not self._problem.keep_rows:
            return
        lowest = [each.minimum for each in table.quasi_identifiers]
        own = CellNode.of(self._problem, self._models, self._weights, lowest)
        rows = own.cells.rows
        gone = np.ones(rows, dtype=bool)
        blanks = ~own.cells.native
        self._offer(own, CellSuppression(np.arange(rows), own.cells.counts, blanks, gone))

    def _note(self, levels: Levels, objective: float = np.inf) -> None:
        candidate = levels_by_name(self._problem.table.quasi_identifiers, levels)
        shown = objective if np.isfinite(objective) else None
        self._steps.append(Step(candidate, shown, shown is not None))

    def _tell(self, bound: float) -> None:
        self._control.tell(lambda: self._progress(min(bound, self._tiles.bound, self._unproven)))
