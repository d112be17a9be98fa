"""Mondrian publishes numbers and dates without a hierarchy as intervals, unless `labels` says otherwise."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.search.mondrian.algorithm import MondrianSettings
from tests.run.commands import Job, call, csv_bytes, read_rows

QI = {"role": "quasi-identifier"}
COLUMNS = ("age", "pay", "born", "zip", "illness")
INTERVAL = re.compile(r"\[\S+, \S+\]")


def job(folder: Path, **algorithm: Any) -> Job:
    random = Random(3)
    rows = [
        (
            str(random.randint(20, 80)),
            f"{random.random():.3f}",
            f"19{random.randint(40, 99)}-0{random.randint(1, 9)}-1{random.randint(0, 9)}",
            f"{random.choice('123')}{random.choice('45')}",
            random.choice(("flu", "cancer", "asthma")),
        )
        for _ in range(80)
    ]
    own = Job(folder, data=csv_bytes(rows, COLUMNS))
    own.config = {
        "input": {"path": "people.csv"},
        "attributes": {
            "age": {**QI, "type": "integer"},
            "pay": {**QI, "type": "number"},
            "born": {**QI, "type": "date"},
            "zip": {**QI, "type": "text", "hierarchy": {"mask": {"from": "right"}}},
            "illness": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 3}],
        "acknowledge": ["rows-are-persons"],
        "algorithm": {"name": "mondrian", **algorithm},
    }
    return own


@pytest.mark.quick(2)
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_numbers_without_a_hierarchy_are_intervals(mode: str, engine: str, tmp_path: Path) -> None:
    own = job(tmp_path, mode=mode).set("engine", name=engine)
    done = own.run("--quiet")
    if (mode, engine) == ("relaxed", "duckdb") and done.code:
        pytest.skip("relaxed cuts need all rows in memory")
    assert done.code == 0, done.err
    rows = read_rows(own.release)
    for place in range(3):
        assert any(INTERVAL.fullmatch(row[place]) for row in rows)
        assert "*" not in {row[place] for row in rows}
    # A column with a hierarchy keeps to it.
    assert {row[3] for row in rows} <= {f"{first}{last}" for first in "123" for last in "45*"} | {"*", "**"}
    assert own.report()["search"]["objective"] < 0.5
    assert call("audit", own.release, "--report", own.output / "report.json").code == 0


def test_labels_that_are_written_count(tmp_path: Path) -> None:
    own = job(tmp_path, labels="hierarchy")
    assert own.run("--quiet").code == 0
    assert not any(INTERVAL.fullmatch(text) for row in read_rows(own.release) for text in row)


def test_with_hierarchies_alone_the_default_follows_them(tmp_path: Path) -> None:
    results = []
    for name, algorithm in (("default", {}), ("written", {"labels": "hierarchy"})):
        folder = tmp_path / name
        folder.mkdir()
        own = job(folder, **algorithm)
        for column in ("pay", "born"):
            own.config["attributes"][column] = {"role": "identifier"}
        own.attribute("age", **QI, type="integer", hierarchy={"intervals": {"width": [10, 20]}})
        assert own.run("--quiet").code == 0
        results.append(own.release.read_bytes())
    assert results[0] == results[1]
    assert MondrianSettings().labels is None
