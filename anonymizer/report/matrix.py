"""The attack-by-model matrix: what the constraints claim to stop, beside what each attack measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anonymizer.privacy.base import WHO, PrivacyModel, Threat

BY_ATTACK = {
    "linkage": Threat.LINKAGE,
    "homogeneity": Threat.HOMOGENEITY,
    "background": Threat.BACKGROUND,
    "skewness": Threat.SKEWNESS,
    "similarity": Threat.SIMILARITY,
    "inference": Threat.INFERENCE,
    "definetti": Threat.INFERENCE,
}
"""Which attack measures which threat; ``vulnerability`` measures re-identification by its target."""


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
    if attack["attack"] == "vulnerability":
        return Threat.RE_IDENTIFICATION if attack["knowledge"].get("target") == "re-identification" else None
    return BY_ATTACK.get(attack["attack"])


def _allowed(attack: Mapping[str, Any], threat: Threat, model: PrivacyModel, k: int | None) -> float:
    baseline: float = attack["baseline"]
    if model.allowed_success is not None:
        return max(baseline, float(model.allowed_success))
    return max(baseline, 1 / k) if k and threat in WHO else baseline
