"""Adult as a table of the product, and as plain arrays for a search that shares no code with it."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from io import StringIO

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.measure import Measure
from anonymizer.model.table import Column, QuasiIdentifier, SensitiveAttribute, Table, ValueType
from tests.helpers.build import hierarchy
from tests.shared import shared
from tests.twins.microdata import Path, Value

ALL = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
FIVE = ("sex", "age", "race", "marital-status", "education")


@cache
def cells() -> dict[str, tuple[str, ...]]:
    """Return the columns of the file."""
    text = gzip.decompress(shared("data", "adult", "data.csv.gz").read_bytes()).decode()
    head, *rows = csv.reader(StringIO(text))
    return dict(zip(head, zip(*rows, strict=True), strict=True))


@cache
def paths(name: str) -> dict[Value, Path]:
    """Return the hierarchy of a column: the labels of each value from its own up to the root."""
    text = shared("data", "adult", "hierarchies", f"{name}.csv").read_text()
    return {row[0]: tuple(row) for row in csv.reader(StringIO(text)) if row}


@cache
def encoded(name: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct values of a column in their order, and the position in them of each cell."""
    column = cells()[name]
    values = tuple(sorted(set(column), key=int if name == "age" else None))
    position = {value: code for code, value in enumerate(values)}
    return values, np.array([position[cell] for cell in column], dtype=np.int64)


@cache
def _column(name: str) -> Column:
    values, codes = encoded(name)
    numbers = np.array([float(value) for value in values]) if name == "age" else None
    kind = ValueType.INTEGER if name == "age" else ValueType.TEXT
    return Column(name, kind, values, np.bincount(codes), numbers, None)


@cache
def table(names: tuple[str, ...], sensitive: tuple[str, ...] = ()) -> Table:
    """Return the frequency table of some quasi-identifiers and sensitive attributes."""
    own, secret = [], []
    for name in (*names, *sensitive):
        tree, position = hierarchy(paths(name), name)
        leaf = np.array([position[value] for value in encoded(name)[0]], dtype=np.int32)
        if name in sensitive:
            secret.append(SensitiveAttribute(_column(name), tree, leaf))
        else:
            own.append(QuasiIdentifier(_column(name), tree, leaf, 1.0, 0, tree.height))
    codes = np.stack([encoded(name)[1].astype(np.int32) for name in (*names, *sensitive)], axis=1)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    return Table(tuple(own), tuple(secret), np.ascontiguousarray(distinct), Measure(counts.astype(np.int64)))
