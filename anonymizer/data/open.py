"""Open files and frames as relations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckTableReader, load_csv, load_parquet
from anonymizer.data.engine import REMOTE, engine_named
from anonymizer.data.frames import FrameRelation
from anonymizer.data.memory import SpillFolder
from anonymizer.data.relation import Relation
from anonymizer.data.source import (
    CSV_FILES,
    PARQUET_FILES,
    SUFFIXES,
    CsvDialect,
    EngineOptions,
    Query,
    Selection,
    is_parquet_folder,
    is_url,
    location_of,
)
from anonymizer.errors import DataError

if TYPE_CHECKING:
    import pandas

    from anonymizer.data.postgres import Postgres

DIALECT = CsvDialect()
OPTIONS = EngineOptions()


def open_file(path: Path, dialect: CsvDialect = DIALECT, options: EngineOptions = OPTIONS) -> Relation:
    """Open a data file of any kind by its suffix; the dialect matters for CSV alone.

    A folder may be one of Parquet files; a plug-in engine reads what is on another file system.

    Raises
    ------
    DataError: the suffix is unknown, or as for ``open_csv``, ``open_parquet`` and ``Engine.open``.
    """
    if options.engine is not None or is_url(str(path)):
        return open_by_engine(location_of(path), replace(options, engine=options.engine or REMOTE))
    if PARQUET_FILES.named(path.name) or is_parquet_folder(path):
        return open_parquet(path, options)
    if CSV_FILES.named(path.name):
        return open_csv(path, dialect, options)
    accepted = f"{', '.join(SUFFIXES)}, or a folder of .parquet files"
    raise DataError(f"{path}: unknown kind of file '{path.suffix}'; accepted: {accepted}")


def open_by_engine(location: str, options: EngineOptions) -> Relation:
    """Open files by the engine that the options name; raises as ``Engine.open`` and ``engine_named`` do."""
    assert options.engine is not None
    return engine_named(options.engine).open(location, options)


def open_csv(path: Path, dialect: CsvDialect = DIALECT, options: EngineOptions = OPTIONS) -> Relation:
    """Open a CSV file, gzipped when its name ends in ``.gz``; every field is text, an empty one too.

    Raises
    ------
    DataError: missing, a directory, empty, header only, two columns of one name, a column without a name,
        a record of another width, a misplaced quote, undecodable, NUL bytes, a damaged gzip file.
    """
    return _opened(options, lambda database, folder: load_csv(database, path, dialect, folder))


def open_parquet(path: Path, options: EngineOptions = OPTIONS) -> Relation:
    """Open a Parquet file, or a folder of them; a text is a value's canonical cast to VARCHAR.

    Raises
    ------
    DataError: missing, not Parquet, without records, two columns of one name or one without, files of a
        folder that differ in their columns.
    """
    return _opened(options, lambda database, folder: load_parquet(database, path, folder, options.named))


def open_duckdb(
    path: Path, selection: Selection, options: EngineOptions = OPTIONS, *, allow_files: bool = False
) -> Relation:
    """Open a table or a query of a DuckDB file, which is read only; texts are as for Parquet.

    Parameters
    ----------
    allow_files: whether the query, or a view, may read other files.

    Raises
    ------
    DataError: missing, a directory, not DuckDB, written by another process just now, changed meanwhile, no
        such table, without records, two columns of one name or one without.
    QueryError: the query is not one SELECT, reads files without leave, or DuckDB refuses it.
    """
    reader = DuckTableReader(path, selection, options, allow_files=allow_files)
    return _opened(options, reader.load)


def open_postgres(
    url: str, selection: Selection, options: EngineOptions = OPTIONS, *, allow_files: bool = False
) -> Relation:
    """Open a table or a query of PostgreSQL in a transaction that can only read.

    Numbers, truth values, dates and times keep their type, the texts of other types are PostgreSQL's own.

    Parameters
    ----------
    allow_files: whether the query may call functions that read files of the server.

    Raises
    ------
    DataError: the server cannot be reached or refuses, no such table, without records, two columns of one
        name.
    QueryError: the query is not one SELECT, calls what can do more than read, or the server refuses it.
    InputError: the driver is not installed, or an environment variable of the URL is not set.
    """
    from anonymizer.data.postgres import Postgres, PostgresError, check_query  # noqa: PLC0415

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
    """Open rows as the transaction of a connection sees them; raises as ``open_postgres`` does.

    Parameters
    ----------
    source: what messages call the database.
    """
    from anonymizer.data.postgres import load_selection  # noqa: PLC0415 - files do without it

    return _opened(options, lambda database, _: load_selection(database, connection, selection, source))


def open_frame(frame: pandas.DataFrame, options: EngineOptions = OPTIONS) -> Relation:
    """Open a DataFrame, whose missing values (None, NaN, NaT, NA) are nulls.

    Raises
    ------
    DataError: without records or columns, two columns of one name, a name that is not a text.
    """
    return FrameRelation(frame, options)


def _opened(options: EngineOptions, load: Callable[[Database, Path], Relation]) -> Relation:
    """Load into a new database that does not outlive a failure, with a folder for temporary files."""
    database = Database(options)
    try:
        folder = SpillFolder(options.temp_directory)
        try:
            relation = load(database, folder.path)
        finally:
            folder.remove()
        if not relation.rows:
            raise DataError(f"{relation.name}: no records, only a header; at least one record is needed")
    except BaseException:
        database.close()
        raise
    return relation
