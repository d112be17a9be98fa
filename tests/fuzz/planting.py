"""Faults that are planted in the reports and releases of runs, for the judge to see."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.cases import Case
from tests.fuzz.dialects import table_of
from tests.fuzz.judge import Judge

Plant = Callable[[dict[str, Any], list[dict[str, str]]], None]
Ran = Callable[[Case], Path]


def report_of(folder: Path) -> dict[str, Any]:
    """Return the internal report of a run."""
    report: dict[str, Any] = json.loads((folder / "release" / "report.json").read_text(encoding="utf-8"))
    return report


def planted(ran: Ran, folder: Path, own: Case, plant: Plant) -> list[str]:
    """Run a case, alter report and rows of the release, and return what the judge finds."""
    shutil.copytree(ran(own), folder, dirs_exist_ok=True)
    report = report_of(folder)
    path = folder / "release" / "share" / "release.csv"
    rows = table_of(path, own.output)
    before = json.dumps(rows)
    plant(report, rows)
    if json.dumps(rows) != before:
        own.output.write(path, [list(rows[0]), *(list(row.values()) for row in rows)])
    return Judge(own, report, folder / "release", Counter()).findings()


def set_in(section: str, key: str, value: Any) -> Plant:
    """Return a plant that alters an entry of the report."""
    return lambda report, rows: report[section].update({key: value})


def constraint(at: int, key: str, value: Any) -> Plant:
    """Return a plant that alters what is reported of a constraint."""
    return lambda report, rows: report["constraints"][at].update({key: value})


def cell(at: int, column: str, value: str) -> Plant:
    """Return a plant that alters a cell of the release."""
    return lambda report, rows: rows[at].update({column: value})
