"""What no recoding along the hierarchies can do better, beside the result of each algorithm."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.model.recoding import TELLING
from anonymizer.report.wording import floored
from tests.run.commands import ROOT, Job, call

RUN = ("run", ROOT / "examples" / "full_domain.yaml", "--set", "attacks=[]", "--set", "utility=[]", "--json")
"""A run of the sample of which only the search is looked at."""


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["lattice", "mondrian", "local"])
def test_it_is_below_every_release_along_the_hierarchies(name: str, tmp_path: Path) -> None:
    job = Job(tmp_path).set("algorithm", name=name)
    done = job.run()
    assert done.code == 0, done.err
    search = job.report()["search"]
    assert 0 <= search["best_possible"] <= search["objective"]
    if search["best_possible"] != search["bound"]:
        least = floored(search["best_possible"])
        between = f"the best possible is between {least} and {search['objective']:.4g}"
        any_other = f"; other recodings with these hierarchies lose at least {least}"
        told = (between if search["bound"] is None else any_other) in done.out
        assert told == (search["best_possible"] > TELLING * search["objective"])


@pytest.mark.page
def test_a_proof_says_of_what_the_release_is_best(tmp_path: Path) -> None:
    """A local recoding of the same records may lose much less."""
    job = Job(tmp_path).set("algorithm", name="lattice")
    done = job.run()
    assert done.code == 0, done.err
    search = job.report()["search"]
    assert search["optimal"]
    best = f"{search['candidates']:,} full-domain recodings with these hierarchies"
    assert f", proven best of {best}" in done.out
    page = (job.output / "report.html").read_text(encoding="utf-8")
    assert f"; of {best}, none loses less (proven)." in page
    assert "proven best full-domain recoding" in page


def test_none_is_computed_where_none_is_asked_for(tmp_path: Path) -> None:
    job = Job(tmp_path).set("algorithm", name="mondrian")
    assert job.run("--set", "bound=none").code == 0
    assert job.report()["search"]["best_possible"] is None


@pytest.mark.slow
def test_what_nobody_is_shown_beside_a_proof_is_not_computed(tmp_path: Path) -> None:
    """The first prices of the sample promise 0.005 of a loss of 0.365, and the lattice has proven its own.

    A quick bound is that of a small budget, whatever the budget of the search; the sample needs more.
    """
    cut = call(*RUN, "--set", "algorithm={name: mondrian}", "-o", tmp_path / "cut").json["search"]
    found = call(*RUN, "-o", tmp_path / "quick").json["search"]
    assert found["optimal"]
    assert found["best_possible"] is None
    again = call(*RUN, "--set", "bound=full", "-o", tmp_path / "full").json["search"]
    assert again["objective"] == found["objective"] > again["best_possible"]
    assert again["best_possible"] > TELLING * again["objective"]
    assert 0 < cut["best_possible"] < 0.2 * again["best_possible"]


def test_local_recoding_proves_it_by_its_own_bound(tmp_path: Path) -> None:
    job = Job(tmp_path).set("algorithm", name="local")
    job.run()
    search = job.report()["search"]
    assert search["best_possible"] == search["bound"] is not None


def test_other_published_values_are_not_compared_with_it(tmp_path: Path) -> None:
    job = Job(tmp_path).set("algorithm", name="mondrian", labels="interval")
    assert job.run().code == 0
    assert job.report()["search"]["best_possible"] is None


def test_metrics_that_are_no_sums_of_cells_have_none(tmp_path: Path) -> None:
    job = Job(tmp_path).set("objective", metric="discernibility")
    assert job.run().code == 0
    assert job.report()["search"]["best_possible"] is None
