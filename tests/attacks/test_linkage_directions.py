"""Linkage of numbers that fall where the original's rise, as years of birth and ages do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.helpers.linkage import frame_scene, linkage


def people(records: int = 200) -> pd.DataFrame:
    """Return ages, and incomes that rise with them."""
    random = np.random.default_rng(5)
    age = random.integers(18, 90, records)
    income = (1000 * np.exp(age / 60 + random.normal(0, 0.4, records))).round()
    return pd.DataFrame({"age": age, "income": income, "size": random.integers(50, 110, records)})


def born(original: pd.DataFrame) -> pd.DataFrame:
    return original.assign(age=2026 - original["age"])


UNLEARNED = (
    {},
    {"distance": "mahalanobis"},
    {"distance": "rank"},
    {"distance": "likelihood"},
    {"distance": "rank", "swap_range": 5},
    {"linkage": "assignment"},
    {"linkage": "probabilistic"},
)


@pytest.mark.parametrize("parameters", UNLEARNED, ids=str)
def test_years_of_birth_are_linked_as_ages(parameters):
    original = people()
    other = original.assign(age=original["age"] + 2000)
    before = linkage(frame_scene(original, other), aligned=True, **parameters).success
    turned = linkage(frame_scene(original, born(original)), aligned=True, **parameters).success
    assert before > 0.3
    assert turned == pytest.approx(before, abs=0.01)


def test_a_column_alone_is_read_by_the_side_to_which_it_leans():
    random = np.random.default_rng(5)
    original = pd.DataFrame({"a": random.exponential(10, 300).round(2)})
    for sign in (1, -1):
        found = linkage(frame_scene(original, 5000 + 3 * sign * original), aligned=True)
        assert found.success > 0.8


def test_where_nothing_tells_the_direction_the_portfolio_tries_both():
    random = np.random.default_rng(5)
    original = pd.DataFrame({"a": random.permutation(60) + 0.25 * random.random(60).round(2)})
    found = {
        sign: linkage(
            frame_scene(original, 900 + sign * original), aligned=True, linkage="portfolio", targets=30
        )
        for sign in (1, -1)
    }
    assert found[1].success > 0.9
    assert found[-1].success > 0.9
    assert "a backwards" in found[-1].knowledge["attacker"]
