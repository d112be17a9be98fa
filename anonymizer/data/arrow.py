"""Columns of Arrow in types that are worked with, each with its way back to the type that was given.

Arrow has types that its kernels neither select nor group, such as views, run ends and extensions, and types
whose values Python cannot hold, such as times of nanoseconds. On entry, each column is cast once to a type
with kernels; nested values and those that Python cannot hold become texts. A released column gets its type
back if its values are values of the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from anonymizer.data.duckdb.database import query_once, text_of
from anonymizer.data.duckdb.relation import DuckError
from anonymizer.errors import DataError


@dataclass(frozen=True, eq=False)
class WayBack:
    """How the released values of a column get the type that was given.

    Attributes
    ----------
    given: type of the input.
    worked: type that is worked with.
    values: of the input in a type with kernels, if they were replaced by texts.
    place: of each text among these.
    """

    given: Any
    worked: Any
    values: Any = None
    place: Mapping[str, int] | None = None

    def restore(self, released: Any) -> Any:
        """Return released values in the type of the input, unchanged if they are other values."""
        if released.type == self.given:
            return released
        if self.place is not None:
            texts = released.to_pylist()
            if not _is_text(released.type) or not all(text is None or text in self.place for text in texts):
                return released
            places = [None if text is None else self.place[text] for text in texts]
            released = self.values.take(pa.array(places, pa.int64()))
        elif not _alike(released.type, self.worked):
            return released
        return pa.chunked_array([_given(chunk, self.given) for chunk in _chunks(released)], self.given)


def worked_column(where: str, column: Any) -> tuple[Any, WayBack | None]:
    """Return a chunked array of Arrow in a type that is worked with, and its way back if that is another.

    Parameters
    ----------
    where: the column in messages.

    Raises
    ------
    DataError: no kernel and no cast knows the type, or a value is out of range.
    """
    given = column.type
    try:
        plain = pa.chunked_array([_plain(chunk) for chunk in column.chunks], _plain_type(given))
        if _has_python_values(given, plain):
            back = None if plain.type == given and not pa.types.is_dictionary(given) else plain.type
            return plain, None if back is None else WayBack(given, back)
        texts = _texts(given, plain)
        # Casting back must be possible before anything is searched.
        _given(_chunks(plain)[0], given)
    except (pa.ArrowException, DuckError, NotImplementedError, OverflowError, TypeError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise DataError(
            f"{where} has the type {given}, which cannot be read ({reason}); cast it, for example to text, "
            "or leave the column out"
        ) from None
    place: dict[str, int] = {}
    for number, text in enumerate(texts):
        if text is not None:
            place.setdefault(text, number)
    shown = pa.chunked_array([pa.array(texts, pa.large_string())])
    return shown, WayBack(given, shown.type, plain.combine_chunks(), place)


EXACT = float(1 << 53)
"""Whole numbers below it are exact in the 64 bits of a fraction."""


def number_column(values: Any) -> Any:
    """Return an array of numbers, as whole ones if all are.

    Parameters
    ----------
    values: an array of fractions with NaN for nulls, or a list of numbers and None.
    """
    if isinstance(values, list):
        if not any(isinstance(each, float) for each in values):
            with suppress(OverflowError, pa.ArrowInvalid):
                return pa.array(values, pa.int64())
        values = np.array(values, dtype=np.float64)
    absent = np.isnan(values)
    known = values[~absent]
    whole = (known == np.floor(known)).all() and (np.abs(known) < EXACT).all()
    if len(known) and whole:
        return pa.array(np.where(absent, 0, values).astype(np.int64), mask=absent)
    return pa.array(values, mask=absent)


def _chunks(column: Any) -> list[Any]:
    """Return the chunks of a chunked array, at least one; an array is one."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunks or [pa.array([], column.type)]
    return [column]


