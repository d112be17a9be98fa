"""The exit codes of the contract, and what each leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymizer.job.clock import RunMonitor
from anonymizer.report.public import RECORDS
from tests.run.commands import ROOT, Job, call, people, read_rows, shared_files, snapshot, spawn


@pytest.mark.slow
def test_0_a_process_of_its_own_releases_and_says_what_to_give(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    given = job.input.read_bytes()
    done = spawn("run", job.file)
    assert done.code == 0, done.err
    verdict = "SATISFIED, BUT 38 of 57 records are unique by their published quasi-identifiers and 'note'"
    assert done.out.splitlines()[0] == verdict
    assert "Release read back and verified." in done.out
    give, warned, keep = done.out.splitlines()[-3:]
    assert give.split() == [
        "Give:",
        f"{job.output}/share/",
        "release.csv",
        "report.public.json",
        "README.txt",
        "codebook.csv",
        "release.csv-metadata.json",
    ]
    assert warned == f"       report.public.json warns: {RECORDS}"
    assert keep.split() == [
        "Keep:",
        f"{job.output}/",
        "report.json",
        "report.html",
        "recoding.json",
        "(internal)",
    ]
    shared = {f"share/{name}" for name in shared_files("release.csv")}
    assert set(snapshot(job.output)) == {"recoding.json", "report.html", "report.json", "share", *shared}
    assert job.input.read_bytes() == given


def test_progress_is_for_terminals(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().err == ""
    assert job.run("--overwrite", "--quiet").err == ""


def test_json_is_the_report_and_nothing_else(tmp_path: Path) -> None:
    job = Job(tmp_path)
    done = job.run("--json")
    assert done.code == 0
    assert done.json == job.report()
    assert len(done.out.splitlines()) == 1


def test_the_default_folder_is_beside_the_config_and_o_names_another(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run("-o", tmp_path / "deep" / "down").code == 0
    assert not job.output.exists()
    assert (tmp_path / "deep" / "down" / "share" / "release.csv").is_file()


def test_set_overrides_the_config(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run("--set", "constraints.0.k=6", "--set", "suppression.limit=0").code == 0
    report = job.report()
    assert report["config"]["constraints"][0]["k"] == 6
    assert report["constraints"][0]["measured"] >= 6
    assert report["release"]["suppressed_records"] == 0


def test_1_infeasible_is_proven_and_leaves_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "l-diversity", "l": 5})
    done = job.run("--json")
    assert done.code == 1
    assert done.json["status"] == "infeasible"
    assert done.json["release"]["verified"] is False
    assert done.json["constraints"] == []
    assert done.err.count("error: ") == 1
    assert "INFEASIBLE" in done.err
    assert not job.output.exists()


def test_1_undecided_when_the_budget_ends_first(tmp_path: Path) -> None:
    job = Job(tmp_path).set("budget", nodes=1).set("suppression", limit=0)
    job.constraints({"model": "vulnerability", "max": 0.02})
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    done = job.run("--json")
    assert done.code == 1
    assert done.json["status"] == "undecided"
    assert done.json["search"]["evaluated"] == 1
    assert done.json["search"]["optimal"] is False
    assert "UNDECIDED" in done.err
    assert "budget.nodes" in done.err
    assert not job.output.exists()
    del job.config["budget"]
    assert job.run("--json").json["status"] == "infeasible"


@pytest.mark.slow
def test_a_budget_that_ends_after_something_was_found_gives_a_bound(tmp_path: Path) -> None:
    full = Job(tmp_path)
    full.run()
    evaluated, best = full.report()["search"]["evaluated"], full.report()["search"]["objective"]
    found = None
    for nodes in range(1, evaluated):
        done = full.run("--overwrite", "--json", "--set", f"budget.nodes={nodes}")
        assert done.json["search"]["evaluated"] == nodes
        if done.code == 0:
            found = done.json["search"]
            assert found["bound"] <= best <= found["objective"]
            assert found["gap"] == pytest.approx((found["objective"] - found["bound"]) / found["objective"])
    assert found is not None


def test_budget_steps_repeats_what_a_run_took(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.run()
    release, steps = job.release.read_bytes(), job.report()["search"]["steps"]
    job.run("--overwrite", "--set", f"budget.steps={steps}")
    assert job.release.read_bytes() == release
    assert job.report()["search"]["optimal"] is True


def test_2_usage(tmp_path: Path) -> None:
    done = spawn("run", tmp_path / "job.yaml", "--sett", "a=b")
    assert (done.code, done.out) == (2, "")
    assert "--sett" in done.err
    assert done.err.count("\n") == 1


def test_yaml_toml_and_json_are_the_same_config(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    (tmp_path / "job.yaml").write_text(job.file.read_text(encoding="utf-8"), encoding="utf-8")
    toml = [
        'constraints = [{model = "k-anonymity", k = 3}, {model = "l-diversity", l = 2}]',
        'input.path = "people.csv"',
        "suppression.limit = 0.1",
        "[attributes]",
        *(f"{name} = {_inline(each)}" for name, each in job.config["attributes"].items()),
    ]
    (tmp_path / "job.toml").write_text("\n".join(toml), encoding="utf-8")
    releases = []
    for suffix in ("json", "yaml", "toml"):
        done = call("run", tmp_path / f"job.{suffix}", "-o", tmp_path / suffix)
        assert done.code == 0, done.err
        releases.append(snapshot(tmp_path / suffix / "share"))
    assert releases[0] == releases[1] == releases[2]


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def test_a_config_with_a_relative_path_is_relative_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "configs").mkdir()
    job = Job(tmp_path / "configs").set("input", path="../data/people.csv")
    assert job.run().code == 0
    assert "configs" not in job.public_report.read_text(encoding="utf-8")


def test_130_an_interrupt_before_there_is_a_result_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path).write()
    before = snapshot(tmp_path)

    class Stopped(RunMonitor):
        def __init__(self, **settings: object) -> None:
            super().__init__(stopped=lambda: True)

    monkeypatch.setattr("anonymizer.job.clock.RunMonitor", Stopped)
    done = call("run", job.file)
    assert (done.code, done.out) == (130, "")
    assert "interrupted" in done.err
    assert snapshot(tmp_path) == before


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "phase",
    [
        "job.verify.project",
        "data.duckdb.writers.DuckQuery.copy",
        "job.assessment.verify",
        "job.job.build_report",
        "job.report.page",
        "job.report.public_report",
    ],
)
def test_130_an_interrupt_in_any_phase_leaves_all_as_it_was(
    phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    before = snapshot(tmp_path)

    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"anonymizer.{phase}", interrupted)
    done = call("run", job.file, "--overwrite")
    assert done.code == 130
    assert snapshot(tmp_path) == before


def test_the_examples_small_config_runs_as_the_readme_of_the_examples_says(tmp_path: Path) -> None:
    done = call("run", ROOT / "examples" / "minimal.yaml", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert len(read_rows(tmp_path / "out" / "share" / "release.csv")) > 0


def test_people_are_the_same_every_time() -> None:
    assert people() == people()
