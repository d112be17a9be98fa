"""Linkage after a run: the scene of the written release, with the truth that the run knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.adversary.candidate import adversary_of
from anonymizer.adversary.files import adversary_from_files
from anonymizer.adversary.release import view_of_run
from anonymizer.attacks.base import ATTACKS
from anonymizer.config.load import load_config
from anonymizer.errors import InputError
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.search import search
from anonymizer.job.source import open_as, open_release
from anonymizer.job.table import prepare
from anonymizer.model.adversary import Truth
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.plan.plan import plan_of
from anonymizer.release.query import project
from tests.helpers.linkage import linkage, write

ALGORITHMS: tuple[dict[str, Any], ...] = (
    {"name": "lattice"},
    {"name": "mondrian", "labels": "interval"},
    {"name": "mondrian", "labels": "set", "mode": "relaxed"},
    {"name": "local"},
    {"name": "microaggregation", "k": 3},
)


def run(folder: Path, algorithm: dict[str, Any]):
    """Return the scenes of a run: from the run and from its files; and the job with its recoding."""
    random = np.random.default_rng(1)
    people = zip(
        random.integers(20, 60, 80), random.integers(0, 5, 80), random.integers(0, 3, 80), strict=True
    )
    rows = [(str(age), f"10{zip_code}", "abc"[secret]) for age, zip_code, secret in people]
    original = write(folder / "original.csv", ["age", "zip", "illness"], rows)
    numbers = {"type": "integer", "hierarchy": {"intervals": {"width": [5, 20]}}}
    if algorithm["name"] == "microaggregation":
        numbers = {"type": "integer"}
    config = load_config(
        {
            "input": {"path": str(original)},
            "attributes": {
                "age": {"role": "quasi-identifier", **numbers},
                "zip": {"role": "quasi-identifier", "type": "integer"},
                "illness": {"role": "sensitive"},
            },
            "constraints": [{"model": "k-anonymity", "k": 3}],
            "suppression": {"limit": 0 if algorithm["name"] == "microaggregation" else 0.05},
            "algorithm": algorithm,
            "budget": {"steps": 200},
        }
    )
    with open_as(config, original) as relation:
        plan = plan_of(config)
        job = prepare(plan, relation)
        recoding = search(job, UNWATCHED).recoding
        assert recoding is not None
        projection = project(relation, job.rows(recoding), recoding, relation.columns)
        relation.records_query(projection).copy(folder / "release.csv", ",")
        with open_release(folder / "release.csv") as release:
            known = view_of_run(job, recoding, release)
            return known, adversary_from_files(plan, release, relation), job, recoding


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_a_run_knows_the_truth(tmp_path, algorithm):
    known, files, job, recoding = run(tmp_path, algorithm)
    found = linkage(known)
    assert found.details["truth"] == "known"
    assert found.details["without_original"] == 0
    assert 1 / 80 < found.success <= 1 / 3
    assert found.success == pytest.approx(linkage(adversary_of(job.problem.table, recoding)).success)
    assert known.original.links.records == known.release.records
    if algorithm["name"] != "microaggregation":
        told = linkage(files)
        assert told.details["truth"] == "reconstructed"
        assert told.details["without_original"] == 0
        if algorithm["name"] == "lattice":
            assert told.success == found.success


@pytest.mark.slow
def test_means_are_linked_by_distance(tmp_path):
    known, files, _, _ = run(tmp_path, ALGORITHMS[-1])
    assert files.original.truth is not Truth.KNOWN
    learned = linkage(known, linkage="learned", distance="owa")
    assert learned.success >= linkage(known).success
    assert learned.success <= 1 / 3


def test_another_release_is_not_of_the_run(tmp_path):
    _, _, job, recoding = run(tmp_path, ALGORITHMS[0])
    table = job.problem.table
    none = np.zeros(table.combinations, dtype=bool)
    other = FullDomainRecoding(table, [0, 1], none, none)
    from anonymizer.adversary.candidate import known_original, published_table

    with pytest.raises(InputError, match="not what the recoding publishes"):
        known_original("x", table, recoding, published_table("y", other))


def test_it_is_registered():
    assert "linkage" in ATTACKS
