"""``anonymizer init`` on a million records of 15 columns beside DuckDB's SUMMARIZE of the same file.

Run as ``python -m benchmarks.init`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

import duckdb
import numpy as np
import pandas as pd

from benchmarks.common import Process, alternating, machine, median_ratio, python, table
from benchmarks.shared import shared

RECORDS = 1_000_000
SEED = 1
TARGET = 3.0
"""Times the seconds of SUMMARIZE that init may take."""


def drawn(records: int, seed: int) -> pd.DataFrame:
    """Return records drawn from all of Adult, each with a number of its own: 15 columns, all as text."""
    generator = np.random.default_rng(seed)
    source = pd.read_csv(shared("data", "adult_full", "data.csv.gz"), dtype=str)
    frame = source.iloc[generator.integers(len(source), size=records)].reset_index(drop=True)
    frame = frame.drop(columns=["part", "education-num"])
    frame.insert(0, "person_id", [f"P{number:07d}" for number in generator.permutation(records)])
    return frame


def summarize(path: Path) -> list[str]:
    """Return the command that lets DuckDB summarize a file, process and import included."""
    query = f"SUMMARIZE SELECT * FROM '{path}'"
    return python("-c", f"import duckdb; duckdb.connect().execute({query!r}).fetchall()")


def draft(path: Path) -> list[str]:
    """Return the command that drafts a config for a file."""
    config = path.with_suffix(".yaml")
    return python("-m", "anonymizer", "init", str(path), "-o", str(config), "--overwrite", "--quiet")


def row(name: str, found: list[Process]) -> list[object]:
    """Return a row of the table."""
    return [
        name,
        f"{median(each.seconds for each in found):.2f} s",
        f"{median(each.cpu_seconds for each in found):.2f} s",
        f"{max(each.peak_mib for each in found):.0f} MiB",
    ]


def compare(frame: pd.DataFrame, suffix: str, runs: int) -> str:
    """Run both on records written in one format and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / f"records{suffix}"
        connection.register("frame", frame)
        connection.execute(f"COPY (SELECT * FROM frame) TO '{path}'")
        own, peer = alternating([draft(path), summarize(path)], runs)
        size = path.stat().st_size / 2**20
    wall, cpu = (
        median_ratio(own, peer),
        median(a.cpu_seconds / b.cpu_seconds for a, b in zip(own, peer, strict=True)),
    )
    rows = [
        row("`anonymizer init`", own),
        row("SUMMARIZE in DuckDB", peer),
        [f"ratio (target: under {TARGET:g})", f"{wall:.2f}", f"{cpu:.2f}", ""],
    ]
    return (
        f"{suffix[1:]}, {size:.0f} MiB\n\n{table(('process', 'seconds', 'CPU seconds', 'peak memory'), rows)}"
    )


def main() -> None:
    """Print the comparison for each format."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.init", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--records", type=int, default=RECORDS, help=f"default {RECORDS:,}")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of each (default 3)")
    chosen = parser.parse_args()
    frame = drawn(chosen.records, SEED)
    print(f"{len(frame):,} records x {frame.shape[1]} columns, seed {SEED}\n")
    print("\n\n".join(compare(frame, suffix, chosen.runs) for suffix in (".csv", ".parquet")))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
