"""Small inputs for runs by Spark, and what is compared with the same runs in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from anonymizer.config.load import load_config
from anonymizer.core.report import Report
from anonymizer.flow.run import run

PEOPLE = (
    "SELECT (i * 7) % 90 AS age, 'z' || ((i * i) % 13) AS zip, "
    "CASE WHEN i % 5 = 0 THEN 'flu' ELSE 'd' || (i % 3) END AS disease, i AS note, 'id' || i AS name "
    "FROM range({rows}) t(i)"
)

SAME = ("status", "recoding", "constraints", "loss", "attacks")


def people(path: Path, rows: int = 400) -> Path:
    duckdb.sql(f"COPY ({PEOPLE.format(rows=rows)}) TO '{path}' (FORMAT parquet)")
    return path


def config(data: Path, engine: dict[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    """Return a config for the people; ``note`` is an identifier unless its role is given."""
    role = others.pop("note", "identifier")
    width = {"intervals": {"width": [10, 30], "origin": 0}}
    return {
        "input": {"path": str(data)},
        "attributes": {
            "name": {"role": "identifier"},
            "note": {"role": role},
            "age": {"role": "quasi-identifier", "hierarchy": width, "weight": 1.2},
            "zip": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 9}, {"model": "l-diversity", "l": 2}],
        "suppression": {"limit": 0.05},
        "output": {"path": "release.parquet"},
        "attacks": ["uniqueness"],
        **({} if engine is None else {"engine": engine}),
        **others,
    }


def ran(asked: dict[str, Any], directory: Path) -> Report:
    return run(load_config(asked), directory)


def released(directory: Path) -> list[tuple[Any, ...]]:
    """Return the released records in the order of the file, or of the files of a folder by name."""
    path = directory / "share" / "release.parquet"
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [row for file in files for row in duckdb.sql(f"SELECT * FROM '{file}'").fetchall()]


def facts(report: Report) -> dict[str, Any]:
    told = report.to_dict()
    for attack in told["attacks"]:
        attack["seconds"] = 0
    kept = {name: told["release"][name] for name in ("rows", "suppressed_records", "classes", "verified")}
    return {**{name: told[name] for name in SAME}, "release": kept}
