"""Grouping keys: dense or sorted, the numbers are the same."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.arrays import (
    BLOCK,
    add_up,
    add_up_packed,
    count,
    from_the_first,
    group_keys,
    joined_by,
    overlaps,
    starts_of,
)

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


@given(one=st.lists(st.integers(1, 5), min_size=1, max_size=12), seed=st.randoms(use_true_random=False))
def test_parts_of_two_sequences_overlap_where_they_share_records(one: list[int], seed: Random) -> None:
    ends = sorted({*seed.sample(range(1, sum(one)), k=min(3, sum(one) - 1)), sum(one)})
    other = np.diff(ends, prepend=0)
    pairs = zip(np.repeat(np.arange(len(one)), one), np.repeat(np.arange(len(ends)), other), strict=True)
    found = zip(*overlaps(np.array(one, dtype=np.int64), other), strict=True)
    assert [((a, b), n) for a, b, n in found] == sorted(Counter(pairs).items())


@pytest.mark.parametrize("ordered", [False, True])
@given(
    members=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=15), data=st.data()
)
def test_records_are_taken_from_the_first_members(
    members: list[tuple[int, int]], ordered: bool, data: st.DataObject
) -> None:
    groups, counts = (np.array(own, dtype=np.int64) for own in zip(*members, strict=True))
    groups, distinct = group_keys(groups, 4)
    taken = [data.draw(st.integers(0, int(counts[groups == group].sum()))) for group in range(len(distinct))]
    worth = np.array(data.draw(st.permutations(range(len(members))))) if ordered else np.arange(len(members))
    order = np.lexsort((worth, groups)) if ordered else None
    found = from_the_first(groups, counts, np.array(taken, dtype=np.int64), order)
    for group, number in enumerate(taken):
        left = number
        for member in sorted(np.flatnonzero(groups == group).tolist(), key=lambda own: worth[own]):
            assert found[member] == min(left, counts[member])
            left -= found[member]


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
