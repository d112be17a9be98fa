"""Judging the classes of a candidate: validity, suppression, and certain losses of finer candidates.

Searches that cannot run attacks at every step ask for fewer correct guesses while attacks succeed: of who is
in a class, or of what its most frequent value tells, as a model of the whole release.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from anonymizer.errors import Interrupted
from anonymizer.model.arrays import BoolArray, IntArray, count, from_the_first, numbered
from anonymizer.model.classes import Classes, Reference
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import CheckerMeasure, FullDomainRecoding, Outcome, Recoding, Status, Step
from anonymizer.model.table import Table
from anonymizer.privacy.base import (
    ClassConstraint,
    CountedConstraint,
    Measured,
    Merging,
    ReleaseConstraint,
    TableConstraint,
    describe,
)
from anonymizer.privacy.k_anonymity import KAnonymity, KAnonymitySettings
from anonymizer.privacy.vulnerability import Target, Vulnerability, VulnerabilitySettings
from anonymizer.search.base import (
    AttackCheck,
    Control,
    Incumbent,
    SearchProblem,
    offer_outcome,
    sensitive_codes,
)
from anonymizer.search.suppression.suppressor import (
    RepeatedSuppression,
    Suppressed,
    Suppressor,
    WholeClasses,
    holding,
    reference_for,
    references,
    references_of,
)

Search = Callable[[SearchProblem, Control], Outcome]


class Rival(NamedTuple):
    """A search that runs attacks itself, whose outcome is compared with that of larger and larger classes.

    Attributes
    ----------
    name: of the algorithm.
    first: whether it is quick, and runs first: there is a release then if the budget ends early.
    """

    name: str
    search: Search
    first: bool = False


KEPT = 4
"""Releases that passed the attack checks and are kept, in case that the audit refutes the best."""

RIVAL = 0.5
"""Part of the remaining time that is not a rival's."""

REPRIEVE = 5.0
"""Seconds of processor time after the end of the budget, for a first release of more than one class."""

TRIES = 4
"""Shares of correct guesses that are tried, each with an attack, before classes grow."""

HALF = 0.5
"""Part of the remaining time after which the share is chosen anew, for a search that improves to its end."""

LAST = 0.1
"""Part of the remaining time for merges that the last attack asks for."""

AIM, ENOUGH = 0.995, 0.98
"""Of the allowed success: what a share is chosen for, and from where on a release is near enough."""


def search_with_attack_checks(
    problem: SearchProblem,
    control: Control,
    search: Search,
    probe: int | None = None,
    rivals: Sequence[Rival] = (),
    smallest: int = 1,
    *,
    both: bool = False,
) -> Outcome:
    """Return the best candidate of a search that passes all attack checks.

    If an attack succeeds too often, the search runs again with a limit on what a guess by the classes alone
    finds (``vulnerability``), lower by the factor of the excess: so classes are merged where that costs least
    for the guesses that it takes away. What the attack then reaches shows which limit to ask for next. If
    none of these passes, the smallest class becomes larger by the factor of the excess, at least twice as
    large, until the attacks fail; then sizes between are tried. A failure proves nothing.

    If time is over and nothing passed but one class of all records, it goes on until something has, for at
    most ``REPRIEVE`` seconds: nobody is served by stars a second sooner.

    The algorithms that search this way do not count what an adversary sees who knows some quasi-identifiers
    only: their classes satisfy the models of scenarios as if all were known.

    Parameters
    ----------
    search: runs on problems without attack checks.
    probe: steps that show whether a size passes, for a search that improves until its budget ends; the rest
        of the budget goes to the chosen size. None for a search that ends by itself.
    rivals: searches that run attacks themselves; the result is at least as good as theirs.
    smallest: classes of fewer records are not made whatever the problem asks for; the sizes that are tried
        begin with it.
    both: whether larger classes are tried, too, where a limit on guesses has passed: for a search whose
        larger classes are not merged smaller ones.
    """
    refuted = refuted_as_one_class(problem)
    if refuted:
        steps = control.log()
        steps.note(Step({"classes": 1}, None, False, refuted), lambda step: as_one_class(problem, step))
        return Outcome(Status.INFEASIBLE, None, None, None, 1, 1, steps.ended(), control.elapsed, False)
    if problem.has_scenarios:
        everything = problem.for_all_knowledge
        return _without_proofs(
            search_with_attack_checks(everything, control, search, probe, rivals, smallest, both=both)
        )
    if problem.gate.open:
        return search(problem, control)
    first = max(smallest, problem.minimum_size)
    return _Answering(problem, control, search, probe, first, both=both).run(rivals)


