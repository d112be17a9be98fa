"""Data frames of other libraries give the same release, as what they were."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.data.frame_kinds import frame_kind
from anonymizer.data.open import open_file, open_frame
from tests.data.files import rows
from tests.helpers.messages import exchange
from tests.test_api import as_csv, config, expected, frame

COLUMNS = ["age", "zip", "sex", "diagnosis", "note"]


def arrow() -> pa.Table:
    return pa.Table.from_pandas(frame(), preserve_index=False)


def people_polars() -> pl.DataFrame:
    return pl.DataFrame(arrow())


def test_a_polars_frame_comes_back_as_one() -> None:
    given = people_polars()
    before = given.clone()
    data = an.anonymize(given, config()).data
    assert isinstance(data, pl.DataFrame)
    assert data.write_csv() == expected()
    assert given.equals(before)


def test_an_arrow_table_comes_back_as_one_without_metadata() -> None:
    data = an.anonymize(arrow(), config()).data
    assert isinstance(data, pa.Table)
    assert as_csv(data.to_pandas()) == expected()
    assert data.schema.metadata is None
    assert all(field.metadata is None for field in data.schema)


class Stream:
    """What exports an Arrow stream and is nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return arrow().__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("given", [Stream(), arrow().to_reader()], ids=["stream", "reader"])
def test_a_stream_becomes_a_table(given: Any) -> None:
    data: Any = an.anonymize(given, config()).data
    assert isinstance(data, pa.Table)
    assert as_csv(data.to_pandas()) == expected()


def test_a_relation_of_duckdb() -> None:
    people = arrow()
    data: Any = an.anonymize(duckdb.from_arrow(people), config()).data
    assert as_csv(data.to_pandas()) == expected()


def test_check_and_attack_take_what_anonymize_takes() -> None:
    names = {"quasi_identifiers": ["age", "sex"], "sensitive": ["diagnosis"]}
    wanted = an.check(frame(), **names)
    for given in (people_polars(), arrow(), Stream()):
        pd.testing.assert_frame_equal(an.check(given, **names), wanted)
    released = an.anonymize(people_polars(), config()).data
    plain = an.anonymize(frame(), config()).data
    asked = config(attacks=["linkage", "homogeneity"])
    found = an.attack(released, people_polars(), asked).drop(columns="seconds")
    pd.testing.assert_frame_equal(found, an.attack(plain, frame(), asked).drop(columns="seconds"))


@pytest.mark.parametrize(
    ("case", "given"),
    [
        ("a list", [1, 2]),
        ("nothing", None),
        ("a lazy frame", people_polars().lazy()),
        ("a column of polars", people_polars()["age"]),
        ("a column of pandas", frame()["age"]),
        ("a column of Arrow", arrow()["age"]),
        ("a text", "people.csv"),
        ("a path", Path("people.csv")),
        ("a frame without records", people_polars().clear()),
        ("a frame without a column", people_polars().drop("note")),
    ],
)
def test_what_is_no_frame(case: str, given: Any, message: SnapshotAssertion) -> None:
    with pytest.raises(an.InputError) as refused:
        an.anonymize(given, config())
    assert exchange(case, refused.value) == message


TYPES = pl.DataFrame(
    {
        "whole": pl.Series([1, None, 3], dtype=pl.UInt8),
        "single": pl.Series([0.1, None, 1.0], dtype=pl.Float32),
        "double": [1.5, 2.0, -0.0],
        "text": ["a", None, ""],
        "category": pl.Series(["y", "x", None], dtype=pl.Categorical),
        "enum": pl.Series(["p", "q", "p"], dtype=pl.Enum(["q", "p", "never seen"])),
        "day": [datetime.date(2020, 1, 1), None, datetime.date(1900, 1, 1)],
        "moment": [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 3, 4, 5, 678), None],
        "truth": [True, False, None],
        "exact": pl.Series([Decimal("1.50"), None, Decimal("2")], dtype=pl.Decimal(10, 2)),
        "time": [datetime.time(1, 2, 3), None, datetime.time(0, 0)],
        "list": [[1], [2, 3], None],
        "mapping": [{"a": 1}, {"a": 2}, None],
        "texts": [["a b", None], [], None],
    }
)


def test_texts_are_those_of_the_same_parquet_file(tmp_path: Path) -> None:
    TYPES.write_parquet(tmp_path / "types.parquet")
    with (
        open_frame(frame_kind(TYPES).to_pandas(TYPES)) as here,
        open_file(tmp_path / "types.parquet") as there,
    ):
        assert here.columns == there.columns
        assert rows(here) == rows(there)


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64])
def test_zero_has_one_text_whatever_its_sign(kind: Any, tmp_path: Path) -> None:
    zeros = pl.DataFrame({"a": pl.Series([0.0, -0.0, 0.5, None, -0.0], dtype=kind)})
    zeros.write_parquet(tmp_path / "zeros.parquet")
    with (
        open_frame(frame_kind(zeros).to_pandas(zeros)) as here,
        open_file(tmp_path / "zeros.parquet") as there,
    ):
        for relation in (here, there):
            assert dict(relation.dictionary("a")) == {"0": 3, "0.5": 1, None: 1}
            assert rows(relation) == [("0",), ("0",), ("0.5",), (None,), ("0",)]


