"""What a relation reads and counts, against Python's own csv reader and counter."""

from __future__ import annotations

import csv
import hashlib
import io
import tempfile
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.duckdb import columns as room
from anonymizer.data.open import open_file, open_frame
from anonymizer.data.relation import Groups
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.errors import DataError
from tests.data.files import frame, rows, texts, write
from tests.helpers.examples import quickly
from tests.helpers.messages import exchange

tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(texts, min_size=width, max_size=width), min_size=1, max_size=8)
)
fragments = st.lists(
    st.sampled_from(["a", '"', '"', ",", " ", "é", "\n", "\n", "\r\n", "\r"]), min_size=1, max_size=12
)


@settings(max_examples=15, deadline=None)
@given(tables)
def test_a_frame_is_counted_as_python_counts(records: list[list[str]]) -> None:
    names = [f"column {number}" for number in range(len(records[0]))]
    with open_frame(frame(names, records)) as relation:
        assert rows(relation) == [tuple(record) for record in records]
        for position, name in enumerate(names):
            expected = Counter(record[position] for record in records)
            assert relation.dictionary(name) == sorted(expected.items())
        groups = relation.group_counts(names)
        found = zip(zip(*map(groups.texts, range(len(names))), strict=True), groups.counts, strict=True)
        assert {key: int(number) for key, number in found} == Counter(map(tuple, records))


@pytest.mark.slow
@quickly(60, 15)
@given(st.integers(1, 3), fragments)
def test_any_csv_text_is_read_as_the_strict_reader_of_python_does(width: int, parts: list[str]) -> None:
    body = "".join(parts)
    try:
        parsed = list(csv.reader(io.StringIO(body, newline=""), strict=True))
    except csv.Error:
        parsed = []
    # A blank line is an empty value in a single column, and nothing between wider records.
    expected = [tuple(record or [""]) for record in parsed if record or width == 1]
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.csv", ",".join("hkm"[:width]) + "\n" + body)
        if not expected or any(len(record) != width for record in expected):
            with pytest.raises(DataError):
                open_file(path, CsvDialect(separator=","))
            return
        with open_file(path, CsvDialect(separator=",")) as relation:
            assert rows(relation) == expected


def test_a_csv_file_tells_its_digest_and_separator(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv.gz", "a;b\n1;2\n")
    with open_file(path) as relation:
        assert relation.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert relation.separator == ";"
        assert relation.name == str(path)


def test_texts_stay_texts(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'a,b\n01234,\nNULL,""\n1.50,nan\n')
    with open_file(path) as relation:
        assert rows(relation) == [("01234", ""), ("NULL", ""), ("1.50", "nan")]


@pytest.mark.quick(1)
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_very_long_field(quote: str, tmp_path: Path) -> None:
    long = "é" * 3_000_000
    with open_file(write(tmp_path / "a.csv", f"a,b\n1,{quote}{long}{quote}\n2,x\n")) as relation:
        assert rows(relation) == [("1", long), ("2", "x")]


def test_many_distinct_values_have_the_same_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        [value, other] for value, other in zip("badcabd", [None, "x", "y", "x", None, "z", "z"], strict=True)
    ]
    few, many = [], []
    for found, limit in ((few, 20_000), (many, 0)):
        monkeypatch.setattr(room, "ENUM_VALUES", limit)
        with open_frame(frame(["a", "b"], records)) as relation:
            found.extend([relation.codes("a").tolist(), relation.codes("b").tolist()])
            groups = relation.group_counts(["a", "b"])
            found.append(sorted(zip(groups.codes.tolist(), groups.counts.tolist(), strict=True)))
    assert few == many
    assert few[:2] == [[1, 0, 3, 2, 0, 1, 3], [3, 0, 1, 0, 3, 2, 2]]


def test_a_column_of_nulls(tmp_path: Path) -> None:
    with open_frame(frame(["a", "b"], [[None, "x"], [None, "y"]])) as relation:
        assert relation.dictionary("a") == [(None, 2)]
        assert relation.codes("a").tolist() == [0, 0]
        assert len(relation.group_counts(["a"]).counts) == 1


def test_groups_give_their_texts() -> None:
    groups = Groups((("a", None), ("x",)), np.array([[1, 0], [0, 0]], dtype=np.int32), np.array([2, 1]))
    assert (groups.texts(0), groups.texts(1)) == ([None, "a"], ["x", "x"])


