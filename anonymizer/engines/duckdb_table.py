"""Load a table or a query of a DuckDB file into a database of this process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from anonymizer.engines.csv_scan import reading
from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import identifier, quoted
from anonymizer.engines.file_source import FileSource
from anonymizer.engines.header import check_header
from anonymizer.engines.options import EngineOptions
from anonymizer.engines.selection import Query, QueryError, Selection, WholeTable
from anonymizer.errors import DataError

_FILE = re.compile(r'"([^"]+)"')


class DuckTableReader:
    """Reads rows of a DuckDB file with their own types; the file is opened for reading only.

    A stored table is copied. A query, or a view, could read any file and change settings, so it runs in a
    database of its own whose settings are locked and that reaches no file but this one; a file hands its rows
    over. The engine's own database cannot be locked like that: it writes the release.

    Parameters
    ----------
    path: of the file.
    selection: the rows.
    options: limits of the database that a query runs in.
    allow_files: whether a query may read other files.
    """

    def __init__(
        self, path: Path, selection: Selection, options: EngineOptions, *, allow_files: bool
    ) -> None:
        self._path, self._selection = path, selection
        self._options, self._allow_files = options, allow_files
        self._name = f"{path}: {selection.title}"

    def load(self, database: Database, folder: Path) -> DuckRelation:
        """Load the rows; ``folder`` takes the file that hands them over.

        Raises
        ------
        DataError, QueryError: as for ``open_duckdb``.
        """
        with reading(self._path), self._path.open("rb"):
            source = FileSource.of(self._path, "a DuckDB database")
        if isinstance(self._selection, Query):
            self._check_one_select(self._selection)
        # The text of a moment depends on it.
        database.run("SET TimeZone = 'UTC'")
        columns = self._copied_table(database)
        if columns is None:
            rows = folder / "rows.duckdb"
            columns = self._queried(rows)
            database.run(f"ATTACH {quoted(rows)} AS handed_over (READ_ONLY, TYPE duckdb)")
            database.run("CREATE TABLE records AS FROM handed_over.main.records")
            database.run("DETACH handed_over")
        # No other program can write by DuckDB meanwhile, but it can put another file there.
        source.check()
        return DuckRelation(database, self._name, columns)

    def _copied_table(self, database: Database) -> Sequence[str] | None:
        """Load the rows of a stored table and return its columns; None for anything else."""
        if not isinstance(self._selection, WholeTable):
            return None
        table = self._selection.table
        with self._attached(database):
            stored = database.rows(
                "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'source' "
                "AND lower(schema_name) = lower(?) AND lower(table_name) = lower(?)",
                [table.schema or "main", table.name],
            )
            return self._copied(database, "memory.main.records") if stored[0][0] else None

    def _queried(self, rows: Path) -> Sequence[str]:
        """Write the rows of a query into a DuckDB file and return its columns."""
        with Database(self._options) as database:
            database.run("SET TimeZone = 'UTC'")
            database.run(f"ATTACH {quoted(rows)} AS handed_over (STORAGE_VERSION 'latest')")
            with self._attached(database):
                if not self._allow_files:
                    database.run("SET enable_external_access = false")
                database.run("SET lock_configuration = true")
                return self._copied(database, "handed_over.main.records")

    @contextmanager
    def _attached(self, database: Database) -> Iterator[None]:
        """Let names mean what is in the file."""
        try:
            database.run(f"ATTACH {quoted(self._path.resolve())} AS source (READ_ONLY, TYPE duckdb)")
        except duckdb.Error as error:
            raise DataError(
                f"{self._path}: cannot be opened as a DuckDB database: {reason_of(error)}"
            ) from None
        database.run("USE source")
        try:
            yield
        finally:
            database.run("USE memory")
            database.run("DETACH source")

    def _copied(self, database: Database, target: str) -> Sequence[str]:
        """Make a table of the rows, whose columns are c0, c1, …, and return their names."""
        try:
            described = database.rows(f"DESCRIBE {self._selection.statement}")
            columns = [str(row[0]) for row in described]
            check_header(self._name, columns)
            numbered = ", ".join(f"c{index}" for index in range(len(columns)))
            values = ", ".join(_plain(f"c{index}", str(row[1])) for index, row in enumerate(described))
            database.run(
                f"CREATE TABLE {target} AS SELECT {values} FROM {self._selection.sql} AS selected({numbered})"
            )
        except duckdb.PermissionException as error:
            found = _FILE.search(str(error))
            what = f"the file '{found[1]}'" if found else "files"
            raise self._failure(
                f"reads {what}, which only input.allow_files permits; leave it out, or set "
                "input.allow_files: true if you trust the query"
            ) from None
        except duckdb.Error as error:
            raise self._failure(f"cannot be read: {reason_of(error)}; {_tables(database)}") from None
        return columns

    def _check_one_select(self, query: Query) -> None:
        """Check that DuckDB takes a query by itself, not in any parentheses, as one SELECT.

        Raises
        ------
        QueryError: it does not.
        """
        try:
            statements = duckdb.extract_statements(query.alone)
        except duckdb.Error as error:
            raise self._failure(f"cannot be read: {reason_of(error)}; accepted: one SELECT") from None
        kinds = [statement.type.name for statement in statements]
        if kinds != ["SELECT"]:
            found = ", ".join(kinds) if kinds else "no statement"
            raise self._failure(
                f"cannot be read: it is {found}; accepted: one SELECT (a PIVOT in it needs its IN)"
            )

    def _failure(self, what: str) -> DataError:
        kind = QueryError if isinstance(self._selection, Query) else DataError
        return kind(f"{self._name} {what}")


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
