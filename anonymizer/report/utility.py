"""Measures of utility, as a report and the Python interface show them."""

from __future__ import annotations

from typing import Any

from anonymizer.utility.base import UtilityFinding

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
