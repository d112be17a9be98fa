"""Pairs of columns and all together, against counting one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.open import open_frame
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.profile.combinations import A_PAIR, RECORDS_A_COMBINED_CELL, UniquenessProfile
from tests.data.files import frame
from tests.helpers.examples import quickly
from tests.profile.columns import column

NAMES = ["a", "b", "c"]
tables = st.lists(st.tuples(*[st.sampled_from("xyz")] * 3), min_size=1, max_size=60)


def facts(records: Sequence[Sequence[str]]) -> list[ColumnFacts]:
    return [column(name, values) for name, values in zip(NAMES, zip(*records, strict=True), strict=True)]


def entropy(values: list[object]) -> float:
    counts = Counter(values).values()
    return -sum(count / len(values) * math.log2(count / len(values)) for count in counts)


@quickly(40, 15)
@given(tables)
def test_pairs_are_counted_as_by_hand(records: list[tuple[str, ...]]) -> None:
    with open_frame(frame(NAMES, records)) as relation:
        pairs = UniquenessProfile(relation).pairs(facts(records))
    assert [pair.columns for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in pairs:
        one, other = (NAMES.index(name) for name in pair.columns)
        seen = Counter((record[one], record[other]) for record in records)
        assert pair.unique == sum(count == 1 for count in seen.values())
        first, second = [record[one] for record in records], [record[other] for record in records]
        if len(records) < RECORDS_A_COMBINED_CELL * len(set(first)) * len(set(second)):
            assert pair.determined is None
            continue
        assert pair.determined is not None
        shared = entropy(first) + entropy(second) - entropy(list(zip(first, second, strict=True)))
        for share, whole in zip(pair.determined, (entropy(second), entropy(first)), strict=True):
            expected = shared / whole if whole else 0.0
            assert math.isclose(share, max(expected, 0.0), abs_tol=1e-9)


@quickly(40, 15)
@given(tables, st.integers(1, 6), st.integers(1, 3))
def test_joint_uniqueness_is_counted_as_by_hand(records: list[tuple[str, ...]], k: int, columns: int) -> None:
    with open_frame(frame(NAMES, records)) as relation:
        found = UniquenessProfile(relation).joint(NAMES[:columns], k)
    sizes = Counter(record[:columns] for record in records).values()
    assert (found.records, found.columns) == (len(records), columns)
    assert found.unique == sum(size == 1 for size in sizes)
    assert found.in_small_classes == sum(size for size in sizes if size < k)


def test_many_columns_of_many_values_do_not_overflow() -> None:
    names = [f"c{number}" for number in range(12)]
    records = [[str(row * 7 % 97 + column) for column in range(12)] for row in range(194)]
    with open_frame(frame(names, records)) as relation:
        found = UniquenessProfile(relation).joint(names * 4, 3)
    assert (found.unique, found.in_small_classes) == (0, 194)


def test_where_there_is_too_much_to_count_the_columns_that_tell_most_stay() -> None:
    records = [["x", str(row), str(row % 2)] for row in range(40)]
    found = []
    for work in (A_PAIR + 40 + 41 * 3 - 1, A_PAIR + 40 + 41 * 3, 10 * A_PAIR):
        with open_frame(frame(NAMES, records)) as relation:
            found.append([pair.columns for pair in UniquenessProfile(relation, work).pairs(facts(records))])
    assert found == [[], [("b", "c")], [("a", "b"), ("a", "c"), ("b", "c")]]
