"""A DuckDB database of this process, and SQL that reads texts from its table ``records``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from anonymizer.data.memory import SpillFolder, parse_memory_setting
from anonymizer.data.source import EngineOptions, FileSource, identifier, quoted
from anonymizer.errors import InputError, OutputError
from anonymizer.model.identity import WHITE_SPACE, text_identity
from anonymizer.system import Closing, link_to, memory_fault, no_space, real_path

T = TypeVar("T")

POLL = 0.05
"""Seconds between two checks for Ctrl-C."""

_NUMBERS = count()


def new_name(prefix: str) -> str:
    """Return a name with a number that no other table, view or type of this process has."""
    return f"{prefix}{next(_NUMBERS)}"


class Database(Closing):
    """A database in memory that uses no network and leaves nothing on disk.

    Parameters
    ----------
    options: its limits.

    Attributes
    ----------
    source: a file that queries read again; None if the database has all they need.
    missing, numbers, spelling: as in the options.

    Raises
    ------
    InputError: DuckDB does not accept one of the options.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.source: FileSource | None = None
        self.missing, self.numbers, self.spelling = options.missing, options.numbers, options.spelling
        self._spill = SpillFolder(options.temp_directory)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="duckdb")
        config: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # Names in queries refer neither to variables of this program nor to the user's secrets.
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
        InputError: the memory limit is too low, or the disk is full.
        DataError: the file that it reads again has changed.
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
            reason = system_reason(error) or str(error).split("\n", 1)[0].rpartition(": ")[2]
            raise OutputError(f"{path.name}: cannot be written: {reason}; is there space left?") from None

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises as ``run`` does."""
        return self._read(lambda: self._connection.execute(query, parameters).fetchall())

    def arrays(self, query: str, parameters: Sequence[Any] = ()) -> dict[str, Any]:
        """Return the columns of a query by name; raises as ``run`` does."""
        return self._read(lambda: self._connection.execute(query, parameters).fetchnumpy())

    @contextmanager
    def sparing(self, further: int) -> Iterator[None]:
        """Limit the memory of the statements in the block to what is in use and this many bytes.

        Writing a file is as fast with little memory, but takes what the limit allows.
        """
        held = sum(int(used) for (used,) in self.rows("SELECT memory_usage_bytes FROM duckdb_memory()"))
        # As the database rounds it.
        allowed = parse_memory_setting(str(self.rows("SELECT current_setting('memory_limit')")[0][0]))
        if held + further >= allowed:
            yield
            return
        self.run(f"SET memory_limit = '{held + further}B'")
        try:
            yield
        finally:
            self.run(f"SET memory_limit = '{allowed}B'")

    @contextmanager
    def holding(self, name: str, table: Any) -> Iterator[None]:
        """Give statements a table of this name.

        Parameters
        ----------
        table: a dict of arrays of equal length, or a stream of Arrow record batches, which is read once.
        """
        # In the thread of statements, as DuckDB takes signals for its own.
        self._finished(lambda: self._connection.register(name, table))
        try:
            yield
        finally:
            self._finished(lambda: self._connection.unregister(name))

    def close(self) -> None:
        """Free memory and remove temporary files; a second call does nothing."""
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
        """Return the result of a call in a thread of its own, so that this thread can be interrupted."""
        try:
            future = self._worker.submit(call)
        except RuntimeError as error:
            raise memory_fault(error) or error from None
        try:
            # Without a timeout, a signal that another library (polars) catches first does not end the wait.
            while not future.done():
                wait([future], timeout=POLL)
            return future.result()
        except KeyboardInterrupt:
            # An interrupt before the statement starts has no effect, so it is repeated.
            while not future.done():
                self._connection.interrupt()
                wait([future], timeout=POLL)
            raise
        except duckdb.OutOfMemoryException as error:
            if "max_temp_directory_size" in str(error):
                raise no_space(self._spill.path.parent) from None
            raise InputError(
                "engine.memory_limit: too low for this input; raise it, for example to 8GB"
            ) from None
        except duckdb.IOException as error:
            if str(self._spill.path) in str(error):
                raise no_space(self._spill.path.parent) from None
            raise


_ERRNO = re.compile(r'"errno":"(\d+)"')


def system_reason(error: duckdb.Error) -> str | None:
    """Return why the system refused to write, by the number that DuckDB passes on; None without one."""
    found = _ERRNO.search(str(error))
    return None if found is None else os.strerror(int(found[1]))


def parquet(sources: str) -> str:
    """Return SQL for the rows of Parquet files, given as SQL.

    Other programs leave NaN out of the statistics of a column, which DuckDB would take for all its values: it
    would find no row that a condition on NaN holds for.
    """
    return f"read_parquet({sources}, hive_partitioning = false, can_have_nan = true)"


def plain_name(path: Path, folder: Path) -> Path:
    """Return a path that DuckDB does not read as a pattern: the same, or a link in ``folder``."""
    if not any(character in str(real_path(path)) for character in "*?["):
        return real_path(path)
    link = folder / f"input{''.join(path.suffixes[-2:])}"
    link_to(link, real_path(path))
    return link


RELEASED = "(SELECT * FROM (SELECT * FROM records POSITIONAL JOIN plan) WHERE place >= 0 ORDER BY place)"
"""The released records in their order, with the codes of replaced columns."""

WIDE = 64
"""Number of columns from which planning a query of a few records takes longer than running it. As every
column lengthens every plan, a query for each column would take time by the square of their number."""

NO_TEXT = "\uffff"
"""A noncharacter of Unicode, which texts hardly contain; a text that does is quoted without need."""


FRACTIONS = frozenset({"FLOAT", "DOUBLE"})


def without_signs(column: str, kind: str) -> str:
    """Return SQL for a column of fractions in which zero and NaN have no sign.

    Of the sum with zero, where zero has none either, DuckDB groups NaN by statistics that it is not in.
    """
    cases = f"WHEN {column} = 0 THEN 0::{kind} WHEN isnan({column}) THEN 'nan'::{kind}"
    return f"(CASE {cases} ELSE {column} END)"


def text_of(column: str, kind: str) -> str:
    """Return SQL for the canonical text of a column: its cast, without ``.0`` or a time of midnight.

    Zero and NaN have one text, whatever their sign.
    """
    if kind == "VARCHAR":
        return column
    if kind in FRACTIONS:
        return f"regexp_replace(CAST({without_signs(column, kind)} AS VARCHAR), '\\.0$', '')"
    cast = f"CAST({column} AS VARCHAR)"
    if kind.startswith("TIMESTAMP") and "ZONE" not in kind:
        return f"regexp_replace({cast}, ' 00:00:00$', '')"
    return cast


_PLAIN = "[!-~]([ -~]*[!-~])?"
"""Texts that are their own identity; to recognize them takes a tenth of the time."""


def identity_sql(text: str) -> str:
    """Return SQL for ``text_identity`` of a text in SQL."""
    identity = f"nfc_normalize(trim({text}, {quoted(WHITE_SPACE)}))"
    return f"CASE WHEN regexp_full_match({text}, {quoted(_PLAIN)}) THEN {text} ELSE {identity} END"


def same_text(text: str, others: Sequence[str]) -> str:
    """Return SQL for whether a text has the identity of one of some others; never null."""
    if not others:
        return "false"
    listed = ", ".join(quoted(text_identity(each)) for each in others)
    return f"coalesce(({identity_sql(text)}) IN ({listed}), false)"


def query_once(query: str, tables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query over given tables, with one thread and a database of its own.

    Parameters
    ----------
    tables: Arrow tables by their names in the query; timestamps are in UTC.
    """
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in tables.items():
            connection.register(name, table)
        return connection.execute(query).fetchall()


