"""Why there is no release: what each constraint can reach, which pair blocks, and what would work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from itertools import combinations
from math import isinf
from typing import Any

from anonymizer.errors import TooManyDistinctRows
from anonymizer.loss.base import SuppressedRecords
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Status
from anonymizer.privacy.base import (
    ClassConstraint,
    Constraint,
    PrivacyModel,
    ReleaseConstraint,
    TableConstraint,
    Threshold,
    describe,
)
from anonymizer.search.base import Control, SearchAlgorithm, SearchProblem

STEPS = 14
"""Halvings of the range of a threshold that is not whole."""


@dataclass
class Diagnosis:
    """What stands in the way of a release.

    Attributes
    ----------
    reasons: sentences, the most telling first.
    suggestions: ``path=value`` overrides that were found to work, each by itself.
    complete: whether the time sufficed for all questions.
    """

    reasons: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the ``diagnosis`` entry of the report."""
        return {"reasons": self.reasons, "suggestions": self.suggestions, "complete": self.complete}


@dataclass(frozen=True, eq=False)
class _Answer:
    """What a search for any release found; None when the time ended first."""

    found: bool | None


class Diagnostician:
    """Asks the search simpler questions about a problem that has no answer.

    Parameters
    ----------
    constraints: of the problem, each with its position in the config.
    seconds: for all questions together.
    """

    def __init__(
        self,
        problem: SearchProblem,
        constraints: Sequence[tuple[int, Constraint]],
        algorithm: SearchAlgorithm,
        seconds: float,
        stopped: Callable[[], bool],
    ) -> None:
        self._problem = problem
        self._constraints = constraints
        self._algorithm = algorithm
        self._deadline = time.monotonic() + seconds
        self._stopped = stopped
        self._diagnosis = Diagnosis()

    def diagnose(self) -> Diagnosis:
        """Return what stands in the way, as far as the time allows."""
        blocking = [each for each in self._constraints if self._feasible([each[1]]) is False]
        for position, constraint in blocking:
            self._explain_alone(position, constraint)
        if not blocking and len(self._constraints) > 1:
            self._explain_together()
        self._suggest_limit()
        return self._diagnosis

    def _explain_alone(self, position: int, constraint: Constraint) -> None:
        name, found = describe(constraint), []
        for threshold in constraint.model.thresholds:
            value = self._reachable(constraint, threshold)
            if value is not None:
                found.append(f"{threshold.parameter} = {value}")
                self._suggest(position, constraint, threshold, value)
        asked = ", ".join(
            f"{each.parameter} = {getattr(constraint.model.settings, each.parameter)}"
            for each in constraint.model.thresholds
        )
        known = "reachable" if self._diagnosis.complete else "reachable, as far as the time allowed to see"
        reached = f"{known}: {' or '.join(found)}" if found else "no other value that holds was found"
        self._diagnosis.reasons.append(
            f"{name} cannot hold even alone at this suppression limit: asked {asked}; {reached}"
        )

    def _explain_together(self) -> None:
        names = [describe(constraint) for _, constraint in self._constraints]
        for one, other in combinations(range(len(names)), 2):
            pair = [self._constraints[one][1], self._constraints[other][1]]
            if len(names) > 2 and self._feasible(pair) is not False:
                continue
            self._diagnosis.reasons.append(
                f"{names[one]} and {names[other]} hold each alone but not together at this suppression limit"
            )
            self._loosen_within_all()
            return
        self._diagnosis.reasons.append(
            f"no pair blocks; {', '.join(names)} hold in pairs but not all together at this suppression limit"
        )
        self._loosen_within_all()

    def _loosen_within_all(self) -> None:
        for position, constraint in self._constraints:
            others = [each for _, each in self._constraints if each is not constraint]
            for threshold in constraint.model.thresholds:
                value = self._reachable(constraint, threshold, others)
                if value is not None:
                    self._diagnosis.suggestions.append(
                        f"constraints.{position}.{threshold.parameter}={value}"
                    )

    def _suggest(self, position: int, loose: Constraint, threshold: Threshold, value: int | Decimal) -> None:
        """Suggest a value if it suffices with all other constraints in place."""
        others = [each for _, each in self._constraints if each is not loose]
        if self._feasible([*others, _with_threshold(loose, threshold, value)]):
            self._diagnosis.suggestions.append(f"constraints.{position}.{threshold.parameter}={value}")

    def _suggest_limit(self) -> None:
        """Find the least suppression with which all constraints hold."""
        table = self._problem.table
        outcome = self._search(replace(self._problem, limit=table.records, metric=SuppressedRecords()))
        if outcome is None or outcome.objective is None:
            return
        share = Decimal(int(outcome.objective)) / Decimal(table.records)
        limit = min(share.quantize(Decimal("0.0001"), rounding=ROUND_CEILING), Decimal(1))
        optimal = "at least" if outcome.optimal else "at most"
        self._diagnosis.reasons.append(
            f"all constraints together need {optimal} {int(outcome.objective):,} of {table.records:,} "
            f"records suppressed; the limit allows {self._problem.limit:,}"
        )
        self._diagnosis.suggestions.append(f"suppression.limit={limit.normalize():f}")

    def _reachable(
        self, constraint: Constraint, threshold: Threshold, others: Sequence[Constraint] = ()
    ) -> int | Decimal | None:
        """Return the strictest value at which the constraint holds, as far as bisection tells."""

        def holds(value: int | Decimal) -> bool:
            return self._feasible([*others, _with_threshold(constraint, threshold, value)]) is True

        asked = getattr(constraint.model.settings, threshold.parameter)
        if threshold.whole:
            return _largest_whole(int(asked), holds)
        return _nearest_decimal(Decimal(asked), threshold.loosest, holds)

    def _feasible(self, constraints: Sequence[Constraint]) -> bool | None:
        """Tell whether some release satisfies the constraints, None when the time ended first."""
        outcome = self._search(
            replace(
                self._problem,
                class_constraints=tuple(each for each in constraints if isinstance(each, ClassConstraint)),
                table_constraints=tuple(each for each in constraints if isinstance(each, TableConstraint)),
                metric=SuppressedRecords(),
                k=None,
                gate=self._problem.gate.asking(
                    [each for each in constraints if isinstance(each, ReleaseConstraint)]
                ),
            )
        )
        return None if outcome is None else outcome.status is Status.SATISFIED

    def _search(self, problem: SearchProblem) -> Outcome | None:
        left = self._deadline - time.monotonic()
        if left <= 0 or self._stopped():
            self._diagnosis.complete = False
            return None
        try:
            outcome = self._algorithm.search(problem, Control(seconds=left))
        except TooManyDistinctRows:
            # Looser constraints are asked about finer nodes.
            self._diagnosis.complete = False
            return None
        if outcome.status is Status.UNDECIDED:
            self._diagnosis.complete = False
            return None
        return outcome


