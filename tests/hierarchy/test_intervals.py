"""Half-open intervals against exact arithmetic with fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.model.table import Column, ValueType
from tests.helpers.messages import exchange
from tests.hierarchy.columns import NOWHERE, above, column, decimals, integers, source


def test_whole_numbers_are_labelled_by_first_and_last() -> None:
    ages = column(["17", "20", "24", "25"], ValueType.INTEGER)
    assert above(ages, intervals={"width": [5, 10]}) == {
        "17": ["15-19", "10-19"],
        "20": ["20-24", "20-29"],
        "24": ["20-24", "20-29"],
        "25": ["25-29", "20-29"],
    }


@pytest.mark.parametrize(
    ("value", "kind", "settings", "labels"),
    [
        ("-1", ValueType.INTEGER, {"width": [5]}, ["-5 to -1"]),
        ("7", ValueType.INTEGER, {"width": [1, 2], "origin": 1}, ["7", "7-8"]),
        ("21", ValueType.INTEGER, {"width": ["2.5"]}, ["[20, 22.5)"]),
        ("21", ValueType.INTEGER, {"width": [5], "origin": 0.5}, ["[20.5, 25.5)"]),
        ("22.5", ValueType.NUMBER, {"width": [2.5, 5], "origin": 20}, ["[22.5, 25)", "[20, 25)"]),
        ("-0.05", ValueType.NUMBER, {"width": [0.1]}, ["[-0.1, 0)"]),
        # 0.3 is less than three times the binary 0.1, yet starts an interval of width 0.1.
        ("0.3", ValueType.NUMBER, {"width": [0.1]}, ["[0.3, 0.4)"]),
        (
            "123456789012345678901234567890",
            ValueType.INTEGER,
            {"width": [10]},
            [f"{'1234567890' * 2}123456789"],
        ),
    ],
)
def test_labels_are_exact(value: str, kind: ValueType, settings: dict, labels: list[str]) -> None:
    found = above(column([value], kind), intervals=settings)[value]
    if len(value) == 30:
        assert found == [f"{labels[0]}0-{labels[0]}9"]
    else:
        assert found == labels


@pytest.mark.parametrize(
    ("values", "settings", "labels"),
    [
        (["-1", "0", "7"], {"width": [5]}, ["-5 to -1", "0-4", "5-9"]),
        (["-1", "0", "7"], {"width": [5], "origin": -5}, ["-5 to -1", "0 to 4", "5 to 9"]),
        (["0", "7"], {"width": [5]}, ["0-4", "5-9"]),
        # The first interval starts below zero, though no value does.
        (["0", "7"], {"width": [5], "origin": 3}, ["-2 to 2", "3-7"]),
        (["2", "7"], {"width": [5, 10], "origin": -3}, ["2 to 6", "7 to 11"]),
        (["-1.5", "3"], {"width": [2]}, ["[-2, 0)", "[2, 4)"]),
    ],
)
def test_labels_follow_from_the_settings(values: list[str], settings: dict, labels: list[str]) -> None:
    kind = ValueType.NUMBER if "." in values[0] else ValueType.INTEGER
    assert [own[0] for own in above(column(values, kind), intervals=settings).values()] == labels


def test_no_value_changes_the_labels_of_others() -> None:
    own = source(intervals={"width": [5]})

    def labels(*texts: str) -> set[str]:
        tree = own.build(column(sorted(texts, key=int), ValueType.INTEGER), NOWHERE)
        return {label for level, label in tree if level == 1}

    assert labels("3", "7", "-3") - labels("3", "7") == {"-5 to -1"}


@given(
    st.one_of(integers(), decimals()),
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.decimals(-5, 5, places=2),
)
def test_every_value_lies_in_its_interval(data: Column, growth: list[int], origin: object) -> None:
    widths = [Fraction(3, 10)]
    for factor in growth:
        widths.append(widths[-1] * factor)
    start = Fraction(str(origin))
    settings = {"width": [str(float(width)) for width in widths], "origin": str(origin)}
    for value, labels in above(data, intervals=settings).items():
        for width, label in zip(widths, labels, strict=True):
            low = start + floor((Fraction(value) - start) / width) * width
            assert [Fraction(bound) for bound in label.strip("[)").split(", ")] == [low, low + width]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"width": [5, 5]}, "5 after 5; accepted: ascending numbers, each a multiple of the previous one"),
        ({"width": [5, 12]}, "12 after 5"),
        ({"width": [0.1, 0.25]}, "0.25 after 0.1"),
        ({"width": [0]}, "0; accepted: a number > 0"),
        ({"width": [-5, 10]}, "-5; accepted: a number > 0"),
        ({"width": []}, "at least 1 item"),
        ({"width": ["wide"]}, "width"),
        ({"width": [5], "start": 0}, "start"),
    ],
)
def test_widths_that_would_not_nest_are_refused(settings: dict, said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(intervals=settings)
    assert str(caught.value).startswith("test.intervals")
    assert said in str(caught.value)


def test_widths_that_nest_as_decimals_are_accepted() -> None:
    assert above(column(["0.7"], ValueType.NUMBER), intervals={"width": [0.1, 0.3]})["0.7"] == [
        "[0.7, 0.8)",
        "[0.6, 0.9)",
    ]


@pytest.mark.parametrize(("value", "kind"), [("a", ValueType.TEXT), ("2021-03-04", ValueType.DATE)])
def test_other_columns_than_numbers_are_refused_by_name(
    value: str, kind: ValueType, message: SnapshotAssertion
) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(intervals={"width": [5]}).build(column([value], kind), NOWHERE)
    assert exchange(kind, caught.value) == message


def test_top_and_bottom_are_one_group_each_at_every_level() -> None:
    own = source(intervals={"width": [1, 20], "bottom": 18, "top": 90})
    ages = column(["3", "17", "18", "89", "90", "97"], ValueType.INTEGER)
    tree = own.build(ages, NOWHERE)
    labels = [[label for level, label in tree if level == own] for own in (1, 2)]
    assert labels == [["<18", "18", "89", "90+"], ["<18", "18-19", "80-89", "90+"]]
    assert own.levels_of(["<18", "18", "89", "90+"], NOWHERE) == {1}
    assert own.levels_of(["<18", "18-19", "80-89", "90+"], NOWHERE) == {2}


def test_bottom_is_below_top() -> None:
    with pytest.raises(HierarchyError, match="bottom 90 is not below top 18; accepted: bottom < top"):
        source(intervals={"width": [5], "bottom": 90, "top": 18})
