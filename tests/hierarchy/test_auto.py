"""Hierarchies drafted from the data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.auto import balanced
from anonymizer.model.table import Column, ValueType
from tests.hierarchy.columns import above, column, compiled, integers, source, texts


def test_groups_hold_about_equally_many_records() -> None:
    data = column(["1"] * 6 + ["2", "3", "4", "5", "6", "7"], ValueType.INTEGER)
    assert {labels[-1] for labels in above(data, auto={"levels": 2}).values()} == {"1", "2-4", "5-7"}


def test_groups_are_named_by_what_they_hold() -> None:
    assert set(map(tuple, above(column("abcd"), auto=None).values())) == {("{a, b}",), ("{c, d}",)}
    days = column(["2021-01-01", "2021-01-02", "2022-01-01", "2022-02-01"], ValueType.DATE)
    assert above(days, auto=None)["2021-01-02"] == ["2021-01-01..2021-01-02"]
    numbers = column(["1.5", "2", "3", "10"], ValueType.NUMBER)
    assert above(numbers, auto=None)["10"] == ["[3, 10]"]
    many = column([f"{i:02d}" for i in range(20)])
    assert ".." in above(many, auto=None)["00"][-1]


@pytest.mark.parametrize(
    ("values", "levels", "height"),
    [(1, None, 1), (2, None, 1), (3, None, 2), (16, None, 4), (17, None, 3), (72, None, 4), (5000, None, 6),
     (72, 2, 2), (72, 1, 1), (4, 9, 2), (5000, 3, 3)],
)  # fmt: skip
def test_the_height_follows_the_number_of_values(values: int, levels: int | None, height: int) -> None:
    data = column(map(str, range(values)), ValueType.INTEGER)
    assert compiled(data, auto={"levels": levels}).height == height


@given(st.one_of(integers(), texts()), st.one_of(st.none(), st.integers(1, 6)))
def test_every_level_has_fewer_groups_of_neighbours(data: Column, levels: int | None) -> None:
    published = above(data, auto={"levels": levels})
    ordered = [[text, *published[text], "*"] for text in data.texts]
    sizes = []
    for column_of_labels in zip(*ordered, strict=True):
        runs = 1 + sum(one != other for one, other in pairwise(column_of_labels))
        assert runs == len(set(column_of_labels))
        sizes.append(runs)
    assert all(more > fewer for more, fewer in pairwise(sizes)) or data.size == 1


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=60), st.data())
def test_cuts_are_balanced_and_leave_no_run_empty(counts: list[int], data: st.DataObject) -> None:
    groups = data.draw(st.integers(1, len(counts)))
    starts = balanced(np.array(counts), groups).tolist()
    assert starts[0] == 0
    assert len(starts) == groups
    assert all(one < other for one, other in pairwise([*starts, len(counts)]))
    # Each cut is the one that leaves its run nearest to an equal share of what is left.
    for place in range(1, groups):
        before, left = starts[place - 1], groups - place + 1
        rest = sum(counts[before:])
        off = {
            cut: abs(sum(counts[before:cut]) * left - rest)
            for cut in range(before + 1, len(counts) - left + 2)
        }
        assert off[starts[place]] == min(off.values())


def test_the_number_of_levels_is_checked() -> None:
    with pytest.raises(HierarchyError, match=r"levels: .*greater than or equal to 1"):
        source(auto={"levels": 0})
