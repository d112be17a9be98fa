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


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a job that has run as it is."""
    job = job_in(tmp_path_factory.mktemp("usual"))
    found = job.run()
    assert found.code == 0, found.err
    return job


def test_local_recoding_is_attacked(usual: Job, tmp_path: Path) -> None:
    report = usual.report()
    assert report["search"]["algorithm"] == "local"
    assert {each["attack"] for each in report["attacks"]} == UNASKED
    assert "attacks" not in report["config"]
    other = done(tmp_path / "other", algorithm="mondrian", attacks="none")
    assert report["search"]["objective"] <= other["search"]["objective"]
    assert other["attacks"] == []


def test_a_run_repeats(usual: Job, tmp_path: Path) -> None:
    """By the word for the attacks of the default, too."""
    first, second = usual, job_in(tmp_path / "second", attacks="default")
    assert second.run().code == 0
    assert first.release.read_bytes() == second.release.read_bytes()
    one, other = (without_times(each.report()) for each in (first, second))
    for key in ("attacks", "search", "steps", "constraints", "exposure"):
        assert one[key] == other[key], key


def test_work_is_counted_whatever_the_clock(usual: Job, tmp_path: Path) -> None:
    timed = done(tmp_path, budget={"seconds": 30}, attacks="none")
    reports = [each["search"] for each in (usual.report(), timed)]
    assert {each["algorithm"] for each in reports} == {"local"}
    assert reports[1]["objective"] <= reports[0]["objective"]


def test_other_words_are_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path)
    job.config["attacks"] = "linkage"
    found = job.run()
    assert found.code == 2
    assert exchange(job.config["attacks"], found.err, tmp_path) == message


@pytest.mark.parametrize("name", ONLY_LATTICE)
def test_what_only_lattice_does_still_runs(name: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    report = done(tmp_path, **{"attacks": "none", **ONLY_LATTICE[name]})
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
