"""Load a table or a query of a DuckDB file into a database of this process."""

from __future__ import annotations

from pathlib import Path

import duckdb

from anonymizer.engines.csv_scan import reading
from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import identifier, quoted
from anonymizer.engines.file_source import FileSource
from anonymizer.engines.header import check_header
from anonymizer.engines.selection import Selection
from anonymizer.errors import DataError


def load_table(database: Database, path: Path, selection: Selection) -> DuckRelation:
    """Load rows of a DuckDB file with their own types; the file is opened for reading only.

    Raises
    ------
    DataError: as for ``open_duckdb``.
    """
    name = f"{path}: {selection.title}"
    with reading(path), path.open("rb"):
        source = FileSource.of(path, "a DuckDB database")
    # The text of a moment depends on it.
    database.run("SET TimeZone = 'UTC'")
    try:
        database.run(f"ATTACH {quoted(path.resolve())} AS source (READ_ONLY, TYPE duckdb)")
    except duckdb.Error as error:
        raise DataError(f"{path}: cannot be opened as a DuckDB database: {reason_of(error)}") from None
    try:
        database.run("USE source")
        described = database.rows(f"DESCRIBE {selection.statement}")
        columns = [str(row[0]) for row in described]
        check_header(name, columns)
        numbered = ", ".join(f"c{index}" for index in range(len(columns)))
        values = ", ".join(_plain(f"c{index}", str(row[1])) for index, row in enumerate(described))
        database.run(
            f"CREATE TABLE memory.main.records AS SELECT {values} "
            f"FROM {selection.sql} AS selected({numbered})"
        )
    except duckdb.Error as error:
        raise DataError(f"{name} cannot be read: {reason_of(error)}; {_tables(database)}") from None
    finally:
        database.run("USE memory")
        database.run("DETACH source")
    # No other program can write by DuckDB meanwhile, but it can put another file there.
    source.check()
    return DuckRelation(database, name, columns)


def reason_of(error: duckdb.Error) -> str:
    """Return the first line of what DuckDB says, without the kind of error and the mark at its end."""
    first = str(error).split("\n", 1)[0]
    return (first.partition(": ")[2] or first).rstrip(".! ")


def _plain(column: str, kind: str) -> str:
    """Return a column without its collation: one that ignores case would make one value of two."""
    return f"{column} COLLATE {identifier('C')} AS {column}" if kind == "VARCHAR" else column


def _tables(database: Database) -> str:
    rows = database.rows(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' "
        "UNION SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source' "
        "AND NOT internal ORDER BY ALL LIMIT 20"
    )
    names = [name if schema == "main" else f"{schema}.{name}" for schema, name in rows]
    return f"the database holds {', '.join(names)}" if names else "the database holds no table"
