"""Parquet files, and folders of them, read with their own types."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

from anonymizer.data.duckdb.database import Database, parquet, plain_name
from anonymizer.data.duckdb.relation import DuckRelation, InputFormat
from anonymizer.data.duckdb.types import check_stored_types
from anonymizer.data.source import (
    PARQUET_FILES,
    EngineOptions,
    FileSource,
    Naming,
    data_files,
    is_parquet_folder,
    name_columns,
    pandas_index,
    quoted,
    sha256_of,
)
from anonymizer.errors import DataError
from anonymizer.system import check_file, real_path


class Parquet(InputFormat):
    """A Parquet file, or a folder of them; the text of a value is ``text_of`` its column."""

    name = "parquet"
    kind = "a Parquet file"
    suffixes = PARQUET_FILES.suffixes

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Return whether a file has the suffix, or a folder has Parquet files only."""
        return super().recognizes(path) or is_parquet_folder(path)

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        """Open the file or folder; ``folder`` is for a link if the path is a pattern.

        Raises
        ------
        DataError: not Parquet, without files, files of a folder that differ in their columns.
        """
        path = source.path
        files = _readable(path)
        inside = [FileSource.of(each, self.kind) for each in _inside(path, files)]
        plain = plain_name(path, folder)
        sources = [quoted(plain / each.relative_to(path) if path.is_dir() else plain) for each in files]
        # Records may be larger than their file, so the file is read again until records are needed in an
        # order. Not by a link, which is removed first, and not in a folder, whose changes would go unseen.
        again = source if plain == real_path(path) and not path.is_dir() else None
        # The texts of timestamps depend on it.
        database.run("SET TimeZone = 'UTC'")
        strict = self.options.strict_header
        naming = name_columns(str(path), _top_level(database, sources[0]), strict=strict)
        columns = naming.columns
        _check_same(database, path, files, sources)
        for file, own in zip(files, sources, strict=True):
            check_stored_types(database, path, file, own)
        names = ", ".join(f"c{index}" for index in range(len(columns)))
        index_columns = pandas_index(columns, _of_pandas(database, sources[0]), self.options.named)
        kept = [index for index, name in enumerate(columns) if name not in index_columns]
        values = ", ".join(f"c{index} AS c{place}" for place, index in enumerate(kept))
        rows = parquet(f"[{', '.join(sources)}]")
        kind = "TABLE" if again is None else "VIEW"
        database.run(f"CREATE {kind} records AS SELECT {values} FROM {rows} AS t({names})")
        naming = Naming(tuple(columns[index] for index in kept), naming.warnings)
        with ThreadPoolExecutor(max_workers=1) as beside:
            digest = beside.submit(sha256_of, path)
            relation = DuckRelation(database, str(path), naming, source=again, watched=inside)
            relation.sha256 = digest.result()
        relation.index_columns = index_columns
        return relation


def parquet_columns(path: Path, options: EngineOptions) -> list[str] | None:
    """Return the columns of a Parquet file, or of a folder as Spark reads it, from their metadata.

    Parameters
    ----------
    options: with the columns that have a role, and the spelling of names.

    Returns
    -------
    None if they cannot be read, or the path is a pattern.
    """
    if any(character in str(real_path(path)) for character in "*?["):
        return None
    file = check_file(next(iter(data_files(path)), path) if path.is_dir() else path)
    folders = [part.partition("=")[0] for part in file.relative_to(path).parts[:-1] if "=" in part]
    source = quoted(real_path(file))
    try:
        with Database(EngineOptions()) as database:
            naming = name_columns(str(path), _top_level(database, source)).spelled_as(options.spelling)
            index_columns = pandas_index(naming.columns, _of_pandas(database, source), options.named)
    except duckdb.Error:
        return None
    return [name for name in naming.columns if name not in index_columns] + folders


def _of_pandas(database: Database, source: str) -> str | None:
    """Return the metadata of pandas in a Parquet file, in JSON; None without any."""
    query = f"SELECT decode(value) FROM parquet_kv_metadata({source}) WHERE decode(key) = 'pandas'"
    rows = database.rows(query)
    return str(rows[0][0]) if rows else None


def _readable(path: Path) -> Sequence[Path]:
    """Return the files of a path; raises as ``Parquet.load`` does if they are empty."""
    files = data_files(path) if path.is_dir() else [path]
    for file in files[:1]:
        with check_file(file).open("rb"):
            pass
    if not files:
        raise DataError(f"{path}: is a directory without files; Parquet files with records are needed")
    named = next((part for file in files for part in file.relative_to(path).parts[:-1] if "=" in part), None)
    if named is not None:
        raise DataError(
            f"{path}: folders such as '{named}' are a column, which Spark reads; set engine.name: spark (for "
            f"init and check: give {path.absolute().as_uri()}), or write the column into the files"
        )
    if not files[0].stat().st_size:
        raise DataError(f"{files[0]}: the file is empty; a Parquet file with records is needed")
    return files


def _inside(path: Path, files: Sequence[Path]) -> list[Path]:
    """Return what must not change in a folder while it is read: files and folders; nothing for a file."""
    return [*files, *sorted({file.parent for file in files} - {path})] if path.is_dir() else []


def _check_same(database: Database, path: Path, files: Sequence[Path], sources: Sequence[str]) -> None:
    """Check that all files have the same columns and types.

    Raises
    ------
    DataError: a column differs between two files.
    """
    first: set[tuple[str, str]] = set()
    for file, source in zip(files, sources, strict=True):
        described = database.rows(f"DESCRIBE SELECT * FROM {parquet(source)}")
        own = {(str(row[0]), str(row[1])) for row in described}
        first = first or own
        if own != first:
            column = min(own ^ first)[0]
            raise DataError(
                f"{path}: column '{column}' differs between files: {dict(first).get(column, 'missing')} in "
                f"{files[0].name}, {dict(own).get(column, 'missing')} in {file.name}; "
                "give all files the same columns and types"
            )


def _top_level(database: Database, source: str) -> list[str]:
    """Return column names as in the file; DuckDB would rename those that differ in case alone."""
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
