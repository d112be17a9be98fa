"""A DuckDB database of this process, and SQL that reads texts from its table ``records``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from anonymizer.data.memory import SpillFolder, parse_memory_setting
from anonymizer.data.source import EngineOptions, FileSource, identifier, quoted
from anonymizer.errors import InputError, OutputError
from anonymizer.system import Closing, no_space

T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks at whether the user wants to stop."""


class Database(Closing):
    """A database in memory that neither reads the network nor leaves anything on disk.

    Parameters
    ----------
    options: its limits.

    Attributes
    ----------
    source: a file that queries read again; None where all that they need is in the database.

    Raises
    ------
    InputError: DuckDB does not accept one of the options.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.source: FileSource | None = None
        self._spill = SpillFolder(options.temp_directory)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="duckdb")
        config: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # A name in a query is neither a variable of this program nor opened with the user's own keys.
            "python_enable_replacements": False,
            "allow_persistent_secrets": False,
            "temp_directory": str(self._spill.path),
        }
        if options.memory_limit is not None:
            config["memory_limit"] = options.memory_limit
        if options.threads is not None:
            config["threads"] = options.threads
        try:
            self._connection = duckdb.connect(":memory:", config=config)
        except duckdb.Error as error:
            self._spill.remove()
            reason = str(error).split("\n", 1)[0]
            raise InputError(
                f"engine: {reason}; accepted: memory_limit such as 4GB, threads from 1"
            ) from None

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute a statement.

        Raises
        ------
        InputError: the memory does not suffice, or the file that it reads again has changed.
        KeyboardInterrupt: the user stopped it.
        """
        self._read(lambda: self._connection.execute(statement, parameters).fetchall())

    def copy(self, statement: str, parameters: Sequence[Any], path: Path) -> None:
        """Execute a statement that writes a file; raises as ``run`` does, and

        Raises
        ------
        OutputError: the file cannot be written.
        """
        try:
            self._finished(lambda: self._connection.execute(statement, parameters).fetchall())
        except duckdb.IOException as error:
            reason = str(error).split("\n", 1)[0].rpartition(": ")[2]
            raise OutputError(f"{path.name}: cannot be written: {reason}; is there space left?") from None

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises as ``run`` does."""
        return self._read(lambda: self._connection.execute(query, parameters).fetchall())

    def arrays(self, query: str, parameters: Sequence[Any] = ()) -> dict[str, Any]:
        """Return the columns of a query by name; raises as ``run`` does."""
        return self._read(lambda: self._connection.execute(query, parameters).fetchnumpy())

    @contextmanager
    def sparing(self, further: int) -> Iterator[None]:
        """Let statements hold hardly more bytes than that beside what is held already.

        A file is written as fast with little memory as with much, which would be taken where it is there.
        """
        held = sum(int(used) for (used,) in self.rows("SELECT memory_usage_bytes FROM duckdb_memory()"))
        allowed = self._memory_limit()
        if held + further >= allowed:
            yield
            return
        self.run(f"SET memory_limit = '{held + further}B'")
        try:
            yield
        finally:
            self.run(f"SET memory_limit = '{allowed}B'")

    def give_back(self) -> None:
        """Return memory to the system that nothing is in any more, as after a table was dropped."""
        self.run(f"SET memory_limit = '{self._memory_limit()}B'")

    def _memory_limit(self) -> int:
        """Return the limit in bytes, rounded down as the database tells it."""
        return parse_memory_setting(str(self.rows("SELECT current_setting('memory_limit')")[0][0]))

    @contextmanager
    def holding(self, name: str, arrays: Mapping[str, Any]) -> Iterator[None]:
        """Let arrays of equal length be known as a table."""
        with self._registered(name, dict(arrays)):
            yield

    @contextmanager
    def holding_stream(self, name: str, stream: Any) -> Iterator[None]:
        """Let a stream of Arrow record batches be known as a table, which can be read once."""
        with self._registered(name, stream):
            yield

    @contextmanager
    def _registered(self, name: str, table: Any) -> Iterator[None]:
        """Let data be known as a table; in the thread of statements, as DuckDB takes signals for its own."""
        self._finished(lambda: self._connection.register(name, table))
        try:
            yield
        finally:
            self._finished(lambda: self._connection.unregister(name))

    def close(self) -> None:
        """Give back memory and temporary files; a second call does nothing."""
        self._worker.shutdown()
        self._connection.close()
        self._spill.remove()

    def _read(self, call: Callable[[], T]) -> T:
        """Return the result of a call that may read the file again."""
        try:
            found = self._finished(call)
        except duckdb.Error as error:
            if self.source is None:
                raise
            self.source.check()
            raise self.source.damaged(error) from None
        if self.source is not None:
            self.source.check()
        return found

    def _finished(self, call: Callable[[], T]) -> T:
        """Return the result of a call that works in a thread of its own; this one can be interrupted."""
        future = self._worker.submit(call)
        try:
            # A wait without end is not ended by a signal that some other library (polars) catches first.
            while not future.done():
                wait([future], timeout=POLL)
            return future.result()
        except KeyboardInterrupt:
            # A statement that is only about to start takes no notice, so once may not do.
            while not future.done():
                self._connection.interrupt()
                wait([future], timeout=POLL)
            raise
        except duckdb.OutOfMemoryException as error:
            if "max_temp_directory_size" in str(error):
                raise no_space(self._spill.path.parent) from None
            raise InputError(
                "engine.memory_limit: not enough for this input; allow more, such as 8GB"
            ) from None
        except duckdb.IOException as error:
            if str(self._spill.path) in str(error):
                raise no_space(self._spill.path.parent) from None
            raise


RELEASED = "(SELECT * FROM (SELECT * FROM records POSITIONAL JOIN plan) WHERE place >= 0 ORDER BY place)"
"""The published records in their order, each with what is published of it."""

WIDE = 64
"""Columns from which on DuckDB plans a query of a few records longer than it runs it: so many more columns
lengthen every plan, and a query for each column would take time by the square of their number."""

NO_TEXT = "\uffff"
"""A noncharacter of Unicode, which texts hardly hold; one that does is only quoted without need."""


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


def query_once(query: str, tables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query over tables at hand, by one thread and a database of its own.

    Parameters
    ----------
    tables: Arrow tables by their names in the query; timestamps are shown in UTC.
    """
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in tables.items():
            connection.register(name, table)
        return connection.execute(query).fetchall()


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
