"""The exact learner against brute force on tiny files."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.attacks.learning.bilinear import Bilinear
from anonymizer.attacks.learning.choquet import Choquet, TwoAdditiveChoquet
from anonymizer.attacks.learning.exact import Exact
from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.fast import Fast
from anonymizer.attacks.learning.learner import Fit
from anonymizer.attacks.learning.metric import Metric
from anonymizer.attacks.learning.owa import Owa
from anonymizer.attacks.learning.pairs import TIE, Pairs
from anonymizer.attacks.learning.weighted_mean import WeightedMean
from anonymizer.core.arrays import FloatArray
from tests.twins import learning as twin

Grid = Callable[[int, int], Iterator[twin.Distance]]
TINY = [
    (WeightedMean, twin.weighted_means, 2, 60),
    (WeightedMean, twin.weighted_means, 3, 14),
    (Owa, twin.owas, 2, 60),
    (Owa, twin.owas, 3, 14),
    (Bilinear, twin.bilinears, 2, 9),
    (Metric, twin.metrics, 2, 9),
    (Choquet, twin.choquets, 2, 12),
    (TwoAdditiveChoquet, twin.choquets, 2, 12),
]


SCALE = 64


def tiny(seed: int, attributes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 6 to 8 records and masked ones in whole numbers, hard to link."""
    random = np.random.default_rng(seed)
    records = int(random.integers(6, 9))
    original = random.integers(0, 1000, (records, attributes))
    return original, original + random.integers(-400, 401, (records, attributes))


def slow_distance(family: Family, weights: FloatArray) -> twin.Distance:
    """Return what weights of a family mean, by the definitions of the twin."""
    exact = [Fraction(float(weight)) for weight in weights]
    if isinstance(family, WeightedMean):
        return twin.weighted_mean(exact)
    if isinstance(family, Owa):
        return twin.owa(exact)
    if isinstance(family, Bilinear):
        return twin.bilinear(twin.fractions(family.matrix(weights)))
    one, other, *rest = exact
    smaller, larger = rest if len(rest) == 2 else (rest[0], Fraction())
    return twin.choquet(
        {
            frozenset(): Fraction(),
            frozenset([0]): one + larger,
            frozenset([1]): other + larger,
            frozenset([0, 1]): one + other + smaller + larger,
        }
    )


@pytest.mark.parametrize(("kind", "grid", "attributes", "steps"), TINY)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_equals_brute_force(
    kind: Callable[[int], Family], grid: Grid, attributes: int, steps: int, seed: int
) -> None:
    """It finds what the best weights of a grid find; what it finds beyond, the slow count confirms."""
    original, masked = tiny(seed, attributes)
    pairs = Pairs(original / SCALE, masked / SCALE, kind(attributes))
    fit = Exact(seconds=20, fast=Fast(searches=1)).fit(pairs, np.random.default_rng(seed))
    distance = slow_distance(pairs.family, fit.weights)
    assert twin.best(original.tolist(), masked.tolist(), grid(attributes, steps)) <= fit.right <= fit.bound
    slow = twin.fractions(original / SCALE), twin.fractions(masked / SCALE)
    assert twin.right(*slow, distance, Fraction(TIE)) == fit.right


@pytest.mark.parametrize("kind", [WeightedMean, Owa, Bilinear, Metric, Choquet])
def test_proves_tiny_files(kind: Callable[[int], Family]) -> None:
    for seed in range(3):
        original, masked = tiny(seed, 2)
        pairs = Pairs(original / SCALE, masked / SCALE, kind(2))
        assert Exact(seconds=60, fast=Fast(searches=50)).fit(pairs, np.random.default_rng(0)).proven


def test_needs_the_programme() -> None:
    """Some files are beyond a single line search, so that the test above tests more than the fast learner."""
    better = 0
    for seed in range(12):
        original, masked = tiny(seed, 3)
        pairs = Pairs(original / SCALE, masked / SCALE, WeightedMean(3))
        equal = int(pairs.right(pairs.family.equal()).sum())
        better += Exact(seconds=20, fast=Fast(searches=1)).fit(pairs, np.random.default_rng(0)).right > equal
    assert better > 3


def test_records_published_alike_are_never_counted() -> None:
    original = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    masked = np.array([[0.5, 0.0], [0.5, 0.0], [9.0, 9.0]])
    fit = Exact().fit(Pairs(original, masked, WeightedMean(2)), np.random.default_rng(0))
    assert (fit.right, fit.bound) == (1, 1)


def test_no_time_leaves_the_fast_fit_and_a_bound() -> None:
    original, masked = tiny(3, 3)
    pairs = Pairs(original / SCALE, masked / SCALE, WeightedMean(3))
    exact = Exact(seconds=0.0).fit(pairs, np.random.default_rng(0))
    fast = Fast().fit(pairs, np.random.default_rng(0))
    assert exact.right == fast.right
    assert np.array_equal(exact.weights, fast.weights)
    assert exact.bound == fast.bound >= exact.right


def test_interrupt_is_heard_while_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    from ortools.math_opt.python import mathopt

    # A process that was started in the background may ignore the signal.
    handler = signal.default_int_handler
    before = signal.signal(signal.SIGINT, handler)
    original, masked = tiny(0, 3)
    pairs = Pairs(original / SCALE, masked / SCALE, WeightedMean(3))
    monkeypatch.setattr(mathopt, "solve", lambda *_, **__: time.sleep(20))
    monkeypatch.setattr(Fast, "fit", lambda _, own, __: Fit(own.family.equal(), 0, own.records))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            Exact().fit(pairs, np.random.default_rng(0))
        assert time.monotonic() - start < 10
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
