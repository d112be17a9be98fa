"""Load a table or a query of PostgreSQL into a database of this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_table import reason_of
from anonymizer.engines.header import check_header
from anonymizer.engines.postgres import Postgres, PostgresError
from anonymizer.engines.selection import Selection
from anonymizer.errors import DataError

AS_THEY_ARE = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "bytea"})
"""Types that the driver hands over without loss; of the others the server makes texts."""

FROM_TEXTS: Mapping[str, str] = {
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
}
"""Types that are made again of their texts: the driver's numbers wrap around at infinity."""

MOST_DIGITS = 38
"""Of a decimal in DuckDB; a number with more, or of any number of digits, stays a text."""


def load_selection(
    database: Database, connection: Postgres, selection: Selection, source: str
) -> DuckRelation:
    """Load rows of PostgreSQL, in the transaction of a connection.

    Parameters
    ----------
    source: what messages call the database.

    Raises
    ------
    DataError: as for ``open_postgres``.
    """
    name = f"{source}: {selection.title}"
    try:
        schema = connection.schema(f"SELECT * FROM {selection.sql} AS selected")
        columns = [field.name for field in schema]
        check_header(name, columns)
        numbered = ", ".join(f"c{index}" for index in range(len(columns)))
        read = [_read(f"c{index}", field) for index, field in enumerate(schema)]
        asked = ", ".join(each for each, _ in read)
        values = ", ".join(each for _, each in read)
        # The text of a moment depends on it.
        database.run("SET TimeZone = 'UTC'")
        query = f"SELECT {asked} FROM {selection.sql} AS selected({numbered})"
        with connection.stream(query) as stream, database.holding_stream("incoming", stream):
            database.run(f"CREATE TABLE records AS SELECT {values} FROM incoming")
    except PostgresError as error:
        raise DataError(f"{name} cannot be read: {error}") from None
    except duckdb.Error as error:
        raise DataError(
            f"{name} cannot be read: {reason_of(error)}; cast what is odd to text in a query"
        ) from None
    return DuckRelation(database, name, columns)


def _read(column: str, field: Any) -> tuple[str, str]:
    """Return SQL for what the server is asked of a column, and for what is made of that."""
    metadata = field.metadata or {}
    kind = metadata.get(b"POSTGRESQL:type", b"").decode()
    if kind in AS_THEY_ARE:
        return column, column
    asked = f"CAST({column} AS text) AS {column}"
    made = (
        _decimal(int(metadata.get(b"POSTGRESQL:typmod", -1))) if kind == "numeric" else FROM_TEXTS.get(kind)
    )
    return asked, column if made is None else f"CAST({column} AS {made}) AS {column}"


def _decimal(modifier: int) -> str | None:
    """Return the type for a number of declared digits, None for any other.

    >>> _decimal(655366), _decimal(-1)
    ('DECIMAL(10, 2)', None)
    """
    digits, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    if modifier < 4 or digits > MOST_DIGITS or scale > digits:
        return None
    return f"DECIMAL({digits}, {scale})"
