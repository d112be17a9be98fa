"""Runs that count persons beside runs that count records: CPU seconds and peak memory of processes.

Run as ``python -m benchmarks.persons [RECORDS PERSONS] [--algorithm NAME] [--beyond ROWS]`` in the checkout.

Persons are the records of the profile ``alike`` of ``benchmarks.scale_data``; each has visits, in one of five
years, with one of ten illnesses, so that nearly all persons have several distinct rows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import scale_data
from benchmarks.common import machine, read_report, run_command, run_process, table

K, L, LIMIT = 10, 3, 0.02


def write(records: int, persons: int, path: Path) -> None:
    """Write the visits as Parquet; the same on any machine."""
    people = path.with_name("people.parquet")
    scale_data.write(persons, people, "alike")
    duckdb.connect().execute(
        "COPY (SELECT person, people.* EXCLUDE number, 2020 + hash(person, i) % 5 AS year, "
        "'illness ' || hash(i, 7) % 10 AS illness "
        f"FROM (SELECT i, hash(i) % {persons} AS person FROM range({records}) AS r(i)) "
        f"JOIN (SELECT *, row_number() OVER () - 1 AS number FROM '{people}') AS people ON number = person) "
        f"TO '{path}' (FORMAT parquet)"
    )


def config(path: Path, engine: dict[str, Any], algorithm: str, *, by_person: bool) -> dict[str, Any]:
    """Return a config that counts persons or records."""
    search = {"algorithm": {"name": algorithm}, "suppression": {"limit": LIMIT}}
    found = scale_data.config(path, K, engine=engine, **search)
    found["attributes"] |= {
        "person": {"role": "identifier"},
        "year": {"role": "quasi-identifier", "type": "integer"},
        "illness": {"role": "sensitive"},
    }
    found["constraints"].append({"model": "l-diversity", "l": L})
    if by_person:
        found["input"]["person"] = "person"
    else:
        found["acknowledge"] = ["rows-are-persons"]
    return found


def measured(folder: Path, path: Path, engine: dict[str, Any], algorithm: str) -> list[tuple[str, ...]]:
    """Run both counts with an engine, and return their rows of the table."""
    rows, first = [], 0.0
    for counted in ("records", "persons"):
        job, output = folder / "job.json", folder / "out"
        job.write_text(
            json.dumps(config(path, engine, algorithm, by_person=counted == "persons")), encoding="utf-8"
        )
        own, report = run_process(run_command(job, output)), read_report(output)
        first = first or own.cpu_seconds
        figures = (own.cpu_seconds, own.cpu_seconds / first, own.peak_mib, report["search"]["seconds"])
        cpu, ratio, peak, search = figures
        place = engine["name"] + (", out of core" if "options" in engine else "")
        loss, evaluated = report["loss"]["loss"], report["search"]["evaluated"]
        shown = (
            f"{cpu:.1f}",
            f"{ratio:.2f}",
            f"{peak:,.0f} MiB",
            f"{search:.1f}",
            f"{evaluated}",
            f"{loss:.6f}",
        )
        rows.append((place, counted, *shown))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=1_000_000)
    parser.add_argument("persons", type=int, nargs="?", default=200_000)
    parser.add_argument("--beyond", type=int, help="distinct rows in memory of another run in DuckDB")
    parser.add_argument("--engines", nargs="*", default=["memory", "duckdb"])
    parser.add_argument("--algorithm", default="lattice")
    given = parser.parse_args()
    engines: list[dict[str, Any]] = [{"name": each} for each in given.engines]
    if given.beyond is not None:
        engines.append({"name": "duckdb", "options": {"combinations": given.beyond}})
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "visits.parquet"
        write(given.records, given.persons, path)
        rows = [row for engine in engines for row in measured(Path(name), path, engine, given.algorithm)]
    print(f"{given.records:,} records of {given.persons:,} persons, k = {K}, l = {L}, limit {LIMIT:.0%}\n")
    head = ("engine", "counted", "CPU seconds", "ratio", "peak memory", "search, s", "evaluated", "loss")
    print(table(head, rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
