"""Every known optimum on Adult is what the search finds; no known score of a heuristic is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isclose
from typing import Any

import numpy as np
import pytest

from anonymizer.loss.base import LOSS_METRICS, LossMetric
from anonymizer.model.recoding import Outcome
from anonymizer.search.base import Control
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers import adult
from tests.helpers.problems import metric
from tests.oracles.cases import NOT_OPTIMAL, RECORDS, Case, read
from tests.oracles.metrics import ALL
from tests.oracles.nodes import released
from tests.twins.arrays import CodedColumn, count_node

FILE = "full_domain_optima.tsv"


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    """Make the scores that the product does not offer known by their names."""
    for own in ALL:
        LOSS_METRICS.add(own)
    yield
    for own in ALL:
        LOSS_METRICS.remove(own.name)


def plugged(name: str, **parameters: Any) -> LossMetric:
    found = LOSS_METRICS[name]
    return found(found.Settings.model_validate(parameters))


def geometric_mean(case: Case) -> LossMetric:
    if case.factor == 0.5:
        return metric("loss", "geometric-mean")
    return plugged("oracle-geometric-mean", gs_factor=case.factor)


METRICS: dict[tuple[str, str, str], Callable[[Case], LossMetric]] = {
    ("Loss", "false", "GEOMETRIC_MEAN"): geometric_mean,
    ("NonUniformEntropy", "false", "SUM"): lambda case: metric("nonuniform-entropy"),
    ("NonUniformEntropy", "true", "SUM"): lambda case: plugged("oracle-monotone-entropy"),
    ("Discernability", "true", ""): lambda case: plugged("oracle-monotone-discernibility"),
}
RANK = ("Loss", "false", "RANK")


def search(case: Case, own: LossMetric) -> Outcome:
    return Lattice().search(case.problem(own), Control())


def check_number(case: Case) -> None:
    outcome = search(case, METRICS[case.kind](case))
    assert outcome.optimal
    (score,) = case.score
    if case.best:
        assert isclose(outcome.objective, score, rel_tol=1e-9, abs_tol=1e-9 * len(case.levels))
    else:
        assert outcome.objective <= score * (1 + 1e-9)


def check_vector(case: Case) -> None:
    """No vector comes before the known one."""
    outcome = search(case, ranked(case))
    assert outcome.optimal
    assert outcome.objective == 0


def ranked(case: Case) -> LossMetric:
    return plugged("oracle-rank", gs_factor=case.factor, known=tuple(case.score), weighted=case.weighted)


def check_levels(case: Case) -> None:
    """What is said of the known levels is so, whether or not they are optimal."""
    own, classes = released(case)
    assert own.suppressed == int(case.row["suppressed"])
    assert classes == int(case.row["classes"])
    if case.kind == RANK:
        components = np.sort(ranked(case).components(own))[::-1]
        assert np.allclose(components, case.score, rtol=0, atol=2e-10)
    else:
        assert isclose(METRICS[case.kind](case).value(own), case.score[0], rel_tol=1e-9, abs_tol=1e-9)


CHECKS = {RANK: check_vector, **dict.fromkeys(METRICS, check_number)}
QUICK = (
    "AnonymizationCombinations-3",
    "AnonymizationCombinations-79",
    "AnonymizationGenetic-4",
    "AnonymizationKAnonymity-4",
    "DomainShare-3",
    "UtilityMetricsLoss-11",
    "UtilityMetricsLoss-21",
    "UtilityMetricsLoss-40",
    "UtilityMetricsLoss-51",
    "UtilityMetricsLoss-55",
)
ONE_OF_EACH = (2, 3, 4, 5, 6, 7, 8, 9, 14, 16, 21, 22, 26, 27, 34, 36, 38, 42, 80, 88, 96, 112)
"""One of each score with each set of models, proven or not, with and without suppressed records."""

ALSO_QUICK = (4, 7, 80)
"""Those that ``test_quick_optimum`` has."""


def variety(case: Case) -> object:
    models = {own.partition(":")[0] for own in case.row["models"].split(";")}
    return case.kind, frozenset(models), case.best, case.limit > 0


def test_every_variety_is_searched() -> None:
    cases = read(FILE)
    assert {variety(cases[number]) for number in ONE_OF_EACH} == set(map(variety, cases))
    assert {cases[number].name for number in ALSO_QUICK} <= set(QUICK)


def test_every_case_is_in_scope() -> None:
    cases = read(FILE)
    assert len(cases) == 115
    assert {case.kind for case in cases} == set(CHECKS)


@pytest.mark.slow
def test_scores_at_the_known_levels() -> None:
    for case in read(FILE):
        check_levels(case)


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", QUICK)
def test_quick_optimum(name: str) -> None:
    (case,) = [own for own in read(FILE) if own.name == name]
    CHECKS[case.kind](case)


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted({*ONE_OF_EACH} - {*ALSO_QUICK}))
def test_known_optimum(number: int) -> None:
    case = read(FILE)[number]
    CHECKS[case.kind](case)


@pytest.mark.parametrize("name", NOT_OPTIMAL)
def test_a_better_node_than_the_file_knows(name: str) -> None:
    """The better node is valid by a count that shares no code with the search."""
    (case,) = [own for own in read(FILE) if own.name == name]
    outcome = search(case, METRICS[case.kind](case))
    assert outcome.objective < case.score[0] * 0.8
    columns = []
    for own in case.row["quasi_identifiers"].split(","):
        values, codes = adult.encoded(own)
        columns.append(CodedColumn(codes, values, adult.paths(own)))
    node = count_node(columns, outcome.recoding.levels, np.zeros(RECORDS, dtype=np.int64))
    sizes = node.counts.sum(axis=1)
    assert sizes[sizes < case.k].sum() <= case.limit