def one_class(table: Table) -> Classes:
    """Return all records of a table as one class, which no recoding of it can exceed."""
    one = np.zeros(table.combinations, dtype=np.int64)
    return Classes(one, table.measure, 1, sensitive_codes(table))


def as_one_class(problem: SearchProblem, step: Step) -> Step:
    """Return the step of one class of all records with what each constraint measures on it.

    Unless one compares it with a population, in which it is no class.
    """
    asked = problem.for_all_knowledge
    if any(each.model.needs_population for each in (*asked.class_constraints, *asked.table_constraints)):
        return step
    return replace(step, checks=Judge(asked).measured(one_class(problem.table)))


def holds_as_one_class(constraint: CountedConstraint, table: Table) -> bool:
    """Return whether one class of all records satisfies a constraint; True if that is unknown."""
    if constraint.model.needs_population:
        return True
    asked, whole = constraint.of_everything, one_class(table)
    if isinstance(asked, TableConstraint):
        return asked.holds(whole)
    return bool(asked.holds(whole, reference_for(asked, references(table, table.counts)))[0])


def refuted_as_one_class(problem: SearchProblem) -> tuple[str, ...]:
    """Return constraints that no partition of the records satisfies, as all records in one class show.

    Every release divides the records into classes, and so does what the adversary of a scenario sees of it.
    What any split of one class of all records is certain to lose, it loses; if that is more than may be
    suppressed, there is no release. Where p is that of the release, a model that refers to it proves nothing.

    Raises
    ------
    PlugInFault: a model measures no number.
    """
    table, refuted = problem.table, list[str]()
    p, whole = references(table, table.counts), one_class(table)
    for each in problem.class_constraints:
        if each.model.needs_population or (problem.moving_reference and each.model.uses_reference):
            continue
        lost = int(each.of_everything.certain_losses(whole, reference_for(each, p))[0])
        units = problem.units_lost(whole, whole.counts > 0) if lost == table.records else 0
        if not (problem.admits(lost) and problem.admits_units(units)):
            # A plug-in whose measure is no number proves nothing, which this says.
            each.of_everything.measured(whole, reference_for(each, p))
            refuted.append(describe(each))
    lost = min(problem.limit, table.records)
    refuted += [describe(each) for each in problem.table_constraints if each.surely_violated(whole, lost)]
    return tuple(refuted)


def _without_proofs(outcome: Outcome) -> Outcome:
    """Return the outcome for weaker constraints than those of the search: of its proofs none holds."""
    status = Status.UNDECIDED if outcome.status is Status.INFEASIBLE else outcome.status
    return replace(outcome, status=status, bound=None, best_possible=None)


MEASURED = 1 << 20
"""Most rows of a recoding that are measured out of core by default: they have to fit in memory."""


def measured_end(problem: SearchProblem, outcome: Outcome) -> Outcome:
    """Return the outcome of a search that improves to its end with what each constraint measured there."""
    places = reversed(range(len(outcome.steps)))
    last = next((place for place in places if outcome.steps[place].accepted), None)
    if outcome.recoding is None or last is None or outcome.steps[last].checks:
        return outcome
    if isinstance(outcome.recoding, FullDomainRecoding):
        # Of an earlier step, which was better.
        return outcome
    if problem.source is not None and outcome.recoding.table.combinations > MEASURED:
        return outcome
    steps = list(outcome.steps)
    steps[last] = replace(explained(problem, steps[last], outcome.recoding), objective=outcome.objective)
    return replace(outcome, steps=tuple(steps))


def explained(problem: SearchProblem, step: Step, recoding: Recoding) -> Step:
    """Return the step of a release with what each constraint measures on it.

    Parameters
    ----------
    problem: without scenarios.
    """
    classes = _released_classes(recoding, problem.table)
    own = Judge(replace(problem, suppression=SuppressionMethod.CLASSES))
    return replace(step, checks=own.measured(classes, released=True))


