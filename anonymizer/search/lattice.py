"""Provably optimal full-domain search over the lattice of generalization levels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.loss.base import TransformationFacts
from anonymizer.model.classes import Classes
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import FullDomainRecoding, levels_by_name
from anonymizer.search.base import SearchAlgorithm, SearchProblem, SuppressionMethod
from anonymizer.search.control import Control
from anonymizer.search.full_domain.findings import Findings
from anonymizer.search.full_domain.frontier import Frontier, Levels
from anonymizer.search.full_domain.guide import Guide
from anonymizer.search.full_domain.lattice_run import LatticeRun
from anonymizer.search.full_domain.marginals import suppressed_and_certain
from anonymizer.search.full_domain.node_tables import node_tables
from anonymizer.search.full_domain.rollup import RollUp
from anonymizer.search.full_domain.tiles import Tiles
from anonymizer.search.full_domain.waiting import Candidate, PendingCandidates
from anonymizer.search.growing import search_with_attack_checks
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.suppression.parts import parts_of

PATIENCE = 32
"""Nodes that are evaluated before the first attackers are asked, and between two questions without a pass."""

NOT_ATTACKED = "not attacked"
"""What a step shows of a node that satisfies every other constraint until attackers are asked about it."""


class Lattice(SearchAlgorithm):
    """Finds the levels of lowest loss among all that satisfy every constraint, and proves it.

    Every node has a lower bound on its objective: at first from its levels alone, then from what nodes above
    it lost for certain. Nodes are evaluated until no open node's bound is below the best found.

    Attackers are asked about a node that would be the optimum: nothing open can be better. Where they break
    it, the next best is looked for. Until a node has passed, the most general one that waits is asked about
    now and then, so that there is a release when the budget ends.
    """

    name = "lattice"
    suppressions = frozenset(SuppressionMethod)
    out_of_core = True

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the optimum, or the best found and a proven bound when the budget ends first."""
        if problem.suppression is SuppressionMethod.CELLS:
            # Blanking cells takes twenty modules that no other method of suppression needs.
            from anonymizer.search.suppression.cell_lattice import CellSuppressionSearch  # noqa: PLC0415

            return search_with_attack_checks(
                problem, control, lambda *asked: CellSuppressionSearch(*asked).run()
            )
        return _Run(problem, control, np.inf).run()

    def search_below(self, problem: SearchProblem, control: Control, objective: float) -> Outcome:
        """Return the optimum if it is below an objective that another recoding has reached.

        The status is infeasible where no node is both valid and below it.
        """
        return _Run(problem, control, objective).run()


