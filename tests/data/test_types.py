"""Types of columns: detected, declared, refused."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.table import detect, parse, spelling
from anonymizer.data.values import integer_key, number_key
from anonymizer.errors import DataError
from anonymizer.model.dates import iso_moment
from anonymizer.model.table import ValueType
from tests.helpers.messages import exchange

WHERE = "a.csv: column 'age'"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["0", "10", "-7"], "integer"),
        (["1", "2.5"], "number"),
        (["-0", "1"], "number"),
        (["1e3", ".5", "2."], "number"),
        (["2024-02-29", "1999-01-01"], "date"),
        (["2023-02-29"], "text"),
        (["2024-1-1"], "text"),
        (["01234", "99999"], "text"),
        (["-01"], "text"),
        (["01.11", "46.90"], "text"),
        (["46.90", "0.5", "10.01"], "number"),
        (["+49", "30"], "text"),
        (["٣"], "text"),
        (["1 ", "2", " 3", "\t4 "], "integer"),
        ([" 1.5", "2"], "number"),
        ([" 1", "1 2"], "text"),
        ([" 07", "8"], "text"),
        (["\u00a01", "x"], "text"),
        (["1_000", "x"], "text"),
        (["1e999"], "text"),
        (["a", "1"], "text"),
        (["nan"], "text"),
        ([], "text"),
    ],
)
def test_detection(values: list[str], expected: str) -> None:
    assert detect(WHERE, dict.fromkeys(values, 1)) is ValueType(expected)


@pytest.mark.parametrize("strange", ["nan", "NaN", "-inf", "Infinity", "+INF"])
def test_what_is_not_finite_beside_numbers_is_refused(strange: str, message: SnapshotAssertion) -> None:
    with pytest.raises(DataError) as refused:
        detect(WHERE, {"1": 1, strange: 1})
    assert exchange(strange, refused.value) == message


def test_mixed_is_refused_from_nine_tenths_of_the_records(message: SnapshotAssertion) -> None:
    with pytest.raises(DataError) as caught:
        detect(WHERE, {"1": 5, "2": 4, "unknown": 1})
    assert exchange("9 numbers and a text", caught.value) == message
    assert detect(WHERE, {"1": 4, "2": 4, "unknown": 1}) is ValueType.TEXT
    assert detect(WHERE, {"01": 1, "2": 98, "unknown": 1}) is ValueType.TEXT


@pytest.mark.parametrize(
    ("case", "declared", "values"),
    [
        ("two texts", "integer", {"1": 3, "x": 2, "y": 1}),
        ("a fraction", "integer", {"1": 3, "1.5": 1}),
        ("leading zeros", "integer", {"007": 1}),
        ("a fraction below zero", "integer", {"-0.5": 1}),
        ("too many digits", "integer", {"9" * 5000: 1}),
        ("nan", "number", {"nan": 1}),
        ("inf", "number", {"inf": 1}),
        ("too large", "number", {"1e400": 1}),
        ("a comma", "number", {"1,5": 1}),
        ("month 13", "date", {"2024-01-01": 2, "2024-13-01": 1}),
        ("no hyphens", "date", {"20240101": 1}),
    ],
)
def test_what_a_declaration_does_not_fit_is_refused(
    case: str, declared: str, values: dict[str, int], message: SnapshotAssertion
) -> None:
    with pytest.raises(DataError) as caught:
        parse(WHERE, values, ValueType(declared))
    assert exchange(case, caught.value) == message


@given(st.one_of(st.text(), st.from_regex(r"[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,3})?", fullmatch=True)))
def test_keys_are_exact_and_finite(text: str) -> None:
    integer, number, day = integer_key(text), number_key(text), iso_moment(text)
    if integer is not None:
        assert str(integer) == text.strip(" \t")
        assert number == integer
    if number is not None:
        assert number == Decimal(text)
        assert math.isfinite(float(text))
    assert day is None or number is None


@pytest.mark.parametrize("text", ["34", "34.0", "34.", " 34 ", "3.4e1", "+34"])
def test_a_number_with_a_zero_fraction_is_a_declared_integer(text: str) -> None:
    assert parse(WHERE, {text: 1, "-0": 1}, ValueType.INTEGER) == {text: 34, "-0": 0}


def test_the_spelling_does_not_depend_on_the_order() -> None:
    assert spelling(["2e0", "2.0", "02"]) == spelling(["02", "2e0", "2.0"]) == "02"
