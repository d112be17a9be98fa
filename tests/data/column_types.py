"""One column of four values, the second and the last equal, for every type of Arrow, pandas and polars."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

DAYS = [dt.date(2020, 1, 1), dt.date(1900, 1, 1), None, dt.date(1900, 1, 1)]
TEXTS = ["x", "y", None, "y"]
WHOLE = [1, 2, None, 2]
LISTS = [["a, b"], ["a", "b"], None, ["a", "b"]]
BYTES = [b"a\x00", b"'\\", None, b"'\\"]
EXACT = [Decimal("1.50"), Decimal("2.00"), None, Decimal("2.00")]
STAMPS = [1, 1_600_000_000_000_000_001, None, 1_600_000_000_000_000_001]
IDS = [UUID(int=1).bytes, UUID(int=2).bytes, None, UUID(int=2).bytes]


def _moments() -> dict[str, Any]:
    """Return dates, times, durations and intervals of every unit."""
    found: dict[str, Any] = {"date32": pa.array(DAYS, pa.date32()), "date64": pa.array(DAYS, pa.date64())}
    for unit in ("s", "ms", "us", "ns"):
        stamps = STAMPS if unit == "ns" else WHOLE
        for zone in (None, "UTC", "Europe/Vienna"):
            found[f"timestamp {unit} {zone}"] = pa.array(stamps, pa.timestamp(unit, zone))
        found[f"duration {unit}"] = pa.array(WHOLE, pa.duration(unit))
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        found[str(kind)] = pa.array(WHOLE, kind)
    found["far timestamp"] = pa.array([253402300800, 2, None, 2], pa.timestamp("s"))
    found["far date"] = pa.array([3000000, 2, None, 2], pa.date32())
    intervals = [(1, 2, 3), (1, 2, 4), None, (1, 2, 4)]
    found["interval"] = pa.array(intervals, pa.month_day_nano_interval())
    return found


def _nested() -> dict[str, Any]:
    records = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, None, {"a": 2, "b": "y"}]
    lists: list[Any] = [[1, 2], [2, 3], None, [2, 3]]
    whole = {
        f"{kind}": pa.array(lists, kind)
        for kind in (
            pa.list_(pa.int8()),
            pa.large_list(pa.int8()),
            pa.list_(pa.int8(), 2),
            pa.list_view(pa.int8()),
            pa.large_list_view(pa.int8()),
        )
    }
    pairs = [[("a", 1)], [("b", 2)], None, [("b", 2)]]
    return whole | {
        "list of texts": pa.array(LISTS, pa.list_(pa.string())),
        "list of views": pa.array(LISTS, pa.list_(pa.string_view())),
        "struct": pa.array(records, pa.struct([("a", pa.int8()), ("b", pa.string())])),
        "struct of views": pa.array(records, pa.struct([("a", pa.int8()), ("b", pa.string_view())])),
        "map": pa.array(pairs, pa.map_(pa.string(), pa.int8())),
    }


def _encoded() -> dict[str, Any]:
    codes, texts = pa.array([0, 1, None, 1], pa.int16()), pa.array(TEXTS)
    values = {
        "text": pa.array(["x", "y"]),
        "view": pa.array(["x", "y"], pa.string_view()),
        "whole": pa.array([1, 2]),
        "date": pa.array(DAYS[:2], pa.date32()),
        "time ns": pa.array([1, 2], pa.time64("ns")),
    }
    dictionaries = {
        f"dictionary of {name}": pa.DictionaryArray.from_arrays(codes, own) for name, own in values.items()
    }
    ends = pa.array([1, 2, 3, 4], pa.int32())
    uuids = pa.array(IDS, pa.binary(16))
    tensors = pa.array([[1, 2], [2, 3], None, [2, 3]], pa.list_(pa.int8(), 2))
    from_storage = pa.ExtensionArray.from_storage
    return dictionaries | {
        "run ends of texts": pa.RunEndEncodedArray.from_arrays(ends, texts),
        "run ends of numbers": pa.RunEndEncodedArray.from_arrays(ends, pa.array(WHOLE)),
        "uuid": from_storage(pa.uuid(), uuids),
        "json": from_storage(pa.json_(), pa.array(["{}", "[]", None, "[]"])),
        "bool8": from_storage(pa.bool8(), pa.array([1, 0, None, 0], pa.int8())),
        "opaque": from_storage(pa.opaque(pa.string(), "kind", "vendor"), texts),
        "tensor": from_storage(pa.fixed_shape_tensor(pa.int8(), [2]), tensors),
    }


def arrow_columns() -> dict[str, Any]:
    """Return the types that are kept."""
    simple = [pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.null()]
    texts = [pa.string(), pa.large_string(), pa.string_view()]
    blobs = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)]
    exact = [pa.decimal32(5, 2), pa.decimal64(10, 2), pa.decimal128(38, 2), pa.decimal256(60, 2)]
    found = {str(kind): pa.array([None] * 4 if pa.types.is_null(kind) else WHOLE, kind) for kind in simple}
    found["bool"] = pa.array([True, False, None, False])
    for kinds, values in ((texts, TEXTS), (blobs, BYTES), (exact, EXACT)):
        found |= {str(kind): pa.array(values, kind) for kind in kinds}
    return found | _moments() | _nested() | _encoded()


def refused_arrow_columns() -> dict[str, Any]:
    """Return the types that are refused by name."""
    codes = pa.array([0, 1, 0, 1], pa.int8())
    places = pa.array([0, 0, 1, 1], pa.int32())
    return {
        "dense union": pa.UnionArray.from_dense(codes, places, [pa.array(["x", "y"]), pa.array([1, 2])]),
        "sparse union": pa.UnionArray.from_sparse(codes, [pa.array(list("xyza")), pa.array([1, 2, 3, 4])]),
        "views in views": pa.array([["a"], ["b"], None, ["b"]], pa.list_view(pa.string_view())),
        "list of intervals": pa.array([[(1, 2, 3)]] * 4, pa.list_(pa.month_day_nano_interval())),
    }


def pandas_columns() -> dict[str, Any]:
    """Return a column of each type of pandas, and of objects."""
    names = [
        "int8",
        "uint64",
        "float16",
        "float32",
        "float64",
        "Int8",
        "UInt64",
        "Float32",
        "str",
        "string",
        "bool",
    ]
    found = {name: pd.Series([1, 2, 1, 2]).astype(name) for name in names}
    wide = np.longdouble(1) + np.finfo(np.longdouble).eps
    found["longdouble"] = pd.Series(np.array([1, wide, 2, wide], dtype=np.longdouble))
    found["boolean"] = pd.Series([True, False, None, False], dtype="boolean")
    found["complex"] = pd.Series(np.array([1 + 2j, 2, np.nan, 2]))
    found["category"] = pd.Series(TEXTS, dtype="category")
    found["whole category"] = pd.Series(WHOLE, dtype="category")
    for unit in ("s", "ms", "us", "ns"):
        found[f"datetime {unit}"] = pd.Series(np.array([1, 10**6 + 1, 1, 2], dtype=f"datetime64[{unit}]"))
        found[f"timedelta {unit}"] = pd.Series(np.array([1, 10**6 + 1, 1, 2], dtype=f"timedelta64[{unit}]"))
    found["zone"] = found["datetime ns"].dt.tz_localize("Europe/Vienna")
    found["far datetime"] = pd.Series(np.array([10**12, 2, 1, 2], dtype="datetime64[s]"))
    found["period"] = pd.Series(pd.period_range("2020-01", periods=4, freq="M"))
    found["interval"] = pd.Series(pd.interval_range(0, 4))
    found["sparse"] = pd.Series([0, 1, 0, 1], dtype="Sparse[int]")
    objects: dict[str, list[Any]] = {
        "lists": LISTS,
        "mappings": [{"a": 1}, {"a": 2}, None, {"a": 2}],
        "tuples": [(1, 2), (2,), None, (2,)],
        "bytes": BYTES,
        "decimals": EXACT,
        "mixed": [1, "2", True, 1.5],
        "uuids": [UUID(int=1), UUID(int=2), None, UUID(int=2)],
        "dates": DAYS,
        "times": [dt.time(1), dt.time(2), None, dt.time(2)],
        "long": [10**40, 2, None, 2],
        "fractions": [Fraction(1, 3), 1, None, 1],
        "arrays": [np.array([1]), np.array([2]), None, np.array([2])],
        "bytearrays": [bytearray(b"a"), bytearray(b"b"), None, bytearray(b"b")],
        "nothing": [None] * 4,
    }
    found |= {f"object {name}": pd.Series(values, dtype=object) for name, values in objects.items()}
    own = {
        f"arrow {name}": pd.arrays.ArrowExtensionArray(pa.chunked_array([array], array.type))
        for name, array in arrow_columns().items()
    }
    return found | {name: pd.Series(array) for name, array in own.items()}


def polars_columns() -> dict[str, pl.Series]:
    """Return a column of each type of polars that is kept."""
    whole = pl.Series(WHOLE)
    kinds: list[Any] = [pl.Int8, pl.Int64, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64, pl.Boolean, pl.String]
    kinds += [pl.Time, *(pl.Datetime(unit) for unit in ("ms", "us", "ns"))]
    kinds += [pl.Datetime("ns", "Europe/Vienna"), *(pl.Duration(unit) for unit in ("ms", "us", "ns"))]
    found = {str(kind): whole.cast(kind) for kind in kinds}
    return found | {
        "Binary": pl.Series(BYTES),
        "Decimal": pl.Series(EXACT),
        "Date": pl.Series(DAYS),
        "Categorical": pl.Series(TEXTS, dtype=pl.Categorical),
        "List": pl.Series(LISTS),
        "Array": pl.Series([[1], [2], None, [2]], dtype=pl.Array(pl.Int8, 1)),
        "Struct": pl.Series([{"a": 1}, {"a": 2}, None, {"a": 2}]),
        "Null": pl.Series([None] * 4),
    }


def refused_polars_columns() -> dict[str, pl.Series]:
    """Return the types of polars that Arrow cannot hold."""
    things = [object(), object(), None, object()]
    return {"Int128": pl.Series(WHOLE).cast(pl.Int128), "Object": pl.Series(things, dtype=pl.Object)}
