"""``audit``: what a recipient can tell from a release and its public report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.base import ATTACKS
from anonymizer.attacks.skewness import Skewness, SkewnessSettings
from anonymizer.audit.audit import audit_release
from anonymizer.plugins import Exact
from anonymizer.report.public import unplaced_keys
from tests.helpers.messages import exchange
from tests.run.commands import Job, call, people, spawn
from tests.run.tampering import TAMPERS, Tamper, rewrite


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job with its release, which tests leave as it is."""
    job = Job(tmp_path_factory.mktemp("made"))
    assert job.run().code == 0
    return job


@pytest.fixture
def job(made: Job, tmp_path: Path) -> Job:
    """A job with its release, to be changed."""
    return made.copied(tmp_path)


def change_report(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    report = json.loads(path.read_text(encoding="utf-8"))
    change(report)
    path.write_text(json.dumps(report), encoding="utf-8")


def test_a_fresh_release_is_verified(job: Job) -> None:
    done = spawn("audit", job.release, "--json")
    assert (done.code, done.err) == (0, "")
    assert set(done.json) == {"verified", "constraints", "findings", "not_checked", "signature"}
    assert (done.json["verified"], done.json["findings"]) == (True, [])
    assert done.json["constraints"] == job.report()["constraints"]


def test_for_people_it_says_what_holds(job: Job) -> None:
    done = call("audit", job.release)
    lines = done.out.splitlines()
    assert lines[:4] == [
        "VERIFIED",
        "  holds  k-anonymity k=3: measured 3",
        "  holds  l-diversity(diagnosis) l=2: measured 2",
        "  not checked: what the files do not show, and the results of attacks:",
    ]
    assert all(line.startswith("    ") and len(line) < 100 for line in lines[4:])
    listed = " ".join(line.strip() for line in lines[4:])
    assert listed.endswith("values of the release against the input, order of the columns")
    assert call("audit", job.release, "--quiet") == done


@pytest.mark.parametrize("output", ["release.csv.gz", "release.parquet"])
def test_other_formats(output: str, tmp_path: Path) -> None:
    job = Job(tmp_path).set("output", path=output)
    assert job.run().code == 0
    assert call("audit", job.release).code == 0


@pytest.mark.parametrize(
    "constraint",
    [
        {"model": "t-closeness", "t": 0.6},
        {"model": "basic-beta-likeness", "beta": 9},
        {"model": "enhanced-beta-likeness", "beta": 9},
        {"model": "delta-disclosure", "delta": 4, "absent": "ignored"},
        {"model": "entropy-l-diversity", "l": 1.5},
        {"model": "vulnerability", "max": 0.7, "target": "attribute-inference"},
    ],
    ids=lambda constraint: constraint["model"],
)
def test_measures_are_those_of_the_report(constraint: dict[str, Any], tmp_path: Path) -> None:
    job = Job(tmp_path).constraints(constraint, {"model": "k-anonymity", "k": 3})
    assert job.run().code == 0
    found = audit_release(job.release)
    assert found.verified, found.findings
    assert found.constraints == job.report()["constraints"]


def test_the_internal_report_serves_as_well(job: Job) -> None:
    assert call("audit", job.release, "--report", job.output / "report.json").code == 0


def test_one_byte_is_enough(job: Job) -> None:
    content = bytearray(job.release.read_bytes())
    content[-2] ^= 1
    job.release.write_bytes(content)
    done = call("audit", job.release)
    assert done.code == 1
    assert done.out.startswith("NOT VERIFIED")
    assert "SHA-256" in done.out


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_changed_records_are_found_out(tamper: Tamper, job: Job) -> None:
    rewrite(job.release, tamper)
    done = call("audit", job.release, "--json")
    assert done.code == 1
    assert done.json["verified"] is False
    assert done.json["findings"]


def test_a_broken_promise_is_named_though_the_hash_was_mended(job: Job) -> None:
    rewrite(job.release, lambda rows: [["90-99", *rows[0][1:]], *rows[1:]])
    digest = hashlib.sha256(job.release.read_bytes()).hexdigest()
    change_report(job.public_report, lambda report: report["release"].update(sha256=digest))
    done = call("audit", job.release, "--json")
    assert done.code == 1
    assert [each["satisfied"] for each in done.json["constraints"]] == [False, False]
    assert any("k-anonymity" in finding for finding in done.json["findings"])
    assert any("classes" in finding for finding in done.json["findings"])


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "hash": lambda report: report["release"].update(sha256="0" * 64),
    "rows": lambda report: report["release"].update(rows=58),
    "classes": lambda report: report["release"].update(classes=99),
    "measured": lambda report: report["constraints"][0].update(measured=7),
    "measured is no number": lambda report: report["constraints"][0].update(measured="much"),
    "parameters": lambda report: report["constraints"][0].update(parameters={"k": 9}),
    "a constraint dropped": lambda report: report["constraints"].pop(),
    "a constraint of the config": lambda report: report["config"]["constraints"][0].update(k=9),
    "roles": lambda report: report["config"]["attributes"]["note"].update(role="quasi-identifier"),
    "a column dropped": lambda report: report["config"]["attributes"].pop("note"),
    "an unknown model": lambda report: report["config"]["constraints"][0].update(model="magic"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_tampered_report_is_found_out(change: Callable[[dict[str, Any]], object], job: Job) -> None:
    change_report(job.public_report, change)
    done = call("audit", job.release)
    assert done.code == 1
    assert "NOT VERIFIED" in done.out
    assert "note: " in done.out


BROKEN = {
    "no JSON": "{",
    "a list": "[]",
    "another JSON": "{}",
    "another version": '{"schema": 2}',
    "no text": '"x"',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_no_report_is_refused(text: str, job: Job) -> None:
    job.public_report.write_text(text, encoding="utf-8")
    done = call("audit", job.release)
    assert (done.code, done.out) == (2, "")
    assert "report.public.json" in done.err
    assert "accepted: report.public.json or report.json" in done.err


@pytest.mark.parametrize("key", ["config", "attributes", "release", "constraints"])
def test_a_report_that_lacks_a_part_is_refused(key: str, job: Job) -> None:
    change_report(job.public_report, lambda report: report.pop(key))
    done = call("audit", job.release)
    assert (done.code, done.out) == (2, "")
    assert key in done.err


def test_a_missing_report_and_a_missing_release(job: Job, message: SnapshotAssertion) -> None:
    moved = job.public_report.rename(job.folder / "moved.json")
    done = call("audit", job.release)
    assert done.code == 2
    assert exchange("no report next to the release", done.err.strip(), job.folder) == message
    assert call("audit", job.release, "--report", moved).code == 0
    job.release.unlink()
    assert call("audit", job.release, "--report", moved).code == 2
    # Neither is there: what was named is missed first.
    assert f"{job.release}: no such file" in call("audit", job.release).err


def test_the_report_of_another_release(job: Job) -> None:
    other = job.folder / "other"
    assert call("run", job.file, "-o", other, "--set", "constraints.0.k=8").code == 0
    done = call("audit", job.release, "--report", other / "share" / "report.public.json")
    assert done.code == 1
    assert "SHA-256 differs" in done.out


def test_the_report_of_a_run_without_a_release_is_refused(job: Job) -> None:
    done = call("run", job.file, "--json", "--set", "constraints.1.l=9", "-o", job.folder / "none")
    (job.folder / "infeasible.json").write_text(done.out, encoding="utf-8")
    done = call("audit", job.release, "--report", job.folder / "infeasible.json")
    assert done.code == 2
    assert "release" in done.err


def test_a_reference_that_the_recipient_has_not_is_said(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.7})
    job.config["reference"] = "input"
    assert job.run().code == 0
    assert [each["verifiable_from_release"] for each in job.report()["constraints"]] == [True, False]
    done = call("audit", job.release, "--json")
    assert done.code == 0
    assert [each["verifiable_from_release"] for each in done.json["constraints"]] == [True, False]
    assert done.json["constraints"][1]["measured"] is None
    assert len(done.json["findings"]) == 1
    assert "t-closeness of diagnosis: not verifiable from the release alone" in done.json["findings"][0]


def test_a_column_released_unchanged_is_compared_where_records_are_removed(tmp_path: Path) -> None:
    """Here no recoded value tells of it, and the digest was mended, too."""
    job = Job(tmp_path).set("suppression", method="records", limit=0.2)
    assert job.run("--set", "algorithm=lattice").code == 0
    assert job.report()["release"]["rows"] < len(people())
    rewrite(job.release, lambda rows: [[*rows[0][:-1], "note of nobody"], *rows[1:]])
    digest = hashlib.sha256(job.release.read_bytes()).hexdigest()
    for path in (job.public_report, internal_report(job)):
        change_report(path, lambda report: report["release"].update(sha256=digest))
    found = audit_release(job.release, internal_report(job))
    assert any("column 'note' does not contain the values of the input" in each for each in found.findings)


def job_on_persons(folder: Path, *constraints: dict[str, Any]) -> Job:
    """Return a job whose persons have two records each."""
    rows = [(f"person {number // 2}", *row[1:]) for number, row in enumerate(people(120))]
    return Job(folder).rows(rows).set("input", person="name").constraints(*constraints)


def internal_report(job: Job) -> Path:
    return job.public_report.parents[1] / "report.json"


def test_only_the_first_constraint_verifies(tmp_path: Path) -> None:
    """Others may hold of nobody's protection: the first one is the promise."""
    on_records = {"model": "k-anonymity", "k": 4, "unit": "record"}
    job = job_on_persons(tmp_path, {"model": "k-anonymity", "k": 3}, on_records)
    assert job.run().code == 0
    done = call("audit", job.release)
    assert (done.code, done.out.splitlines()[0]) == (
        1,
        "NOT MEASURED: 1 of 2 constraints could not be measured",
    )
    owner = call("audit", job.release, "--report", internal_report(job))
    assert (owner.code, owner.out.splitlines()[0]) == (0, "VERIFIED")


def test_constraints_on_persons_are_not_said_to_hold(tmp_path: Path) -> None:
    on_records = {"model": "k-anonymity", "k": 4, "unit": "record"}
    job = job_on_persons(tmp_path, on_records, {"model": "k-anonymity", "k": 3})
    assert job.run().code == 0
    done = call("audit", job.release)
    assert done.code == 0, done.out
    lines = done.out.splitlines()
    assert lines[0] == "VERIFIED, but 1 of 2 constraints could not be measured"
    assert lines[1].startswith("  holds  k-anonymity k=4: measured ")
    assert lines[2] == "  ?      k-anonymity k=3 unit=person: not measured"
    counted, unknown = call("audit", job.release, "--json").json["constraints"]
    assert (unknown["measured"], unknown["satisfied"]) == (None, None)
    assert counted["satisfied"] is True
    job.release.write_bytes(job.release.read_bytes() + b"90,1,flu\n")
    assert call("audit", job.release).out.startswith("NOT VERIFIED")
    assert "NOT VERIFIED, but" not in call("audit", job.release).out


@pytest.mark.parametrize(
    "algorithm", [{"name": "lattice"}, {"name": "mondrian"}, {"name": "mondrian", "labels": "set"}], ids=str
)
def test_what_nothing_measured_is_verified_only_with_the_input(
    algorithm: dict[str, Any], tmp_path: Path
) -> None:
    job = job_on_persons(tmp_path, {"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2})
    job.config["algorithm"] = algorithm
    assert job.run().code == 0
    done = call("audit", job.release)
    assert done.code == 1
    assert done.out.splitlines()[0] == "NOT MEASURED: 2 of 2 constraints could not be measured"
    assert call("audit", job.release, "--json").json["verified"] is False
    owner = call("audit", job.release, "--report", internal_report(job))
    assert (owner.code, owner.out.splitlines()[0]) == (0, "VERIFIED"), owner.out
    found = audit_release(job.release, internal_report(job))
    assert [each["measured"] for each in found.constraints] == [
        each["measured"] for each in job.report()["constraints"]
    ]
    assert found.findings == []


@pytest.mark.parametrize("reference", ["release", "input"])
def test_a_measure_of_persons_that_the_input_does_not_give_is_found_out(
    reference: str, tmp_path: Path
) -> None:
    job = job_on_persons(tmp_path, {"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.6})
    job.config["reference"] = reference
    assert job.run().code == 0
    report = json.loads(internal_report(job).read_bytes())
    for place, lie in enumerate((17, 0.0123)):
        changed = deepcopy(report)
        changed["constraints"][place]["measured"] = lie
        path = internal_report(job).with_name("lie.json")
        path.write_text(json.dumps(changed), encoding="utf-8")
        found = audit_release(job.release, path)
        assert not found.verified
        assert [each.partition(":")[0] for each in found.findings] == [f"constraints[{place}].measured"]


def test_persons_are_not_measured_where_their_records_fit_several_rows(tmp_path: Path) -> None:
    job = job_on_persons(tmp_path, {"model": "k-anonymity", "k": 3})
    job.config["suppression"] = {"limit": 0.1, "method": "cells"}
    assert job.run().code == 0
    done = call("audit", job.release, "--report", internal_report(job))
    assert done.code == 1
    assert done.out.splitlines()[0] == "NOT MEASURED: 1 of 1 constraint could not be measured"
    assert "as records of the input fit several rows of the release" in done.out


def test_a_folder_in_place_of_the_release_is_said(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 3})
    assert job.run().code == 0
    for folder in (job.release.parent, job.release.parents[1]):
        done = call("audit", folder)
        assert done.code == 2
        assert exchange(folder.name, done.err, tmp_path) == message


TREE = "asthma,lung,*\nflu,lung,*\ncancer,other,*\nstroke,other,*\n"


def test_a_hierarchy_file_that_the_recipient_lacks_is_said(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.7})
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "diagnosis.csv").write_text(TREE, encoding="utf-8")
    hierarchy = {"file": "trees/diagnosis.csv"}
    job.attribute("diagnosis", role="sensitive", distance="hierarchical", hierarchy=hierarchy)
    assert job.run().code == 0
    done = call("audit", job.release, "--json")
    assert done.code == 0, done.out
    assert [each["verifiable_from_release"] for each in done.json["constraints"]] == [True, False]
    assert any("diagnosis.csv" in finding for finding in done.json["findings"])
    (job.public_report.parent / "diagnosis.csv").write_text(TREE, encoding="utf-8")
    done = call("audit", job.release, "--json")
    assert (done.code, done.json["findings"]) == (0, [])
    assert done.json["constraints"] == job.report()["constraints"]


def test_a_tree_that_grew_from_the_input_is_not_grown_again_from_the_release(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.7})
    job.attribute("diagnosis", role="sensitive", distance="hierarchical", hierarchy={"auto": {}})
    assert job.run().code == 0
    assert [each["verifiable_from_release"] for each in job.report()["constraints"]] == [True, False]
    done = call("audit", job.release, "--json")
    assert done.code == 0, done.out
    assert "not verifiable from the release alone" in done.json["findings"][0]


def test_how_it_was_searched_is_of_no_matter(job: Job) -> None:
    def of_another_distribution(report: dict[str, Any]) -> None:
        report["config"]["algorithm"] = {"name": "of another distribution"}
        report["config"]["objective"] = {"metric": "of another distribution"}

    change_report(job.public_report, of_another_distribution)
    assert call("audit", job.release).code == 0


class DominanceSettings(SkewnessSettings):
    """A parameter with a name that no attack of this distribution has."""

    dominance: Exact = Decimal("0.9")


class Dominance(Skewness):
    """An attack of another distribution."""

    name = "dominance"
    Settings = DominanceSettings
    settings: DominanceSettings


def test_parameters_of_an_attack_of_another_distribution_are_public(tmp_path: Path) -> None:
    ATTACKS.add(Dominance)
    try:
        job = Job(tmp_path).rows(people(60))
        job.config["attacks"] = [{"attack": "dominance", "dominance": 0.5}]
        assert job.run().code == 0
        shown = json.loads(job.public_report.read_text(encoding="utf-8"))["attacks"]
        assert [each["knowledge"]["dominance"] for each in shown] == ["0.5"]
        assert unplaced_keys(job.report()) == []
        assert call("audit", job.release).code == 0
    finally:
        ATTACKS.remove("dominance")
