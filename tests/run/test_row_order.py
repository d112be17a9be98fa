"""The order of the input's records tells nothing and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.helpers.reports import without_times
from tests.run.commands import Job, call, people

VARIANTS: dict[str, dict[str, Any]] = {
    "csv": {},
    "csv.gz": {"output": {"path": "release.csv.gz"}},
    "parquet": {"output": {"path": "release.parquet"}},
    "keep_rows": {"suppression": {"limit": 0.2, "keep_rows": True}},
    "moving reference": {
        "constraints": [{"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.5}],
        "suppression": {"limit": 0.3},
    },
    "auto hierarchy": {
        "attributes": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "hierarchy": {"auto": {}}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"auto": {}}},
            "sex": {"role": "sensitive"},
            "diagnosis": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        }
    },
}


def records() -> list[tuple[str, ...]]:
    """Return records with missing values and several spellings of one number."""
    rows = [list(row) for row in people(90)]
    for number in range(0, 90, 9):
        rows[number][1] = f"{rows[number][1]}.0"
        rows[number + 1][3] = ""
        rows[number + 2][4] = ""
        rows[number + 3][5] = ""
    return [tuple(row) for row in rows]


@pytest.mark.quick(2)
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_any_permutation_gives_the_same_bytes(variant: dict[str, Any], tmp_path: Path) -> None:
    results = []
    for seed in range(4):
        rows = records()
        if seed:
            Random(seed).shuffle(rows)
        folder = tmp_path / str(seed)
        folder.mkdir()
        job = Job(folder).rows(rows)
        job.config["attributes"]["age"]["type"] = "number"
        job.config.update(variant)
        done = job.run()
        assert done.code == 0, done.err
        assert job.report()["release"]["suppressed_records"] > 0
        results.append((job.release.read_bytes(), job.public_report.read_bytes()))
    assert all(result == results[0] for result in results[1:])


@pytest.mark.page
def test_the_same_config_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    job = Job(tmp_path).rows(records()).write()
    job.config["attributes"]["age"]["type"] = "number"
    job.write()
    reports, releases = [], []
    for name in ("one", "two"):
        assert call("run", job.file, "-o", tmp_path / name).code == 0
        releases.append((tmp_path / name / "share" / "release.csv").read_bytes())
        report = without_times(json.loads((tmp_path / name / "report.json").read_text(encoding="utf-8")))
        page = (tmp_path / name / "report.html").read_text(encoding="utf-8")
        reports.append(json.dumps(report) + page)
    assert releases[0] == releases[1]
    assert reports[0] == reports[1]


def test_a_shuffled_release_holds_the_same_records_in_another_order(tmp_path: Path) -> None:
    job = Job(tmp_path).rows(records()).set("output", order="shuffled")
    job.config["attributes"]["age"]["type"] = "number"
    shuffled = []
    for _ in range(2):
        assert job.run("--overwrite").code == 0
        shuffled.append(job.release.read_bytes())
    assert shuffled[0] != shuffled[1]
    assert sorted(shuffled[0].splitlines()) == sorted(shuffled[1].splitlines())
