"""Runs that processor time ends: every algorithm ends with its best, and so many steps give it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.job.diagnose import Diagnosis, explanation
from anonymizer.model.recoding import Outcome, Status
from anonymizer.search.auto import FEW_SECONDS
from anonymizer.search.base import SEARCH_ALGORITHMS
from tests.helpers.covering import covering
from tests.run.commands import Job, people, read_rows

RECORDS = 3000
CONSTRAINTS: dict[str, list[dict[str, Any]]] = {
    "k": [{"model": "k-anonymity", "k": 5}],
    "k, l, t": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "l": 3},
        {"model": "t-closeness", "t": 0.3},
    ],
    "k, attacked": [{"model": "k-anonymity", "k": 5}, {"model": "linkage-risk", "max": 0.1}],
}


def job_of(folder: Path, algorithm: str, constraints: str, **budget: float) -> Job:
    """Return a job of 3,000 records."""
    job = Job(folder).rows(people(RECORDS)).set("algorithm", name=algorithm).set("budget", **budget)
    if algorithm == "anatomy":
        job.config["suppression"] = {"limit": 0}
        return job.constraints({"model": "l-diversity", "l": 3})
    if algorithm == "microaggregation":
        job.attribute("age", role="quasi-identifier", type="number")
        job.attribute("zip", role="quasi-identifier", type="number")
        job.attribute("sex", role="insensitive")
    return job.constraints(*CONSTRAINTS[constraints])


def contents(job: Job) -> dict[str, bytes]:
    """Return the released files."""
    return {path.name: path.read_bytes() for path in sorted(job.release.parent.glob("release.*"))}


@pytest.mark.parametrize(
    ("algorithm", "constraints", "seconds"),
    [
        *((name, "k", 0.01) for name in SEARCH_ALGORITHMS),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in covering([list(SEARCH_ALGORITHMS), list(CONSTRAINTS), (0.01, 0.1, 1.0)])
            if case[1:] != ("k", 0.01) and not (case[0] == "anatomy" and case[1] != "k")
        ),
    ],
)
def test_starved_of_time_every_algorithm_ends_with_its_best(
    algorithm: str, constraints: str, seconds: float, tmp_path: Path
) -> None:
    job = job_of(tmp_path, algorithm, constraints, cpu_seconds=seconds)
    done = job.run()
    if done.code != 0:
        assert done.code == 1
        assert done.err.startswith("error: UNDECIDED: "), done.err
        assert not contents(job)
        return
    report, released = job.report(), contents(job)
    assert report["release"]["verified"] is True
    assert report["config"]["budget"]["cpu_seconds"] == seconds
    assert released
    if constraints == "k, attacked" and algorithm in ("local", "microaggregation"):
        # Beside local, Mondrian and the lattice ran in a part of the time, by steps that are not its own; the
        # time of microaggregation may end between an attack and the answer to it, where no step does.
        return
    # `auto` chooses another algorithm where there is more time.
    time = {"cpu_seconds": FEW_SECONDS * 0.99} if algorithm == "auto" else {}
    job.config["budget"] = {"steps": report["search"]["steps"], **time}
    assert job.run("--overwrite").code == 0
    assert contents(job) == released


def test_either_of_two_limits_ends_a_run(tmp_path: Path) -> None:
    """One that is over at once beside one that never is; without either, the best is proven."""
    steps = []
    for number, budget in enumerate(
        ({"seconds": 1e6}, {"seconds": 1e6, "cpu_seconds": 1e-6}, {"seconds": 1e-6, "cpu_seconds": 1e6})
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = job_of(folder, "lattice", "k", **budget)
        assert job.run().code == 0
        search = job.report()["search"]
        steps.append(search["steps"])
        assert search["optimal"] is (number == 0)
        assert len(read_rows(job.release)) > 0.8 * RECORDS
    assert steps[1] == steps[2] < steps[0]


@pytest.mark.parametrize(
    ("budget", "named"),
    [
        ({"cpu_seconds": 1.0}, "raise budget.cpu_seconds"),
        (
            {"seconds": 1.0, "cpu_seconds": 1.0, "nodes": 4},
            "budget.seconds, budget.cpu_seconds or budget.nodes",
        ),
        ({}, "raise the budget"),
    ],
)
def test_the_limits_that_are_set_are_named_where_none_was_found(budget: dict[str, float], named: str) -> None:
    ended = Outcome(Status.UNDECIDED, None, None, None, 9, 3, (), 1.0)
    said = explanation(ended, Diagnosis(complete=False), budget, None)
    assert said.splitlines()[0].endswith(named)


@pytest.mark.page
def test_the_page_says_how_to_repeat_a_run_that_processor_time_ended(tmp_path: Path) -> None:
    job = job_of(tmp_path, "lattice", "k", cpu_seconds=1e-6)
    assert job.run().code == 0
    page = (job.output / "report.html").read_text(encoding="utf-8")
    assert f"--set budget.steps={job.report()['search']['steps']}" in page
