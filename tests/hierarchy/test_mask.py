"""Values masked character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.model.table import Column
from tests.helpers.messages import exchange
from tests.hierarchy.columns import NOWHERE, above, column, compiled, source, texts


def test_one_character_more_at_each_level() -> None:
    codes = column(["01234", "01239"])
    assert above(codes, mask={"from": "right"})["01234"] == ["0123*", "012**", "01***", "0****"]
    assert above(codes, mask={"from": "left"})["01239"] == ["*1239", "**239", "***39", "****9"]
    assert above(codes, mask=None) == above(codes, mask={"from": "right"})
    assert compiled(codes, mask=None).height == 5


def test_shorter_values_are_padded_where_masking_starts() -> None:
    codes = column(["12", "12345"])
    assert above(codes, mask={"from": "right"})["12"] == ["12***", "12***", "12***", "1****"]
    assert above(codes, mask={"from": "left"})["12"] == ["***12", "***12", "***12", "****2"]


def test_steps_say_how_many_characters() -> None:
    codes = column(["01234"])
    assert above(codes, mask={"steps": [2, 4]})["01234"] == ["012**", "0****"]
    assert above(codes, mask={"steps": [2, 5]})["01234"] == ["012**"]


@given(texts(), st.sampled_from(["left", "right"]))
def test_a_masked_value_is_the_padded_one_with_stars(data: Column, side: str) -> None:
    length = max(map(len, data.texts))
    for value, labels in above(data, mask={"from": side}).items():
        for masked, label in enumerate(labels, start=1):
            padded = list(value.ljust(length, "*") if side == "right" else value.rjust(length, "*"))
            for place in range(masked):
                padded[-1 - place if side == "right" else place] = "*"
            assert label == "".join(padded)


def test_long_values_ask_for_steps(message: SnapshotAssertion) -> None:
    data = column(["x" * 65])
    with pytest.raises(HierarchyError) as caught:
        source(mask=None).build(data, NOWHERE)
    assert exchange("65 characters", caught.value) == message
    assert compiled(data, mask={"steps": [10]}).height == 2
    assert compiled(column(["x" * 64]), mask=None).height == 64


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"from": "middle"}, "'right' or 'left'"),
        ({"steps": [2, 2]}, "2 after 2"),
        ({"steps": [0]}, "0 after 0"),
        ({"steps": []}, "at least 1 item"),
        ({"form": "right"}, "form"),
    ],
)
def test_settings_are_checked(settings: dict, said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(mask=settings)
    assert said in str(caught.value)