def _is_text(kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _alike(one: Any, other: Any) -> bool:
    """Return whether values of two types are of one kind, so that a cast keeps them."""
    if types.is_dictionary(one) and types.is_dictionary(other):
        return _alike(one.value_type, other.value_type)
    return one == other or (_is_text(one) and _is_text(other))


def _plain_type(kind: Any) -> Any:
    """Return a type with kernels for the same values.

    Raises
    ------
    NotImplementedError: there is none.
    """
    if isinstance(kind, pa.BaseExtensionType):
        return _plain_type(kind.storage_type)
    if types.is_run_end_encoded(kind):
        return _plain_type(kind.value_type)
    if types.is_dictionary(kind):
        value = _plain_type(kind.value_type)
        simple = value.num_fields == 0 and not types.is_decimal(value)
        return pa.dictionary(kind.index_type, value, kind.ordered) if simple else value
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if kind.num_fields:
        return _plain_nested_type(kind)
    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(kind, kind)


def _plain_nested_type(kind: Any) -> Any:
    fields = [_plain_field(kind.field(number)) for number in range(kind.num_fields)]
    if fields == [kind.field(number) for number in range(kind.num_fields)] and not types.is_union(kind):
        return kind
    if types.is_struct(kind):
        return pa.struct(fields)
    if types.is_map(kind):
        key, value = _plain_field(kind.key_field), _plain_field(kind.item_field)
        return pa.map_(key, value, kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(fields[0], kind.list_size)
    if types.is_list(kind) or types.is_large_list(kind):
        return pa.list_(fields[0]) if types.is_list(kind) else pa.large_list(fields[0])
    # Arrow casts lists to views of them, but not back.
    raise NotImplementedError("no kernel selects its values")


def _plain_field(field: Any) -> Any:
    """Return a field of a nested type.

    Raises
    ------
    NotImplementedError: Arrow cannot cast its values, unless the whole field is left as it is.
    """
    kind = field.type
    if types.is_run_end_encoded(kind) or isinstance(kind, pa.BaseExtensionType):
        raise NotImplementedError(f"{kind} inside other values")
    plain = _plain_type(kind)
    return field if plain == kind else field.with_type(plain)


def _plain(array: Any) -> Any:
    """Return an array in its plain type."""
    wanted = _plain_type(array.type)
    if isinstance(array.type, pa.BaseExtensionType):
        return _plain(array.storage)
    if pa.types.is_run_end_encoded(array.type):
        return _plain(pc.run_end_decode(array))
    if pa.types.is_dictionary(array.type):
        values = _plain(array.dictionary)
        if not pa.types.is_dictionary(wanted):
            return values.take(array.indices)
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=array.type.ordered)
    return array if array.type == wanted else array.cast(wanted)


def _given(array: Any, kind: Any) -> Any:
    """Return an array of a plain type in the type that was given."""
    if array.type == kind:
        return array
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _given(array, kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(_given(array, kind.value_type), kind.run_end_type)
    if pa.types.is_dictionary(kind):
        coded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
        values, places = _given(coded.dictionary, kind.value_type), coded.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(places, values, ordered=kind.ordered)
    return array.cast(kind)


_YEARS = (-719162, 2932896)
"""Days from 1970 of the years 1 and 9999, which Python can hold."""

_PER_DAY = {"s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}


def _has_python_values(given: Any, plain: Any) -> bool:
    """Return whether Python holds each value of a column as it is, and kernels group the type."""
    kind = plain.type
    if isinstance(given, pa.BaseExtensionType) or types.is_interval(kind):
        return False
    if types.is_dictionary(kind):
        dictionaries = [chunk.dictionary for chunk in plain.chunks]
        return all(_has_python_values(each.type, pa.chunked_array([each])) for each in dictionaries)
    if kind.num_fields or (types.is_time64(kind) and kind.unit == "ns"):
        return False
    if not types.is_date(kind) and not types.is_timestamp(kind):
        return True
    days = _PER_DAY[kind.unit] if types.is_timestamp(kind) else 1 if types.is_date32(kind) else _PER_DAY["ms"]
    numbers = plain.cast(pa.int32() if types.is_date32(kind) else pa.int64())
    ends = pc.min_max(numbers).as_py()
    # A day less at each end leaves room for time zones.
    low, high = (_YEARS[0] + 1) * days, (_YEARS[1] - 1) * days
    return ends["min"] is None or (low <= ends["min"] and ends["max"] <= high)


def _texts(given: Any, plain: Any) -> list[str | None]:
    """Return the text of each value of a column, as in Parquet; different values have different texts."""
    kind = plain.type
    if isinstance(given, pa.BaseExtensionType) and given.extension_name == "arrow.uuid":
        own = pa.chunked_array([_given(chunk, given) for chunk in plain.chunks], given).to_pylist()
        return [None if value is None else str(value) for value in own]
    if pa.types.is_dictionary(kind):
        return _texts(
            given.value_type, pa.chunked_array([chunk.dictionary_decode() for chunk in plain.chunks])
        )
    if _has_interval(kind):
        if kind.num_fields:
            raise NotImplementedError("intervals inside other values")
        return [None if each is None else _interval_text(*each) for each in plain.to_pylist()]
    timestamp = pa.types.is_timestamp(kind) and kind.tz is None
    text = text_of("v", "TIMESTAMP") if timestamp else "CAST(v AS VARCHAR)"
    rows = query_once(f"SELECT {text} FROM given", {"given": pa.table({"v": plain})})
    return [row[0] for row in rows]


def _has_interval(kind: Any) -> bool:
    parts = (kind.field(number).type for number in range(kind.num_fields))
    return bool(types.is_interval(kind)) or any(map(_has_interval, parts))


def _interval_text(months: int, days: int, nanoseconds: int) -> str:
    """Return an interval as in ISO 8601; DuckDB has no nanoseconds in intervals.

    >>> _interval_text(1, 2, 3)
    'P1M2DT0.000000003S'
    """
    seconds, rest = divmod(abs(nanoseconds), 10**9)
    sign = "-" if nanoseconds < 0 else ""
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"P{months}M{days}DT{sign}{seconds}{fraction}S"
