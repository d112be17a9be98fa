"""When the answer is no, the run says why, and what it suggests works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.job.diagnose import _smallest_whole
from tests.helpers.messages import exchange
from tests.run.commands import Done, Job


def refused(job: Job, given: str, message: SnapshotAssertion) -> tuple[Done, list[str]]:
    """Run an infeasible job; return its output and its suggestions."""
    done = job.run("--json")
    assert exchange(given, done.err.strip(), job.folder) == message
    assert done.code == 1, done.err
    diagnosis = done.json["diagnosis"]
    assert diagnosis["complete"] is True
    suggested = [line.split("--set ", 1)[1] for line in done.err.splitlines() if "works: --set " in line]
    assert suggested == diagnosis["suggestions"]
    for reason in diagnosis["reasons"]:
        assert reason in done.err
    return done, suggested


def assert_they_work(job: Job, suggestions: list[str]) -> None:
    """Run the job with each suggestion by itself."""
    assert suggestions
    for each in suggestions:
        done = job.run("--overwrite", "--set", each)
        assert done.code == 0, f"{each}: {done.err}"


def test_k_above_the_number_of_records(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 100}).set("suppression", limit=0)
    _, suggestions = refused(job, "k above the number of records", message)
    assert "constraints.0.k=60" in suggestions
    assert_they_work(job, suggestions)


def test_more_distinct_values_than_there_are(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 5})
    _, suggestions = refused(job, "l above the number of values", message)
    assert "constraints.1.l=4" in suggestions
    assert_they_work(job, suggestions)


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "constraint",
    [
        {"model": "t-closeness", "t": 0.001},
        {"model": "delta-disclosure", "delta": 0.0001},
        {"model": "basic-beta-likeness", "beta": 0.0001},
        {"model": "alpha-k-anonymity", "alpha": 0.01, "k": 2},
        {"model": "entropy-l-diversity", "l": 4.5},
        {"model": "recursive-cl-diversity", "c": 0.1, "l": 2},
        {"model": "vulnerability", "max": 0.01},
    ],
    ids=lambda constraint: constraint["model"],
)
def test_what_each_model_can_reach_alone(
    constraint: dict[str, Any], tmp_path: Path, message: SnapshotAssertion
) -> None:
    job = Job(tmp_path).constraints(constraint).set("suppression", limit=0)
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    _, suggestions = refused(job, f"{constraint}", message)
    assert any(each.startswith("constraints.0.") for each in suggestions)
    assert_they_work(job, suggestions)


def three_classes(folder: Path) -> Job:
    """Return a job in which k-anonymity and l-diversity each need to drop another class, and one may go."""
    groups = {
        "small": ("flu", "cancer"),
        "plain": ("flu",) * 4,
        "good": ("flu", "cancer", "asthma", "stroke"),
    }
    rows = [("", "20", zip_, "F", diagnosis, "") for zip_, own in groups.items() for diagnosis in own]
    job = Job(folder).rows(rows).set("suppression", limit=0.4)
    job.attribute("age", role="insensitive").attribute("sex", role="insensitive")
    job.attribute("zip", role="quasi-identifier", levels={"max": 0})
    return job


def test_two_that_hold_alone_but_not_together(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = three_classes(tmp_path)
    job.constraints({"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2})
    _, suggestions = refused(job, "two that conflict", message)
    assert {"constraints.0.k=2", "constraints.1.l=1", "suppression.limit=0.6"} == set(suggestions)
    assert_they_work(job, suggestions)


def test_three_of_which_one_pair_blocks(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = three_classes(tmp_path)
    job.constraints(
        {"model": "vulnerability", "max": 0.9},
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2},
    )
    _, suggestions = refused(job, "three, of which two conflict", message)
    assert_they_work(job, suggestions)


def test_a_limit_that_is_too_small(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).set("suppression", limit=0)
    for name in ("age", "zip"):
        job.config["attributes"][name]["levels"] = {"max": 1}
    done, suggestions = refused(job, "a limit of 0", message)
    (limit,) = [each for each in suggestions if each.startswith("suppression.limit=")]
    assert_they_work(job, suggestions)
    least = job.run("--overwrite", "--json", "--set", limit).json["release"]["suppressed_records"]
    assert f"need at least {least} of 60 records suppressed" in done.err
    one_less = (least - 1) / 60
    assert job.run("--overwrite", "--set", f"suppression.limit={one_less:.5f}").code == 1


def test_a_release_of_no_record_is_no_release(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 61}).set("suppression", limit=1)
    __, suggestions = refused(job, "k above the number of records, limit 1", message)
    assert "constraints.0.k=60" in suggestions
    assert not any(each.startswith("suppression") for each in suggestions)
    assert_they_work(job, suggestions)


def test_the_time_of_the_budget_is_kept_to(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = Job(tmp_path).constraints({"model": "l-diversity", "l": 5}).set("budget", seconds=30)
    _, suggestions = refused(job, "a budget of 30 s", message)
    assert "constraints.0.l=4" in suggestions


def test_a_maximum_is_loosened_upward() -> None:
    """As of a plug-in that limits a number: whole, and loosest at infinity."""
    assert _smallest_whole(3, 60, lambda number: number >= 17) == 17
    assert _smallest_whole(16, 60, lambda number: number >= 17) == 17
    assert _smallest_whole(3, 60, lambda number: number > 60) is None
    assert _smallest_whole(60, 60, lambda _: True) is None


def mostly_flu(folder: Path) -> Job:
    """Return a job on 60 visits of 40 patients, 54 of them for the flu, without any suppression."""
    rows = [
        (f"patient {number % 40}", str(20 + number % 30), f"0{number % 9}123", "FM"[number % 2], own, "")
        for number, own in enumerate(["flu"] * 27 + ["stroke"] * 3 + ["flu"] * 27 + ["cancer"] * 3)
    ]
    return Job(folder).rows(rows).set("suppression", limit=0)


SHARES = [
    {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2},
    {"model": "entropy-l-diversity", "l": 2.5},
    {"model": "recursive-cl-diversity", "c": 1, "l": 2},
]


@pytest.mark.quick(3)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local"])
@pytest.mark.parametrize("constraint", SHARES, ids=lambda constraint: constraint["model"])
def test_what_one_class_of_all_persons_refutes_is_proven(
    constraint: dict[str, Any], algorithm: str, tmp_path: Path
) -> None:
    job = mostly_flu(tmp_path).constraints(constraint).set("algorithm", name=algorithm)
    done = job.set("input", person="name").set("budget", seconds=1).run()
    assert (done.code, done.err.split(":")[1]) == (1, " INFEASIBLE"), done.err
    assert "all 60 records as one class violate it" in done.err
    assert "the most frequent value of 'diagnosis' has 92.5 % of the persons" in done.err


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local"])
def test_what_one_class_refutes_is_proven_for_adversaries_who_know_less(
    algorithm: str, tmp_path: Path
) -> None:
    job = mostly_flu(tmp_path).constraints({"model": "k-anonymity", "k": 2})
    job.config["scenarios"] = {"neighbour": {"known": ["age", "sex"], "models": [SHARES[0]]}}
    done = job.set("algorithm", name=algorithm).set("budget", seconds=1).run()
    assert (done.code, done.err.split(":")[1]) == (1, " INFEASIBLE"), done.err


def test_a_model_with_a_moving_reference_hides_no_proof_for_another(tmp_path: Path) -> None:
    job = mostly_flu(tmp_path).constraints(SHARES[0], {"model": "basic-beta-likeness", "beta": 1})
    job.config["reference"] = "release"
    done = job.set("algorithm", name="local").set("suppression", limit=0.1).set("budget", seconds=1).run()
    assert (done.code, done.err.split(":")[1]) == (1, " INFEASIBLE"), done.err


@pytest.mark.quick(3)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local", "anatomy"])
@pytest.mark.parametrize("limit", [0, 0.7])
def test_a_mean_success_below_that_of_the_most_frequent_value_is_proven_impossible(
    algorithm: str, limit: float, tmp_path: Path
) -> None:
    """Without 42 of its records, the most frequent value has 12 of 18; without 43, 11 of 17 are allowed."""
    job = mostly_flu(tmp_path).set("algorithm", name=algorithm).set("budget", seconds=1)
    guess = {"model": "vulnerability", "max": 0.65, "target": "attribute-inference"}
    done = job.constraints(guess).set("suppression", limit=limit).run()
    assert (done.code, done.err.split(":")[1]) == (1, " INFEASIBLE"), done.err


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("constraint", "share"),
    [
        (
            {"model": "vulnerability", "max": 0.5, "target": "attribute-inference", "unit": "person"},
            "92.5 % of the persons",
        ),
        ({"model": "inference-risk", "max": 0.3, "unit": "record"}, "90.0 % of the records"),
    ],
    ids=["vulnerability", "inference-risk"],
)
def test_what_is_not_proven_names_the_share_of_the_most_frequent_value(
    constraint: dict[str, Any], share: str, tmp_path: Path
) -> None:
    job = mostly_flu(tmp_path).constraints(constraint).set("algorithm", name="mondrian")
    done = job.set("input", person="name").set("budget", seconds=1).run("--json")
    assert done.err.startswith("error: UNDECIDED"), done.err
    (reason,) = done.json["diagnosis"]["reasons"]
    assert f"the most frequent value of 'diagnosis' has {share}" in reason
    for each in done.json["diagnosis"]["suggestions"]:
        assert job.run("--set", each).code == 0
