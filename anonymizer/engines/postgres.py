"""A connection to PostgreSQL, whose rows are streams of Arrow record batches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from anonymizer.distribution import installing
from anonymizer.engines.duckdb_sql import identifier
from anonymizer.errors import InputError

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
    """What the server or the connection objected, in one line without passwords."""


class Postgres:
    """One connection with a transaction that begins with the first statement; to be closed.

    Parameters
    ----------
    url: as in a config: without a password, ``${NAME}`` standing for an environment variable.

    Raises
    ------
    InputError: the driver is not installed, or an environment variable is not set.
    PostgresError: the server cannot be reached or refuses.
    """

    def __init__(self, url: str) -> None:
        try:
            from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - an extra that files do without
        except ImportError:
            raise InputError(
                f"{url}: reading and writing PostgreSQL needs a driver; run: {installing('sql')}"
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
        """Return the Arrow schema of what a query would give; raises as ``run`` does."""
        with self._failures():
            return self._cursor.adbc_execute_schema(query)

    @contextmanager
    def stream(self, query: str) -> Iterator[Any]:
        """Give the rows of a query as an Arrow record batch reader; raises as ``run`` does."""
        with self._failures():
            self._cursor.execute(query)
            with self._cursor.fetch_record_batch() as reader:
                yield reader

    def ingest(self, path: Path, schema: str, table: str) -> None:
        """Make a table of the rows of a Parquet file, in their order.

        Raises
        ------
        PostgresError: the server refuses, or has no type for a column.
        """
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra
        import pyarrow.parquet as pq  # noqa: PLC0415

        with pq.ParquetFile(path) as file:
            fields = file.schema_arrow
            columns = ", ".join(f"{identifier(each.name)} {column_type(each)}" for each in fields)
            self.run(f"CREATE TABLE {identifier(schema)}.{identifier(table)} ({columns})")
            with self._failures():
                batches = pa.RecordBatchReader.from_batches(fields, file.iter_batches())
                self._cursor.adbc_ingest(table, batches, mode="append", db_schema_name=schema)

    def commit(self) -> None:
        """End the transaction, keeping what it did; raises as ``run`` does."""
        with self._failures():
            self._connection.commit()

    def close(self) -> None:
        """Undo what was not committed; a second call does nothing."""
        # The server undoes what a lost connection leaves.
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
    """Return the type of PostgreSQL that holds all values of an Arrow field.

    The driver would choose one too, but numbers without declared digits, which lose trailing zeros.

    Raises
    ------
    PostgresError: there is none.
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
        f"column '{field.name}' is {kind}, for which there is no type; cast it to text in a query, "
        "or release to a .parquet"
    )


def _expanded(url: str) -> tuple[str, list[str]]:
    """Return a URL with the values of its variables, and the texts that no message may show.

    A variable that is the whole URL is taken as it is; a part of one is percent-encoded.

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
    """Return what a URL from the environment holds of passwords, encoded and not."""
    found = re.findall(r"://[^:/@]*:([^@/]+)@|password=([^&]+)", url)
    encoded = [each for pair in found for each in pair if each]
    return [*encoded, *map(unquote, encoded)]
