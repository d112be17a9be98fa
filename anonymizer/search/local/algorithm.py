"""Local recoding: every record is published at hierarchy nodes of its own.

From a greedy start, improvers run in turn to the end of the budget, and the proven bound rises between their
moves. For a dozen records, dynamic programming over subsets finds the optimum. If the greedy start may take
too long, Mondrian finds a first release within a second or two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from anonymizer.compiled import runs_compiled
from anonymizer.errors import InputError, Interrupted
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.features import Feature
from anonymizer.model.recoding import NodeRecoding, Outcome, Status, Step
from anonymizer.privacy.base import Merging
from anonymizer.search.base import (
    Control,
    Incumbent,
    Progress,
    SearchAlgorithm,
    SearchProblem,
    SearchRun,
    search_with,
    weighs_differently,
)
from anonymizer.search.judge import Rival, search_with_attack_checks
from anonymizer.search.local.annealing import DEEPEST, PROPOSALS, QUICK_DEPTH, Annealing, NearRows
from anonymizer.search.local.bound import MOST_ITEMS, QUICK, DualBound, best_possible
from anonymizer.search.local.improvers import (
    Clustering,
    Improver,
    ProposalAcceptance,
    Rebuilding,
    Rejoining,
    Relocation,
    Rounding,
)
from anonymizer.search.local.neighbours.bound import NeighbourBound
from anonymizer.search.local.start import LevelLattice, Start, level_lattice
from anonymizer.search.partition.assignment import (
    SUPPRESSED,
    SUPPRESSION_COST,
    Assignment,
    LocalProblem,
    assignment_of,
    common_nodes,
    recoding_of,
)
from anonymizer.search.partition.kernel import MODULE
from anonymizer.search.partition.limits import KernelLimits
from anonymizer.search.partition.merging import (
    CLASSES,
    POWERS,
    Known,
    finest,
    mondrian_start,
    thinned,
)
from anonymizer.search.partition.trees import items_of
from anonymizer.search.partition.validity import AssignmentJudge, Validity

RECORDS = 12
"""Most records whose partitions are all evaluated; there are 3**12 pairs of a subset and a part of it."""

MOVING_RECORDS = 9
"""The same if every choice of suppressed records has its own reference."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """A choice of remaining records, with the least cost of all.

    Attributes
    ----------
    costs, cheapest: of each subset as one class and in the best classes, shape (subsets,).
    """

    total: float
    kept: int
    costs: FloatArray
    cheapest: FloatArray


@lru_cache(maxsize=RECORDS)
def _parts(records: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return every pair of a subset of some records and a part of it.

    Returns
    -------
    Parts and what each leaves of its subset, shape (3**records,), in the order of the subsets; the position
    of the first pair of each subset, shape (2**records,).
    """
    parts, others, number = (np.zeros(1, dtype=np.int64) for _ in range(3))
    number += 1
    for record in range(records):
        own = 1 << record
        inside = np.stack([parts, parts | own], axis=1).ravel()
        outside = np.stack([others | own, others], axis=1).ravel()
        parts, others = np.concatenate([parts, inside]), np.concatenate([others, outside])
        number = np.concatenate([number, 2 * number])
    return parts, others, np.cumsum(number) - number


