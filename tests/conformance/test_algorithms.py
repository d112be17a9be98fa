"""Every algorithm with each of its options under every privacy model, on random tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isclose
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.model.classes import released
from anonymizer.model.recoding import Outcome, Status
from anonymizer.search.base import SEARCH_ALGORITHMS, SearchAlgorithm
from anonymizer.search.lattice.algorithm import Lattice
from tests.conformance.asked import Asked, about, asked
from tests.conformance.cases import CASES, Case
from tests.conformance.liars import LIARS, Whimsical
from tests.conformance.published import check_rows, contents, publication
from tests.helpers.examples import share
from tests.strategies import PARAMETERS, REFERENCED, SIMPLE

SEEDS = st.integers(0, 2**32)
EVERY = pytest.mark.parametrize("case", CASES, ids=str)
FEW = settings(max_examples=max(settings().max_examples // 30, 3))
"""Of each pair of an algorithm and a model: there are hundreds of them."""

SMALL = 6
"""Maximum number of records of a table whose partitions are all enumerated."""


MISSED = 0.1
"""Largest share of the problems with a release that a heuristic search may leave undecided."""


def test_every_option_of_every_algorithm_is_tried() -> None:
    # The classes of records in groups are not those of their labels: see tests/run/test_anatomy.py.
    of_one_table = {name: each for name, each in SEARCH_ALGORITHMS.items() if not each.in_groups}
    assert {case.algorithm for case in CASES} == set(of_one_table)
    for name, plug_in in of_one_table.items():
        own = [case for case in CASES if case.algorithm == name]
        assert {case.method for case in own} == plug_in.suppressions()
        assert {option for case in own for option in case.options} == set(plug_in.Settings.model_fields)


def check(case: Case, own: Asked, outcome: Outcome) -> None:
    """What an algorithm answers is true of what it publishes."""
    if outcome.recoding is None:
        assert outcome.status in (Status.INFEASIBLE, Status.UNDECIDED)
        assert outcome.objective is None
        return
    assert outcome.status is Status.SATISFIED
    check_rows(own.problem.table, outcome.recoding)
    read = publication(own.spec, outcome.recoding)
    read.check()
    case.family(outcome).labels.check(read)
    result = released(outcome.recoding, own.spec.k)
    sizes = [*result.class_sizes.tolist(), *([result.kept_suppressed] if result.kept_suppressed else [])]
    assert Counter(sizes) == Counter(map(len, read.classes))
    value = own.problem.metric.value(result)
    assert isclose(value, outcome.objective, rel_tol=1e-9, abs_tol=1e-9)
    assert outcome.bound is None or outcome.bound <= outcome.objective
    assert own.spec.keep_rows or not (outcome.recoding.suppressed & ~outcome.recoding.removed).any()


def answers(case: Case, number: int, most: int) -> Iterator[tuple[int, Asked, Outcome]]:
    """Return problems of at most so many records with the answers to them."""
    for seed in range(number):
        random = Random(seed)
        models = combined(random) if random.random() < 0.5 else [random.choice(list(PARAMETERS))]
        own = asked(about(random, case.make(random, most), models, case.metrics), case.method)
        yield seed, own, case.search(own)


def check_share_of_answers(case: Case, number: int) -> None:
    """No release is denied where exhaustive search finds one, and few are missed."""
    found = missed = 0
    for seed, own, outcome in answers(case.for_few(), number, SMALL):
        if outcome.status is Status.SATISFIED:
            found += 1
        elif case.family(outcome).exists(own.spec):
            assert outcome.status is Status.UNDECIDED, f"infeasible at seed {seed}"
            assert not case.exact, f"undecided at seed {seed}"
            missed += 1
    assert found
    assert missed <= MISSED * (found + missed)


def combined(random: Random) -> list[str]:
    """Return the names of two or three models."""
    if random.random() < 0.3:
        return [random.choice(SIMPLE), random.choice(REFERENCED)]
    return [random.choice(list(PARAMETERS)) for _ in range(random.randint(2, 3))]


@pytest.mark.quick(80)
@EVERY
@pytest.mark.parametrize("model", PARAMETERS)
@FEW
@given(seed=SEEDS, most=st.integers(4, 30))
def test_what_is_published_satisfies_the_model(case: Case, model: str, seed: int, most: int) -> None:
    random = Random(seed)
    own = asked(about(random, case.make(random, most), [model], case.metrics), case.method)
    check(case, own, case.search(own))


@EVERY
@share(8)
@given(seed=SEEDS, most=st.integers(4, 30))
def test_what_is_published_satisfies_all_models(case: Case, seed: int, most: int) -> None:
    random = Random(seed)
    own = asked(about(random, case.make(random, most), combined(random), case.metrics), case.method)
    check(case, own, case.search(own))


@pytest.mark.parametrize(
    "case",
    # What is picked is one of the others.
    [pytest.param(each, marks=[pytest.mark.slow] * (each.algorithm == "auto")) for each in CASES],
    ids=str,
)
@share(15)
@given(seed=SEEDS)
def test_the_order_of_the_records_changes_nothing(case: Case, seed: int) -> None:
    random = Random(seed)
    own = asked(about(random, case.make(random, 30), combined(random), case.metrics), case.method)
    one, two = case.search(own), case.search(own.permuted(random, case.method))
    assert (one.status, one.objective, one.bound, one.steps) == (
        two.status,
        two.objective,
        two.bound,
        two.steps,
    )
    if one.recoding is not None and two.recoding is not None:
        assert contents(publication(own.spec, one.recoding)) == contents(publication(own.spec, two.recoding))


@EVERY
def test_what_is_said_of_small_tables_is_what_exhaustive_search_finds(case: Case) -> None:
    check_share_of_answers(case, share(5).max_examples)


@EVERY
@share(8)
@given(seed=SEEDS)
def test_size_and_diversity_are_never_left_open(case: Case, seed: int) -> None:
    random = Random(seed)
    models = random.choice((["k-anonymity"], ["k-anonymity", "l-diversity"]))
    spec = about(random, case.make(random, SMALL), models, case.metrics)
    spec = replace(spec, constraints=tuple(replace(each, combined=False) for each in spec.constraints))
    own = asked(spec, case.method)
    outcome = case.for_few().search(own)
    if outcome.status is not Status.SATISFIED:
        assert not case.family(outcome).exists(own.spec)


@dataclass(frozen=True)
class Lying(Case):
    """The lattice with one promise broken."""

    liar: type[Lattice] = Lattice

    def build(self) -> SearchAlgorithm:
        return self.liar()


def check_often(case: Case) -> None:
    """What is said of many problems, small and larger ones, is true."""
    check_share_of_answers(case, 100)
    for _, own, outcome in answers(case, 400, 30):
        check(case, own, outcome)


@pytest.mark.parametrize("liar", [liar for liar in LIARS if liar is not Whimsical])
def test_a_broken_promise_is_found(liar: type[Lattice]) -> None:
    with pytest.raises(AssertionError):
        check_often(Lying("lattice", CASES[0].families, exact=True, liar=liar))
