"""Files of SAS, which have no labels of values: these are in a catalog of their own."""

from __future__ import annotations

from pathlib import Path

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.readstat import Readstat
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.source import SAS_FILES, FileSource


class Sas(Readstat):
    """A data set of SAS, or a transport file."""

    name = "sas"
    kind = "a SAS file"
    suffixes = SAS_FILES.suffixes
    reader = "read_sas7bdat"

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        """Load the file, with the reader for its suffix; raises as ``Readstat.load`` does."""
        if source.path.name.lower().endswith(".xpt"):
            self.reader, self.declared = "read_xport", False
        return super().load(database, source, folder)
