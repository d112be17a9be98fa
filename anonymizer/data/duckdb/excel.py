"""Workbooks of Excel."""

from __future__ import annotations

from pathlib import Path

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.duckdb.released import Staged, WrittenFormat
from anonymizer.data.foreign import needing
from anonymizer.data.source import EXCEL_FILES, FileSource


class Excel(WrittenFormat):
    """A workbook; numbers, dates, times and truth values have their types, and an empty cell is a null.

    The table begins at the first row with two values, or with one if no row has more, and ends at the first
    empty row. A value of a formula is the one that Excel stored.
    """

    name = "excel"
    kind = "an Excel workbook"
    suffixes = EXCEL_FILES.suffixes

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:  # noqa: ARG002
        """Load a sheet.

        Raises
        ------
        DataError: empty, protected by a password, not a workbook, a merged cell, a formula without a value,
            cells of different types in a column, cells below an empty row.
        InputError: openpyxl or pyarrow is not installed.
        """
        with needing(source.path):
            from anonymizer.data.office.workbook import load_workbook  # noqa: PLC0415 - an extra
        return load_workbook(self.options, database, source)

    def write(self, release: Staged, path: Path) -> None:
        """Write one sheet with a row of names; numbers beyond 15 digits and dates before 1900 are texts.

        Raises
        ------
        OutputError: more rows or columns than a sheet has, a text with a character that it lacks.
        """
        with needing(path):
            from anonymizer.data.office.workbook import write_workbook  # noqa: PLC0415 - an extra
        write_workbook(release, path)