def test_kept_columns_of_polars_keep_their_type() -> None:
    twice = pl.concat([TYPES, TYPES]).with_columns(age=pl.Series([1] * 6))
    roles: dict[str, Any] = {name: {"role": "insensitive"} for name in TYPES.columns}
    asked = {
        "attributes": {**roles, "age": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    data = an.anonymize(twice, asked).data
    schema = dict(twice.schema) | {"enum": pl.Categorical()}
    assert dict(data.schema) == schema
    assert sorted(data.rows(), key=str) == sorted(twice.rows(), key=str)
    assert data["enum"].to_arrow().dictionary.to_pylist() == ["q", "p"]


PUBLISHED: dict[str, tuple[Any, Any]] = {
    "int8": (pd.Series([1, 2] * 3, dtype="int8"), "int8"),
    "Int64": (pd.Series([1, 2] * 3, dtype="Int64"), "Int64"),
    "float64": (pd.Series([1.5, 2.0] * 3), "float64"),
    "Float32": (pd.Series([0.1, 2.0] * 3, dtype="Float32"), "Float32"),
    "bool": (pd.Series([True, False] * 3), "bool"),
    "boolean": (pd.Series([True, False] * 3, dtype="boolean"), "boolean"),
    "string": (pd.Series(["a", "b"] * 3, dtype="string"), "string"),
    "object": (pd.Series(["a", "b"] * 3, dtype=object), "object"),
    "arrow text": (pd.Series(["a", "b"] * 3, dtype="string[pyarrow]"), "string[pyarrow]"),
    "arrow number": (pd.Series([1, 2] * 3, dtype="int32[pyarrow]"), "int32[pyarrow]"),
    "day": (pd.Series(pd.to_datetime(["2024-01-01", "2024-02-01"] * 3)), None),
    "arrow day": (
        pd.Series([datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)] * 3, dtype="date32[pyarrow]"),
        "date32[pyarrow]",
    ),
    "with a zone": (pd.Series(pd.to_datetime(["2024-01-01", "2024-02-01"] * 3, utc=True)), None),
    "arrow exact": (
        pd.Series([Decimal("1.50"), Decimal("2.00")] * 3, dtype=pd.ArrowDtype(pa.decimal128(8, 2))),
        None,
    ),
    "unsigned": (pd.Series([1, 200] * 3, dtype="uint8"), "uint8"),
}


def keeping_values(given: pd.Series[Any], **attribute: Any) -> pd.Series[Any]:
    """Return a column as it is published when every value may stay."""
    asked = {
        "attributes": {"x": {"role": "quasi-identifier", **attribute}},
        "constraints": [{"model": "k-anonymity", "k": 1}],
    }
    data: pd.Series[Any] = an.anonymize(given.to_frame("x"), asked).data["x"]
    return data


@pytest.mark.parametrize(("given", "dtype"), PUBLISHED.values(), ids=PUBLISHED)
def test_a_recoded_column_keeps_its_type_where_its_values_stay(given: Any, dtype: Any) -> None:
    published = keeping_values(given)
    assert published.dtype == (given.dtype if dtype is None else dtype)
    assert sorted(published.astype(object).tolist()) == sorted(given.astype(object).tolist())


def test_a_recoded_column_is_text_where_a_value_is_not_its_type_s() -> None:
    given = pd.Series([1, 2, None] * 3, dtype="Int64")
    assert set(keeping_values(given)) == {"1", "2", "<missing>"}
    wide = keeping_values(pd.Series([1, 2] * 3), hierarchy={"intervals": {"width": [10]}}, levels={"min": 1})
    assert wide.dtype == "str"
    masked = keeping_values(
        pd.Series([30, 41, 4, 3]), hierarchy={"tree": {"*": {"3": [30, 3], "x": [41, 4]}}}
    )
    assert set(masked) == {30, 41, 4, 3}
    looks = keeping_values(
        pd.Series([30, 31, 41]), hierarchy={"tree": {"*": {"3": [30, 31], "4": [41]}}}, levels={"min": 1}
    )
    assert set(looks) == {"3", "4"}
    same_number = keeping_values(pd.Series(["1", "1.0"] * 3), type="number")
    assert set(same_number) == {"1"}


def test_categories_are_those_that_are_published_in_their_order() -> None:
    kind = pd.CategoricalDtype(["low", "unused", "high"], ordered=True)
    published = keeping_values(pd.Series(["high", "low"] * 3, dtype=kind))
    assert published.dtype == pd.CategoricalDtype(["low", "high"], ordered=True)
    numbers = keeping_values(pd.Series(pd.Categorical([3, 1] * 3, categories=[3, 2, 1])))
    assert list(numbers.cat.categories) == [3, 1]
    tree = {"tree": {"*": {"any": ["high", "low"]}}}
    given = pd.Series(["high", "low"] * 3, dtype=kind)
    wide = keeping_values(given, hierarchy=tree, levels={"min": 1, "max": 1})
    assert list(wide.cat.categories) == ["any"]
    assert not wide.cat.ordered


@pytest.mark.parametrize("role", ["insensitive", "quasi-identifier"])
def test_a_dictionary_of_arrow_holds_what_is_published_alone(role: str) -> None:
    kind = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    given = pd.DataFrame({"x": pd.Series(["a", "b"] * 3 + ["secret"], dtype=kind), "q": ["z"] * 6 + ["y"]})
    asked = {
        "attributes": {"x": {"role": role}, "q": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "suppression": {"limit": 0.5},
    }
    data = an.anonymize(given, asked).data
    assert data["x"].dtype == kind
    assert sorted(data["x"]) == ["a", "a", "a", "b", "b", "b"]
    chunks = pa.array(data["x"]).chunks if hasattr(pa.array(data["x"]), "chunks") else [pa.array(data["x"])]
    assert {value for chunk in chunks for value in chunk.dictionary.to_pylist()} == {"a", "b"}
    plain = an.anonymize(pa.Table.from_pandas(given), asked).data
    assert plain.column("x").combine_chunks().dictionary.to_pylist() == ["a", "b"]
