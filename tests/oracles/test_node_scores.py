"""The known scores of single nodes of Adult's lattice."""

from __future__ import annotations

from collections.abc import Callable
from math import isclose

import numpy as np
import pytest

from anonymizer.loss.base import LossMetric
from tests.helpers.problems import metric
from tests.oracles.cases import Case, read
from tests.oracles.metrics import (
    AverageClassSizeOverAll,
    MonotoneDiscernibility,
    MonotonePrecision,
    RankedLoss,
)
from tests.oracles.nodes import released

FILE = "node_scores.tsv"
ROWS = 363
METRICS: dict[tuple[str, str], Callable[[], LossMetric]] = {
    ("AECS", "false"): AverageClassSizeOverAll,
    ("Discernability", "false"): lambda: metric("discernibility"),
    ("Discernability", "true"): MonotoneDiscernibility,
    ("Height", "false"): lambda: metric("height"),
    ("NonUniformEntropy", "false"): lambda: metric("nonuniform-entropy"),
    ("Precision", "false"): lambda: metric("precision"),
    ("Precision", "true"): MonotonePrecision,
}


def check(case: Case) -> None:
    own, classes = released(case)
    assert own.suppressed == int(case.row["suppressed"])
    assert classes == int(case.row["classes"])
    if case.row["aggregate"] == "RANK":
        assert case.factor == 0.5
        components = np.sort(RankedLoss().components(own))[::-1]
        assert np.allclose(components, case.score, rtol=0, atol=1.01e-10)
        assert isclose(metric("loss", "maximum").value(own), case.score[0], abs_tol=1.01e-10)
        return
    value = METRICS[case.row["metric"], case.row["monotonic"]]().value(own)
    assert isclose(value, case.score[0], rel_tol=1e-9)


def test_a_tenth_of_the_nodes() -> None:
    cases = read(FILE)
    assert len(cases) == ROWS
    for case in cases[::10]:
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10))
def test_known_score(start: int) -> None:
    for case in read(FILE)[start::10]:
        check(case)
