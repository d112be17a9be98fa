"""Hierarchies in headerless CSV files, read with line numbers or written for editing."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import ConfigDict, Field, RootModel

from anonymizer.errors import HierarchyError, OutputError
from anonymizer.hierarchy.leaves import identities_in, identity_in, text_identities
from anonymizer.hierarchy.levels import Levels, Numbering, all_distinct, last_parents, numbered
from anonymizer.hierarchy.source import HierarchySource, LeveledTree, Tree
from anonymizer.model.arrays import CodeArray
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Column, Hierarchy
from anonymizer.plugins import FilePath, shortened_path, usable_path
from anonymizer.system import check_file, write_whole

if TYPE_CHECKING:
    from _csv import Reader

SEPARATORS = (",", ";")


CHUNK = 1 << 14
"""Rows that are Python lists at one time."""

PIECE = 1 << 18
"""Bytes, but for the rest of a line, that are Python texts at one time."""


class Rows(NamedTuple):
    """The rows of a file, at least one, by column.

    Attributes
    ----------
    name: of the file in messages.
    content: of the file, in which messages look for lines.
    separator: of cells.
    width: number of columns of the first row.
    values: first cell of each row, up to the first row of another width.
    groups: for each other column its distinct labels in the order of their appearance, and their codes.
    ragged: the first row of another width, and its width.
    roots: number of distinct last cells of all rows.
    """

    name: str
    content: bytes
    separator: str
    width: int
    values: list[str]
    groups: list[tuple[list[str], CodeArray]]
    ragged: tuple[int, int] | None
    roots: int

    def score(self) -> tuple[bool, bool, int]:
        """Return how well the separator fits: equal widths, one root, number of columns."""
        return self.width > 1 and self.ragged is None, self.roots == 1, self.width

    def line(self, row: int) -> int:
        """Return the line at which a row ends."""
        with _any_size():
            reader = _reader(self.content, self.separator)
            for _ in islice(filter(None, reader), row + 1):
                pass
            return reader.line_num

    def error(self, row: int, text: str) -> HierarchyError:
        """Return the error of a row."""
        return HierarchyError(f"{self.name} line {self.line(row)}: {text}")


def read_rows(path: Path, name: str) -> Rows:
    """Read a headerless CSV file in UTF-8, separated by ``,`` or ``;``, whichever gives one tree.

    Parameters
    ----------
    path: of the file.
    name: of the file in messages.

    Raises
    ------
    HierarchyError: no such file, not UTF-8, not CSV, or empty.
    """
    content = _read_content(path, name)
    occurring = [separator for separator in SEPARATORS if separator.encode() in content] or SEPARATORS[:1]
    return max((_parse(content, separator, name) for separator in occurring), key=Rows.score)


def _read_content(path: Path, name: str) -> bytes:
    """Return the bytes of a file in UTF-8."""
    try:
        usable_path(str(path))
        content = check_file(path).read_bytes()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        remedy = "; correct the path" if missing else "; name a file in it" if path.is_dir() else ""
        raise HierarchyError(
            f"hierarchy file {name}: {error.strerror or error} (looked in {path.parent}){remedy}"
        ) from None
    except ValueError as error:
        raise HierarchyError(f"hierarchy file {shortened_path(name)}: {error}") from None
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"hierarchy file {name} line {line}: byte 0x{content[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None

    return content


def _reader(content: bytes, separator: str) -> Reader:
    return csv.reader(TextIOWrapper(BytesIO(content), encoding="utf-8-sig", newline=""), delimiter=separator)


def _parse(content: bytes, separator: str, name: str) -> Rows:
    named = f"hierarchy file {name}"
    columns = _Columns()
    width = _even_width(content, separator)
    if width > 1:
        for piece in _pieces(content):
            cells = piece.decode().replace("\n", separator).split(separator)
            columns.add([cells[place::width] for place in range(width)])
        return columns.rows(named, content, separator)
    reader = _reader(content, separator)
    with _any_size():
        try:
            while rows := list(islice(reader, CHUNK)):
                columns.add_rows(list(filter(None, rows)))
        except csv.Error as error:
            raise HierarchyError(f"{named} line {reader.line_num}: {error}") from None
    if not columns.width:
        raise HierarchyError(f"{named} is empty; accepted: one row per value: value, level 1, ..., top")
    return columns.rows(named, content, separator)


def _pieces(content: bytes) -> Iterator[bytes]:
    """Yield a file in pieces of whole lines, without a byte-order mark, and with newlines alone."""
    start = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    while start < len(content):
        end = content.find(b"\n", start + PIECE) + 1 or len(content)
        yield content[start:end].replace(b"\r\n", b"\n").removesuffix(b"\n")
        start = end


def _even_width(content: bytes, separator: str) -> int:
    """Return the number of columns of a file without quotes whose lines all have as many; else 0.

    Such a file need not be read row by row.
    """
    if b'"' in content or content.count(b"\r") != content.count(b"\r\n"):
        return 0
    width = 0
    for piece in _pieces(content):
        characters = np.frombuffer(piece + b"\n", dtype=np.uint8)
        marks = characters[(characters == ord(separator)) | (characters == ord("\n"))]
        width = width or int(np.argmax(marks == ord("\n"))) + 1
        if len(marks) % width or ((marks == ord("\n")) != (np.arange(len(marks)) % width == width - 1)).any():
            return 0
    return width


class _Columns:
    """The columns of a file, while it is read."""

    def __init__(self) -> None:
        self.width = 0
        self._values: list[str] = []
        self._groups: list[Numbering] = []
        self._ragged: tuple[int, int] | None = None
        self._roots: set[str] = set()

    def add(self, columns: Sequence[Sequence[str]]) -> None:
        """Add further rows, all of the width of the first one."""
        if not self.width:
            self.width = len(columns)
            self._groups = [Numbering() for _ in columns[1:]]
        self._values.extend(map(str.strip, columns[0]))
        for group, labels in zip(self._groups, columns[1:], strict=True):
            group.add(labels)

    def add_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Add further rows; after one of another width, only their last cells."""
        self._roots.update(map(itemgetter(-1), rows))
        if not rows or self._ragged is not None:
            return
        width = self.width or len(rows[0])
        end = next((place for place, cells in enumerate(rows) if len(cells) != width), len(rows))
        if end < len(rows):
            self._ragged = len(self._values) + end, len(rows[end])
        if end:
            self.add([*zip(*rows[:end], strict=True)])

    def rows(self, name: str, content: bytes, separator: str) -> Rows:
        """Return all rows, at least one."""
        groups = [_merged(list(map(str.strip, each.labels)), each.codes) for each in self._groups]
        roots = len({*map(str.strip, self._roots)}) if self._roots else len(groups[-1][0])
        return Rows(name, content, separator, self.width, self._values, groups, self._ragged, roots)


