"""Columns of DataFrames of every type come out as they went in, or are refused by name before a search."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anonymizer as an
from anonymizer.data.frames import record_texts, value_text
from tests.data.column_types import (
    arrow_columns,
    pandas_columns,
    polars_columns,
    refused_arrow_columns,
    refused_polars_columns,
)

ROLES = ["insensitive", "sensitive", "quasi-identifier"]
ARROW, PANDAS, POLARS = arrow_columns(), pandas_columns(), polars_columns()
REFUSED = refused_arrow_columns() | refused_polars_columns()

QUICK = {
    *("string_view", "binary_view", "decimal32(5, 2)", "decimal256(60, 2)", "run ends of texts", "uuid"),
    *("time64[ns]", "interval", "far date", "struct of views", "dictionary of view", "null"),
}
"""Types without kernels, or with values that Python cannot hold; the others are slow tests."""


def frame_of(column: Any) -> Any:
    """Return eight records, four and the same four, of the kind of the column."""
    known = ["a"] * 4 + ["b"] * 4
    if isinstance(column, pl.Series):
        return pl.DataFrame({"q": known, "v": pl.concat([column, column])})
    if isinstance(column, pd.Series):
        return pd.DataFrame({"q": known, "v": pd.concat([column, column], ignore_index=True)})
    return pa.table({"q": known, "v": pa.chunked_array([column, column], column.type)})


def config_of(role: str) -> dict[str, Any]:
    k = 1 if role == "quasi-identifier" else 2
    roles = {"q": "quasi-identifier", "v": role}
    return {"attributes": roles, "constraints": [{"model": "k-anonymity", "k": k}], "attacks": []}


def kind_of(column: Any) -> Any:
    return column.type if isinstance(column, pa.ChunkedArray) else column.dtype


def values_of(column: Any) -> list[str]:
    """Return the values in an order of their own; Arrow shows those that Python cannot hold as texts."""
    if isinstance(column, pl.Series) and column.dtype.is_temporal():
        column = column.to_physical()
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.ArrowDtype):
        column = pa.chunked_array(pa.array(column.array))
    if isinstance(column, pa.ChunkedArray) and pa.types.is_temporal(column.type):
        whole = pa.int32() if column.type.bit_width == 32 else pa.int64()
        if not pa.types.is_interval(column.type):
            column = column.cast(whole)
    listed = column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.to_list()
    return sorted(map(repr, listed))


def params(columns: dict[str, Any], *, quick: set[str]) -> list[Any]:
    """Return a parameter for each column, slow unless its name is quick."""
    slow = pytest.mark.slow
    return [
        pytest.param(column, id=name, marks=() if name in quick else slow) for name, column in columns.items()
    ]


KEPT = [
    *params(
        {f"arrow {name}": each for name, each in ARROW.items()}, quick={f"arrow {name}" for name in QUICK}
    ),
    *params(
        {f"pandas {name}": each for name, each in PANDAS.items()},
        quick={"pandas longdouble", "pandas object lists", "pandas arrow string_view"},
    ),
    *params({f"polars {name}": each for name, each in POLARS.items()}, quick={"polars Time"}),
]


@pytest.mark.parametrize("column", KEPT)
@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_what_is_not_generalized_comes_out_as_it_went_in(column: Any, role: str) -> None:
    given = frame_of(column)
    released = an.anonymize(given, config_of(role)).data["v"]
    assert kind_of(released) == kind_of(given["v"])
    assert values_of(released) == values_of(given["v"])


# Python's times, in which this test compares, have no nanoseconds.
IN_PYTHON = [each for each in KEPT if "dictionary of time ns" not in str(each.id)]


@pytest.mark.parametrize("column", IN_PYTHON)
def test_a_quasi_identifier_at_level_0_has_as_many_values(column: Any) -> None:
    given = frame_of(column)
    released = an.anonymize(given, config_of("quasi-identifier")).data["v"]
    absent = {"None", "nan", "<NA>", "NaT", "'<missing>'", "(nan+0j)"}
    before, after = (set(values_of(each)) - absent for each in (given["v"], released))
    assert len(after) == len(before)


@pytest.mark.parametrize("column", KEPT)
@pytest.mark.parametrize("role", ROLES)
def test_check_attack_and_init_read_every_type(column: Any, role: str) -> None:
    given = frame_of(column)
    known = ["q", "v"] if role == "quasi-identifier" else ["q"]
    an.check(given, quasi_identifiers=known, sensitive=["v"] if role == "sensitive" else [])
    an.attack(given, given, config_of(role))
    with suppress(an.InputError):  # there may be nothing to protect
        an.init(given)


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "anonymize": lambda given, role: an.anonymize(given, config_of(role)),
    "check": lambda given, role: an.check(given, quasi_identifiers=["q"]),
    "attack": lambda given, role: an.attack(given, given, config_of(role)),
    "init": lambda given, role: an.init(given),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", REFUSED)
def test_other_types_are_refused_by_name(name: str, call: str) -> None:
    given = frame_of(REFUSED[name])
    with pytest.raises(
        an.InputError, match=r"column 'v' has the type .*cast it, for example to text"
    ) as refused:
        CALLS[call](given, "insensitive")
    shown = str(kind_of(given["v"]))
    assert shown in str(refused.value)


@pytest.mark.parametrize("call", CALLS)
def test_two_columns_of_one_name_in_arrow_are_refused(call: str) -> None:
    given = pa.Table.from_arrays([pa.array(list("aabb"))] * 2, names=["q", "q"])
    with pytest.raises(an.InputError, match="two columns named 'q'"):
        CALLS[call](given, "insensitive")


def test_generalized_texts_keep_the_type_of_the_text() -> None:
    given = pa.table({"q": pa.array(list("abcd"), pa.string_view()), "v": pa.array([1, 2, 3, 4])})
    data = an.anonymize(given, config_of("insensitive")).data
    assert data.schema.field("q").type == pa.string_view()
    assert data["q"].to_pylist() == ["*"] * 4
    assert sorted(data["v"].to_pylist()) == [1, 2, 3, 4]


def test_numbers_that_are_generalized_do_not_become_numbers_again() -> None:
    ages = pa.array([31, 32, 41, 42] * 2, pa.int64()).dictionary_encode()
    given = pa.table({"q": ages, "v": pa.array(range(8))})
    digits = {"role": "quasi-identifier", "hierarchy": {"tree": {"*": {"3": [31, 32], "4": [41, 42]}}}}
    asked = {
        "attributes": {"q": digits, "v": "insensitive"},
        "constraints": [{"model": "k-anonymity", "k": 4}],
    }
    released = an.anonymize(given, asked).data["q"]
    assert set(released.to_pylist()) == {"3", "4"}


def test_a_column_that_is_missing_once_keeps_its_type_with_nulls() -> None:
    views = pa.chunked_array([pa.array(["x", "", "y", ""], pa.string_view())])
    given = pd.DataFrame({"q": list("aabb"), "v": pd.arrays.ArrowExtensionArray(views)})
    asked = config_of("insensitive") | {"input": {"missing": [""]}, "output": {"missing": ""}}
    data = an.anonymize(given, asked).data
    assert data["v"].dtype == given["v"].dtype
    assert values_of(data["v"]) == ["'x'", "'y'", "None", "None"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"a\x00'\\", "a\\x00\\x27\\x5C"),
        (["a, b"], "['a, b']"),
        (["a", "b"], "[a, b]"),
        (["NULL", None], "['NULL', NULL]"),
        ([""], "['']"),
        ({"a": "x y"}, "{'a': x y}"),
    ],
)
def test_texts_of_bytes_and_parts_differ_where_the_values_do(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_numbers_of_more_than_64_bits_are_not_merged() -> None:
    wide = np.longdouble(1) + np.finfo(np.longdouble).eps
    codes, texts = record_texts(pd.Series(np.array([1, wide, 1], dtype=np.longdouble)))
    assert len(set(codes)) == len(texts) == 2


def test_another_argument_than_a_config_is_refused() -> None:
    frame = pd.DataFrame({"q": ["a", "a"]})
    for call in (partial(an.anonymize, frame), partial(an.attack, frame, None), partial(an.compare, frame)):
        with pytest.raises(an.InputError, match="5"):
            call(5)
