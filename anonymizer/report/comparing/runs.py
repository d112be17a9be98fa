"""What is known of each run of a comparison."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