def _with_threshold(constraint: Constraint, threshold: Threshold, value: int | Decimal) -> Constraint:
    model: PrivacyModel = constraint.model.loosened(threshold, value)
    return replace(constraint, model=model)  # type: ignore[arg-type]


def _largest_whole(asked: int, holds: Callable[[int], bool]) -> int | None:
    """Return the largest whole number below ``asked`` that holds, None when not even 1 does."""
    low, high = 0, asked
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low or None


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


def explanation(outcome: Outcome, diagnosis: Diagnosis) -> str:
    """Return the message of a run without a release."""
    if outcome.status is Status.UNDECIDED and outcome.evaluated >= outcome.candidates:
        head = (
            f"UNDECIDED: none of {outcome.evaluated:,} candidates tried satisfies all constraints, "
            "which does not prove that none does; raise the budget if it ended, loosen a constraint, or use "
            "another algorithm"
        )
    elif outcome.status is Status.UNDECIDED:
        head = (
            f"UNDECIDED: the budget ended after {outcome.evaluated:,} of {outcome.candidates:,} candidates "
            "and none satisfied every constraint; raise budget.seconds or budget.nodes"
        )
    else:
        head = "INFEASIBLE: no release of this family satisfies every constraint (proven)"
    lines = [head, *(f"  {reason}" for reason in diagnosis.reasons)]
    lines += [f"  works: --set {suggestion}" for suggestion in diagnosis.suggestions]
    return "\n".join([*lines, "Nothing was written."])
