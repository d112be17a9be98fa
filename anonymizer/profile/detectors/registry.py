"""The detectors by name."""

from __future__ import annotations

from anonymizer.plugins import Registry
from anonymizer.profile.detectors.base import Detector, Finding
from anonymizer.profile.facts import ColumnFacts

DETECTORS: Registry[Detector] = Registry(
    "detector", Detector, "anonymizer.profile.detectors", "anonymizer.detectors"
)
"""Every ``Detector`` with a name."""


def findings(column: ColumnFacts) -> list[Finding]:
    """Return what all detectors find in a column, what is certain first, then by name."""
    found = [detector().look(column) for _, detector in sorted(DETECTORS.items())]
    return sorted((each for each in found if each is not None), key=lambda each: not each.certain)
