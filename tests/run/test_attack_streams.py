"""Attacks show their results as they end, in a pipe too, and keep them when the user ends the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from anonymizer.attacks.base import ATTACKS
from tests.run.commands import ROOT, Job
from tests.run.slow_attack import Waiting

Process = subprocess.Popen[str]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A released job whose attacks are a quick one, one that waits, and a quick one."""
    job = Job(tmp_path)
    assert job.run().code == 0
    job.config["attacks"] = ["homogeneity", "waiting", "uniqueness"]
    job.file.write_text(json.dumps(job.config), encoding="utf-8")
    return job


@contextmanager
def started(job: Job, *args: str | Path) -> Iterator[Process]:
    """Yield the command, whose streams are pipes; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.run.slow_attack", *map(str, args)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "WAITS_FOR": str(job.folder / "go")},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def first_word(lines: Sequence[str]) -> list[str]:
    return [line.split()[0] for line in lines]


def wait_for(process: Process, words: str) -> None:
    assert process.stderr is not None
    assert any(line.startswith(words) for line in process.stderr)


@pytest.mark.slow
def test_a_result_is_in_the_pipe_while_the_next_attack_runs(job: Job) -> None:
    with started(job, "attack", job.release, "-c", job.file) as process:
        assert process.stdout is not None
        # The next attack cannot end before the file is there.
        line = process.stdout.readline()
        (job.folder / "go").touch()
        out, err = process.communicate(timeout=60)
    assert first_word([line]) == ["homogeneity:"]
    assert first_word(out.splitlines()) == ["waiting:", "uniqueness:"]
    assert (process.returncode, "Traceback" in err) == (0, False)


@pytest.mark.slow
def test_json_is_one_object_at_the_end(job: Job) -> None:
    (job.folder / "go").touch()
    with started(job, "attack", job.release, "-c", job.file, "--json", "--quiet") as process:
        out, err = process.communicate(timeout=60)
    assert [each["attack"] for each in json.loads(out)["attacks"]] == job.config["attacks"]
    assert (process.returncode, err) == (0, "waiting\n")


@pytest.mark.slow
def test_an_interrupt_keeps_what_has_ended(job: Job) -> None:
    with started(job, "attack", job.release, "-c", job.file) as process:
        wait_for(process, "waiting")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert first_word(out.splitlines()) == ["homogeneity:"]
    # A line that is interrupted while it is written may come twice.
    assert err.removeprefix("waiting\n") == "error: interrupted; the other attacks were not run\n"
    assert process.returncode == 130


@pytest.mark.slow
def test_an_interrupt_keeps_what_has_ended_in_json(job: Job) -> None:
    with started(job, "attack", job.release, "-c", job.file, "--json") as process:
        wait_for(process, "waiting")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    found = json.loads(out)
    assert ([each["attack"] for each in found["attacks"]], found["interrupted"]) == (["homogeneity"], True)
    assert process.returncode == 130


@pytest.mark.slow
def test_an_interrupt_before_the_first_result_has_none(job: Job) -> None:
    job.config["attacks"] = ["waiting"]
    job.file.write_text(json.dumps(job.config), encoding="utf-8")
    with started(job, "attack", job.release, "-c", job.file, "--json") as process:
        wait_for(process, "waiting")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.removeprefix("waiting\n")) == (130, "", "error: interrupted\n")


@pytest.mark.slow
def test_an_interrupt_during_the_attacks_of_a_run_keeps_the_release(job: Job) -> None:
    with started(job, "run", job.file, "--overwrite") as process:
        wait_for(process, "waiting")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (0, False), err
    report = job.report()
    assert [each["attack"] for each in report["attacks"]] == ["homogeneity"]
    assert report["release"]["verified"] is True
    words = "you interrupted the attacks; not run: waiting, uniqueness (the command attack runs them)"
    assert words in report["warnings"]
    assert f"Warning: {words}" in out


def test_the_double_is_not_an_attack_of_the_product() -> None:
    assert Waiting.name not in list(ATTACKS)
