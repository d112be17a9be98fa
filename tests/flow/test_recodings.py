"""Whole runs with each way of recoding: verified, auditable, and blind to the input's order."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.flow.commands import Job, call, people, read_rows

ALGORITHMS: list[dict[str, Any]] = [
    {"name": "mondrian", "mode": mode, "labels": labels}
    for mode in ("strict", "relaxed")
    for labels in ("hierarchy", "interval", "set")
]
MEANS: list[dict[str, Any]] = [
    {"name": "microaggregation", "aggregate": aggregate, "variable": variable}
    for aggregate in ("mean", "median")
    for variable in (False, True)
]


def shown(options: dict[str, Any]) -> str:
    return " ".join(str(value) for value in options.values())


def released(folder: Path, options: dict[str, Any], rows: list[Any]) -> Job:
    folder.mkdir()
    job = Job(folder).rows(rows).set("algorithm", **options)
    if options["name"] == "microaggregation":
        job.config["attributes"] |= {name: {"role": "insensitive"} for name in ("zip", "sex")}
    job.write()
    done = call("run", job.file)
    assert done.code == 0, done.err
    return job


@pytest.mark.parametrize("options", [*ALGORITHMS, *MEANS], ids=shown)
def test_a_release_is_verified_and_no_order_of_the_input_matters(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    rows = people(120)
    one = released(tmp_path / "one", options, rows)
    report = one.report()
    assert report["release"]["verified"] is True
    assert report["search"]["algorithm"] == options["name"]
    assert report["recoding"]["levels"] is None
    assert 0 < report["loss"]["loss"] < 1
    assert call("audit", one.release).code == 0
    assert len(read_rows(one.release)) == len(rows) - report["release"]["suppressed_records"]
    two = released(tmp_path / "two", options, Random(5).sample(rows, len(rows)))
    assert one.release.read_bytes() == two.release.read_bytes()
    public = "report.public.json"
    assert one.release.with_name(public).read_bytes() == two.release.with_name(public).read_bytes()


def test_means_are_of_numbers_only(tmp_path: Path) -> None:
    job = Job(tmp_path).rows(people(60)).set("algorithm", name="microaggregation").write()
    done = call("run", job.file)
    assert done.code == 2
    assert "zip" in done.err
    assert "Traceback" not in done.err
