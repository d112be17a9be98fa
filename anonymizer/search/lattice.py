"""Provably optimal full-domain search over the lattice of generalization levels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.core.classes import Classes
from anonymizer.core.outcome import Outcome, Status, Step
from anonymizer.core.recoding import FullDomainRecoding, levels_by_name
from anonymizer.errors import Interrupted
from anonymizer.loss.lattice import NodeFacts
from anonymizer.search.base import Problem, SearchAlgorithm, SuppressionMethod
from anonymizer.search.control import Control, Progress
from anonymizer.search.full_domain.findings import Findings
from anonymizer.search.full_domain.frontier import Frontier, Levels
from anonymizer.search.full_domain.guide import Guide
from anonymizer.search.full_domain.rollup import RollUp
from anonymizer.search.full_domain.tiles import Tiles
from anonymizer.search.judge import Judge, Verdict
from anonymizer.search.suppression.cell_lattice import BlankedLattice
from anonymizer.search.suppression.parts import parts_of


class Lattice(SearchAlgorithm):
    """Finds the levels of lowest loss among all that satisfy every constraint, and proves it.

    Every node has a lower bound on its objective: at first from its levels alone, then from what nodes above
    it lost for certain. Nodes are evaluated until no open node's bound is below the best found.
    """

    name = "lattice"
    suppressions = frozenset(SuppressionMethod)

    def search(self, problem: Problem, control: Control) -> Outcome:
        """Return the optimum, or the best found and a proven bound when the budget ends first."""
        if problem.suppression is SuppressionMethod.CELLS:
            return BlankedLattice(problem, control).run()
        return _Run(problem, control, np.inf).run()

    def search_below(self, problem: Problem, control: Control, objective: float) -> Outcome:
        """Return the optimum if it is below an objective that another recoding has reached.

        The status is infeasible where no node is both valid and below it.
        """
        return _Run(problem, control, objective).run()


class _Run:
    def __init__(self, problem: Problem, control: Control, below: float) -> None:
        self._problem = problem
        self._control = control
        self._table = problem.table
        self._judge = Judge(problem)
        self._loss = problem.metric.on_lattice(problem.table, problem.k)
        self._guide = Guide(
            problem.table,
            problem.limit,
            self._loss,
            problem.k or 5,
            shared=self._judge.lossless_merging,
        )
        self._whole = RollUp.of(problem.table)
        self._rollup = self._whole
        self._tiles = Tiles(problem.table, self._loss)
        self._findings = Findings()
        self._steps: list[Step] = []
        self._objectives: dict[Levels, float] = {}
        self._best = below
        self._best_levels: Levels | None = None
        # Nodes whose suppression is not proven optimal might be better than they were found to be.
        self._unproven = np.inf
        self._interrupted = False

    def run(self) -> Outcome:
        for frontier in self._tiles.in_order(lambda: self._best):
            self._findings.apply(frontier)
            frontier.cut(self._best, self._loss.rounding)
            bound = self._explore(frontier)
            if bound < np.inf:
                return self._outcome(min(bound, self._tiles.bound, self._unproven))
        self._prefer_finer()
        return self._outcome(self._unproven)

    def _explore(self, frontier: Frontier) -> float:
        """Evaluate nodes of a box; return the lowest bound left, infinity when all is settled."""
        self._rollup = self._whole.raised(frontier.lowest)
        unsettled = frontier.bounds.size
        while frontier.minimum() < np.inf:
            if self._ended():
                return frontier.minimum()
            self._control.tell(lambda: self._progress(frontier))
            self._settle(frontier, self._guide.choose(frontier, self._best))
            left = int(frontier.open.sum())
            if 0 < left <= unsettled // 2:
                unsettled = left
                if frontier.shrink():
                    self._rollup = self._rollup.raised(frontier.lowest)
        return np.inf

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(len(self._steps), len(self._steps))

    def _settle(self, frontier: Frontier, levels: Levels) -> None:
        """Evaluate a node and draw the conclusions for all others."""
        classes = self._rollup.classes(levels)
        verdict = self._judge.judge(classes)
        certain = int(verdict.losses.sum())
        self._guide.learn(levels, verdict.suppressed, certain)
        if certain > self._problem.limit or (certain == classes.records and not self._problem.keep_rows):
            self._findings.rule_out_below(frontier, levels)
            self._note(levels, None, verdict)
        else:
            facts = self._facts(levels, classes, verdict)
            self._findings.raise_above(frontier, levels, self._loss.above(facts))
            parts = self._loss.below(facts)
            self._findings.raise_below(frontier, levels, parts, facts.certain.lowest, self._loss.combine)
            self._note(levels, facts, verdict)
            if not verdict.settled:
                self._unproven = min(self._unproven, frontier.bound(levels))
            frontier.cut(self._best, self._loss.rounding)
        frontier.mark(levels)

    def _note(self, levels: Levels, facts: NodeFacts | None, verdict: Verdict) -> None:
        """Note the step, and the node if it is the best so far."""
        objective = np.inf if facts is None or not verdict.valid else self._loss.objective(facts)
        if objective < self._best:
            self._best, self._best_levels = objective, levels
        candidate = levels_by_name(self._table.quasi_identifiers, levels)
        shown = objective if np.isfinite(objective) else None
        self._steps.append(Step(candidate, shown, verdict.valid, verdict.failed))
        self._objectives[levels] = objective

    def _prefer_finer(self) -> None:
        """Go down from the best node while a lower level costs the same.

        A level that generalizes no more values than the one below it loses as much, yet its labels say less.
        """
        self._rollup = self._whole
        pending = list(self._right_below())
        while pending:
            finer = pending.pop(0)
            if finer not in self._objectives:
                if self._control.exhausted(len(self._steps), len(self._steps)):
                    return
                classes = self._rollup.classes(finer)
                verdict = self._judge.judge(classes)
                self._note(finer, self._facts(finer, classes, verdict), verdict)
            if self._objectives[finer] <= self._best + self._loss.rounding * abs(self._best):
                self._best_levels = finer
                pending = list(self._right_below())

    def _right_below(self) -> Iterator[Levels]:
        """Yield the nodes one level below the best in an attribute that costs the same there."""
        if self._best_levels is None:
            return
        for position, attribute in enumerate(self._table.quasi_identifiers):
            level, floors = self._best_levels[position], self._loss.floors[position]
            if level > attribute.minimum and floors[level - 1] == floors[level]:
                yield tuple(each - (i == position) for i, each in enumerate(self._best_levels))

    def _facts(self, levels: Levels, classes: Classes, verdict: Verdict) -> NodeFacts:
        whole = verdict.losses == classes.sizes
        suppressed = self._rollup.marginals(verdict.gone)
        certain = suppressed
        if not self._judge.lossless_merging:
            unplaced = int(verdict.losses[~whole].sum())
            certain = self._rollup.marginals(np.where(whole[classes.class_of], classes.counts, 0), unplaced)
        return NodeFacts(
            levels,
            classes.sizes,
            verdict.sizes[verdict.kept],
            verdict.suppressed if verdict.starred else 0,
            suppressed,
            certain,
            lambda: self._recoded(levels),
        )

    def _recoded(self, levels: Levels) -> FullDomainRecoding:
        """Return the recoding of a node, with its table split where records of a combination part."""
        verdict = self._judge.judge(self._whole.classes(levels))
        parts = parts_of(self._table, verdict.gone)
        removed = np.zeros_like(parts.suppressed) if verdict.starred else parts.suppressed
        return FullDomainRecoding(parts.table, levels, parts.suppressed, removed, parts.owner)

    def _progress(self, frontier: Frontier) -> Progress:
        bound = min(frontier.minimum(), self._tiles.bound, self._best)
        best = self._best if np.isfinite(self._best) else None
        return Progress(len(self._steps), self._tiles.nodes, best, bound if np.isfinite(bound) else None)

    def _outcome(self, bound: float) -> Outcome:
        """Return the outcome; ``bound`` is infinite when every node is settled."""
        found = self._best_levels is not None
        if self._interrupted and not found:
            raise Interrupted("interrupted before a release was found; nothing was written")
        status = Status.SATISFIED if found else Status.UNDECIDED
        if not found and np.isposinf(bound):
            status = Status.INFEASIBLE
        lowest = min(bound, self._best)
        return Outcome(
            status,
            self._recoding(),
            self._best if found else None,
            lowest if np.isfinite(lowest) else None,
            self._tiles.nodes,
            len(self._steps),
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
        )

    def _recoding(self) -> FullDomainRecoding | None:
        return None if self._best_levels is None else self._recoded(self._best_levels)
