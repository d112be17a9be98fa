"""Diagnosis of infeasibility: attainable thresholds, pairs of constraints that conflict, working settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from itertools import combinations
from math import isinf
from typing import Any

from anonymizer.config.section import KeyPath, dotted
from anonymizer.errors import TooManyDistinctRows, listed, plural
from anonymizer.loss.base import SuppressedRecords
from anonymizer.model.invocation import RunCommand, suggested_runs
from anonymizer.model.recoding import Outcome, Status
from anonymizer.model.table import Table
from anonymizer.model.units import RECORD
from anonymizer.privacy.base import (
    ClassConstraint,
    Constraint,
    Merging,
    PrivacyModel,
    ReleaseConstraint,
    TableConstraint,
    Threshold,
    describe,
)
from anonymizer.search.base import Control, SearchAlgorithm, SearchProblem, UnitLimit
from anonymizer.search.judge import holds_as_one_class, one_class

UNTESTED = "; whether fewer of them can is not known, as these searches did not end"
"""End of a sentence on constraints that conflict."""

STEPS = 14
"""Halvings of the range of a decimal threshold."""


@dataclass
class Diagnosis:
    """Why there is no release.

    Attributes
    ----------
    reasons: sentences, the most important first.
    suggestions: ``path=value`` overrides, each of which alone makes the problem feasible.
    complete: whether the time sufficed for all searches.
    estimated: whether estimates of attacks decided, so that a suggestion may turn out not to suffice.
    """

    reasons: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    complete: bool = True
    estimated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the ``diagnosis`` entry of the report."""
        found = {"reasons": self.reasons, "suggestions": self.suggestions, "complete": self.complete}
        return found | ({"estimated": True} if self.estimated else {})


