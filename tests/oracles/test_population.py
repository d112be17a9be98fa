"""Every known optimum of a sample of Adult, judged by all of Adult, is what a run's search finds."""

from __future__ import annotations

import csv
import gzip
from dataclasses import replace
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from anonymizer.config.load import load_config
from anonymizer.data.open import open_file
from anonymizer.job.table import prepare
from anonymizer.loss.base import LossMetric
from anonymizer.model.classes import released
from anonymizer.plan.plan import plan_of
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers.problems import metric
from tests.oracles.metrics import AverageClassSizeOverAll, MonotoneEntropy
from tests.shared import shared

METRICS: dict[tuple[str, str], Any] = {
    ("NonUniformEntropy", "false"): lambda: metric("nonuniform-entropy"),
    ("NonUniformEntropy", "true"): MonotoneEntropy,
    ("AECS", "false"): AverageClassSizeOverAll,
}


@cache
def rows() -> list[dict[str, str]]:
    with shared("oracles", "population_optima.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def problem_of(row: dict[str, str], folder: Path) -> SearchProblem:
    """Return the case as a run prepares it."""
    for own, name in (("research_subset", "sample"), ("data", "population")):
        text = gzip.decompress(shared("data", "adult", f"{own}.csv.gz").read_bytes())
        (folder / f"{name}.csv").write_bytes(text)
    model, _, given = row["model"].partition(":")
    names = row["quasi_identifiers"].split(",")
    attributes: dict[str, Any] = {"occupation": {"role": "drop"}}
    for name in names:
        path = str(shared("data", "adult", "hierarchies", f"{name}.csv"))
        attributes[name] = {"role": "quasi-identifier", "hierarchy": {"file": path}}
    config = {
        "input": {
            "path": str(folder / "sample.csv"),
            "population": str(folder / "population.csv"),
        },
        "attributes": attributes,
        "constraints": [
            {
                "model": model,
                **{key: float(value) for key, value in (pair.split("=") for pair in given.split(","))},
            }
        ],
        "suppression": {"limit": float(row["suppression_limit"])},
    }
    if model == "k-map":
        config["constraints"][0]["k"] = int(config["constraints"][0]["k"])  # type: ignore[index]
    with open_file(folder / "sample.csv") as relation:
        prepared = prepare(plan_of(load_config(config)), relation)
        own: LossMetric = METRICS[row["metric"], row["monotonic"]]()
        return replace(prepared.problem, metric=own)


QUICK = (6, 12)
CASES = [
    *QUICK,
    # Each model with each metric, and each of both with and without suppressed records.
    *(pytest.param(number, marks=pytest.mark.slow) for number in (4, 5, 10, 11)),
]


@pytest.mark.parametrize("number", CASES)
def test_known_optimum(number: int, tmp_path: Path) -> None:
    row = rows()[number]
    problem = problem_of(row, tmp_path)
    # The sample's attributes in the order of its file, the known levels in that of the case.
    order = [row["quasi_identifiers"].split(",").index(own.name) for own in problem.table.quasi_identifiers]
    outcome = Lattice().search(problem, Control())
    assert outcome.optimal
    assert isclose(outcome.objective, float(row["score"]), rel_tol=1e-9)
    if problem.metric.name != AverageClassSizeOverAll.name:
        known = [int(level) for level in row["levels"].split(",")]
        assert outcome.recoding is not None
        assert list(outcome.recoding.levels or ()) == [known[place] for place in order]
        own = released(outcome.recoding, None)
        assert own.suppressed == int(row["suppressed"])


def test_every_kind_of_case_is_in_scope() -> None:
    kinds = [
        (
            row["model"].partition(":")[0],
            (row["metric"], row["monotonic"]),
            float(row["suppression_limit"]) > 0,
        )
        for row in rows()
    ]
    numbers = [case if isinstance(case, int) else case.values[0] for case in CASES]
    for left_out in range(3):
        found = [(*kind[:left_out], *kind[left_out + 1 :]) for kind in kinds]
        assert {found[number] for number in numbers} == set(found)