def _inner(step: Step) -> Step:
    """Return a step of a search whose result is attacked: it is no release, whichever algorithm found it."""
    return replace(step, accepted=False, seconds=None)


def _released_classes(recoding: Recoding, table: Table | None = None) -> Classes:
    """Return the released records of equal published values.

    Parameters
    ----------
    table: the searched one, if units are counted, too.
    """
    kept = np.flatnonzero(~recoding.removed)
    class_of, number = recoding.classes_of(kept)
    measure = Measure(recoding.table.counts[kept])
    if table is not None and not table.measure.plain:
        measure = table.measure.parts(recoding.owners[kept], measure.records)
    return Classes(class_of, measure, number, sensitive_codes(recoding.table, kept))


@dataclass
class _Guesses:
    """What an attack reached on releases, beside what a guess by their classes finds.

    Attributes
    ----------
    constraint: measured by the attack.
    points: the share of such guesses and the measure of the attack, of each release.
    share: asked for next.
    """

    constraint: ReleaseConstraint
    points: list[tuple[float, float]] = field(default_factory=list)
    share: float = 1.0

    @property
    def limit(self) -> TableConstraint:
        """The limit on guesses that is asked for next."""
        return self._asking(Decimal(repr(self.share)))

    def _asking(self, most: Decimal) -> TableConstraint:
        attribute = self.constraint.attribute
        target = Target.RE_IDENTIFICATION if attribute is None else Target.ATTRIBUTE_INFERENCE
        model = Vulnerability(VulnerabilitySettings(max=most, target=target))
        return TableConstraint(attribute=attribute, model=model)

    def learn(self, recoding: Recoding, measured: float) -> None:
        """Learn from an attack, and choose the next share: by proportion, then between two attacks."""
        one = self._asking(Decimal(1))
        guessed = float(np.max(one.measured(_released_classes(recoding))))
        self.points.append((guessed, measured))
        allowed = float(self.constraint.model.settings.max) * AIM
        passing = [each for each in self.points if self.constraint.holds(each[1])]
        failing = [each for each in self.points if not self.constraint.holds(each[1])]
        low, high = max(passing, default=None), min(failing, default=None)
        if low is not None and high is not None and low[0] < high[0] and low[1] < high[1]:
            part = (allowed - low[1]) / (high[1] - low[1])
            self.share = low[0] + min(max(part, 0.05), 0.95) * (high[0] - low[0])
        else:
            # By proportion to the last release: what others of another search had may not hold for it.
            self.share = guessed * allowed / measured if measured > 0 else 1.0

    def near(self, measured: float) -> bool:
        """Return whether a passing measure is so near to its limit that no better one is worth an attack."""
        return measured >= ENOUGH * float(self.constraint.model.settings.max)


