"""The result of a comparison: its runs, the Pareto-optimal ones, and the best by each measure.

Risk is that of the one attack by which the runs are compared.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray
from anonymizer.report.wording import percent

DIGITS = 12
"""Numbers that agree in so many decimal places are the same: further ones are rounding."""


def pareto_optimal(loss: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return the points that no other beats, shape as each argument.

    One point beats another when it surely is at least as good in both, and surely better in one: its loss is
    not larger and its whole interval of risk does not lie above any point of the other's. Where intervals
    overlap, neither is surely safer, and neither can beat the other. Equal points do not beat each other.
    With intervals of no width this is the Pareto order; with others it is still transitive, so that whatever
    is beaten is beaten by a point that is not.

    Parameters
    ----------
    loss: exact, shape (points,).
    low, high: ends of the interval of the risk, shape (points,).
    """
    loss, low, high = (np.round(each, DIGITS) for each in (loss, low, high))
    no_worse = (loss[:, None] <= loss) & (high[:, None] <= low)
    better = (loss[:, None] < loss) | (high[:, None] < low)
    return np.asarray(~(no_worse & better).any(axis=0))


def unbeaten_by_any_risk(error: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return the points that no other beats by an error and by every one of several risks.

    One point beats another as above, where it surely is no riskier by any of the risks. Without a risk that
    all have, nothing is known to be as safe as another, and no point is beaten.

    Parameters
    ----------
    error: exact, shape (points,).
    low, high: ends of the intervals of the risks, shape (points, risks).
    """
    if not low.shape[1]:
        return np.ones(len(error), dtype=bool)
    error, low, high = (np.round(each, DIGITS) for each in (error, low, high))
    no_worse = (error[:, None] <= error) & (high[:, None] <= low).all(axis=2)
    better = (error[:, None] < error) | (high[:, None] < low).any(axis=2)
    return np.asarray(~(no_worse & better).any(axis=0))


def frontier(risk: FloatArray, loss: FloatArray) -> list[int]:
    """Return the points that no other beats by the bare numbers, by increasing risk, one of equal ones."""
    order = np.lexsort((loss, risk))
    steps: list[int] = []
    for point in order:
        if not steps or loss[point] < loss[steps[-1]]:
            steps.append(int(point))
    return steps


NAMING = ("target", "sensitive", "attribute", "linkage", "distance")
"""What of an adversary's knowledge tells one attack from another of the same name."""


IN_GROUPS = "anatomy"
"""The algorithm that leaves quasi-identifiers as they are and publishes sensitive values in groups."""

QUERY_ERROR = "query-error"
"""The measure of utility that releases of every kind have."""


class RunStatus(StrEnum):
    """How a run ended."""

    SATISFIED = "satisfied"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"
    REFUSED = "refused"
    FAILED = "failed"


UNQUOTED = {
    RunStatus.REFUSED: "it does not fit the input or the config; its command says why",
    RunStatus.FAILED: "a verification failed, or its process ended; its command says why",
}
"""Reasons in a file of runs whose own message may quote a value."""


@dataclass(frozen=True)
class Risk:
    """What one attack reached on one release.

    Attributes
    ----------
    success: share of the targets.
    low, high: ends of the 95 % interval; both are ``success`` where it was counted.
    baseline: what a guess without the release reaches.
    """

    success: float
    low: float
    high: float
    baseline: float

    def overlaps(self, other: Risk) -> bool:
        """Say whether the interval shares a point with another."""
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True)
class Measured:
    """What was measured on a release that satisfies every constraint.

    Attributes
    ----------
    losses: every loss metric by its key in the report; None where there is no value.
    risks: by the name of the attack.
    proven: whether no release of the algorithm's family loses less.
    algorithm: the one that made the release, where ``auto`` chose.
    query_error: of count queries, None where it was not measured.
    """

    losses: dict[str, float | None]
    risks: dict[str, Risk]
    proven: bool
    suppressed: int
    classes: int
    algorithm: str
    query_error: float | None = None

    @property
    def loss(self) -> float:
        """Share of the information that is lost, from 0 to 1."""
        return float(self.losses["loss"] or 0.0)

    @property
    def utilities(self) -> dict[str, float | None]:
        """The loss metrics and the query error."""
        return {**self.losses, "query_error": self.query_error}

    @property
    def in_groups(self) -> bool:
        """Whether quasi-identifiers are published as they are, so that their loss tells nothing."""
        return self.algorithm == IN_GROUPS


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison.

    Attributes
    ----------
    number: from 1, as in every table and chart.
    algorithm: that was asked for.
    settings: what differs from the config, key and value as ``--set`` takes them.
    overrides: all that differs from the config, as ``--set`` takes it.
    reason: why there is no release; empty when there is one.
    bound: proven lower bound on the loss, None where nothing is proven.
    measured: None without a release.
    """

    number: int
    algorithm: str
    settings: tuple[tuple[str, str], ...]
    overrides: tuple[str, ...]
    status: RunStatus
    seconds: float
    reason: str = ""
    bound: float | None = None
    measured: Measured | None = None

    @property
    def title(self) -> str:
        """Algorithm and settings in a few words."""
        return " ".join((self.algorithm, *(f"{key}={value}" for key, value in self.settings)))

    @property
    def made_by(self) -> str:
        """The algorithm that was asked for, and the one that it chose."""
        chosen = self.algorithm if self.measured is None else self.measured.algorithm
        return self.algorithm if chosen == self.algorithm else f"{self.algorithm} ({chosen})"

    @property
    def public_reason(self) -> str:
        """Why there is no release, without what a file must not hold: some messages quote a value."""
        return UNQUOTED.get(self.status, self.reason)

    def command(self, config: str) -> str:
        """Return the command that repeats the run and leaves its release.

        Parameters
        ----------
        config: path of the config file.
        """
        words = ["anonymizer", "run", config]
        for override in self.overrides:
            words += ["--set", override]
        return shlex.join(words)


def measured_of(report: Mapping[str, Any]) -> Measured:
    """Return what the report of a satisfied run says of its release."""
    search, release, measures = report["search"], report["release"], report.get("utility", ())
    return Measured(
        {name: _number(value) for name, value in report["loss"].items()},
        _risks(report["attacks"]),
        bool(search["optimal"]),
        release["suppressed_records"],
        release["classes"],
        search["algorithm"],
        next((_number(each["value"]) for each in measures if each["measure"] == QUERY_ERROR), None),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _risks(entries: list[Mapping[str, Any]]) -> dict[str, Risk]:
    """Return entries by the name of their attack; the second of one name is called so."""
    seen: Counter[str] = Counter()
    found = {}
    for entry in entries:
        known = entry["knowledge"]
        name = " ".join((entry["attack"], *(str(known[key]) for key in NAMING if known.get(key))))
        seen[name] += 1
        place = name if seen[name] == 1 else f"{name} ({seen[name]})"
        found[place] = Risk(*(float(entry[key]) for key in ("success", "low", "high", "baseline")))
    return found


@dataclass(frozen=True)
class Winner:
    """The best runs by one measure.

    Attributes
    ----------
    measure: the loss metric or attack.
    value: the smallest.
    runs: numbers of those that have it, or cannot be told from those that do.
    of: how many runs have a value.
    note: why it says less than others; empty when it does not.
    """

    measure: str
    value: float
    runs: tuple[int, ...]
    of: int
    note: str = ""


def loss_winners(runs: Sequence[ComparedRun], varied: Sequence[str]) -> list[Winner]:
    """Return the best runs by each loss metric, and by query error, where some run has a value for it.

    Parameters
    ----------
    runs: all of them; those without a release have no value.
    varied: constraint parameters whose value is not the same in all runs.
    """
    measured = _measured(runs)
    found = []
    for name in measured[0][1].utilities if measured else ():
        values = {number: own.utilities[name] for number, own in measured}
        known = {number: round(value, DIGITS) for number, value in values.items() if value is not None}
        if not known:
            continue
        least = min(known.values())
        best = tuple(number for number, value in known.items() if value == least)
        found.append(Winner(name, least, best, len(known), _note(name, len(known), len(measured), varied)))
    return found


def _note(name: str, known: int, runs: int, varied: Sequence[str]) -> str:
    if name == "average_class_size" and "k" in varied:
        return "each run is divided by its own k"
    return f"only {known} of {runs} have it" if known < runs else ""


def attack_winners(runs: Sequence[ComparedRun], attacks: Sequence[str]) -> list[Winner]:
    """Return the runs that each attack reaches least on, and those whose interval meets theirs."""
    measured = _measured(runs)
    found = []
    for name in attacks:
        risks = {number: own.risks[name] for number, own in measured}
        least = min(risks.values(), key=lambda each: (each.success, each.high))
        best = tuple(number for number, risk in risks.items() if risk.overlaps(least))
        together = len(best) > 1 and any(risks[number].low < risks[number].high for number in best)
        note = "not distinguishable: their intervals overlap" if together else ""
        found.append(Winner(name, least.success, best, len(risks), note))
    return found


def disagreement(winners: Sequence[Winner], runs: int) -> str:
    """Return what measures that all runs can be compared by disagree about; empty when one run wins all."""
    fair = [each for each in winners if each.of == runs and not each.note.startswith("each run")]
    if not fair or set.intersection(*(set(each.runs) for each in fair)):
        return ""
    parts: dict[tuple[int, ...], list[str]] = {}
    for each in fair:
        parts.setdefault(each.runs, []).append(each.measure)
    return "; ".join(f"{numbered(best)} by {' and '.join(names)}" for best, names in parts.items())


def numbered(runs: Sequence[int]) -> str:
    """Return numbers of runs as a reader says them.

    >>> numbered([3]), numbered([1, 2, 5])
    ('3', '1, 2 and 5')
    """
    *most, last = map(str, runs)
    return f"{', '.join(most)} and {last}" if most else last


def _measured(runs: Sequence[ComparedRun]) -> list[tuple[int, Measured]]:
    return [(run.number, run.measured) for run in runs if run.measured is not None]


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
        return (
            f"Pareto-optimal: {named}{'; among them, lower risk means higher loss' if self._traded else ''}."
        )

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
            yield f"{run}: not Pareto-optimal, but safer than all recommended runs against {attacks}"
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
