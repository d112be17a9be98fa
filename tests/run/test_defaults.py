"""What a run does whose config names no algorithm and no attacks: the defaults that users have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from tests.helpers.messages import exchange
from tests.helpers.reports import without_times
from tests.run.commands import COLUMNS, CONFIG, Job, people

pytestmark = pytest.mark.defaults

UNASKED = {"homogeneity", "inference", "linkage", "uniqueness", "vulnerability"}

ONLY_LATTICE: dict[str, dict[str, Any]] = {
    "attackers": {
        "attackers": "every-step",
        "constraints": [{"model": "k-anonymity", "k": 3}, {"model": "linkage-risk", "max": 0.9}],
    },
    "minimality": {"attacks": ["minimality"], "suppression": {"limit": 0}},
    "scenario": {
        "scenarios": {
            "neighbour": {
                "known": ["age"],
                "models": [{"model": "delta-disclosure", "delta": 9, "absent": "ignored"}],
            }
        }
    },
    "cells": {"suppression": {"limit": 0.1, "method": "cells"}},
    "records": {"suppression": {"limit": 0.1, "method": "records"}},
    "height": {"objective": "height"},
}
"""Configs that run by lattice alone."""


def job_in(folder: Path, **sections: Any) -> Job:
    folder.mkdir(exist_ok=True)
    job = Job(folder)
    job.config.update(sections)
    return job


def done(folder: Path, **sections: Any) -> dict[str, Any]:
    job = job_in(folder, **sections)
    found = job.run()
    assert found.code == 0, found.err
    return job.report()


def test_local_recoding_is_attacked(tmp_path: Path) -> None:
    report = done(tmp_path)
    assert report["search"]["algorithm"] == "local"
    assert {each["attack"] for each in report["attacks"]} == UNASKED
    assert "attacks" not in report["config"]
    other = done(tmp_path / "other", algorithm="mondrian", attacks="none")
    assert report["search"]["objective"] <= other["search"]["objective"]
    assert other["attacks"] == []


def test_a_run_repeats(tmp_path: Path) -> None:
    first, second = (job_in(tmp_path / name) for name in ("first", "second"))
    assert (first.run().code, second.run().code) == (0, 0)
    assert first.release.read_bytes() == second.release.read_bytes()
    one, other = (without_times(each.report()) for each in (first, second))
    for key in ("attacks", "search", "steps", "constraints", "exposure"):
        assert one[key] == other[key], key


def test_work_is_counted_whatever_the_clock(tmp_path: Path) -> None:
    rows = people(120)
    reports = []
    for name, budget in (("counted", {}), ("timed", {"seconds": 30})):
        job = job_in(tmp_path / name, budget=budget).rows(rows)
        assert job.run().code == 0
        reports.append(job.report()["search"])
    assert {each["algorithm"] for each in reports} == {"local"}
    assert reports[1]["objective"] <= reports[0]["objective"]


@pytest.mark.parametrize("given", ["default", None])
def test_the_word_for_the_default(tmp_path: Path, given: str | None) -> None:
    sections = {} if given is None else {"attacks": given}
    assert {each["attack"] for each in done(tmp_path, **sections)["attacks"]} == UNASKED


def test_other_words_are_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path)
    job.config["attacks"] = "linkage"
    found = job.run()
    assert found.code == 2
    assert exchange(job.config["attacks"], found.err, tmp_path) == message


@pytest.mark.parametrize("name", ONLY_LATTICE)
def test_what_only_lattice_does_still_runs(name: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    report = done(tmp_path, **ONLY_LATTICE[name])
    assert report["search"]["algorithm"] == "lattice"
    assert exchange(name, report["search"]["chosen_because"]) == message


def test_full_domain_is_asked_for(tmp_path: Path) -> None:
    own = done(tmp_path / "own", algorithm={"name": "auto", "recoding": "full-domain"}, attacks="none")
    lattice = done(tmp_path / "lattice", algorithm="lattice", attacks="none")
    assert own["recoding"] == lattice["recoding"]
    assert own["search"]["algorithm"] == "lattice"
    assert own["search"]["chosen_because"]


def test_out_of_core(tmp_path: Path) -> None:
    report = done(tmp_path, engine={"name": "duckdb", "options": {"combinations": 40}})
    assert report["search"]["algorithm"] == "mondrian"
    assert {each["attack"] for each in report["attacks"]} == UNASKED - {"linkage", "inference"}


def test_frames_are_attacked_as_well() -> None:
    frame = pd.DataFrame(people(), columns=list(COLUMNS))
    sections = {key: value for key, value in CONFIG.items() if key != "input"}
    result = an.anonymize(frame, sections)
    assert {each["attack"] for each in result.report["attacks"]} == UNASKED
    assert an.anonymize(frame, {**sections, "attacks": "none"}).report["attacks"] == []
