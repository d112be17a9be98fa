"""Fifty canaries in confidential places are in no file and in no line of output."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from tests.run.commands import Job, call, people, shared_files

NAMES = [f"Zyxander Qoph{letter}" for letter in "abcdefghijklmnopqrst"]
NOTES = [f"called about the zebra {number} yesterday" for number in range(70, 80)]
TOWNS = [f"Xanthopolis{letter}" for letter in "ABCDEFGHIJ"]
NUMBERS = [str(70_001_337 + 11_003 * number) for number in range(10)]
CANARIES = [*NAMES, *NOTES, *TOWNS, *NUMBERS]
"""Names and free text of columns to be dropped; values that only one person has."""


def canary_job(folder: Path) -> Job:
    rows = []
    for position, (_, age, _, sex, diagnosis, _) in enumerate(people(400)):
        row = [f"name {position}", age, "Ulm" if position % 3 else "Bonn", sex, diagnosis, "n"]
        if position < 20:
            row[0] = NAMES[position]
        if position < 10:
            row[2], row[5] = TOWNS[position], NOTES[position]
        if 10 <= position < 20:
            row[1] = NUMBERS[position - 10]
        rows.append(tuple(row))
    job = Job(folder).rows(rows)
    job.config["constraints"] = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}]
    job.config["attacks"] = ["linkage", "vulnerability", "uniqueness"]
    job.attribute("note", role="identifier").attribute("zip", role="quasi-identifier")
    job.config["attributes"]["zip"]["levels"] = {"max": 0}
    return job.set("suppression", limit=0.1)


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local"])
def test_no_canary_is_revealed(algorithm: str, tmp_path: Path) -> None:
    assert len(set(CANARIES)) == 50
    job = canary_job(tmp_path).set("algorithm", name=algorithm)
    done = job.run()
    assert done.code == 0, done.err
    said: dict[str, Any] = {
        path.name: path.read_text(encoding="utf-8") for path in job.output.rglob("*") if path.is_file()
    }
    kept = {"recoding.json"} & set(said)
    assert set(said) == {
        *shared_files("release.csv"),
        "report.json",
        "report.html",
        *kept,
    }
    said |= {"stdout": done.out, "stderr": done.err}
    attacked = call("attack", job.release, "-c", job.file, "--original", job.input)
    assert attacked.code == 0, attacked.err
    said["attack"] = attacked.out
    told = [(name, each) for name, text in said.items() for each in CANARIES if each in html.unescape(text)]
    assert told == []
    report = json.loads(said["report.json"])
    assert report["release"]["suppressed_records"] >= len(TOWNS)
