"""A whole comparison: its runs, the attack that they are compared by, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np

from anonymizer.report.comparing.pareto import DIGITS, pareto_optimal, unbeaten_by_any_risk
from anonymizer.report.comparing.runs import ComparedRun, Measured, Risk, RunStatus
from anonymizer.report.comparing.winners import Winner, attack_winners, disagreement, loss_winners, numbered
from anonymizer.report.numbers import percent

MOST_NAMED = 5
"""Runs that the first line names; of more it says how many they are."""


@dataclass(frozen=True)
class Point:
    """A run with a release, where it stands among the others.

    Attributes
    ----------
    risk: by the attack that all are compared by.
    """

    run: ComparedRun
    measured: Measured
    risk: Risk


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of one config on one input, with other algorithms and settings.

    Attributes
    ----------
    config: path of the file, as it was given.
    input: name of the data file; None for a DataFrame.
    records: of the input, 0 when no run could read it.
    seed: of everything random, the same for all runs.
    runs: in the order of their numbers.
    asked: names of the attacks that the user wants risk to be measured by; none for any.
    """

    config: str
    input: str | None
    records: int
    seed: int
    runs: tuple[ComparedRun, ...]
    asked: tuple[str, ...] = ()

    @cached_property
    def attacks(self) -> tuple[str, ...]:
        """Names of the attacks that every release went through, in the order of the config."""
        releases = self._releases
        if not releases:
            return ()
        first, *others = (own.risks for _, own in releases)
        return tuple(name for name in first if all(name in each for each in others))

    @cached_property
    def attack(self) -> str | None:
        """The strongest attack common to all, of those asked for: somewhere it gains most over a guess."""

        def gain(name: str) -> float:
            risks = [own.risks[name] for _, own in self._releases]
            return max(each.success - each.baseline for each in risks)

        asked = [name for name in self.attacks if name.split()[0] in self.asked]
        return max(asked or self.attacks, key=gain, default=None)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The runs with a release, without those in groups."""
        attack = self.attack
        if attack is None:
            return ()
        return tuple(Point(run, own, own.risks[attack]) for run, own in self._releases)

    @cached_property
    def recommended(self) -> tuple[Point, ...]:
        """The points that no other beats, by increasing risk and then loss."""
        points = self.points
        if not points:
            return ()
        numbers = np.array([(each.measured.loss, each.risk.low, each.risk.high) for each in points])
        best = [point for point, keep in zip(points, pareto_optimal(*numbers.T), strict=True) if keep]
        return tuple(sorted(best, key=lambda each: (each.risk.success, each.measured.loss, each.run.number)))

    @cached_property
    def in_groups(self) -> tuple[tuple[ComparedRun, Measured], ...]:
        """The runs whose release is in groups, by increasing query error; they have no place among points."""
        found = [(run, run.measured) for run in self.runs if run.measured and run.measured.in_groups]
        return tuple(sorted(found, key=lambda each: (_error(each[1]), each[0].number)))

    @cached_property
    def recommended_runs(self) -> tuple[ComparedRun, ...]:
        """The recommended points, and the runs in groups that no other of them beats."""
        return (*(each.run for each in self.recommended), *(run for run, _ in self._best_in_groups))

    @cached_property
    def _best_in_groups(self) -> list[tuple[ComparedRun, Measured]]:
        """The runs in groups that no other answers queries better than at no more risk, by any attack.

        A weaker promise answers queries better and is riskier: neither beats the other.
        """
        if not self.in_groups:
            return []
        risks = [own.risks for _, own in self.in_groups]
        common = [name for name in risks[0] if all(name in each for each in risks)]
        low, high = (
            np.array([[getattr(each[name], end) for name in common] for each in risks], dtype=np.float64)
            for end in ("low", "high")
        )
        errors = np.array([_error(own) for _, own in self.in_groups])
        shape = (len(risks), len(common))
        kept = unbeaten_by_any_risk(errors, low.reshape(shape), high.reshape(shape))
        return [each for each, keep in zip(self.in_groups, kept, strict=True) if keep]

    @property
    def order(self) -> str:
        """In which order the recommended runs stand, in words."""
        ways = {"by increasing risk": self.points, "in groups by query error": self.in_groups}
        return ", then ".join(way for way, runs in ways.items() if runs)

    @cached_property
    def unbeaten(self) -> frozenset[int]:
        """The numbers of the recommended runs."""
        return frozenset(each.number for each in self.recommended_runs)

    @cached_property
    def indistinguishable(self) -> tuple[tuple[int, int], ...]:
        """Pairs of recommended runs whose risks cannot be told apart, as their intervals overlap."""
        return tuple(
            (one.run.number, other.run.number)
            for place, one in enumerate(self.recommended)
            for other in self.recommended[place + 1 :]
            if one.risk.overlaps(other.risk) and max(_width(one.risk), _width(other.risk)) > 0
        )

    @cached_property
    def equal(self) -> tuple[tuple[int, ...], ...]:
        """Groups of recommended runs that agree in risk and loss."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for each in self.recommended:
            numbers = (each.measured.loss, each.risk.low, each.risk.high)
            groups.setdefault(tuple(round(number, DIGITS) for number in numbers), []).append(each.run.number)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @cached_property
    def loss_winners(self) -> list[Winner]:
        """The best runs by each loss metric."""
        return loss_winners([run for run, _ in self._releases], self._varied)

    @cached_property
    def attack_winners(self) -> list[Winner]:
        """The runs that each attack reaches least on."""
        return attack_winners([run for run, _ in self._releases], self.attacks)

    def command(self, run: ComparedRun) -> str:
        """Return the command that repeats a run from here."""
        return run.command(self.config)

    def command_beside(self, run: ComparedRun) -> str:
        """Return the command that repeats a run from the folder of the config."""
        return run.command(Path(self.config).name)

    @property
    def failed(self) -> bool:
        """Whether a verification failed, or a process ended without an answer."""
        return any(run.status is RunStatus.FAILED for run in self.runs)

    def without_release(
        self, reason: Callable[[ComparedRun], str] = lambda run: run.reason
    ) -> list[tuple[RunStatus, str, tuple[int, ...]]]:
        """Return how runs without a release ended: status, reason, and the numbers of those that share both.

        Parameters
        ----------
        reason: what to call the reason of a run.
        """
        groups: dict[tuple[RunStatus, str], list[int]] = {}
        for run in self.runs:
            if run.measured is None:
                groups.setdefault((run.status, reason(run)), []).append(run.number)
        return [(status, reason, tuple(numbers)) for (status, reason), numbers in groups.items()]

    def headline(self) -> str:
        """Return what a reader should know first."""
        found = len(self._releases)
        if not found and self.in_groups:
            return f"Releases in groups alone; no other beats {numbered(sorted(self.unbeaten))}."
        if not found:
            return f"None of {len(self.runs)} runs has a release."
        split = disagreement(self.loss_winners, found)
        if split:
            return f"The loss metrics disagree about the best: {split}."
        split = disagreement(self.attack_winners, found)
        if split:
            return f"The attacks disagree about the safest: {split}."
        return self._trade_off()

    def _trade_off(self) -> str:
        found = len(self._releases)
        best = sorted(each.run.number for each in self.recommended)
        if len(best) == 1:
            return f"Run {best[0]} beats or equals every other by risk and loss."
        named = f"runs {numbered(best)}" if len(best) <= MOST_NAMED else f"{len(best)} of {found} releases"
        return f"No other beats {named}{': less risk is more loss among them' if self._traded else ''}."

    @property
    def _traded(self) -> bool:
        """Whether every step from one recommended point to a less risky one costs loss."""
        points = {
            (round(each.risk.success, DIGITS), round(each.measured.loss, DIGITS)) for each in self.recommended
        }
        losses = [loss for _, loss in sorted(points)]
        return len(points) > 1 and all(later < earlier for earlier, later in pairwise(losses))

    def remarks(self) -> Iterator[str]:
        """Yield what a reader must not miss: equal runs, risks that are not distinguishable."""
        for group in self.equal:
            yield f"{numbered(group)}: the same risk and loss"
        for one, other in self.indistinguishable:
            yield f"{one} and {other}: not distinguishable in risk, their intervals overlap"
        for run, attacks in self._safer_elsewhere().items():
            yield f"{run}: beaten, yet safer than all that are recommended by {attacks}"
        if self.in_groups:
            runs = numbered(sorted(run.number for run, _ in self.in_groups))
            yield f"{runs}: in groups, quasi-identifiers as they were; compared by query error and attacks"
        for best, own in self._best_in_groups:
            told = ", ".join(f"{name} {percent(risk.success)}" for name, risk in own.risks.items())
            yield f"{best.number}: {told or 'no attack was run on it'}"

    def _safer_elsewhere(self) -> dict[int, str]:
        """Return the runs that are beaten, and yet safer than all recommended ones by other attacks."""
        best = [each.measured for each in self.recommended]
        found = {}
        for run, own in self._releases:
            safer = [
                name
                for name in self.attacks
                if all(own.risks[name].high < other.risks[name].low for other in best)
            ]
            if safer:
                found[run.number] = " and ".join(safer)
        return found

    @property
    def _releases(self) -> list[tuple[ComparedRun, Measured]]:
        return [(run, run.measured) for run in self.runs if run.measured and not run.measured.in_groups]

    @cached_property
    def _varied(self) -> Sequence[str]:
        by_key: dict[str, set[str]] = {}
        for run in self.runs:
            for key, value in run.settings:
                by_key.setdefault(key, set()).add(value)
        return [key.rpartition(".")[2] for key, values in by_key.items() if len(values) > 1]


def _error(own: Measured) -> float:
    """Return the query error; what was not measured comes last."""
    return inf if own.query_error is None else own.query_error


def _width(risk: Risk) -> float:
    return risk.high - risk.low
