"""The result of a comparison: its runs, the Pareto-optimal ones, and the best by each measure.

Risk is that of the one attack by which the runs are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.attacks.base import targets_of
from anonymizer.model.arrays import BoolArray, FloatArray
from anonymizer.model.invocation import RunCommand, release_beside
from anonymizer.model.units import PERSON
from anonymizer.report.algorithms import in_groups
from anonymizer.report.wording import by_unit, by_weights, percent

DIGITS = 12
"""Decimal places in which equal numbers agree; further ones are rounding."""


def pareto_optimal(loss: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return which points no other dominates, shape (points,), bool.

    A point dominates another if it is certainly no worse in loss and in every risk, and certainly better in
    one: its interval of risk is not above the other's at any point. Overlapping intervals and equal points do
    not dominate each other. For intervals of width 0 this is the Pareto order; in general it is still
    transitive, so every dominated point is dominated by one that is not. Without any risk no point is
    dominated.

    Parameters
    ----------
    loss: exact, shape (points,).
    low, high: ends of the intervals of the risks, shape (points, risks), or (points,) for one risk.
    """
    if low.ndim == 1:
        low, high = low[:, None], high[:, None]
    if not low.shape[1]:
        return np.ones(len(loss), dtype=bool)
    loss, low, high = (np.round(each, DIGITS) for each in (loss, low, high))
    no_worse = (loss[:, None] <= loss) & (high[:, None] <= low).all(axis=2)
    better = (loss[:, None] < loss) | (high[:, None] < low).any(axis=2)
    return np.asarray(~(no_worse & better).any(axis=0))


def frontier(risk: FloatArray, loss: FloatArray) -> list[int]:
    """Return the Pareto-optimal points without intervals, by increasing risk, one of equal ones."""
    order = np.lexsort((loss, risk))
    steps: list[int] = []
    for point in order:
        if not steps or loss[point] < loss[steps[-1]]:
            steps.append(int(point))
    return steps


NAMING = ("target", "sensitive", "attribute", "linkage", "distance")
"""Keys of an adversary's knowledge that distinguish attacks of the same name."""


QUERY_ERROR = "query-error"
"""The measure of utility that all kinds of releases have."""


class RunStatus(StrEnum):
    """The result of a run."""

    SATISFIED = "satisfied"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"
    REFUSED = "refused"
    FAILED = "failed"


UNQUOTED = {
    RunStatus.REFUSED: "it does not fit the input or the config; its command says why",
    RunStatus.FAILED: "a verification failed, or its process ended; its command says why",
}
"""Reasons in files, in place of messages that may quote a value."""


@dataclass(frozen=True)
class Risk:
    """The success of one attack on one release.

    Attributes
    ----------
    success: share of the targets.
    low, high: ends of the 95% interval; both equal ``success`` if it was counted.
    baseline: success of a guess without the release.
    unit: of the targets; None for records.
    """

    success: float
    low: float
    high: float
    baseline: float
    unit: str | None = None

    @property
    def targets(self) -> str:
        """The targets in words."""
        return targets_of({} if self.unit is None else {"unit": self.unit})

    def entry(self) -> dict[str, Any]:
        """Return the numbers for ``--json``, with the unit if it is not a record."""
        return {key: value for key, value in vars(self).items() if value is not None}

    def overlaps(self, other: Risk) -> bool:
        """Return whether the interval has a common point with another."""
        return self.low <= other.high and other.low <= self.high

    @property
    def interval(self) -> str:
        """The interval of an estimate in percent; empty if counted."""
        return "" if self.low == self.high else f"{100 * self.low:.3g} to {100 * self.high:.3g}"


