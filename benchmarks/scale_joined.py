"""Releases of columns that are not in the frequency table: in memory, and joined in DuckDB within a limit.

Run as ``python -m benchmarks.scale_joined [RECORDS] [--profile alike]`` in the folder of the checkout.
Prints seconds, processor seconds and peak memory of whole runs, and whether the releases are equal.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import scale_data
from benchmarks.common import machine, read_report, run_command, run_process, table
from benchmarks.scale import LIMIT, K

RECORDS = 10_000_000
LATTICE: Mapping[str, Any] = {"algorithm": {"name": "lattice"}, "suppression": {"limit": LIMIT}}
MONDRIAN: Mapping[str, Any] = {"algorithm": {"name": "mondrian"}}
RUNS: Mapping[str, Mapping[str, Any]] = {
    "lattice": LATTICE | {"engine": {"name": "memory"}},
    "lattice, 2GB": LATTICE | {"engine": {"name": "duckdb", "memory_limit": "2GB"}},
    "lattice, 500MB": LATTICE | {"engine": {"name": "duckdb", "memory_limit": "500MB"}},
    "mondrian": MONDRIAN | {"engine": {"name": "memory"}},
    "mondrian, 2GB": MONDRIAN | {"engine": {"name": "duckdb", "memory_limit": "2GB"}},
    "mondrian, 1GB": MONDRIAN | {"engine": {"name": "duckdb", "memory_limit": "1GB"}},
}
"""What is added to the config for each; the first of an algorithm is what the others are compared with."""


def differing(one: Path, other: Path) -> int:
    """Return how many rows of two releases, compared one by one in their order, differ."""
    with duckdb.connect() as connection:
        names = [str(row[0]) for row in connection.execute(f"DESCRIBE SELECT * FROM '{one}'").fetchall()]
        ours, theirs = (
            f"SELECT hash({', '.join(names)}) AS {name} FROM '{path}'"
            for name, path in (("a", one), ("b", other))
        )
        query = f"SELECT count(*) FROM ({ours}) POSITIONAL JOIN ({theirs}) WHERE a IS DISTINCT FROM b"
        ((found,),) = connection.execute(query).fetchall()
        return int(found)


def rows_of(path: Path, folder: Path, names: list[str]) -> list[list[object]]:
    """Run each once and return what it took."""
    rows: list[list[object]] = []
    first: dict[str, Path] = {}
    for name in names:
        config, output = folder / "config.json", folder / name.replace(", ", "-")
        asked = scale_data.further_config(path, K, **RUNS[name], output={"path": "release.parquet"})
        config.write_text(json.dumps(asked), encoding="utf-8")
        took = run_process(run_command(config, output))
        report, release = read_report(output), output / "share" / "release.parquet"
        assert report["release"]["verified"]
        reference = first.setdefault(asked["algorithm"]["name"], release)
        other = differing(reference, release) if reference != release else ""
        rows.append(
            [name, f"{took.seconds:.0f}", f"{took.cpu_seconds:.0f}", f"{took.peak_mib:,.0f} MiB", other]
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_joined", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("records", type=int, nargs="?", default=RECORDS)
    parser.add_argument("--profile", choices=list(scale_data.PROFILES), default="alike", help="default alike")
    parser.add_argument("--runs", nargs="*", choices=list(RUNS), default=list(RUNS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "records.parquet"
        scale_data.write(chosen.records, path, chosen.profile, scale_data.FURTHER)
        rows = rows_of(path, Path(name), chosen.runs)
    print(table(("run", "seconds", "CPU seconds", "peak memory", "rows that differ"), rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