class Exact:
    """All partitions of a few records into classes, with every choice of suppressed records.

    A subset of the records is a number with one bit for each record.
    """

    def __init__(self, ground: LocalProblem, validity: Validity, judge: AssignmentJudge) -> None:
        self._validity = validity
        self._judge = judge
        self._ground = ground
        self._atoms = np.repeat(np.arange(ground.atoms.number), ground.atoms.counts)
        self._subsets = np.arange(1 << len(self._atoms))
        self._bits = (self._subsets[:, None] >> np.arange(len(self._atoms))) & 1
        self._sizes = self._bits.sum(axis=1)

    @staticmethod
    def applies(ground: LocalProblem) -> bool:
        """Return whether the table is small enough, and classes can be judged one by one."""
        most = MOVING_RECORDS if ground.problem.moving_reference else RECORDS
        return ground.records <= most and not ground.problem.table_constraints

    @property
    def conclusive(self) -> bool:
        """Whether the result is proven: optimal, or infeasible without one.

        Classes that are published alike are one class, which may violate a model that merging can violate;
        with a moving reference, the classes must satisfy more than the final constraints.
        """
        return self._validity.merging is not Merging.NONE and not self._validity.moving

    def best(self) -> Assignment | None:
        """Return the valid assignment of least cost, None without one."""
        for choice in sorted(self._choices(), key=lambda each: each.total):
            found = self._assignment(choice)
            self._validity.refer_to(found.kept)
            if self._judge.admits(found):
                return found
        return None

    def _choices(self) -> Iterator[_Choice]:
        """Yield the cost of the best classes for each choice of suppressed records."""
        everyone = len(self._atoms)
        limit = self._ground.problem.limit
        costs: FloatArray | None = None
        cheapest = np.zeros(0)
        for kept in self._subsets[self._sizes >= everyone - limit].tolist():
            members = self._atoms[self._bits[kept] == 1]
            moved = self._validity.refer_to(np.bincount(members, minlength=self._ground.atoms.number))
            if costs is None or moved:
                costs = self._costs()
                cheapest = self._cheapest(costs)
            if cheapest[kept] < np.inf:
                gone = everyone - int(self._sizes[kept])
                yield _Choice(cheapest[kept] + gone * SUPPRESSION_COST, kept, costs, cheapest)

    def _costs(self) -> FloatArray:
        """Return the cost of each subset as one class, shape (subsets,), infinite if invalid."""
        subset, record = np.nonzero(self._bits)
        class_of, atoms = subset - 1, self._atoms[record]
        number = len(self._subsets) - 1
        held = self._validity.holds(atoms, np.ones_like(atoms), class_of, number)
        each = self._ground.costs(common_nodes(self._ground, atoms, class_of, number))
        return np.concatenate([[np.inf], np.where(held, self._sizes[1:] * each, np.inf)])

    def _first_classes(self, subset: int) -> IntArray:
        """Return the parts of a subset that contain its first record."""
        lowest = subset & -subset
        inside = (self._subsets & ~subset == 0) & (self._subsets & lowest != 0)
        return np.flatnonzero(inside)

    def _cheapest(self, costs: FloatArray) -> FloatArray:
        """Return the least cost of a partition of each subset, shape (subsets,)."""
        cheapest = np.zeros(len(costs))
        # Subsets by their first record: what its class leaves of them has only later ones.
        for record in reversed(range(len(self._atoms))):
            own, later = 1 << record, record + 1
            parts, others, starts = _parts(len(self._atoms) - later)
            of_pairs = costs[parts << later | own] + cheapest[others << later]
            cheapest[own :: 2 * own] = np.minimum.reduceat(of_pairs, starts)
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
"""Effort before the first round, about two seconds of moves on 20,000 distinct rows."""

FEW_ATOMS = 2_000
"""Most atoms of a problem with many attributes for which rounds of the dual bound are worth their time."""

LATER = 20
"""Effort by which the interval between two rounds grows, as every round gains less than the last."""


FIRST_EVERY, EVERY = 2, 8
"""Effort from one round of the bound by neighbours to the next, until all are known and later."""


class BoundSchedule:
    """Schedules the rounds of the bound by the effort of the steps only, and holds what is proven.

    In many dimensions hardly any rows share a facility of the dual bound, and looking for them takes as long
    as the whole budget: the neighbours of each record bound the loss there, and of tables that are too large.

    Attributes
    ----------
    loss: proven lower bound on the metric of the problem, None without one.
    possible: whether rounds can be expected to raise it.
    """

    def __init__(self, ground: LocalProblem, *, wide: bool) -> None:
        self.loss: float | None = None
        self._begun: DualBound | NeighbourBound | None = None
        self._ground = ground
        # The bound is on a mean of cell costs.
        self.possible = ground.bounded and ground.atoms.number > 0
        self._wide = wide and ground.atoms.number > FEW_ATOMS
        self._next: float = 0 if self._wide else FIRST

    @property
    def dual(self) -> DualBound | None:
        """The dual bound; None before the first round, and if the bound is another."""
        return self._begun if isinstance(self._begun, DualBound) else None

    @property
    def open(self) -> bool:
        """Whether further rounds may raise the bound."""
        return self.possible and not (self._begun is not None and self._begun.settled)

    def due(self, effort: float) -> bool:
        """Return whether the next step is a round of the bound, after the efforts of all steps so far."""
        return self.open and effort >= self._next

    def improve(self, stopped: Callable[[], bool]) -> bool:
        """Raise the bound by a round; return False if ``stopped`` ended it before."""
        self._begun = self._begun or self._begin()
        if not self._begun.improve(stopped):
            return False
        self.loss = self._begun.loss
        # After a long step, several rounds are due.
        if isinstance(self._begun, NeighbourBound):
            self._next += EVERY if self._begun.complete else FIRST_EVERY
        else:
            self._next += LATER * self._begun.rounds
        return True

    def _begin(self) -> DualBound | NeighbourBound:
        table, trees = self._ground.problem.table, self._ground.trees
        size, unit = self._ground.size, self._ground.unit
        items = None if self._wide else items_of(table, trees, unit)
        weighed = weighs_differently(self._ground.problem)
        if items is None or items.number > MOST_ITEMS or weighed:
            return NeighbourBound(table, trees, size, unit, by_weights=weighed)
        return DualBound(trees, items, size)


