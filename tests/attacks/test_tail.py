"""The most exposed: by hand, against sorting in random orders of ties, and without a look at the truth."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.attacks.base import ATTACKS, TAILS, AttackResult, clopper_pearson
from anonymizer.attacks.linkage.assignment import assigned
from anonymizer.attacks.linkage.distances import ComparisonSpace, Euclidean, comparison_space
from anonymizer.attacks.linkage.linkers import nearest
from anonymizer.attacks.linkage.sinkhorn import expected_links
from anonymizer.attacks.links import links_of_pairs
from anonymizer.attacks.tail import (
    Ranking,
    composed,
    exposing,
    exposing_certain,
    number_of,
    rounded_digits,
)
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray
from tests.attacks.published import FEWER, one, release, run
from tests.attacks.scenes import scene
from tests.helpers.linkage import frame_scene, linkage

EVERYBODY = "1"
"""A share that tests ask for beside those of reports: all targets."""

Kinds = list[tuple[int, int, int, int]]
"""Confidence, targets, hits and among of each kind."""

KINDS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3), st.integers(3, 5)),
    min_size=1,
    max_size=6,
)


def ranking(kinds: Kinds) -> Ranking:
    confidence, counts, hits, among = (np.array(own) for own in zip(*kinds, strict=True))
    return Ranking(confidence.astype(np.float64), counts, hits, among)


def by_sorting(kinds: Kinds, number: int, orders: int, random: Random) -> float:
    """Return the mean number of right guesses about the first ones, over random orders of ties."""
    people = [(sure, Fraction(hits, among)) for sure, count, hits, among in kinds for _ in range(count)]
    total = Fraction(0)
    for _ in range(orders):
        random.shuffle(people)
        total += sum(chance for _, chance in sorted(people, key=lambda own: -own[0])[:number])
    return float(total / orders)


@FEWER
@given(KINDS, st.integers(1, 24), st.integers(0, 99))
def test_the_surest_are_those_of_sorted_lists_in_random_orders(kinds: Kinds, number: int, seed: int) -> None:
    own = ranking(kinds)
    number = min(number, own.targets)
    found = own.right(number)
    assert isinstance(found, Fraction)
    orders = 400
    assert float(found) == pytest.approx(by_sorting(kinds, number, orders, Random(seed)), abs=0.35)
    levels = sorted({kind[0] for kind in kinds}, reverse=True)
    sizes = [sum(kind[1] for kind in kinds if kind[0] >= level) for level in levels]
    if number in sizes:
        assert float(found) == pytest.approx(by_sorting(kinds, number, 1, Random(seed)))
    chance = own.taken(number) @ (own.chances * own.counts)
    assert chance == pytest.approx(float(found))


@FEWER
@given(KINDS)
def test_all_targets_are_the_whole(kinds: Kinds) -> None:
    own = ranking(kinds)
    mean = sum(Fraction(hits * count, among) for _, count, hits, among in kinds) / own.targets
    assert own.success(Fraction(1)) == mean


@FEWER
@given(KINDS)
def test_ties_are_exact_whatever_the_order_of_kinds(kinds: Kinds) -> None:
    for share in TAILS.values():
        assert ranking(kinds).success(share) == ranking(kinds[::-1]).success(share)


def test_a_share_is_at_least_one_target() -> None:
    assert [number_of(share, 30) for share in TAILS.values()] == [1, 2, 3]
    assert [number_of(share, 1) for share in TAILS.values()] == [1, 1, 1]
    assert number_of(Fraction(1, 100), 30_000) == 300


def test_confidences_that_differ_by_rounding_are_equal() -> None:
    assert len(set(rounded_digits(np.array([0.1 + 0.2, 0.3, 0.0, -1 / 3, -np.inf])).tolist())) == 4
    own = Ranking.of(np.array([0.1 + 0.2, 0.3]), np.array([1.0, 0.0]))
    assert own.right(1) == 0.5


def test_half_of_a_tie_counts_half() -> None:
    """Two of three equally sure guesses are right, and one of them is among the surest."""
    own = Ranking(np.array([0.9, 0.5]), np.array([1, 3]), np.array([0, 2]), np.array([1, 3]))
    assert own.right(1) == 0
    assert own.right(2) == Fraction(2, 3)
    assert own.right(4) == 2


def test_whom_the_adversary_knows_to_find_comes_first() -> None:
    """3 of 100 records are certain: a tenth, 10 records, has them all."""
    found = exposing_certain(AttackResult("homogeneity", {}, Fraction(3, 100), Fraction(0), 0.03, 0.03, 100))
    assert [own.success for own in found.tail.values()] == [1, Fraction(3, 5), Fraction(3, 10)]


def test_what_chance_has_a_part_in_has_an_interval_but_counts_against_a_limit_as_it_was_counted() -> None:
    counted = AttackResult("linkage", {}, 0.1, Fraction(1, 100), 0.1, 0.1, 100)
    lucky = Ranking.of(np.arange(100.0), np.where(np.arange(100) >= 90, 1.0, 0.0))
    best = exposing(counted, lucky).tail["0.1"]
    assert (best.success, best.ends) == (1.0, (1.0, 1.0))
    assert (best.low, best.high) == clopper_pearson(10, 10)
    promised = Ranking.promised(np.full(100, 0.1), np.ones(100, dtype=np.int64))
    best = exposing(counted, promised).tail["0.1"]
    assert best.low == best.high == pytest.approx(0.1)
    sampled = replace(counted, low=0.05, high=0.2)
    best = exposing(sampled, promised).tail["0.1"]
    assert best.ends == (best.low, best.high) == pytest.approx(clopper_pearson(1, 10))


def test_attackers_are_chosen_by_the_surest_of_other_folds() -> None:
    """One attacker finds its surest, the other does not; which one, each fold learns from the others."""
    number = 200
    right = np.tile([1.0, 0.0, 0.0, 0.0], number // 4)
    good, bad = Ranking.of(right, right), Ranking.of(-right, right)
    fold = np.arange(number) // 4 % 5
    for attackers in ((good, bad), (bad, good)):
        assert composed(attackers, fold, Fraction(1, 10)).success(Fraction(1, 10)) == 1
    # No look at the own fold: what one attacker finds in a single fold alone, nobody chooses it for.
    lucky = np.where(fold == 0, right, 0.0)
    some = composed([Ranking.of(np.zeros(number), right), Ranking.of(lucky, lucky)], fold, Fraction(1, 10))
    assert some.success(Fraction(1, 10)) == pytest.approx(0.25)


PLACES = (*[("p", "flu")] * 3, ("p", "cold"), *[("q", "cold")] * 2, ("r", "cold"), ("r", "flu"))


def test_vulnerability_by_hand() -> None:
    """Classes of 4, 2 and 2; a tenth of 8 records is one, which is found in a small class with 1/2."""
    found, values = run("vulnerability", release(("place", "illness"), PLACES, ("illness",)))
    assert [own.success for own in found.tail.values()] == [Fraction(1, 2)] * 3
    assert found.ceiling == float(found.success) == 3 / 8
    # Of q both records are colds; of p three of four are flu, of r one of two is each.
    assert [own.success for own in values.tail.values()] == [1, 1, 1]
    assert [own.baseline for own in values.tail.values()] == [Fraction(1, 2)] * 3


def test_vulnerability_of_a_fifth_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The surest 5 of 8: the four of the small classes and one of p; by value both of q and three of p."""
    monkeypatch.setitem(TAILS, "0.6", Fraction(3, 5))
    found, values = run("vulnerability", release(("place", "illness"), PLACES, ("illness",)))
    assert found.tail["0.6"].success == Fraction(9, 20)
    assert values.tail["0.6"].success == (2 + Fraction(3, 4) * 3) / 5


