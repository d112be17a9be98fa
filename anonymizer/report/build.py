"""The internal report, built from the results of all stages.

The attack-by-model matrix sets what the constraints claim to mitigate against what each attack measured.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from anonymizer.attacks.base import AttackResult, MostExposed, threat_of
from anonymizer.attacks.vulnerability import Aim
from anonymizer.distribution import own_version, version_of
from anonymizer.model.classes import Measurement
from anonymizer.model.recoding import Outcome, Step
from anonymizer.model.report import Report
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.model.warning import ordered
from anonymizer.plugins import Threat
from anonymizer.privacy.base import WHO, Constraint, PrivacyModel, TableModel
from anonymizer.report.wording import contradictions, guess_warnings
from anonymizer.utility.base import UtilityFinding

ATTACK_KEYS = [
    *("attack", "knowledge", "success", "baseline", "low", "high", "records", "ceiling"),
    *("tail", "tail_low", "tail_high", "tail_baseline", "seconds", "details"),
]
"""Keys of an entry of ``attacks``, in order."""


PUBLIC_DETAILS = ("base_rate", "beyond_guess")
"""Details of an attack that decide about a claim and follow from the release."""


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
        "ceiling": finding.ceiling,
        "tail": _of_tails(finding, lambda best: float(best.success)),
        "tail_low": _of_tails(finding, lambda best: best.low),
        "tail_high": _of_tails(finding, lambda best: best.high),
        "tail_baseline": _of_tails(finding, lambda best: float(best.baseline)),
        "seconds": round(seconds, 3),
        "details": finding.details,
    }


def _of_tails(finding: AttackResult, figure: Callable[[MostExposed], float]) -> dict[str, float] | None:
    """Return a figure for each share of the most exposed; None if the attack does not rank its targets."""
    return {share: figure(best) for share, best in finding.tail.items()} or None


PACKAGES = ("duckdb", "networkx", "numpy", "ortools", "pandas", "pydantic", "scipy")
"""Distributions whose versions can change a result."""


@dataclass(frozen=True)
class InputFacts:
    """The entry ``input`` of a report."""

    path: str | None
    sha256: str | None
    rows: int
    columns: int
    separator: str | None = None


@dataclass(frozen=True)
class ReleaseFacts:
    """The entry ``release`` of a report; without a release the counts are 0 and ``verified`` is False.

    Attributes
    ----------
    separator, encoding: of a file of text; None for others.
    sensitive_table: path, hash and rows of the second table of an Anatomy release; None for others.
    numbers: quasi-identifiers that are released as numbers, with their columns, what an empty field means,
        and whether upper ends are included.
    left_by: by column and label, the values that a label for all others leaves out.
    """

    path: str | None = None
    sha256: str | None = None
    rows: int = 0
    suppressed_records: int = 0
    suppressed_cells: int = 0
    classes: int = 0
    verified: bool = False
    separator: str | None = None
    encoding: str | None = None
    sensitive_table: Mapping[str, Any] | None = None
    numbers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    left_by: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in plain types; the last keys only if there are some."""
        content = asdict(self)
        for key in ("sensitive_table", "numbers", "left_by"):
            if not content[key]:
                del content[key]
        return content


FURTHER = (
    "weighted_loss",
    "unit_loss",
    "diagnosis",
    "recoding_file",
    "applied",
    "advice",
    "scenarios",
    "units",
    "population",
    "three_questions",
    "exposure",
    "columns",
    "preset",
)
"""Keys of a report that some runs have, in their order.

The losses that are means over sampling weights, or over units; the reasons for an infeasible run; path and
hash of the recoding kept for later records, and the earlier release to which records are appended; columns
that lose most, and changes with their gain; what each adversary of the config knows, with its measurements;
persons, households and other units, and the population that constraints count; answers to the questions of
European law; what the release shows beyond its constraints; what the recipient sees of each column of the
input; and what departs from the rule that the config names.
"""