class _Run(LatticeRun):
    def __init__(self, problem: SearchProblem, control: Control, below: float) -> None:
        self._loss = problem.metric.on_lattice(problem.table, problem.k)
        super().__init__(control, Tiles(problem.table, self._loss), below)
        self._problem = problem
        self._table = problem.table
        self._judge = Judge(problem)
        self._guide = Guide(
            problem.table,
            problem.limit,
            self._loss,
            problem.k or 5,
            shared=self._judge.lossless_merging,
        )
        self._tables = node_tables(problem)
        self._findings = Findings()
        self._waiting = PendingCandidates()
        self._asked = 0
        self._objectives: dict[Levels, float] = {}
        self._best_levels: Levels | None = None

    def run(self) -> Outcome:
        for frontier in self._tiles.in_order(lambda: self._best):
            self._findings.apply(frontier)
            self._cut(frontier)
            bound = self._explore(frontier)
            if bound < np.inf:
                return self._outcome(self._recoding(), min(bound, self._tiles.bound, self._unproven))
        self._prefer_finer()
        return self._outcome(self._recoding(), self._unproven)

    @property
    def _aim(self) -> float:
        """The objective that a node must beat to matter: of the best, or of what may turn out to be it."""
        return min(self._best, self._waiting.lowest)

    def _cut(self, frontier: Frontier) -> None:
        frontier.cut(self._aim, self._loss.rounding)

    def _explore(self, frontier: Frontier) -> float:
        """Evaluate nodes of a box; return the lowest bound left, infinity when all is settled."""
        self._tables.focus(frontier.lowest)
        bound = self._evaluate(frontier)
        while np.isposinf(bound) and self._waiting:
            if self._ended():
                return self._aim
            self._ask(self._waiting.best(), frontier)
            bound = self._evaluate(frontier)
        return bound

    def _evaluate(self, frontier: Frontier) -> float:
        """Evaluate nodes until none is open; return the lowest bound left when the budget ends first."""
        unsettled = frontier.bounds.size
        while frontier.minimum() < np.inf:
            if self._ended():
                return frontier.minimum()
            self._control.tell(lambda: self._progress(min(frontier.minimum(), self._tiles.bound)))
            self._settle(frontier, self._guide.choose(frontier, self._aim))
            if self._waiting and np.isposinf(self._best) and self._evaluated >= self._asked + PATIENCE:
                self._ask(self._waiting.safest(), frontier)
            left = int(frontier.open.sum())
            # Nodes that are cut off open again when an attacker breaks the one that they did not beat.
            if 0 < left <= unsettled // 2 and self._problem.gate.open:
                unsettled = left
                if frontier.shrink():
                    self._tables.focus(frontier.lowest)
        return np.inf

    def _ask(self, candidate: Candidate, frontier: Frontier) -> None:
        """Let attackers decide about a node."""
        self._asked = self._evaluated
        if self._passes(candidate.levels, candidate.objective):
            self._best, self._best_levels = candidate.objective, candidate.levels
            self._waiting.drop(self._best)
        elif self._judge.chooses:
            self._unproven = min(self._unproven, candidate.bound)
        self._cut(frontier)

    def _passes(self, levels: Levels, objective: float) -> bool:
        broken = self._problem.gate.broken(self._table, self._recoded(levels))
        self._steps.append(Step(self._named(levels), objective, not broken, broken))
        return not broken

    def _named(self, levels: Levels) -> dict[str, int]:
        return levels_by_name(self._table.quasi_identifiers, levels)

    def _settle(self, frontier: Frontier, levels: Levels) -> None:
        """Evaluate a node and draw the conclusions for all others."""
        if (lost := self._tables.lost(levels)) is not None:
            self._rule_out(frontier, levels, lost)
            return
        rollup = self._tables.rollup(levels)
        classes = rollup.classes(levels)
        verdict = self._judge.judge(classes)
        certain = int(verdict.losses.sum())
        self._guide.learn(levels, verdict.suppressed, certain)
        if certain > self._problem.limit or (certain == classes.records and not self._problem.keep_rows):
            self._findings.rule_out_below(frontier, levels)
            self._note(levels, None, verdict)
        else:
            facts = self._facts(levels, rollup, classes, verdict)
            self._findings.raise_above(frontier, levels, self._loss.above(facts))
            parts = self._loss.below(facts)
            self._findings.raise_below(frontier, levels, parts, facts.certain.lowest, self._loss.combine)
            objective = self._note(levels, facts, verdict)
            if not verdict.settled:
                self._unproven = min(self._unproven, frontier.bound(levels))
            if objective < self._best:
                self._take(Candidate(objective, levels, frontier.bound(levels)))
            self._cut(frontier)
        frontier.mark(levels)

    def _look_at(self, levels: Levels) -> None:
        """Evaluate a node without conclusions for others."""
        if self._tables.lost(levels) is not None:
            self._objectives[levels] = np.inf
            return
        rollup = self._tables.rollup(levels)
        classes = rollup.classes(levels)
        verdict = self._judge.judge(classes)
        self._note(levels, self._facts(levels, rollup, classes, verdict), verdict)

    def _rule_out(self, frontier: Frontier, levels: Levels, lost: int) -> None:
        """Rule out a node that loses too many records for certain, counted without its classes."""
        self._guide.learn(levels, lost, lost)
        self._findings.rule_out_below(frontier, levels)
        self._steps.append(Step(self._named(levels), None, False, ("suppression.limit",)))
        self._evaluated += 1
        self._objectives[levels] = np.inf
        frontier.mark(levels)

    def _take(self, candidate: Candidate) -> None:
        """Take a valid node as the best so far, or let it wait until attackers are asked."""
        if self._problem.gate.open:
            self._best, self._best_levels = candidate.objective, candidate.levels
        else:
            self._waiting.add(candidate)

    def _note(self, levels: Levels, facts: TransformationFacts | None, verdict: CandidateVerdict) -> float:
        """Note the step; return the objective of the node, infinity for one that is not valid."""
        objective = np.inf if facts is None or not verdict.valid else self._loss.objective(facts)
        shown = objective if np.isfinite(objective) else None
        accepted = verdict.valid and self._problem.gate.open
        failed = verdict.failed if accepted or verdict.failed else (NOT_ATTACKED,)
        self._steps.append(Step(self._named(levels), shown, accepted, failed))
        self._evaluated += 1
        self._objectives[levels] = objective
        return objective

    def _prefer_finer(self) -> None:
        """Go down from the best node while a lower level costs the same.

        A level that generalizes no more values than the one below it loses as much, yet its labels say less.
        """
        pending = list(self._right_below())
        while pending:
            finer = pending.pop(0)
            if finer not in self._objectives:
                if self._control.exhausted(self._evaluated, len(self._steps)):
                    return
                self._look_at(finer)
            objective = self._objectives[finer]
            dearer = objective > self._best + self._loss.rounding * abs(self._best)
            if not dearer and (self._problem.gate.open or self._passes(finer, objective)):
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

    def _facts(
        self, levels: Levels, rollup: RollUp, classes: Classes, verdict: CandidateVerdict
    ) -> TransformationFacts:
        suppressed, certain = suppressed_and_certain(rollup, classes, verdict, self._judge)
        return TransformationFacts(
            levels,
            classes.sizes,
            verdict.sizes[verdict.kept],
            verdict.suppressed if verdict.kept_suppressed else 0,
            suppressed,
            certain,
            lambda: self._recoded(levels),
        )

    def _recoded(self, levels: Levels) -> FullDomainRecoding:
        """Return the recoding of a node, with its table split where records of a combination part."""
        whole = self._tables.whole(levels)
        verdict = self._judge.judge(whole.rollup.classes(levels))
        parts = parts_of(whole.table, verdict.gone)
        removed = np.zeros_like(parts.suppressed) if verdict.kept_suppressed else parts.suppressed
        return FullDomainRecoding(parts.table, levels, parts.suppressed, removed, parts.owner)

    def _recoding(self) -> FullDomainRecoding | None:
        return None if self._best_levels is None else self._recoded(self._best_levels)
