"""How a file writes numbers is told from its texts."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.open import open_file
from anonymizer.data.values import key_of
from anonymizer.model.table import COMMA, POINT, ValueType
from anonymizer.profile.column_statistics import SAMPLE, Measured, measure, writing_of
from tests.data.files import write
from tests.helpers.messages import exchange

MONEY = ["2254,25", "1999,5", "12,75", "0,5"]
THOUSANDS = ["1.234", "12.500", "999.000", "2.002", "3.120", "4.001"]
POINTED = ["2254.25", "1999.5", "12.75"]


def measured(folder: Path, *columns: Sequence[str]) -> Measured:
    """Measure columns of a file with semicolons."""
    names = ";".join(f"c{number}" for number in range(len(columns)))
    lines = "".join(";".join(row) + "\n" for row in zip(*columns, strict=True))
    with open_file(write(folder / "a.csv", f"{names}\n{lines}")) as relation:
        return measure(relation)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_a_number_with_a_decimal_comma_is_that_number(number: Decimal) -> None:
    key = key_of(ValueType.NUMBER, COMMA)
    grouped = f"{number:,}".translate(str.maketrans(",.", ".,"))
    assert key(str(number).replace(".", ",")) == key(grouped) == key(grouped.replace(".", " ")) == number
    assert key(f"{number:.2f}") is None


@pytest.mark.parametrize("text", ["1.23", "12.34,5", "1,2,3", "1.2345", "1 23", "1.234 567", ",", "", "1,5x"])
def test_other_texts_are_no_numbers_with_decimal_commas(text: str) -> None:
    assert key_of(ValueType.NUMBER, COMMA)(text) is None


@pytest.mark.parametrize(
    ("columns", "commas"),
    [
        ([MONEY], True),
        ([[*MONEY, "NA"]], True),
        ([MONEY, THOUSANDS], True),
        ([["1.234.567", "1.000"]], True),
        ([THOUSANDS], False),
        ([POINTED], False),
        ([MONEY, POINTED], False),
        ([["1,234", "2,500"]], False),
        ([["1,5 kg"], ["Rome, Italy"]], False),
        ([["12", "13"]], False),
    ],
)
def test_decimal_commas_are_told_where_nothing_else_will_do(columns: list[list[str]], commas: bool) -> None:
    texts = {f"c{number}": [(text, 1) for text in own] for number, own in enumerate(columns)}
    assert writing_of(texts, ";").numerals == (COMMA if commas else POINT)


@pytest.mark.parametrize(
    "columns",
    [[[*MONEY, *POINTED]], [MONEY, POINTED], [THOUSANDS], [["1,234", "2,500"]]],
    ids=["one column", "two columns", "thousands", "commas"],
)
def test_warnings_contain_no_value(columns: list[list[str]], message: SnapshotAssertion) -> None:
    texts = {f"c{number}": [(text, 1) for text in own] for number, own in enumerate(columns)}
    (warning,) = writing_of(texts, ";").warnings
    assert exchange(columns, warning) == message
    assert not any(text in warning for own in columns for text in own if len(text) > 1)


@pytest.mark.parametrize("records", [len(MONEY), 3 * SAMPLE])
def test_a_column_is_measured_by_its_numbers(records: int, tmp_path: Path) -> None:
    texts = [f"{number},{number % 7}" for number in range(records)]
    found = measured(tmp_path, texts, ["x"] * records)
    column = found.columns[0]
    assert found.numerals == COMMA
    assert column.type is ValueType.NUMBER
    assert column.numbers.tolist() == sorted(float(text.replace(",", ".")) for text in column.texts)


def test_spaces_around_values_are_said(tmp_path: Path, message: SnapshotAssertion) -> None:
    numbers, decimals = ["34", " 34 ", "35", "35 ", " 36"], ["1,5", " 2,5", "3", "4", "5"]
    columns = [numbers, ["a", "b", "a ", "c", "d"], [" x", " y", " z", " x", " y"], list("abcab"), decimals]
    found = measured(tmp_path, *columns)
    assert [each.type for each in found.columns] == ["integer", "text", "text", "text", "number"]
    assert found.columns[0].numbers.tolist() == [34, 35, 36]
    assert found.columns[0].weights.tolist() == [2, 2, 1]
    assert exchange(columns, "\n".join(found.warnings)) == message


def test_of_many_columns_with_spaces_ten_are_named(tmp_path: Path) -> None:
    (warning,) = measured(tmp_path, *[[" a", " b"]] * 12).warnings
    assert warning.startswith("spaces around the values of columns 'c0', 'c1', ")
    assert warning.endswith("'c9' and 2 more are ignored")


@pytest.mark.parametrize("records", [9, 3 * SAMPLE])
def test_numbers_with_spaces_are_numbers_in_wide_columns_too(records: int, tmp_path: Path) -> None:
    columns = [[f" {each}" for each in range(records)], [f" {each}.5 " for each in range(records)]]
    assert [each.type for each in measured(tmp_path, *columns).columns] == ["integer", "number"]


@pytest.mark.parametrize("records", [9, 3 * SAMPLE])
def test_codes_with_points_are_no_numbers_in_wide_columns_too(records: int, tmp_path: Path) -> None:
    """The 01.11 of NACE is no number, also where it is outside the sample."""
    prices = [f"{each + 10}.50" for each in range(records)]
    found = measured(tmp_path, prices, [*prices[:-1], "01.11"]).columns
    assert [each.type for each in found] == ["number", "text"]


@pytest.mark.parametrize("text", ["0.500", "-0.125", "00.500", "0 500", "012.345,5"])
def test_nothing_stands_between_thousands_behind_a_zero(text: str) -> None:
    """With decimal commas 0.500 is not five hundred: it has a decimal point."""
    assert COMMA.plain(text) is None
