"""The internal report, built from the results of all stages.

The attack-by-model matrix sets what the constraints claim to mitigate against what each attack measured.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from anonymizer.attacks.base import ATTACKS, AttackResult
from anonymizer.distribution import own_version
from anonymizer.model.adversary import Threat
from anonymizer.model.classes import Measurement
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.report import Report
from anonymizer.privacy.base import WHO, PrivacyModel
from anonymizer.utility.base import UtilityFinding

ATTACK_KEYS = [
    "attack",
    "knowledge",
    "success",
    "baseline",
    "low",
    "high",
    "records",
    "seconds",
    "details",
]
"""The keys of an entry, in order."""


def attack_entry(finding: AttackResult, seconds: float) -> dict[str, Any]:
    """Return one entry of the report's ``attacks``."""
    return {
        "attack": finding.attack,
        "knowledge": finding.knowledge,
        "success": float(finding.success),
        "baseline": float(finding.baseline),
        "low": finding.low,
        "high": finding.high,
        "records": finding.records,
        "seconds": round(seconds, 3),
        "details": finding.details,
    }


PACKAGES = ("duckdb", "networkx", "numpy", "ortools", "pandas", "pydantic", "scipy")
"""Distributions whose versions can change a result."""


@dataclass(frozen=True)
class InputFacts:
    """The input, as the report shows it."""

    path: str | None
    sha256: str | None
    rows: int
    columns: int
    separator: str | None = None


@dataclass(frozen=True)
class SecondFile:
    """The second file of a release in two, as the report shows it."""

    path: str | None
    sha256: str | None
    rows: int


