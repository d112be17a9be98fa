"""Ctrl-C during local recoding: the first keeps the best so far, the second leaves nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flow.commands import ROOT, Job, call, people, read_rows, snapshot


def interrupt(job: Job, phases: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a job in a process of its own, and interrupt it whenever it says that one of the phases begins."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.flow.improving", "run", str(job.file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    seen = []
    for phase in phases:
        for line in process.stderr:
            seen.append(line)
            if line.startswith(phase):
                break
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, "".join(seen) + err)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job that would search for ten minutes."""
    job = Job(tmp_path).rows(people(2_000)).set("algorithm", name="improving").set("budget", seconds=600)
    job.constraints({"model": "k-anonymity", "k": 7}, {"model": "l-diversity", "l": 2})
    return job.write()


def test_the_first_writes_and_verifies_the_best_so_far(job: Job) -> None:
    done = interrupt(job, ("found something",))
    assert done.returncode == 0, done.stderr
    report = job.report()
    assert report["interrupted"] is True
    assert report["status"] == "satisfied"
    assert report["release"]["verified"] is True
    assert report["release"]["suppressed_records"] + len(read_rows(job.release)) == 2_000
    assert "Interrupted after" in done.stdout
    assert call("audit", job.release).code == 0


@pytest.mark.slow
def test_the_second_leaves_nothing(job: Job) -> None:
    before = snapshot(job.folder)
    done = interrupt(job, ("found something", "writing"))
    assert done.returncode == 130
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(job.folder) == before