class _Answering:
    """Searches with fewer and fewer correct guesses, or larger classes, and the best that passed the attacks.

    Parameters
    ----------
    first: the size that is tried first.
    """

    def __init__(
        self,
        problem: SearchProblem,
        control: Control,
        search: Search,
        probe: int | None,
        first: int,
        *,
        both: bool,
    ) -> None:
        self._problem = problem
        self._control = control
        self._search = search
        self._probe = probe
        self._first = first
        self._both = both
        self._steps = control.log()
        self._evaluated = 0
        self._passed = False
        self._excess = 1.0
        # By the position of their constraint.
        self._guesses: dict[int, _Guesses] = {}
        self._reprieve: Control | None = None
        self._best: Incumbent[Outcome] = Incumbent()
        self._valid: list[Outcome] = []
        # A bound for the smallest size holds for larger ones too.
        self._proven: Outcome | None = None

    def run(self, rivals: Sequence[Rival]) -> Outcome:
        status = Status.UNDECIDED
        try:
            status = self._compete(rivals)
            if status is Status.UNDECIDED:
                self._fall_back()
        except Interrupted:
            if self._best.found is None:
                raise
        return self._outcome(status)

    def _compete(self, rivals: Sequence[Rival]) -> Status:
        """Run the search and its rivals; return what holds if none of them has found a release."""
        for rival in rivals:
            if rival.first:
                self._compare(rival)
        if self._best.found is not None and self._control.out_of_time():
            return Status.UNDECIDED
        found = self._try(self._first, self._probe)
        if found.recoding is None:
            return found.status
        passed = self._passed
        for rival in rivals:
            if not rival.first:
                self._compare(rival)
        if not passed and self._guided(found.recoding) and not self._both:
            if self._probe is not None:
                self._spend_guided()
            return Status.UNDECIDED
        size = self._first if passed else self._grown(self._first)
        if self._probe is not None:
            self._spend(size)
        return Status.UNDECIDED

    def _fall_back(self) -> None:
        """Try one class of all records where the budget ended before anything passed."""
        if self._best.found is None and self._ended() and not self._control.stopped():
            self._try(self._problem.table.records, 0)

    def _guided(self, recoding: Recoding) -> bool:
        """Ask for fewer correct guesses until the attacks fail; return whether they did.

        Parameters
        ----------
        recoding: that an attack broke.
        """
        succeeded = False
        self._learn(recoding)
        for _ in range(TRIES):
            if self._cannot_go_on() or not self._askable:
                break
            outcome = self._ask(self._probe)
            if outcome.recoding is None:
                break
            succeeded |= self._passed
            self._learn(outcome.recoding)
            if self._passed and self._is_near(outcome.recoding):
                break
        return succeeded

    def _cannot_go_on(self) -> bool:
        """Return whether the budget is spent; not yet if time alone is, and one class is all that passed."""
        if not self._ended():
            return False
        best, control = self._best.found, self._control
        counted = (self._evaluated, len(self._steps) + 1)
        if control.stopped() or replace(control, seconds=None, cpu_seconds=None).exhausted(*counted):
            return True
        if best is not None and best.recoding is not None and len(best.recoding.class_sizes()) > 1:
            return True
        if self._reprieve is None:
            self._reprieve = replace(
                control, seconds=None, cpu_seconds=REPRIEVE, cpu_started=time.process_time()
            )
        return self._reprieve.out_of_time()

    @property
    def _askable(self) -> bool:
        """Whether the shares to be asked for next are above 0 and below 1."""
        shares = [each.share for each in self._guesses.values()]
        return bool(shares) and all(0 < each < 1 for each in shares)

    def _learn(self, recoding: Recoding) -> None:
        """Learn what the attacks reached on a release."""
        for place, constraint, measured in self._problem.gate.measures(recoding):
            if place in self._guesses or not constraint.holds(measured):
                self._guesses.setdefault(place, _Guesses(constraint)).learn(recoding, measured)

    def _is_near(self, recoding: Recoding) -> bool:
        """Return whether the attacks reach nearly as much as they may."""
        reached = {place: measured for place, _, measured in self._problem.gate.measures(recoding)}
        return any(own.near(reached[place]) for place, own in self._guesses.items() if place in reached)

    def _spend_guided(self) -> None:
        """Spend the rest of the budget on the share at which a probe passed, or a little less."""
        for own in self._guesses.values():
            passed = (guessed for guessed, measured in own.points if own.constraint.holds(measured))
            own.share = max(passed, default=own.share)
        # Better classes change what attacks reach, so that there may be more of them in the second half, and
        # fewer at its end, which takes a moment as the search goes on from its last classes.
        for part, steps in ((HALF, None), (LAST, None), (0.0, 1)):
            if self._ended() or not self._askable or (steps is not None and self._passed):
                return
            shares = [each.share for each in self._guesses.values()]
            outcome = self._ask(steps, part)
            if outcome.recoding is None:
                return
            self._learn(outcome.recoding)
            if self._passed and self._is_near(outcome.recoding):
                for own, share in zip(self._guesses.values(), shares, strict=False):
                    own.share = share

    def _compare(self, rival: Rival) -> None:
        """Offer the outcome of a rival.

        One that runs first has all the time that it wants, so that no release is worse than its own.
        """
        control = self._control if rival.first else self._control.less(RIVAL)
        began = time.monotonic()
        outcome = rival.search(self._problem, replace(control, steps=None))
        seconds = round(time.monotonic() - began, 3)
        candidate = {"move": "rival", "algorithm": rival.name}
        if outcome.recoding is None:
            self._steps.append(
                Step(candidate, None, accepted=False, failed=(outcome.status.value,), seconds=seconds)
            )
        else:
            self._offer(candidate, outcome, outcome.recoding, seconds)

    def _offer(
        self, candidate: dict[str, Any], outcome: Outcome, recoding: Recoding, seconds: float | None = None
    ) -> bool:
        """Run the attack checks on an outcome and offer it to the incumbent; return whether it passes.

        Parameters
        ----------
        seconds: that another algorithm took for it.
        """
        problem, gate = self._problem, self._problem.gate
        broken = gate.first_violated(problem.table, recoding)
        step = Step(candidate, outcome.objective, not broken, broken, attackers=gate.answers(recoding))
        self._steps.note(replace(step, seconds=seconds), lambda own: explained(problem, own, recoding))
        if not broken:
            offer_outcome(self._best, outcome)
            self._valid = sorted([*self._valid, outcome], key=lambda each: each.objective or 0.0)[:KEPT]
        return not broken

    def _grown(self, broken: int) -> int:
        """Return the smallest class size that passes; one that is too large if none was found."""
        size = self._larger(broken)
        while size < 2 * self._problem.table.records and not self._ended():
            if self._try(size, self._probe).recoding is None:
                return size
            if self._passed:
                break
            broken, size = size, self._larger(size)
        while size - broken > self._tolerance(size) and not self._ended():
            middle = (broken + size) // 2
            self._try(middle, self._probe)
            broken, size = (broken, middle) if self._passed else (middle, size)
        return size

    def _larger(self, size: int) -> int:
        """Return the size at which links are rare enough if their rate falls in proportion to the size."""
        return max(2 * size, int(size * self._excess))

    def _tolerance(self, size: int) -> int:
        """Return the accepted distance from the smallest size that passes; probes take time."""
        return 1 if self._probe is None else max(size // 4, 1)

    def _spend(self, size: int) -> None:
        """Spend the rest of the budget on a size at which a probe passed, or a little more."""
        while not self._ended():
            if self._try(size, None).recoding is None or self._passed:
                return
            size += (size + 3) // 4

    def _ended(self) -> bool:
        return self._control.stopped() or self._control.exhausted(self._evaluated, len(self._steps) + 1)

    def _try(self, size: int, steps: int | None) -> Outcome:
        """Search with a smallest class; keep the result if it is better and passes."""
        asked = replace(self._problem, gate=AttackCheck())
        if size > self._first:
            larger = ClassConstraint(model=KAnonymity(KAnonymitySettings(k=size)))
            asked = replace(asked, class_constraints=(*asked.class_constraints, larger))
        outcome = self._searched(asked, {"smallest_class": size}, self._left(steps))
        if size == self._first:
            self._proven = outcome
        return outcome

    def _ask(self, steps: int | None, part: float = 0.0) -> Outcome:
        """Search with fewer correct guesses; keep the result if it is better and passes.

        Parameters
        ----------
        part: of the time that is left, not to be used.
        """
        limits = [each.limit for each in self._guesses.values()]
        asked = replace(
            self._problem,
            gate=AttackCheck(),
            table_constraints=(*self._problem.table_constraints, *limits),
        )
        names = Counter(describe(each.constraint) for each in self._guesses.values())
        shares = {}
        for place, each in self._guesses.items():
            name = describe(each.constraint)
            shares[f"guesses of {name}{f' ({place + 1})' if names[name] > 1 else ''}"] = each.share
        return self._searched(asked, shares, self._left(steps).less(part))

    def _searched(self, asked: SearchProblem, candidate: dict[str, Any], control: Control) -> Outcome:
        """Search for another problem; keep the result if it is better and passes."""
        outcome = self._search(asked, control)
        self._evaluated += outcome.evaluated
        self._steps += [_inner(step) for step in outcome.steps]
        self._passed = False
        if outcome.recoding is not None:
            self._passed = self._offer(candidate, outcome, outcome.recoding)
            self._excess = self._problem.gate.excess(outcome.recoding)
        return outcome

    def _left(self, most: int | None) -> Control:
        """Return the rest of the budget without the step of the attacks.

        Parameters
        ----------
        most: steps; None for all that are left.
        """
        control = self._control if self._reprieve is None else self._reprieve
        nodes = None if control.nodes is None else max(control.nodes - self._evaluated, 0)
        steps = None if control.steps is None else max(control.steps - len(self._steps) - 1, 0)
        if most is not None:
            steps = most if steps is None else min(most, steps)
        return replace(control, nodes=nodes, steps=steps)

    def _outcome(self, status: Status) -> Outcome:
        """Return the best, else the status; bounds proven without attack checks hold with them."""
        best, proven = self._best.found, self._proven
        base = proven or best
        assert base is not None, "interrupted without a release"
        return replace(
            base,
            status=status if best is None else Status.SATISFIED,
            recoding=None if best is None else best.recoding,
            objective=None if best is None else best.objective,
            cuts=None if best is None else best.cuts,
            bound=None if proven is None else proven.bound,
            best_possible=None if proven is None else proven.best_possible,
            evaluated=self._evaluated,
            candidates=max(base.candidates, self._evaluated),
            steps=self._steps.ended(),
            seconds=self._control.elapsed,
            interrupted=self._control.stopped(),
            runners_up=tuple(each for each in self._valid if each is not best),
        )


@dataclass(frozen=True, eq=False)
class CandidateVerdict:
    """The verdict on the classes of a candidate.

    Attributes
    ----------
    sizes: remaining records of each class, shape (classes,), int64.
    found: the suppressed records.
    kept_suppressed: whether the suppressed records stay as one class.
    suppressed: number of suppressed records.
    units_lost: units that lose a record; 0 where the limit counts records.
    least: lower bound of ``suppressed``; equal to it if proven optimal.
    failed: names of the constraints (and ``suppression.limit``) that the candidate violates as a whole.
    losses: records of each class that every finer candidate must suppress, shape (classes,), int64.
    unplaced: further records that every finer candidate must suppress, in any of these classes.
    settled: whether no other choice of suppressed records could make the candidate better, or valid.
    excludes_finer: whether every finer candidate must suppress too many records, or lose too many units.
    measure: computes ``checks``.
    """

    sizes: IntArray
    found: Suppressed
    kept_suppressed: bool
    suppressed: int
    units_lost: int
    least: int
    failed: tuple[str, ...]
    losses: IntArray
    unplaced: int
    settled: bool
    excludes_finer: bool
    measure: Callable[[], tuple[CheckerMeasure, ...]]

    @cached_property
    def checks(self) -> tuple[CheckerMeasure, ...]:
        """What each constraint measured; computed only for the steps that a search keeps."""
        return self.measure()

    @property
    def gone(self) -> IntArray:
        """Suppressed records of each item, shape (items,), int64."""
        return self.found.gone

    @property
    def certain(self) -> int:
        """Records that every finer candidate must suppress."""
        return int(self.losses.sum()) + self.unplaced

    @property
    def kept(self) -> BoolArray:
        """Classes with remaining records, shape (classes,), bool."""
        return self.sizes > 0

    @property
    def valid(self) -> bool:
        """Whether the candidate may be released."""
        return not self.failed


def _shows_stars(classes: Classes, found: Suppressed) -> bool:
    """Return whether a class that remains is published with ``*`` alone, as suppressed records are.

    A hierarchy may have this label below its root.
    """
    values = classes.values
    if values is None or values.label is None:
        return False
    stars = found.of_classes < classes.sizes
    for place, texts in enumerate(values.label()):
        stars &= np.array([text == SUPPRESSED for text in texts])[values.codes[:, place]]
    return bool(stars.any())


def _of_release(constraint: TableConstraint, release: Classes, *, valid: bool) -> CheckerMeasure:
    if not release.number:
        return CheckerMeasure(describe(constraint), None, False, None)
    measured = constraint.measured(release)
    released = measured if valid else None
    return CheckerMeasure(describe(constraint), measured, constraint.holds(release), None, released)


def _lightest(classes: Classes, found: Suppressed, problem: SearchProblem) -> Suppressed:
    """Return as many suppressed records of a class, its sensitive values and units, of the lowest weights."""
    assert classes.weights is not None, "the table has weights"
    table = problem.table
    columns = [classes.class_of, *(classes.sensitive_codes(name) for name in table.sensitive_names)]
    columns += classes.measure.keys()
    cells, first = numbered(columns, len(classes.counts))
    lightest = np.lexsort((classes.weights, cells))
    gone = from_the_first(cells, classes.counts, count(cells, found.gone, len(first)), lightest)
    return replace(found, of_items=lambda: gone)


def _suppressor_for(problem: SearchProblem) -> Suppressor:
    """Return the method of suppression; whole classes too if cells are suppressed afterwards."""
    if problem.suppression is SuppressionMethod.RECORDS:
        from anonymizer.search.suppression.records import OptimalRecords  # noqa: PLC0415 - few runs need it

        return OptimalRecords(problem)
    spreads = problem.table.measure.ties is not None or problem.has_scenarios
    return RepeatedSuppression(problem) if spreads else WholeClasses(problem)


class Judge:
    """Applies the constraints of a problem to candidates."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._suppressor = _suppressor_for(problem)
        self._limits_units = problem.unit_limit is not None
        referring = any(each.model.uses_reference for each in problem.class_constraints)
        self._moving = problem.moving_reference and referring
        self.lossless_merging = all(
            constraint.merging is Merging.ANY for constraint in problem.class_constraints
        )

    @property
    def chooses(self) -> bool:
        """Whether several sets of records could be suppressed."""
        return self._suppressor.chooses

    @property
    def drops_more(self) -> bool:
        """Whether the p of the release suppresses what that of the input does, and often more."""
        return self._moving and not self._suppressor.chooses

    def under_input(self, classes: Classes) -> Suppressed:
        """Return what is suppressed under the p of the input, which is quicker than a verdict."""
        return self._suppressor.under_input(classes)

    def judge(self, classes: Classes, first: Suppressed | None = None) -> CandidateVerdict:
        """Return the verdict on the classes of a candidate.

        Parameters
        ----------
        first: what is suppressed under the p of the input, if known.
        """
        found = self._suppressor.under_input(classes) if first is None else first
        sure, certain = found, found.certain
        kept_suppressed = self._problem.keep_rows and self._may_stay(classes, found)
        if self._moving:
            moved = self._suppressor.under_release(classes, found)
            certain = moved.certain
            # Suppressed records that stay do not change p; if they are removed, fewer may suffice.
            kept_suppressed = kept_suppressed and found.of_classes.sum() <= moved.of_classes.sum()
            fewest = found.fewest if kept_suppressed else moved.fewest
            if self._problem.keep_rows and self._suppressor.chooses:
                fewest = min(found.fewest, moved.fewest)
            found = replace(found if kept_suppressed else moved, fewest=fewest)
        if self._suppressor.chooses and self._problem.metric.by_weights:
            found = _lightest(classes, found, self._problem)
        sizes = classes.sizes - found.of_classes
        suppressed, least = int(found.of_classes.sum()), found.fewest
        broken: list[str] = []
        if self._problem.table_constraints and not kept_suppressed and suppressed < classes.records:
            broken = self._broken(self._release(classes, found))
        lost = self._problem.units_lost(classes, found.gone > 0) if self._limits_units else 0
        failed = [*self._failures(classes, kept_suppressed, suppressed, lost), *broken]
        # Another choice of records, or more of them, might violate no model of the whole table.
        settled = least > self._problem.limit or (
            least == suppressed and not (broken and self._suppressor.chooses)
        )
        return CandidateVerdict(
            sizes,
            found,
            kept_suppressed,
            suppressed,
            lost,
            least,
            tuple(failed),
            certain,
            found.unplaced,
            settled,
            self._excludes_finer(classes, sure, int(certain.sum()) + found.unplaced),
            lambda: self._checks(classes, found, kept_suppressed, not failed),
        )

    def measured(self, classes: Classes, *, released: bool = False) -> tuple[CheckerMeasure, ...]:
        """Return what each constraint measures on classes of which nothing is suppressed.

        Parameters
        ----------
        released: whether they are those of a valid release.
        """
        none, no_items = np.zeros(classes.number, dtype=np.int64), np.zeros_like(classes.counts)
        nothing = Suppressed(lambda: no_items, none, none, lambda: none, 0)
        return self._checks(classes, nothing, kept_suppressed=False, valid=released)

    def _excludes_finer(self, classes: Classes, sure: Suppressed, certain: int) -> bool:
        """Return whether every finer candidate suppresses too many records, or loses too many units.

        Parameters
        ----------
        sure: what is suppressed under p of the input.
        certain: records that every finer candidate suppresses.
        """
        if not self._problem.admits(certain):
            return True
        if not self._limits_units:
            return False
        # Where merging loses nothing, finer candidates suppress what is suppressed here. Otherwise it is only
        # known which records they lose where a class loses all.
        items = sure.gone > 0 if self.lossless_merging else (sure.certain == classes.sizes)[classes.class_of]
        return not self._problem.admits_units(self._problem.units_lost(classes, items))

    def _checks(
        self, classes: Classes, found: Suppressed, kept_suppressed: bool, valid: bool
    ) -> tuple[CheckerMeasure, ...]:
        """Return what each constraint measures on the classes, and on what is released of a valid candidate.

        Parameters
        ----------
        kept_suppressed: whether the suppressed records stay as one class.
        """
        measure_released = self._measure_released(classes, found, kept_suppressed) if valid else None
        checks = []
        for each in self._problem.class_constraints:
            reference = reference_for(each, self._suppressor.input)
            violating = int(classes.sizes[~each.holds(classes, reference)].sum())
            measured = each.measured(classes, reference)
            released = None
            if measure_released is not None:
                released = measure_released(each) if found.of_classes.any() else measured
            checks.append(CheckerMeasure(describe(each), measured, violating == 0, violating, released))
        if self._problem.table_constraints:
            release = self._remaining(classes, found, kept_suppressed)
            checks += [_of_release(each, release, valid=valid) for each in self._problem.table_constraints]
        return tuple(checks)

    def _remaining(self, classes: Classes, found: Suppressed, kept_suppressed: bool) -> Classes:
        """Return what is released, with the suppressed records as one class if they stay."""
        release = self._release(classes, found)
        return release.beside(classes.part(found.gone)[0].pooled()) if kept_suppressed else release

    def _measure_released(
        self, classes: Classes, found: Suppressed, kept_suppressed: bool
    ) -> Callable[[ClassConstraint], Measured]:
        """Return a function that measures a constraint on what a valid candidate releases."""
        kept = found.of_classes == 0
        whole = (kept | (found.of_classes == classes.sizes)).all()
        counted = not self._moving or not (classes.linked or not self._problem.table.measure.plain)
        if whole and not kept_suppressed and counted:
            # Views of classes are filtered without a pass over the items.
            return lambda each: each.measured(classes, self._reference_after(each, classes, kept), kept)
        release = self._remaining(classes, found, kept_suppressed)
        after = self._suppressor.input
        if self._moving:
            after = references_of(release, self._problem.table.sensitive_names)
        return lambda each: each.measured(release, reference_for(each, after))

    def _reference_after(
        self, constraint: ClassConstraint, classes: Classes, kept: BoolArray
    ) -> Reference | None:
        """Return the distribution for a constraint on the kept classes, shape (classes,), of records."""
        if not self._moving or constraint.attribute is None:
            return reference_for(constraint, self._suppressor.input)
        bound = constraint.view(classes)
        return bound.view.keep(kept[bound.owner]).counted.reference()

    def _may_stay(self, classes: Classes, found: Suppressed) -> bool:
        """Return whether the suppressed records may stay as one class; p is then that of the input.

        They are removed if this class violates a constraint, makes the table violate one, or would look like
        another class.
        """
        if not found.of_classes.any() or _shows_stars(classes, found):
            return False
        suppressed_class = classes.part(found.gone)[0].pooled()
        if not holding(self._problem.class_constraints, suppressed_class, self._suppressor.input)[0]:
            return False
        return not self._broken(self._release(classes, found).beside(suppressed_class))

    @staticmethod
    def _release(classes: Classes, found: Suppressed) -> Classes:
        kept = found.of_classes == 0
        if (kept | (found.of_classes == classes.sizes)).all():
            # Whole classes keep their counts.
            return classes.keep(kept)
        return classes.part(classes.counts - found.gone)[0]

    def _broken(self, release: Classes) -> list[str]:
        """Return the names of the models of the whole table that a release violates."""
        return [describe(each) for each in self._problem.table_constraints if not each.holds(release)]

    def _failures(self, classes: Classes, kept_suppressed: bool, suppressed: int, lost: int) -> list[str]:
        failed = []
        if suppressed > self._problem.limit or not self._problem.admits_units(lost):
            failed.append("suppression.limit")
        if suppressed == classes.records and not kept_suppressed:
            failed.append("no records left")
        return failed
