"""Ctrl-C during local recoding: the first keeps the best so far, the second leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.commands import Job, call, people, read_rows, snapshot
from tests.run.interrupting import interrupted, once

IMPROVING = "tests.run.improving"
"""The command with a search that goes on improving."""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job that would search for ten minutes."""
    job = Job(tmp_path).rows(people(2_000)).set("algorithm", name="improving").set("budget", seconds=600)
    job.constraints({"model": "k-anonymity", "k": 7}, {"model": "l-diversity", "l": 2})
    return job.write()


@pytest.mark.slow
def test_the_first_writes_and_verifies_the_best_so_far(job: Job) -> None:
    done = interrupted(IMPROVING, job, ["found something"], once)
    assert done.code == 0, done.err
    report = job.report()
    assert report["interrupted"] is True
    assert report["status"] == "satisfied"
    assert report["release"]["verified"] is True
    assert report["release"]["suppressed_records"] + len(read_rows(job.release)) == 2_000
    assert "Interrupted after" in done.out
    assert call("audit", job.release).code == 0


@pytest.mark.slow
def test_the_second_leaves_nothing(job: Job) -> None:
    before = snapshot(job.folder)
    done = interrupted(IMPROVING, job, ["found something", "writing"], once)
    assert done.code == 130
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    assert snapshot(job.folder) == before
