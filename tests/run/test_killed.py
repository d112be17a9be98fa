"""Runs that end by a signal at any moment leave nothing, the earlier release or the new one, whole.

``KILLS=100 python -m pytest -n0 -m slow tests/run/test_killed.py -s`` ends as many and counts what was left.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.commands import PROGRAM, ROOT, Job, call, people, shared_files, snapshot

KILLS = int(os.environ.get("KILLS", "10"))
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ALGORITHMS = ("lattice", "mondrian", "local", "microaggregation", "anatomy")


def job_of(algorithm: str, folder: Path) -> Job:
    """Return a job whose every release has another size in bytes, by its algorithm and its k."""
    job = Job(folder).rows(people(300))
    job.config["algorithm"] = {"name": algorithm}
    job.constraints({"model": "l-diversity", "l": 2})
    if algorithm == "microaggregation":
        job.config["algorithm"]["k"] = 3
        for name in ("zip", "sex"):
            job.attribute(name, role="insensitive")
        job.attribute("age", role="quasi-identifier")
    if algorithm == "local":
        # Otherwise nearly all signals come in a search of seconds, and hardly one while files are written.
        job.set("budget", steps=20)
    if algorithm != "anatomy":
        job.constraints({"model": "k-anonymity", "k": 3})
    return job.write()


def placed(job: Job) -> dict[str, bytes]:
    """Return the files of a release; a folder that a killed run left goes with the next run."""
    return {name: each for name, each in snapshot(job.output).items() if ".tmp-" not in name}


def check_whole(job: Job) -> str:
    """Check that a release is whole, and return the digest of its first file."""
    report = job.report()
    tables = [report["release"], *filter(None, [report["release"].get("sensitive_table")])]
    for table in tables:
        content = (job.output / table["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == table["sha256"]
    public = json.loads(job.public_report.read_text(encoding="utf-8"))
    assert public["release"]["sha256"] == report["release"]["sha256"]
    kept = report.get("recoding_file")
    assert (job.output / "recoding.json").is_file() == (kept is not None)
    if kept is not None:
        content = (job.output / "recoding.json").read_bytes()
        assert hashlib.sha256(content).hexdigest() == kept["sha256"]
    names = {Path(table["path"]).name for table in tables}
    assert {path.name for path in (job.output / "share").iterdir()} == shared_files(*names)
    return str(report["release"]["sha256"])


def killed(job: Job, words: tuple[str, ...], end: signal.Signals, seconds: float) -> int:
    """Start a run and send it a signal after some time, as often as it takes; return its exit code."""
    command = [*PROGRAM, "run", str(job.file), *words]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(seconds)
        process.send_signal(end)
        if end is signal.SIGINT:  # the first asks for the best release so far
            time.sleep(random.random() * 0.05)
            process.send_signal(end)
        _, said = process.communicate(timeout=60)
    # While Python itself starts, an interrupt is its own to report; among its first imports with exit 1.
    if said.startswith("Could not import runpy module"):
        return -signal.SIGINT
    importing = said.startswith("Exception ignored in: <function _get_module_lock")
    lost = importing and said.count("Traceback") == 1
    assert "Traceback" not in said or lost or process.returncode == -signal.SIGINT, said
    return process.returncode


def moments(rng: random.Random, usual: float) -> Iterator[float]:
    """Yield times in a run, half of them in its last third, where files are put in their places."""
    while True:
        yield rng.uniform(0.0, usual)
        yield rng.uniform(usual * 0.66, usual * 1.05)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_a_signal_leaves_is_nothing_or_a_whole_release(algorithm: str, tmp_path: Path) -> None:
    rng = random.Random(algorithm)
    job = job_of(algorithm, tmp_path)
    began = time.monotonic()
    assert killed(job, (), signal.SIGCONT, 0.0) == 0
    usual = time.monotonic() - began
    old, counted, given = check_whole(job), Counter[str](), job.input.read_bytes()
    moment = moments(rng, usual)
    for number in range(max(1, KILLS // len(ALGORITHMS))):
        overwrite = number % 2 == 1
        if overwrite and not (job.output / "report.json").exists():
            assert call("run", job.file, "--overwrite").code == 0
        if not overwrite and job.output.exists():
            for path in sorted(job.output.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            job.output.rmdir()
        before = placed(job) if overwrite else {}
        end = SIGNALS[number % len(SIGNALS)]
        words = ("--overwrite", "--set", "output.path=other.csv") if overwrite else ()
        code = killed(job, words, end, next(moment))
        left = placed(job)
        what = (
            "the earlier release"
            if overwrite and left == before
            else "nothing"
            if not left
            else "the new one"
        )
        if what == "the new one":
            # A signal in time ends the search; the best release so far may be another.
            assert check_whole(job) == old or job.report()["interrupted"]
        # Before and after the command, signals end a process as any other.
        assert code in (0, 130, -end), f"{end.name}: exit {code}"
        if code not in (0, -signal.SIGKILL):
            assert what != "the new one", f"{end.name}: exit {code}"
        counted[f"{end.name}: exit {code}, {what}"] += 1
        assert job.input.read_bytes() == given
    for what, times in sorted(counted.items()):
        print(f"{algorithm:16} {times:3}  {what}")
    assert call("run", job.file, "--overwrite").code == 0
    assert check_whole(job) == old
    assert [path.name for path in job.output.iterdir() if ".tmp-" in path.name] == []
