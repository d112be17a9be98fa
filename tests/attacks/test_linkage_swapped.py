"""Linkage by who knows the range of a rank swapping."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from pydantic import ValidationError

from anonymizer.attacks.linkage.attack import Linkage
from anonymizer.masking import RankSwapping
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.linkage import frame_scene, linkage


def could_have_become(column: list[float], value: float, published: float, percent: int) -> bool:
    """Tell whether some record with a value has a rank near enough to that of some with the published one."""
    ordered = sorted(column)
    reach = int(percent * len(column) / 100)
    own = [rank for rank, each in enumerate(ordered) if each == value]
    other = [rank for rank, each in enumerate(ordered) if each == published]
    return any(abs(one - two) <= reach for one in own for two in other)


def slow(original: pd.DataFrame, masked: pd.DataFrame, percent: int) -> Fraction:
    """Return the expected share of right links among the masked records that each could have become."""
    right = Fraction()
    for person in range(len(original)):
        candidates = [
            other
            for other in range(len(masked))
            if all(
                could_have_become(list(original[name]), original[name][person], masked[name][other], percent)
                for name in original
            )
        ]
        assert person in candidates
        right += Fraction(1, len(candidates))
    return right / len(original)


@share(6)
@given(strategies.randoms())
def test_candidates_are_what_every_attribute_allows(random: Random) -> None:
    records, columns, percent = random.randint(2, 14), random.randint(1, 3), random.choice((10, 25, 50))
    names = [f"q{position}" for position in range(columns)]
    values = [[random.randint(0, 9) for _ in names] for _ in range(records)]
    original = pd.DataFrame(values, columns=names)
    masked = RankSwapping(percent).mask(original, seed=random.randint(0, 99)).astype(int)
    scene = frame_scene(original, masked)
    found = linkage(scene, aligned=True, distance="rank", swap_range=percent)
    assert found.success == pytest.approx(float(slow(original, masked, percent)), abs=1e-12)
    assert found.knowledge["swap_range"] == percent


def test_knowing_the_range_helps() -> None:
    random = np.random.default_rng(0)
    original = pd.DataFrame({name: random.permutation(150) for name in "abcd"})
    scene = frame_scene(original, RankSwapping(20).mask(original, seed=1).astype(int))
    for method in ("nearest", "assignment"):
        blind = linkage(scene, aligned=True, linkage=method, distance="rank")
        knowing = linkage(scene, aligned=True, linkage=method, distance="rank", swap_range=20)
        assert knowing.success > blind.success + 0.03


def test_too_narrow_a_range_takes_those_with_fewest_attributes_outside() -> None:
    original = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0, 1, 2, 3]})
    masked = pd.DataFrame({"a": [2, 1, 0, 3], "b": [0, 1, 2, 3]})
    found = linkage(frame_scene(original, masked), aligned=True, distance="rank", swap_range=1)
    # Of the first, the first and the third share one attribute each; the others are at distance 0 alone.
    assert found.success == (0.5 + 1 + 0.5 + 1) / 4


def test_missing_values_blanks_and_categories() -> None:
    original = pd.DataFrame({"a": [1, 2, 3, None], "b": ["x", "x", "y", "y"]})
    masked = pd.DataFrame({"a": ["2", "1", "*", "<missing>"], "b": ["x", "x", "y", "y"]})
    found = linkage(frame_scene(original, masked), aligned=True, distance="rank", swap_range=34)
    # The first two share their candidates; the last could be the blank one, but its own is the narrower.
    assert found.success == (0.5 + 0.5 + 1 + 1) / 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"swap_range": 10}, "distance: rank"),
        ({"swap_range": 10, "linkage": "learned"}, "distance: rank"),
        ({"swap_range": 10, "linkage": "probabilistic"}, "distance: rank"),
        ({"swap_range": 0, "distance": "rank"}, "greater than 0"),
        ({"swap_range": 101, "distance": "rank"}, "less than or equal to 100"),
    ],
)
def test_a_range_that_fits_nothing_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Linkage.Settings.model_validate(options)
