"""PostgreSQL tables and queries, streamed as Arrow record batches into a local DuckDB database."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckError, DuckRelation, reason_of
from anonymizer.data.open import OPTIONS, opened, without_records
from anonymizer.data.relation import Relation
from anonymizer.data.source import (
    EngineOptions,
    Query,
    QueryError,
    Selection,
    identifier,
    name_columns,
    quoted,
)
from anonymizer.distribution import installing
from anonymizer.errors import DataError, InputError

if TYPE_CHECKING:
    from pathlib import Path

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MESSAGE = re.compile(r"(?:ERROR|FATAL|PANIC):  (.*)|Failed to connect: (.*)")

SESSION = (
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO, YMD'",
    "SET IntervalStyle = 'postgres'",
    "SET extra_float_digits = 1",
    "SET bytea_output = 'hex'",
)
"""Settings that the text of a value depends on."""


COLUMN_TYPES: Mapping[str, str] = {
    "bool": "boolean",
    "int8": "smallint",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "integer",
    "uint32": "bigint",
    "float": "real",
    "double": "double precision",
    "string": "text",
    "binary": "bytea",
    "date32[day]": "date",
    "time64[us]": "time",
}
"""Types of PostgreSQL by those of Arrow that have no parameters."""


class PostgresError(Exception):
    """A message of the server or the connection, in one line without passwords."""


class Postgres:
    """A connection, whose transaction begins with the first statement; to be closed.

    Parameters
    ----------
    url: as in a config: without a password, with ``${NAME}`` for an environment variable.

    Raises
    ------
    InputError: the driver is not installed, or an environment variable is not set.
    PostgresError: the server cannot be reached or refuses.
    """

    def __init__(self, url: str) -> None:
        try:
            from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError(
                f"{url}: reading and writing PostgreSQL needs a driver; {installing('sql')}"
            ) from None
        expanded, self._secrets = _expanded(url)
        self._driver = dbapi
        with self._failures():
            self._connection = dbapi.connect(expanded)
        try:
            with self._failures():
                self._cursor = self._connection.cursor()
            for statement in SESSION:
                self.run(statement)
        except BaseException:
            self._connection.close()
            raise

    def run(self, statement: str) -> None:
        """Execute a statement.

        Raises
        ------
        PostgresError: the server refuses it.
        """
        with self._failures():
            self._cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises as ``run`` does."""
        with self._failures():
            self._cursor.execute(query)
            found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def schema(self, query: str) -> Any:
        """Return the Arrow schema of a query's rows; raises as ``run`` does."""
        with self._failures():
            return self._cursor.adbc_execute_schema(query)

    @contextmanager
    def stream(self, query: str) -> Iterator[Any]:
        """Yield the rows of a query as an Arrow record batch reader; raises as ``run`` does."""
        with self._failures():
            self._cursor.execute(query)
            with self._cursor.fetch_record_batch() as reader:
                yield reader

    def ingest(self, path: Path, schema: str, table: str) -> None:
        """Create a table with the rows of a Parquet file, in their order.

        Raises
        ------
        PostgresError: the server refuses, or has no type for a column.
        """
        from pyarrow import RecordBatchReader, parquet  # noqa: PLC0415 - comes with the extra

        with parquet.ParquetFile(path) as file:
            fields = file.schema_arrow
            columns = ", ".join(f"{identifier(each.name)} {column_type(each)}" for each in fields)
            self.run(f"CREATE TABLE {identifier(schema)}.{identifier(table)} ({columns})")
            with self._failures():
                batches = RecordBatchReader.from_batches(fields, file.iter_batches())
                self._cursor.adbc_ingest(table, batches, mode="append", db_schema_name=schema)

    def commit(self) -> None:
        """Commit the transaction; raises as ``run`` does."""
        with self._failures():
            self._connection.commit()

    def close(self) -> None:
        """Roll back what was not committed; a second call does nothing."""
        # If the connection is lost, the server rolls back.
        with suppress(self._driver.Error):
            self._cursor.close()
        with suppress(self._driver.Error):
            self._connection.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except self._driver.Error as error:
            raise PostgresError(self._reason(error)) from None

    def _reason(self, error: Exception) -> str:
        found = _MESSAGE.search(str(error))
        message = (found[1] or found[2]) if found else str(error).split("\n", 1)[0]
        for secret in self._secrets:
            message = message.replace(secret, "***")
        return message.strip()


