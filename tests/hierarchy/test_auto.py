"""Hierarchies drafted from the data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.auto import RoundGroups, balanced
from anonymizer.model.table import Column, ValueType
from tests.helpers.messages import exchange
from tests.hierarchy.columns import above, column, compiled, decimals, integers, source, texts


def test_groups_hold_about_equally_many_records() -> None:
    data = column(["1"] * 6 + ["2", "3", "4", "5", "6", "7"], ValueType.INTEGER)
    found = above(data, auto={"levels": 2, "rare": 1})
    assert list(dict.fromkeys(labels[-1] for labels in found.values())) == ["1", "2-4", "5-7"]


def test_groups_are_named_by_what_they_hold() -> None:
    assert set(map(tuple, above(column("abcd"), auto=None).values())) == {("{a, b}",), ("{c, d}",)}
    days = column(["2021-01-01", "2021-01-02", "2022-01-01", "2022-02-01"], ValueType.DATE)
    assert above(days, auto=None)["2021-01-02"] == ["2021-01-01..2021-01-02"]
    many = column([f"{i:02d}" for i in range(20)])
    assert ".." in above(many, auto=None)["00"][-1]


@pytest.mark.parametrize(
    ("values", "levels", "height"),
    [(1, None, 1), (2, None, 1), (3, None, 2), (16, None, 4), (17, None, 3), (72, None, 4), (5000, None, 6),
     (72, 2, 2), (72, 1, 1), (4, 9, 2), (5000, 3, 3)],
)  # fmt: skip
def test_the_height_follows_the_number_of_values(values: int, levels: int | None, height: int) -> None:
    data = column(f"{number:04d}" for number in range(values))
    assert compiled(data, auto={"levels": levels}).height == height
    if values in (16, 17, 72):
        numbers = column([str(number) for number in range(values)] * 10, ValueType.INTEGER)
        assert compiled(numbers, auto={"levels": levels}).height == height


@given(
    st.one_of(integers(), decimals()).map(lambda data: (data, 2)) | texts().map(lambda data: (data, None)),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_every_level_has_fewer_groups_of_neighbours(
    drawn: tuple[Column, int | None], levels: int | None
) -> None:
    data, rare = drawn
    published = above(data, auto={"levels": levels, "rare": rare})
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


SKEWED = [0] * 30 + [*range(1, 60)] * 2 + [120, 700, 3_000, 9_485]


def named(
    values: Iterable[object], kind: ValueType = ValueType.INTEGER, **settings: object
) -> list[list[str]]:
    """Return the labels at levels 1, 2, ..., each in the order of the numbers."""
    found = above(column(map(str, values), kind), auto=settings or None).values()
    return [list(dict.fromkeys(level)) for level in zip(*found, strict=True)]


@pytest.mark.parametrize(
    ("values", "kind", "settings", "labels"),
    [
        # Zero has records enough to be shown, 9485 has not.
        (
            SKEWED,
            ValueType.INTEGER,
            {"levels": 2},
            ["0", "1-9", "10-19", "20-29", "30-39", "40-44", "45-54", "55+"],
        ),
        (
            range(100_000, 400_000, 1_000),
            ValueType.INTEGER,
            {"rare": 100},
            ["<200000", "200000-299999", "300000+"],
        ),
        ([1, 2, 3, 4, 5] * 10, ValueType.INTEGER, {}, ["1", "2-3", "4-5"]),
        ([*[1, 2, 3, 4, 5] * 10, 6], ValueType.INTEGER, {}, ["1", "2-3", "4+"]),
        (range(-20, 40), ValueType.INTEGER, {"rare": 15}, ["<0", "0 to 19", "20+"]),
        (
            [n / 10 for n in range(150, 350)],
            ValueType.NUMBER,
            {"rare": 50},
            ["<20", "[20, 25)", "[25, 30)", "30+"],
        ),
        (
            [*[0] * 40, *(n / 4 for n in range(1, 41))],
            ValueType.NUMBER,
            {"rare": 20},
            ["[0, 0.2)", "[0.2, 5)", "5+"],
        ),
        (
            [*["0.33"] * 40, *(n / 4 for n in range(2, 42))],
            ValueType.NUMBER,
            {"rare": 20},
            ["<0.5", "[0.5, 5)", "5+"],
        ),
        ([1] * 30, ValueType.INTEGER, {}, None),
        (range(19), ValueType.INTEGER, {}, None),
        (range(20), ValueType.INTEGER, {}, ["<10", "10+"]),
        ([1, 2, 3], ValueType.INTEGER, {"rare": 1}, ["1", "2-3"]),
    ],
)
def test_groups_of_numbers_have_round_bounds(
    values: Sequence[object], kind: ValueType, settings: dict, labels: list[str] | None
) -> None:
    found = named(values, kind, **settings)
    assert (found[0] if found else None) == labels


def records(smallest: int) -> st.SearchStrategy[list[int]]:
    few = st.lists(st.integers(-20, 60), min_size=smallest, max_size=120)
    many = st.lists(st.integers(-(10**6), 10**6), min_size=smallest, max_size=120)
    return few | many


@given(records(1), st.integers(2, 12), st.integers(1, 10**9), st.booleans(), st.sampled_from([1, 100]))
def test_no_single_extreme_changes_a_label(
    values: list[int], rare: int, further: int, largest: bool, scale: int
) -> None:
    kind = ValueType.INTEGER if scale == 1 else ValueType.NUMBER
    extreme = max(values) + 1 if largest else min(values) - 1
    other = extreme + further if largest else extreme - further

    def labels(one: int) -> dict[str, list[str]]:
        texts = [str(Decimal(value) / scale) for value in (*values, one)]
        found = above(column(texts, kind), auto={"rare": rare})
        return {("the extreme" if text == texts[-1] else text): own for text, own in found.items()}

    assert labels(extreme) == labels(other)


@given(records(1), st.integers(1, 12), st.sampled_from([1, 100]))
def test_labels_hold_the_numbers_of_their_group_and_no_others(
    values: list[int], rare: int, scale: int
) -> None:
    kind = ValueType.INTEGER if scale == 1 else ValueType.NUMBER
    numbers = [Decimal(value) / scale for value in values]
    found = above(column(map(str, numbers), kind), auto={"rare": rare})
    for level in zip(*found.values(), strict=True):
        for label in set(level):
            members = {Decimal(text) for text, own in zip(found, level, strict=True) if own == label}
            assert members == {number for number in numbers if holds(label, number)}
    for labels in found.values():
        assert all(re.fullmatch(KINDS[kind], label) for label in labels)


KINDS = {
    ValueType.INTEGER: r"-?\d+(-\d+| to -?\d+|\+)?|<-?\d+",
    ValueType.NUMBER: r"\[-?[\d.]+, -?[\d.]+\)|<-?[\d.]+|-?[\d.]+\+",
}


def holds(label: str, number: Decimal) -> bool:
    """Return whether a label means a number."""
    if label.startswith("<"):
        return number < Decimal(label[1:])
    if label.endswith("+"):
        return number >= Decimal(label[:-1])
    if label.startswith("["):
        low, high = map(Decimal, label.strip("[)").split(", "))
        return low <= number < high
    ends = label.split(" to ") if " to " in label else re.fullmatch(r"(-?\d+)(?:-(\d+))?", label).groups()
    return Decimal(ends[0]) <= number <= Decimal(ends[-1] or ends[0])


@given(records(1), st.integers(1, 12))
def test_the_first_and_the_last_group_have_enough_records(values: list[int], rare: int) -> None:
    found = above(column(map(str, values), ValueType.INTEGER), auto={"rare": rare})
    for level in zip(*found.values(), strict=True):
        label_of = dict(zip(found, level, strict=True))
        sizes = Counter(label_of[str(value)] for value in values)
        assert min(sizes[level[0]], sizes[level[-1]]) >= rare


@given(st.integers(0, 10**6), st.integers(3, 7))
def test_a_group_gives_up_at_most_a_third_of_its_share_to_be_round(seed: int, groups: int) -> None:
    values = Random(seed).sample(range(10**6), 2_000)
    found = RoundGroups(column(map(str, values), ValueType.INTEGER), 10)
    cuts = found.finer([], groups)
    sizes = np.histogram(values, [-1, *cuts, 10**6])[0].tolist()
    for place, size in enumerate(sizes[:-1]):
        share = sum(sizes[place:]) / (groups - place)
        assert 2 / 3 * share <= size <= 4 / 3 * share
    assert all(cut % 10_000 == 0 for cut in cuts)


def test_rare_is_not_for_dates(message: SnapshotAssertion) -> None:
    with pytest.raises(HierarchyError) as refused:
        above(column(["2021-01-01"], ValueType.DATE), auto={"rare": 2})
    assert exchange("rare for dates", refused.value) == message


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=40),
    st.integers(1, 30),
    st.sampled_from([ValueType.INTEGER, ValueType.NUMBER]),
)
def test_no_group_of_numbers_has_few_records(
    values: list[tuple[int, int]], rare: int, kind: ValueType
) -> None:
    """Also where a value of many records leaves a few beside it."""
    unit = 1 if kind is ValueType.INTEGER else 0.25
    written = [str(value * unit) for value, records in values for _ in range(records)]
    found = above(column(written, kind), auto={"rare": rare})
    for level in zip(*(found[text] for text in written), strict=True):
        sizes = Counter(level)
        assert min(sizes.values()) * 2 >= rare or len(sizes) == 1, sizes