ROWS = [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b"), ("5", "a")]
BECAME = [("[1,2]", "a"), ("[1,2]", "a"), ("[3,5]", "b"), ("[3,5]", "b"), ("[3,5]", "a")]


def linked() -> AdversaryView:
    numbers = [(int(age), value) for age, value in ROWS]
    trees = {"age": {own: (f"{own}", "[1,2]" if own < 3 else "[3,5]", "*") for own in range(1, 6)}}
    return scene(("age", "illness"), numbers, BECAME, ("illness",), trees)


def test_linkage_by_hand() -> None:
    found = one("linkage", linked())
    assert found.success == pytest.approx(2 / 5)
    assert found.ceiling == pytest.approx(2 / 5)
    for own in found.tail.values():
        assert own.success == own.low == own.high == pytest.approx(1 / 2)
        assert own.baseline == Fraction(1, 5)


METHODS: list[dict[str, Any]] = [
    {},
    {"linkage": "nearest", "distance": "mahalanobis"},
    {"linkage": "assignment"},
    {"linkage": "sinkhorn", "distance": "likelihood"},
    {"linkage": "probabilistic"},
    {"linkage": "classifier"},
]


def masked(records: int, seed: int = 4) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(seed)
    common = random.normal(0, 5, records)
    original = pd.DataFrame({name: (common + random.normal(0, 5, records)).round(2) for name in "abc"})
    return original, (original + random.normal(0, 2, original.shape)).round(2)


@pytest.mark.parametrize("parameters", METHODS, ids=lambda own: "-".join(map(str, own.values())) or "nearest")
def test_all_targets_of_a_linkage_are_its_success(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TAILS, EVERYBODY, Fraction(1))
    found = linkage(frame_scene(*masked(60)), aligned=True, **parameters)
    assert float(found.tail[EVERYBODY].success) == pytest.approx(float(found.success))
    assert found.tail["0.1"].success > found.success


def test_the_tail_of_learned_weights_is_that_of_other_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAILS, EVERYBODY, Fraction(1))
    found = linkage(frame_scene(*masked(60)), aligned=True, linkage="learned")
    whole = found.tail[EVERYBODY]
    assert whole.success < found.success
    assert whole.low < whole.success < found.success < whole.high


