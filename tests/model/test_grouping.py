"""Grouping keys: dense or sorted, the numbers are the same."""

from __future__ import annotations

from collections import Counter
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.arrays import BLOCK, add_up, add_up_packed, count, group_keys, joined_by, starts_of

KEYS = st.lists(st.integers(0, 400), min_size=1, max_size=60)


@given(keys=KEYS, space=st.sampled_from([401, 1 << 17, 1 << 40, 1 << 60]))
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


@pytest.mark.parametrize("space", [401, 1 << 40, 1 << 62])
@given(items=st.lists(st.tuples(st.integers(0, 400), st.integers(1, 2**30)), max_size=60))
def test_weights_are_added_up_by_key(space: int, items: list[tuple[int, int]]) -> None:
    """In a dense array, beside the keys in one integer, and where both do not fit one."""
    expected: Counter[int] = Counter()
    for key, weight in items:
        expected[key + space - 401] += weight
    keys = np.array([key + space - 401 for key, _ in items], dtype=np.int64)
    weights = np.array([weight for _, weight in items], dtype=np.uint32)
    distinct, sums = add_up(keys, weights, space)
    assert list(zip(distinct.tolist(), sums.tolist(), strict=True)) == sorted(expected.items())
    assert sums.dtype == np.int64


def test_starts_are_found_across_blocks() -> None:
    ordered = np.repeat(np.arange(BLOCK), 3)
    assert np.array_equal(np.flatnonzero(starts_of(ordered)), np.arange(BLOCK) * 3)
    assert np.array_equal(np.flatnonzero(starts_of(ordered, 1)), np.arange(BLOCK // 2) * 6)


def test_sums_are_told_apart_across_blocks() -> None:
    items = 2 * BLOCK + 17
    packed = np.arange(items)[::-1] % (items // 2) << 3 | 1 + np.arange(items) % 5
    expected = np.bincount(packed >> 3, weights=packed & 7).astype(np.int64)
    distinct, sums = add_up_packed(packed, 3)
    assert np.array_equal(distinct, np.arange(len(expected)))
    assert np.array_equal(sums, expected)


@pytest.mark.parametrize("join", [np.add, np.maximum, np.multiply])
@given(lengths=st.lists(st.integers(0, 7), min_size=1, max_size=5), seed=st.integers(0, 2**32))
def test_numbers_are_joined_as_in_turn(join: np.ufunc, lengths: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    for vectors in (
        [random.normal(size=length) for length in lengths],
        [random.integers(0, 9, length) for length in lengths],
    ):
        found, expected = joined_by(join, vectors), reduce(join.outer, vectors)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
