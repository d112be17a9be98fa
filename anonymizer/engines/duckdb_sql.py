"""SQL for reading texts from, and copying releases out of, the table ``records``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymizer.errors import OutputError

RELEASED = "(SELECT * FROM (SELECT * FROM records POSITIONAL JOIN plan) WHERE place >= 0 ORDER BY place)"
"""The published records in their order, each with what is published of it."""

WIDE = 64
"""Columns from which on DuckDB plans a query of a few records longer than it runs it: so many more columns
lengthen every plan, and a query for each column would take time by the square of their number."""

NO_TEXT = "\uffff"
"""A noncharacter of Unicode, which texts hardly hold; one that does is only quoted without need."""


def quoted(text: str | Path) -> str:
    """Return a SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def text_of(column: str, kind: str) -> str:
    """Return SQL for the canonical text of a column: its cast, but 1 for 1.0 and a date for its midnight."""
    if kind == "VARCHAR":
        return column
    cast = f"CAST({column} AS VARCHAR)"
    if kind in {"FLOAT", "DOUBLE"}:
        return f"regexp_replace({cast}, '\\.0$', '')"
    if kind.startswith("TIMESTAMP") and "ZONE" not in kind:
        return f"regexp_replace({cast}, ' 00:00:00$', '')"
    return cast


def as_few_keys(keys: Sequence[str]) -> list[str]:
    """Return SQL for the same order by fewer keys where there are very many, all of one type and never null.

    DuckDB sorts by many keys in time by the square of their number, but by a list as by its elements.
    """
    return list(keys) if len(keys) < WIDE else [f"[{', '.join(keys)}]"]


def copy_csv(
    columns: Sequence[str], texts: Sequence[str], path: Path, separator: str, rows: str = RELEASED
) -> str:
    """Return a statement that writes CSV.

    Parameters
    ----------
    columns: names of what is written.
    texts: SQL for the text of each, over the rows.
    rows: SQL for what is written, in its order.
    """
    # Readers drop a line that is empty altogether, so a single column has its empty texts quoted, as is every
    # text that equals NULLSTR. An expression that names its column twice, as nullif does once it is expanded,
    # takes DuckDB's planner time by the square of the columns; hence no null is left, and NULLSTR is no text.
    nulls = "" if len(columns) == 1 else NO_TEXT
    sources = ", ".join(f"coalesce({text}, '')" for text in texts)
    # DuckDB would change a header whose names differ in case alone, hence a header that is a row like others.
    header = ", ".join(quoted(column) for column in columns)
    options = f"HEADER false, DELIMITER {quoted(separator)}, QUOTE '\"', ESCAPE '\"', NULLSTR {quoted(nulls)}"
    return (
        f"COPY (SELECT {header} UNION ALL SELECT {sources} FROM {rows}) "
        f"TO {quoted(path)} (FORMAT csv, {options}, USE_TMP_FILE false)"
    )


def copy_parquet(columns: Sequence[str], values: Sequence[str], path: Path, rows: str = RELEASED) -> str:
    """Return a statement that writes Parquet.

    Parameters
    ----------
    columns, values, rows: as for CSV, with values of any type.

    Raises
    ------
    OutputError: two names differ in case alone, which the writer cannot keep apart.
    """
    lower: dict[str, str] = {}
    for column in columns:
        other = lower.setdefault(column.lower(), column)
        if other != column:
            raise OutputError(
                f"{path.name}: columns '{other}' and '{column}' differ in case alone, which Parquet releases "
                "cannot hold; rename one in the input, or set output.path to a .csv"
            )
    sources = ", ".join(
        f"{value} AS {identifier(column)}" for value, column in zip(values, columns, strict=True)
    )
    return f"COPY (SELECT {sources} FROM {rows}) TO {quoted(path)} (FORMAT parquet, USE_TMP_FILE false)"
