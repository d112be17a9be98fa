"""What a release shows beyond its constraints, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.errors import plural
from anonymizer.exposure.detector import Said
from anonymizer.exposure.finding import Exposure, Finding
from anonymizer.report.wording import masked_count, percent


def said_of(finding: Finding, exposure: Exposure, smallest: int) -> Said:
    """Return the numbers of a finding in words; smaller ones than ``smallest`` are masked."""
    number = masked_count(finding.records, smallest, exposure.units)
    of = f"{number} of {plural(exposure.units, exposure.unit)}"
    return Said(number, of, percent(finding.share), plural(exposure.k, exposure.unit))


def but_of(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the worst finding about a release; None if none exceeds its threshold."""
    findings = content.get("exposure", {}).get("findings", ())
    return findings[0] if findings else None
