"""A million records made from Adult: the whole run beside a bare GROUP BY of the same file in DuckDB.

Run as ``python -m benchmarks.million`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
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
    read_report,
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


def group_by(path: Path, names: Sequence[str]) -> str:
    """Return a program that counts the distinct combinations of a file, its values read as text."""
    listed = ", ".join(f'"{name}"' for name in names)
    reader = f"read_csv('{path}', all_varchar = true)" if path.suffix == ".csv" else f"'{path}'"
    query = f"SELECT {listed}, count(*) FROM {reader} GROUP BY ALL"
    return f"import duckdb; duckdb.connect().execute({query!r}).fetchnumpy()"


def process_row(name: str, found: list[Process]) -> list[object]:
    """Return a row of the table of processes."""
    return [
        name,
        f"{median(each.seconds for each in found):.2f} s",
        f"{median(each.cpu_seconds for each in found):.2f} s",
        f"{max(each.peak_mib for each in found):.0f} MiB",
    ]


def compare(frame: pd.DataFrame, suffix: str, asked: Mapping[str, Any], runs: int) -> str:
    """Run both on records written in one format and return the results as Markdown.

    Parameters
    ----------
    asked: keys of the config, the algorithm among them.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / f"records{suffix}"
        write(frame, path)
        config = adult.write_config(folder / "records.json", path, LIMIT, **asked)
        commands = [
            run_command(config, folder / "out"),
            python("-c", group_by(path, list(asked["attributes"]))),
        ]
        whole, bare = alternating(commands, runs)
        report = read_report(folder / "out")
        size = path.stat().st_size / 2**20
    rows: list[list[object]] = [
        process_row(f"`anonymizer run` (memory target: under {MEMORY_TARGET} MiB)", whole),
        process_row("bare GROUP BY in DuckDB", bare),
        ["ratio", f"{median_ratio(whole, bare):.1f}", "", ""],
    ]
    processes = table(("process", "seconds", "CPU seconds", "peak memory"), rows)
    return f"{suffix[1:]}, {size:.0f} MiB; limit {LIMIT:.0%}: {summary(report)}\n\n{processes}"


def summary(report: Mapping[str, Any]) -> str:
    """Return what was found, in one sentence.

    Raises
    ------
    RuntimeError: the release is not verified, or the lattice's is not proven optimal.
    """
    search, release, levels = report["search"], report["release"], report["recoding"]["levels"]
    if not (release["verified"] and (search["optimal"] or levels is None)):
        raise RuntimeError("the run ended without a verified release, or without its proof")
    found = f"loss {search['objective']:.6f}"
    if levels is not None:
        found += f" (proven), levels {' '.join(str(level) for level in levels.values())}"
    elif search["bound"] is not None:
        found += f", best possible is at least {search['bound']:.6f}"
    return (
        f"{found}, {release['suppressed_records']:,} suppressed, {release['classes']:,} classes; "
        f"{search['algorithm']}: {search['evaluated']:,} of {search['candidates']:,} candidates evaluated in "
        f"{search['seconds']:.2f} s"
    )


def main() -> None:
    """Print the comparison for each format."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.million", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--records", type=int, default=RECORDS, help=f"default {RECORDS:,}")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of each (default 3)")
    parser.add_argument("--algorithm", default="lattice", help="with its default options; default lattice")
    parser.add_argument("--steps", type=int, help="budget of the search, for algorithms that go on improving")
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="attributes to leave out")
    parser.add_argument("--keep", type=Path, help="write the records to this .csv or .parquet file and stop")
    chosen = parser.parse_args()
    names = [name for name in adult.ATTRIBUTES if name not in chosen.without]
    frame = resampled(chosen.records, SEED)[names]
    if chosen.keep is not None:
        write(frame, chosen.keep)
        return
    asked = {
        "attributes": adult.config(Path(), LIMIT, attributes=names)["attributes"],
        "algorithm": {"name": chosen.algorithm},
        **({} if chosen.steps is None else {"budget": {"steps": chosen.steps}}),
    }
    distinct = frame.groupby(names, observed=True).ngroups
    print(f"{len(frame):,} records x {len(names)} attributes, seed {SEED}, {distinct:,} combinations\n")
    print("\n\n".join(compare(frame, suffix, asked, chosen.runs) for suffix in (".csv", ".parquet")))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
