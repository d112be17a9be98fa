"""Judging the classes of a candidate: validity, suppression, and what is certain below it.

For searches that cannot run attacks at every step, larger classes are requested while attacks succeed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.report import Status
from anonymizer.privacy.base import ClassConstraint, Merging, describe
from anonymizer.privacy.k_anonymity import KAnonymity, KAnonymitySettings
from anonymizer.search.base import AttackCheck, Control, SearchProblem
from anonymizer.search.suppression.records import suppressor_for
from anonymizer.search.suppression.suppressor import Suppressed, holding

Search = Callable[[SearchProblem, Control], Outcome]


def search_with_attack_checks(
    problem: SearchProblem,
    control: Control,
    search: Search,
    probe: int | None = None,
    rival: Search | None = None,
) -> Outcome:
    """Return the best that a search finds and attackers do not break.

    Where they break it, the search is run again with a smallest class that is larger by as much as they
    reached too much, at least twice as large, until they do not; then with sizes between. What is not found
    so is not proven impossible.

    Parameters
    ----------
    search: asked about problems whose gate is open.
    probe: steps that suffice to see whether a size passes, for a search that goes on improving; the rest of
        the budget goes to the size found. None for a search that ends by itself.
    rival: a search that asks at every step, whose result this one is not to stay behind.
    """
    if problem.gate.open:
        return search(problem, control)
    return _Growing(problem, control, search, probe).run(rival)


class _Growing:
    def __init__(self, problem: SearchProblem, control: Control, search: Search, probe: int | None) -> None:
        self._problem = problem
        self._control = control
        self._search = search
        self._probe = probe
        self._steps: list[Step] = []
        self._evaluated = 0
        self._passed = False
        self._excess = 1.0
        self._best: Outcome | None = None
        # Proven for the smallest class asked for, so for larger ones too.
        self._proven: Outcome | None = None

    def run(self, rival: Search | None) -> Outcome:
        first = self._problem.minimum_size
        found = self._try(first, self._probe)
        if found.recoding is None:
            return self._outcome(found, found.status)
        if rival is not None:
            self._compare(rival(self._problem, replace(self._control, steps=None)))
        size = first if self._passed else self._grown(first)
        if self._probe is not None:
            self._spend(size)
        return self._outcome(found, Status.UNDECIDED if self._best is None else Status.SATISFIED)

    def _compare(self, other: Outcome) -> None:
        if other.recoding is not None:
            self._best = other
            self._steps.append(Step({"move": "rival"}, other.objective, accepted=True))

    def _grown(self, broken: int) -> int:
        """Return the smallest class that passes, one that is too large where none was found to."""
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
        """Return a size at which links are as rare as allowed, if they are as rare as classes are large."""
        return max(2 * size, int(size * self._excess))

    def _tolerance(self, size: int) -> int:
        """Return how near to the smallest size that passes is near enough; probes cost time."""
        return 1 if self._probe is None else max(size // 4, 1)

    def _spend(self, size: int) -> None:
        """Spend what is left of the budget on a size that a probe passed at, or a little more."""
        while not self._ended():
            if self._try(size, None).recoding is None or self._passed:
                return
            size += (size + 3) // 4

    def _ended(self) -> bool:
        return self._control.stopped() or self._control.exhausted(self._evaluated, len(self._steps) + 1)

    def _try(self, size: int, steps: int | None) -> Outcome:
        """Search with a smallest class, and take what is found if it is better and passes."""
        asked = replace(self._problem, gate=AttackCheck())
        if size > self._problem.minimum_size:
            larger = ClassConstraint(model=KAnonymity(KAnonymitySettings(k=size)))
            asked = replace(asked, class_constraints=(*asked.class_constraints, larger))
        outcome = self._search(asked, self._left(steps))
        if size == self._problem.minimum_size:
            self._proven = outcome
        self._evaluated += outcome.evaluated
        self._steps += [replace(step, accepted=False) for step in outcome.steps]
        self._passed = False
        if outcome.recoding is None:
            return outcome
        broken = self._problem.gate.broken(self._problem.table, outcome.recoding)
        self._passed = not broken
        self._excess = self._problem.gate.excess(outcome.recoding)
        self._steps.append(Step({"smallest_class": size}, outcome.objective, not broken, broken))
        if not broken and (self._best is None or _lower(outcome, self._best)):
            self._best = outcome
        return outcome

    def _left(self, most: int | None) -> Control:
        """Return what is left of the budget, but for the step in which attackers are asked.

        Parameters
        ----------
        most: steps, None for all that are left.
        """
        control = self._control
        nodes = None if control.nodes is None else max(control.nodes - self._evaluated, 0)
        steps = None if control.steps is None else max(control.steps - len(self._steps) - 1, 0)
        if most is not None:
            steps = most if steps is None else min(most, steps)
        return replace(control, nodes=nodes, steps=steps)

    def _outcome(self, first: Outcome, status: Status) -> Outcome:
        """Return the best; what was proven without attackers holds with them."""
        found, proven = self._best, self._proven or first
        return replace(
            first,
            status=status,
            recoding=None if found is None else found.recoding,
            objective=None if found is None else found.objective,
            bound=proven.bound,
            best_possible=proven.best_possible,
            evaluated=self._evaluated,
            candidates=max(first.candidates, self._evaluated),
            steps=tuple(self._steps),
            seconds=self._control.elapsed,
            interrupted=self._control.stopped(),
        )


def _lower(one: Outcome, other: Outcome) -> bool:
    return one.objective is not None and other.objective is not None and one.objective < other.objective


@dataclass(frozen=True, eq=False)
class CandidateVerdict:
    """What becomes of the classes of a candidate.

    Attributes
    ----------
    sizes: records of each class that stay, shape (classes,), int64.
    found: what is suppressed.
    kept_suppressed: whether the suppressed records stay as one class.
    suppressed: number of suppressed records.
    least: no fewer records can be suppressed at this candidate; equal where that is proven optimal.
    failed: names of the constraints (and ``suppression.limit``) that the candidate fails as a whole.
    losses: records of each class that every finer candidate must suppress, shape (classes,), int64.
    settled: whether no other choice of what is suppressed could make the candidate better, or valid.
    """

    sizes: IntArray
    found: Suppressed
    kept_suppressed: bool
    suppressed: int
    least: int
    failed: tuple[str, ...]
    losses: IntArray
    settled: bool

    @property
    def gone(self) -> IntArray:
        """Records of each item of the classes that are suppressed, shape (items,), int64."""
        return self.found.gone

    @property
    def certain(self) -> int:
        """Records that every finer candidate must suppress."""
        return int(self.losses.sum())

    @property
    def kept(self) -> BoolArray:
        """Classes of which records stay, shape (classes,), bool."""
        return self.sizes > 0

    @property
    def valid(self) -> bool:
        """Whether the candidate may be released."""
        return not self.failed


class Judge:
    """Applies the constraints of a problem to candidates."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._suppressor = suppressor_for(problem)
        referring = any(each.model.uses_reference for each in problem.class_constraints)
        self._moving = problem.moving_reference and referring
        self.lossless_merging = all(
            constraint.merging is Merging.ANY for constraint in problem.class_constraints
        )

    @property
    def chooses(self) -> bool:
        """Whether there is a choice of what is suppressed of a candidate."""
        return self._suppressor.chooses

    def judge(self, classes: Classes) -> CandidateVerdict:
        """Tell what becomes of the classes of a candidate."""
        found = self._suppressor.under_input(classes)
        certain = found.certain
        kept_suppressed = self._problem.keep_rows and self._star_holds(classes, found)
        if self._moving:
            moved = self._suppressor.under_release(classes, found)
            certain = moved.certain
            # Suppressed records that stay leave p as it is; removed, they may be fewer.
            kept_suppressed = kept_suppressed and found.of_classes.sum() <= moved.of_classes.sum()
            fewest = found.fewest if kept_suppressed else moved.fewest
            if self._problem.keep_rows and self._suppressor.chooses:
                fewest = min(found.fewest, moved.fewest)
            found = replace(found if kept_suppressed else moved, fewest=fewest)
        sizes = classes.sizes - found.of_classes
        suppressed, least = int(found.of_classes.sum()), found.fewest
        broken = (
            self._broken_without(classes, found)
            if not kept_suppressed and suppressed < classes.records
            else []
        )
        failed = [*self._failures(classes, kept_suppressed, suppressed), *broken]
        # Whoever may choose the records may break no model of the whole table with others, or with more.
        settled = least > self._problem.limit or (
            least == suppressed and not (broken and self._suppressor.chooses)
        )
        return CandidateVerdict(
            sizes, found, kept_suppressed, suppressed, least, tuple(failed), certain, settled
        )

    def _star_holds(self, classes: Classes, found: Suppressed) -> bool:
        """Tell whether the suppressed records may stay as one class; p is the input's then.

        Where that class, or a model of the whole table with it, does not hold, they are removed instead.
        """
        if not found.of_classes.any():
            return False
        star = classes.part(found.gone)[0].pooled()
        if not holding(self._problem.class_constraints, star, self._suppressor.input)[0]:
            return False
        return not self._broken(self._release(classes, found).beside(star))

    @staticmethod
    def _release(classes: Classes, found: Suppressed) -> Classes:
        kept = found.of_classes == 0
        if (kept | (found.of_classes == classes.sizes)).all():
            # What was counted of whole classes need not be counted again.
            return classes.keep(kept)
        return classes.part(classes.counts - found.gone)[0]

    def _broken(self, release: Classes) -> list[str]:
        """Return the names of the models of the whole table that do not hold on a release."""
        return [describe(each) for each in self._problem.table_constraints if not each.holds(release)]

    def _broken_without(self, classes: Classes, found: Suppressed) -> list[str]:
        """Return the same with the suppressed records removed; starred, they were asked before they stay."""
        return self._broken(self._release(classes, found)) if self._problem.table_constraints else []

    def _failures(self, classes: Classes, kept_suppressed: bool, suppressed: int) -> list[str]:
        failed = []
        if suppressed > self._problem.limit:
            failed.append("suppression.limit")
        if suppressed == classes.records and not kept_suppressed:
            failed.append("no records left")
        return failed
