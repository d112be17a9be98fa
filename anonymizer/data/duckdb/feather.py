"""Feather: tables of Arrow in a file, as pandas, polars and R write them."""

from __future__ import annotations

from pathlib import Path

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.duckdb.released import Staged, WrittenFormat
from anonymizer.data.foreign import needing
from anonymizer.data.source import FEATHER_FILES, FileSource


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
            from anonymizer.data.office.feather import load_feather  # noqa: PLC0415 - an extra
        return load_feather(self.options, database, source)

    def write(self, release: Staged, path: Path) -> None:
        """Write the columns as Parquet has them."""
        with needing(path):
            from anonymizer.data.office.feather import write_feather  # noqa: PLC0415 - an extra
        write_feather(release.path, path)
