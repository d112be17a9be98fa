"""A local recoding from its start to the end of its budget."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from anonymizer.errors import InputError, Interrupted
from anonymizer.model.classes import released
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import NodeRecoding
from anonymizer.model.report import Status
from anonymizer.search.base import SearchProblem
from anonymizer.search.control import Control, Progress
from anonymizer.search.lattice import Lattice
from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.bound import best_possible
from anonymizer.search.local_recoding.exact import Exact
from anonymizer.search.local_recoding.ground import LocalProblem
from anonymizer.search.local_recoding.guard import AssignmentJudge
from anonymizer.search.local_recoding.improver import Improver, ProposalAcceptance
from anonymizer.search.local_recoding.levels import level_lattice
from anonymizer.search.local_recoding.proving import BoundSchedule
from anonymizer.search.local_recoding.publish import recoding_of
from anonymizer.search.local_recoding.quick import greedy_start_is_slow, mondrian_start
from anonymizer.search.local_recoding.rebuilding import Rebuilding
from anonymizer.search.local_recoding.rejoining import Rejoining
from anonymizer.search.local_recoding.relocation import Relocation
from anonymizer.search.local_recoding.rotation import ImproverSchedule
from anonymizer.search.local_recoding.rounding import Rounding
from anonymizer.search.local_recoding.seeds import assignment_of
from anonymizer.search.local_recoding.start import Start
from anonymizer.search.local_recoding.validity import Validity

ROUNDS = 60
"""Rounds of improvement after which a search without a budget ends."""

PATIENCE = 12
"""Rounds in a row that save nothing after which a search without a budget ends."""

LONG_PATIENCE = 300
"""The same for a search with a budget."""

LATTICE_NODES = 2000
"""Most nodes that the lattice search may look at when it has no bounds for the metric."""

CLOSE = 1e-9
"""An objective so near the bound is the best possible: the bound is the sum of many rounded products."""

SEED = 0
"""Of the random choices that neighbourhoods are made by."""


@dataclass(frozen=True, eq=False)
class _Found:
    """An assignment with its objective by the problem's metric."""

    assignment: Assignment
    objective: float


