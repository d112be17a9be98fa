"""Levels and local suppression combined: transformations in the order of their lower bounds."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.errors import InputError
from anonymizer.loss.base import ArithmeticMean, CellMetric, LossMetric
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes, released
from anonymizer.model.counting import count, group_keys
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import FullDomainRecoding, LocalSuppressionRecoding, levels_by_name
from anonymizer.model.table import SUPPRESSED, Table
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.frontier import Frontier, LatticeRun, Levels, Tiles
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.cell_models import CellModels
from anonymizer.search.suppression.cell_problem import BLANK, CellProblem, CellSuppression
from anonymizer.search.suppression.cells import CellSearch
from anonymizer.search.suppression.suppressor import certain_losses


@dataclass(frozen=True, eq=False)
class CellWeights:
    """Costs of the cells of one record, by the hierarchy node that each is published as.

    Where the metric is a weighted sum over cells, the cheapest blanking loses least: a blank costs what the
    metric charges for it beyond what it charges for the node, which is the attribute's weight where nothing
    is generalized. With any other metric a blank costs the weight wherever it is.

    Attributes
    ----------
    blank: of blanking a cell, an array of shape (nodes,) for each attribute.
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
        # The root, which is what a blank hides, is the first node.
        blank = tuple(each.weight * np.maximum(costs[0] - costs, 0.0) for each, costs in pairs)
        gone = tuple(each.weight * (1.0 - costs) for each, costs in pairs)
        return cls(blank, gone, additive=True, unit=unit)


@dataclass(frozen=True, eq=False)
class CellNode:
    """The table at some levels, its combinations grouped by all that matters.

    Attributes
    ----------
    base: what is published before cells are blanked.
    row: of each combination of the table, shape (combinations,), int64.
    cells: which cells to blank, at least cost.
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
        nodes = np.stack([base.nodes(i) for i in range(len(table.quasi_identifiers))], axis=1).astype(
            np.int64
        )
        row, first = _grouped(table, nodes, models.names)
        codes = np.stack([_published(base, position)[first] for position in range(nodes.shape[1])], axis=1)
        costs = np.stack([own[at] for own, at in zip(weights.blank, nodes[first].T, strict=True)], axis=1)
        gone = np.stack([own[at] for own, at in zip(weights.gone, nodes[first].T, strict=True)], axis=1)
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
        )
        return cls(problem, models, base, row, cells)

    def without_suppression(self) -> CellNode:
        """Return the node with no record to be suppressed: the reference then stays as it is."""
        return replace(self, cells=replace(self.cells, most_gone=0))

    def recoding(self, blanking: CellSuppression) -> LocalSuppressionRecoding | None:
        """Return what is released; None where that does not satisfy every constraint.

        Suppressed records stay where that is asked for and the class they make holds, else they are removed.
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
        """Deal the pieces of each row to its combinations, in their order.

        Returns
        -------
        Combination, records and piece of each part, shape (parts,), the combinations ascending.
        """
        order = np.argsort(self.row, kind="stable")
        of_combination = np.cumsum(self.problem.table.counts[order])
        of_piece = np.cumsum(blanking.count)
        ends = np.union1d(of_combination, of_piece)
        owner = order[np.searchsorted(of_combination, ends)]
        piece = np.searchsorted(of_piece, ends)
        counts = np.diff(ends, prepend=0)
        sort = np.argsort(owner, kind="stable")
        return owner[sort], counts[sort], piece[sort]

    def _valid(self, own: LocalSuppressionRecoding, *, kept_suppressed: bool) -> bool:
        """Tell whether the classes as published satisfy every constraint, the starred one told apart."""
        stays = np.flatnonzero(~own.removed)
        columns = [column.codes[stays].astype(np.int64) for column in own.published()]
        suppressed = own.suppressed[stays].astype(np.int64)
        class_of, number = _keys([suppressed, *columns])
        if not number or (kept_suppressed and self._starred_before(own)):
            return False
        secret = {
            each.name: SensitiveCodes(each, own.table.sensitive_codes(each.name)[stays].astype(np.int64))
            for each in own.table.sensitive
        }
        classes = Classes(class_of, own.table.counts[stays], number, secret)
        return self.models.valid(classes, kept_suppressed=kept_suppressed)

    def _starred_before(self, own: LocalSuppressionRecoding) -> bool:
        """Tell whether records that are not suppressed have nothing but ``*`` either."""
        native: BoolArray = np.logical_and.reduce(self.cells.native, axis=1)[self.row]
        if own.owner is not None:
            native = native[own.owner]
        return bool((native & ~own.suppressed).any())


def _grouped(table: Table, nodes: IntArray, names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Group combinations by their nodes and some sensitive values; return the groups and one of each."""
    row, number = _keys([*nodes.T, *(table.sensitive_codes(name).astype(np.int64) for name in names)])
    first = np.full(number, table.combinations, dtype=np.int64)
    np.minimum.at(first, row, np.arange(table.combinations))
    return row, first


def _keys(columns: Sequence[IntArray]) -> tuple[IntArray, int]:
    keys, number = np.zeros(len(columns[0]), dtype=np.int64), min(len(columns[0]), 1)
    for column in columns:
        size = int(column.max(initial=0)) + 1
        keys, distinct = group_keys(keys * size + column, max(number, 1) * size)
        number = len(distinct)
    return keys, number


def _published(base: FullDomainRecoding, position: int) -> IntArray:
    """Return a code of the published text of each combination, ``BLANK`` for ``*``, shape (combinations,)."""
    cells = base.cells(position)
    numbers: dict[str, int] = {SUPPRESSED: BLANK}
    used, at = np.unique(cells.codes, return_inverse=True)
    own = [numbers.setdefault(cells.labels[node], len(numbers) - 1) for node in used.tolist()]
    return np.array(own, dtype=np.int64)[at]


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
        super().__init__(control, Tiles(problem.table, self._loss))
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
        if self._recoding is not None or not self._problem.admits(table.records):
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
