"""Mondrian of anonypy on a CSV file; runs in an environment that has only anonypy.

Started with the file, the file to write the result to, k, the name of the sensitive attribute, and the names
of the numbers among the other columns, all of which are quasi-identifiers. Writes one JSON object: the
version, the CPU seconds of the call alone, the records of its result, and their global certainty penalty.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from anonypy import Preserver  # type: ignore[import-not-found, unused-ignore]


def range_cost(label: str, span: float) -> float:
    """Return (high - low) / (max - min) of a number or of two with a dash between."""
    low, _, high = label.partition("-")
    return (float(high) - float(low)) / span if high else 0.0


def set_cost(label: str, values: int) -> float:
    """Return 0 for one value, else the share of the values that stand with commas between them."""
    size = label.count(",") + 1
    return size / values if size > 1 else 0.0


def penalty(rows: Sequence[dict[str, Any]], records: pd.DataFrame, numbers: Sequence[str]) -> float:
    """Return the mean of the costs over all records and quasi-identifiers."""
    columns = [name for name in records.columns if name in rows[0]][:-1]
    total = 0.0
    for name in columns:
        values = records[name]
        for row in rows:
            (label,) = row[name]
            if name in numbers:
                total += row["count"] * range_cost(label, values.max() - values.min())
            else:
                total += row["count"] * set_cost(label, values.nunique())
    return total / len(columns) / len(records)


def main() -> None:
    path, target, k, sensitive, *numbers = sys.argv[1:]
    records = pd.read_csv(path)
    records = records[[*(name for name in records.columns if name != sensitive), sensitive]]
    for name in records.columns:
        if name not in (*numbers, sensitive):
            records[name] = records[name].astype("category")
    start = time.process_time()
    rows = Preserver(records, list(records.columns[:-1]), sensitive).anonymize_k_anonymity(int(k))
    found = {
        "version": version("anonypy"),
        "cpu_seconds": time.process_time() - start,
        "records": int(sum(row["count"] for row in rows)),
        "ncp": penalty(rows, records, numbers),
    }
    Path(target).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
