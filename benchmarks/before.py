"""Whole runs beside those of an earlier checkout, in turns, in processor time.

Run as ``python -m benchmarks.before FOLDER`` in the folder of the checkout, where ``FOLDER`` is another
checkout of this project. The same Python runs both. The clock of a search is set to processor time in both,
as what the machine does beside would shorten the searches of the one that it meets.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    return {**config, "algorithm": {"name": name}, "attacks": [], **budget}


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
        "Adult, 2 %, deFinetti": lambda: with_definetti(adult_with(0.02, {"model": "l-diversity", "l": 2})),
        "Adult, 2 %, lattice, no attacks": lambda: searched(adult_with(0.02), "lattice"),
        "sample, k 5, lattice, no attacks": lambda: searched(bases()["sample"], "lattice"),
        "10^6 records of CSV, Mondrian": lambda: searched(of_a_million(folder), "mondrian"),
    }


def others(folder: Path) -> dict[str, list[str]]:
    """Return commands that are not runs, by name."""
    known = ",".join(name for name in adult.ATTRIBUTES if name != adult.SENSITIVE)
    draft = ["init", str(ROOT / "examples" / "sample.csv"), "-o", str(folder / "draft.yaml"), "--overwrite"]
    check = ["check", str(adult.data()), "--qi", known, "--sensitive", adult.SENSITIVE, "--quiet"]
    return {"--help": ["--help"], "check, Adult": check, "init, sample": draft}


def started(checkout: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs the code of a checkout."""
    return python("-c", START.format(folder=str(checkout)), *arguments)


def run_of(config: Path, output: Path) -> list[str]:
    """Return the arguments of a run."""
    return ["run", str(config), "-o", str(output), "--overwrite", "--quiet"]


def in_turns(before: Path, arguments: Sequence[Sequence[str]], runs: int) -> list[list[Process]]:
    """Run the arguments with the code of before and of now, in turns that begin with either.

    One round more is not counted, as it may compile the code.
    """
    commands = [started(each, own) for each, own in zip((before, ROOT), arguments, strict=True)]
    found: list[list[Process]] = [[], []]
    for turn in range(runs + 1):
        for place in (0, 1) if turn % 2 else (1, 0):
            found[place].append(run_process(commands[place]))
    return [each[1:] for each in found]


def loss_of(output: Path) -> str:
    """Return the loss of a run and whether its search proved it, as text."""
    search = read_report(output)["search"]
    return f"{search['objective']:.4f}{' (proven)' if search['optimal'] else ''}"


def spread(found: Sequence[Process]) -> str:
    """Return the median of processor times, and the least and the most."""
    seconds = sorted(each.cpu_seconds for each in found)
    return f"{median(seconds):.2f} s ({seconds[0]:.2f} to {seconds[-1]:.2f})"


def cells_of(found: Sequence[Sequence[Process]], losses: Sequence[str]) -> list[object]:
    """Return the loss, processor time and memory of before and of now, and the ratio of times."""
    cells: list[object] = []
    for taken, loss in zip(found, losses, strict=True):
        cells += [loss, spread(taken), f"{max(each.peak_mib for each in taken):.0f} MiB"]
    ratio = median(new.cpu_seconds / old.cpu_seconds for old, new in zip(*found, strict=True))
    return [*cells, f"{ratio:.2f}"]


def rows(before: Path, seconds: float, runs: int, only: str) -> Iterator[list[object]]:
    """Yield a row for each case and command whose name has a text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "config.json"
        outputs = [folder / "before", folder / "now"]
        for title, made in cases(folder, seconds).items():
            if only in title:
                config.write_text(json.dumps(made()), encoding="utf-8")
                found = in_turns(before, [run_of(config, each) for each in outputs], runs)
                yield [title, *cells_of(found, [loss_of(each) for each in outputs])]
        for title, arguments in others(folder).items():
            if only in title:
                yield [title, *cells_of(in_turns(before, [arguments, arguments], runs), ["", ""])]


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
