"""The bound of local recoding is one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from anonymizer.model.arrays import FloatArray
from anonymizer.model.features import SuppressionMethod
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.local import facilities
from anonymizer.search.local.bound import DualBound, Lagrangian, best_possible
from anonymizer.search.local.facilities import Facilities, Pricing, TooMany
from anonymizer.search.partition.trees import allowed_trees, items_of
from tests.helpers import problems
from tests.search.bound_cases import Case, case
from tests.twins.local_optimum import LocalOptimum
from tests.twins.microdata import Microdata, QuasiIdentifierSpec
from tests.twins.search import ConstraintSpec, ProblemSpec

ROUNDING = 1e-12
"""By how much the twin's own sums may be wrong."""


def dual(problem: SearchProblem) -> DualBound:
    """Return the bound of a problem before any ascent."""
    trees = allowed_trees(problem.table.quasi_identifiers, problem.metric)
    return DualBound(trees, items_of(problem.table, trees), problem.minimum_size)


def ascended(problem: SearchProblem, most: int = 12) -> DualBound:
    """Return the bound of a problem after at most so many rounds; it never falls."""
    bound = dual(problem)
    while not bound.settled and bound.rounds < most:
        before = bound.loss
        bound.improve()
        assert bound.loss >= before
    return bound


def shares(seeds: range) -> list[float]:
    """Check the bounds of some cases; return what share of the optimum each one is."""
    found = []
    for seed in seeds:
        own = case(seed)
        optimum = own.twin.value()
        bound = ascended(own.problem).loss
        assert bound <= optimum + ROUNDING, seed
        if 0 < optimum < math.inf:
            found.append(bound / optimum)
    return found


def test_never_above_the_optimum_of_a_few() -> None:
    assert shares(range(12))


@pytest.mark.slow
def test_never_above_the_optimum_and_mostly_near() -> None:
    found = shares(range(60))
    assert len(found) > 30
    assert np.mean(found) > 0.85


@pytest.mark.slow
def test_never_above_the_optimum_of_many() -> None:
    found = shares(range(1000, 1150))
    assert len(found) > 75
    assert np.mean(found) > 0.85


def lagrangians(twin: LocalOptimum, prices: list[float], k: int) -> tuple[float, float]:
    """Return what prices prove over all publications, and over those that no cheaper wider one replaces."""
    best: dict[tuple[int, ...], float] = {}
    for covered, cost in twin.publications():
        best[covered] = min(cost, best.get(covered, math.inf))
    everything = needed = sum(number * price for number, price in zip(twin.counts, prices, strict=True))
    for covered, cost in best.items():
        worth = sorted((prices[i] - cost for i in covered for _ in range(twin.counts[i])), reverse=True)
        if len(worth) < k:
            continue
        gain = max(0.0, sum(worth[:k]) + sum(max(more, 0.0) for more in worth[k:]))
        everything -= gain
        if not any(set(covered) < set(wider) and best[wider] <= cost for wider in best):
            needed -= gain
    return everything, needed


def item_of_combination(own: Case, bound: DualBound) -> list[int]:
    """Return the item of each combination of the twin."""
    table = own.problem.table
    codes = np.stack([table.quasi_identifier_codes(i) for i in range(len(table.quasi_identifiers))], axis=1)
    numbers = []
    for combination in own.twin.combinations:
        texts = ["<missing>" if value is None else str(value) for value in combination]
        wanted = [
            attribute.column.texts.index(text)
            for attribute, text in zip(table.quasi_identifiers, texts, strict=True)
        ]
        row = np.flatnonzero((codes == wanted).all(axis=1))[0]
        numbers.append(int(bound.items.item_of[row]))
    return numbers


def some_ceilings(random: np.random.Generator, bound: DualBound) -> FloatArray:
    """Return a ceiling for the price of each item, all of them low or some of them high."""
    ceilings: FloatArray = random.uniform(0, random.choice((0.3, 1.0)), bound.items.number)
    return ceilings


def priced(own: Case, bound: DualBound, ceilings: FloatArray) -> Facilities:
    """Return the facilities that may pay below some ceilings."""
    trees = allowed_trees(own.problem.table.quasi_identifiers, own.problem.metric)
    return Pricing(trees, bound.items, own.problem.minimum_size).facilities(ceilings, 10**6)


