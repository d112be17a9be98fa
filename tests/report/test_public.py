"""What the recipient of a release may know, and that no file tells more."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from anonymizer.core.report import Report
from anonymizer.report.public import public_report
from tests.flow.commands import Done, Job, people


def test_it_lacks_what_would_help_an_attacker(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.config["seed"] = 987654321
    job.run()
    text = job.public_report.read_text(encoding="utf-8")
    public, report = json.loads(text), job.report()
    assert "steps" not in public
    assert set(public["search"]) == set(report["search"]) - {"seed", "seconds", "steps"}
    assert set(public["input"]) == {"rows", "columns"}
    assert "path" not in public["config"]["input"]
    assert "seed" not in public["config"]
    for secret in ("987654321", report["input"]["sha256"], "people.csv", str(tmp_path)):
        assert secret not in text
    assert public["release"] == report["release"]
    assert public["constraints"] == report["constraints"]
    assert "engine" not in public["config"]
    assert public["loss"]["nonuniform_entropy"] is None
    assert public["loss"]["loss"] == pytest.approx(report["loss"]["loss"], rel=5e-3)
    assert len(str(public["loss"]["loss"])) <= len("0.123")


def test_what_compares_the_release_with_the_input_is_left_out(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.7})
    job.config["reference"] = "input"
    assert job.run().code == 0
    public = json.loads(job.public_report.read_text(encoding="utf-8"))["constraints"]
    assert (public[1]["measured"], public[1]["worst_classes"], public[1]["satisfied"]) == (None, None, True)
    assert public[0]["measured"] == job.report()["constraints"][0]["measured"]


def test_folders_of_hierarchy_files_stay_private(tmp_path: Path) -> None:
    job = Job(tmp_path)
    (tmp_path / "private folder").mkdir()
    path = tmp_path / "private folder" / "sex.csv"
    path.write_text("F,*\nM,*\n", encoding="utf-8")
    job.attribute("sex", role="quasi-identifier", hierarchy={"file": str(path)})
    assert job.run().code == 0
    text = job.public_report.read_text(encoding="utf-8")
    assert "private folder" not in text
    assert json.loads(text)["config"]["attributes"]["sex"]["hierarchy"]["file"] == "sex.csv"


def content(**counts: Any) -> dict[str, Any]:
    release = {"path": "p", "sha256": "s", "rows": 90, "suppressed_records": 10, "suppressed_cells": 0}
    return {
        "schema": 1,
        "status": "satisfied",
        "config": {"seed": 1, "input": {"path": "x"}, "attributes": {}, "objective": {"metric": "loss"}},
        "input": {"path": "x", "sha256": "y", "rows": 100, "columns": 3},
        "release": {**release, "classes": 9, **counts},
        "search": {
            "seed": 1,
            "seconds": 1.0,
            "steps": 2,
            "objective": 0.5,
            "bound": 0.5,
            "gap": 0.0,
            "best_possible": 0.4,
        },
        "constraints": [{"worst_classes": counts.get("worst_classes", 7), "verifiable_from_release": True}],
        "loss": {"loss": 0.5, "discernibility": 900},
        "attack_matrix": [{"threat": "linkage", "success": 0.12345}],
        "attacks": [{"records": 90, "success": 0.12345, "details": {}}],
        "steps": [],
    }


@pytest.mark.parametrize(
    ("k", "number", "shown"),
    [(None, 2, None), (None, 3, 3), (2, 2, None), (5, 4, None), (5, 5, 5), (5, 0, 0), (1, 1, None)],
)
def test_counts_below_k_and_3_are_left_out(k: int | None, number: int, shown: int | None) -> None:
    for key in ("rows", "suppressed_records", "suppressed_cells", "classes"):
        public = public_report(Report(content(**{key: number})), k).to_dict()
        assert public["release"][key] == shown
    public = public_report(Report(content(worst_classes=number)), k).to_dict()
    assert public["constraints"][0]["worst_classes"] == shown


def test_what_would_tell_a_hidden_number_of_suppressed_records_is_hidden_too() -> None:
    public = public_report(Report(content(suppressed_records=1, rows=99)), 5).to_dict()
    assert public["input"]["rows"] is None
    assert set(public["loss"].values()) == {None}
    told = ("objective", "bound", "gap", "best_possible")
    assert [public["search"][key] for key in told] == [None] * 4
    assert public["release"]["rows"] == 99


def test_the_internal_report_stays_as_it_was() -> None:
    report = Report(content(suppressed_records=1))
    before = json.dumps(report.to_dict())
    public_report(report, 5)
    assert json.dumps(report.to_dict()) == before


CANARIES = {
    "identifier": "Canary Anne Identifier",
    "quasi-identifier": "canaryville",
    "sensitive": "canary disease",
    "insensitive": "canary note 4711",
}


@pytest.fixture
def canary_job(tmp_path: Path) -> Job:
    """A job with one record that nobody resembles and that is suppressed."""
    rows = [*people(60), (CANARIES["identifier"], "20", "0117", CANARIES["quasi-identifier"],
                          CANARIES["sensitive"], CANARIES["insensitive"])]  # fmt: skip
    job = Job(tmp_path).rows(rows)
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    return job


def everything_said(job: Job, done: Done) -> dict[str, str]:
    """Return the text of every file that a run wrote, and of what it printed."""
    files = [path for path in job.output.rglob("*") if path.is_file()]
    raw = {path.name: path.read_bytes() for path in files}
    said = {
        name: (gzip.decompress(bytes_) if name.endswith(".gz") else bytes_).decode("utf-8", "replace")
        for name, bytes_ in raw.items()
    }
    return {**said, "stdout": done.out, "stderr": done.err}


@pytest.mark.parametrize("output", ["release.csv", "release.csv.gz", "release.parquet"])
def test_no_file_tells_of_a_suppressed_record(output: str, canary_job: Job) -> None:
    done = canary_job.set("output", path=output).run()
    assert done.code == 0, done.err
    said = everything_said(canary_job, done)
    internal = {"recoding.json", "report.html", "report.json"}
    assert set(said) == {output, *internal, "report.public.json", "stdout", "stderr"}
    found = [(name, canary) for name, text in said.items() for canary in CANARIES.values() if canary in text]
    assert found == []


def test_no_report_holds_an_identifier_or_a_record(tmp_path: Path) -> None:
    job = Job(tmp_path)
    done = job.run("--json")
    said = everything_said(job, done)
    del said["release.csv"]
    for name, text in said.items():
        assert not re.search(r"person \d", text), name
        assert "note 1" not in text, name
        assert "asthma" not in text, name


@pytest.mark.parametrize("constraint", [{"model": "l-diversity", "l": 9}, {"model": "k-anonymity", "k": 50}])
def test_a_refusal_tells_nothing_of_a_record(constraint: dict[str, Any], canary_job: Job) -> None:
    done = canary_job.constraints(constraint).run("--json")
    assert done.code == 1
    for canary in CANARIES.values():
        assert canary not in done.out + done.err