def applying() -> list[str]:
    view = linked()
    every = ((name, ATTACKS[name](ATTACKS[name].Settings())) for name in ATTACKS)
    return sorted(name for name, attack in every if attack.missing_requirement(view) is None)


@pytest.mark.parametrize("name", applying())
def test_all_targets_of_an_attack_are_its_success(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAILS, EVERYBODY, Fraction(1))
    view = linked()
    for found in run(name, view):
        assert set(found.tail) == {*TAILS}
        assert float(found.tail[EVERYBODY].success) == pytest.approx(float(found.success))
        for own in found.tail.values():
            assert 0 <= own.low <= float(own.success) <= own.high <= 1
            assert own.success * own.targets <= float(found.success) * found.records + 1e-9
        assert found.ceiling is None or float(found.success) <= found.ceiling <= 1


def spaces() -> list[ComparisonSpace]:
    """Return a space, and the same with the truth of others."""
    original, published = masked(40)
    found = []
    for order in (np.arange(40), np.random.default_rng(1).permutation(40)):
        view = frame_scene(original, published)
        assert view.original is not None
        assert view.original.aligned_links is not None
        links = view.original.aligned_links
        turned = links_of_pairs(links.original, links.release[order], links.counts)
        held: IntArray = np.bincount(links.original, weights=links.counts).astype(np.int64)
        found.append(comparison_space(view.release, view.original, tuple("abc"), held, turned, each=True))
    return found


def test_nobody_who_ranks_sees_the_truth() -> None:
    """With other true links, the same records are surest."""
    random = np.random.default_rng
    for way in (
        nearest,
        lambda distance: expected_links(distance, random(0)),
        lambda distance: assigned(distance, random(0)),
    ):
        one_way, other = (way(Euclidean(space)) for space in spaces())
        assert one_way.doubt is not None
        assert other.doubt is not None
        assert not np.allclose(one_way.right, other.right)
        assert one_way.doubt == pytest.approx(other.doubt)
