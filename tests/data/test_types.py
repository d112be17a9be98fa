"""Types of columns: detected, declared, refused."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.table import date_key, detect, integer_key, number_key, parse, spelling
from anonymizer.errors import DataError
from anonymizer.model.table import ValueType

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
        (["+49", "30"], "text"),
        (["٣"], "text"),
        (["1 ", "2"], "text"),
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
def test_what_is_not_finite_beside_numbers_is_refused(strange: str) -> None:
    with pytest.raises(DataError, match=r"1 does not: .*input\.missing, or declare `type: text`"):
        detect(WHERE, {"1": 1, strange: 1})


def test_mixed_is_refused_from_nine_tenths_of_the_records() -> None:
    with pytest.raises(DataError) as caught:
        detect(WHERE, {"1": 5, "2": 4, "unknown": 1})
    assert str(caught.value) == (
        "a.csv: column 'age': 9 of 10 records hold a number, 1 does not: 'unknown'; "
        "list what stands for a missing value in input.missing, or declare `type: text`"
    )
    assert detect(WHERE, {"1": 4, "2": 4, "unknown": 1}) is ValueType.TEXT
    assert detect(WHERE, {"01": 1, "2": 98, "unknown": 1}) is ValueType.TEXT


@pytest.mark.parametrize(
    ("declared", "values", "message"),
    [
        (
            "integer",
            {"1": 3, "x": 2, "y": 1},
            r"3 of 6 records are, 3 do not, such as 'x'; declare `type: text`",
        ),
        ("integer", {"1": 3, "1.5": 1}, "1 does not: '1.5'; declare `type: number`"),
        ("integer", {"007": 1}, "declare `type: number`"),
        ("integer", {"-0": 1}, "'-0'"),
        ("integer", {"9" * 5000: 1}, "9{40}…'"),
        ("number", {"nan": 1}, "'nan'"),
        ("number", {"inf": 1}, "'inf'"),
        ("number", {"1e400": 1}, "'1e400'"),
        ("number", {"1,5": 1}, "'1,5'"),
        ("date", {"2024-01-01": 2, "2024-13-01": 1}, "declared date, which 2 of 3 records are, 1 does not"),
        ("date", {"20240101": 1}, "'20240101'"),
    ],
)
def test_what_a_declaration_does_not_fit_is_refused(
    declared: str, values: dict[str, int], message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        parse(WHERE, values, ValueType(declared))
    assert WHERE in str(caught.value)
    assert "input.missing" in str(caught.value)


@given(st.one_of(st.text(), st.from_regex(r"[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,3})?", fullmatch=True)))
def test_keys_are_exact_and_finite(text: str) -> None:
    integer, number, day = integer_key(text), number_key(text), date_key(text)
    if integer is not None:
        assert str(integer) == text
        assert number == integer
    if number is not None:
        assert number == Decimal(text)
        assert math.isfinite(float(text))
    assert day is None or number is None


def test_the_spelling_does_not_depend_on_the_order() -> None:
    assert spelling(["2e0", "2.0", "02"]) == spelling(["02", "2e0", "2.0"]) == "02"
