"""Every algorithm with each of its options, by the command: what is released, verified and reported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.search.base import SEARCH_ALGORITHMS
from tests.helpers.reports import without_times
from tests.run.commands import COLUMNS, Job, call, people, read_rows

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Choice:
    """An algorithm with its options.

    Attributes
    ----------
    numbers: whether the quasi-identifiers are numbers without hierarchies.
    chosen: the algorithm that is run, where that is another one.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    suppression: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    numbers: bool = False
    chosen: str | None = None

    def __str__(self) -> str:
        return "-".join([self.name, *map(str, [*self.options.values(), *self.suppression.values()])])

    @property
    def removals(self) -> tuple[bool, ...]:
        """Whether suppressed records are removed: what may be seen of it."""
        return (False, True) if self.suppression.get("keep_rows") else (True,)

    def job(self, folder: Path, records: list[tuple[str, ...]]) -> Job:
        """Return a job for the algorithm, its budget in steps where it would go on."""
        folder.mkdir()
        job = Job(folder).rows(records)
        job.set("algorithm", name=self.name, **self.options)
        job.set("suppression", limit=0.1, **self.suppression)
        if self.budget:
            job.set("budget", **self.budget)
        if self.numbers:
            job.attribute("age", role="quasi-identifier", type="number")
            job.attribute("zip", role="quasi-identifier", type="number")
            job.attribute("sex", role="insensitive")
        return job


STEPS = {"steps": 8}
CHOICES = [
    Choice("lattice"),
    Choice("lattice", suppression={"keep_rows": True}),
    Choice("lattice", suppression={"method": "records"}),
    Choice("lattice", suppression={"method": "cells"}),
    *(
        Choice("mondrian", {"mode": mode, "labels": labels})
        for mode in ("strict", "relaxed")
        for labels in ("hierarchy", "interval", "set")
    ),
    Choice("mondrian", suppression={"keep_rows": True}),
    Choice("mondrian", suppression={"method": "records"}),
    Choice("local", budget=STEPS),
    Choice("local", suppression={"keep_rows": True}, budget=STEPS),
    Choice("local", suppression={"method": "records"}, budget=STEPS),
    Choice("auto", budget=STEPS, chosen="local"),
    Choice("auto", {"recoding": "any"}, chosen="local"),
    Choice("auto", {"recoding": "full-domain"}, chosen="lattice"),
    Choice("auto", suppression={"method": "records"}, chosen="lattice"),
    Choice("auto", suppression={"method": "cells"}, chosen="lattice"),
    *(
        Choice("microaggregation", {"aggregate": aggregate, "variable": variable, **size}, numbers=True)
        for aggregate in ("mean", "median")
        for variable in (False, True)
        for size in (NOTHING, {"k": 4})
    ),
    Choice("microaggregation", suppression={"keep_rows": True}, numbers=True),
]
EVERY = pytest.mark.parametrize("choice", CHOICES, ids=str, scope="module")


def records() -> list[tuple[str, ...]]:
    """Return records with missing values."""
    rows = [list(row) for row in people(70)]
    for number in range(0, 70, 14):
        rows[number + 1][1] = ""
        rows[number + 2][4] = ""
        rows[number + 3][5] = ""
    return [tuple(row) for row in rows]


def columns(
    rows: list[list[str]], names: tuple[str, ...], header: tuple[str, ...]
) -> Counter[tuple[str, ...]]:
    """Return the records of some columns, whatever their order."""
    positions = [header.index(name) for name in names]
    return Counter(tuple(row[position] for position in positions) for row in rows)


def test_every_option_is_tried() -> None:
    # What publishes two tables has tests of its own.
    of_one_table = {name: each for name, each in SEARCH_ALGORITHMS.items() if not each.in_groups}
    assert {choice.name for choice in CHOICES} == set(of_one_table)
    assert set(SEARCH_ALGORITHMS) - set(of_one_table) == {"anatomy"}
    for name, plug_in in of_one_table.items():
        own = [choice for choice in CHOICES if choice.name == name]
        for option in plug_in.Settings.model_fields:
            assert any(option in choice.options for choice in own), f"{name}: {option}"
        methods = {choice.suppression.get("method", "classes") for choice in own}
        assert methods == {method.value for method in plug_in.suppressions()}, name


@pytest.fixture(scope="module")
def finished(choice: Choice, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a job with its release, which tests leave as it is."""
    job = choice.job(tmp_path_factory.mktemp("finished") / "job", records())
    done = job.run()
    assert done.code == 0, done.err
    return job


@pytest.mark.quick(9)
@EVERY
def test_the_release_is_verified_and_reported(choice: Choice, finished: Job) -> None:
    job, report = finished, finished.report()
    assert report["status"] == "satisfied"
    assert report["release"]["verified"] is True
    algorithm = choice.chosen or choice.name
    assert report["search"]["algorithm"] == algorithm
    assert (report["recoding"]["levels"] is not None) == (algorithm == "lattice")
    assert 0 < report["loss"]["loss"] < 1
    assert all(constraint["satisfied"] for constraint in report["constraints"])
    assert {key: report["config"]["algorithm"][key] for key in choice.options} == dict(choice.options)
    search = report["search"]
    assert search["bound"] is None or search["bound"] <= search["objective"]
    assert abs(report["loss"]["loss"] - search["objective"]) <= 1e-12
    for path in (job.output / "report.json", job.public_report):
        assert "NaN" not in path.read_text(encoding="utf-8")
    assert call("audit", job.release).code == 0
    check_columns(choice, job)


def check_columns(choice: Choice, job: Job) -> None:
    """Records are as many as reported; of each, all that is no quasi-identifier is as it was."""
    facts, public = job.report()["release"], COLUMNS[1:]
    assert facts["suppressed_records"] <= 0.1 * len(records())
    given, released = [list(row) for row in records()], read_rows(job.release)
    assert len(released) == facts["rows"]
    removed = len(given) - len(released)
    assert removed in {facts["suppressed_records"] * gone for gone in choice.removals}
    untouched = ("sex", "diagnosis", "note") if choice.numbers else ("diagnosis", "note")
    before, after = columns(given, untouched, COLUMNS), columns(released, untouched, public)
    assert not after - before
    assert (before - after).total() == removed


@pytest.mark.quick(9)
@EVERY
def test_the_order_of_the_rows_changes_nothing(choice: Choice, finished: Job, tmp_path: Path) -> None:
    rows = records()
    Random(1).shuffle(rows)
    shuffled = choice.job(tmp_path / "job", rows)
    assert shuffled.run().code == 0
    results, reports = [], []
    for job in (finished, shuffled):
        results.append((job.release.read_bytes(), job.public_report.read_bytes()))
        report = without_times(job.report())
        report["input"]["sha256"] = None
        reports.append(json.dumps(report))
    assert results[0] == results[1]
    assert reports[0] == reports[1]


def test_means_are_of_numbers_only(tmp_path: Path) -> None:
    job = Job(tmp_path).rows(people(60)).set("algorithm", name="microaggregation").write()
    done = call("run", job.file)
    assert done.code == 2
    assert "zip" in done.err
    assert "Traceback" not in done.err
