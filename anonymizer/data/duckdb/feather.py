"""Feather: tables of Arrow in a file, as pandas, polars and R write them."""

from __future__ import annotations

from pathlib import Path

from anonymizer.data.arrow import worked_column
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.duckdb.released import Staged, WrittenFormat
from anonymizer.data.foreign import needing
from anonymizer.data.source import FEATHER_FILES, FileSource, Naming, name_columns, pandas_index
from anonymizer.errors import DataError


class Feather(WrittenFormat):
    """A Feather file, of Arrow's version or the older one; columns have their own types and nulls."""

    name = "feather"
    kind = "a Feather file"
    suffixes = FEATHER_FILES.suffixes

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:  # noqa: ARG002
        """Load the file.

        Raises
        ------
        DataError: empty, not Feather, a column of a type that cannot be read.
        InputError: pyarrow is not installed.
        """
        with needing(source.path):
            import pyarrow as pa  # noqa: PLC0415 - an extra
            from pyarrow import feather  # noqa: PLC0415
        path = source.path
        if not path.stat().st_size:
            raise DataError(f"{path}: the file is empty; a Feather file with records is needed")
        try:
            table = feather.read_table(path, memory_map=False)
        except (pa.ArrowException, ValueError, OSError) as error:
            raise source.damaged(error) from None
        naming = name_columns(str(path), table.column_names, strict=self.options.strict_header)
        metadata = (table.schema.metadata or {}).get(b"pandas", b"").decode()
        index = pandas_index(naming.columns, metadata, self.options.named)
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

    def write(self, release: Staged, path: Path) -> None:
        """Write the columns as Parquet has them."""
        with needing(path):
            import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
            from pyarrow import feather  # noqa: PLC0415
        feather.write_feather(pq.read_table(release.path).replace_schema_metadata(None), str(path))
