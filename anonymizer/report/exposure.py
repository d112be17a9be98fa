"""What a release shows beyond its constraints, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anonymizer.errors import plural
from anonymizer.exposure.detector import Said
from anonymizer.exposure.finding import Exposure, Finding
from anonymizer.model.recoding import Status
from anonymizer.report.wording import masked_count, percent


def said_of(finding: Finding, exposure: Exposure, smallest: int) -> Said:
    """Return the numbers of a finding in words; smaller ones than ``smallest`` are masked."""
    number = masked_count(finding.records, smallest, exposure.units)
    of = f"{number} of {plural(exposure.units, exposure.unit)}"
    return Said(number, of, percent(finding.share), plural(exposure.k, exposure.unit))


def findings_of(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the findings about a release that exceed their thresholds, the worst first."""
    findings: Sequence[Mapping[str, Any]] = content.get("exposure", {}).get("findings", ())
    return findings


def but_of(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the worst finding about a release; None if none exceeds its threshold."""
    return next(iter(findings_of(content)), None)


def in_one_line(content: Mapping[str, Any]) -> str:
    """Return the verdict of a report in the words of the first line of a run."""
    if content["status"] != Status.SATISFIED:
        return "NOT SATISFIED"
    worst = but_of(content)
    return "SATISFIED" if worst is None else f"SATISFIED, BUT {worst['sentence']}"