def column_type(field: Any) -> str:
    """Return the type of PostgreSQL for all values of an Arrow field.

    The driver's own choice declares no digits of decimals, so they would lose trailing zeros.

    Raises
    ------
    PostgresError: PostgreSQL has no such type.
    """
    import pyarrow.types as kinds  # noqa: PLC0415 - comes with the extra

    kind = field.type
    if kinds.is_decimal128(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if kinds.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    if str(kind) in COLUMN_TYPES:
        return COLUMN_TYPES[str(kind)]
    raise PostgresError(
        f"column '{field.name}' has type {kind}, which PostgreSQL does not have; cast it to text in a query, "
        "or release to a .parquet"
    )


def _expanded(url: str) -> tuple[str, list[str]]:
    """Return a URL with the values of its variables, and the secrets to remove from messages.

    The value of a variable is percent-encoded, unless it is the whole URL.

    Raises
    ------
    InputError: a variable is not set.
    """
    secrets: list[str] = []
    whole = _VARIABLE.fullmatch(url) is not None

    def value(match: re.Match[str]) -> str:
        given = os.environ.get(match[1])
        if not given:
            raise InputError(f"{url}: the environment variable {match[1]} is not set")
        encoded = given if whole else quote(given, safe="")
        secrets.extend(sorted({given, encoded}, key=len, reverse=True))
        return encoded

    expanded = _VARIABLE.sub(value, url)
    return expanded, secrets + (_passwords(expanded) if whole else [])


def _passwords(url: str) -> list[str]:
    """Return the passwords in a URL from the environment, encoded and decoded."""
    found = re.findall(r"://[^:/@]*:([^@/]+)@|password=([^&]+)", url)
    encoded = [each for pair in found for each in pair if each]
    return [*encoded, *map(unquote, encoded)]


UNCHANGED = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "bytea"})
"""Types that the driver reads without loss; the server converts others to text."""

FROM_TEXTS: Mapping[str, str] = {
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
}
"""Types that are converted back from texts: the driver's numbers overflow at infinity."""

MOST_DIGITS = 38
"""Maximum number of digits of a decimal in DuckDB; other numbers stay texts."""


HARMLESS = (
    "clock_timestamp",
    "current_query",
    "currval",
    "gen_random_bytes",
    "gen_random_uuid",
    "lastval",
    "normal_rand",
    "pg_database_size",
    "pg_indexes_size",
    "pg_relation_size",
    "pg_table_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "setseed",
    "timeofday",
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuid_generate_v4",
    "uuidv4",
    "uuidv7",
)
"""Functions that PostgreSQL declares volatile, but that have no effects."""

READ_FILES = (
    "pg_current_logfile",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_read_binary_file",
    "pg_read_file",
    "pg_read_file_old",
    "pg_show_all_file_settings",
    "pg_stat_file",
)
"""Functions that only read files of the server, like ``pg_ls_…``, which list them."""

RUN_TEXTS = ("connectby_text", "connectby_text_serial", "crosstab", "crosstab_hash", "xpath_table")
"""Names of the C code of functions that run a statement given as text, though not volatile."""

FILE_VIEWS: Mapping[str, str] = {"pg_file_settings": "pg_show_all_file_settings"}
"""System views over functions of other names that read files."""

_WORD = re.compile(r"\w+")
_HIDDEN_NAME = re.compile(r'\bu&"', re.IGNORECASE)


def check_query(connection: Postgres, query: Query, source: str, *, allow_files: bool) -> None:
    """Check that a query is one statement, and calls only functions that read tables.

    Even a read-only transaction accepts ``SELECT lo_export(…)``, ``set_config(…)`` or ``dblink_exec(…)``.
    PostgreSQL declares such functions volatile. A query can only call a function by its name, so every name
    in the text is checked. Functions in trusted languages are the responsibility of their authors, as views
    are.

    Parameters
    ----------
    source: name of the database in messages.
    allow_files: whether functions that read files of the server are allowed.

    Raises
    ------
    QueryError: the query does more, or the server refuses it.
    """
    name = f"{source}: {query.title}"
    try:
        # Parsed without parentheses, as the query could close them.
        connection.schema(query.alone)
        called = _volatile_functions(connection, query.alone)
    except PostgresError as error:
        raise QueryError(f"{name} cannot be read: {error}; accepted: one SELECT") from None
    if _HIDDEN_NAME.search(query.alone):
        raise QueryError(f'{name} writes a name as U&"..."; write the name itself')
    reading = [each for each in called if each in READ_FILES or each.startswith("pg_ls_")]
    other = [each for each in called if each not in reading]
    if other:
        raise QueryError(
            f"{name} names {other[0]}, a function that can do more than read; remove it, or call it in a "
            "view of the database"
        )
    if reading and not allow_files:
        raise QueryError(
            f"{name} names {reading[0]}, which reads files of the server; remove it, or set "
            "input.allow_files: true if you trust the query"
        )


