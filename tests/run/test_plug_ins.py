"""A run with plug-ins: each promise is judged, and a search is not trusted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.model.recoding import FullDomainRecoding, Outcome, Status
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm, SearchProblem
from tests.helpers.stubs import AlwaysFails, AlwaysHolds
from tests.run.commands import Job, call, snapshot


class Liar(SearchAlgorithm):
    """Publishes everything as it is, and calls that a proven optimum."""

    name = "liar"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        table = problem.table
        nothing = np.zeros(table.combinations, dtype=bool)
        levels = [0] * len(table.quasi_identifiers)
        recoding = FullDomainRecoding(table, levels, nothing, nothing)
        return Outcome(Status.SATISFIED, recoding, 0.0, 0.0, 1, 1)


@pytest.fixture
def plug_ins() -> Iterator[None]:
    """The stubs, known by their names."""
    PRIVACY_MODELS.add(AlwaysHolds)
    PRIVACY_MODELS.add(AlwaysFails)
    SEARCH_ALGORITHMS.add(Liar)
    yield
    PRIVACY_MODELS.remove("always-holds")
    PRIVACY_MODELS.remove("always-fails")
    SEARCH_ALGORITHMS.remove("liar")


@pytest.mark.usefixtures("plug_ins")
def test_a_model_that_always_holds_changes_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    release = job.release.read_bytes()
    job.constraints(*job.config["constraints"], {"model": "always-holds"})
    done = job.run("--overwrite", "--json")
    assert done.code == 0
    assert job.release.read_bytes() == release
    assert done.json["constraints"][-1]["model"] == "always-holds"
    assert done.json["constraints"][-1]["measured"] == 1
    assert call("audit", job.release).code == 0


@pytest.mark.usefixtures("plug_ins")
def test_a_model_that_always_fails_makes_every_run_infeasible(tmp_path: Path) -> None:
    job = Job(tmp_path).set("suppression", limit=1).constraints({"model": "always-fails"}).write()
    before = snapshot(tmp_path)
    done = call("run", job.file)
    assert (done.code, done.out) == (1, "")
    assert "always-fails cannot be satisfied even alone" in done.err
    assert "works:" not in done.err
    assert snapshot(tmp_path) == before
    assert call("check", job.input, "-c", job.file).code == 1


@pytest.mark.quick(1)
@pytest.mark.usefixtures("plug_ins")
@pytest.mark.parametrize(
    "constraint",
    [
        {"model": "k-anonymity", "k": 2},
        {"model": "l-diversity", "l": 2},
        {"model": "vulnerability", "max": 0.5},
    ],
    ids=lambda constraint: constraint["model"],
)
def test_a_search_that_lies_is_found_out(constraint: dict[str, Any], tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    before = snapshot(job.output)
    job.set("algorithm", name="liar").constraints(constraint)
    done = job.run("--overwrite")
    assert (done.code, done.out) == (1, "")
    assert constraint["model"] in done.err
    assert "violates" in done.err
    assert snapshot(job.output) == before
    done = job.run("-o", tmp_path / "new")
    assert done.code == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("plug_ins")
def test_a_search_that_happens_to_be_right_is_believed(tmp_path: Path) -> None:
    job = Job(tmp_path).set("algorithm", name="liar").constraints({"model": "always-holds"})
    assert job.run().code == 0


def test_the_config_does_not_know_the_stubs_otherwise(tmp_path: Path) -> None:
    done = Job(tmp_path).set("algorithm", name="liar").run()
    assert done.code == 2
    assert "'liar'" in done.err
