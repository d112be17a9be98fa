"""Levels combined with local suppression: transformations in the order of their lower bounds."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from anonymizer.loss.base import ArithmeticMean, CellMetric, LossMetric
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, numbered, overlaps
from anonymizer.model.classes import Classes, released
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import (
    FullDomainRecoding,
    LocalSuppressionRecoding,
    Outcome,
    Step,
    levels_by_name,
)
from anonymizer.model.table import Table
from anonymizer.search.base import (
    Control,
    SearchProblem,
    nodes_at,
    search_with,
    sensitive_codes,
    weighs_differently,
)
from anonymizer.search.judge import Judge, explained
from anonymizer.search.lattice.frontier import Frontier, LatticeRun, Levels, Tiles
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.cell_models import CellModels
from anonymizer.search.suppression.cell_problem import BLANK, CellProblem, CellSuppression
from anonymizer.search.suppression.cells import CellSearch
from anonymizer.search.suppression.suppressor import certain_losses


@dataclass(frozen=True, eq=False)
class CellWeights:
    """Costs of the cells of one record, by their published hierarchy nodes.

    If the metric is a weighted sum over cells, a suppressed cell costs the difference between ``*`` and the
    node, so that the cheapest suppression has the lowest loss. With any other metric it costs the attribute's
    weight.

    Attributes
    ----------
    blank: of suppressing a cell, an array of shape (nodes,) for each attribute.
    gone: share of a cell in the cost of suppressing its record, of the same shapes.
    additive: whether the objective is the loss of the levels plus these costs, in units of ``unit``.
    unit: what one unit of cost adds to the objective.
    """

    blank: tuple[FloatArray, ...]
    gone: tuple[FloatArray, ...]
    additive: bool
    unit: float

    @classmethod
    def of(cls, table: Table, metric: LossMetric) -> CellWeights:
        """Return the costs of the cells of a table."""
        attributes = table.quasi_identifiers
        unit = 1.0 / (sum(each.weight for each in attributes) * table.records)
        if not isinstance(metric, CellMetric) or not isinstance(metric.aggregate, ArithmeticMean):
            plain = tuple(np.full(len(each.hierarchy.labels), each.weight) for each in attributes)
            return cls(plain, plain, additive=False, unit=unit)
        charged = [metric.node_costs(each) for each in attributes]
        pairs = list(zip(attributes, charged, strict=True))
        # The root, as which a suppressed cell counts, is the first node.
        blank = tuple(each.weight * np.maximum(costs[0] - costs, 0.0) for each, costs in pairs)
        gone = tuple(each.weight * (1.0 - costs) for each, costs in pairs)
        return cls(blank, gone, additive=True, unit=unit)


@dataclass(frozen=True, eq=False)
class CellNode:
    """The table at some levels, its combinations grouped by nodes and sensitive values.

    Attributes
    ----------
    base: the recoding without suppressed cells.
    row: of each combination of the table, shape (combinations,), int64.
    cells: the problem of suppressing cells at least cost.
    """

    problem: SearchProblem
    models: CellModels
    base: FullDomainRecoding
    row: IntArray
    cells: CellProblem

    @classmethod
    def of(
        cls, problem: SearchProblem, models: CellModels, weights: CellWeights, levels: Sequence[int]
    ) -> CellNode:
        """Group the table at some levels."""
        table = problem.table
        none = np.zeros(table.combinations, dtype=bool)
        base = FullDomainRecoding(table, levels, none, none)
        nodes = nodes_at(table, levels).astype(np.int64)
        watched = (table.sensitive_codes(name) for name in models.names)
        # Records that weigh differently are not suppressed at equal cost.
        weighed = weighs_differently(problem)
        weighing = table.codes.T[-1:] if weighed else ()
        row, first = numbered([*nodes.T, *watched, *models.keys, *weighing], table.combinations)
        codes = np.stack([_published(base, position)[first] for position in range(nodes.shape[1])], axis=1)
        costs = np.stack([own[at] for own, at in zip(weights.blank, nodes[first].T, strict=True)], axis=1)
        gone = np.stack([own[at] for own, at in zip(weights.gone, nodes[first].T, strict=True)], axis=1)
        if weighed:
            share = table.row_weights[first] * (table.records / table.people)
            costs, gone = costs * share[:, None], gone * share[:, None]
        rules, complete = models.rules(table, first)
        cells = CellProblem(
            codes,
            count(row, table.counts, len(first)),
            costs,
            gone.sum(axis=1),
            problem.minimum_size,
            models.judge(table, first),
            min(problem.limit, table.records - 1),
            rules,
            complete,
            weighed=weighed,
        )
        return cls(problem, models, base, row, cells)

    def recoding(self, blanking: CellSuppression) -> LocalSuppressionRecoding | None:
        """Return the recoding; None if it violates a constraint.

        Suppressed records stay if the config says so and their class satisfies the constraints, else they are
        removed.
        """
        owner, counts, piece = self._parts(blanking)
        table = self.problem.table
        blanks = blanking.blanks[piece] | blanking.gone[piece][:, None]
        whole = len(owner) == table.combinations
        parts = None if whole else owner
        split = table if whole else table.split(owner, counts)
        own = LocalSuppressionRecoding(split, self.base, blanks, parts)
        if not own.suppressed.any():
            return own if self._valid(own, kept_suppressed=False) else None
        if self.problem.keep_rows and self._valid(own, kept_suppressed=True):
            return own
        own = LocalSuppressionRecoding(split, self.base, blanks, parts, own.suppressed)
        return own if self._valid(own, kept_suppressed=False) else None

    def _parts(self, blanking: CellSuppression) -> tuple[IntArray, IntArray, IntArray]:
        """Assign the pieces of each row to its combinations, in their order.

        Returns
        -------
        Combination, records and piece of each part, shape (parts,), the combinations ascending.
        """
        order = np.argsort(self.row, kind="stable")
        place, piece, counts = overlaps(self.problem.table.counts[order], blanking.count)
        owner = order[place]
        sort = np.argsort(owner, kind="stable")
        return owner[sort], counts[sort], piece[sort]

    def _valid(self, own: LocalSuppressionRecoding, *, kept_suppressed: bool) -> bool:
        """Return whether all classes as published satisfy every constraint; suppressed records are one."""
        stays = np.flatnonzero(~own.removed)
        columns = [column.codes[stays] for column in own.published()]
        class_of, first = numbered([own.suppressed[stays].astype(np.int64), *columns], len(stays))
        if not len(first) or (kept_suppressed and self._others_empty(own)):
            return False
        secret, counts = sensitive_codes(own.table, stays), own.table.counts[stays]
        owner = stays if own.owner is None else own.owner[stays]
        measure = self.problem.table.measure.parts(owner, counts)
        classes = Classes(class_of, measure, len(first), secret)
        return self.models.valid(classes, kept_suppressed=kept_suppressed)

    def _others_empty(self, own: LocalSuppressionRecoding) -> bool:
        """Return whether other records have nothing but ``*`` too."""
        native: BoolArray = np.logical_and.reduce(self.cells.native, axis=1)[self.row]
        if own.owner is not None:
            native = native[own.owner]
        return bool((native & ~own.suppressed).any())


def _published(base: FullDomainRecoding, position: int) -> IntArray:
    """Return a code of each combination's published text, ``BLANK`` for ``*``, shape (combinations,)."""
    cells = base.cells(position)
    numbers: dict[str, int] = {SUPPRESSED: BLANK}
    used, at = np.unique(cells.codes, return_inverse=True)
    own = [numbers.setdefault(cells.labels[node], len(numbers) - 1) for node in used.tolist()]
    return np.array(own, dtype=np.int64)[at]


