"""Grouping keys: dense or sorted, the numbers are the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.core.grouping import count, group_keys
from anonymizer.core.table import pack

KEYS = st.lists(st.integers(0, 400), min_size=1, max_size=60)


@given(keys=KEYS, space=st.sampled_from([401, 1 << 17, 1 << 60]))
def test_groups_are_numbered_by_ascending_key(keys: list[int], space: int) -> None:
    groups, distinct = group_keys(np.array(keys, dtype=np.int64), space)
    assert distinct.tolist() == sorted(set(keys))
    assert distinct[groups].tolist() == keys


@given(items=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**40)), min_size=1, max_size=40))
def test_counts_are_exact(items: list[tuple[int, int]]) -> None:
    groups, weights = zip(*items, strict=True)
    sums = count(np.array(groups, dtype=np.int64), np.array(weights, dtype=np.int64), 10)
    expected: Counter[int] = Counter()
    for group, weight in items:
        expected[group] += weight
    assert sums.dtype == np.int64
    assert sums.tolist() == [expected[group] for group in range(10)]


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 1)), min_size=1))
def test_packed_keys_keep_the_order_of_the_codes(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
    keys = pack(columns, [4, 7, 2])
    assert keys is not None
    assert [rows[i] for i in np.argsort(keys, kind="stable")] == sorted(rows)
    assert len(set(keys.tolist())) == len(set(rows))


def test_keys_that_do_not_fit_are_not_packed() -> None:
    column = np.zeros(1, dtype=np.int32)
    assert pack([column] * 4, [1 << 16] * 4) is None
    assert pack([column] * 3, [1 << 20] * 3) is not None
