"""Read a Parquet file in DuckDB with its own types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

from anonymizer.engines.csv_scan import reading
from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_csv import plain_name
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import quoted
from anonymizer.engines.file_source import FileSource
from anonymizer.engines.header import check_header, pandas_index
from anonymizer.engines.options import EngineOptions
from anonymizer.engines.parquet_folder import data_files, sha256_of
from anonymizer.errors import DataError


def load_parquet(
    database: Database, path: Path, folder: Path, named: Collection[str] | None = None
) -> DuckRelation:
    """Open a Parquet file, or a folder of them; ``folder`` takes a link to it where its name needs one.

    Parameters
    ----------
    named: columns with a role; see ``EngineOptions``.

    Raises
    ------
    DataError: as for ``open_parquet``.
    """
    files = _readable(path)
    watched = [FileSource.of(each, "a Parquet file") for each in _watched(path, files)]
    found = watched[0]
    plain = plain_name(path, folder)
    sources = [quoted(plain / each.relative_to(path) if path.is_dir() else plain) for each in files]
    # What is read may well be longer than the file, so it is read again rather than kept, unless records are
    # asked for. The link to a file of another name is gone by then; of a folder, changes would go unseen.
    again = found if plain == path.resolve() and not path.is_dir() else None
    # The text of a moment depends on it.
    database.run("SET TimeZone = 'UTC'")
    try:
        columns = _top_level(database, sources[0])
        _check_same(database, path, files, sources)
        check_header(str(path), columns)
        names = ", ".join(f"c{index}" for index in range(len(columns)))
        unmatched_columns = pandas_index(columns, _of_pandas(database, sources[0]), named)
        kept = [index for index, name in enumerate(columns) if name not in unmatched_columns]
        values = ", ".join(f"c{index} AS c{place}" for place, index in enumerate(kept))
        database.run(
            f"CREATE {'TABLE' if again is None else 'VIEW'} records AS SELECT {values} "
            f"FROM read_parquet([{', '.join(sources)}], hive_partitioning = false) AS t({names})"
        )
    except duckdb.Error as error:
        raise found.damaged(error) from None
    with ThreadPoolExecutor(max_workers=1) as beside:
        digest = beside.submit(sha256_of, path)
        relation = DuckRelation(
            database, str(path), [columns[index] for index in kept], source=again, watched=watched
        )
        with reading(path):
            relation.sha256 = digest.result()
    relation.unmatched_columns = unmatched_columns
    relation.check_unchanged()
    return relation


def parquet_columns(path: Path, named: Collection[str]) -> list[str] | None:
    """Return the columns of a Parquet file, or of a folder as Spark reads it, without reading records.

    Parameters
    ----------
    named: columns with a role; see ``EngineOptions``.

    Returns
    -------
    None where they cannot be read, or where a character of the path makes a pattern of it.
    """
    if any(character in str(path.resolve()) for character in "*?["):
        return None
    file = next(iter(data_files(path)), path) if path.is_dir() else path
    folders = [part.partition("=")[0] for part in file.relative_to(path).parts[:-1] if "=" in part]
    source = quoted(file.resolve())
    try:
        with Database(EngineOptions()) as database:
            columns = _top_level(database, source)
            unmatched_columns = pandas_index(columns, _of_pandas(database, source), named)
    except duckdb.Error:
        return None
    return [name for name in columns if name not in unmatched_columns] + folders


def _of_pandas(database: Database, source: str) -> str | None:
    """Return what pandas wrote of itself into a file."""
    query = f"SELECT decode(value) FROM parquet_kv_metadata({source}) WHERE decode(key) = 'pandas'"
    rows = database.rows(query)
    return str(rows[0][0]) if rows else None


def _readable(path: Path) -> Sequence[Path]:
    """Return the files of a path; raises as ``open_parquet`` does where there is nothing in them."""
    with reading(path):
        files = data_files(path) if path.is_dir() else [path]
        for file in files[:1]:
            with file.open("rb"):
                pass
    if not files:
        raise DataError(f"{path}: is a directory without files; Parquet files with records are needed")
    told = next((part for file in files for part in file.relative_to(path).parts[:-1] if "=" in part), None)
    if told is not None:
        raise DataError(
            f"{path}: folders such as '{told}' are a column, which Spark reads; set engine.name: spark (for "
            f"init and check: give {path.absolute().as_uri()}), or write the column into the files"
        )
    if not files[0].stat().st_size:
        raise DataError(f"{files[0]}: the file is empty; a Parquet file with records is needed")
    return files


def _watched(path: Path, files: Sequence[Path]) -> list[Path]:
    """Return what must stay as it is while a path is read: itself, and the files and folders in a folder."""
    if not path.is_dir():
        return [path]
    return [path, *files, *sorted({file.parent for file in files} - {path})]


def _check_same(database: Database, path: Path, files: Sequence[Path], sources: Sequence[str]) -> None:
    """Check that all files have the columns of the first, of the same types.

    Raises
    ------
    DataError: naming both files and the column.
    """
    first: set[tuple[str, str]] = set()
    for file, source in zip(files, sources, strict=True):
        described = database.rows(f"DESCRIBE SELECT * FROM read_parquet({source}, hive_partitioning = false)")
        own = {(str(row[0]), str(row[1])) for row in described}
        first = first or own
        if own != first:
            column = min(own ^ first)[0]
            raise DataError(
                f"{path}: column '{column}' differs between files: {dict(first).get(column, 'missing')} in "
                f"{files[0].name}, {dict(own).get(column, 'missing')} in {file.name}; give all one schema"
            )


def _top_level(database: Database, source: str) -> list[str]:
    """Return column names as written; DuckDB would add a suffix to those that differ in case alone."""
    rows = database.rows(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({source})")
    columns = []
    nested: list[int] = []
    for name, children in rows[1:]:
        if not nested:
            columns.append(str(name))
        else:
            nested[-1] -= 1
        if children:
            nested.append(int(children))
        while nested and not nested[-1]:
            nested.pop()
    return columns
