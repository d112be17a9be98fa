"""Records are dealt to groups, exchanged and numbered as they should be."""

from __future__ import annotations

import heapq
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.arrays import IntArray
from anonymizer.model.measure import Measure
from anonymizer.model.table import Table
from anonymizer.search.anatomy import (
    GROUPINGS,
    NOBODY,
    Records,
    all_distinct,
    dealt,
    groups_of,
    highest_cap,
    published_ranks,
    renumbered,
    rounds,
    values_in,
)
from anonymizer.testing.samples import numeric_tables, tables
from tests.helpers.examples import quickly

COUNTS = st.lists(st.integers(1, 9), min_size=1, max_size=7)


def queue_of(counts: list[int]) -> tuple[IntArray, IntArray]:
    """Return records by value, the most frequent first, and the value of each."""
    ordered = sorted(counts, reverse=True)
    value = np.repeat(np.arange(len(ordered)), ordered)
    return np.arange(len(value)), value


def anatomize(counts: list[int], size: int) -> list[set[int]] | None:
    """Return the groups of Xiao and Tao's procedure, a record at a time; None where it fails."""
    heap = [(-number, value) for value, number in enumerate(counts)]
    heapq.heapify(heap)
    groups: list[set[int]] = []
    while len(heap) >= size:
        taken = [heapq.heappop(heap) for _ in range(size)]
        groups.append({value for _, value in taken})
        for number, value in taken:
            if number < -1:
                heapq.heappush(heap, (number + 1, value))
    for number, value in heap:
        for _ in range(-number):
            home = next((group for group in groups if value not in group), None)
            if home is None:
                return None
            home.add(value)
    return groups