class Diagnostician:
    """Searches relaxed versions of a problem without a release.

    Parameters
    ----------
    constraints: of the problem, each with the path of its entry in the config.
    control: the time for all searches together.
    decided: whether it is known that there is no release; if not, only constraints that all records as one
        class violate are explained.
    """

    def __init__(
        self,
        problem: SearchProblem,
        constraints: Sequence[tuple[KeyPath, Constraint]],
        algorithm: SearchAlgorithm,
        control: Control,
        stopped: Callable[[], bool],
        *,
        decided: bool = True,
    ) -> None:
        self._problem = problem
        self._constraints = constraints
        self._every = [constraint for _, constraint in constraints]
        self._algorithm = algorithm
        self._control = control
        self._stopped = stopped
        self._decided = decided
        self._diagnosis = Diagnosis()

    def diagnose(self) -> Diagnosis:
        """Return the diagnosis, as far as the time allows."""
        alone = [self._outcome([constraint]) for constraint in self._every]
        blocked = False
        for (path, constraint), outcome in zip(self._constraints, alone, strict=True):
            failed = outcome is not None and outcome.status is not Status.SATISFIED
            if failed or (outcome is None and barrier_of(constraint, self._problem.table)):
                blocked = True
                self._explain_alone(path, constraint, outcome)
        if self._decided and not blocked and len(self._constraints) > 1:
            self._explain_together(alone=None not in alone)
        self._suggest_limit()
        self._diagnosis.estimated = bool(self._problem.gate.estimating)
        return self._diagnosis

    def _by(self, constraints: Sequence[Constraint]) -> str:
        """Return which of the constraints were judged by estimates, as the end of a sentence."""
        names = self._problem.gate.asking(_attacked(constraints)).estimating
        return f", by estimates of {listed(names)}" if names else ""

    def _explain_alone(self, path: KeyPath, constraint: Constraint, outcome: Outcome | None) -> None:
        """Explain a constraint that fails alone; without an outcome, all records as one class violate it."""
        found = []
        for threshold in constraint.model.thresholds:
            value = self._reachable(constraint, threshold)
            if value is not None:
                found.append(f"{threshold.parameter} = {value}")
                self._suggest(path, constraint, threshold, value)
        requested = ", ".join(
            f"{each.parameter} = {constraint.model.value_of(each)}" for each in constraint.model.thresholds
        )
        known = "attainable by estimates" if self._by([constraint]) else "attainable"
        known += "" if self._diagnosis.complete else ", as far as the time allowed to search"
        attained = f"{known}: {' or '.join(found)}" if found else "no attainable value was found"
        self._diagnosis.reasons.append(
            f"{self._failure(constraint, outcome)}: requested {requested}; {attained}"
        )

    def _failure(self, constraint: Constraint, outcome: Outcome | None) -> str:
        """Return that a constraint fails alone, and what of the data stands against it."""
        name, barrier = describe(constraint), barrier_of(constraint, self._problem.table)
        if outcome is None:
            return f"{name}: {barrier}"
        cannot, by = (
            ("cannot be", "") if outcome.status is Status.INFEASIBLE else ("is not", ", by estimates")
        )
        because = f", as {barrier}" if barrier else ""
        return f"{name} {cannot} satisfied even alone at this suppression limit{by}{because}"

    def _explain_together(self, *, alone: bool) -> None:
        """Name a pair of constraints that conflict, or say that all together do.

        Parameters
        ----------
        alone: whether each is known to be satisfiable alone; no other is known not to be.
        """
        names = [describe(constraint) for constraint in self._every]
        every, paired = self._by(self._every), True
        for one, other in combinations(range(len(names)), 2):
            pair = [self._every[one], self._every[other]]
            feasible = self._feasible(pair) if len(names) > 2 else False
            paired = paired and feasible is not None
            if feasible is not False:
                continue
            together = f"{names[one]} and {names[other]}"
            if alone:
                what = f"{together} can each be satisfied alone, but not together, at this suppression limit"
            else:
                what = f"{together} cannot be satisfied together at this suppression limit"
            self._diagnosis.reasons.append(f"{what}{self._by(pair)}{'' if alone else UNTESTED}")
            self._loosen_within_all()
            return
        conflict = "can be satisfied in pairs, but not all together," if paired else "conflict together"
        self._diagnosis.reasons.append(
            f"{', '.join(names)} {conflict} at this suppression limit{every}{'' if paired else UNTESTED}"
        )
        self._loosen_within_all()

    def _loosen_within_all(self) -> None:
        for path, constraint in self._constraints:
            others = [each for each in self._every if each is not constraint]
            for threshold in constraint.model.thresholds:
                value = self._reachable(constraint, threshold, others)
                if value is not None:
                    self._diagnosis.suggestions.append(_override(path, threshold, value))

    def _suggest(self, path: KeyPath, loose: Constraint, threshold: Threshold, value: int | Decimal) -> None:
        """Suggest a value if it makes the problem with all constraints feasible."""
        others = [each for each in self._every if each is not loose]
        if self._feasible([*others, _with_threshold(loose, threshold, value)]):
            self._diagnosis.suggestions.append(_override(path, threshold, value))

    def _suggest_limit(self) -> None:
        """Suggest the least suppression limit that makes the problem feasible."""
        if self._problem.unit_limit is not None:
            self._suggest_unit_limit(self._problem.unit_limit)
            return
        table = self._problem.table
        outcome = self._search(replace(self._problem, limit=table.records, metric=SuppressedRecords()))
        if outcome is None or outcome.objective is None:
            return
        optimal = "at least" if outcome.optimal else "at most"
        self._diagnosis.reasons.append(
            f"all constraints together need {optimal} {int(outcome.objective):,} of {table.records:,} "
            f"records suppressed{self._by(self._every)}; the limit allows "
            f"{self._problem.limit:,}"
        )
        self._diagnosis.suggestions.append(limit_override(int(outcome.objective), table.records))

    def _suggest_unit_limit(self, limit: UnitLimit) -> None:
        """Suggest the least limit on units that makes the problem feasible, found by bisection."""
        proven = True

        def holds(lost: int) -> bool:
            nonlocal proven
            asked = replace(self._problem.losing_at_most(lost), metric=SuppressedRecords(), k=None)
            outcome = self._search(asked)
            status = None if outcome is None else outcome.status
            proven = proven and status in (Status.SATISFIED, Status.INFEASIBLE)
            return status is Status.SATISFIED

        lost = _smallest_whole(limit.most, limit.number, holds)
        if lost is None:
            return
        self._diagnosis.reasons.append(
            f"all constraints together need {'at least' if proven else 'at most'} {lost:,} of "
            f"{plural(limit.number, limit.unit)} to lose "
            f"records{self._by(self._every)}; the limit allows {limit.most:,}"
        )
        self._diagnosis.suggestions.append(limit_override(lost, limit.number))

    def _reachable(
        self, constraint: Constraint, threshold: Threshold, others: Sequence[Constraint] = ()
    ) -> int | Decimal | None:
        """Return the strictest attainable value that bisection finds; None without one."""

        def holds(value: int | Decimal) -> bool:
            return self._feasible([*others, _with_threshold(constraint, threshold, value)]) is True

        asked = constraint.model.value_of(threshold)
        if threshold.whole and isinf(threshold.loosest):
            return _smallest_whole(int(asked), self._problem.table.records, holds)
        if threshold.whole:
            return _largest_whole(int(asked), holds)
        return _nearest_decimal(Decimal(asked), threshold.loosest, holds)

    def _feasible(self, constraints: Sequence[Constraint]) -> bool | None:
        """Return whether some release satisfies the constraints; None if the time ended first."""
        outcome = self._outcome(constraints)
        return None if outcome is None else outcome.status is Status.SATISFIED

    def _outcome(self, constraints: Sequence[Constraint]) -> Outcome | None:
        """Return the outcome for some constraints, undecided by estimates only; None if the time ended."""
        return self._search(
            replace(
                self._problem,
                class_constraints=tuple(each for each in constraints if isinstance(each, ClassConstraint)),
                table_constraints=tuple(each for each in constraints if isinstance(each, TableConstraint)),
                metric=SuppressedRecords(),
                k=None,
                gate=self._problem.gate.asking(_attacked(constraints)),
            )
        )

    def _search(self, problem: SearchProblem) -> Outcome | None:
        if self._control.out_of_time() or self._stopped():
            self._diagnosis.complete = False
            return None
        try:
            outcome = self._algorithm.search(problem, self._control)
        except TooManyDistinctRows:
            # Looser constraints lead to lower levels, with more distinct rows.
            self._diagnosis.complete = False
            return None
        if outcome.status is Status.UNDECIDED and not outcome.estimated:
            self._diagnosis.complete = False
            return None
        return outcome


