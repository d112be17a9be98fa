"""Linkage on masked numbers, whose rows are in the order of the original."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anonymizer.attacks.base import clopper_pearson
from anonymizer.attacks.linkage.attack import with_errors
from anonymizer.attacks.linkage.distances import ErrorRates
from anonymizer.attacks.linkage.local_search import Fast
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.linkage import EVERY, UNLEARNED, linkage, noisy
from tests.helpers.linkage import frame_scene as scene
from tests.twins.linkage import nearest_numbers


@share(3)
@given(strategies.randoms())
def test_nearest_is_what_comparing_every_pair_finds(random: Random):
    records, columns = random.randint(2, 12), random.randint(1, 3)
    original = [[random.randint(0, 6) for _ in range(columns)] for _ in range(records)]
    masked = [[value + random.choice((-1, 0, 0, 0.5, 1)) for value in row] for row in original]
    names = [f"q{position}" for position in range(columns)]
    given_scene = scene(pd.DataFrame(original, columns=names), pd.DataFrame(masked, columns=names))
    found = linkage(given_scene, aligned=True, standardise="original")
    assert found.success == pytest.approx(float(nearest_numbers(original, masked)), abs=1e-9)
    assert found.details["truth"] == "by position"


@pytest.mark.parametrize(
    "parameters",
    [each if each in UNLEARNED else pytest.param(each, marks=pytest.mark.slow) for each in EVERY],
    ids=str,
)
def test_a_planted_signal_is_found_with_its_size(parameters):
    """Of 60 people 24 are published as they are, each of the others under the numbers of the next one."""
    original, _ = noisy(3)
    given_scene = scene(original, original.iloc[[*range(24), *range(25, 60), 24]].reset_index(drop=True))
    found = linkage(given_scene, aligned=True, **parameters)
    assert found.success == pytest.approx(24 / 60)
    assert found.baseline == pytest.approx(1 / 60)
    assert found.low <= found.success <= found.high
    assert found.records == 60


@pytest.mark.parametrize("parameters", EVERY, ids=str)
def test_copies_are_all_linked(parameters):
    original, _ = noisy(4)
    found = linkage(scene(original, original), aligned=True, **parameters)
    assert found.success == pytest.approx(1)


@pytest.mark.parametrize(
    "distance",
    [
        "weighted-mean",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("owa", "bilinear", "choquet")),
    ],
)
def test_learned_weights_never_link_less_than_equal_ones(distance):
    original, masked = noisy(5, records=30, noise=8.0)
    masked["c"] = masked["c"].to_numpy()[::-1]
    given_scene = scene(original, masked)
    equal = linkage(given_scene, aligned=True, standardise="original").success
    found = linkage(given_scene, aligned=True, linkage="learned", distance=distance, standardise="original")
    assert found.success >= equal
    assert found.details["equal_weights"] == pytest.approx(equal)
    assert found.details["in_sample"] <= found.details["bound"]
    assert found.details["importance"].keys() == {"a", "b", "c"}
    assert found.details["held_out"]["records"] == 30
    if distance == "weighted-mean":
        assert found.details["learned"]
        assert found.success > equal
        assert found.details["importance"]["c"] < 0.2


def test_one_to_one_helps_against_swapped_ranks():
    random = np.random.default_rng(1)
    original = pd.DataFrame({name: random.permutation(200) for name in ("a", "b", "c")})
    masked = original.apply(lambda column: (column + random.integers(-20, 21, 200)).rank(method="first") - 1)
    given_scene = scene(original, masked)
    together = linkage(given_scene, aligned=True, linkage="assignment", distance="rank")
    assert together.success > linkage(given_scene, aligned=True, distance="rank").success


def test_probabilities_of_agreement_are_learned():
    random = np.random.default_rng(2)
    original = pd.DataFrame({name: random.integers(0, 40, 300) for name in ("a", "b", "c")})
    masked = original.copy()
    changed = random.permutation(300)[:90]
    masked.loc[changed, "a"] = random.integers(0, 40, 90)
    found = linkage(scene(original, masked), aligned=True, linkage="probabilistic", false_links=0.001)
    details = found.details
    assert details["m"]["a"]["agree"] == pytest.approx(0.7, abs=0.08)
    assert details["m"]["b"]["agree"] > 0.95
    assert details["u"]["b"]["agree"] == pytest.approx(1 / 40, abs=0.01)
    assert details["links"] + details["possible_links"] + details["no_links"] == 300 * 300
    assert details["upper_threshold"] >= details["lower_threshold"]
    assert 200 < details["links"] < 400
    assert found.success > 0.8


def test_sampled_targets_have_an_interval():
    original, masked = noisy(7, records=200)
    given_scene = scene(original, masked)
    all_of_them = linkage(given_scene, aligned=True)
    assert (all_of_them.low, all_of_them.high) == (all_of_them.success, all_of_them.success)
    assert not all_of_them.details["sampled"]
    some = linkage(given_scene, aligned=True, targets=50, seed=3)
    assert some.records == 50
    assert some.details["sampled"]
    assert some.low < some.success < some.high
    inside = [
        each.low <= all_of_them.success <= each.high
        for each in (linkage(given_scene, seed=seed, aligned=True, targets=50) for seed in range(40))
    ]
    assert sum(inside) >= 36
    assert linkage(given_scene, aligned=True, targets=50, seed=3) == some


def test_an_intruder_may_hold_a_share_and_know_some_attributes():
    original, masked = noisy(8, records=100)
    given_scene = scene(original, masked)
    found = linkage(given_scene, aligned=True, overlap=0.3, knowledge=["b", "a"])
    assert found.details["held_records"] == found.records == 30
    assert found.knowledge["attributes"] == ["a", "b"]
    assert found.baseline == pytest.approx(0.01)
    assert found.success < linkage(given_scene, aligned=True).success


def test_too_much_work_is_sampled(monkeypatch):
    monkeypatch.setattr("anonymizer.attacks.linkage.attack.WORK", 100)
    monkeypatch.setattr("anonymizer.attacks.linkage.attack.LEAST", 10)
    original, masked = noisy(9)
    given_scene = scene(original, masked)
    found = linkage(given_scene, aligned=True)
    assert (found.records, found.details["held_records"]) == (10, 60)


KNOWING = [{"linkage": each, "distance": "rank", "swap_range": 10} for each in ("nearest", "assignment")]
"""Intruders who believe that ranks were swapped."""


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [*UNLEARNED, *KNOWING], ids=str)
def test_no_skill_is_invented_on_permuted_truth(parameters):
    inside = 0
    for seed in range(50):
        found = linkage(unrelated(seed, 120), seed=seed, aligned=True, targets=100, **parameters)
        inside += found.low <= found.baseline <= found.high
    assert inside >= 45


@pytest.mark.slow
def test_what_is_learned_from_permuted_truth_is_worth_nothing_on_others(monkeypatch):
    """In sample weights are fitted to whatever is called the truth; held-out records they link by chance."""

    def quick(searches=20):
        return Fast(searches=min(searches, 20))

    for module in ("learned", "attack"):
        monkeypatch.setattr(f"anonymizer.attacks.linkage.{module}.Fast", quick)
    inside = 0
    for seed in range(25):
        found = linkage(unrelated(seed, 60), seed=seed, aligned=True, linkage="learned")
        others = found.details["held_out"]
        low, high = clopper_pearson(others["right"], others["records"])
        inside += low <= found.baseline <= high
        assert found.success >= found.details["equal_weights"]
    assert inside >= 22


@cache
def unrelated(seed, records):
    """Return masked numbers, each of a random record; making these takes longer than linking them."""
    original, masked = noisy(seed, records=records, noise=1.0)
    order = np.random.default_rng(1000 + seed).permutation(records)
    return scene(original, masked.iloc[order].reset_index(drop=True))


UNITS = {
    "thousands": lambda frame: frame / 1000,
    "shifted": lambda frame: 2 * frame + 1000,
    "reversed": lambda frame: frame,
}


@pytest.mark.quick(6)
@pytest.mark.parametrize("parameters", UNLEARNED, ids=str)
@pytest.mark.parametrize("units", UNITS)
def test_a_release_in_other_units_is_linked_as_before(units, parameters):
    """Each file by its own mean and deviation, or its own ranks; by the original's, all looks safe."""
    original, masked = noisy(11, records=120)
    other = UNITS[units](masked)
    if units == "reversed":
        original, masked, other = (
            each.iloc[::-1].reset_index(drop=True) for each in (original, masked, other)
        )
    before = linkage(scene(original, masked), aligned=True, **parameters).success
    assert linkage(scene(original, other), aligned=True, **parameters).success == pytest.approx(
        before, abs=0.01
    )
    assert before > 0.2
    if units != "reversed" and not parameters.get("linkage"):
        safe = linkage(scene(original, other), aligned=True, standardise="original", **parameters)
        assert safe.success < before / 3


def test_wrong_values_are_drawn_at_their_share():
    original, _ = noisy(12, records=1000)
    adversary = scene(original, original).original
    wrong = with_errors(adversary, adversary.links, ErrorRates(noise=0.3), np.random.default_rng(0))
    assert wrong.links.records == wrong.records == 1000
    kept = [len(np.intersect1d(one, two)) for one, two in zip(adversary.codes.T, wrong.codes.T, strict=True)]
    assert all(own > 600 for own in kept)
    found = linkage(scene(original, original), noise=0.3)
    assert found.knowledge["noise"] == 0.3
    # Linked where fewer than two of three values are wrong, and sometimes where two are.
    assert 0.7**3 < found.success < 1
    assert found.ceiling == 1