def test_parquet_values_have_their_canonical_text(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql(
        "SELECT * FROM (VALUES (1::BIGINT, 1.5::DOUBLE, 1.50::DECIMAL(4,2), DATE '2024-01-02', "
        "TIMESTAMP '2024-01-02 00:00:00', true, 'é', {'x': 1}), "
        "(NULL, 2.0, NULL, NULL, TIMESTAMP '2024-01-02 03:04:05', false, '', NULL)) "
        'AS t(i, f, g, d, ts, b, "t x", s)'
    ).write_parquet(str(path))
    with open_file(path) as relation:
        assert relation.columns == ("i", "f", "g", "d", "ts", "b", "t x", "s")
        assert rows(relation) == [
            ("1", "1.5", "1.50", "2024-01-02", "2024-01-02", "true", "é", "{'x': 1}"),
            (None, "2", None, None, "2024-01-02 03:04:05", "false", "", None),
        ]
        assert relation.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


SPREAD = (0, 9, -(2**40), 2**62)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "Int8": st.integers(-128, 127),
    "Int64": st.integers(-30, 120) | st.sampled_from(SPREAD),
    "UInt64": st.integers(0, 120) | st.sampled_from((2**63, 2**64 - 1)),
    "object": st.sampled_from(("9", "-3", "", "a", "b", "é", "Z", "007", "7")),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("few", [0, 100])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_units_are_numbered_in_the_order_of_their_texts(kind: str, few: int, data: st.DataObject) -> None:
    units = data.draw(st.lists(st.none() | KINDS[kind], min_size=1, max_size=30))
    frame = pd.DataFrame({"a": pd.array(units, dtype=kind)})
    absent = {None, "", "9", "-3"}
    told = [None if each is None or str(each) in absent else str(each) for each in units]
    order = sorted({text for text in told if text is not None})
    with pytest.MonkeyPatch.context() as patch, open_frame(frame) as relation:
        patch.setattr("anonymizer.data.duckdb.relation.FEW_RECORDS", few)
        patch.setattr("anonymizer.data.duckdb.relation.DENSE_LIMIT", data.draw(st.sampled_from((1, 300))))
        found = relation.unit_codes("a", absent).tolist()
    known = sorted({place for place in found if place >= 0})
    assert [None if place < 0 else order[known.index(place)] for place in found] == told


def test_a_frame_has_the_texts_of_the_same_parquet_file(tmp_path: Path) -> None:
    data = pd.DataFrame(
        {
            "integer": pd.array([3, None, 10], dtype="Int64"),
            "promoted": [3.0, np.nan, 10.0],
            "number": [0.1, 1e20, -2.5],
            "single": np.array([0.1, 2.0, 3.5], dtype=np.float32),
            "flag": [True, False, True],
            "day": pd.to_datetime(["2024-01-02", None, "2024-12-31 01:02:03"], format="ISO8601"),
            "date": [date(2024, 1, 2), None, date(1, 1, 1)],
            "text": ["x", None, ""],
            "category": pd.Categorical(["b", "a", None], categories=["c", "b", "a"]),
            "nullable": pd.array([True, None, False], dtype="boolean"),
        },
        index=[7, 7, 9],
    )
    path = tmp_path / "a.parquet"
    duckdb.sql("SELECT * FROM data").write_parquet(str(path))
    with open_file(path) as stored, open_frame(data) as held:
        assert rows(stored) == rows(held)
        assert held.columns == tuple(data.columns)


def test_odd_objects_in_a_frame_have_a_text() -> None:
    data = pd.DataFrame({"a": [[1], [1], None], "b": [Decimal("1.50"), datetime(2024, 1, 2), "x"]})
    with open_frame(data) as relation:
        assert rows(relation) == [("[1]", "1.50"), ("[1]", "2024-01-02"), (None, "x")]
    with open_frame(pd.DataFrame({"a": pd.Series([1, True, 1.0, 1.5], dtype=object)})) as relation:
        assert rows(relation) == [("1",), ("true",), ("1",), ("1.5",)]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"a": []}),
        pd.DataFrame(index=[1, 2]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", " "]),
        pd.DataFrame([[1, 2]]),
    ],
)
def test_a_bad_frame_is_refused(data: pd.DataFrame, message: SnapshotAssertion) -> None:
    with pytest.raises(DataError) as refused:
        open_frame(data, EngineOptions(strict_header=True))
    assert exchange(f"columns {list(data.columns)}", refused.value) == message


def test_bad_parquet_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql('SELECT 1 AS a, 2 AS " "').write_parquet(str(path))
    with pytest.raises(DataError, match="column 2 of 2 has no name"):
        open_file(path, options=EngineOptions(strict_header=True))
    with open_file(path) as relation:
        assert relation.columns == ("a", "column_2")
        assert rows(relation) == [("1", "2")]
        assert relation.header_warnings == list(relation.renamed)
    duckdb.sql("SELECT 1 AS a WHERE false").write_parquet(str(path))
    with pytest.raises(DataError, match="no records"):
        open_file(path)
