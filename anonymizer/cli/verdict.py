"""The line of a constraint on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.errors import format_measure, settings_in_line
from anonymizer.report.wording import measured_of


def constraint_line(constraint: Mapping[str, Any]) -> str:
    """Return a constraint with its requested and its measured value."""
    name = constraint["model"] + (f"({constraint['attribute']})" if constraint["attribute"] else "")
    asked = settings_in_line(constraint["parameters"])
    if constraint["measured"] is None:
        return f"{name} {asked}: not measured"
    return f"{name} {asked}: measured {measured_of(constraint, format_measure, ', ')}"


VERDICTS = {True: "holds", False: "FAILS", None: "?"}
"""How a constraint is shown; None needs more than the file."""


def verdict_line(constraint: Mapping[str, Any], scenario: str | None = None) -> str:
    """Return whether a constraint of a file holds, and its measure."""
    title = "" if scenario is None else f"{scenario}: "
    return f"{VERDICTS[constraint['satisfied']]:6} {title}{constraint_line(constraint)}"
