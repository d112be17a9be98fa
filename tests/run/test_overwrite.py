"""An earlier release is replaced as a whole and on request only, and survives every failure."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.reports import without_times
from tests.run.commands import ROOT, Job, call, people, shared_files, snapshot, spawn


def test_a_second_run_is_refused(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    before = snapshot(tmp_path)
    done = job.run()
    assert done.code == 2
    assert "--overwrite" in done.err
    assert snapshot(tmp_path) == before


def test_overwrite_replaces_release_and_reports(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.run()
    before = snapshot(job.output)
    job.set("output", path="other.csv")
    done = job.run("--overwrite", "--set", "constraints.0.k=8")
    assert done.code == 0, done.err
    after = snapshot(job.output)
    shared = {"share", *(f"share/{name}" for name in shared_files("other.csv"))}
    assert set(after) == {"recoding.json", "report.html", "report.json", *shared}
    assert after["report.json"] != before["report.json"]
    assert job.report()["release"]["sha256"] == hashlib.sha256(job.release.read_bytes()).hexdigest()


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("setting", "code"),
    [("constraints.1.l=9", 1), ("constraints.1.l=0", 2), ("attributes.sex.hierarchy.file=no.csv", 2)],
)
def test_a_failing_run_leaves_the_earlier_release(setting: str, code: int, tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.run()
    before = snapshot(tmp_path)
    assert job.run("--overwrite", "--set", setting).code == code
    assert snapshot(tmp_path) == before


def small_files() -> None:
    """Let the program that is started next write files of 4 KB and no larger, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.slow
@pytest.mark.parametrize("output", ["release.csv", "release.parquet"])
def test_a_full_disk_leaves_the_earlier_release(output: str, tmp_path: Path) -> None:
    job = Job(tmp_path).set("output", path=output)
    assert job.run().code == 0
    # Every note is another one, so that the release does not compress below the limit.
    job.rows([(*row[:5], f"{number * 7919 % 10007:05d} {number}") for number, row in enumerate(people(2000))])
    job.write()
    before = snapshot(tmp_path)
    # Bytecode would be cut off at the limit as well, and stay for all that import it later.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = spawn("run", job.file, "--overwrite", preexec_fn=small_files, env=environment)
    assert done.code == 2
    assert done.err.count("error: ") == 1
    assert "cannot be written" in done.err
    assert "Traceback" not in done.err
    assert snapshot(tmp_path) == before


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "phase",
    # Nothing is touched before the release is written.
    [
        *(pytest.param(early, marks=pytest.mark.slow) for early in ("reading people.csv", "searching")),
        "writing",
        "reading back",
    ],
)
def test_a_kill_at_any_moment_leaves_the_old_release_or_the_new(phase: str, tmp_path: Path) -> None:
    job = Job(tmp_path).rows(people(300))
    assert job.run().code == 0
    old = snapshot(job.output)
    assert job.run("--overwrite", "--set", "constraints.0.k=8").code == 0
    new = snapshot(job.output)
    assert job.run("--overwrite").code == 0
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.run.phases",
            "run",
            str(job.file),
            "--overwrite",
            "--set",
            "constraints.0.k=8",
        ],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process, process.stderr as phases:
        assert any(line.startswith(phase) for line in phases)
        process.send_signal(signal.SIGKILL)
    left = {name: content for name, content in snapshot(job.output).items() if ".tmp-" not in name}
    assert parsed(left) in (parsed(old), parsed(new))
    assert job.input.read_bytes() == job.data
    # What the killed run left behind is in nobody's way.
    assert call("run", job.file, "--overwrite").code == 0
    assert parsed(snapshot(job.output)) == parsed(old)


def parsed(files: dict[str, bytes]) -> dict[str, object]:
    """Return files with the report parsed and its times left out."""
    return {**files, "report.json": without_times(json.loads(files["report.json"]))}
