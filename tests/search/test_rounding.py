"""Losses of cuts: equal ones stay equal however they are summed up, and small ones keep their digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.search.mondrian.algorithm import FEWER_DIGITS, without_rounding_errors


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(1, FEWER_DIGITS))
def test_losses_of_small_regions_keep_nine_decimals(shares: list[float], records: int) -> None:
    losses = np.array(shares) * records
    found = without_rounding_errors(losses, np.full(len(losses), records))
    assert np.array_equal(found, np.round(losses, 9))


@pytest.mark.parametrize("records", [10, 10**6, 10**6 + 1, 3 * 10**7, 10**9])
@given(costs=st.lists(st.floats(0, 0.125), min_size=8, max_size=8), left=st.floats(0.01, 0.99))
def test_the_order_of_summing_up_tells_nothing_apart(records: int, costs: list[float], left: float) -> None:
    """Eight axes, the one side and then the other, and the axes and the sides the other way round."""
    sides = np.array([round(left * records), records - round(left * records)], dtype=np.float64)
    one, other = 0.0, 0.0
    for cost in costs:
        one += cost
    for cost in reversed(costs):
        other += cost
    first, second = one * sides[0] + one * sides[1], other * sides[1] + other * sides[0]
    found = without_rounding_errors(np.array([first, second]), np.full(2, records))
    distance = 0.5 * 10.0 ** (-9 if records <= FEWER_DIGITS else int(np.ceil(np.log10(records))) - 14)
    # Unless a half lies between the two, which no rounding can mend.
    middle = abs(first / (2 * distance) % 1 - 0.5) * 2 * distance
    if middle > 8 * np.spacing(float(records)):
        assert found[0] == found[1]
    assert found[0] == pytest.approx(first, abs=distance + 4 * np.spacing(float(records)))


def test_differences_that_count_are_kept() -> None:
    """One leaf of a million more, for a single record of thirty million."""
    own = np.array([2e7, 2e7 + 1e-6])
    found = without_rounding_errors(own, np.full(2, 30_000_000))
    assert found[0] < found[1]
