"""Columns and combinations against plain Python, record by record."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.open import open_file, open_frame
from anonymizer.data.table import ColumnRequest, encode, read_column, read_columns
from anonymizer.errors import DataError
from anonymizer.model.labels import MISSING
from anonymizer.model.table import Column, ValueType
from tests.data.files import frame, write
from tests.helpers.messages import exchange
from tests.shared import shared


def _read(values: list[str | None], declared: str | None = None, missing: tuple[str, ...] = ("",)) -> Column:
    request = ColumnRequest("a", ValueType(declared) if declared else None)
    with open_frame(frame(["a"], [[value] for value in values])) as relation:
        return read_columns(relation, [request], missing)["a"].column


def test_integers_sort_as_numbers_and_a_missing_value_comes_last() -> None:
    column = _read(["10", "9", "", "-3", "10", None, "?"], missing=("", "?"))
    assert (column.type, column.texts) == (ValueType.INTEGER, ("-3", "9", "10", MISSING))
    assert column.counts.tolist() == [1, 1, 2, 3]
    assert column.missing == 3
    assert column.numbers is not None
    assert column.numbers[:3].tolist() == [-3, 9, 10]
    assert np.isnan(column.numbers[3])


def test_spellings_of_a_number_are_one_value() -> None:
    column = _read(["1.0", "1", "2.50", "1e0", "2.5", "0.1", "1e17", "100000000000000001"])
    assert column.texts == ("0.1", "1", "2.5", "1e17", "100000000000000001")
    assert column.counts.tolist() == [1, 3, 2, 1, 1]


def test_spellings_of_a_text_stay_apart() -> None:
    column = _read(["1.0", "1", "é", "z", "𝔘", "\uffee"], declared="text")
    assert column.texts == ("1", "1.0", "z", "é", "\uffee", "𝔘")
    assert column.numbers is None
    assert column.missing is None


def test_dates_have_their_ordinals() -> None:
    column = _read(["2024-01-01", "1999-12-31"])
    assert column.texts == ("1999-12-31", "2024-01-01")
    assert column.numbers is not None
    assert column.numbers.tolist() == [date(1999, 12, 31).toordinal(), date(2024, 1, 1).toordinal()]


def test_only_missing_values() -> None:
    column = _read(["", None])
    assert (column.type, column.texts, column.missing) == (ValueType.TEXT, (MISSING,), 0)


def test_missing_tokens_are_the_given_ones() -> None:
    assert _read(["", "a"], missing=("?",)).texts == ("", "a")
    assert _read([MISSING, "a"]).texts == ("a", MISSING)


def test_a_bad_value_names_file_and_column(tmp_path: Path, message: SnapshotAssertion) -> None:
    path = write(tmp_path / "a.csv", "age,zip\n" + "30,1\n" * 20 + "unknown,2\n")
    for kind in (None, ValueType.DATE):
        with open_file(path) as relation, pytest.raises(DataError) as refused:
            read_columns(relation, [ColumnRequest("age", kind)])
        assert exchange(kind, refused.value, tmp_path) == message


def test_one_column_of_a_file(tmp_path: Path, message: SnapshotAssertion) -> None:
    path = write(tmp_path / "a.tsv", "age\tzip\n30\t01\n7\t\n")
    assert read_column(path, "age").texts == ("7", "30")
    assert read_column(path, "zip").texts == ("01", MISSING)
    with pytest.raises(DataError) as refused:
        read_column(path, "zipp")
    assert exchange("zipp", refused.value, tmp_path) == message


values = st.sampled_from(["1", "1.0", "2", "", "30", None])
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=30)
)


@settings(max_examples=15, deadline=None)
@given(tables, st.booleans())
def test_combinations_are_counted_as_python_counts(records: list[list[str | None]], typed: bool) -> None:
    names = [f"c{index}" for index in range(len(records[0]))]
    kind = ValueType.NUMBER if typed else ValueType.TEXT
    with open_frame(frame(names, records)) as relation:
        columns = list(read_columns(relation, [ColumnRequest(name, kind) for name in names]).values())
        encoded = encode(relation, columns)
    expected = [
        tuple(value.removesuffix(".0" if typed else "") if value else MISSING for value in record)
        for record in records
    ]
    known = [read.column.texts for read in columns]
    decoded = [
        tuple(texts[code].removesuffix(".0" if typed else "") for texts, code in zip(known, row, strict=True))
        for row in encoded.codes
    ]
    assert [decoded[position] for position in encoded.combination] == expected
    assert dict(zip(decoded, encoded.counts.tolist(), strict=True)) == Counter(expected)
    assert encoded.codes.tolist() == sorted(encoded.codes.tolist())
    assert (encoded.codes.dtype, encoded.counts.dtype, encoded.combination.dtype) == (
        "int32",
        "int64",
        "int32",
    )


def test_combinations_whose_key_does_not_fit_one_integer() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 3, size=(3000, 5)) + 3 * np.arange(3000)[:, None] // 7 * 7
    data = pd.DataFrame(numbers.astype(str), columns=list("abcde"), dtype=object).map("v{}".format)
    with open_frame(data) as relation:
        wide = list(read_columns(relation, [ColumnRequest(name) for name in "abcde"] * 2).values()) * 2
        assert np.prod([float(read.column.size) for read in wide]) > 2**63
        encoded = encode(relation, wide)
    assert encoded.codes.tolist() == sorted(encoded.codes.tolist())
    texts = [read.column.texts for read in wide]
    for record in range(0, 3000, 97):
        row = encoded.codes[encoded.combination[record]]
        assert [texts[j][code] for j, code in enumerate(row)] == list(data.iloc[record]) * 2
    assert encoded.counts.sum() == 3000


def test_adult_has_its_combinations() -> None:
    with open_file(shared("data", "adult", "data.csv.gz")) as relation:
        columns = read_columns(relation, [ColumnRequest(name) for name in relation.columns])
        encoded = encode(relation, list(columns.values()))
        assert encoded.codes.shape == (19502, 9)
        assert encoded.counts.sum() == len(encoded.combination) == 30162
        assert (np.bincount(encoded.combination) == encoded.counts).all()
    assert [read.column.type for read in columns.values()].count(ValueType.INTEGER) == 1
