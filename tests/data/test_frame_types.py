"""Columns of DataFrames of every type come out as they went in, or are refused by name before a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anonymizer as an
from anonymizer.data.frames import record_texts
from anonymizer.data.texts import value_text
from tests.data.column_types import (
    arrow_columns,
    pandas_columns,
    polars_columns,
    refused_arrow_columns,
    refused_polars_columns,
)

ROLES = ["insensitive", "sensitive", "quasi-identifier"]
COLUMNS: dict[str, dict[str, Any]] = {
    "arrow": arrow_columns(),
    "pandas": pandas_columns(),
    "polars": polars_columns(),
}
REFUSED = refused_arrow_columns() | refused_polars_columns()
LIBRARIES = pytest.mark.parametrize("library", COLUMNS)
AT_ONCE = 8
"""Quasi-identifiers of one run, whose recodings multiply."""


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Return eight records, four and the same four, with columns of one library."""
    known = ["a"] * 4 + ["b"] * 4
    one = next(iter(columns.values()))
    if isinstance(one, pl.Series):
        return pl.DataFrame({"q": known} | {name: pl.concat([own, own]) for name, own in columns.items()})
    if isinstance(one, pd.Series):
        twice = {name: pd.concat([own, own], ignore_index=True) for name, own in columns.items()}
        return pd.DataFrame({"q": known} | twice)
    return pa.table(
        {"q": known} | {name: pa.chunked_array([own, own], own.type) for name, own in columns.items()}
    )


def config_of(role: str, names: Iterable[str] = ("v",)) -> dict[str, Any]:
    k = 1 if role == "quasi-identifier" else 2
    roles = {"q": "quasi-identifier", **dict.fromkeys(names, role)}
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


@pytest.mark.quick(2)
@LIBRARIES
@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_what_is_not_generalized_comes_out_as_it_went_in(library: str, role: str) -> None:
    columns = COLUMNS[library]
    given = frame_of(columns)
    released = an.anonymize(given, config_of(role, columns)).data
    assert [name for name in columns if kind_of(released[name]) != kind_of(given[name])] == []
    assert {name: values_of(released[name]) for name in columns} == {
        name: values_of(given[name]) for name in columns
    }


@pytest.mark.quick(1)
@LIBRARIES
def test_a_quasi_identifier_at_level_0_has_as_many_values(library: str) -> None:
    # Python's times, in which this test compares, have no nanoseconds.
    columns = [(name, own) for name, own in COLUMNS[library].items() if "dictionary of time ns" not in name]
    absent = {"None", "nan", "<NA>", "NaT", "'<missing>'", "(nan+0j)"}
    for place in range(0, len(columns), AT_ONCE):
        given = frame_of(dict(columns[place : place + AT_ONCE]))
        names = [name for name, _ in columns[place : place + AT_ONCE]]
        released = an.anonymize(given, config_of("quasi-identifier", names)).data
        for name in names:
            before, after = (set(values_of(each[name])) - absent for each in (given, released))
            assert len(after) == len(before), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "role"), [*(("pandas", role) for role in ROLES), ("arrow", ROLES[2]), ("polars", ROLES[2])]
)
def test_check_and_attack_read_every_type(library: str, role: str) -> None:
    columns = COLUMNS[library]
    given = frame_of(columns)
    known = ["q", *columns] if role == "quasi-identifier" else ["q"]
    an.check(given, quasi_identifiers=known, sensitive=list(columns) if role == "sensitive" else [])
    an.attack(given, given, config_of(role, columns))


@pytest.mark.slow
@LIBRARIES
def test_init_reads_every_type(library: str) -> None:
    with suppress(an.InputError):  # there may be nothing to protect
        an.init(frame_of(COLUMNS[library]))


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "anonymize": lambda given, role: an.anonymize(given, config_of(role)),
    "check": lambda given, role: an.check(given, quasi_identifiers=["q"]),
    "attack": lambda given, role: an.attack(given, given, config_of(role)),
    "init": lambda given, role: an.init(given),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", REFUSED)
def test_other_types_are_refused_by_name(name: str, call: str) -> None:
    given = frame_of({"v": REFUSED[name]})
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
