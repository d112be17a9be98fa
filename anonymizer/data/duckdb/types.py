"""Types of columns in DuckDB: what Parquet and PostgreSQL keep, and what becomes text in them.

A file of text has the text of every value, and a table of DuckDB has every type. Parquet would change some
values in silence, and DuckDB some values of Parquet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from anonymizer.data.duckdb.database import FRACTIONS, Database, text_of, without_signs
from anonymizer.errors import DataError


class Storage(StrEnum):
    """Where values are written with their types."""

    PARQUET = "Parquet"
    DUCKDB = "DuckDB"
    SERVER = "PostgreSQL"
    COPY = "a copy of a table that is read back"


class Form(StrEnum):
    """How the values of a type are written."""

    KEPT = "kept"
    DECIMAL = "decimal(38,0)"
    TEXT = "text"


_LONG = frozenset({"HUGEINT", "UHUGEINT"})
"""Whole numbers that Parquet has as decimals of at most 38 digits; DuckDB would write them as DOUBLE."""

_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")

_CHANGED = re.compile(r"\b(U?HUGEINT|TIME WITH TIME ZONE|INTERVAL|UNION|BIGNUM|BIT|ENUM|VARIANT)\b")
"""Types that Parquet has not, or with fewer digits, also inside other types."""

_LISTED = re.compile(r"\bENUM\b")
"""A type that lists all values of the input, also those that are not released."""

_OF_SERVER = re.compile(
    r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER)|BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|BLOB|DATE|TIME|"
    r"TIMESTAMP(_S|_MS| WITH TIME ZONE)?"
)
"""Types of which PostgreSQL has all values."""


def form_of(kind: str, storage: Storage) -> Form:
    """Return how the values of a type of DuckDB are written.

    >>> form_of("STRUCT(a INTEGER)", Storage.PARQUET), form_of("INTERVAL[]", Storage.PARQUET)
    (<Form.KEPT: 'kept'>, <Form.TEXT: 'text'>)
    """
    # Names of fields and values of enumerations are in quotes.
    bare = _QUOTED.sub("", kind)
    if storage is Storage.DUCKDB:
        return Form.TEXT if _LISTED.search(bare) else Form.KEPT
    if kind in _LONG:
        return Form.TEXT if storage is Storage.COPY else Form.DECIMAL
    if storage is Storage.SERVER:
        if kind == "UBIGINT":
            return Form.DECIMAL
        return Form.KEPT if _OF_SERVER.fullmatch(kind) else Form.TEXT
    return Form.TEXT if _CHANGED.search(bare) else Form.KEPT


def stored_value(column: str, kind: str, storage: Storage) -> str:
    """Return SQL for a column as it is written."""
    form = form_of(kind, storage)
    if form is Form.DECIMAL:
        return f"CAST({column} AS DECIMAL(38, 0))"
    if kind in FRACTIONS:
        return without_signs(column, kind)
    return column if form is Form.KEPT else text_of(column, kind)


def check_long_numbers(database: Database, source: str, columns: Sequence[tuple[str, str, str]]) -> None:
    """Check that whole numbers of the table ``records`` have at most 38 digits.

    Parameters
    ----------
    source: name of the input in messages.
    columns: name, SQL and type of each.

    Raises
    ------
    DataError: naming the column with longer numbers.
    """
    for name, column, kind in columns:
        if kind in _LONG:
            limit = f"{'9' * 38}::{kind}"
            below = f"OR {column} < -{limit}" if kind == "HUGEINT" else ""
            if database.rows(f"SELECT 1 FROM records WHERE {column} > {limit} {below} LIMIT 1"):
                raise DataError(
                    f"{source}: column '{name}' ({kind}) has numbers of 39 digits, which only text and "
                    "tables of DuckDB hold; set output.path to a .csv, or cast the column to text in a query"
                )


def check_stored_types(database: Database, path: Path, file: Path, source: str) -> None:
    """Check that DuckDB reads the values of a Parquet file as they are stored.

    Parameters
    ----------
    path: of the input in messages.
    file: the file, or one of the files of the folder ``path``.
    source: SQL for its name.

    Raises
    ------
    DataError: naming the first column that would lose digits.
    """
    rows = database.rows(
        f"SELECT name, coalesce(num_children, 0), type, precision, scale FROM parquet_schema({source})"
    )
    for column, leaf, kind, precision, scale in _leaves(rows):
        shown = "" if leaf == column else f" (in '{leaf}')"
        if precision is not None and precision > _DIGITS:
            found = f"decimal({precision}, {scale}){shown}, of which at most {_DIGITS} digits can be read"
        elif kind == "INT96" and _has_nanoseconds(file, column, nested=leaf != column):
            found = f"INT96{shown} with nanoseconds, of which microseconds can be read"
        else:
            continue
        raise DataError(
            f"{path}: column '{column}' is stored as {found}; write it as text, or with fewer digits"
        )


def _has_nanoseconds(file: Path, column: str, *, nested: bool) -> bool:
    """Return whether timestamps in the old type INT96 may have digits that DuckDB drops."""
    try:
        from pyarrow import int64, parquet  # noqa: PLC0415 - an extra
    except ImportError:
        return True
    if nested:
        return True
    # Arrow wraps years that nanoseconds do not reach, and microseconds show which these are.
    files = [parquet.ParquetFile(file, coerce_int96_timestamp_unit=unit) for unit in ("ns", "us")]
    batches = (each.iter_batches(columns=[column]) for each in files)
    for fine, coarse in zip(*batches, strict=True):
        exact, rough = (
            batch.column(0).cast(int64()).fill_null(0).to_numpy(zero_copy_only=False)
            for batch in (fine, coarse)
        )
        if ((exact % 1000 != 0) & (abs(rough) < _REACH)).any():
            return True
    return False


_REACH = 2**63 // 1000 - 10**6
"""Microseconds from 1970 that nanoseconds in 64 bits reach."""

_DIGITS = 38
"""Most digits of a decimal number in DuckDB."""


def _leaves(rows: Sequence[tuple[object, ...]]) -> Iterator[tuple[str, str, str, int | None, int | None]]:
    """Yield column, name, physical type, precision and scale of each leaf of a schema, given in preorder."""
    open_children: list[int] = []
    column = ""
    for name, children, kind, *digits in rows[1:]:
        if not open_children:
            column = str(name)
        else:
            open_children[-1] -= 1
        number = int(str(children))
        if number:
            open_children.append(number)
        else:
            precision, scale = (None if each is None else int(str(each)) for each in digits)
            yield column, str(name), str(kind), precision, scale
        while open_children and not open_children[-1]:
            open_children.pop()