@dataclass(frozen=True)
class ReleaseFacts:
    """The release, as the report shows it; without one the counts are 0 and ``verified`` is False.

    Attributes
    ----------
    sensitive_table: of a release in two tables, the one of sensitive values; None for one in one table.
    """

    path: str | None = None
    sha256: str | None = None
    rows: int = 0
    suppressed_records: int = 0
    suppressed_cells: int = 0
    classes: int = 0
    verified: bool = False
    sensitive_table: SecondFile | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the ``release`` entry of the report, the second table only where there is one."""
        content = asdict(self)
        if self.sensitive_table is None:
            del content["sensitive_table"]
        return content


@dataclass(frozen=True)
class SearchFacts:
    """Who searched, with which seed."""

    algorithm: str
    seed: int


@dataclass(frozen=True)
class ReportParts:
    """Everything a report is made of.

    Attributes
    ----------
    config: the config in plain types.
    attributes: role, type and hierarchy digest by column.
    loss: every loss metric by name.
    attacks: entries of those that were run on the release.
    utility: entries of the measures that were taken of the release.
    matrix: what the constraints claim to stop, beside what the attacks measured.
    engine: its name, and because of what it counted the combinations.
    diagnosis: why there is no release, None when there is one.
    recoding_file: where the recoding is kept for further records, and its hash; None where it is not.
    applied: the earlier release that this one goes on from; None without.
    """

    config: dict[str, Any]
    attributes: dict[str, Any]
    input: InputFacts
    release: ReleaseFacts
    search: SearchFacts
    outcome: Outcome
    measurements: Sequence[Measurement]
    loss: dict[str, float | None]
    attacks: Sequence[dict[str, Any]]
    utility: Sequence[dict[str, Any]]
    matrix: Sequence[dict[str, Any]]
    warnings: Sequence[str]
    engine: dict[str, str]
    diagnosis: dict[str, Any] | None = None
    recoding_file: dict[str, Any] | None = None
    applied: dict[str, Any] | None = None


def build_report(parts: ReportParts) -> Report:
    """Return the internal report."""
    outcome = parts.outcome
    recoding = None if outcome.recoding is None else outcome.recoding.describe()
    content: dict[str, Any] = {
        "schema": 1,
        "status": outcome.status.value,
        "interrupted": outcome.interrupted,
        "warnings": list(parts.warnings),
        "config": parts.config,
        "attributes": parts.attributes,
        "input": asdict(parts.input),
        "release": parts.release.to_dict(),
        "engine": parts.engine,
        "search": _search(parts.search, outcome),
        "recoding": recoding,
        "constraints": [asdict(measurement) for measurement in parts.measurements],
        "loss": parts.loss,
        "attacks": list(parts.attacks),
        "attack_matrix": list(parts.matrix),
        "utility": list(parts.utility),
        "steps": [_step(step) for step in outcome.steps],
        "environment": environment(),
    }
    optional = {
        "diagnosis": parts.diagnosis,
        "recoding_file": parts.recoding_file,
        "applied": parts.applied,
    }
    content |= {key: value for key, value in optional.items() if value is not None}
    return Report(content)


def _search(facts: SearchFacts, outcome: Outcome) -> dict[str, Any]:
    return {
        "algorithm": outcome.algorithm or facts.algorithm,
        "chosen_because": list(outcome.reasons),
        "candidates": outcome.candidates,
        "evaluated": outcome.evaluated,
        "steps": len(outcome.steps),
        "optimal": outcome.optimal,
        "objective": outcome.objective,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "best_possible": outcome.best_possible,
        "seconds": round(outcome.seconds, 3),
        "seed": facts.seed,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "candidate": step.candidate,
        "objective": step.objective,
        "accepted": step.accepted,
        "failed": list(step.failed),
    }


def environment() -> dict[str, Any]:
    """Return the versions that a result depends on."""
    return {
        "anonymizer": own_version(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


@cache
def _version(name: str) -> str:
    # Looking a distribution up takes longer than counting a small file.
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def attack_matrix(
    models: Sequence[PrivacyModel], attacks: Sequence[Mapping[str, Any]], k: int | None
) -> list[dict[str, Any]]:
    """Return a row for each of the seven threats.

    A claim is contradicted when a number exceeds what it allows. That is the share that the model itself
    allows; without one, for linkage and re-identification 1 / k where the config has a k; else the baseline
    that a guess without the release reaches. An estimate does so by the lower end of its interval.

    Parameters
    ----------
    attacks: entries of a report.
    k: of the config, None without one.
    """
    rows = []
    for threat in Threat:
        claiming = [model for model in models if threat in model.mitigates]
        measured = [each for each in attacks if _threat(each) is threat]
        worst = max(measured, key=lambda each: each["success"], default=None)
        broken = any(
            each["low"] > _allowed(each, threat, model, k) for each in measured for model in claiming
        )
        rows.append(
            {
                "threat": threat.value,
                "claimed_by": sorted({model.name for model in claiming}),
                "success": None if worst is None else worst["success"],
                "baseline": None if worst is None else worst["baseline"],
                "contradicted": broken,
            }
        )
    return rows


def _threat(attack: Mapping[str, Any]) -> Threat | None:
    return ATTACKS[attack["attack"]].threat_of(attack["knowledge"])


def _allowed(attack: Mapping[str, Any], threat: Threat, model: PrivacyModel, k: int | None) -> float:
    baseline: float = attack["baseline"]
    if model.allowed_success is not None:
        return max(baseline, float(model.allowed_success))
    return max(baseline, 1 / k) if k and threat in WHO else baseline


UTILITY_KEYS = [
    "measure",
    "attributes",
    "value",
    "untouched",
    "suppressed",
    "smaller_is_better",
    "records",
    "seconds",
    "details",
]
"""The keys of an entry, in order."""


def utility_entry(finding: UtilityFinding, seconds: float) -> dict[str, Any]:
    """Return one entry of the report's ``utility``."""
    return {
        "measure": finding.measure,
        "attributes": list(finding.attributes),
        "value": finding.value,
        "untouched": finding.untouched,
        "suppressed": finding.suppressed,
        "smaller_is_better": finding.smaller_is_better,
        "records": finding.records,
        "seconds": round(seconds, 3),
        "details": finding.details,
    }
