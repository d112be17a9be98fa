"""Tests of the natural order of bands, versions and codes, and of the labels of bands."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.labels import are_bands, band_label, in_natural_order

ORDERED = [
    ["<5", "5-9", "10-17", "18-49", "80-89", ">89", "Not Reported"],
    ["0-17", "18-64", "65+", "unknown"],
    ["under 18", "18 to 24", "25 to 34", "100 and over"],
    ["<$10,000", "$10,000-$24,999", "$25,000-$49,999", "$50,000-$99,999", ">$100,000"],
    ["≤9", "10–19", "20–29", "≥100"],
    ["0.5-1.5", "1.5-2.5", "10.5-11.5"],
    ["10-19 years", "20-29 years", "100-109 years"],
    ["0%", "5%", "10%", "100%"],
    ["1.9", "1.9.1", "2.1", "2.9", "2.10", "2.10.1", "10.0.1"],
    ["v1.9", "v1.10", "v2.0.1"],
    ["grade 1", "grade 2", "grade 10"],
    ["A1", "A2", "A10", "B1"],
    ["Ward 9b", "Ward 10a"],
    ["1st", "2nd", "10th"],
    ["Q1 9", "Q1 10", "Q2 1"],
    ["apple", "banana", "cherry"],
    ["9" * 30, "1" + "0" * 30],
]


@pytest.mark.parametrize("texts", ORDERED, ids=lambda texts: texts[0])
def test_sorted_by_their_numbers(texts: list[str]) -> None:
    mixed = random.Random(5).sample(texts, len(texts))
    assert in_natural_order(mixed) == texts


@given(st.lists(st.text(alphabet="0123456789.-+<>$ aZ", max_size=8), unique=True))
def test_order_is_total(texts: list[str]) -> None:
    """The order is the same whatever the order before, and keeps every text."""
    once = in_natural_order(texts)
    assert sorted(once) == sorted(texts)
    assert in_natural_order(once[::-1]) == once


@given(st.lists(st.integers(0, 10**6), unique=True), st.sampled_from(["", "grade ", "x-"]))
def test_whole_numbers_are_in_order(numbers: list[int], prefix: str) -> None:
    assert in_natural_order(f"{prefix}{number}" for number in numbers) == [
        f"{prefix}{number}" for number in sorted(numbers)
    ]


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (["50-59", "60-69", "70-79"], "50-79"),
        (["<5", "5-9"], "<10"),
        (["80-89", ">89"], "80+"),
        (["18 to 24", "25 to 34"], "18 to 34"),
        (["$10,000-$24,999", "$25,000-$49,999"], "$10,000-$49,999"),
        (["10-19 years", "20-29 years"], "10-29 years"),
        (["10-19 years", "20-29 days"], None),
        (["10", "20"], None),
        (["80-89", "Not Reported"], None),
        (["<5", "5-9", ">9"], None),
    ],
)
def test_labels_of_bands(values: list[str], label: str | None) -> None:
    assert band_label(values) == label


def test_rare_ends_are_open() -> None:
    assert band_label(["70-79", "80-89", "90-104"], lambda text: text[:1] if "104" in text else text) == "70+"


@pytest.mark.parametrize(
    ("texts", "bands"),
    [(["<5", "5-9", "10-14", "15+"], True), (["12-34", "13-20"], False), (["1", "2"], False), (["a"], False)],
)
def test_are_bands(texts: list[str], *, bands: bool) -> None:
    assert are_bands(texts) == bands
