"""Twenty whole runs under budgets of 1 to 60 s: how much later than its budget each process ends, and why.

Run as ``python -m benchmarks.budgets`` in the folder of the checkout. Reading, writing, verifying and
measuring come on top of a budget, as does the start of the process.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks import adult, columns
from benchmarks.common import machine, read_report, run_command, run_process, table
from benchmarks.million import SEED, resampled, write

RUNS = (
    (1_000, "lattice", 1),
    (1_000, "mondrian", 1),
    (1_000, "local", 2),
    (1_000, "microaggregation", 1),
    (1_000, "anatomy", 1),
    (30_000, "lattice", 1),
    (30_000, "mondrian", 1),
    (30_000, "local", 5),
    (30_000, "local", 30),
    (30_000, "microaggregation", 5),
    (30_000, "anatomy", 5),
    (30_000, "auto", 2),
    (20_000, "lattice", 2),
    (20_000, "lattice", 20),
    (20_000, "local", 5),
    (20_000, "local", 60),
    (20_000, "auto", 10),
    (1_000_000, "lattice", 10),
    (1_000_000, "mondrian", 20),
    (1_000_000, "local", 30),
)
"""Records, algorithm, budget. 20,000 records have 16 quasi-identifiers; the others are drawn from Adult."""

WIDE, WIDTH = 20_000, 16
SEARCHING = ("search", "bound", "diagnose")
GRACE = 1.1
"""Of the budget, in which a search may end."""


def config(records: int, algorithm: str, folder: Path) -> dict[str, object]:
    """Write the records; return a config without a budget."""
    if records == WIDE:
        return columns.settings(columns.write_records(folder, WIDTH), WIDTH, WIDTH)
    path = folder / "records.parquet"
    drawn = resampled(records, SEED)
    if algorithm == "microaggregation":
        # It needs numbers; others stay as they are.
        drawn["hours"] = drawn["age"] % 17 * 3
        write(drawn, path)
        role = {"role": "quasi-identifier", "type": "integer"}
        return {
            "input": {"path": str(path)},
            "attributes": {
                **{name: {"role": "insensitive"} for name in adult.ATTRIBUTES},
                "age": role,
                "hours": role,
            },
            "constraints": [{"model": "k-anonymity", "k": 5}],
        }
    write(drawn, path)
    found = adult.config(path, 0.02)
    found["attributes"][adult.SENSITIVE] = {"role": "sensitive"}
    if algorithm == "anatomy":
        found["constraints"] = [{"model": "l-diversity", "l": 3}]
        del found["suppression"], found["objective"]
        for name in adult.ATTRIBUTES:
            if name != adult.SENSITIVE:
                found["attributes"][name] = {"role": "quasi-identifier"}
    return found


def row(records: int, algorithm: str, seconds: int) -> list[object]:
    """Run a command; return what it took by phase, and what it exceeded."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        target = folder / "job.json"
        job = {**config(records, algorithm, folder), "algorithm": {"name": algorithm}}
        target.write_text(json.dumps({**job, "budget": {"seconds": seconds}}), encoding="utf-8")
        whole = run_process(run_command(target, folder / "out")).seconds
        report = read_report(folder / "out")
    phases = report["seconds"]
    searching = sum(phases.get(phase, 0.0) for phase in SEARCHING)
    late = searching - GRACE * seconds
    return [
        f"{records:,}",
        algorithm,
        f"{seconds} s",
        f"{searching:.1f} s",
        f"{sum(phases.values()) - searching:.1f} s",
        f"{whole - sum(phases.values()):.1f} s",
        f"{whole:.1f} s",
        "in time" if late <= 0 else f"{late:.1f} s",
        "proven" if report["search"]["optimal"] else "",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.budgets", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--algorithm", help="only the runs of this one")
    chosen = parser.parse_args().algorithm
    rows = [row(*each) for each in RUNS if chosen in {None, each[1]}]
    headers = (
        "records",
        "algorithm",
        "budget",
        "search and bound",
        "reading to advice",
        "start and page",
        "whole",
        "late",
        "",
    )
    print(table(headers, rows))
    print(f"\nLate: search and bound took more than {GRACE:g} times the budget.\n\n{machine()}")


if __name__ == "__main__":
    main()
