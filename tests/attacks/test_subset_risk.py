"""The risk by every set of attributes: from packed keys as from the arrays of all classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.attacks.subsets import iter_subset_risks, known_subsets, risk_by_subset
from tests.attacks.published import FEWER, release

NAMES = ("q", "r", "t", "s", "u")
ROWS = st.lists(
    st.tuples(*(st.sampled_from(each) for each in ("abcd", "ab", "abc", "xyz", "vw"))),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("sensitive", [(), ("u",), ("s", "u")])
@FEWER
@given(rows=ROWS, size=st.integers(1, 5))
def test_numbers_are_those_of_the_classes(
    sensitive: tuple[str, ...], rows: list[tuple[str, ...]], size: int
) -> None:
    own = release(NAMES, rows, sensitive)
    risks = risk_by_subset(own, size)
    assert risks is not None
    # In this order, as the first of equally telling sets is the one that is named.
    assert list(risks) == [each.risk() for each in known_subsets(own, size)]


def test_codes_that_do_not_fit_one_integer() -> None:
    random = np.random.default_rng(3)
    rows = [tuple(str(value) for value in random.integers(0, 40, 20)) for _ in range(60)]
    own = release([f"q{number}" for number in range(20)], [*rows, *rows[:10]])
    assert risk_by_subset(own, 1) is None
    assert list(iter_subset_risks(own, 1)) == [each.risk() for each in known_subsets(own, 1)]


def test_counts_that_do_not_fit_next_to_their_codes() -> None:
    """Ten columns of 64 values take 60 of 63 bits, which leaves three for a combination of 16 records."""
    rows = [tuple(f"{(own + column) % 64:02d}" for column in range(10)) for own in range(64)]
    rows += rows[5:6] * 15
    own = release([f"q{number}" for number in range(10)], rows)
    risks = risk_by_subset(own, 10)
    assert risks is not None
    found = {each.names: each for each in risks}
    assert (found[own.names].classes, found[own.names].uniques) == (64, 63)
    assert (found[("q3",)].classes, found[("q3",)].uniques) == (64, 63)


def test_counts_beyond_32_bits() -> None:
    rows = [("a", "x", "v"), ("a", "y", "v"), ("b", "y", "w")]
    for sensitive in ((), ("u",)):
        own = release(("q", "r", "u"), rows, sensitive)
        many = replace(own, counts=own.counts * 2**33)
        risks = risk_by_subset(many, 2)
        assert risks is not None
        found = {each.names: each for each in risks}
        assert (found[("q",)].classes, found[("q",)].uniques) == (2, 0)
        assert found[("q",)].largest == ({"u": 3 * 2**33} if sensitive else {})
