"""The families against their definitions, the line search against every step, and what learning promises."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.attacks.linkage.families import FAMILIES as FAMILIES_BY_NAME
from anonymizer.attacks.linkage.families import (
    FEW,
    Bilinear,
    Choquet,
    Family,
    Metric,
    Owa,
    TwoAdditiveChoquet,
    WeightedMean,
    choquet,
)
from anonymizer.attacks.linkage.learned import learn
from anonymizer.attacks.linkage.local_search import Fast, best_step
from anonymizer.attacks.linkage.pairs import TIE, Chosen, Pairs
from anonymizer.masking import Microaggregation
from anonymizer.model.arrays import FloatArray
from benchmarks.number_arrays import standardised, targets_of
from tests.helpers.examples import quickly
from tests.helpers.learning import distance_of, measure_of
from tests.shared import shared
from tests.twins import learning as twin

FAMILIES: list[Callable[[int], Family]] = [WeightedMean, Owa, Bilinear, Metric, TwoAdditiveChoquet, Choquet]
NAMES = ["a", "b", "c"]


def files(seed: int, records: int = 40, attributes: int = 3) -> tuple[FloatArray, FloatArray]:
    """Return records and what noise made of them, stronger in later attributes."""
    random = np.random.default_rng(seed)
    original = random.standard_normal((records, attributes))
    strength = np.linspace(0.1, 1.5, attributes)
    return original, original + strength * random.standard_normal((records, attributes))


@pytest.mark.parametrize("kind", FAMILIES)
def test_features_give_the_distance(kind: Callable[[int], Family]) -> None:
    family, random = kind(3), np.random.default_rng(5)
    differences = random.integers(-9, 10, (6, 3)) / 4
    for weights in family.samples(6, random):
        distance = distance_of(family, weights)
        found = family.features(differences) @ weights
        slow = [float(distance(own)) for own in twin.fractions(differences)]
        assert found == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("kind", [Choquet, TwoAdditiveChoquet])
def test_measures_grow_with_their_sets(kind: Callable[[int], Family]) -> None:
    family = kind(3)
    for weights in family.samples(10, np.random.default_rng(1)):
        measure = measure_of(family, weights)
        assert float(measure[frozenset(range(3))]) == pytest.approx(1)
        for inner, outer in ((one, other) for one in measure for other in measure if one < other):
            assert measure[inner] <= measure[outer] + Fraction(1, 10**9)


def test_families_have_their_names() -> None:
    assert list(FAMILIES_BY_NAME) == ["weighted-mean", "owa", "bilinear", "choquet"]
    for name, kind in FAMILIES_BY_NAME.items():
        assert {kind(attributes).name for attributes in (1, 2, 7)} == {name}


@pytest.mark.parametrize("kind", FAMILIES)
def test_one_attribute_has_one_distance(kind: Callable[[int], Family]) -> None:
    original, masked = files(14, 30, 1)
    learned = learn(targets_of(original, masked), kind(1), Fast(searches=20), np.random.default_rng(0))
    assert learned.fit.right == learned.equal > 0


def test_choquet_of_few_attributes_is_full() -> None:
    assert isinstance(choquet(FEW), Choquet)
    assert isinstance(choquet(FEW + 1), TwoAdditiveChoquet)
    assert len(Choquet(4).corners()) == 166


@pytest.mark.parametrize("kind", FAMILIES)
def test_samples_and_corners_are_allowed(kind: Callable[[int], Family]) -> None:
    family = kind(4)
    weights = np.concatenate(
        [family.samples(20, np.random.default_rng(2)), family.corners(), [family.equal()]]
    )
    assert (weights @ family.cone.T >= -1e-9).all()
    assert weights @ family.total == pytest.approx(1)
    for own in weights:
        assert not len(family.cuts(own))
        assert family.allowed(own) == pytest.approx(own, abs=1e-7)
        assert family.importance(own).sum() == pytest.approx(1)
    assert len(family.labels(["a", "b", "c", "d"])) == len(family.members)


@pytest.mark.parametrize("kind", FAMILIES)
def test_least_bounds_every_gap(kind: Callable[[int], Family]) -> None:
    """No weights go below, and for the families that are convex hulls of known corners some reach it."""
    family, random = kind(3), np.random.default_rng(3)
    gaps = random.standard_normal((50, len(family.members)))
    least = family.least(gaps)
    assert (gaps @ family.samples(200, random).T >= least[:, None] - 1e-9).all()
    if not isinstance(family, Bilinear):
        assert (gaps @ family.corners().T).min(axis=1) == pytest.approx(least)


def test_least_of_a_form_is_reached() -> None:
    family = Bilinear(2)
    grid = [
        np.array([share, 1 - share, beside / 2])
        for share in np.linspace(0, 1, 21)
        for beside in np.linspace(-1, 1, 21)
    ]
    gaps = np.random.default_rng(4).standard_normal((30, 3))
    assert (gaps @ np.array(grid).T).min(axis=1) == pytest.approx(family.least(gaps))


@pytest.mark.parametrize("kind", FAMILIES)
def test_reach_ends_where_weights_stop_being_allowed(kind: Callable[[int], Family]) -> None:
    family, random = kind(3), np.random.default_rng(6)
    for weights in (family.samples(9, random) + family.corners().mean(axis=0)) / 2:
        direction = random.standard_normal(len(weights))
        direction -= float(family.total @ direction) * weights
        low, high = family.reach(weights, direction)
        assert low < 0 < high
        for step, inside in ((low, 0.999), (high, 0.999), (low, 1.001), (high, 1.001)):
            own = weights + inside * step * direction
            slack = float((family.cone @ own).min())
            if isinstance(family, Metric):
                slack = float(np.linalg.eigvalsh(family.matrix(own))[0])
            assert (slack >= -1e-9) == (inside < 1)


@given(st.integers(0, 2**20))
@quickly(40, 15)
def test_line_search_finds_the_best_step(seed: int) -> None:
    random = np.random.default_rng(seed)
    pairs = Pairs(targets_of(*files(seed, 12, 2)), WeightedMean(2))
    chosen = Chosen(pairs)
    chosen.add_nearest(pairs.family.samples(4, random), 3)
    rows = chosen.rows()
    weights, direction = np.array([0.5, 0.5]), np.array([1.0, -1.0])
    margins, slopes = rows.gaps @ weights, rows.gaps @ direction
    step, most = best_step(rows, margins, slopes, pairs.family.reach(weights, direction))
    assert rows.right(weights + step * direction) == pytest.approx(most)
    with np.errstate(divide="ignore", invalid="ignore"):
        breaks = np.unique(np.concatenate([-margins / slopes, [-0.5, 0.5]]))
    breaks = breaks[np.abs(breaks) <= 0.5]
    steps = (breaks[1:] + breaks[:-1]) / 2
    assert most == pytest.approx(max(rows.right(weights + own * direction) for own in steps))


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", FAMILIES)
def test_fast_is_never_below_what_it_starts_from(kind: Callable[[int], Family]) -> None:
    for seed in range(3):
        original, masked = files(seed)
        family = kind(3)
        pairs = Pairs(targets_of(original, masked), family)
        fit = Fast(searches=100).fit(pairs, np.random.default_rng(seed))
        assert fit.right == pytest.approx(pairs.right(fit.weights))
        assert pairs.right(family.equal()) <= fit.right <= fit.bound
        if family.extends:
            simple = Fast(searches=100).fit(
                Pairs(targets_of(original, masked), WeightedMean(3)), np.random.default_rng(seed)
            )
            assert fit.right >= simple.right
        assert float(family.total @ fit.weights) == pytest.approx(1)
        assert (family.cone @ fit.weights >= -1e-9).all()


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", FAMILIES)
def test_many_targets_are_learned_from_a_sample_and_counted_on_all(
    kind: Callable[[int], Family], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymizer.attacks.linkage.local_search.SAMPLE", 20)
    original, masked = files(5, 60)
    family = kind(3)
    pairs = Pairs(targets_of(original, masked), family)
    fit = Fast(searches=200).fit(pairs, np.random.default_rng(1))
    assert fit.right == pytest.approx(pairs.right(fit.weights))
    assert pairs.right(family.equal()) <= fit.right <= fit.bound
    assert float(family.total @ fit.weights) == pytest.approx(1)
    assert (family.cone @ fit.weights >= -1e-9).all()
    random = np.random.default_rng(9)
    original = random.standard_normal((120, 3))
    masked = np.column_stack([original[:, 0], random.standard_normal((120, 2))])
    few = Fast().fit(Pairs(targets_of(original, masked), WeightedMean(3)), np.random.default_rng(1))
    assert few.right > 0.95 * 120


def test_a_constraint_asks_for_no_more_than_it_needs() -> None:
    """Weights are the same as for a report, and equal ones are enough where they link too many."""
    original, masked = files(6, 60)
    targets = targets_of(original, masked)
    whole, own, refused = (
        learn(targets, WeightedMean(3), Fast(searches=100), np.random.default_rng(2), at_most=at_most)
        for at_most in (None, 1.0, 0.0)
    )
    assert whole.equal == own.equal == refused.equal > 0
    assert own.fit.right == whole.fit.right > whole.equal
    assert own.fit.weights == pytest.approx(whole.fit.weights)
    assert whole.held_out is not None
    assert own.held_out is refused.held_out is None
    assert refused.fit.right == refused.equal
    assert not refused.fit.proven
    assert float(refused.shares.sum()) == pytest.approx(refused.equal)


def test_the_counts_are_those_of_the_twin() -> None:
    original, masked = files(7, 15)
    pairs = Pairs(targets_of(original, masked), WeightedMean(3))
    weights = np.array([0.5, 0.25, 0.25])
    slow = twin.right(
        twin.fractions(original), twin.fractions(masked), distance_of(pairs.family, weights), Fraction(TIE)
    )
    assert pairs.right(weights) == pytest.approx(float(slow))
    assert slow > 0


def test_gaps_that_are_not_kept_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    original, masked = files(8)
    pairs = Pairs(targets_of(original, masked), TwoAdditiveChoquet(3))
    fit = Fast(searches=100).fit(pairs, np.random.default_rng(0))
    monkeypatch.setattr("anonymizer.attacks.linkage.pairs.KEPT", 0)
    monkeypatch.setattr("anonymizer.attacks.linkage.pairs.BLOCK", 2000)
    unkept = Pairs(targets_of(original, masked), TwoAdditiveChoquet(3))
    again = Fast(searches=100).fit(unkept, np.random.default_rng(0))
    assert again.right == fit.right
    assert again.weights == pytest.approx(fit.weights)


def test_learns_which_attribute_gives_people_away() -> None:
    """A planted signal: only the first attribute survives the masking."""
    random = np.random.default_rng(9)
    original = random.standard_normal((120, 3))
    masked = np.column_stack([original[:, 0], random.standard_normal((120, 2))])
    learned = learn(targets_of(original, masked), WeightedMean(3), Fast(), np.random.default_rng(1))
    assert learned.success > 0.95
    assert learned.equal / learned.records < 0.5
    assert learned.details(NAMES)["importance"]["a"] > 0.9
    assert sum(learned.details(NAMES)["weights"].values()) == pytest.approx(1)
    assert learned.held_out is not None
    assert learned.held_out.records == 120
    assert learned.held_out.right > 100 > learned.held_out.equal


@pytest.mark.slow
def test_what_is_learned_from_noise_is_worth_nothing_on_others() -> None:
    """In sample it links more than equal weights, on held-out records about as few as a guess."""
    random = np.random.default_rng(10)
    original, masked = random.standard_normal((2, 80, 4))
    learned = learn(targets_of(original, masked), TwoAdditiveChoquet(4), Fast(), np.random.default_rng(1))
    assert learned.fit.right > 2 * learned.equal
    assert learned.held_out is not None
    assert learned.held_out.right <= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_distances_link_what_the_fit_says(kind: Callable[[int], Family]) -> None:
    original, masked = files(11)
    masked = np.concatenate([masked, original[:5] + 0.5, masked[:7]])
    learned = learn(targets_of(original, masked), kind(3), Fast(searches=50), np.random.default_rng(1))
    distances = learned.family.features(original[:, None] - masked) @ learned.fit.weights
    own = np.diag(distances[:, : len(original)])[:, None]
    nearest = (distances >= own - TIE).all(axis=1)
    assert float((nearest / (distances <= own + TIE).sum(axis=1)).sum()) == pytest.approx(learned.fit.right)
    assert float(learned.shares.sum()) == pytest.approx(learned.fit.right)
    assert learned.bound >= learned.success


@pytest.mark.slow
def test_same_seed_same_weights() -> None:
    original, masked = files(12, 20)
    first, again = (
        learn(targets_of(original, masked), Bilinear(3), Fast(searches=100), np.random.default_rng(3))
        for _ in range(2)
    )
    assert np.array_equal(first.fit.weights, again.fit.weights)
    assert first.held_out == again.held_out


def test_one_record_is_linked_and_nothing_is_held_out() -> None:
    learned = learn(
        targets_of(np.ones((1, 2)), np.zeros((1, 2))), WeightedMean(2), Fast(), np.random.default_rng(0)
    )
    assert (learned.success, learned.bound, learned.held_out) == (1.0, 1.0, None)


@pytest.mark.slow
def test_constant_attributes_say_nothing() -> None:
    original, masked = files(13)
    original[:, 0] = masked[:, 0] = 0.1
    learned = learn(targets_of(original, masked), WeightedMean(3), Fast(), np.random.default_rng(0))
    assert np.isfinite(learned.fit.weights).all()
    assert learned.fit.right >= learned.equal


@pytest.mark.slow
def test_census_sample() -> None:
    """400 records, 4 attributes in groups of two, k = 3: learned weights are the proven best (92.75 %)."""
    records = np.genfromtxt(shared("data", "casc_census", "data.csv.gz"), delimiter=",", skip_header=1)
    rows = np.sort(np.random.default_rng(0).choice(len(records), 400, replace=False))
    original = records[rows, :4]
    masked = Microaggregation(3, [[0, 1], [2, 3]]).mask(original)
    pairs = Pairs(targets_of(standardised(original), standardised(masked)), WeightedMean(4))
    equal = pairs.right(pairs.family.equal())
    assert equal == pytest.approx(376)
    assert 380 <= Fast().fit(pairs, np.random.default_rng(0)).right <= 382


def best_of_random(pairs: Pairs, number: int) -> float:
    """Return the most expected links of random weights and forms, each counted on all pairs."""
    targets, most = pairs.targets, 0.0
    rows = np.arange(pairs.number)
    own = targets.sizes[targets.own]
    gaps = np.concatenate([block for _, block in pairs.blocks()])
    random = np.random.default_rng(7)
    for _ in range(number // 100):
        weights = pairs.family.samples(100, random)
        margins = np.tensordot(weights, gaps, axes=(1, 2))
        margins[:, rows, targets.own] = np.inf
        least = margins.min(axis=2)
        beaten = least < -TIE
        ties = np.zeros(beaten.shape)
        for place, target in zip(*np.nonzero(~beaten & (least <= TIE)), strict=True):
            tied = margins[place, target] <= TIE
            ties[place, target] = pairs.tie_sizes(np.array([target]), np.flatnonzero(tied)).sum()
        most = max(most, float((~beaten * targets.worth / (own + ties)).sum(axis=1).max()))
    return most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("records", "attributes", "k", "groups", "kinds"),
    [
        (300, 4, 4, None, (WeightedMean, Metric)),
        (300, 3, 5, None, (WeightedMean, Owa, Choquet)),
        (300, 13, 4, None, (WeightedMean,)),
        (300, 4, 5, [[0, 1], [2, 3]], (WeightedMean,)),
    ],
)
def test_no_random_weights_link_more_of_a_microaggregated_release(
    records: int, attributes: int, k: int, groups: list[list[int]] | None, kinds: tuple[type[Family], ...]
) -> None:
    every = np.genfromtxt(shared("data", "casc_census", "data.csv.gz"), delimiter=",", skip_header=1)
    original = every[:records, :attributes]
    masked = Microaggregation(k, groups or [list(range(attributes))]).mask(original)
    targets = targets_of(standardised(original), standardised(masked))
    for kind in kinds:
        pairs = Pairs(targets, kind(attributes))
        fit = Fast().fit(pairs, np.random.default_rng(0))
        assert best_of_random(pairs, 4_000) <= fit.right + 1e-9
        assert fit.right <= fit.bound + 1e-9