@dataclass(frozen=True)
class Measured:
    """The measurements of a release that satisfies every constraint.

    Attributes
    ----------
    losses: every loss metric by its key in the report, by weights or over units where the objective is and
        the metric can; None without a value.
    risks: by the name of the attack.
    proven: whether the release is optimal for its algorithm.
    algorithm: that made the release; with ``auto``, the chosen one.
    query_error: of count queries, None if not measured.
    weights: column of the weights; None without.
    over_records: the metrics that are by weights or over units, over records instead.
    unit: over which losses are averaged; None for records and people.
    """

    losses: dict[str, float | None]
    risks: dict[str, Risk]
    proven: bool
    suppressed: int
    classes: int
    algorithm: str
    query_error: float | None = None
    weights: str | None = None
    over_records: Mapping[str, float | None] = field(default_factory=dict)
    unit: str | None = None

    @property
    def averaged(self) -> str | None:
        """How the losses are averaged, in words; None over records."""
        if self.unit is not None:
            return by_unit(self.unit)
        return None if self.weights is None else by_weights(self.weights)

    @property
    def loss(self) -> float:
        """The metric ``loss``, from 0 to 1."""
        return float(self.losses["loss"] or 0.0)

    @property
    def utilities(self) -> dict[str, float | None]:
        """The loss metrics and the query error."""
        return {**self.losses, "query_error": self.query_error}

    @property
    def in_groups(self) -> bool:
        """Whether this is an Anatomy release, whose loss is not comparable."""
        return in_groups(self.algorithm)


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison.

    Attributes
    ----------
    number: from 1, as in every table and chart.
    algorithm: the requested one.
    settings: varied keys and values, as for ``--set``.
    overrides: all differences from the config, as for ``--set``.
    reason: the reason for having no release; empty with a release.
    bound: proven lower bound on the loss, None without.
    measured: None without a release.
    limit: largest re-identification risk that its constraints allow; None without one.
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
    limit: float | None = None

    @property
    def title(self) -> str:
        """Algorithm and settings as a short text."""
        return " ".join((self.algorithm, *(f"{key}={value}" for key, value in self.settings)))

    @property
    def made_by(self) -> str:
        """The requested algorithm, and in brackets the one that ``auto`` chose."""
        chosen = self.algorithm if self.measured is None else self.measured.algorithm
        return self.algorithm if chosen == self.algorithm else f"{self.algorithm} ({chosen})"

    @property
    def public_reason(self) -> str:
        """The reason for having no release, without quoted values."""
        return UNQUOTED.get(self.status, self.reason)

    def command(self, config: str) -> str:
        """Return the command that repeats the run and writes its release.

        Parameters
        ----------
        config: path of the config file.
        """
        return str(RunCommand(config, release_beside(config, self.number), self.overrides))


