"""Runs that count persons beside runs that count records: CPU seconds and peak memory of processes.

Run as ``python -m benchmarks.persons [RECORDS PERSONS] [--adult] [--algorithm NAME] [--beyond ROWS]`` in the
checkout.

Persons are the records of the profile ``alike`` of ``benchmarks.scale_data``; each has visits, in one of five
years, with one of ten illnesses, so that nearly all persons have several distinct rows. With ``--adult`` they
are the records of Adult, each with one to five rows; some rows are a year older or have another occupation.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import adult, scale_data
from benchmarks.common import machine, read_report, run_command, run_process, table

K, L, LIMIT = 10, 3, 0.02


@dataclass(frozen=True)
class Sample:
    """Records of persons.

    Attributes
    ----------
    config: of a run on them, but for what is counted, the engine and the algorithm.
    """

    records: int
    persons: int
    config: dict[str, Any]

    def asked(self, engine: dict[str, Any], algorithm: str, *, by_person: bool) -> dict[str, Any]:
        """Return a config that counts persons or records."""
        found = {**self.config, "engine": engine, "algorithm": {"name": algorithm}}
        if by_person:
            return found | {"input": {**found["input"], "person": "person"}}
        return found | {"acknowledge": ["rows-are-persons"]}


def visits(records: int, persons: int, path: Path) -> Sample:
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
    found = scale_data.config(path, K, suppression={"limit": LIMIT})
    found["attributes"] |= {
        "person": {"role": "identifier"},
        "year": {"role": "quasi-identifier", "type": "integer"},
        "illness": {"role": "sensitive"},
    }
    found["constraints"].append({"model": "l-diversity", "l": L})
    return Sample(records, persons, found)


def adults(path: Path) -> Sample:
    """Write each record of Adult as one to five rows of a person, as Parquet; the same on any machine.

    Every third row is a year older than the record, and every fifth has the occupation of another record.
    """
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT *, row_number() OVER () - 1 AS person "
        f"FROM read_csv('{adult.data()}', all_varchar = true)"
    )
    connection.execute(
        "CREATE TABLE stays AS "
        "SELECT *, (person + 7919 * (i + 1)) % (SELECT count(*) FROM people) AS another "
        "FROM (SELECT *, unnest(range(1 + (hash(person) % 5)::BIGINT)) AS i FROM people)"
    )
    connection.execute(
        "COPY (SELECT stays.* EXCLUDE (i, another) REPLACE ("
        "(stays.age::INT + (hash(stays.person, i) % 3 = 0)::INT)::VARCHAR AS age, "
        "if(hash(i, stays.person) % 5 = 0, others.occupation, stays.occupation) AS occupation) "
        "FROM stays JOIN people AS others ON others.person = stays.another ORDER BY stays.person, i) "
        f"TO '{path}' (FORMAT parquet)"
    )
    records, persons = (connection.table(name).count("*").fetchall()[0][0] for name in ("stays", "people"))
    known = [name for name in adult.ATTRIBUTES if name != adult.SENSITIVE]
    found = adult.config(path, LIMIT, K, known)
    found["attributes"] |= {"person": {"role": "identifier"}, adult.SENSITIVE: {"role": "sensitive"}}
    found["constraints"].append({"model": "l-diversity", "l": L})
    return Sample(records, persons, found)


def measured(folder: Path, sample: Sample, engine: dict[str, Any], algorithm: str) -> list[tuple[str, ...]]:
    """Run both counts with an engine, and return their rows of the table."""
    rows: list[tuple[str, ...]] = []
    first = 0.0
    for counted in ("records", "persons"):
        job, output = folder / "job.json", folder / "out"
        asked = sample.asked(engine, algorithm, by_person=counted == "persons")
        job.write_text(json.dumps(asked), encoding="utf-8")
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
    parser.add_argument("--adult", action="store_true", help="Adult in place of visits")
    parser.add_argument("--beyond", type=int, help="distinct rows in memory of another run in DuckDB")
    parser.add_argument("--engines", nargs="*", default=["memory", "duckdb"])
    parser.add_argument("--algorithm", default="lattice")
    given = parser.parse_args()
    engines: list[dict[str, Any]] = [{"name": each} for each in given.engines]
    if given.beyond is not None:
        engines.append({"name": "duckdb", "options": {"combinations": given.beyond}})
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "visits.parquet"
        sample = adults(path) if given.adult else visits(given.records, given.persons, path)
        rows = [row for engine in engines for row in measured(Path(name), sample, engine, given.algorithm)]
    print(f"{sample.records:,} records of {sample.persons:,} persons, k = {K}, l = {L}, limit {LIMIT:.0%}\n")
    head = ("engine", "counted", "CPU seconds", "ratio", "peak memory", "search, s", "evaluated", "loss")
    print(table(head, rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
