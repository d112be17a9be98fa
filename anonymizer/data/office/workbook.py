"""Workbooks of Excel as tables: the first sheet with records, below a row of names.

The table begins at the first row with two values, or with one if no row has more, and ends at the first
empty row. A value of a formula is the one that Excel stored.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import chain, islice, zip_longest
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils import get_column_letter

from anonymizer.data.arrow import number_column
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.duckdb.released import (
    FINITE,
    SECONDS,
    Staged,
    typed_file,
)
from anonymizer.data.source import CHUNK, EngineOptions, FileSource, Naming, name_columns, quoted
from anonymizer.data.texts import value_text
from anonymizer.errors import DataError, OutputError, listed

LEAD = 50
"""Number of rows with one value, from which the sheet has one column."""

ROWS = 20_000
"""Rows that are read at once."""

COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")
"""First bytes of workbooks before 2007, and of those with a password."""

KINDS = {
    str: "texts",
    int: "numbers",
    float: "numbers",
    bool: "truth values",
    datetime: "dates",
    date: "dates",
    time: "times",
    timedelta: "durations",
}


def load_workbook(options: EngineOptions, database: Database, source: FileSource) -> DuckRelation:
    """Load a sheet.

    Raises
    ------
    DataError: empty, protected by a password, not a workbook, a merged cell, a formula without a value,
        cells of different types in a column, cells below an empty row.
    """
    path = source.path
    _check_content(path)
    try:
        with warnings.catch_warnings():
            # It warns of what it does not read, such as charts.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                sheet = _read(book, path, options.sheet)
            finally:
                book.close()
    except (DataError, MemoryError):
        raise
    except Exception as error:  # whatever a library raises that reads damaged XML
        raise source.damaged(error) from None
    naming = name_columns(str(path), sheet.names, strict=options.strict_header)
    naming = Naming(naming.columns, (*naming.warnings, *sheet.warnings))
    table = {
        f"c{place}": column.array(f"{path}: column '{naming.columns[place]}'")
        for place, column in enumerate(sheet.columns)
    }
    with database.holding("given", pa.table(table).to_reader()):
        database.run(f"CREATE TABLE records AS SELECT {', '.join(table)} FROM given")
    return DuckRelation(database, str(path), naming)


def _read(book: Any, path: Path, asked: str | None) -> _Sheet:
    """Return the sheet that is asked for, or the first visible one with records."""
    every = [str(each.title) for each in book.worksheets]
    if asked is not None and asked not in every:
        raise DataError(f"{path}: no sheet {asked!r}; accepted: {listed([*map(repr, every)], 'or')}")
    shown = [
        each
        for each in book.worksheets
        if (each.sheet_state == "visible" if asked is None else each.title == asked)
    ]
    first = None
    for place, given in enumerate(shown):
        given.reset_dimensions()
        sheet = _Sheet(str(given.title))
        sheet.read(given.iter_rows(values_only=True), path)
        first = first or (sheet if sheet.names else None)
        if sheet.columns and sheet.rows:
            others = [repr(each.title) for each in (*shown[:place], *shown[place + 1 :])]
            if others:
                sheet.warnings.append(
                    f"sheet '{sheet.title}' is read, {', '.join(others)} not; to read another, give "
                    "its name: input.table, or --table"
                )
            _check_cells(path, sheet)
            return sheet
    if first is None:
        raise DataError(f"{path}: no sheet has cells; a row of names with records below it is needed")
    return first


def write_workbook(release: Staged, path: Path) -> None:
    """Write one sheet with a row of names; numbers beyond 15 digits and dates before 1900 are texts.

    Raises
    ------
    OutputError: more rows or columns than a sheet has, a text with a character that it lacks.
    """
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("release")
    given = typed_file(release, STORED, LACKING, path)
    with pq.ParquetFile(given) as rows:
        names = rows.schema_arrow.names
        if rows.metadata.num_rows >= MOST_ROWS or len(names) > MOST_COLUMNS:
            raise OutputError(
                f"{path.name}: a sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns; set "
                "output.path to a .csv"
            )
        sheet.append([_cell(sheet, name) for name in names])
        for batch in rows.iter_batches(ROWS):
            columns = [[_cell(sheet, value) for value in column.to_pylist()] for column in batch.columns]
            for record in zip(*columns, strict=True):
                if all(cell is None for cell in record):
                    sheet.close()
                    raise OutputError(
                        f"{path.name}: a record of missing values alone would be an empty row, at which "
                        "a table ends; set output.missing to a text, or output.path to a .csv"
                    )
                sheet.append(record)
    staged = release.scratch / "untimed.xlsx"
    book.save(staged)
    _without_times(staged, path)
    staged.unlink()


MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14

_DAYS = "v >= DATE '1900-03-01' AND v <= DATE '9999-12-31'"

STORED = {
    "BIGINT": "v BETWEEN -999999999999999 AND 999999999999999",
    "DOUBLE": FINITE,
    "BOOLEAN": "",
    "DATE": _DAYS,
    "TIMESTAMP": f"{_DAYS} AND {SECONDS}",
    "TIME": "microsecond(v) % 1000000 = 0",
}
"""What cells hold exactly: Excel shows 15 digits, and has no days before 1900."""

_LACKING = r"[\x00-\x08\x0b-\x1f\x{FFFE}\x{FFFF}]|_x[0-9A-Fa-f]{4}_"
"""Characters that cells cannot have, and texts that stand for one."""


LACKING = (
    (f"regexp_matches(v, {quoted(_LACKING)})", "with a character that cells cannot have"),
    ("length(v) > 32767", "longer than the 32,767 characters of a cell"),
)
"""Texts that cells cannot have, each condition with the words for a message."""


def _cell(sheet: Any, value: Any) -> Any:
    """Return what is appended for a value: a cell with a type where openpyxl would take another."""
    if isinstance(value, str) and value[:1] in ("=", "#"):
        cell = WriteOnlyCell(sheet, value)
        cell.data_type = "s"
        return cell
    if isinstance(value, float) and float(f"{value:.16g}") != value:
        # It would write 16 digits.
        cell = WriteOnlyCell(sheet, repr(value))
        cell.data_type = "n"
        return cell
    return value


def _without_times(staged: Path, path: Path) -> None:
    """Write a workbook again without the time of writing, so that a run repeats byte for byte."""
    with zipfile.ZipFile(staged) as given, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with given.open(name) as source, made.open(entry, "w", force_zip64=True) as target:
                if name == "docProps/core.xml":
                    target.write(re.sub(rb"\d{4}-\d\d-\d\dT[0-9:]+Z", b"1980-01-01T00:00:00Z", source.read()))
                else:
                    shutil.copyfileobj(source, target, CHUNK)


@dataclass(eq=False)
class _Column:
    """The cells of a column below its name.

    Attributes
    ----------
    letter: of the column in the sheet.
    pieces: cells that were read at once.
    first: row of the first cell of each kind.
    """

    letter: str
    pieces: list[Any] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, cells: Sequence[Any], row: int) -> None:
        """Add cells, given the row of the first."""
        types = set(map(type, cells)) - {type(None)}
        for kind in {KINDS[each] for each in types} - self.first.keys():
            self.first[kind] = row + next(
                place for place, cell in enumerate(cells) if KINDS.get(type(cell)) == kind
            )
        # Text and dates take less memory in Arrow; numbers wait until the type of the column is known.
        self.pieces.append(pa.array(cells, pa.large_string()) if types == {str} else list(cells))

    def array(self, where: str) -> Any:
        """Return all cells in one type; texts beside others make all of them texts.

        Raises
        ------
        DataError: the cells are of several types that are not texts.
        """
        kinds = sorted(self.first, key=lambda kind: self.first[kind])
        others = [kind for kind in kinds if kind != "texts"]
        if len(others) > 1:
            found = " and ".join(f"{kind} ({self.letter}{self.first[kind]})" for kind in others[:2])
            raise DataError(f"{where} mixes {found}; give all its cells one type")
        if kinds == ["texts"] or not kinds:
            return pa.chunked_array(
                [pa.array(each, pa.large_string()) for each in self.pieces], pa.large_string()
            )
        cells = list(
            chain.from_iterable(
                each.to_pylist() if isinstance(each, pa.Array) else each for each in self.pieces
            )
        )
        self.pieces.clear()
        if "texts" in kinds or "durations" in kinds:
            texts = [None if cell is None else _text(cell) for cell in cells]
            return pa.array(texts, pa.large_string())
        if kinds == ["numbers"]:
            return number_column(cells)
        found = pa.array(cells)
        if pa.types.is_timestamp(found.type):
            days = found.cast(pa.date32(), safe=False)
            return days if days.cast(found.type).equals(found) else found
        return found


def _text(cell: Any) -> str:
    """Return the text of a cell in a column that has texts, too."""
    return value_text(cell)


@dataclass(eq=False)
class _Sheet:
    """A sheet that is read.

    Attributes
    ----------
    names: of the columns, as in the sheet.
    columns: of the table.
    header: row of the names; 0 without one.
    rows: number of records.
    warnings: about what is not read.
    """

    title: str
    names: list[str] = field(default_factory=list)
    columns: list[_Column] = field(default_factory=list)
    header: int = 0
    rows: int = 0
    warnings: list[str] = field(default_factory=list)

    def read(self, rows: Iterator[tuple[Any, ...]], path: Path) -> None:
        """Read the rows of the sheet, which may have different lengths.

        Raises
        ------
        DataError: a cell below an empty row.
        """
        numbered = self._below_names(enumerate(rows, start=1))
        last = self.header
        while piece := list(islice(numbered, ROWS)):
            full = [(row, cells) for row, cells in piece if any(cell is not None for cell in cells)]
            for row, _ in full:
                if row != last + 1:
                    raise DataError(
                        f"{path}: sheet '{self.title}': row {row} is below the empty row {last + 1}; remove "
                        "the empty rows, and what is no record"
                    )
                last = row
            if full:
                self._add([cells for _, cells in full])
        kept = [place for place, column in enumerate(self.columns) if self.names[place] or column.first]
        self.names = [self.names[place] for place in kept]
        self.columns = [self.columns[place] for place in kept]

    def _below_names(
        self, rows: Iterator[tuple[int, tuple[Any, ...]]]
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Find the row of names, and return the rows below it."""
        lead, filled = [], 0
        for row, cells in rows:
            filled = sum(cell is not None for cell in cells)
            if filled:
                lead.append((row, cells))
            if filled > 1 or len(lead) == LEAD:
                break
        if not lead:
            return rows
        place = len(lead) - 1 if filled > 1 else 0
        if place:
            self.warnings.append(f"sheet '{self.title}': the {place} rows above the names are not read")
        self.header, names = lead[place]
        for name in names:
            self._new_column("" if name is None else _text(name))
        return chain(lead[place + 1 :], rows)

    def _add(self, piece: Sequence[tuple[Any, ...]]) -> None:
        """Add records."""
        cells = list(zip_longest(*piece))
        while len(cells) > len(self.columns):
            self._new_column("")
        cells += [(None,) * len(piece)] * (len(self.columns) - len(cells))
        for column, own in zip(self.columns, cells, strict=True):
            column.add(own, self.header + 1 + self.rows)
        self.rows += len(piece)

    def _new_column(self, name: str) -> None:
        column = _Column(get_column_letter(len(self.columns) + 1))
        if self.rows:
            column.add((None,) * self.rows, self.header + 1)
        self.columns.append(column)
        self.names.append(name)


