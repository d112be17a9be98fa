"""Groups of consecutive values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.placement import Placement, Unknown, place
from anonymizer.model.table import Column, ValueType
from tests.hierarchy.columns import NOWHERE, above, chains, column, compiled, integers, source


def test_groups_follow_the_order_of_the_values() -> None:
    data = column(["10", "9", "8", "100", "7"], ValueType.INTEGER)
    assert above(data, order={"sizes": [2, 4]}) == {
        "7": ["7-8", "7-10"],
        "8": ["7-8", "7-10"],
        "9": ["9-10", "7-10"],
        "10": ["9-10", "7-10"],
        "100": ["100", "100"],
    }


def test_a_given_order_is_counted_along_whatever_occurs() -> None:
    order = {"values": ["never", "rarely", "sometimes", "often"], "sizes": [2]}
    assert above(column(["sometimes", "never"]), order=order) == {
        "never": ["{never, rarely}"],
        "sometimes": ["{sometimes, often}"],
    }
    assert compiled(column(["sometimes", "never"]), order=order).leaves == 2


def test_numbers_may_be_listed_unquoted() -> None:
    data = column(["1", "2", "3"], ValueType.INTEGER)
    assert above(data, order={"values": [3, 1, 2], "sizes": [2]})["1"] == ["3-1"]


def test_a_value_that_the_given_order_lacks_is_unknown() -> None:
    data, low_high = column(["low", "odd"]), source(order={"values": ["low", "high"], "sizes": [2]})
    with pytest.raises(HierarchyError, match="'odd'"):
        place(data, low_high, Placement(NOWHERE))
    hierarchy, _ = place(data, low_high, Placement(NOWHERE, Unknown.TOP))
    assert chains(hierarchy)["odd"] == ["odd", "odd", "*"]


@given(integers(), st.integers(2, 5), st.integers(2, 3))
def test_a_group_is_named_by_its_ends(data: Column, size: int, factor: int) -> None:
    published = above(data, order={"sizes": [size, size * factor]})
    for level, step in enumerate((size, size * factor)):
        for start in range(0, data.size, step):
            group = data.texts[start : start + step]
            labels = {published[value][level] for value in group}
            assert len(labels) == 1
            assert next(iter(labels)).startswith(group[0])
            assert next(iter(labels)).endswith(group[-1])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sizes": [1, 2]}, "1; accepted: a whole number >= 2"),
        ({"sizes": [2, 3]}, "3 after 2; accepted: ascending numbers, each a multiple of the previous one"),
        ({"sizes": [4, 2]}, "2 after 4"),
        ({"sizes": []}, "at least 1 item"),
        ({"sizes": [2.5]}, "valid integer"),
        ({"sizes": [2], "values": ["a", "b", "a"]}, "'a' is listed 2 times"),
        ({}, "sizes"),
    ],
)
def test_settings_are_checked(settings: dict, said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(order=settings)
    assert said in str(caught.value)