def as_few_keys(keys: Sequence[str]) -> list[str]:
    """Return SQL for the same order by one key if there are very many, of one type and never null.

    DuckDB takes time by the square of the number of keys, but sorts by a list as by its elements.
    """
    return list(keys) if len(keys) < WIDE else [f"[{', '.join(keys)}]"]


def copy_csv(
    columns: Sequence[str],
    texts: Sequence[str],
    path: Path,
    separator: str,
    rows: str = RELEASED,
    marker: str = "",
) -> str:
    """Return a statement that writes CSV.

    Parameters
    ----------
    columns: names.
    texts: SQL for the text of each column, over the rows.
    rows: SQL for the rows in their order.
    marker: text for nulls.
    """
    # Readers drop empty lines, so empty texts of a single column are quoted: DuckDB quotes texts that equal
    # NULLSTR. An expression with its column twice (nullif, once expanded) takes DuckDB's planner time by the
    # square of the columns; hence nulls become texts, and NULLSTR is not a text.
    nulls = "" if len(columns) == 1 else NO_TEXT
    sources = ", ".join(f"coalesce({text}, {quoted(marker)})" for text in texts)
    # DuckDB would rename columns that differ in case alone, so the header is written as a row.
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
    columns, values, rows: as for CSV, with values that Parquet keeps.

    Raises
    ------
    OutputError: two names differ in case alone.
    """
    selected = select_values(columns, values, path, rows)
    return f"COPY ({selected}) TO {quoted(path)} (FORMAT parquet, USE_TMP_FILE false)"


def select_values(columns: Sequence[str], values: Sequence[str], path: Path, rows: str = RELEASED) -> str:
    """Return a query for the values of columns; parameters and errors are those of ``copy_parquet``."""
    lower: dict[str, str] = {}
    for column in columns:
        other = lower.setdefault(column.lower(), column)
        if other != column:
            raise OutputError(
                f"{path.name}: columns '{other}' and '{column}' differ in case alone, which Parquet "
                "releases cannot have; rename one in the input, or set output.path to a .csv"
            )
    sources = ", ".join(
        f"{value} AS {identifier(column)}" for value, column in zip(values, columns, strict=True)
    )
    return f"SELECT {sources} FROM {rows}"