@dataclass(frozen=True)
class ReportParts:
    """The contents of a report.

    Attributes
    ----------
    config: the config in plain types.
    attributes: role, type and hierarchy digest by column.
    algorithm, seed: of the search; an outcome may name the algorithm that was chosen.
    loss: every loss metric by name.
    attacks: entries of the attacks on the release, and rows of ``attack_matrix``.
    utility: entries of the measures of utility.
    engine: its name, and the reason for its choice.
    seconds: of each phase of the run until now.
    further: entries by their keys, which are ``FURTHER``; None of one that the run does not have.
    """

    config: dict[str, Any]
    attributes: dict[str, Any]
    input: InputFacts
    release: ReleaseFacts
    algorithm: str
    seed: int
    outcome: Outcome
    measurements: Sequence[Measurement]
    loss: dict[str, float | None]
    attacks: tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]]
    utility: Sequence[dict[str, Any]]
    warnings: Sequence[str]
    engine: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)


def build_report(parts: ReportParts) -> Report:
    """Return the internal report."""
    outcome = parts.outcome
    recoding = None if outcome.recoding is None else outcome.recoding.describe()
    content: dict[str, Any] = {
        "schema": 1,
        "status": outcome.status.value,
        "interrupted": outcome.interrupted,
        "warnings": [],
        "config": parts.config,
        "attributes": parts.attributes,
        "input": asdict(parts.input),
        "release": parts.release.to_dict(),
        "engine": parts.engine,
        "search": _search(parts),
        "recoding": recoding,
        "constraints": [asdict(measurement) for measurement in parts.measurements],
        "loss": parts.loss,
        "attacks": list(parts.attacks[0]),
        "attack_matrix": list(parts.attacks[1]),
        "utility": list(parts.utility),
        "steps": [_step(step) for step in outcome.steps],
        "seconds": parts.seconds,
        "environment": environment(),
    }
    content |= {key: parts.further[key] for key in FURTHER if parts.further.get(key) is not None}
    broken = [*guess_warnings(content), *(what for _, what in contradictions(content))]
    content["warnings"] = ordered([*broken, *parts.warnings])
    return Report(content)


def _search(parts: ReportParts) -> dict[str, Any]:
    outcome = parts.outcome
    attacked = sum(1 for step in outcome.steps if step.attackers)
    return {
        "algorithm": outcome.chosen[0] or parts.algorithm,
        "chosen_because": list(outcome.chosen[1]),
        "candidates": outcome.candidates,
        "evaluated": outcome.evaluated,
        "steps": len(outcome.steps),
        **({"attacked": attacked} if attacked else {}),
        "optimal": outcome.optimal,
        **({"estimated": list(outcome.estimated)} if outcome.estimated else {}),
        "objective": outcome.objective,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "best_possible": outcome.best_possible,
        "seconds": round(outcome.seconds, 3),
        "bound_seconds": parts.seconds.get("bound"),
        "seed": parts.seed,
    }


def _step(step: Step) -> dict[str, Any]:
    """Return a step; keys of refused cuts, attackers, a proof and of time only where there are some."""
    content = asdict(step)
    optional = {key: content.pop(key) for key in ("refused", "attackers", "proof", "seconds")}
    return content | {key: value for key, value in optional.items() if value not in (None, ())}