def _merged(
    labels: list[str], codes: CodeArray, identities: Sequence[str] | None = None
) -> tuple[list[str], CodeArray]:
    """Return labels of which those of one identity are one, the first, and the codes of these."""
    own = labels if identities is None else identities
    kept, code_of = numbered(own)
    if len(kept) == len(labels):
        return labels, codes
    first = np.unique(code_of, return_index=True)[1]
    return [labels[place] for place in first.tolist()], code_of[codes]


@contextmanager
def _any_size() -> Iterator[None]:
    """Lift the csv module's limit on the size of a cell, which holds for the whole process."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


class FileSettings(RootModel[FilePath]):
    """Path of the file."""

    model_config = ConfigDict(frozen=True)

    root: FilePath = Field(
        description="Headerless CSV file, one row per value: value, level 1, ..., top; separated by , or ;. "
        "Relative to the config.",
    )


class FileSource(HierarchySource[FileSettings]):
    """A headerless CSV file with one row per value: the value, then its label at each level."""

    name: ClassVar[str] = "file"
    Settings = FileSettings
    rule_built = False

    def build(self, column: Column, folder: Path) -> Tree:
        """Return the tree of the file; ``column`` decides which texts are one value.

        Raises
        ------
        HierarchyError: the file cannot be read, or its rows are not one tree; with file and line.
        """
        rows = read_rows(folder / self.settings.root, self.settings.root)
        _check_cells(rows)
        values = identities_in(column, rows.values)
        if not all_distinct(values):
            value = Counter(values).most_common(1)[0][0]
            places = [place for place, each in enumerate(values) if each == value][:5]
            lines = ", ".join(str(rows.line(place)) for place in places)
            texts = " and ".join(dict.fromkeys(f"'{rows.values[place]}'" for place in places))
            raise HierarchyError(
                f"{rows.name} lines {lines}: value {texts} is listed more than once; keep one"
            )
        groups = [_merged(*each, text_identities(each[0])) for each in rows.groups]
        levels = [(rows.values, np.arange(len(rows.values), dtype=np.int32)), *groups]
        parents = [_parents(rows, level, *pair) for level, pair in enumerate(pairwise(levels))]
        _check_root(rows, *groups[-1], column)
        return LeveledTree(Levels([labels for labels, _ in levels], parents))

    def files(self, folder: Path) -> list[Path]:
        return [folder / self.settings.root]

    def describe(self) -> str:
        """Return the path as the config gives it."""
        return f"hierarchy {self.settings.root}"


def _check_cells(rows: Rows) -> None:
    """Check widths and cells; the first row that has a fault is named."""
    faults = []
    if rows.ragged is not None:
        row, width = rows.ragged
        other = f"has {width} columns, but line {rows.line(0)} has {rows.width}"
        faults.append((row, 0, f"{other}; give every row the value and its label at each level"))
    if b"\0" in rows.content:
        nul = "contains a NUL byte; remove it, CSV cannot contain one"
        faults += [(row, 1, nul) for row, value in enumerate(rows.values) if "\0" in value]
        faults += [(row, 1, nul) for group in rows.groups for row in _rows_with(group, "\0")]
    for level, group in enumerate(rows.groups, 1):
        empty = f"level {level} is empty; repeat the label of the level below"
        faults += [(row, 1 + level, empty) for row in _rows_with(group, "")]
    if faults:
        row, _, text = min(faults)
        raise rows.error(row, text)
    if rows.width == 1:
        raise rows.error(0, "has only one column; accepted: value, level 1, ..., top, separated by , or ;")


def _rows_with(group: tuple[list[str], CodeArray], part: str) -> list[int]:
    """Return the first row of each label that has a part, or that is empty if the part is."""
    labels, codes = group
    wanted = [code for code, label in enumerate(labels) if (part in label if part else not label)]
    return [int(np.argmax(codes == code)) for code in wanted]


def spelled_once(labels: Sequence[str]) -> list[str]:
    """Return the labels of a level with one spelling, the first, for those of one identity."""
    spellings: dict[str, str] = {}
    return [spellings.setdefault(text_identity(label), label) for label in labels]


def _parents(
    rows: Rows, level: int, lower: tuple[list[str], CodeArray], upper: tuple[list[str], CodeArray]
) -> CodeArray:
    """Return the parent of each label of a level, which must be the same in all rows."""
    (labels, own), (names, above) = lower, upper
    parents = last_parents(own, above, len(labels))
    other = np.flatnonzero(parents[own] != above)
    if len(other):
        row = int(other[0])
        raise rows.error(
            row,
            f"'{labels[own[row]]}' (level {level}) has two parents, '{names[above[row]]}' and "
            f"'{names[parents[own[row]]]}'; keep one",
        )
    return parents


def _check_root(rows: Rows, roots: list[str], top: CodeArray, column: Column) -> None:
    """Check that a file has one root; a first line whose first cell is a value of the column is no header."""
    if len(roots) == 2 and np.count_nonzero(top == 0) == 1 and len(top) > 2:
        known = identities_in(column, column.present)
        if identity_in(column)(rows.values[0]) not in {*known}:
            raise rows.error(
                0,
                f"looks like a header, as its last column is '{roots[0]}', and in every other line "
                f"'{roots[1]}'; remove it, so that the file starts with the first value",
            )
    if len(roots) > 1:
        raise rows.error(
            int(np.argmax(top == 1)),
            f"the last column has {len(roots)} different labels, such as '{roots[0]}' and '{roots[1]}'; end "
            "every row with one root, such as *",
        )


def write_rows(hierarchy: Hierarchy, path: Path) -> None:
    """Write a headerless CSV file atomically, one row per leaf: its label at each level.

    Raises
    ------
    OutputError: the file cannot be written, or could not be read back as a hierarchy.
    """
    labels = hierarchy.labels
    if any("\0" in label for label in labels):
        raise OutputError(f"{path}: cannot contain the NUL bytes of the column's values; remove them first")
    # Readers that try ; as the separator, or end a row at a carriage return, must not split a cell.
    quoting: Literal[0, 1] = (
        csv.QUOTE_ALL if any(";" in label or "\r" in label for label in labels) else csv.QUOTE_MINIMAL
    )
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=quoting, lineterminator="\n")
    writer.writerows([labels[node] for node in nodes] for nodes in hierarchy.ancestors.T.tolist())
    write_whole(path, stream.getvalue())
