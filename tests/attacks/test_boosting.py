"""Boosted trees: splits against a search by loops, bins, and trees that have nothing to split."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.attacks.boosting import BINS, Bins, Growth, grow

WHOLE = Growth(depth=2, rate=1.0, damping=1.0, least=0.5, share=1.0)


def loop_gain(codes: np.ndarray, slope: np.ndarray, curvature: np.ndarray) -> float:
    """Return the largest gain of one split, by trying all."""

    def worth(some: np.ndarray) -> float:
        return float(slope[some].sum() ** 2 / (curvature[some].sum() + WHOLE.damping))

    best = -1.0
    for feature in codes:
        for limit in range(BINS):
            left = feature <= limit
            if min(curvature[left].sum(), curvature[~left].sum()) >= WHOLE.least:
                best = max(best, worth(left) + worth(~left))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_first_split_has_the_largest_gain(seed: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(0, 6, (3, 40))
    slope, curvature = random.normal(0, 1, 40), random.random(40)
    tree, _ = grow(codes, slope, curvature, WHOLE, random)
    left = codes[tree.features[0]] <= tree.limits[0]
    found = sum(
        float(slope[own].sum() ** 2 / (curvature[own].sum() + WHOLE.damping)) for own in (left, ~left)
    )
    assert found == pytest.approx(loop_gain(codes, slope, curvature))


@pytest.mark.parametrize("seed", range(4))
def test_leaves_are_damped_newton_steps_of_their_rows(seed: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(0, 6, (3, 60))
    slope, curvature = random.normal(0, 1, 60), random.random(60)
    tree, added = grow(codes, slope, curvature, WHOLE, random)
    leaf = tree.leaf_of(codes)
    for own in np.unique(leaf):
        rows = leaf == own
        step = slope[rows].sum() / (curvature[rows].sum() + WHOLE.damping)
        assert added[rows] == pytest.approx(step)
    assert tree(codes).tolist() == added.tolist()


def test_equal_rows_are_not_split() -> None:
    tree, added = grow(
        np.zeros((2, 5), dtype=np.int64), np.ones(5), np.ones(5), WHOLE, np.random.default_rng(1)
    )
    assert added == pytest.approx(5 / 6)
    assert tree.leaf_of(np.zeros((2, 3), dtype=np.int64)).tolist() == [0, 0, 0]


def test_no_rows_have_no_leaves() -> None:
    tree, _ = grow(np.zeros((2, 4), dtype=np.int64), np.ones(4), np.ones(4), WHOLE, np.random.default_rng(1))
    assert tree(np.zeros((2, 0), dtype=np.int64)).tolist() == []


def test_bins_keep_the_order_and_put_equal_values_together() -> None:
    values = np.random.default_rng(2).integers(0, 100, (1000, 1)).astype(np.float64)
    codes = Bins.of(values).codes(values)[0]
    order = np.argsort(values[:, 0], kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert codes.min() == 0
    assert codes.max() == BINS - 1
    assert all(len(np.unique(codes[values[:, 0] == value])) == 1 for value in np.unique(values))
    assert Bins.of(np.ones((7, 1))).codes(np.ones((7, 1))).tolist() == [[0] * 7]
