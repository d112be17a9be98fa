"""The small tables of the literature with their published or computed answers."""

from __future__ import annotations

import csv
import json
from typing import Any

from tests.shared import shared

TABLES = (
    "attack_definitions",
    "kifer2009_table2",
    "kifer2009_table3",
    "kifer2009_table4",
    "ldiversity_inpatients",
    "ldiversity_inpatients_3diverse",
    "ldiversity_inpatients_4anonymous",
    "tcloseness_salary_disease_0167close",
    "tcloseness_salary_disease_3diverse",
    "torra2020_original",
    "torra2020_published",
)


def rows_of(name: str) -> list[list[str]]:
    """Return the lines of a file."""
    with shared("data", "literature", f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row]


def literature(name: str) -> tuple[list[str], list[tuple[str, ...]], dict[str, Any]]:
    """Return the quasi-identifiers with the sensitive attribute last, the records, and the answers."""
    head, *rows = rows_of(name)
    answers = json.loads(shared("data", "literature", f"{name}.json").read_text(encoding="utf-8"))
    known = answers.get("computed", {})
    names = [*known["quasi_identifiers"], known["sensitive"]]
    return names, [tuple(row[head.index(name)] for name in names) for row in rows], answers
