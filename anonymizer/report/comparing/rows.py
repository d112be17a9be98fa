"""A comparison as one record for each run: for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from typing import Any

from anonymizer.report.comparing.comparison import Comparison
from anonymizer.report.comparing.runs import ComparedRun, Measured

WORDS = {None: "", True: "yes", False: "no"}
"""How a CSV file writes what is no number or text."""


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a record for each run, all with the same keys; None where a run has no value."""
    keys = list(dict.fromkeys(key for run in comparison.runs for key, _ in run.settings))
    return [_record(comparison, run, keys) for run in comparison.runs]


def to_csv(comparison: Comparison) -> str:
    """Return a header and a line for each run."""
    every = records(comparison)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(every[0])
    for record in every:
        writer.writerow(
            WORDS[value] if value is None or isinstance(value, bool) else value for value in record.values()
        )
    return stream.getvalue()


def _record(comparison: Comparison, run: ComparedRun, keys: list[str]) -> dict[str, Any]:
    settings = dict(run.settings)
    return {
        "run": run.number,
        "algorithm": run.algorithm,
        **{key: settings.get(key) for key in keys},
        "status": run.status.value,
        "unbeaten": run.number in comparison.unbeaten,
        "seconds": round(run.seconds, 3),
        **_numbers(comparison, run.measured),
        "reason": run.public_reason or None,
        "command": comparison.command_beside(run),
    }


def _numbers(comparison: Comparison, own: Measured | None) -> dict[str, Any]:
    metrics = [each.measure for each in comparison.loss_winners]
    # The loss of quasi-identifiers that are published as they were would win every sorting.
    losses = {} if own is None or own.in_groups else own.utilities
    risks = {} if own is None else own.risks
    numbers: dict[str, Any] = {
        "suppressed_records": None if own is None else own.suppressed,
        "classes": None if own is None else own.classes,
        **{name: losses.get(name) for name in metrics},
        "query_error": None if own is None else own.query_error,
    }
    for name in comparison.attacks:
        for part in ("success", "low", "high", "baseline"):
            numbers[f"{name} {part}"] = getattr(risks.get(name), part, None)
    return numbers
