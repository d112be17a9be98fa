"""Load a DataFrame into DuckDB as texts."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.engines.base import check_header
from anonymizer.engines.duckdb import Database, DuckRelation
from anonymizer.errors import DataError

if TYPE_CHECKING:
    import pandas

NAME = "the DataFrame"


def load_frame(database: Database, frame: pandas.DataFrame) -> DuckRelation:
    """Load a DataFrame; the row labels (its index) play no part.

    Raises
    ------
    DataError: as for ``open_frame``.
    """
    columns = list(frame.columns)
    if not columns or not len(frame):
        found = f"{len(frame)} records, {len(columns)} columns"
        raise DataError(f"{NAME}: {found}; at least one of each is needed")
    for column in columns:
        if not isinstance(column, str):
            raise DataError(f"{NAME}: column name {column!r} is not a text; rename it with df.columns")
    check_header(NAME, columns)
    arrays = {f"c{index}": _texts(frame.iloc[:, index]) for index in range(len(columns))}
    database.connection.register("frame", arrays)
    selected = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in arrays)
    database.connection.execute(f"CREATE TABLE records AS SELECT {selected} FROM frame")
    database.connection.unregister("frame")
    return DuckRelation(database, NAME, columns)


def _texts(series: pandas.Series[Any]) -> Any:
    """Return the text of each record, None where missing, shape (records,), object."""
    try:
        codes, values = series.factorize()
    except TypeError:  # values that cannot be hashed, such as lists
        codes, values = series.map(repr, na_action="ignore").factorize()
    texts = np.empty(len(values) + 1, dtype=object)
    # An index gives its single-precision numbers as doubles, an array as they are.
    distinct = np.asarray(values) if values.dtype.kind == "f" else values
    texts[:-1] = [_text(value) for value in distinct]
    texts[-1] = None  # the code of a missing value is -1
    return texts[codes]


def _text(value: Any) -> str:
    """Return what the cast of the same value in a Parquet file gives."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        return str(value).removesuffix(".0")
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