@dataclass(order=True)
class _Open:
    """A transformation that may still be better than the incumbent.

    Attributes
    ----------
    bound: lower bound of its objective.
    levels: of the node.
    counted: whether its classes have been counted.
    """

    bound: float
    levels: Levels
    counted: bool = field(default=False)


STEPS = 40
"""Steps of the search with whole classes that proposes levels."""


class CellSuppressionSearch(LatticeRun):
    """Finds the levels and suppressed cells of lowest objective.

    A transformation costs at least as much as its levels. Once its classes are counted, every certainly lost
    record adds at least its cheapest cell. The open transformation of lowest bound is next: its classes are
    counted, then its cells are chosen. The search ends once no open one can be better than the incumbent,
    which is then proven optimal.
    """

    def __init__(self, problem: SearchProblem, control: Control) -> None:
        self._loss = problem.metric.on_lattice(problem.table, problem.k, problem.minimum_size)
        super().__init__(control, Tiles(problem.table, self._loss))
        self._problem = problem
        self._models = CellModels(problem)
        self._weights = CellWeights.of(problem.table, problem.metric)
        # Only metrics of cells are known not to fall if cells are suppressed.
        self._bounded = isinstance(problem.metric, CellMetric)
        self._rollup = RollUp.of(problem.table)
        self._whole = Judge(replace(problem, suppression=SuppressionMethod.CLASSES))
        self._recoding: LocalSuppressionRecoding | None = None
        self._done: set[Levels] = set()
        self._require_value()

    def run(self) -> Outcome:
        """Return the optimum, or the incumbent with its bound at the end of the budget.

        Raises
        ------
        InputError: the metric has no value for local suppression.
        Interrupted: the user ended the search before it found a release.
        """
        if self._tiles.large and np.isposinf(self._control.below):
            self._approach()
        if not self._tiles.explorable:
            return self._early(self._tiles.bound)
        for frontier in self._tiles.in_order(lambda: self._best if self._bounded else np.inf):
            pending = self._opened(frontier)
            if not pending or self._settled(pending[0]):
                if self._ended(self._evaluated):
                    return self._early(self._tiles.bound)
                self._steps.append(Step({"move": "box"}, None, accepted=False))
            while pending and not self._settled(pending[0]):
                if self._ended(self._evaluated):
                    return self._early(min(pending[0].bound, self._tiles.bound))
                node = heapq.heappop(pending)
                bound = min(node.bound, self._tiles.bound, self._unproven)
                self._control.tell(partial(self._progress, bound))
                if node.counted:
                    self._blank(node)
                else:
                    heapq.heappush(pending, self._count(node))
        self._suppress_everything()
        return self._outcome(self._recoding, self._unproven)

    def _early(self, bound: float) -> Outcome:
        """Return the outcome at the end of the budget, with the most general transformation if need be."""
        if self._recoding is None and not self._interrupted and np.isposinf(self._control.below):
            self._offer_whole(self._tiles.top, np.zeros(self._problem.table.combinations, dtype=bool))
        return self._outcome(self._recoding, min(bound, self._unproven))

    def _approach(self) -> None:
        """Take the most general transformation, and the best one for whole classes, as incumbents.

        So there is a release from the first second, and a good one soon.
        """
        none = np.zeros(self._problem.table.combinations, dtype=bool)
        before = self._recoding
        self._note(self._tiles.top, self._offer_whole(self._tiles.top, none), self._better_than(before))
        if self._ended(self._evaluated):
            return
        problem = replace(self._problem, suppression=SuppressionMethod.CLASSES)
        left = self._left()
        steps = STEPS if left.steps is None else min(left.steps, STEPS)
        found = search_with("lattice", problem, replace(left, steps=steps))
        # Where cells are suppressed these are proposals.
        self._steps += [replace(step, accepted=False) for step in found.steps]
        self._evaluated += found.evaluated
        self._interrupted = self._interrupted or found.interrupted
        if isinstance(found.recoding, FullDomainRecoding):
            levels = tuple(found.recoding.levels)
            self._offer_whole(levels, found.recoding.suppressed)
            if not self._ended(self._evaluated):
                self._suppress_at(levels)

    def _suppress_at(self, levels: Levels) -> None:
        if levels not in self._done:
            self._done.add(levels)
            bound = self._loss.floor(levels) if self._bounded else -np.inf
            self._blank(self._count(_Open(bound, levels)))

    def _require_value(self) -> None:
        table = self._problem.table
        none = np.zeros(table.combinations, dtype=bool)
        base = FullDomainRecoding(table, [each.minimum for each in table.quasi_identifiers], none, none)
        blanks = np.zeros((table.combinations, len(table.quasi_identifiers)), dtype=bool)
        self._problem.loss(LocalSuppressionRecoding(table, base, blanks), "suppression.method: cells")

    def _opened(self, frontier: Frontier) -> list[_Open]:
        bounds = frontier.bounds if self._bounded else np.full(frontier.bounds.shape, -np.inf)
        nodes = [_Open(float(bounds[at]), frontier.levels(at)) for at in np.ndindex(*bounds.shape)]
        pending = [node for node in nodes if node.levels not in self._done]
        heapq.heapify(pending)
        return pending

    def _settled(self, node: _Open) -> bool:
        return node.bound >= self._best - self._loss.rounding * abs(self._best)

    def _count(self, node: _Open) -> _Open:
        """Count the classes of a transformation, and raise its bound by the certain losses."""
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
        lost: float = int(certain_losses(fixed, classes, self._models.input).sum())
        if self._problem.metric.by_weights:
            table = self._problem.table
            lost = self._rollup.fewest_people(int(lost)) * (table.records / table.people)
        bound = node.bound + lost * self._cheapest(node.levels) * self._weights.unit
        return _Open(bound, node.levels, counted=True)

    def _cheapest(self, levels: Levels) -> float:
        """Return the least cost of a suppressed cell; 0 if a record could join a class without cost."""
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
        """Choose the cells of a transformation and keep its bound."""
        own = CellNode.of(self._problem, self._models, self._weights, node.levels)
        proven = self._search(own, node, proving=not self._models.moving)
        if self._models.moving and not self._ended(self._evaluated):
            # Without suppressed records the reference is that of the input.
            unsuppressed = replace(own, cells=replace(own.cells, most_gone=0))
            self._search(unsuppressed, node, proving=False)
        self._unproven = min(self._unproven, max(proven, node.bound))

    def _search(self, own: CellNode, node: _Open, *, proving: bool) -> float:
        """Search the cheapest cells; return a lower bound of what is still open, infinite if nothing is."""
        ceiling = np.inf
        if self._weights.additive and np.isfinite(self._best):
            ceiling = (self._best - self._loss.floor(node.levels)) / self._weights.unit
        # The first choice is a step of its own, so that a budget of steps can repeat a budget of time.
        search = CellSearch(own.cells, self._control, len(self._steps) + 1, ceiling)
        found = search.run()
        self._interrupted = self._interrupted or found.interrupted
        before = self._recoding
        objective = self._offer(own, found.blanking)
        better = self._better_than(before)
        for _ in range(found.steps):
            self._note(node.levels, objective)
        self._note(node.levels, objective, better)
        if not proving:
            return -np.inf
        if not self._weights.additive:
            return np.inf if found.infeasible else -np.inf
        bound = self._loss.floor(node.levels) + found.bound * self._weights.unit
        reached = found.optimal and np.isfinite(objective)
        return np.inf if reached or bound >= self._best else bound

    def _offer(self, own: CellNode, blanking: CellSuppression | None) -> float:
        """Keep a choice of cells if it is valid and better; return its objective, infinite if invalid."""
        recoding = None if blanking is None else own.recoding(blanking)
        if recoding is None:
            return np.inf
        value = self._problem.metric.value(released(recoding, self._problem.k))
        objective = np.inf if value is None else value
        if objective < self._best - self._loss.rounding * abs(objective):
            self._best, self._recoding = objective, recoding
        return objective

    def _suppress_everything(self) -> None:
        """Suppress all records if nothing else is valid and the limit allows it."""
        table = self._problem.table
        if self._recoding is None and self._problem.admits(table.records):
            lowest = tuple(each.minimum for each in table.quasi_identifiers)
            self._offer_whole(lowest, np.ones(table.combinations, dtype=bool))

    def _offer_whole(self, levels: Levels, suppressed: BoolArray) -> float:
        """Offer the suppression of all records of some combinations, and of no other cell."""
        own = CellNode.of(self._problem, self._models, self._weights, levels)
        gone = np.zeros(own.cells.rows, dtype=bool)
        gone[own.row[suppressed]] = True
        blanks = ~own.cells.native & gone[:, None]
        return self._offer(own, CellSuppression(np.arange(len(gone)), own.cells.counts, blanks, gone))

    def _better_than(self, before: LocalSuppressionRecoding | None) -> LocalSuppressionRecoding | None:
        """Return the incumbent if it is another one than before."""
        return None if self._recoding is before else self._recoding

    def _note(
        self, levels: Levels, objective: float = np.inf, better: LocalSuppressionRecoding | None = None
    ) -> None:
        """Log a step.

        Parameters
        ----------
        better: the new incumbent that this step ends with.
        """
        candidate = levels_by_name(self._problem.table.quasi_identifiers, levels)
        shown = objective if np.isfinite(objective) else None
        step = Step(candidate, shown, shown is not None)
        if better is not None:
            self._steps.note(step, lambda own: explained(self._problem, own, better))
        elif shown is None:
            self._steps.note(step, lambda own: self._without_cells(levels, own))
        else:
            self._steps.append(step)

    def _without_cells(self, levels: Levels, step: Step) -> Step:
        """Return the step of levels with what each constraint measures before cells are suppressed."""
        return replace(step, checks=self._whole.judge(self._rollup.classes(levels)).checks)
