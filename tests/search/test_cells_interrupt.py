"""Ctrl-C while cells are chosen, and a solver is at work that knows nothing of it."""

from __future__ import annotations

import signal
from pathlib import Path
from random import Random

import pytest

from tests.run.commands import Job, call, csv_bytes, read_rows
from tests.run.interrupting import Process, interrupted, once

KEYS = tuple(f"key{number}" for number in range(8))
ENOUGH = 3.0
"""Seconds in which the first choice is found, however busy the machine; the search takes far longer."""


def later(process: Process) -> None:
    """Interrupt some seconds after the search began."""
    signal.sigtimedwait([], ENOUGH)
    once(process)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job of 4,000 records with eight keys that would take very long."""
    random = Random(1)
    rows = [[str(int(random.paretovariate(0.7)) % 9) for _ in KEYS] for _ in range(4_000)]
    job = Job(tmp_path)
    job.config["attributes"] = {
        key: {"role": "quasi-identifier", "type": "text", "levels": {"max": 0}} for key in KEYS
    }
    job.config["suppression"] = {"method": "cells", "limit": 0.1}
    job.constraints({"model": "k-anonymity", "k": 7})
    job.write()
    (tmp_path / "people.csv").write_bytes(csv_bytes(rows, KEYS))
    return job


@pytest.mark.slow
def test_it_writes_and_verifies_the_best_so_far(job: Job) -> None:
    done = interrupted("tests.run.phases", job, ["searching"], later)
    assert done.code == 0, done.err
    report = job.report()
    assert report["interrupted"] is True
    assert report["release"]["verified"] is True
    assert report["release"]["suppressed_cells"] > 0
    assert report["search"]["bound"] <= report["search"]["objective"]
    assert len(read_rows(job.release)) >= 3_600
    assert call("audit", job.release).code == 0