def environment() -> dict[str, Any]:
    """Return the versions that a result depends on."""
    return {
        "anonymizer": own_version(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


@cache
def _version(name: str) -> str:
    # The lookup takes longer than counting a small file.
    try:
        return version_of(distribution(name))
    except PackageNotFoundError:
        return "not installed"


def attack_matrix(
    constraints: Sequence[Constraint],
    attacks: Sequence[Mapping[str, Any]],
    k: int | None,
    *,
    persons: bool = False,
) -> list[dict[str, Any]]:
    """Return a row for each of the seven threats.

    A claim is contradicted if the success of an attack on the same attribute, or the lower end of its
    interval where the claim is about classes, exceeds what the claim allows: the maximum of the model itself;
    else 1 / k for linkage and re-identification, of its own k, or else of the config's; else the baseline of
    a guess without the release. Only adversaries whom the model is about can contradict it. Certainty of the
    most frequent value, which a guess finds too, or of a missing one does not contradict a claim. Shares of
    persons say nothing about a claim on records. A class of k households has k persons, and one of k persons,
    or other units, k records, so that claims on classes are compared with attacks on these, too.

    Parameters
    ----------
    attacks: entries of a report.
    k: of the config, None without one.
    persons: whether the config names persons, who are then the members of households.
    """
    rows = []
    for threat in Threat:
        claiming = [(place, each) for place, each in enumerate(constraints) if threat in each.model.mitigates]
        numbered = list(enumerate(attacks))
        measured = [(place, each) for place, each in numbered if threat_of(each) is threat]
        worst = max((each for _, each in measured), key=lambda each: each["success"], default=None)
        broken = [
            {"attack": place, "constraint": position, "allowed": allowed}
            for place, entry in numbered
            for position, claim in claiming
            if _same_threat(entry, threat, claim.model)
            and _same_attribute(entry, claim)
            and _same_unit(entry, claim, persons=persons)
            and claim.model.concerns(entry["knowledge"])
            # Rounding in a mean must not decide whether the success is at the limit.
            and round(_certain_success(entry, claim), 12)
            > round(allowed := _allowed(entry, threat, claim.model, k), 12)
        ]
        rows.append(
            {
                "threat": threat.value,
                "claimed_by": sorted({claim.model.name for _, claim in claiming}),
                "success": None if worst is None else worst["success"],
                "baseline": None if worst is None else worst["baseline"],
                "contradicted": bool(broken),
                "contradictions": broken,
            }
        )
    return rows


def _same_threat(attack: Mapping[str, Any], threat: Threat, model: PrivacyModel) -> bool:
    """Return whether an attack measures a threat, or guesses values, which a limit on guesses is about."""
    guesses = attack["knowledge"].get("target") == Aim.ATTRIBUTE_INFERENCE.value
    return threat_of(attack) is threat or (guesses and model.by_attack and threat is Threat.INFERENCE)


def _same_attribute(attack: Mapping[str, Any], claim: Constraint) -> bool:
    """Return whether an attack aims at the attribute that a constraint protects, or one of both at none."""
    return claim.attribute is None or attack["knowledge"].get("sensitive", claim.attribute) == claim.attribute


def _same_unit(attack: Mapping[str, Any], claim: Constraint, *, persons: bool) -> bool:
    """Return whether an attack's certain success can be compared with a claim, by what both count."""
    details, unit = attack.get("details", {}), attack["knowledge"].get("unit")
    if claim.model.by_attack:
        return bool(unit == claim.unit)
    if unit == HOUSEHOLD and "each_guess" in details and "beyond_guess" not in details:
        # Each guess is about a member.
        unit = PERSON if persons else None
    if unit == claim.unit or isinstance(claim.model, TableModel):
        return bool(unit == claim.unit)
    return unit is None or (unit == PERSON and claim.unit == HOUSEHOLD)


def _certain_success(attack: Mapping[str, Any], claim: Constraint) -> float:
    """Return the success that is surely due to the release; of several guesses, of one.

    A model that is measured by an attack limits all guesses together; another attacker contradicts it by its
    success, estimated or not.
    """
    if claim.model.by_attack:
        return float(attack["success"])
    details = attack.get("details", {})
    found: float = details.get("beyond_guess", details.get("each_guess", attack["low"]))
    return found


def _allowed(attack: Mapping[str, Any], threat: Threat, model: PrivacyModel, k: int | None) -> float:
    baseline: float = attack["baseline"]
    if model.by_attack and model.allowed_success is not None:
        return float(model.allowed_success)
    if model.allowed_success is not None:
        return max(baseline, float(model.allowed_success))
    own = k if model.k is None else model.k
    return max(baseline, 1 / own) if own and threat in WHO else baseline


UTILITY_KEYS = [
    *("measure", "attributes", "value", "untouched", "suppressed", "smaller_is_better"),
    *("records", "seconds", "details"),
]
"""Keys of an entry of ``utility``, in order."""


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
