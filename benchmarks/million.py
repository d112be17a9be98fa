"""A million records made from Adult: the whole run beside a bare GROUP BY of the same file in DuckDB.

Run as ``python -m benchmarks.million`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from benchmarks import adult
from benchmarks.common import (
    Process,
    alternating,
    machine,
    median_ratio,
    python,
    require_proven,
    run_command,
    table,
)

RECORDS = 1_000_000
SEED = 1
LIMIT = 0.02
LARGEST_AGE = 100
"""Of the hierarchy, whose smallest age is 1."""

MEMORY_TARGET = 1536
"""MiB that the run must stay under."""


def resampled(records: int, seed: int) -> pd.DataFrame:
    """Return records drawn from Adult: 30 % with ages shifted by up to 2, 10 % with another value redrawn.

    The columns stand in the order of Adult; the age is a number, the others are categories.
    """
    generator = np.random.default_rng(seed)
    source = adult.frame()
    drawn = generator.integers(len(source), size=records)
    redrawn = generator.integers(len(source), size=records)
    others = [name for name in adult.ATTRIBUTES if name != "age"]
    replaced = np.where(generator.random(records) < 0.1, generator.integers(len(others), size=records), -1)
    columns: dict[str, Any] = {}
    for name in adult.ATTRIBUTES:
        if name == "age":
            shift = np.where(generator.random(records) < 0.3, generator.integers(-2, 3, size=records), 0)
            ages = source[name].astype(np.int64).to_numpy()
            columns[name] = np.clip(ages[drawn] + shift, 1, LARGEST_AGE)
            continue
        values = pd.Categorical(source[name])
        codes = np.where(replaced == others.index(name), values.codes[redrawn], values.codes[drawn])
        columns[name] = pd.Categorical.from_codes(codes, dtype=values.dtype)
    return pd.DataFrame(columns)


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write records as CSV or Parquet, by the suffix."""
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY (SELECT * FROM frame) TO '{path}'")


def group_by(path: Path) -> str:
    """Return a program that counts the distinct combinations of a file, its values read as text."""
    names = ", ".join(f'"{name}"' for name in adult.ATTRIBUTES)
    reader = f"read_csv('{path}', all_varchar = true)" if path.suffix == ".csv" else f"'{path}'"
    query = f"SELECT {names}, count(*) FROM {reader} GROUP BY ALL"
    return f"import duckdb; duckdb.connect().execute({query!r}).fetchnumpy()"


def process_row(name: str, found: list[Process]) -> list[object]:
    """Return a row of the table of processes."""
    return [
        name,
        f"{median(each.seconds for each in found):.2f} s",
        f"{median(each.cpu_seconds for each in found):.2f} s",
        f"{max(each.peak_mib for each in found):.0f} MiB",
    ]


def compare(frame: pd.DataFrame, suffix: str, runs: int) -> str:
    """Run both on records written in one format and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / f"records{suffix}"
        write(frame, path)
        config = adult.write_config(folder / "records.json", path, LIMIT)
        commands = [run_command(config, folder / "out"), python("-c", group_by(path))]
        whole, bare = alternating(commands, runs)
        report = require_proven(folder / "out")
        size = path.stat().st_size / 2**20
    search = report["search"]
    summary = (
        f"{suffix[1:]}, {size:.0f} MiB; limit {LIMIT:.0%}: loss {search['objective']:.6f} (proven), "
        f"levels {' '.join(str(level) for level in report['recoding']['levels'].values())}, "
        f"{report['release']['suppressed_records']:,} suppressed, {report['release']['classes']:,} classes; "
        f"{search['evaluated']} of {search['candidates']:,} nodes evaluated in {search['seconds']:.2f} s"
    )
    rows: list[list[object]] = [
        process_row(f"`anonymizer run` (memory target: under {MEMORY_TARGET} MiB)", whole),
        process_row("bare GROUP BY in DuckDB", bare),
        ["ratio", f"{median_ratio(whole, bare):.1f}", "", ""],
    ]
    return f"{summary}\n\n{table(('process', 'seconds', 'CPU seconds', 'peak memory'), rows)}"


def main() -> None:
    """Print the comparison for each format."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.million", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--records", type=int, default=RECORDS, help=f"default {RECORDS:,}")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of each (default 3)")
    parser.add_argument("--keep", type=Path, help="write the records to this .csv or .parquet file and stop")
    chosen = parser.parse_args()
    frame = resampled(chosen.records, SEED)
    if chosen.keep is not None:
        write(frame, chosen.keep)
        return
    distinct = frame.groupby(list(adult.ATTRIBUTES), observed=True).ngroups
    print(f"{len(frame):,} records x {frame.shape[1]} attributes, seed {SEED}, {distinct:,} combinations\n")
    print("\n\n".join(compare(frame, suffix, chosen.runs) for suffix in (".csv", ".parquet")))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
