"""Whole commands on five records of very many columns: how their processor time grows with the columns.

Run as ``python -m benchmarks.wide`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path
from statistics import median

import duckdb
import yaml

from benchmarks.common import machine, python, run_process, table

COLUMNS = (1_000, 2_000, 5_000)
RECORDS, QUASI_IDENTIFIERS = 5, 5
TARGET = 10.0
"""Seconds of processor time that a run on the widest table may take on a machine that does nothing else."""


def write_job(folder: Path, columns: int) -> None:
    """Write the same records as CSV and Parquet, with a config for each."""
    names = [f"q{index}" for index in range(QUASI_IDENTIFIERS)]
    names += [f"x{index}" for index in range(columns - len(names))]
    rows = [[str((record + place) % 3) for place in range(columns)] for record in range(RECORDS)]
    with (folder / "wide.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_csv('{folder}/wide.csv', header = true, all_varchar = true)) "
            f"TO '{folder}/wide.parquet' (FORMAT parquet)"
        )
    roles = {name: {"role": "quasi-identifier" if name[0] == "q" else "insensitive"} for name in names}
    for kind in ("csv", "parquet"):
        config = {
            "input": {"path": f"wide.{kind}"},
            "attributes": roles,
            "constraints": [{"model": "k-anonymity", "k": 2}],
        }
        (folder / f"{kind}.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def commands(folder: Path) -> dict[str, list[str]]:
    """Return each command by what the table calls it."""
    known = ",".join(f"q{index}" for index in range(QUASI_IDENTIFIERS))
    whole = {
        f"run, {kind}": ["run", f"{folder}/{kind}.yaml", "-o", f"{folder}/out", "--overwrite"]
        for kind in ("csv", "parquet")
    }
    return {
        **whole,
        "check, csv": ["check", f"{folder}/wide.csv", "--qi", known],
        "init, csv": ["init", f"{folder}/wide.csv", "-o", f"{folder}/init.yaml", "--overwrite"],
    }


def seconds(command: list[str], runs: int) -> float:
    """Return the median processor time of a command."""
    words = python("-m", "anonymizer", *command, "--quiet")
    return median(run_process(words).cpu_seconds for _ in range(runs))


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--runs", type=int, default=3, help="of each command; the median counts")
    runs = arguments.parse_args().runs
    found: dict[str, list[float]] = {}
    for columns in COLUMNS:
        with tempfile.TemporaryDirectory() as name:
            write_job(Path(name), columns)
            for title, command in commands(Path(name)).items():
                found.setdefault(title, []).append(seconds(command, runs))
    header = ["command", *(f"{columns:,} columns" for columns in COLUMNS), "widest / narrowest"]
    rows = [
        [title, *(f"{each:.2f} s" for each in own), f"{own[-1] / own[0]:.2f}"] for title, own in found.items()
    ]
    print(f"CPU seconds of whole processes on {RECORDS} records, medians of {runs} runs.\n")
    print(table([*header], rows))
    print(
        f"\n{COLUMNS[-1] / COLUMNS[0]:.0f} times the columns; a ratio far above would not be linear. "
        f"At most {TARGET:.0f} s for `run` on the widest CSV."
    )
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