def barrier_of(constraint: Constraint, table: Table) -> str:
    """Return what of the data stands against a constraint whatever the recoding; empty if nothing does.

    That is one class of all records if it violates the constraint, and the share of the most frequent value,
    which no recoding lowers in all classes.
    """
    if isinstance(constraint, ReleaseConstraint):
        # Who guesses the most frequent value needs no attack.
        share = (
            0.0 if constraint.attribute is None else top_share(table, constraint.attribute, constraint.unit)
        )
        return top_value(constraint, table) if constraint.model.settings.max < share else ""
    if holds_as_one_class(constraint, table):
        return ""
    whole = f"all {table.records:,} records as one class violate it"
    counts_values = isinstance(constraint, ClassConstraint) and constraint.model.merging is Merging.ANY
    if constraint.attribute is None or counts_values:
        return whole
    return f"{whole} ({top_value(constraint, table)})"


def top_share(table: Table, attribute: str, unit: str | None) -> float:
    """Return the share of the records or units of a table that have the most frequent sensitive value."""
    counted = one_class(table).counted(attribute, unit=unit)
    return float(counted.counts.counts.max() / counted.sizes[0])


def top_value(constraint: Constraint, table: Table) -> str:
    """Return a sentence on the share of the most frequent value of the attribute of a constraint."""
    assert constraint.attribute is not None, "the constraint is on sensitive values"
    share = f"{top_share(table, constraint.attribute, constraint.unit):.1%}".replace("%", " %")
    return (
        f"the most frequent value of '{constraint.attribute}' has {share} of the {constraint.unit or RECORD}s"
    )