@given(COUNTS, st.integers(1, 5))
def test_dealing_succeeds_wherever_no_value_has_too_many_records(counts: list[int], size: int) -> None:
    records = sum(counts)
    eligible = max(counts) * size <= records
    assert (anatomize(counts, size) is not None) >= eligible
    if not eligible:
        return
    queue, value = queue_of(counts)
    seats = dealt(queue, records // size)
    values = values_in(seats, value)
    assert all_distinct(values)
    assert sorted(seats[seats != NOBODY].tolist()) == queue.tolist()
    sizes = (seats != NOBODY).sum(axis=1)
    assert sizes.min() >= size
    assert sizes.max() - sizes.min() <= 1
    assert len(seats) == len(anatomize(counts, size) or [])


@given(COUNTS, st.integers(1, 20))
def test_every_group_gets_its_share_of_every_value(counts: list[int], groups: int) -> None:
    queue, value = queue_of(counts)
    groups = min(groups, len(queue))
    values = values_in(dealt(queue, groups), value)
    for each, number in enumerate(sorted(counts, reverse=True)):
        own = (values == each).sum(axis=1)
        assert own.min() >= number // groups
        assert own.max() <= -(-number // groups)


@given(COUNTS, st.integers(1, 6))
def test_the_highest_cap_keeps_most(counts: list[int], size: int) -> None:
    fits = [cap for cap in range(max(counts) + 1) if cap * size <= sum(min(number, cap) for number in counts)]
    assert highest_cap(np.array(counts), size) == max(fits)


@given(COUNTS, st.integers(0, 9), st.integers(0, 99))
def test_a_capped_queue_has_the_first_of_each_value(counts: list[int], cap: int, seed: int) -> None:
    queue, value = queue_of(counts)
    queue = np.random.default_rng(seed).permutation(queue)
    queue = queue[np.argsort(value[queue], kind="stable")]
    left = Records(queue, value, np.bincount(value), queue).capped(cap)
    wanted = [
        record for record in queue if (queue[value[queue] == value[record]]).tolist().index(record) < cap
    ]
    assert left.tolist() == wanted


def seated(table: Table, groups: int, seed: int = 0) -> tuple[Records, IntArray]:
    """Return the records of a table dealt to groups."""
    records = Records.of(table, np.random.default_rng(seed))
    return records, dealt(records.queue, groups)


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPINGS)
@pytest.mark.parametrize("samples", [tables, numeric_tables])
def test_exchanges_keep_values_and_records(name: str, samples: object) -> None:
    moved = 0
    for seed, table in enumerate(samples(5)):  # type: ignore[operator]
        groups = int(np.bincount(table.sensitive_codes("sensitive"), table.counts).max())
        records, seats = seated(table, groups, seed)
        mixed = GROUPINGS[name].mixed(seats, records, table, np.random.default_rng(seed))
        assert all_distinct(values_in(mixed, records.value))
        assert (mixed != NOBODY).sum(axis=1).min() == (seats != NOBODY).sum(axis=1).min()
        assert sorted(mixed[mixed != NOBODY]) == list(range(table.records))
        moved += int(mixed.shape != seats.shape or (mixed != seats).any())
    assert moved > 2


def one_by_one(values: list[int]) -> Table:
    """Return a table with a record for each sensitive value, each with a quasi-identifier of its own."""
    template = next(iter(numeric_tables(0)))
    sensitive = template.sensitive[0]
    codes = np.array([[0] * len(template.quasi_identifiers) + [value] for value in values], dtype=np.int32)
    return Table(
        template.quasi_identifiers, (sensitive,), codes, Measure(np.ones(len(values), dtype=np.int64))
    )


@pytest.mark.slow
def test_chance_makes_every_grouping_as_likely() -> None:
    values = [0, 0, 1, 1, 2, 2]
    own = np.array(values)
    found: Counter[frozenset[frozenset[int]]] = Counter()
    draws = 1200
    records = Records(np.arange(6), own, np.bincount(own), np.arange(6))
    for seed in range(draws):
        random = np.random.default_rng(seed)
        mixed = GROUPINGS["random"].mixed(dealt(np.arange(6), 3), records, None, random)  # type: ignore[arg-type]
        found[frozenset(frozenset(group) for group in mixed.tolist())] += 1
    every = {
        frozenset(frozenset(pair) for pair in ((a, b), (c, d), (e, f)))
        for a, b, c, d, e, f in permutations(range(6))
        if own[a] != own[b] and own[c] != own[d] and own[e] != own[f]
    }
    assert set(found) == every
    expected = draws / len(every)
    surprise = sum((number - expected) ** 2 / expected for number in found.values())
    assert surprise < 3 * len(every)


def spread_within(table: Table, records: Records, seats: IntArray) -> float:
    """Return the mean distance of records of one group, counted pair by pair."""
    sizes = [max(own.column.size - 1, 1) for own in table.quasi_identifiers]
    codes = table.codes[records.row][:, : len(sizes)] / np.array(sizes)
    distances = [
        abs(codes[one] - codes[other]).sum()
        for group in seats
        for one in group
        for other in group
        if NOBODY not in (one, other)
    ]
    return float(np.mean(distances))


def test_similar_groups_are_more_similar_than_those_by_chance() -> None:
    table = big_table()
    records, seats = seated(table, table.records // 3)
    within = {
        name: spread_within(table, records, each.mixed(seats, records, table, np.random.default_rng(1)))
        for name, each in GROUPINGS.items()
    }
    assert within["similar"] < 0.5 * within["random"]


def big_table() -> Table:
    """Return three hundred records with two numbers and a value each."""
    template = next(table for table in numeric_tables(3) if len(table.quasi_identifiers) >= 2)
    random = np.random.default_rng(0)
    own = template.quasi_identifiers
    columns = [random.integers(0, each.column.size, 300) for each in own]
    size = template.sensitive[0].column.size
    assert size >= 3
    codes = np.column_stack([*columns, np.arange(300) % size]).astype(np.int32)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    return Table(own, template.sensitive, distinct, Measure(counts.astype(np.int64)))


@given(st.integers(0, 10_000))
@quickly(50, 15)
def test_numbers_are_a_function_of_what_is_published(seed: int) -> None:
    random = np.random.default_rng(seed)
    groups = int(random.integers(1, 6))
    group = np.concatenate([np.arange(groups), random.integers(-1, groups, 12)])
    first, second = random.integers(0, 4, (2, len(group)))
    numbers = renumbered(group, groups, (first, second))
    relabelled = np.append(random.permutation(groups), -1)[group]
    again = renumbered(relabelled, groups, (first, second))

    def published(numbered: IntArray) -> list[tuple[list[int], list[int]]]:
        own = [numbered == each for each in range(groups)]
        return [(sorted(first[each].tolist()), sorted(second[each].tolist())) for each in own]

    assert published(numbers) == published(again)
    assert ((numbers < 0) == (group < 0)).all()
    # Groups of one number were one before, and the first column's smallest values come first.
    assert len({*zip(group.tolist(), numbers.tolist(), strict=True)}) == len({*group.tolist()})
    padded = [[*each, *[-1] * (len(group) - len(each))] for each, _ in published(numbers)]
    assert padded == sorted(padded)


def test_ranks_tell_published_tuples_apart() -> None:
    for table in tables(1):
        levels = [0] * len(table.quasi_identifiers)
        ranks = published_ranks(table, levels)
        own = [tuple(row) for row in table.codes[:, : len(levels)].tolist()]
        assert len({*zip(own, ranks.tolist(), strict=True)}) == len(set(own)) == len(set(ranks.tolist()))


def test_who_has_no_seat_has_no_group() -> None:
    assert groups_of(np.array([[2, 0], [1, NOBODY]]), 4).tolist() == [0, 1, 0, NOBODY]


@given(COUNTS, st.integers(1, 5))
def test_each_round_draws_the_values_that_are_left_most_often(counts: list[int], size: int) -> None:
    number = sum(counts) // size
    if max(counts) * size > sum(counts):
        return
    left = Counter(dict(enumerate(counts)))
    drawn = rounds(np.array(counts), size, number).tolist()
    assert len(drawn) == number
    for values in drawn:
        assert len(set(values)) == size
        others = [left[value] for value in left if value not in values]
        assert min(left[value] for value in values) >= max(others, default=0)
        left.subtract(values)
    assert min(left.values()) >= 0
    assert max(left.values()) <= 1, "as the paper proves"


@pytest.mark.slow
def test_many_rounds_are_few_steps() -> None:
    counts = np.random.default_rng(1).integers(10_000, 60_000, 40)
    size = 5
    drawn = rounds(counts, size, int(counts.sum()) // size)
    assert np.bincount(drawn.ravel()).max() <= counts.max()