@pytest.mark.parametrize("seed", range(40))
def test_prices_prove_what_all_publications_together_do(seed: int) -> None:
    own = case(seed)
    bound = dual(own.problem)
    random = np.random.default_rng(seed)
    size, ceilings = own.problem.minimum_size, some_ceilings(random, bound)
    found = priced(own, bound, ceilings)
    item_of = item_of_combination(own, bound)
    for _ in range(3):
        prices = ceilings * random.uniform(-0.2, 1.0, len(ceilings))
        value, _ = Lagrangian(found, bound.items, size).value(prices)
        everything, needed = lagrangians(own.twin, [float(prices[i]) for i in item_of], size)
        assert value <= needed + 1e-9
        if np.isinf(found.rest).all():
            assert value >= everything - 1e-9


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", [8, 130, 234, 236, 246])
def test_an_item_that_is_not_listed_may_fill_a_facility_up(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prices of listed items have fallen below its own; short lists make that frequent."""
    monkeypatch.setattr(facilities, "FILL", 1)
    own = case(seed)
    bound = dual(own.problem)
    random = np.random.default_rng(seed)
    size, ceilings = own.problem.minimum_size, some_ceilings(random, bound)
    found = priced(own, bound, ceilings)
    function, item_of = Lagrangian(found, bound.items, size), item_of_combination(own, bound)
    for _ in range(40):
        fallen = random.random(len(ceilings)) < 0.5
        prices = np.where(fallen, ceilings * random.uniform(-0.2, 1.0, len(ceilings)), ceilings)
        _, needed = lagrangians(own.twin, [float(prices[i]) for i in item_of], size)
        assert function.value(prices)[0] <= needed + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_the_slope_leads_up_no_faster_than_the_bound(seed: int) -> None:
    own = case(seed)
    bound = dual(own.problem)
    random = np.random.default_rng(seed)
    ceilings = np.ones(bound.items.number)
    found = priced(own, bound, ceilings)
    if not np.isinf(found.rest).all():
        return
    function = Lagrangian(found, bound.items, own.problem.minimum_size)
    first, second = random.uniform(-0.1, 1.0, (2, len(ceilings)))
    value, slope = function.value(first)
    assert function.value(second)[0] <= value + slope @ (second - first) + 1e-9


def test_too_many_pairs_are_refused() -> None:
    own = case(3)
    bound = dual(own.problem)
    trees = allowed_trees(own.problem.table.quasi_identifiers, own.problem.metric)
    with pytest.raises(TooMany):
        Pricing(trees, bound.items, 1).facilities(np.ones(bound.items.number), 1)


def test_a_round_that_is_stopped_changes_nothing() -> None:
    bound = dual(case(5).problem)
    before = bound.prices.copy()
    bound.improve(lambda: True)
    assert (bound.loss, bound.rounds) == (0.0, 0)
    assert np.array_equal(bound.prices, before)


def test_the_same_rounds_prove_the_same() -> None:
    problem = case(8).problem
    first, second = ascended(problem), ascended(problem)
    assert first.loss == second.loss
    assert np.array_equal(first.prices, second.prices)


def test_best_possible_is_below_the_best_of_the_lattice() -> None:
    checked = 0
    for seed in range(30):
        problem = case(seed).problem
        found = Lattice().search(problem, Control())
        possible = best_possible(problem)
        assert possible is not None
        if found.objective is not None:
            checked += 1
            assert possible <= found.objective + ROUNDING
    assert checked > 10


def test_an_adversary_who_knows_less_allows_classes_of_one_person() -> None:
    """Nothing has to be generalized where the adversary knows only a column in which all are alike."""
    own = tuple(QuasiIdentifierSpec(name, {"a": ("a", "*"), "b": ("b", "*")}, maximum=1) for name in "qr")
    data = Microdata(own, (), (("a", "a"), ("a", "b")), persons=(0, 1))
    known = ConstraintSpec("k-anonymity", {"k": 2}, unit="person", knowledge=(frozenset({0}),))
    asked = problems.problem(ProblemSpec(data, (known,)))
    assert Lattice().search(asked, Control()).objective == 0
    assert not best_possible(asked)


def test_a_budget_of_the_search_limits_the_work_and_not_the_truth() -> None:
    weaker = 0
    for seed in range(30):
        problem = case(seed).problem
        whole = best_possible(problem)
        hurried = best_possible(problem, seconds=0.00002)
        assert whole is not None
        assert hurried is None or hurried <= whole
        assert hurried == best_possible(problem, seconds=0.00002)
        assert best_possible(problem, seconds=300) == whole
        weaker += hurried != whole
    assert weaker


def test_no_bound_for_metrics_that_are_no_mean_of_cells() -> None:
    problem = case(0).problem
    for metric in (problems.metric("discernibility"), problems.metric("loss", "geometric-mean")):
        assert best_possible(replace(problem, metric=metric)) is None


def test_no_bound_where_a_blank_is_more_than_the_highest_level_allows() -> None:
    known = []
    for seed in range(20):
        problem = replace(case(seed).problem, suppression=SuppressionMethod.CELLS)
        possible = best_possible(problem)
        free = all(own.maximum == own.hierarchy.height for own in problem.table.quasi_identifiers)
        assert (possible is not None) == free
        known.append(free)
    assert any(known)
    assert not all(known)
