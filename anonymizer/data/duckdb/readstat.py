"""Files of SPSS, Stata and SAS: what their formats have in common."""

from __future__ import annotations

from pathlib import Path

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation, InputFormat
from anonymizer.data.foreign import needing
from anonymizer.data.source import FileSource


class Readstat(InputFormat):
    """A file with numbers, texts, dates, labels of values and columns, and declared missing values.

    A column is read by its labels if every value has one. Else its values are read as they are stored: the
    labels are then of some special values, and 97 years stay a number.

    Class attributes
    ----------------
    reader: name of the function of pyreadstat.
    declared: whether it can return values that are declared missing.
    """

    reader: str
    declared = True

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:  # noqa: ARG002
        """Load the file in pieces.

        Raises
        ------
        DataError: empty, not of this format, two values of a column with one label.
        InputError: pyreadstat is not installed.
        """
        with needing(source.path):
            from anonymizer.data.office.statistics import load_file  # noqa: PLC0415 - an extra
        return load_file(self, database, source, self.reader, declared=self.declared)
