"""Feather files as tables, with the types of Arrow."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from anonymizer.data.arrow import worked_column
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.source import EngineOptions, FileSource, Naming, name_columns, pandas_index
from anonymizer.errors import DataError


def load_feather(options: EngineOptions, database: Database, source: FileSource) -> DuckRelation:
    """Load a file.

    Raises
    ------
    DataError: empty, not Feather, a column of a type that cannot be read.
    """
    path = source.path
    if not path.stat().st_size:
        raise DataError(f"{path}: the file is empty; a Feather file with records is needed")
    try:
        table = feather.read_table(path, memory_map=False)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise source.damaged(error) from None
    naming = name_columns(str(path), table.column_names, strict=options.strict_header)
    metadata = (table.schema.metadata or {}).get(b"pandas", b"").decode()
    index = pandas_index(naming.columns, metadata, options.named)
    kept = [place for place, name in enumerate(naming.columns) if name not in index]
    columns = []
    for place in kept:
        where = f"{path}: column '{naming.columns[place]}'"
        column, _ = worked_column(where, table.column(place))
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        columns.append(column)
    names = [f"c{place}" for place in range(len(kept))]
    database.run("SET TimeZone = 'UTC'")
    with database.holding("given", pa.table(columns, names=names).to_reader()):
        database.run(f"CREATE TABLE records AS SELECT {', '.join(names)} FROM given")
    relation = DuckRelation(
        database, str(path), Naming(tuple(naming.columns[place] for place in kept), naming.warnings)
    )
    relation.index_columns = index
    return relation


def write_feather(given: Path, path: Path) -> None:
    """Write the columns of a Parquet file, without its metadata."""
    feather.write_feather(pq.read_table(given).replace_schema_metadata(None), str(path))