SLOW = 100_000_000
"""Level vectors times counts read at each, from which on the start takes more than a second or two."""


def work_of_start(ground: LocalProblem, lattice: LevelLattice, values: int) -> int:
    """Return how many counts the start reads.

    Parameters
    ----------
    values: read in each class that is large enough, beside the distinct rows.
    """
    return len(lattice.vectors) * (ground.atoms.number + ground.records // ground.size * values)


def referred_values(problem: SearchProblem) -> int:
    """Return the number of values whose distribution in a class is compared with a reference."""
    names = {each.attribute for each in problem.class_constraints if each.model.uses_reference}
    return sum(len(own.column.counts) for own in problem.table.sensitive if own.name in names)


MEMORY = 0.5
"""Weight of the past in the average savings of an improver, for each unit of effort."""

PAUSE = 6
"""An improver is used at least once in this many rounds times its effort."""


class ImproverSchedule:
    """Prefers the improver with the highest recent savings for its effort; others have a turn at times."""

    def __init__(self, improvers: Sequence[Improver]) -> None:
        self._improvers = list(improvers)
        self._saved = [float("inf")] * len(improvers)
        self._idle = [0] * len(improvers)
        self._chosen = 0
        self._efforts = [each.effort for each in improvers]

    def add(self, improver: Improver) -> None:
        """Add an improver, whose turn is next."""
        self._improvers.append(improver)
        self._saved.append(float("inf"))
        self._idle.append(0)

    def next(self) -> Improver:
        """Return the improver whose turn it is."""
        waiting = [i for i, idle in enumerate(self._idle) if idle >= PAUSE * self._improvers[i].effort]
        self._chosen = waiting[0] if waiting else self._saved.index(max(self._saved))
        self._idle = [0 if i == self._chosen else idle + 1 for i, idle in enumerate(self._idle)]
        self._efforts = [each.effort for each in self._improvers]
        return self._improvers[self._chosen]

    def learn(self, saved: float) -> float:
        """Learn the savings of the improver that was chosen last; return its effort."""
        effort = self._efforts[self._chosen]
        saved /= effort
        before = self._saved[self._chosen]
        known = before < float("inf")
        past = MEMORY**effort
        self._saved[self._chosen] = past * before + (1 - past) * saved if known else saved
        return effort


VISITS = 8
"""Proposals that take as long as another improver does for each distinct row."""

ROUNDS = 60
"""Rounds of improvement after which a search without a budget ends."""

PATIENCE = 12
"""Rounds in a row that save nothing after which a search without a budget ends."""

LONG_PATIENCE = 300
"""The same for a search with a budget."""

LATTICE_NODES = 2000
"""Most transformations that the lattice search may evaluate without bounds for the metric."""

CLOSE = 1e-9
"""An objective this near to the bound is optimal: the bound is a sum of many rounded products."""

SEED = 0
"""Of the random choices of neighbourhoods."""


@dataclass
class Earlier:
    """What searches leave for those that differ in the limits of the whole release alone.

    Attributes
    ----------
    best: classes of the last search.
    near: nearest rows of a table, by its rows.
    bound: proven lower bound; it knows the sizes of classes alone, so it holds whatever else is asked for.
    work: proposals so far, of all of them.
    """

    best: Assignment | None = None
    near: dict[bytes, NearRows] = field(default_factory=dict)
    bound: float | None = None
    work: float = 0.0

    def raise_bound(self, found: float | None) -> None:
        """Take a bound if it is above the known one."""
        if found is not None:
            self.bound = found if self.bound is None else max(self.bound, found)


class LocalRun(SearchRun):
    """One search for one problem within one budget."""

    def __init__(self, problem: SearchProblem, control: Control, earlier: Earlier | None = None) -> None:
        super().__init__(control)
        self._earlier = Earlier() if earlier is None else earlier
        self._known = Known.of(control)
        self._problem = problem
        self._ground = LocalProblem(problem)
        self._lattice = level_lattice(self._ground)
        self._slow = work_of_start(self._ground, self._lattice, referred_values(problem)) >= SLOW
        self._validity = Validity(self._ground)
        self._judge = AssignmentJudge(self._ground)
        self._tried = 0
        self._best: Incumbent[Assignment] = Incumbent()
        self._bound: float | None = None
        self._proving = BoundSchedule(self._ground, wide=self._lattice.wide)
        self._acceptance = ProposalAcceptance(self._validity, self._judge, problem.limit)
        self._effort = 0.0
        self._repaired = False
        quick = control.work is not None
        deepest = QUICK_DEPTH if control.unlimited else DEEPEST
        self._annealing = Annealing(
            self._ground,
            self._validity,
            self._judge,
            self._acceptance,
            self._spent,
            deepest,
            self._earlier.near,
            quick=quick,
        )

    def run(self) -> Outcome:
        """Return the best recoding found, with its proven bound.

        Raises
        ------
        InputError: the metric has no value for a local recoding.
        Interrupted: the user ended the search before it found a recoding.
        """
        if self._infeasible():
            return self._outcome(Status.INFEASIBLE)
        if Exact.applies(self._ground):
            return self._run_exactly(Exact(self._ground, self._validity, self._judge))
        self._take_earlier()
        if self._best.found is None:
            self._take_quick()
        slow = self._lattice.wide or (self._slow and self._repaired)
        if self._best.found is None or not slow:
            found = self._start()
            if found:
                self._note("start", found)
            self._compare_with_lattice()
        if self._best.found is None:
            return self._outcome(Status.UNDECIDED)
        self._improve(self._best.found)
        return self._outcome(Status.SATISFIED)

    def _run_exactly(self, exact: Exact) -> Outcome:
        found = exact.best()
        if found:
            self._note("partitions", found)
        elif exact.conclusive:
            return self._outcome(Status.INFEASIBLE)
        self._compare_with_lattice()
        if not exact.conclusive:
            self._take_mondrian()
        if self._best.found is None:
            return self._outcome(Status.UNDECIDED)
        if found and exact.conclusive and self._ground.additive:
            self._bound = self._best.objective
        return self._outcome(Status.SATISFIED)

    def _infeasible(self) -> bool:
        """Return whether every assignment is proven to suppress too many records."""
        if self._validity.moving and self._problem.limit:
            # A class that violates a constraint under p of the input may satisfy it under p of the release.
            return False
        keying = self._lattice.keying(np.arange(self._ground.atoms.number))
        keys, _ = keying.keys(self._lattice.top)
        self._tried += 1
        return self._judge.provably_infeasible(np.unique(keys, return_inverse=True)[1].reshape(-1))

    def _take_earlier(self) -> None:
        """Take the classes of an earlier search, merged where more is asked for."""
        before = self._earlier.best
        own = None if before is None else before.on(self._ground)
        if own is not None and not self._judge.admits(own):
            own = thinned(own, self._judge, self._spent)
        if own is not None:
            self._repaired |= self._take("earlier", own)

    def _take_quick(self) -> None:
        """Take quick releases, in case the budget ends before a better one."""
        self._take_mondrian()
        self._take_repaired()

    def _take_mondrian(self) -> None:
        """Take what Mondrian cuts, so that no release loses more."""
        began = time.monotonic()
        try:
            found = mondrian_start(self._ground, self._problem, self._control.stopped, self._control.memory)
        except InputError:
            # The metric has no value for what it publishes, nor for local recoding, which says so later.
            return
        if found is not None:
            self._take("mondrian", found, time.monotonic() - began)

    def _take_repaired(self) -> None:
        """Take fine classes, merged where they violate a model."""
        limits, together = self._annealing.limits, self._problem.table_constraints
        if not (limits.attributes or together) or not self._ground.bounded:
            return
        fine = finest(self._ground, self._control.stopped, self._control.memory)
        if fine is None:
            return
        powers = POWERS if fine.classes <= CLASSES else POWERS[1:2]
        for power in powers if limits.attributes else POWERS[:1]:
            if self._given_up():
                break
            found = self._merged(fine, limits, power)
            if found is not None:
                self._repaired |= self._take("repair", found)

    def _merged(self, fine: Assignment, limits: KernelLimits, power: int) -> Assignment | None:
        """Return fine classes merged until they satisfy the models; None if the budget ended before."""
        found: Assignment | None = fine
        if limits.attributes:
            room = 0 if self._validity.moving else self._problem.limit
            found = self._known.repaired(fine, limits, room - fine.suppressed, power, self._given_up)
        if found is None or not self._problem.table_constraints or self._judge.admits(found):
            return found
        return thinned(found, self._judge, self._given_up)

    def _take(self, name: str, found: Assignment, seconds: float | None = None) -> bool:
        """Note an assignment if it may be released, and return whether it may.

        Parameters
        ----------
        seconds: that another algorithm took for it.
        """
        valid = self._judge.admits(found)
        if valid:
            self._note(name, found, seconds)
            if found is self._best.found:
                self._validity.refer_to(found.kept)
        return valid

    def _start(self) -> Assignment | None:
        """Return the start; None if there is none, or if the budget ends and there is a release.

        Raises ``Interrupted`` if the user ended the search before it found a recoding.
        """
        start = Start(self._ground, self._lattice, self._validity, self._judge, self._given_up)
        try:
            found = start.settled(start.greedy())
        except Interrupted:
            if self._best.found is None:
                raise
            return None
        self._tried += len(self._lattice.vectors)
        return found

    def _given_up(self) -> bool:
        return self._control.stopped() or (self._best.found is not None and self._spent())

    def _compare_with_lattice(self) -> None:
        """Take the optimum of the lattice if it is better than the incumbent."""
        if self._best.found is not None and self._slow and self._spent():
            return
        below = self._best.objective
        # The budget of steps is for this search, not for the one within it.
        control = replace(self._control, steps=None)
        if self._best.found is not None:
            # With an objective to beat this takes few transformations, so it ignores the clock.
            nodes = None if self._ground.bounded else LATTICE_NODES
            control = Control(nodes=nodes, stopped=control.stopped)
        began = time.monotonic()
        better = search_with("lattice", self._problem, replace(control, below=below, memory=None))
        if better.recoding is None:
            return
        self._take("lattice", assignment_of(self._ground, better.recoding), time.monotonic() - began)

    def _improve(self, current: Assignment) -> None:
        random = np.random.default_rng(SEED)
        rotation = ImproverSchedule(self._improvers())
        idle = 0
        while current.classes and not self._over(idle):
            self._control.tell(self._progress)
            if self._may_prove and (
                self._proving.due(self._effort) or (self._proving.open and idle >= self._patience)
            ):
                if self._prove(current, rotation):
                    # New prices deserve a turn.
                    idle = 0
                continue
            improver = rotation.next()
            found = improver.improve(current, random)
            if found is current and self._spent():
                # It may have been cut short, so a budget of steps could not repeat it.
                break
            saved = current.total - found.total
            effort = rotation.learn(saved)
            own = improver is self._annealing
            self._earlier.work += effort * PROPOSALS if own else VISITS * self._ground.atoms.number
            self._effort += 1 if improver.by_prices else effort
            idle = 0 if saved > 0 else idle + 1
            current = found
            self._note(improver.name, found)

    def _prove(self, current: Assignment, rotation: ImproverSchedule) -> bool:
        """Spend a step on the bound, unless the budget ends within it; return whether it rose."""
        before = self._bound
        if not self._proving.improve(self._spent):
            return False
        first = self._bound is None
        self._bound = self._proving.loss
        self._note("bound", current)
        # It makes classes of so many records, of which few are large enough if several are of one unit.
        unit = self._ground.unit
        suits = unit is None or bool((self._ground.atoms.keys.by_name[unit] < 0).all())
        if first and suits and self._proving.dual is not None:
            rotation.add(Rounding(self._ground, self._proving.dual, self._acceptance, self._spent))
        return before is None or self._proving.loss != before

    def _spent(self) -> bool:
        return self._control.stopped() or self._control.exhausted(self._tried, len(self._steps))

    def _improvers(self) -> list[Improver]:
        acceptance = self._acceptance
        # Level vectors of many attributes are mere samples, at which hardly any class is grouped.
        regrouping = (
            Clustering(self._ground, acceptance, self._spent)
            if self._lattice.wide
            else Rebuilding(self._lattice, self._validity, acceptance)
        )
        others = [Relocation(self._validity, acceptance), regrouping, Rejoining(self._validity, self._judge)]
        return [*others, self._annealing]

    @property
    def _patience(self) -> int:
        """Moves in a row without savings after which the search ends."""
        return PATIENCE if self._control.unlimited else LONG_PATIENCE

    @property
    def _may_prove(self) -> bool:
        """Whether there may be rounds of the bound, one of which takes longer than a whole quick search."""
        return self._control.work is None or self._ground.atoms.number <= FEW_ATOMS

    def _over(self, idle: int) -> bool:
        """Return whether the budget or the bound ends the search, or too many moves saved nothing."""
        if self._ended(self._tried) or self._proven() or self._at_reserve():
            return True
        if self._control.unlimited and len(self._steps) > ROUNDS:
            return True
        if self._control.work is not None and self._earlier.work >= self._control.work:
            return True
        return idle >= self._patience and not (self._proving.open and self._may_prove)

    def _at_reserve(self) -> bool:
        """Return whether the search must end now, so that a bound can still be found in the budget."""
        if self._bound is not None or self._lattice.wide or not self._proving.possible:
            return False
        return self._control.spent >= 1 - RESERVE

    def _proven(self) -> bool:
        """Return whether the incumbent is proven optimal."""
        if self._bound is None or self._best.found is None:
            return False
        return self._best.objective - self._bound <= CLOSE

    def _note(self, move: str, found: Assignment, seconds: float | None = None) -> None:
        """Log a step, and keep the assignment if it is the best so far."""
        self._tried += 1
        same = found is self._best.found
        objective = self._best.objective if same else self._objective(found)
        accepted = not same and self._best.offer(found, objective)
        candidate: dict[str, Any] = {"move": move, "classes": found.classes, "suppressed": found.suppressed}
        if seconds is not None:
            candidate["algorithm"], seconds = move, round(seconds, 3)
        step = Step(candidate, objective, accepted, suppressed=found.suppressed, seconds=seconds)
        self._steps.note(step, lambda own: replace(own, checks=self._judge.checks(found)))

    def _objective(self, found: Assignment) -> float:
        if self._ground.additive:
            return found.loss
        return self._problem.loss(self._recoding(found), "algorithm local")

    def _recoding(self, found: Assignment) -> NodeRecoding:
        return recoding_of(found, kept_suppressed=self._judge.keeps_suppressed(found))

    def _progress(self) -> Progress:
        best = None if self._best.found is None else self._best.objective
        return Progress(self._tried, self._ground.trees.vectors, best, self._bound)

    def _proven_bound(self) -> float | None:
        """Return the bound; a quick one if the budget ended before the first round."""
        late = self._control.out_of_time()
        if self._bound is not None or self._best.found is None or not self._proving.possible:
            return self._bound
        if late and self._lattice.wide:
            return None
        # On a large table it takes minutes, so it also ends with the budget; a quick one never does.
        large = work_of_start(self._ground, self._lattice, 0) >= SLOW
        ended = self._control.out_of_time if large and not late else self._control.stopped
        return best_possible(self._problem, ended, QUICK if large and late else self._late_seconds())

    def _late_seconds(self) -> float | None:
        """Return the seconds whose work a bound at the end of the budget may take, None for no limit."""
        if self._control.work is not None:
            return QUICK
        if self._control.unlimited:
            return None
        # Whoever counts steps or transformations asked for no bound that takes longer than these.
        return QUICK if self._control.allowed is None else self._control.allowed * LATE

    def _outcome(self, status: Status) -> Outcome:
        self._interrupted = self._interrupted or self._control.stopped()
        recoding = objective = None
        if self._best.found is not None:
            self._earlier.best = self._best.found
            recoding = self._recoding(self._best.found)
            objective = self._problem.loss(recoding, "algorithm local")
        bound = self._proven_bound()
        if bound is not None and objective is not None:
            bound = objective if objective - bound <= CLOSE else bound
        vectors = self._ground.trees.vectors
        found = self._finished(status, (objective, recoding), bound, vectors, min(self._tried, vectors))
        return replace(found, best_possible=bound)


LATE = 0.1
"""Work of a bound at the end of the budget, as a part of it."""

RESERVE = 0.15
"""Part of the budget's time that is left for this."""

PROBE = 3
"""Steps that show whether a class size passes the attack checks."""


class Local(SearchAlgorithm):
    """Finds nodes of each hierarchy for every record; records with equal nodes are a class.

    A greedy start is improved round by round until the budget ends. For a weighted mean of cell costs the
    result is never worse than the optimum of the lattice, as full-domain recoding is a special case; if the
    budget ends within the start on a large table, it is Mondrian's. With more attributes than level vectors
    can be tried for, the start is Mondrian's, and improvers work on the records alone. For any other metric
    the mean of its cell costs guides the search, or ``loss`` if it has none, and the best by the metric
    itself is returned.
    """

    name = "local"
    supports = frozenset(
        {
            Feature.CLASSES,
            Feature.RECORDS,
            Feature.APPLY,
            Feature.UNIT_LIMIT,
            Feature.UNITS,
            Feature.SCENARIOS,
            Feature.SCENARIOS_BY_RECORD,
            Feature.NUMBERS,
        }
    )
    own_nodes = True
    most_parts = inf

    @property
    def hindrance(self) -> str | None:
        """Say where moves are interpreted."""
        if runs_compiled(MODULE):
            return None
        return (
            "algorithm local: the package wasmtime is not installed or cannot run on this machine, so that "
            "moves of records are interpreted: in the same time about a hundredth of them are tried, and the "
            "release loses more"
        )

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best recoding found, with its proven bound.

        Raises
        ------
        InputError: the metric has no value for a local recoding.
        Interrupted: the user ended the search before it found a recoding.
        """
        earlier = Earlier()
        # Mondrian runs beside it where attacks are asked about, and before it anyway: it cuts once.
        control = replace(control, memory={})

        def search(asked: SearchProblem, left: Control) -> Outcome:
            found = LocalRun(asked, left, earlier).run()
            if asked.class_constraints == problem.class_constraints:
                earlier.raise_bound(found.bound)
            return found

        rivals = (Rival("mondrian", _along_hierarchies, first=True), Rival("lattice", _full_domain))
        outcome = search_with_attack_checks(problem, control, search, probe=PROBE, rivals=rivals)
        if problem.gate.open or outcome.objective is None or earlier.bound is None:
            return outcome
        close = outcome.objective - earlier.bound <= CLOSE
        bound = outcome.objective if close else earlier.bound
        return replace(outcome, bound=bound, best_possible=bound)


def _along_hierarchies(problem: SearchProblem, control: Control) -> Outcome:
    """Return the outcome of Mondrian as a local recoding; of its proofs none holds."""
    found = search_with("mondrian", problem, replace(control, nodes=None), labels="hierarchy")
    if found.recoding is None:
        return found
    ground = LocalProblem(problem)
    judge, assignment = AssignmentJudge(ground), assignment_of(ground, found.recoding)
    if not judge.admits(assignment):
        return replace(found, status=Status.UNDECIDED, recoding=None, objective=None)
    recoding = recoding_of(assignment, kept_suppressed=judge.keeps_suppressed(assignment))
    return replace(found, recoding=recoding, objective=problem.loss(recoding, "algorithm local"), cuts=None)


def _full_domain(problem: SearchProblem, control: Control) -> Outcome:
    """Return the best of the lattice within some transformations."""
    return search_with("lattice", problem, replace(control, nodes=LATTICE_NODES, memory=None))
