"""Merged and rounded counts reveal no small count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.report.facts import folded, rounded, share_step

COUNTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=14)


@given(st.integers(1, 5000), st.integers(3, 20), st.data())
def test_a_rounded_share_leaves_many_counts_possible(
    records: int, smallest: int, data: st.DataObject
) -> None:
    step = share_step(records, smallest)
    if step is None:
        assert 0.1 * records < 2 * smallest
        return
    count = data.draw(st.integers(0, records))
    shares = rounded(np.arange(records + 1) / records, step)
    possible = np.flatnonzero(shares == shares[count])
    # At the ends of the scale half of the interval lies outside.
    assert len(possible) >= min(smallest, records) - 1
    assert abs(shares[count] - count / records) <= step / 2 + 1e-4


@given(COUNTS, st.integers(3, 8), st.integers(1, 10), st.data())
def test_nothing_small_is_left_after_folding(
    pairs: list[tuple[int, int]], smallest: int, most: int, data: st.DataObject
) -> None:
    counts = np.array(pairs, dtype=np.int64)
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))))
    out = folded(counts, smallest, hidden, most)
    shown = counts[~out]
    assert (shown[:, 0] >= smallest).all()
    assert ((shown[:, 1] == 0) | (shown[:, 1] >= smallest)).all()
    assert len(shown) <= most
    assert not (hidden & ~out).any()
    together = counts[out].sum(axis=0)
    assert out.all() or not ((together > 0) & (together < smallest)).any()


def test_no_more_is_folded_than_needed() -> None:
    counts = np.array([[50, 50], [40, 40], [2, 0], [9, 9]], dtype=np.int64)
    assert folded(counts, 3).tolist() == [False, False, True, True]
    assert folded(np.array([[50, 50], [40, 0]]), 3).tolist() == [False, False]
    assert folded(np.array([[50, 50], [2, 0], [2, 0]]), 3).tolist() == [False, True, True]
