"""Whole runs beside those of an earlier checkout, in turns, in processor time.

Run as ``python -m benchmarks.before FOLDER`` in the folder of the checkout, where ``FOLDER`` is another
checkout of this project. The same Python runs both. The clock of a search is set to processor time in both,
as what the machine does beside would shorten the searches of the one that it meets.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from benchmarks import adult, columns, million
from benchmarks.common import ROOT, Process, machine, python, read_report, run_process, table
from benchmarks.local import BETA, DELTA, SENSITIVE, bases

START = (
    "import sys, runpy, time; time.monotonic = time.process_time; sys.path[0] = {folder!r}; "
    "runpy.run_module('anonymizer', run_name='__main__', alter_sys=True)"
)
T_CLOSE = {"model": "t-closeness", "t": 0.2, "distance": "equal"}
VALUES = 1_000_000
"""Of the hierarchy that is read from a file."""

Config = dict[str, Any]


def searched(config: Config, name: str, seconds: float | None = None) -> Config:
    """Return a config with an algorithm and its budget, without attacks."""
    budget = {} if seconds is None else {"budget": {"seconds": seconds}}
    return {**config, "algorithm": name, "attacks": [], **budget}


def adult_with(limit: float, *models: Mapping[str, Any], k: int = 5) -> Config:
    """Return a config of Adult: nine quasi-identifiers, or eight and occupation where models need it."""
    config = adult.config(adult.data(), limit, k)
    if models:
        config["attributes"][adult.SENSITIVE] = {"role": "sensitive"}
    config["constraints"] += map(dict, models)
    return config


def sample_with(title: str) -> Config:
    """Return a config of the sample with models of the table of local recoding."""
    config = bases()["sample"]
    return {**config, "constraints": [*config["constraints"], *map(dict, SENSITIVE["sample"][title])]}


def of_columns(folder: Path, number: int) -> Config:
    """Return a config of the first columns of the made table of 30."""
    path = columns.write_records(folder, columns.SMALL)
    return dict(columns.settings(path, number, columns.SMALL))


def of_values(folder: Path) -> Config:
    """Return a config of 1,000 records whose quasi-identifier has a hierarchy file of a million values."""
    records, levels = folder / "values.csv", folder / "levels.csv"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT range * 1000 AS code FROM range(1000)) TO '{records}'")
        levelled = "range AS a, 't' || range // 10 AS b, 'h' || range // 1000 AS c, '*' AS d"
        target = f"'{levels}' (HEADER false)"
        connection.execute(f"COPY (SELECT {levelled} FROM range({VALUES})) TO {target}")
    own = {"role": "quasi-identifier", "hierarchy": {"file": str(levels)}}
    asked = {"constraints": [{"model": "k-anonymity", "k": 5}]}
    return {"input": {"path": str(records)}, "attributes": {"code": own}, **asked}


def of_a_million(folder: Path) -> Config:
    """Return a config of a million records of CSV in the shape of Adult."""
    path = folder / "million.csv"
    names = [name for name in adult.ATTRIBUTES if name != adult.SENSITIVE]
    million.write(million.resampled(million.RECORDS, million.SEED)[names], path)
    return adult.config(path, 0.02, attributes=names)


def with_definetti(config: Config) -> Config:
    """Return a config of the lattice whose release the deFinetti attack reads."""
    return {**searched(config, "lattice"), "attacks": [{"attack": "definetti"}]}


def cases(folder: Path, seconds: float) -> dict[str, Callable[[], Config]]:
    """Return what is run, by name; each is made when it is run."""
    return {
        "Adult, k 2, local": lambda: searched(adult_with(0.02, k=2), "local", seconds),
        "Adult, k 5, local": lambda: searched(adult_with(0.02), "local", seconds),
        "Adult, k 25, local": lambda: searched(adult_with(0.02, k=25), "local", seconds),
        "12 columns, local": lambda: searched(of_columns(folder, 12), "local", seconds),
        "30 columns, local": lambda: searched(of_columns(folder, 30), "local", seconds),
        "Adult, beta 2, local": lambda: searched(adult_with(0, BETA), "local", seconds),
        "Adult, delta 1.5, local": lambda: searched(adult_with(0, DELTA), "local", seconds),
        "Adult, t .2, local": lambda: searched(adult_with(0, T_CLOSE), "local", seconds),
        "sample, all five, local": lambda: searched(sample_with("all five"), "local", seconds),
        "Adult, beta 2, Mondrian": lambda: searched(adult_with(0, BETA), "mondrian"),
        "sample, all five, Mondrian": lambda: searched(sample_with("all five"), "mondrian"),
        "Adult, k 5, limit 0, lattice": lambda: searched(adult_with(0), "lattice"),
        "Adult, t .2, limit 100 %, lattice": lambda: searched(adult_with(1, T_CLOSE), "lattice"),
        "a hierarchy of 10^6 values": lambda: searched(of_values(folder), "lattice"),
        "Adult, 2 %, deFinetti": lambda: with_definetti(
            adult_with(0.02, {"model": "l-diversity", "l": 2})
        ),
        "Adult, 2 %, lattice, no attacks": lambda: searched(adult_with(0.02), "lattice"),
        "10^6 records of CSV, Mondrian": lambda: searched(of_a_million(folder), "mondrian"),
    }


def started(checkout: Path, config: Path, output: Path) -> list[str]:
    """Return the command that runs a config with the code of a checkout."""
    command = python("-c", START.format(folder=str(checkout)), "run", str(config))
    return [*command, "-o", str(output), "--overwrite", "--quiet"]


def loss_of(output: Path) -> str:
    """Return the loss of a run and whether its search proved it, as text."""
    search = read_report(output)["search"]
    return f"{search['objective']:.4f}{' (proven)' if search['optimal'] else ''}"


def spread(found: list[Process]) -> str:
    """Return the median of processor times, and the least and the most."""
    seconds = sorted(each.cpu_seconds for each in found)
    return f"{median(seconds):.2f} s ({seconds[0]:.2f} to {seconds[-1]:.2f})"


def rows(before: Path, seconds: float, runs: int, only: str) -> Iterator[list[object]]:
    """Yield for each case loss, processor time and memory of before and of now, and the ratio of times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, made in cases(folder, seconds).items():
            if only not in title:
                continue
            config = folder / "config.json"
            config.write_text(json.dumps(made()), encoding="utf-8")
            outputs = [folder / "before", folder / "now"]
            found: list[list[Process]] = [[], []]
            for turn in range(runs):
                for place in (0, 1) if turn % 2 else (1, 0):
                    command = started((before, ROOT)[place], config, outputs[place])
                    found[place].append(run_process(command))
            cells: list[object] = [title]
            for output, taken in zip(outputs, found, strict=True):
                peak = f"{max(each.peak_mib for each in taken):.0f} MiB"
                cells += [loss_of(output), spread(taken), peak]
            ratio = median(new.cpu_seconds / old.cpu_seconds for old, new in zip(*found, strict=True))
            yield [*cells, f"{ratio:.2f}"]


def main() -> None:
    """Print the table, a row when it is measured."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.before", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("folder", type=Path, help="of the earlier checkout")
    parser.add_argument("--seconds", type=float, default=20.0, help="of timed searches (default 20)")
    parser.add_argument("--runs", type=int, default=3, help="of each (default 3)")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    asked = parser.parse_args()
    measured = ("loss", "processor time", "memory")
    headers = ("run", *(f"{each} {of}" for of in ("before", "now") for each in measured), "ratio of times")
    lines = rows(asked.folder.resolve(), asked.seconds, asked.runs, asked.only)
    print(table(headers, []), flush=True)
    for line in lines:
        print(f"| {' | '.join(map(str, line))} |", flush=True)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
