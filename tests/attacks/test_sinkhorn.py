"""One-to-one linkage in expectation: scaled chances against all assignments, sums, and ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from anonymizer.attacks.linkage.chances import scaled
from anonymizer.masking.noise import AdditiveNoise, CorrelatedNoise
from tests.helpers.linkage import frame_scene, linkage


def ones(number: int) -> np.ndarray:
    return np.ones(number, dtype=np.int64)


@pytest.mark.parametrize(("rows", "columns"), [([1, 1, 1], [1, 1, 1]), ([2, 1], [1, 1, 1]), ([1, 3], [2, 2])])
def test_sums_are_those_of_the_records(rows: list[int], columns: list[int]) -> None:
    logarithms = np.random.default_rng(1).normal(0, 2, (len(rows), len(columns)))
    found = scaled(logarithms, np.array(rows), np.array(columns))
    assert found.sum(axis=1) == pytest.approx(rows, rel=1e-4)
    assert found.sum(axis=0) == pytest.approx(columns, rel=1e-4)


def test_more_places_than_records_are_not_all_taken() -> None:
    found = scaled(np.random.default_rng(2).normal(0, 2, (3, 5)), ones(3), ones(5))
    assert found.sum(axis=1) == pytest.approx(1, rel=1e-4)
    assert found.sum(axis=0).max() <= 1 + 1e-9
    assert found.sum(axis=0).min() < 0.9


def test_more_records_than_places_are_not_all_linked() -> None:
    found = scaled(np.random.default_rng(2).normal(0, 2, (5, 3)), ones(5), ones(3))
    assert found.sum(axis=0) == pytest.approx(1, rel=1e-4)
    assert found.sum() == pytest.approx(3, rel=1e-4)


def over_all_assignments(logarithms: np.ndarray) -> np.ndarray:
    """Return the exact chance of each link, by a loop over all assignments."""
    everyone = np.arange(len(logarithms))
    chances = np.zeros(logarithms.shape)
    for order in permutations(range(len(logarithms))):
        chances[everyone, list(order)] += np.exp(logarithms[everyone, list(order)].sum())
    found: np.ndarray = chances / chances[0].sum()
    return found


def test_the_largest_chances_are_those_over_all_assignments() -> None:
    """The chances are less sure than the exact ones, but seldom prefer another link."""
    drawn = np.random.default_rng(1).normal(0, 1, (20, 5, 5))
    agreed = [
        scaled(own, ones(5), ones(5)).argmax(axis=1) == over_all_assignments(own).argmax(axis=1)
        for own in drawn
    ]
    assert np.mean(agreed) > 0.9


def test_two_records_have_the_exact_order_of_chances() -> None:
    for own in np.random.default_rng(2).normal(0, 1, (10, 2, 2)):
        exact = over_all_assignments(own)
        assert ((scaled(own, ones(2), ones(2)) > 0.5) == (exact > 0.5)).all()


def test_a_constant_release_is_chance() -> None:
    original = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0) % 5})
    found = linkage(frame_scene(original, original * 0 + 3.0), aligned=True, linkage="sinkhorn")
    assert found.low == found.success == found.high == pytest.approx(1 / 12)


def test_exchangeable_records_share_their_links() -> None:
    original = pd.DataFrame({"a": [1.0, 1.0, 5.0, 9.0]})
    found = linkage(frame_scene(original, original + 0.5), aligned=True, linkage="sinkhorn")
    assert found.success == pytest.approx((1 / 2 + 1 / 2 + 1 + 1) / 4)


@pytest.mark.parametrize("overlap", [1.0, 0.5])
def test_the_order_of_rows_decides_nothing(overlap: float) -> None:
    random = np.random.default_rng(3)
    original = pd.DataFrame(random.normal(0, 5, (60, 3)).round(2), columns=list("abc"))
    masked = AdditiveNoise(0.5).mask(original, 1)
    order = random.permutation(60)
    whole, moved = (
        linkage(frame_scene(*both), aligned=True, linkage="sinkhorn", distance="mahalanobis", overlap=overlap)
        for both in (
            (original, masked),
            tuple(own.iloc[order].reset_index(drop=True) for own in (original, masked)),
        )
    )
    if overlap == 1:
        assert moved.success == pytest.approx(whole.success)
    assert whole.success > 3 * whole.baseline


def test_chances_link_more_than_the_nearest_record() -> None:
    """Noise on correlated numbers: over some files, more than a single one would show."""
    nearest, together = 0.0, 0.0
    for seed in range(4):
        random = np.random.default_rng(seed)
        common = random.normal(0, 5, (200, 1))
        original = pd.DataFrame((common + random.normal(0, 2, (200, 4))).round(2), columns=list("abcd"))
        given = frame_scene(original, CorrelatedNoise(0.5).mask(original, seed))
        alone, chances = (
            linkage(given, aligned=True, linkage=own, distance="mahalanobis").success
            for own in ("nearest", "sinkhorn")
        )
        nearest, together = nearest + float(alone), together + float(chances)
    assert together > 1.1 * nearest


def test_neighbourhoods_of_a_large_file_say_that_they_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.attacks.linkage.assignment.POOL", 20)
    random = np.random.default_rng(5)
    original = pd.DataFrame(random.normal(0, 5, (60, 3)).round(2), columns=list("abc"))
    found = linkage(
        frame_scene(original, AdditiveNoise(1.0).mask(original, 1)), aligned=True, linkage="sinkhorn"
    )
    assert found.details["estimated"]
    assert "too low" in found.details["note"]
    assert found.low < found.success < found.high
