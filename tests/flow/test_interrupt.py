"""Ctrl-C: the first ends the search with the best so far, the second ends all."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flow.commands import ROOT, Job, call, people, read_rows, snapshot


def interrupt(job: Job, times: int, after: str) -> subprocess.CompletedProcess[str]:
    """Run a job with a slow search in a process of its own, and interrupt it after a line on stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.flow.slow", "run", str(job.file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if line.startswith(after):
            break
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        signal.sigtimedwait([], 0.1)
    out, err = process.communicate(timeout=30)
    return subprocess.CompletedProcess(process.args, process.returncode, out, "".join(seen) + err)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job whose search evaluates many nodes, the first of which will do."""
    job = Job(tmp_path).rows(people(200)).set("algorithm", name="slow")
    job.set("suppression", limit=0)
    job.constraints({"model": "k-anonymity", "k": 4}, {"model": "t-closeness", "t": 0.4})
    return job.write()


def test_the_first_writes_and_verifies_the_best_so_far(job: Job) -> None:
    done = interrupt(job, 1, "found something")
    assert done.returncode == 0, done.stderr
    report = job.report()
    assert report["interrupted"] is True
    assert report["status"] == "satisfied"
    assert report["release"]["verified"] is True
    assert report["search"]["optimal"] is False
    assert report["search"]["bound"] < report["search"]["objective"]
    assert len(read_rows(job.release)) == 200
    assert "Interrupted after" in done.stdout
    assert call("audit", job.release).code == 0


def test_the_second_leaves_nothing(job: Job) -> None:
    before = snapshot(job.folder)
    done = interrupt(job, 2, "found something")
    assert done.returncode == 130
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(job.folder) == before


def test_the_first_before_anything_was_found_leaves_nothing(job: Job) -> None:
    before = snapshot(job.folder)
    done = interrupt(job, 1, "reading")
    assert (done.returncode, done.stdout) == (130, "")
    assert "nothing was written" in done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(job.folder) == before
