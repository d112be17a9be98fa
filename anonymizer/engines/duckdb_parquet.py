"""Load a Parquet file into DuckDB with its own types."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb

from anonymizer.engines.base import check_header
from anonymizer.engines.csv_scan import reading
from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_csv import plain_name
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import quoted
from anonymizer.errors import DataError


def load_parquet(database: Database, path: Path, folder: Path) -> DuckRelation:
    """Load a Parquet file; ``folder`` takes a link to it where its name needs one.

    Raises
    ------
    DataError: as for ``open_parquet``.
    """
    with reading(path), path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if not path.stat().st_size:
        raise DataError(f"{path}: the file is empty; a Parquet file with records is needed")
    source = quoted(plain_name(path, folder))
    # The text of a moment depends on it.
    database.run("SET TimeZone = 'UTC'")
    try:
        columns = _top_level(database, source)
        check_header(str(path), columns)
        names = ", ".join(f"c{index}" for index in range(len(columns)))
        database.run(
            "CREATE TABLE records AS SELECT * "
            f"FROM read_parquet({source}, hive_partitioning = false) AS t({names})"
        )
    except duckdb.Error:
        raise DataError(f"{path}: not a Parquet file, or a damaged one; write it again, or as .csv") from None
    return DuckRelation(database, str(path), columns, sha256=sha256)


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
