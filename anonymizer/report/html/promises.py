"""Section 2: what was asked, what was measured, and how large the groups are that are closest to failing."""

from __future__ import annotations

from typing import Any

from anonymizer.report.facts.gather import Facts
from anonymizer.report.facts.worst import Worst
from anonymizer.report.html.form import form_of
from anonymizer.report.html.parts import Grid
from anonymizer.report.html.words import asked, number, promise


def promises(report: dict[str, Any], facts: Facts) -> Grid:
    """Return a row for each constraint."""
    form = form_of(report)
    rows = []
    for constraint, worst in zip(report["constraints"], facts.worst, strict=True):
        rows.append(
            (
                promise(constraint),
                asked(constraint),
                number(constraint["measured"]),
                "holds" if constraint["satisfied"] else "fails",
                _worst(worst, facts.smallest),
                form.recipient if constraint["verifiable_from_release"] else "no",
            )
        )
    return Grid(
        f"What was asked, and what was measured on {form.measured}",
        ("promise", "asked", "measured", "verdict", "groups at the worst measure", "recipient can verify"),
        tuple(rows),
    )


def _worst(worst: Worst | None, smallest: int) -> str:
    """Describe groups by their sizes alone: values would tell who is in them."""
    if worst is None:
        return "judges the whole file"
    many = f"fewer than {smallest}" if worst.classes is None else f"{worst.classes:,}"
    if worst.largest < smallest:
        return f"{many}, of fewer than {smallest} records"
    least = f"fewer than {smallest}" if worst.smallest < smallest else f"{worst.smallest:,}"
    if worst.smallest == worst.largest:
        return f"{many}, of {least} records"
    return f"{many}, of {least} to {worst.largest:,} records"
