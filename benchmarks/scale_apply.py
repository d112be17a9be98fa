"""Further records that join a release: in memory, and in DuckDB within a limit.

Run as ``python -m benchmarks.scale_apply [EARLIER] [FURTHER] [--profile alike]`` in the folder of the
checkout. Prints seconds, processor seconds and peak memory, and whether the releases have the same bytes.
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

EARLIER, FURTHER = 10_000_000, 1_000_000
ENGINES: Mapping[str, Mapping[str, Any]] = {
    "memory": {"name": "memory"},
    "duckdb, 1GB": {"name": "duckdb", "memory_limit": "1GB"},
}
"""The sections ``engine`` of a config; the first is what the others are compared with."""


def data(folder: Path, earlier: int, further: int, profile: str) -> tuple[Path, Path]:
    """Write the earlier records, and those that come after them."""
    every, first, second = (folder / f"{name}.parquet" for name in ("every", "earlier", "further"))
    scale_data.write(earlier + further, every, profile)
    for path, part in ((first, f"LIMIT {earlier}"), (second, f"OFFSET {earlier}")):
        duckdb.sql(f"COPY (SELECT * FROM '{every}' {part}) TO '{path}' (FORMAT parquet)")
    every.unlink()
    return first, second


def run(folder: Path, name: str, path: Path, **others: Any) -> tuple[list[object], Path]:
    """Run a config once; return what it took, and the folder of the release."""
    asked = scale_data.config(path, K, **others)
    config, output = folder / "config.json", folder / name.replace(", ", "-")
    config.write_text(json.dumps(asked), encoding="utf-8")
    took = run_process(run_command(config, output))
    report = read_report(output)
    assert report["release"]["verified"]
    return [name, took.seconds, took.cpu_seconds, took.peak_bytes, report["engine"]["name"]], output


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_apply", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("earlier", type=int, nargs="?", default=EARLIER)
    parser.add_argument("further", type=int, nargs="?", default=FURTHER)
    parser.add_argument("--profile", choices=list(scale_data.PROFILES), default="varied")
    asked = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        first, second = data(folder, asked.earlier, asked.further, asked.profile)
        limit = {"suppression": {"limit": LIMIT}}
        row, earlier = run(folder, "earlier", first, engine=ENGINES["memory"], **limit)
        rows, releases = [row], []
        for name, engine in ENGINES.items():
            apply = {"apply": str(earlier / "report.json"), "suppression": {"limit": 0.9}}
            row, output = run(folder, name, second, engine=engine, **apply)
            rows.append(row)
            releases.append((output / "share" / "release.csv").read_bytes())
    print(table(["", "seconds", "processor seconds", "peak, bytes", "engine"], rows))
    print("the same bytes" if len(set(releases)) == 1 else "DIFFERENT releases")


if __name__ == "__main__":
    main()
