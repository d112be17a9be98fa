"""Open files and frames as relations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import INPUT_FORMATS, DuckTableReader, input_format
from anonymizer.data.foreign import conversion, elsewhere
from anonymizer.data.memory import SpillFolder
from anonymizer.data.relation import REMOTE, Relation, engine_named
from anonymizer.data.source import (
    CsvDialect,
    EngineOptions,
    KeyColumns,
    Query,
    Selection,
    is_url,
    location_of,
)
from anonymizer.errors import DataError

if TYPE_CHECKING:
    import pandas

DIALECT = CsvDialect()
OPTIONS = EngineOptions()


def open_file(path: Path, dialect: CsvDialect = DIALECT, options: EngineOptions = OPTIONS) -> Relation:
    """Open a data file by its suffix, or a folder of Parquet files; the dialect is for text only.

    A plug-in engine reads other file systems.

    Raises
    ------
    DataError: the suffix is unknown, a folder of other files, without records, or as for
        ``InputFormat.open`` and ``Engine.open``.
    InputError: several plug-ins read such files.
    """
    if options.engine is None and (way := elsewhere(str(path))) is not None:
        raise DataError(f"the path {way}")
    if options.engine is not None or is_url(str(path)):
        return open_by_engine(location_of(path), replace(options, engine=options.engine or REMOTE))
    form = input_format(path)
    if form is not None:
        reader = form(dialect, options)
        return opened(options, lambda database, folder: reader.open(database, path, folder))
    if path.is_dir():
        raise DataError(f"{path}: is a directory; name a file in it")
    accepted = f"{', '.join(input_suffixes())}, or a folder of .parquet files"
    kind = f"unknown kind of file '{path.suffix}'" if path.suffix else "its name has no suffix"
    raise DataError(f"{path}: {kind}; accepted: {accepted}{conversion(path)}")


def input_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that can be read."""
    return tuple(suffix for each in INPUT_FORMATS.values() for suffix in each.suffixes)


def open_by_engine(location: str, options: EngineOptions) -> Relation:
    """Open files by the plug-in engine of the options; raises as ``Engine.open`` and ``engine_named`` do."""
    assert options.engine is not None
    return _with_united_keys(engine_named(options.engine).open(location, options), options)


def open_duckdb(
    path: Path, selection: Selection, options: EngineOptions = OPTIONS, *, allow_files: bool = False
) -> Relation:
    """Open a table or a query of a DuckDB file for reading only; texts are as for Parquet.

    Parameters
    ----------
    allow_files: whether the query, or a view, may read other files.

    Raises
    ------
    DataError: missing, a directory, not DuckDB, open for writing in another process, changed meanwhile, no
        such table, without records.
    QueryError: the query is not one SELECT, reads files that are not allowed, or DuckDB refuses it.
    """
    reader = DuckTableReader(path, selection, options, allow_files=allow_files)
    return opened(options, reader.load, without_records(selection))


def open_frame(frame: pandas.DataFrame, options: EngineOptions = OPTIONS) -> Relation:
    """Open a DataFrame, whose missing values (None, NaN, NaT, NA) are nulls.

    Raises
    ------
    DataError: without records or columns, a name that is not a string.
    """
    from anonymizer.data.frames import FrameRelation  # noqa: PLC0415 - files do without pandas

    return _with_united_keys(FrameRelation(frame, options), options)


def without_records(selection: Selection) -> str:
    """Return the words of a message about a selection without records."""
    return " returns no records" if isinstance(selection, Query) else " has no records"


def opened(
    options: EngineOptions,
    load: Callable[[Database, Path], Relation],
    empty: str = ": no records, only a header",
) -> Relation:
    """Load into a new database, which is closed on failure; the folder for temporary files is removed."""
    database = Database(options)
    try:
        folder = SpillFolder(options.temp_directory)
        try:
            relation = load(database, folder.path)
        finally:
            folder.remove()
        if not relation.rows:
            raise DataError(f"{relation.name}{empty}; at least one record is needed")
        return _with_united_keys(relation, options)
    except BaseException:
        database.close()
        raise


def _with_united_keys(relation: Relation, options: EngineOptions) -> Relation:
    """Return a relation in which each unit of the options has one key."""
    if options.keys is not None:
        unite_keys(relation, options.keys)
    return relation


def unite_keys(relation: Relation, keys: KeyColumns) -> None:
    """Write the key of each unit in one way, in place, and a missing one as a null.

    Raises
    ------
    InputError: the engine of a plug-in cannot do this.
    """
    for name in keys.names:
        found = relation.key_identities(name, keys) if name in relation.columns else {}
        if found:
            relation.respell({name: found})
