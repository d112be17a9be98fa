"""Comparisons: what is run, what is kept, how they end and go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.commands.compare import (
    ComparisonFolder,
    Fingerprints,
    comparison_of,
    open_folder,
)
from anonymizer.commands.planning import PlannedRun, combined, planned, risk_limit
from anonymizer.commands.run import run
from anonymizer.commands.workers import RunResult, WorkerPool, job_of, run_to_result
from anonymizer.config.load import load_config, variations
from anonymizer.errors import ConfigError, InputError, OutputError
from anonymizer.report.comparison import RunStatus, measured_of
from tests.helpers.messages import exchange
from tests.helpers.reports import without_times
from tests.run.commands import PROGRAM, ROOT, Job, call


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "desk").mkdir()
    return Job(tmp_path / "desk")


def plan_of(job: Job, *vary: str, algorithms: tuple[str, ...] = ()) -> list[PlannedRun]:
    return planned(job.write().file, algorithms, combined(variations(vary)))


def results(job: Job) -> dict[str, tuple[int, int]]:
    """Return the kept results with what tells whether they were written again."""
    stats = {path.name: path.stat() for path in (job.folder / "comparison" / "runs").glob("*.json")}
    return {name: (each.st_ino, each.st_mtime_ns) for name, each in stats.items()}


def test_algorithms_times_values(job: Job) -> None:
    plan = plan_of(job, "constraints.0.k=2,5", "suppression.limit=0,0.1", algorithms=("lattice", "mondrian"))
    assert [each.number for each in plan] == list(range(1, 9))
    assert [each.algorithm for each in plan] == ["lattice"] * 4 + ["mondrian"] * 4
    assert [dict(each.settings)["constraints.0.k"] for each in plan[:4]] == ["2", "2", "5", "5"]
    assert [each.config.constraints[0].settings.k for each in plan] == [2, 2, 5, 5] * 2
    compared = comparison_of(
        plan, {number: RunResult(RunStatus.FAILED, 1.0, "why") for number in range(1, 9)}
    )
    assert compared.command(compared.runs[4]) == (
        f"anonymizer run {job.file} -o {job.file.with_name('job-release-5')} "
        "--set 'algorithm={name: mondrian}' "
        "--set constraints.0.k=2 --set suppression.limit=0"
    )


def test_without_algorithms_and_values_all_that_suit_are_compared(job: Job) -> None:
    assert "auto" not in {each.algorithm for each in plan_of(job)}
    assert {"lattice", "mondrian", "local", "microaggregation"} <= {each.algorithm for each in plan_of(job)}
    with_cells = {each.algorithm for each in plan_of(job.set("suppression", method="cells"))}
    assert "lattice" in with_cells
    assert "mondrian" not in with_cells
    assert [each.algorithm for each in plan_of(job, "constraints.0.k=2,5")] == ["lattice"] * 2


def test_the_algorithm_of_the_config_keeps_its_options(job: Job) -> None:
    job.set("algorithm", name="mondrian", mode="relaxed")
    plan = plan_of(job, algorithms=("mondrian", "lattice"))
    assert plan[0].config.algorithm.settings.mode == "relaxed"
    assert (plan[0].overrides, plan[1].overrides) == ((), ("algorithm={name: lattice}",))


def test_all_runs_share_their_attacks_and_one_applies_to_every_release(job: Job) -> None:
    assert [each.attack for each in plan_of(job)[0].config.attacks] == ["vulnerability", "linkage"]
    assert plan_of(job)[0].asked == ("vulnerability", "linkage")
    job.config["attacks"] = ["uniqueness"]
    assert [each.attack for each in plan_of(job)[0].config.attacks] == ["uniqueness", "vulnerability"]
    assert plan_of(job)[0].asked == ("uniqueness",)
    job.config["attacks"] = [{"attack": "vulnerability", "subsets": "all"}]
    assert [each.attack for each in plan_of(job)[0].config.attacks] == ["vulnerability"]


def test_all_that_is_wrong_with_a_plan_is_said_once_and_at_once(job: Job) -> None:
    with pytest.raises(ConfigError) as raised:
        plan_of(job, "constraints.0.k=0,5", "suppression.limit=2", algorithms=("lattice", "mondrain"))
    said = str(raised.value)
    for word in ("constraints[0].k: 0", "suppression.limit: 2", "'mondrain'", "did you mean 'mondrian'?"):
        assert said.count(word) == 1, said
    with pytest.raises(ConfigError, match="--algorithm local: is given twice"):
        plan_of(job, algorithms=("local", "lattice", "local"))


def test_a_fingerprint_is_of_the_config_and_the_input(job: Job) -> None:
    first, second = (Fingerprints().of(each.config) for each in plan_of(job, "constraints.0.k=2,5"))
    assert first != second
    job.data += b"new,30,01178,F,flu,note\n"
    assert Fingerprints().of(plan_of(job, "constraints.0.k=2")[0].config) != first
    (job.folder / "sex.csv").write_text("F;*\nM;*\n", encoding="utf-8")
    job.attribute("sex", role="quasi-identifier", hierarchy={"file": "sex.csv"})
    before = Fingerprints().of(plan_of(job)[0].config)
    (job.folder / "sex.csv").write_text("F;any;*\nM;any;*\n", encoding="utf-8")
    assert Fingerprints().of(plan_of(job)[0].config) != before
    (plan,) = plan_of(job.attribute("sex", role="insensitive"), "constraints.0.k=2")
    job.input.unlink()
    with pytest.raises(InputError, match=r"people\.csv: cannot be read"):
        Fingerprints().of(plan.config)


def test_a_fingerprint_is_of_the_plug_ins_of_other_distributions(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plan,) = plan_of(job, "constraints.0.k=2")
    seen = {Fingerprints().of(plan.config)}
    module = tmp_path / "their_models.py"
    module.write_text("STRICT = 1\n", encoding="utf-8")
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "entry_points.txt").write_text(
        "[anonymizer.privacy_models]\ntheirs = their_models:Theirs\n", encoding="utf-8"
    )
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen.add(Fingerprints().of(plan.config))
    module.write_text("STRICT = 2\n", encoding="utf-8")
    seen.add(Fingerprints().of(plan.config))
    assert len(seen) == 3
    monkeypatch.syspath_prepend(f"{tmp_path}/")  # the same folder by another name
    assert Fingerprints().of(plan.config) in seen


def test_a_fingerprint_is_of_the_package_and_not_of_what_lies_beside_it(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "anonymizer"
    (package / "search").mkdir(parents=True)
    (package / "search" / "own.py").write_text("K = 1\n", encoding="utf-8")
    monkeypatch.setattr("anonymizer.commands.compare.FOLDER", package)
    (plan,) = plan_of(job, "constraints.0.k=2")
    first = Fingerprints().of(plan.config)
    (tmp_path / "site" / "other.py").write_text("K = 1\n", encoding="utf-8")
    assert Fingerprints().of(plan.config) == first
    (package / "search" / "own.py").write_text("K = 2\n", encoding="utf-8")
    assert Fingerprints().of(plan.config) != first


def test_only_what_would_be_found_again_is_kept(tmp_path: Path) -> None:
    folder = ComparisonFolder(tmp_path / "new", [])
    for number, status in enumerate(RunStatus):
        found = RunResult(status, 1.5, "why", {"status": status.value})
        folder.keep(f"{number:064}", found)
        kept = folder.kept(f"{number:064}")
        assert kept == (None if status in (RunStatus.REFUSED, RunStatus.FAILED) else found)
    assert folder.kept("f" * 64) is None
    for path in (tmp_path / "new" / "runs").iterdir():
        path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert folder.kept(f"{0:064}") is None


def test_another_run_of_a_similar_fingerprint_is_not_taken_for_it(tmp_path: Path) -> None:
    folder = ComparisonFolder(tmp_path, [])
    folder.keep("a" * 32 + "b" * 32, RunResult(RunStatus.SATISFIED, 1.0, "", {}))
    assert folder.kept("a" * 32 + "c" * 32) is None


def test_an_input_is_not_replaced_and_strange_files_are_left_alone(
    job: Job, message: SnapshotAssertion
) -> None:
    job.set("input", path="compare.csv")
    plan = plan_of(job)
    with pytest.raises(OutputError) as refused:
        open_folder(job.folder, plan)
    assert exchange("input compare.csv in the folder", refused.value, job.folder) == message
    job.set("input", path="people.csv")
    with pytest.raises(OutputError) as refused:
        open_folder(job.folder, plan_of(job))
    assert exchange("another compare.csv in the folder", refused.value, job.folder) == message
    assert not (job.folder / "runs").exists()
    (job.folder / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        open_folder(job.folder / "file", plan_of(job))


def test_a_refusal_of_all_is_an_error_of_the_input(job: Job) -> None:
    plan = plan_of(job, algorithms=("lattice", "local"))
    refused = RunResult(RunStatus.REFUSED, 0.1, "column 'x' is missing")
    with pytest.raises(InputError, match="column 'x' is missing"):
        comparison_of(plan, {1: refused, 2: refused})
    other = RunResult(RunStatus.REFUSED, 0.1, "another reason")
    with pytest.raises(InputError, match="column 'x' is missing; another reason"):
        comparison_of(plan, {1: refused, 2: other})
    failed = comparison_of(plan, {1: refused, 2: RunResult(RunStatus.FAILED, 0.1, "signal 9")})
    assert failed.failed
    assert not failed.recommended


def test_the_reason_of_an_infeasible_run_is_one_line(job: Job, tmp_path: Path) -> None:
    (plan,) = plan_of(job, "constraints.0.k=61")
    found = run_to_result(lambda: run(plan.config, tmp_path / "release"))
    assert found.status is RunStatus.INFEASIBLE
    assert "k = 61" in found.reason
    assert "\n" not in found.reason
    assert "INFEASIBLE" not in found.reason
    assert "Nothing was written" not in found.reason
    assert RunResult.from_dict(json.loads(json.dumps(found.to_dict()))).reason == found.reason


@pytest.mark.slow
def test_a_run_of_a_worker_is_that_of_the_command(job: Job, tmp_path: Path) -> None:
    (plan,) = plan_of(job, "constraints.0.k=4")
    assert job.run("--set", "constraints.0.k=4", "--set", "attacks=[vulnerability, linkage]").code == 0
    work = tmp_path / "work"
    work.mkdir()
    jobs = {1: job_of(plan.config, work), 2: {"config": {}}}
    with WorkerPool(2) as pool:
        found = dict(pool.results(jobs, lambda: False))
    there = job.report()
    assert found[1].status is RunStatus.SATISFIED
    assert found[1].report is not None
    for key in ("recoding", "constraints", "loss", "attacks", "config"):
        here = found[1].report[key]
        assert without_times(here) == without_times(there[key]), key
    assert found[1].report["release"] == there["release"]
    assert measured_of(found[1].report).loss == there["loss"]["loss"]
    assert list(work.iterdir()) == []
    assert found[2].status is RunStatus.FAILED
    assert "ended with code 1" in found[2].reason


def test_a_process_that_cannot_be_started_is_a_failed_run(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plan,) = plan_of(job, "constraints.0.k=4")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with WorkerPool(1) as pool:
        ((number, found),) = pool.results({1: job_of(plan.config, tmp_path)}, lambda: False)
    assert (number, found.status) == (1, RunStatus.FAILED)
    assert "could not be started: No such file" in found.reason


def first_done(lines: Iterable[str]) -> str:
    """Return the line of the first run that is done; a slow machine prints others before."""
    return next(line for line in lines if "  running  " not in line)


@pytest.mark.slow
def test_a_comparison_goes_on_after_a_kill_without_redoing(job: Job, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    vary = ["compare", str(job.write().file), "--vary", "constraints.0.k=2,61", "--workers", "1"]
    process = subprocess.Popen(
        [*PROGRAM, *vary],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    assert first_done(process.stderr).startswith("1/2  lattice constraints.0.k=2:  satisfied")
    process.kill()
    process.communicate()
    done = results(job)
    assert len(done) == 1

    again = call(*vary)
    assert again.code == 0
    assert "1/2  reused from an earlier comparison" in again.err
    assert {name: each for name, each in results(job).items() if name in done} == done
    assert len(results(job)) == 2
    assert (job.folder / "comparison" / "compare.csv").read_text(encoding="utf-8").count("\n") == 3
    assert not job.output.exists()

    third = call(*vary, "--json")
    assert third.err == "2/2  reused from an earlier comparison\n"
    assert [each["status"] for each in third.json["runs"]] == ["satisfied", "infeasible"]
    assert [each["run"] for each in third.json["recommended"]] == [1]
    assert third.json["runs"][0]["unbeaten"]
    page = (job.folder / "comparison" / "compare.html").read_text(encoding="utf-8")
    assert "2 infeasible" in page
    assert str(job.folder) not in page
    assert [name for name in ("person 1", "note 7") if name in page] == []
    none = call("compare", job.file, "--vary", "constraints.0.k=61", "--quiet")
    assert (none.code, none.err) == (1, "")
    assert "None of 1 runs has a release." in none.out
    assert "1 infeasible:" in none.out
    # The worker of the killed comparison ends by itself and takes its release with it.
    deadline = time.monotonic() + 30
    while list((tmp_path / "tmp").glob("*/*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert list((tmp_path / "tmp").glob("*/*")) == []


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(job: Job) -> None:
    vary = ["compare", str(job.write().file), "--vary", "constraints.0.k=2,3", "--workers", "1"]
    process = subprocess.Popen(
        [*PROGRAM, *vary],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    first_done(process.stderr)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "interrupted: 1 of 2 runs are done, with results in" in err
    assert len(results(job)) == 1
    assert not (job.folder / "comparison" / "compare.csv").exists()


def test_usage_errors_are_exit_2_and_leave_nothing(job: Job) -> None:
    done = call("compare", job.write().file, "--vary", "constraints.0.k=0", "--vary", "seed=1")
    assert done.code == 2
    assert "--vary seed=1: this key must have the same value in all runs" in done.err
    assert not (job.folder / "comparison").exists()


@pytest.mark.parametrize(
    "risk",
    [
        {"model": "marketer-risk", "max": 0.5},
        {"model": "household-risk", "max": 0.5},
        {"model": "prosecutor-risk", "max": 0.1, "at": {"share-above": 0.3}},
    ],
)
def test_a_weaker_risk_does_not_lift_the_limit_of_k(risk: dict[str, Any]) -> None:
    config = {
        "input": {"path": "own.csv", "household": "home"},
        "attributes": {"age": {"role": "quasi-identifier"}, "home": {"role": "identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 20}, risk],
    }
    assert risk_limit(load_config(config)) == 1 / 20