def _check_content(path: Path) -> None:
    """Check that a file can be a workbook.

    Raises
    ------
    DataError: it is empty, or protected by a password.
    """
    with path.open("rb") as file:
        begin = file.read(len(COMPOUND))
    if not begin:
        raise DataError(f"{path}: the file is empty; a workbook with records is needed")
    if begin == COMPOUND:
        raise DataError(
            f"{path}: is protected by a password, or an .xls file with another name; save it as .xlsx "
            "without a password"
        )


_OF_CELLS = re.compile(
    rb'<(?:\w+:)?c r="([A-Z]+[0-9]+)"(?![^>]* t="str")[^>]*><(?:\w+:)?f(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)'
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?</(?:\w+:)?c>"
    rb'|<(?:\w+:)?mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+([0-9]+))"'
)
"""A cell with a formula and no value, which may be an empty text, or merged cells; each with its name."""

LONGEST = 1 << 16
"""Maximum bytes of what is searched in a sheet; a formula has at most 8,192 characters."""


def _check_cells(path: Path, sheet: _Sheet) -> None:
    """Check that the cells of a table are not merged, and that formulas have values.

    Raises
    ------
    DataError: naming the first cell.
    """
    with zipfile.ZipFile(path) as archive, archive.open(_part(archive, sheet.title)) as content:
        before = b""
        while piece := content.read(CHUNK):
            for found in _OF_CELLS.finditer(before + piece):
                cell, merged, last = (each.decode() if each else "" for each in found.groups())
                if cell and int(cell.lstrip(ascii_uppercase)) > sheet.header:
                    raise DataError(
                        f"{path}: cell {cell} of sheet '{sheet.title}' has a formula without a value; open "
                        "the workbook in Excel or LibreOffice and save it, which computes the value"
                    )
                if merged and int(last) >= sheet.header:
                    raise DataError(
                        f"{path}: cells {merged} of sheet '{sheet.title}' are merged; split them, and give "
                        "each record its own value"
                    )
            before = piece[-LONGEST:]


def _part(archive: zipfile.ZipFile, title: str) -> str:
    """Return the name of the part of a workbook that has a sheet; programs besides Excel choose the names."""

    def linked(folder: str, name: str, holds: Callable[[ElementTree.Element], bool]) -> str:
        links = ElementTree.fromstring(archive.read(posixpath.join(folder, "_rels", f"{name}.rels")))
        target = next(each.get("Target", "") for each in links if holds(each))
        return posixpath.normpath(posixpath.join("/", folder, target)).removeprefix("/")

    main = linked("", "", lambda each: each.get("Type", "").endswith("/officeDocument"))
    book = ElementTree.fromstring(archive.read(main))
    found = next(each for each in book.iter() if each.tag.endswith("}sheet") and each.get("name") == title)
    link = next(value for key, value in found.items() if key.endswith("}id"))
    return linked(*posixpath.split(main), lambda each: each.get("Id") == link)
