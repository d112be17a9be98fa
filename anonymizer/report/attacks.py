"""Attacks, as a report and the command line show them."""

from __future__ import annotations

from typing import Any

from anonymizer.attacks.base import AttackResult

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