def measured_of(report: Mapping[str, Any]) -> Measured:
    """Return the measurements in the report of a satisfied run."""
    search, release, measures = report["search"], report["release"], report.get("utility", ())
    unit = report["config"]["objective"].get("unit")
    weighted = report.get("weighted_loss" if unit is None else "unit_loss", {})
    return Measured(
        {name: _number(weighted.get(name, value)) for name, value in report["loss"].items()},
        _risks(report["attacks"]),
        bool(search["optimal"]),
        release["suppressed_records"],
        release["classes"],
        search["algorithm"],
        next((_number(each["value"]) for each in measures if each["measure"] == QUERY_ERROR), None),
        weighted.get("weights"),
        {name: _number(value) for name, value in report["loss"].items() if name in weighted},
        unit,
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _risks(entries: list[Mapping[str, Any]]) -> dict[str, Risk]:
    """Return the risks by the name of the attack, with targets if not records; equal ones are numbered."""
    seen: Counter[str] = Counter()
    found = {}
    for entry in entries:
        known = entry["knowledge"]
        name = " ".join((entry["attack"], *(str(known[key]) for key in NAMING if known.get(key))))
        success, low, high, baseline = (float(entry[key]) for key in ("success", "low", "high", "baseline"))
        risk = Risk(success, low, high, baseline, known.get("unit"))
        name += _of_targets(risk)
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = risk
    return found


def _of_targets(risk: Risk) -> str:
    """Return the end of an attack's name: shares of persons and of records are not one measure."""
    return "" if risk.unit is None else f" of {risk.targets}"


@dataclass(frozen=True)
class Winner:
    """The best runs by one measure.

    Attributes
    ----------
    measure: the loss metric or attack.
    value: the smallest.
    runs: numbers of the runs with this value, or not distinguishable from it.
    of: number of runs with a value.
    note: a restriction of the comparison; may be empty.
    """

    measure: str
    value: float
    runs: tuple[int, ...]
    of: int
    note: str = ""


def _note(name: str, known: int, runs: int, varied: Sequence[str]) -> str:
    if name == "average_class_size" and "k" in varied:
        return "each run is divided by its own k"
    return f"only {known} of {runs} have it" if known < runs else ""


def numbered(runs: Sequence[int | str]) -> str:
    """Return numbers of runs, or names, as a list in words.

    >>> numbered([3]), numbered([1, 2, 5])
    ('3', '1, 2 and 5')
    """
    *most, last = map(str, runs)
    return f"{', '.join(most)} and {last}" if most else last


MOST_NAMED = 5
"""Maximum number of runs that the headline names; of more it has the number."""


@dataclass(frozen=True)
class Point:
    """A run with a release in the comparison of risk and loss.

    Attributes
    ----------
    risk: by the attack of the comparison.
    """

    run: ComparedRun
    measured: Measured
    risk: Risk


LIMITED = ("linkage", "vulnerability re-identification")
"""Beginnings of the names of attacks on records whose success is compared with a limit, such as 1/k."""

GUESSED_ONCE = "vulnerability re-identification"
"""The one on persons, whom it finds by one guess; to link each of their records is to guess several times.

Its success is what the constraint `vulnerability` measures. k-anonymity bounds it by 1/k only where the
persons of a class have equally many records there; a run above 1/k is not within the limit.
"""


@dataclass(frozen=True)
class Advice:
    """The run to take, and its neighbors among the Pareto-optimal ones.

    Attributes
    ----------
    limit: largest acceptable risk.
    attack: that measures the risk.
    within: number of runs with at most that risk.
    point: of those the one that loses least; without any, the safest of all.
    less_loss: the run of lower loss with the least risk; None without.
    safer: the run of lower risk with the least loss; None without.
    """

    limit: float
    attack: str
    within: int
    point: Point
    less_loss: Point | None
    safer: Point | None

    @property
    def because(self) -> str:
        """The reason as a sentence."""
        number, own = self.point.run.number, self.point
        limit, risk = _plain_percent(self.limit), _plain_percent(own.risk.high)
        most = f"a risk of at most {limit} (attack {self.attack})"
        if not self.within:
            return f"No run has {most}; run {number} is the safest: {risk}."
        measured = f"risk {risk}, loss {own.measured.loss:.3g}"
        if self.within == 1:
            return f"Take run {number}: it is the only run with {most}: {measured}."
        return f"Take run {number}: it loses least of the {self.within} runs with {most}: {measured}."

    def neighbors(self) -> Iterator[str]:
        """Yield what less loss and less risk would cost, as sentences."""
        loss = self.point.measured.loss
        for other in (self.less_loss, self.safer):
            if other is not None:
                name = f"Run {other.run.number}"
                risk, own = _plain_percent(other.risk.high), other.measured.loss
                more = f"loses {abs(own - loss):.3g} {'less' if own < loss else 'more'}"
                yield f"{name} {more}, with a risk of {risk}."


def _plain_percent(share: float) -> str:
    return percent(share).replace("\xa0", " ")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of one config on one input, with other algorithms and settings.

    Attributes
    ----------
    config: path of the file, as given.
    input: name of the data file; None for a DataFrame.
    records: of the input, 0 if no run could read it.
    seed: of all runs.
    runs: in the order of their numbers.
    asked: names of the attacks by which the user wants to measure risk; empty for any.
    max_risk: largest acceptable risk by the user; None for that of the config.
    own_limit: largest re-identification risk that the constraints of the config allow; None without one.
    """

    config: str
    input: str | None
    records: int
    seed: int
    runs: tuple[ComparedRun, ...]
    asked: tuple[str, ...] = ()
    max_risk: float | None = None
    own_limit: float | None = None

    @cached_property
    def attacks(self) -> tuple[str, ...]:
        """Names of the attacks that were run on every release, in the order of the config."""
        releases = self._releases
        if not releases:
            return ()
        first, *others = (own.risks for _, own in releases)
        return tuple(name for name in first if all(name in each for each in others))

    @cached_property
    def attack(self) -> str | None:
        """The common attack that measures the risk: the one that gains most over its baseline on any run.

        Of those that the constraints of the config limit, if no other limit is given, and of the requested
        ones; of all if there are none.
        """
        asked = [name for name in self.attacks if name.split()[0] in self.asked]
        limited = [name for name in self.attacks if self._is_limited(name)] if self._limit_is_own else []
        both = [name for name in limited if name in asked]
        return max(both or limited or asked or self.attacks, key=self._gain, default=None)

    @property
    def _limit_is_own(self) -> bool:
        """Whether the limit of risk is that of the config's constraints, which is on re-identification."""
        return self.max_risk is None and self.own_limit is not None

    @property
    def attack_is(self) -> str:
        """Why the risk is that of this attack, in words."""
        if self._limit_is_own and self.attack is not None and self._is_limited(self.attack):
            return "the strongest of the attacks that the constraints limit"
        return "the strongest attack across all runs"

    def _gain(self, attack: str) -> float:
        """Return the largest success of an attack over its baseline on any run."""
        risks = [own.risks[attack] for _, own in self._releases]
        return max(each.success - each.baseline for each in risks)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The runs with a release, without Anatomy releases."""
        attack = self.attack
        if attack is None:
            return ()
        return tuple(Point(run, own, own.risks[attack]) for run, own in self._releases)

    @cached_property
    def pareto(self) -> tuple[Point, ...]:
        """The Pareto-optimal points, by increasing risk and then loss."""
        points = self.points
        if not points:
            return ()
        numbers = np.array([(each.measured.loss, each.risk.low, each.risk.high) for each in points])
        best = [point for point, keep in zip(points, pareto_optimal(*numbers.T), strict=True) if keep]
        return tuple(sorted(best, key=lambda each: (each.risk.success, each.measured.loss, each.run.number)))

    @cached_property
    def advice(self) -> Advice | None:
        """The run to take; None without a limit of risk, or without releases to compare.

        A limit of the config is one on re-identification: it is compared with attacks of that aim, and runs
        with weaker constraints are left out.
        """
        attack, limit = self.attack, self.own_limit if self.max_risk is None else self.max_risk
        if attack is None or limit is None or (self._limit_is_own and not self._is_limited(attack)):
            return None
        points = [
            each
            for each in self.points
            if self.max_risk is not None or each.run.limit is None or each.run.limit <= limit
        ]
        if not points:
            return None
        within = [each for each in points if each.risk.high <= limit]
        if within:
            point = min(within, key=lambda each: (each.measured.loss, each.risk.high, each.run.number))
        else:
            point = min(points, key=lambda each: (each.risk.high, each.measured.loss, each.run.number))
        fewer = [each for each in points if each.measured.loss < point.measured.loss]
        safer = [each for each in points if each.risk.high < point.risk.high]
        return Advice(
            limit,
            attack,
            len(within),
            point,
            min(fewer, key=lambda each: (each.risk.high, each.measured.loss), default=None),
            min(safer, key=lambda each: (each.measured.loss, each.risk.high), default=None),
        )

    def _is_limited(self, attack: str) -> bool:
        """Return whether the success of an attack on records, or on persons, is compared with the limit."""
        unit = self._releases[0][1].risks[attack].unit
        return unit in (None, PERSON) and attack.startswith(LIMITED if unit is None else GUESSED_ONCE)

    @cached_property
    def in_groups(self) -> tuple[tuple[ComparedRun, Measured], ...]:
        """The runs with an Anatomy release, by increasing query error."""
        found = [(run, run.measured) for run in self.runs if run.measured and run.measured.in_groups]
        return tuple(sorted(found, key=lambda each: (_error(each[1]), each[0].number)))

    @cached_property
    def pareto_runs(self) -> tuple[ComparedRun, ...]:
        """The Pareto-optimal runs, Anatomy releases last."""
        return (*(each.run for each in self.pareto), *(run for run, _ in self._best_in_groups))

    @property
    def recommended(self) -> tuple[ComparedRun, ...]:
        """The run to take; without a limit of risk, which decides, all Pareto-optimal ones."""
        return self.pareto_runs if self.advice is None else (self.advice.point.run,)

    @cached_property
    def _best_in_groups(self) -> list[tuple[ComparedRun, Measured]]:
        """The Anatomy releases that are Pareto-optimal by query error and the risks of all common attacks."""
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
        kept = pareto_optimal(errors, low.reshape(shape), high.reshape(shape))
        return [each for each, keep in zip(self.in_groups, kept, strict=True) if keep]

    @property
    def order(self) -> str:
        """The order of the Pareto-optimal runs, in words."""
        ways = {"by increasing risk": self.points, "Anatomy releases by query error": self.in_groups}
        return ", then ".join(way for way, runs in ways.items() if runs)

    @cached_property
    def unbeaten(self) -> frozenset[int]:
        """The numbers of the Pareto-optimal runs."""
        return frozenset(each.number for each in self.pareto_runs)

    @cached_property
    def indistinguishable(self) -> tuple[tuple[int, int], ...]:
        """Pairs of Pareto-optimal runs whose intervals of risk overlap."""
        return tuple(
            (one.run.number, other.run.number)
            for place, one in enumerate(self.pareto)
            for other in self.pareto[place + 1 :]
            if one.risk.overlaps(other.risk) and max(_width(one.risk), _width(other.risk)) > 0
        )

    @cached_property
    def equal(self) -> tuple[tuple[int, ...], ...]:
        """Sets of Pareto-optimal runs with equal risk and loss."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for each in self.pareto:
            numbers = (each.measured.loss, each.risk.low, each.risk.high)
            groups.setdefault(tuple(round(number, DIGITS) for number in numbers), []).append(each.run.number)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @cached_property
    def loss_winners(self) -> list[Winner]:
        """The best runs by each loss metric and by query error, without measures that no run has."""
        found = []
        releases = self._releases
        for name in releases[0][1].utilities if releases else ():
            values = {run.number: own.utilities[name] for run, own in releases}
            known = {number: round(value, DIGITS) for number, value in values.items() if value is not None}
            if known:
                least = min(known.values())
                best = tuple(number for number, value in known.items() if value == least)
                note = _note(name, len(known), len(releases), self._varied)
                found.append(Winner(name, least, best, len(known), note))
        return found

    @cached_property
    def attack_winners(self) -> list[Winner]:
        """The runs with the least success of each attack, and those whose interval overlaps."""
        found = []
        for name in self.attacks:
            risks = {run.number: own.risks[name] for run, own in self._releases}
            least = min(risks.values(), key=lambda each: (each.success, each.high))
            best = tuple(number for number, risk in risks.items() if risk.overlaps(least))
            together = len(best) > 1 and any(risks[number].low < risks[number].high for number in best)
            note = "not distinguishable: their intervals overlap" if together else ""
            found.append(Winner(name, least.success, best, len(risks), note))
        return found

    def command(self, run: ComparedRun) -> str:
        """Return the command that repeats a run from the current folder."""
        return run.command(self.config)

    def command_in_folder(self, run: ComparedRun) -> str:
        """Return the command that repeats a run from the folder of the config."""
        return run.command(Path(self.config).name)

    @property
    def failed(self) -> bool:
        """Whether a verification failed, or a process ended without an answer."""
        return any(run.status is RunStatus.FAILED for run in self.runs)

    def without_release(
        self, reason: Callable[[ComparedRun], str] = lambda run: run.reason
    ) -> list[tuple[RunStatus, str, tuple[int, ...]]]:
        """Return the runs without a release by status and reason, with the numbers of the runs.

        Parameters
        ----------
        reason: returns the reason of a run.
        """
        groups: dict[tuple[RunStatus, str], list[int]] = {}
        for run in self.runs:
            if run.measured is None:
                groups.setdefault((run.status, reason(run)), []).append(run.number)
        return [(status, reason, tuple(numbers)) for (status, reason), numbers in groups.items()]

    def headline(self) -> str:
        """Return the main result as a sentence: the run to take, if a limit of risk decides."""
        found = len(self._releases)
        if not found and self.in_groups:
            return f"Anatomy releases only; Pareto-optimal: {numbered(sorted(self.unbeaten))}."
        if not found:
            return f"None of {len(self.runs)} runs has a release."
        return self._trade_off() if self.advice is None else self.advice.because

    def _trade_off(self) -> str:
        found = len(self._releases)
        best = sorted(each.run.number for each in self.pareto)
        if not best:
            return "No attack has the same targets in all runs, so no run is recommended by risk."
        if len(best) == 1:
            return f"Run {best[0]} beats or equals every other by risk and loss."
        named = f"runs {numbered(best)}" if len(best) <= MOST_NAMED else f"{len(best)} of {found} releases"
        return (
            f"Pareto-optimal: {named}{'; among them, lower risk means higher loss' if self._traded else ''}."
        )

    @property
    def _traded(self) -> bool:
        """Whether lower risk means higher loss among all Pareto-optimal points."""
        points = {
            (round(each.risk.success, DIGITS), round(each.measured.loss, DIGITS)) for each in self.pareto
        }
        losses = [loss for _, loss in sorted(points)]
        return len(points) > 1 and all(later < earlier for earlier, later in pairwise(losses))

    def remarks(self) -> Iterator[str]:
        """Yield restrictions of the result, such as equal runs and risks that are not distinguishable."""
        for group in self.equal:
            yield f"{numbered(group)}: the same risk and loss"
        for one, other in self.indistinguishable:
            yield f"{one} and {other}: not distinguishable in risk, their intervals overlap"
        weighted: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for each, own in self._releases:
            if own.averaged is not None:
                weighted.setdefault((own.averaged, tuple(own.over_records)), []).append(each.number)
        for (averaged, losses), numbers in weighted.items():
            yield f"{numbered(numbers)}: {numbered(losses)} {averaged}"
        for attack, runs_of in self._counted_apart().items():
            parts = ", ".join(f"of {targets} in {numbered(own)}" for targets, own in runs_of.items())
            yield f"{attack}: {parts}; shares of different targets are not compared"
        for run, attacks in self._safer_elsewhere().items():
            yield f"{run}: not Pareto-optimal, but safer than all that are against {attacks}"
        if self.in_groups:
            runs = numbered(sorted(run.number for run, _ in self.in_groups))
            yield f"{runs}: Anatomy, quasi-identifiers unchanged; compared by query error and attacks"
        for best, own in self._best_in_groups:
            risks = ", ".join(f"{name} {percent(risk.success)}" for name, risk in own.risks.items())
            yield f"{best.number}: {risks or 'no attack was run on it'}"

    def _counted_apart(self) -> dict[str, dict[str, list[int]]]:
        """Return the runs by what an attack counts in them, of attacks that do not count the same in all."""
        found: dict[str, dict[str, list[int]]] = {}
        for run in self.runs:
            for name, risk in run.measured.risks.items() if run.measured is not None else ():
                runs = found.setdefault(name.replace(_of_targets(risk), "", 1), {})
                runs.setdefault(risk.targets, []).append(run.number)
        return {
            name: runs
            for name, runs in found.items()
            if len(runs) > 1 and len({tuple(numbers) for numbers in runs.values()}) > 1
        }

    def _safer_elsewhere(self) -> dict[int, str]:
        """Return the attacks by which runs are safer than all Pareto-optimal ones, by run."""
        best = [each.measured for each in self.pareto]
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
    def keys(self) -> list[str]:
        """The varied keys of the config, in order of appearance."""
        return list(dict.fromkeys(key for run in self.runs for key, _ in run.settings))

    def risk(self, run: ComparedRun) -> Risk | None:
        """Return the risk of a run by the attack of the comparison, None without."""
        return None if run.measured is None or self.attack is None else run.measured.risks.get(self.attack)

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
    """Return the query error as a sort key; runs without one are last."""
    return inf if own.query_error is None else own.query_error


def _width(risk: Risk) -> float:
    return risk.high - risk.low
