"""The small job of the runs, its records in a DuckDB file or on a server."""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from tests.run.commands import CONFIG, Done, call, people

TYPES = (
    "name VARCHAR, age INTEGER, zip VARCHAR, sex VARCHAR, diagnosis VARCHAR, note VARCHAR, "
    "wage DECIMAL(8, 2), born DATE, seen TIMESTAMP, score DOUBLE, member BOOLEAN"
)
KEPT = ("note", "wage", "born", "seen", "score", "member")
"""Columns that are released as they are."""


def records() -> list[tuple[Any, ...]]:
    """Return the made-up people with a value of each common type, among them nulls and empty texts."""
    made: list[tuple[Any, ...]] = []
    for place, row in enumerate(people()):
        kept: tuple[Any, ...] = (
            None if place % 7 == 0 else place + 0.5,
            f"19{40 + place % 50}-02-01",
            f"2024-05-0{1 + place % 9} 0{place % 9}:30:00",
            place / 8,
            None if place % 5 == 0 else place % 2 == 0,
        )
        made.append((*row[:5], "" if place % 11 == 0 else row[5], *kept))
    return made


def config(**sections: Any) -> dict[str, Any]:
    """Return the small config with the further columns and other sections."""
    attributes = {
        **CONFIG["attributes"],
        **{name: {"role": "insensitive"} for name in KEPT},
    }
    return {**CONFIG, "attributes": attributes, **sections}


def write(folder: Path, name: str = "job.json", **sections: Any) -> Path:
    """Write a config and return its path."""
    path = folder / name
    path.write_text(json.dumps(config(**sections)), encoding="utf-8")
    return path


def run(folder: Path, *args: str | Path, **sections: Any) -> Done:
    """Write a config and run it."""
    return call("run", write(folder, **sections), *args)


def filled(path: Path) -> Path:
    """Make a new DuckDB file with the records."""
    assert not path.exists()
    path.write_bytes(_filled())
    return path


@cache
def _filled() -> bytes:
    """Return a DuckDB file with the records, which takes longer to fill than most runs that read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE people ({TYPES})")
            connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * 11)})", records())
        return path.read_bytes()


def contents(path: Path, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table as they lie there."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(f"FROM {table}").fetchall()


def report(folder: Path, name: str = "job-release") -> dict[str, Any]:
    """Return the internal report of a run."""
    content: dict[str, Any] = json.loads((folder / name / "report.json").read_text(encoding="utf-8"))
    return content


def expected(folder: Path) -> tuple[str, list[tuple[Any, ...]]]:
    """Return hash and rows of the release that the same records give as files: CSV and Parquet."""
    data = filled(folder / "expected.duckdb")
    source = {"database": data.name, "table": "people"}
    for suffix in ("csv", "parquet"):
        done = run(folder, "-o", folder / suffix, input=source, output={"path": f"release.{suffix}"})
        assert done.code == 0, done.err
    digest = hashlib.sha256((folder / "csv" / "share" / "release.csv").read_bytes()).hexdigest()
    rows = duckdb.sql(f"FROM '{folder / 'parquet' / 'share' / 'release.parquet'}'").fetchall()
    return digest, rows