def _attacked(constraints: Sequence[Constraint]) -> list[ReleaseConstraint]:
    return [each for each in constraints if isinstance(each, ReleaseConstraint)]


def limit_override(needed: int, number: int) -> str:
    """Return the override of the suppression limit that allows so many of a number of records or units."""
    share = (Decimal(needed) / Decimal(number)).quantize(Decimal("0.0001"), rounding=ROUND_CEILING)
    return f"suppression.limit={min(share, Decimal(1)).normalize():f}"


def _override(path: KeyPath, threshold: Threshold, value: int | Decimal) -> str:
    """Return the override of a threshold; ``--set`` takes positions between dots."""
    parts = (dotted((part,)) if isinstance(part, str) else str(part) for part in path)
    return f"{'.'.join([*parts, threshold.parameter])}={value}"


def _with_threshold(constraint: Constraint, threshold: Threshold, value: int | Decimal) -> Constraint:
    model: PrivacyModel = constraint.model.loosened(threshold, value)
    return replace(constraint, model=model)  # type: ignore[arg-type]


def _largest_whole(asked: int, holds: Callable[[int], bool]) -> int | None:
    """Return the largest whole number below ``asked`` that holds, None if even 1 does not."""
    low, high = 0, asked
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low or None


def _smallest_whole(asked: int, largest: int, holds: Callable[[int], bool]) -> int | None:
    """Return the smallest whole number above ``asked`` that holds, None when not even ``largest`` does."""
    if largest <= asked or not holds(largest):
        return None
    low, high = asked, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _nearest_decimal(asked: Decimal, loosest: float, holds: Callable[[Decimal], bool]) -> Decimal | None:
    """Return a value near the strictest that holds, from the side where it does, to three digits."""
    loose = _first_loose(asked, holds) if isinf(loosest) else Decimal(repr(loosest))
    if loose is None or not holds(loose):
        return None
    strict = asked
    for _ in range(STEPS):
        middle = _short((strict + loose) / 2)
        if middle in (strict, loose):
            break
        strict, loose = (strict, middle) if holds(middle) else (middle, loose)
    return loose.normalize() if loose != loose.to_integral_value() else loose.quantize(Decimal(1))


def _first_loose(asked: Decimal, holds: Callable[[Decimal], bool]) -> Decimal | None:
    value = asked
    for _ in range(STEPS):
        value *= 2
        if holds(value):
            return value
    return None


def _short(value: Decimal) -> Decimal:
    """Round to three digits after the leading zeros."""
    return value.quantize(Decimal(1).scaleb(value.adjusted() - 2))


def explanation(
    outcome: Outcome, diagnosis: Diagnosis, budget: Mapping[str, Any], command: RunCommand | None
) -> str:
    """Return the message of a run without a release.

    Parameters
    ----------
    budget: its limits by name.
    command: that started the run; None without one.
    """
    if outcome.status is Status.UNDECIDED and outcome.estimated:
        names = listed(outcome.estimated)
        head = (
            f"UNDECIDED: estimates of {names} reject every candidate that satisfies the other constraints; "
            "another seed may give other estimates, so this is not proven"
        )
    elif outcome.status is Status.UNDECIDED and outcome.evaluated >= outcome.candidates:
        head = (
            f"UNDECIDED: none of the {outcome.evaluated:,} candidates evaluated satisfies all constraints, "
            "but infeasibility is not proven; if the budget ended, raise it; or relax a constraint, or use "
            "another algorithm"
        )
    elif outcome.status is Status.UNDECIDED:
        limits = listed([f"budget.{name}" for name in budget], "or") or "the budget"
        head = (
            f"UNDECIDED: the budget ended after {outcome.evaluated:,} of {outcome.candidates:,} candidates "
            f"without one that satisfies all constraints; raise {limits}"
        )
    else:
        head = "INFEASIBLE: no recoding in the search space satisfies all constraints (proven)"
    lines = [head, *(f"  {reason}" for reason in diagnosis.reasons)]
    works = "may work" if diagnosis.estimated else "works"
    lines += suggested_runs(command, diagnosis.suggestions, works)
    return "\n".join([*lines, "Nothing was written."])
