"""The lattice whose nodes are judged by what optimal suppression leaves, beside all nodes one by one."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.classes import released
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Outcome, Status
from anonymizer.search.base import Control
from anonymizer.search.lattice.algorithm import Lattice
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.problems import problem
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.records import RecordsBruteForce, plain
from tests.twins.search import ConstraintSpec, ProblemSpec

SEEDS = st.integers(0, 2**32)
SMALL = 18
"""Records of which every choice is looked at."""


def small_problem(seed: int) -> ProblemSpec:
    """Return a problem without a moving reference and models of the whole table."""
    random = Random(seed)
    spec = strategies.problem(random)
    while len(spec.data.records) > SMALL:
        spec = strategies.problem(random)
    return plain(spec)


def search(spec: ProblemSpec) -> Outcome:
    """Return the answer, after what it publishes was measured again."""
    asked = replace(problem(spec), suppression=SuppressionMethod.RECORDS)
    outcome = Lattice().search(asked, Control())
    if outcome.recoding is not None:
        value = asked.metric.value(released(outcome.recoding, asked.k))
        assert isclose(value, outcome.objective, rel_tol=1e-9, abs_tol=1e-9)
        gone = outcome.recoding.table.counts[outcome.recoding.suppressed].sum()
        assert gone <= asked.limit
    return outcome


@share(3)
@given(seed=SEEDS)
def test_the_best_of_all_nodes_is_found_and_proven(seed: int) -> None:
    spec = small_problem(seed)
    outcome = search(spec)
    valid = RecordsBruteForce(spec).valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    best = min(result.objective for result in valid)
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    assert isclose(outcome.objective, best, rel_tol=1e-9, abs_tol=1e-9)


@share(6)
@given(seed=SEEDS)
def test_records_that_may_stay_with_stars_cost_no_less(seed: int) -> None:
    spec = replace(small_problem(seed), metric="loss", keep_rows=True)
    outcome = search(spec)
    valid = RecordsBruteForce(spec).valid()
    if valid:
        best = min(result.objective for result in valid)
        assert outcome.optimal
        assert isclose(outcome.objective, best, rel_tol=1e-9, abs_tol=1e-9)
        return
    everyone = list(range(len(spec.data.records)))
    kept_suppressed = spec.limit >= len(everyone) and RecordsBruteForce(spec).holds(everyone, everyone)
    assert outcome.status is (Status.SATISFIED if kept_suppressed else Status.INFEASIBLE)


ALPHA = ConstraintSpec("alpha-k-anonymity", {"alpha": 0.5, "k": 2}, "s")


def two_classes(*constraints: ConstraintSpec, limit: int) -> ProblemSpec:
    """Return one class of four alike and one other, and one of two different ones."""
    own = QuasiIdentifierSpec("q", {"A": ("A", "*"), "B": ("B", "*")}, maximum=0)
    records = (*(("A", value) for value in "xxxxy"), *(("B", value) for value in "xy"))
    data = Microdata((own,), (SensitiveSpec("s", {"x": ("x", "*"), "y": ("y", "*")}),), records)
    return ProblemSpec(data, constraints, limit=limit)


def test_a_combination_is_published_in_part() -> None:
    outcome = search(two_classes(ALPHA, limit=3))
    assert outcome.recoding is not None
    assert outcome.recoding.owner is not None
    counts = outcome.recoding.table.counts
    assert counts[~outcome.recoding.suppressed].tolist() == [1, 1, 1, 1]
    assert counts[outcome.recoding.suppressed].tolist() == [3]
    assert search(two_classes(ALPHA, limit=2)).status is Status.INFEASIBLE


def test_a_model_of_the_whole_table_leaves_other_choices_open() -> None:
    whole = ConstraintSpec("vulnerability", {"max": 0.3})
    spec = two_classes(ALPHA, whole, limit=5)
    outcome = search(spec)
    assert outcome.status is Status.UNDECIDED
    assert outcome.bound is not None
    assert Lattice().search(problem(spec), Control()).status is Status.INFEASIBLE