class LocalRun:
    """A search of its own for one problem within one budget: ``LocalRun(problem, control).run()``."""

    def __init__(self, problem: SearchProblem, control: Control) -> None:
        self._problem = problem
        self._control = control
        self._ground = LocalProblem(problem)
        self._lattice = level_lattice(self._ground)
        self._slow = greedy_start_is_slow(self._ground, self._lattice)
        self._validity = Validity(self._ground)
        self._guard = AssignmentJudge(self._ground)
        self._steps: list[Step] = []
        self._tried = 0
        self._best: _Found | None = None
        self._bound: float | None = None
        self._proving = BoundSchedule(self._ground)
        self._taking = ProposalAcceptance(self._validity, self._guard, problem.limit)
        self._interrupted = False

    def run(self) -> Outcome:
        """Return the best recoding found, with what is proven about it.

        Raises
        ------
        InputError: the metric has no value for a local recoding.
        Interrupted: the user ended the search before there was a recoding.
        """
        if self._hopeless():
            return self._outcome(Status.INFEASIBLE)
        if Exact.applies(self._ground):
            return self._run_exactly(Exact(self._ground, self._validity, self._guard))
        self._take_quick()
        found = self._start()
        if found:
            self._note("start", found)
        self._compare_with_lattice()
        if self._best is None:
            return self._outcome(Status.UNDECIDED)
        self._improve(self._best.assignment)
        return self._outcome(Status.SATISFIED)

    def _run_exactly(self, exact: Exact) -> Outcome:
        found = exact.best()
        if found:
            self._note("partitions", found)
        elif exact.conclusive:
            return self._outcome(Status.INFEASIBLE)
        self._compare_with_lattice()
        if self._best is None:
            return self._outcome(Status.UNDECIDED)
        if found and exact.conclusive and self._ground.additive:
            self._bound = self._best.objective
        return self._outcome(Status.SATISFIED)

    def _hopeless(self) -> bool:
        """Tell whether too many records would have to be suppressed however the classes are made."""
        if self._validity.moving and self._problem.limit:
            # What fails under p of the input may hold under p of a release with fewer records.
            return False
        keying = self._lattice.keying(np.arange(self._ground.atoms.number))
        keys, _ = keying.keys(self._lattice.top)
        self._tried += 1
        return self._guard.hopeless(np.unique(keys, return_inverse=True)[1].reshape(-1))

    def _take_quick(self) -> None:
        """Take a quick release where there is a slow start, for the case that the budget ends within it."""
        found = mondrian_start(self._ground, self._control.stopped) if self._slow else None
        if found is not None:
            self._validity.refer_to(found.kept)
            if self._guard.admits(found):
                self._note("mondrian", found)

    def _start(self) -> Assignment | None:
        """Return where to start from; None where nothing is found, or the budget ends with a release at hand.

        Raises ``Interrupted`` where the user ended the search before there was a recoding.
        """
        start = Start(self._ground, self._lattice, self._validity, self._guard, self._given_up)
        try:
            found = start.settled(start.greedy())
        except Interrupted:
            if self._best is None:
                raise
            return None
        self._tried += len(self._lattice.vectors)
        return found

    def _given_up(self) -> bool:
        return self._control.stopped() or (self._best is not None and self._spent())

    def _compare_with_lattice(self) -> None:
        """Take the optimum of the lattice where it is better than what was found, or nothing was."""
        if self._best is not None and self._slow and self._spent():
            return
        below = np.inf if self._best is None else self._best.objective
        # The budget of steps is that of this search, not of the one within it.
        control = replace(self._control, steps=None)
        if self._best is not None:
            # With an objective to beat this takes a few nodes: it may run to its end whatever the clock says.
            nodes = None if self._ground.additive else LATTICE_NODES
            control = Control(nodes=nodes, stopped=control.stopped)
        better = Lattice().search_below(self._problem, control, below)
        if better.recoding is None:
            return
        found = assignment_of(self._ground, better.recoding)
        if self._guard.admits(found):
            self._validity.refer_to(found.kept)
            self._note("lattice", found)

    def _improve(self, current: Assignment) -> None:
        random = np.random.default_rng(SEED)
        rotation = ImproverSchedule(self._improvers())
        idle = 0
        while current.classes and not self._ended(idle):
            self._control.tell(self._progress)
            if self._proving.due(len(self._steps)) or (self._proving.open and idle >= self._patience):
                if self._prove(current, rotation):
                    # New prices, and at first a move of their own, deserve a turn.
                    idle = 0
                continue
            improver = rotation.next()
            found = improver.improve(current, random)
            if found is current and self._spent():
                # It may have been cut short, so it is no step that a budget of steps could repeat.
                break
            saved = current.total - found.total
            rotation.learn(saved)
            idle = 0 if saved > 0 else idle + 1
            current = found
            self._note(improver.name, found)

    def _prove(self, current: Assignment, rotation: ImproverSchedule) -> bool:
        """Spend a step on the bound; tell whether it rose. None is spent where the budget ends within it."""
        before = self._bound
        if not self._proving.improve(len(self._steps), self._spent):
            return False
        first = self._bound is None
        self._bound = self._proving.loss
        self._note("bound", current)
        if first and self._proving.dual is not None:
            rotation.add(Rounding(self._ground, self._proving.dual, self._taking, self._spent))
        return before is None or self._proving.loss != before

    def _spent(self) -> bool:
        return self._control.stopped() or self._control.exhausted(self._tried, len(self._steps))

    def _improvers(self) -> list[Improver]:
        taking = self._taking
        return [
            Relocation(self._validity, taking),
            Rebuilding(self._lattice, self._validity, taking),
            Rejoining(self._validity, self._guard),
        ]

    @property
    def _patience(self) -> int:
        """Moves in a row that save nothing after which no more are tried."""
        return PATIENCE if self._control.unlimited else LONG_PATIENCE

    def _ended(self, idle: int) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        if self._interrupted or self._spent() or self._proven():
            return True
        if self._control.unlimited and len(self._steps) > ROUNDS:
            return True
        return idle >= self._patience and not self._proving.open

    def _proven(self) -> bool:
        """Tell whether nothing better is possible."""
        if self._bound is None or self._best is None:
            return False
        return self._best.objective - self._bound <= CLOSE

    def _note(self, move: str, found: Assignment) -> None:
        """Note a step, and the assignment if it is the best so far."""
        self._tried += 1
        better = self._best is None or found is not self._best.assignment
        objective = self._objective(found) if better else None
        accepted = objective is not None and (self._best is None or objective < self._best.objective)
        if accepted:
            assert objective is not None
            self._best = _Found(found, objective)
        candidate = {"move": move, "classes": found.classes, "suppressed": found.suppressed}
        shown = self._best.objective if objective is None and self._best else objective
        self._steps.append(Step(candidate, shown, accepted))

    def _objective(self, found: Assignment) -> float:
        if self._ground.additive:
            return found.loss
        return self._measured(self._recoding(found))

    def _measured(self, recoding: NodeRecoding) -> float:
        value = self._problem.metric.value(released(recoding, self._problem.k))
        if value is None:
            what = f"metric {self._problem.metric.name} has no value for algorithm local"
            raise InputError(f"{what}; use another metric, such as loss")
        return value

    def _recoding(self, found: Assignment) -> NodeRecoding:
        return recoding_of(found, kept_suppressed=self._guard.stars(found))

    def _progress(self) -> Progress:
        best = None if self._best is None else self._best.objective
        return Progress(self._tried, self._ground.trees.vectors, best, self._bound)

    def _proven_bound(self) -> float | None:
        """Return the bound, a quick one where the budget ended before the first round of a better one."""
        if self._bound is None and self._best is not None:
            # Of a large table it takes minutes: what the clock left undone there is not done after it.
            ended = self._control.out_of_time if self._slow else self._control.stopped
            return best_possible(self._problem, ended)
        return self._bound

    def _outcome(self, status: Status) -> Outcome:
        if self._control.stopped():
            self._interrupted = True
        if self._interrupted and self._best is None and status is Status.UNDECIDED:
            raise Interrupted("interrupted before a release was found; nothing was written")
        recoding = objective = None
        if self._best is not None:
            recoding = self._recoding(self._best.assignment)
            objective = self._measured(recoding)
        bound = self._proven_bound()
        if bound is not None and objective is not None:
            bound = objective if objective - bound <= CLOSE else bound
        return Outcome(
            status,
            recoding,
            objective,
            bound,
            self._ground.trees.vectors,
            min(self._tried, self._ground.trees.vectors),
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
            best_possible=bound,
        )
