"""Ctrl-C: the first ends the search with the best so far, the second ends all."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.run.commands import Job, call, people, read_rows, snapshot
from tests.run.interrupting import Process, interrupted, once

SLOW = "tests.run.slow"
"""The command with a slow search."""


def twice(process: Process) -> None:
    for _ in range(2):
        once(process)
        signal.sigtimedwait([], 0.1)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job whose search evaluates many nodes, the first of which will do."""
    job = Job(tmp_path).rows(people(200)).set("algorithm", name="slow")
    job.set("suppression", limit=0)
    job.constraints({"model": "k-anonymity", "k": 4}, {"model": "t-closeness", "t": 0.4})
    return job.write()


@pytest.mark.slow
def test_the_first_writes_and_verifies_the_best_so_far(job: Job) -> None:
    done = interrupted(SLOW, job, ["found something"], once)
    assert done.code == 0, done.err
    report = job.report()
    assert report["interrupted"] is True
    assert report["status"] == "satisfied"
    assert report["release"]["verified"] is True
    assert report["search"]["optimal"] is False
    assert report["search"]["bound"] < report["search"]["objective"]
    assert len(read_rows(job.release)) == 200
    assert "Interrupted after" in done.out
    assert call("audit", job.release).code == 0


@pytest.mark.slow
def test_the_second_leaves_nothing(job: Job) -> None:
    before = snapshot(job.folder)
    done = interrupted(SLOW, job, ["found something"], twice)
    assert done.code == 130
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    assert snapshot(job.folder) == before


@pytest.mark.slow
def test_the_first_before_anything_was_found_leaves_nothing(job: Job) -> None:
    before = snapshot(job.folder)
    done = interrupted(SLOW, job, ["reading"], once)
    assert (done.code, done.out) == (130, "")
    assert "nothing was written" in done.err
    assert "Traceback" not in done.err
    assert snapshot(job.folder) == before
