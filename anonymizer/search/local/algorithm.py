"""Local recoding: every record is published at hierarchy nodes of its own.

Improvers run in turn from a start to the end of the budget, and the proven bound is raised between their
moves. The best local recoding of a handful of records is found by dynamic programming over their subsets.
If the greedy start takes too long, Mondrian gives a release within a second or two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.errors import InputError, Interrupted
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.classes import released
from anonymizer.model.counting import count
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import NodeRecoding
from anonymizer.model.report import Status
from anonymizer.privacy.base import Merging
from anonymizer.search.base import (
    Control,
    Progress,
    SearchAlgorithm,
    SearchProblem,
    SuppressionMethod,
    search_with,
)
from anonymizer.search.judge import search_with_attack_checks
from anonymizer.search.local.assignment import (
    SUPPRESSED,
    SUPPRESSION_COST,
    Assignment,
    LocalProblem,
    assignment_of,
    common_nodes,
    recoding_of,
)
from anonymizer.search.local.bound import MOST_ITEMS, DualBound, best_possible
from anonymizer.search.local.improvers import Improver, ProposalAcceptance, Rebuilding, Rejoining, Relocation
from anonymizer.search.local.rounding import Rounding
from anonymizer.search.local.start import LevelLattice, Start, level_lattice
from anonymizer.search.local.trees import items_of
from anonymizer.search.local.validity import AssignmentJudge, Validity

RECORDS = 12
"""Most records whose partitions are all looked at; there are 3**12 pairs of a subset and a part of it."""

MOVING_RECORDS = 9
"""The same where every choice of suppressed records has a reference of its own."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """Records that stay, and the least that they and the suppressed ones cost.

    Attributes
    ----------
    costs, cheapest: of each subset as one class and in the best classes, shape (subsets,).
    """

    total: float
    kept: int
    costs: FloatArray
    cheapest: FloatArray


class Exact:
    """All partitions of a few records into classes, with every choice of suppressed ones.

    A subset of the records is a number whose bits say which ones are in it.
    """

    def __init__(self, ground: LocalProblem, validity: Validity, guard: AssignmentJudge) -> None:
        self._validity = validity
        self._guard = guard
        self._ground = ground
        self._atoms = np.repeat(np.arange(ground.atoms.number), ground.atoms.counts)
        self._subsets = np.arange(1 << len(self._atoms))
        self._bits = (self._subsets[:, None] >> np.arange(len(self._atoms))) & 1
        self._sizes = self._bits.sum(axis=1)

    @staticmethod
    def applies(ground: LocalProblem) -> bool:
        """Tell whether the table is small enough, and classes can be judged one by one."""
        most = MOVING_RECORDS if ground.problem.moving_reference else RECORDS
        return ground.records <= most and not ground.problem.table_constraints

    @property
    def conclusive(self) -> bool:
        """Whether nothing else can be valid where nothing was found, or better than what was found.

        Classes that are published alike are one, which may fail a model that merging can break; and with a
        moving reference, more is asked of the classes than that they hold in the end.
        """
        return self._validity.merging is not Merging.NONE and not self._validity.moving

    def best(self) -> Assignment | None:
        """Return the assignment of least cost that may be released, None where there is none."""
        for choice in sorted(self._choices(), key=lambda each: each.total):
            found = self._assignment(choice)
            self._validity.refer_to(found.kept)
            if self._guard.admits(found):
                return found
        return None

    def _choices(self) -> Iterator[_Choice]:
        """Yield what the best classes cost for each choice of suppressed records."""
        everyone = len(self._atoms)
        limit = self._ground.problem.limit
        costs: FloatArray | None = None
        cheapest = np.zeros(0)
        for kept in self._subsets[self._sizes >= everyone - limit].tolist():
            moved = self._validity.refer_to(
                count(self._members(kept), self._one(kept), self._ground.atoms.number)
            )
            if costs is None or moved:
                costs = self._costs()
                cheapest = self._cheapest(costs)
            if cheapest[kept] < np.inf:
                gone = everyone - int(self._sizes[kept])
                yield _Choice(cheapest[kept] + gone * SUPPRESSION_COST, kept, costs, cheapest)

    def _members(self, subset: int) -> IntArray:
        members: IntArray = self._atoms[self._bits[subset] == 1]
        return members

    def _one(self, subset: int) -> IntArray:
        return np.ones(int(self._sizes[subset]), dtype=np.int64)

    def _costs(self) -> FloatArray:
        """Return what each subset costs as one class, shape (subsets,), infinite where it does not hold."""
        subset, record = np.nonzero(self._bits)
        class_of, atoms = subset - 1, self._atoms[record]
        number = len(self._subsets) - 1
        held = self._validity.holds(atoms, np.ones_like(atoms), class_of, number)
        each = self._ground.costs(common_nodes(self._ground, atoms, class_of, number))
        return np.concatenate([[np.inf], np.where(held, self._sizes[1:] * each, np.inf)])

    def _first_classes(self, subset: int) -> IntArray:
        """Return the subsets that contain the first record of a subset and nothing outside of it."""
        lowest = subset & -subset
        inside = (self._subsets & ~subset == 0) & (self._subsets & lowest != 0)
        return np.flatnonzero(inside)

    def _cheapest(self, costs: FloatArray) -> FloatArray:
        """Return the least cost of a partition of each subset, shape (subsets,)."""
        cheapest = np.zeros(len(costs))
        for subset in range(1, len(costs)):
            first = self._first_classes(subset)
            cheapest[subset] = (costs[first] + cheapest[subset ^ first]).min()
        return cheapest

    def _assignment(self, choice: _Choice) -> Assignment:
        kept, costs, cheapest = choice.kept, choice.costs, choice.cheapest
        labels = np.full(len(self._atoms), SUPPRESSED, dtype=np.int64)
        while kept:
            first = self._first_classes(kept)
            own = int(first[(costs[first] + cheapest[kept ^ first]).argmin()])
            labels[self._bits[own] == 1] = own
            kept ^= own
        return Assignment.of(self._ground, self._atoms, np.ones_like(self._atoms), labels)


FIRST = 24
"""Steps before the first round, about two seconds of moves on 20,000 combinations."""

LATER = 12
"""So many more steps lie between two rounds each time, as every round gains less than the one before."""


class BoundSchedule:
    """Decides by the number of steps alone when a round of the dual bound is due, and holds what it proved.

    Attributes
    ----------
    dual: what the bound is proven by, None before the first round.
    loss: proven lower bound on the metric of the problem, None without one.
    """

    def __init__(self, ground: LocalProblem) -> None:
        self.dual: DualBound | None = None
        self.loss: float | None = None
        self._ground = ground
        # The bound is on a mean of cell costs; no other metric is one.
        self._possible = ground.additive and ground.atoms.number > 0
        self._next = FIRST

    @property
    def open(self) -> bool:
        """Whether more rounds may raise the bound."""
        return self._possible and not (self.dual is not None and self.dual.settled)

    def due(self, steps: int) -> bool:
        """Tell whether the next step is a round of the bound."""
        return self.open and steps >= self._next

    def improve(self, steps: int, stopped: Callable[[], bool]) -> bool:
        """Raise the bound by a round; tell whether that was done or ``stopped`` ended it before."""
        dual = self.dual if self.dual is not None else self._begun()
        if dual is None:
            return False
        rounds = dual.rounds
        if not stopped():
            dual.improve(stopped)
        if dual.rounds == rounds and not dual.settled:
            return False
        self.loss = dual.loss
        self._next = steps + LATER * dual.rounds
        return True

    def _begun(self) -> DualBound | None:
        items = items_of(self._ground.problem.table, self._ground.trees)
        if items.number > MOST_ITEMS:
            self._possible = False
            return None
        self.dual = DualBound(self._ground.trees, items, self._ground.problem.minimum_size)
        return self.dual


SLOW = 100_000_000
"""Vectors of levels times combinations from which on the start takes more than a second or two."""


def greedy_start_is_slow(ground: LocalProblem, lattice: LevelLattice) -> bool:
    """Tell whether the start takes seconds, for which a budget may be too small."""
    return len(lattice.vectors) * ground.atoms.number >= SLOW


def mondrian_start(ground: LocalProblem, stopped: Callable[[], bool]) -> Assignment | None:
    """Return the classes that Mondrian finds along the hierarchies, None where it finds none.

    It has no budget, so that the same is found whatever the clock says.
    """
    if not ground.additive:
        return None
    found = search_with("mondrian", ground.problem, Control(stopped=stopped))
    return None if found.recoding is None or stopped() else assignment_of(ground, found.recoding)


MEMORY = 0.5
"""Weight of the past in the average of what an improver saved."""

PAUSE = 6
"""An improver is used at least once in this many rounds times its effort."""


class ImproverSchedule:
    """Prefers the improver that saved most for its effort lately, and now and then gives others a turn."""

    def __init__(self, improvers: Sequence[Improver]) -> None:
        self._improvers = list(improvers)
        self._saved = [float("inf")] * len(improvers)
        self._idle = [0] * len(improvers)
        self._chosen = 0

    def add(self, improver: Improver) -> None:
        """Take one more improver, whose turn is next."""
        self._improvers.append(improver)
        self._saved.append(float("inf"))
        self._idle.append(0)

    def next(self) -> Improver:
        """Return the improver whose turn it is."""
        waiting = [i for i, idle in enumerate(self._idle) if idle >= PAUSE * self._improvers[i].effort]
        self._chosen = waiting[0] if waiting else self._saved.index(max(self._saved))
        self._idle = [0 if i == self._chosen else idle + 1 for i, idle in enumerate(self._idle)]
        return self._improvers[self._chosen]

    def learn(self, saved: float) -> None:
        """Note what the improver saved that was chosen last."""
        saved /= self._improvers[self._chosen].effort
        before = self._saved[self._chosen]
        known = before < float("inf")
        self._saved[self._chosen] = MEMORY * before + (1 - MEMORY) * saved if known else saved


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
        better = search_with("lattice", self._problem, replace(control, below=below))
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


PROBE = 3
"""Steps that tell whether attackers break what a size of classes gives."""


class Local(SearchAlgorithm):
    """Finds for every record a node of each hierarchy, so that the records with equal nodes are a class.

    A greedy start is improved round by round until the budget ends. By a metric that is a weighted mean of
    cell costs the result is never worse than the optimum of the lattice, as full-domain recoding is a special
    case; where the budget ends within the start of a large table, it is what Mondrian finds. Any other metric
    is guided by the mean of its cell costs, or by ``loss`` where it has none, and the best by the metric
    itself is returned.
    """

    name = "local"
    suppressions = frozenset({SuppressionMethod.CLASSES, SuppressionMethod.RECORDS})

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best recoding found, with what is proven about it.

        Raises
        ------
        InputError: the metric has no value for a local recoding.
        Interrupted: the user ended the search before there was a recoding.
        """
        return search_with_attack_checks(
            problem,
            control,
            lambda asked, left: LocalRun(asked, left).run(),
            probe=PROBE,
            rival=lambda asked, left: search_with("lattice", asked, replace(left, nodes=LATTICE_NODES)),
        )