def _volatile_functions(connection: Postgres, text: str) -> list[str]:
    """Return the functions with effects, not in a trusted language, whose names are in a text."""
    words = {each.lower() for each in _WORD.findall(text)}
    words |= {function for view, function in FILE_VIEWS.items() if view in words}
    named = "(lower(proname) = ANY(ARRAY[{words}]) OR proname !~ '^\\w+$' AND strpos({text}, proname) > 0)"
    found = connection.rows(
        "SELECT DISTINCT proname::text FROM pg_catalog.pg_proc AS called "
        "JOIN pg_catalog.pg_language AS made ON made.oid = called.prolang "
        "WHERE (provolatile = 'v' AND (NOT lanpltrusted OR pronamespace = 'pg_catalog'::regnamespace) "
        "AND prorettype NOT IN ('internal'::regtype, 'tsm_handler'::regtype) "
        f"AND proname NOT IN ({_listed(HARMLESS)}) OR prosrc IN ({_listed(RUN_TEXTS)})) AND "
        + named.format(words=_listed(sorted(words)) or "''", text=quoted(text.replace('""', '"')))
        + " ORDER BY 1"
    )
    return [str(each) for (each,) in found]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(map(quoted, texts))


def load_selection(
    database: Database,
    connection: Postgres,
    selection: Selection,
    source: str,
    *,
    strict_header: bool = False,
) -> DuckRelation:
    """Load rows of PostgreSQL in the transaction of a connection.

    Parameters
    ----------
    source: name of the database in messages.

    Raises
    ------
    DataError: as for ``open_postgres``.
    """
    name = f"{source}: {selection.title}"
    try:
        schema = connection.schema(f"SELECT * FROM {selection.sql} AS selected")
        place, found = "the table or query", [field.name for field in schema]
        naming = name_columns(name, found, strict=strict_header, place=place)
        numbered = ", ".join(f"c{index}" for index in range(len(naming.columns)))
        read = [_read(f"c{index}", field) for index, field in enumerate(schema)]
        requested = ", ".join(each for each, _ in read)
        values = ", ".join(each for _, each in read)
        # The texts of timestamps depend on it.
        database.run("SET TimeZone = 'UTC'")
        query = f"SELECT {requested} FROM {selection.sql} AS selected({numbered})"
        with connection.stream(query) as stream, database.holding("incoming", stream):
            database.run(f"CREATE TABLE records AS SELECT {values} FROM incoming")
    except PostgresError as error:
        raise _failure(selection, f"{name} cannot be read: {error}") from None
    except DuckError as error:
        raise _failure(
            selection, f"{name} cannot be read: {reason_of(error)}; cast unusual types to text in a query"
        ) from None
    return DuckRelation(database, name, naming)


def _failure(selection: Selection, message: str) -> DataError:
    return QueryError(message) if isinstance(selection, Query) else DataError(message)


def _read(column: str, field: Any) -> tuple[str, str]:
    """Return SQL for a column on the server, and in DuckDB."""
    metadata = field.metadata or {}
    kind = metadata.get(b"POSTGRESQL:type", b"").decode()
    if kind in UNCHANGED:
        return column, column
    requested = f"CAST({column} AS text) AS {column}"
    converted = (
        _decimal(int(metadata.get(b"POSTGRESQL:typmod", -1))) if kind == "numeric" else FROM_TEXTS.get(kind)
    )
    return requested, column if converted is None else f"CAST({column} AS {converted}) AS {column}"


def _decimal(modifier: int) -> str | None:
    """Return the type of a number with declared digits, None without.

    >>> _decimal(655366), _decimal(-1)
    ('DECIMAL(10, 2)', None)
    """
    digits, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    if modifier < 4 or digits > MOST_DIGITS or scale > digits:
        return None
    return f"DECIMAL({digits}, {scale})"


def open_postgres(
    url: str, selection: Selection, options: EngineOptions = OPTIONS, *, allow_files: bool = False
) -> Relation:
    """Open a table or a query of PostgreSQL in a read-only transaction.

    Numbers, truth values, dates and times keep their type; other types become PostgreSQL's texts.

    Parameters
    ----------
    allow_files: whether the query may call functions that read files of the server.

    Raises
    ------
    DataError: the server cannot be reached or refuses, no such table, without records.
    QueryError: the query is not one SELECT, calls a function that can do more than read, or the server
        refuses it.
    InputError: the driver is not installed, or an environment variable of the URL is not set.
    """
    try:
        connection = Postgres(url)
    except PostgresError as error:
        raise DataError(f"{url}: {error}") from None
    with closing(connection):
        connection.run("SET TRANSACTION READ ONLY")
        if isinstance(selection, Query):
            check_query(connection, selection, url, allow_files=allow_files)
        return open_transaction(connection, selection, url, options)


def open_transaction(
    connection: Postgres, selection: Selection, source: str, options: EngineOptions = OPTIONS
) -> Relation:
    """Open rows in the transaction of a connection; raises as ``open_postgres`` does.

    Parameters
    ----------
    source: name of the database in messages.
    """
    return opened(
        options,
        lambda database, _: load_selection(
            database, connection, selection, source, strict_header=options.strict_header
        ),
        without_records(selection),
    )
