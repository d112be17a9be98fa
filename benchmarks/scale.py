"""Whole runs on synthetic records beside their floors: time and peak memory of processes.

Run as ``python -m benchmarks.scale [RECORDS …] [--profile alike]`` in the folder of the checkout.

The floors are DuckDB's bare GROUP BY of the quasi-identifiers, which nothing that counts them can beat by
much, and a bare copy of the Parquet file, which nothing that releases it can.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import scale_data
from benchmarks.common import (
    Process,
    alternating,
    machine,
    python,
    read_report,
    run_command,
    run_process,
    table,
)

K = 10
RECORDS = 1_000_000
LIMIT = 0.02
BEYOND = "500MB"
"""Memory of a run whose combinations stay in the engine, with 10 million records or more."""

LARGE_BEYOND = "2GB"
"""The same with 30 million records."""

ALGORITHMS: Mapping[str, Mapping[str, Any]] = {
    "lattice": {"algorithm": {"name": "lattice"}, "suppression": {"limit": LIMIT}},
    "lattice-beyond-memory": {
        "algorithm": {"name": "lattice"},
        "suppression": {"limit": LIMIT},
        "engine": {"name": "duckdb", "memory_limit": BEYOND},
    },
    "mondrian": {"algorithm": {"name": "mondrian"}},
    "mondrian-beyond-memory": {
        "algorithm": {"name": "mondrian"},
        "engine": {"name": "duckdb", "memory_limit": BEYOND},
    },
    "mondrian-beyond-2GB": {
        "algorithm": {"name": "mondrian"},
        "engine": {"name": "duckdb", "memory_limit": LARGE_BEYOND},
    },
}
"""What is added to the config for each."""


def bare_group_by(path: Path) -> list[str]:
    """Return the command that counts the distinct records of a file and holds no result."""
    listed = ", ".join(f'"{name}"' for name in scale_data.ATTRIBUTES)
    groups = f"SELECT {listed}, count(*) AS n FROM '{path}' GROUP BY ALL"
    query = f"SELECT count(*), sum(n), max(n) FROM ({groups})"
    return python("-c", f"import duckdb; print(duckdb.connect().execute({query!r}).fetchall())")


def bare_copy(path: Path, target: Path) -> list[str]:
    """Return the command that reads and writes a Parquet file, its rows in any order."""
    statements = f"SET preserve_insertion_order = false; COPY (SELECT * FROM '{path}') TO '{target}'"
    return python("-c", f"import duckdb; duckdb.connect().execute({statements + ' (FORMAT parquet)'!r})")


def load_and_group(path: Path) -> list[str]:
    """Return the command that reads a file into the frequency table and holds it."""
    return python("-m", "benchmarks.scale_group", str(path))


def check(path: Path, config: Path) -> list[str]:
    """Return the command that measures the file as it is."""
    return python("-m", "anonymizer", "check", str(path), "-c", str(config), "--json", "--quiet")


def commands_of(records: int, profile: str, algorithms: Sequence[str], folder: Path) -> dict[str, list[str]]:
    """Write records and configs into a folder, and return the commands by what they do; the floors first."""
    path, checked = folder / "records.parquet", folder / "check.json"
    scale_data.write(records, path, profile)
    # Of constraints that hold, so that the exit code is 0.
    checked.write_text(json.dumps(scale_data.config(path, 1)), encoding="utf-8")
    commands = {
        "bare GROUP BY": bare_group_by(path),
        "bare copy of the file": bare_copy(path, folder / "copy.parquet"),
        "load and group": load_and_group(path),
        "check": check(path, checked),
    }
    for algorithm in algorithms:
        config = folder / f"{algorithm}.json"
        output = {"output": {"path": "release.parquet"}}
        asked = scale_data.config(path, K, **ALGORITHMS[algorithm], **output)
        config.write_text(json.dumps(asked), encoding="utf-8")
        commands[f"run, {algorithm}"] = run_command(config, folder / algorithm)
    return commands


def timed(records: int, profile: str, algorithms: Sequence[str]) -> dict[str, float]:
    """Return the processor seconds of one run of each command, by what it does."""
    with tempfile.TemporaryDirectory() as name:
        commands = commands_of(records, profile, algorithms, Path(name))
        return {title: run_process(command).cpu_seconds for title, command in commands.items()}


def measured(records: int, profile: str, algorithms: Sequence[str], runs: int) -> str:
    """Return the table of one size, as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = commands_of(records, profile, algorithms, folder)
        found = alternating(list(commands.values()), runs)
        reports = [_summary(folder / algorithm) for algorithm in algorithms]
    floor = sum(median(each.cpu_seconds for each in times) for times in found[:2])
    rows = [_row(name, times, floor) for name, times in zip(commands, found, strict=True)]
    header = ("process", "seconds", "CPU seconds", "in both floors", "peak memory")
    title = f"{records:,} records ({profile}) x {len(scale_data.ATTRIBUTES)}, k = {K}, Parquet"
    return "\n\n".join([title, table(header, rows), *reports])


def _row(name: str, times: Sequence[Process], floor: float) -> list[object]:
    cpu = median(each.cpu_seconds for each in times)
    return [
        name,
        f"{median(each.seconds for each in times):.1f}",
        f"{cpu:.1f}",
        f"{cpu / floor:.1f}",
        f"{max(each.peak_mib for each in times):,.0f} MiB",
    ]


def _summary(output: Path) -> str:
    """Return what a run found, in one sentence."""
    report = read_report(output)
    search, release = report["search"], report["release"]
    if not release["verified"]:
        raise RuntimeError("the run ended without a verified release")
    return (
        f"{search['algorithm']}: loss {search['objective']:.6f}, {release['classes']:,} classes, "
        f"{release['suppressed_records']:,} suppressed, search {search['seconds']:.2f} s"
    )


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.split("\n", 1)[0])
    parser.add_argument("records", type=int, nargs="*", default=[RECORDS], help=f"default {RECORDS:,}")
    parser.add_argument("--runs", type=int, default=1, help="measured runs of each (default 1)")
    parser.add_argument("--algorithms", nargs="*", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument(
        "--profile", choices=list(scale_data.PROFILES), default="varied", help="default varied"
    )
    chosen = parser.parse_args()
    tables = (measured(own, chosen.profile, chosen.algorithms, chosen.runs) for own in chosen.records)
    print("\n\n".join(tables))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
