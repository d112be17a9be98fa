"""Small inputs for runs by Spark, and what is compared with the same runs in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.model.report import Report
from tests.helpers.reports import without_times

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
    told = without_times(report.to_dict())
    kept = {name: told["release"][name] for name in ("rows", "suppressed_records", "classes", "verified")}
    return {**{name: told[name] for name in SAME}, "release": kept}


def further(folder: Path, rows: int, part: str) -> Path:
    """Write a part of the people as a folder of two files."""
    source = people(folder / "all.parquet", rows)
    parts = folder / f"{part}.parquet"
    parts.mkdir()
    where = {"may": "i < 240", "june": "i >= 240 AND i < 340", "july": "i >= 340"}[part]
    numbered = f"SELECT *, row_number() OVER () - 1 AS i FROM '{source}'"
    for number in (0, 1):
        duckdb.sql(
            f"COPY (SELECT * EXCLUDE i FROM ({numbered}) WHERE {where} AND i % 2 = {number}) "
            f"TO '{parts}/part-{number}.parquet' (FORMAT parquet)"
        )
    return parts


def went_on(
    folder: Path,
    name: str,
    first: dict[str, Any] | None,
    later: dict[str, Any] | None,
    parts: Sequence[str] = ("may", "june"),
    **others: Any,
) -> list[Any]:
    """Run May, and let June and perhaps July join; return what each report tells, and the last release.

    Parameters
    ----------
    first, later: the engine of May, and of the others.
    """
    told, earlier = [], None
    for part in parts:
        data = folder / f"{part}.parquet"
        asked = config(
            data if data.exists() else further(folder, 400, part), later if earlier else first, **others
        )
        if earlier is not None:
            asked["apply"] = str(earlier / "report.json")
            asked["suppression"] = {"limit": 0.9}
        report = ran(asked, folder / name / part)
        told.append([facts(report), report.to_dict().get("applied", {}).get("difference")])
        earlier = folder / name / part
    assert earlier is not None
    return [told, released(earlier)]
