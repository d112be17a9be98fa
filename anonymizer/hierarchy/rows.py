"""Headerless CSV files, read with their line numbers."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from anonymizer.errors import HierarchyError
from anonymizer.plugins import shortened_path, usable_path

SEPARATORS = (",", ";")


@dataclass(frozen=True)
class Rows:
    """The rows of a file: ``cells`` of each, and ``lines``, where each ends; at least one row."""

    name: str
    cells: list[list[str]]
    lines: list[int]

    def score(self) -> tuple[bool, bool, int]:
        """Return how well the separator fits: equal width, one root, number of columns."""
        width = len(self.cells[0])
        even = width > 1 and all(len(cells) == width for cells in self.cells)
        return even, len({cells[-1] for cells in self.cells}) == 1, width


def read_rows(path: Path, name: str) -> Rows:
    """Read a headerless CSV file in UTF-8, separated by ``,`` or ``;``, whichever gives one tree.

    Parameters
    ----------
    path: of the file.
    name: what messages call it.

    Raises
    ------
    HierarchyError: no such file, not UTF-8, not CSV, or empty.
    """
    text = _read_text(path, name)
    occurring = [separator for separator in SEPARATORS if separator in text] or SEPARATORS[:1]
    return max((_parse(text, separator, name) for separator in occurring), key=Rows.score)


def _read_text(path: Path, name: str) -> str:
    try:
        usable_path(str(path))
        content = path.read_bytes()
    except OSError as error:
        raise HierarchyError(
            f"hierarchy file {name}: {error.strerror or error}; looked in {path.parent}"
        ) from None
    except ValueError as error:
        raise HierarchyError(f"hierarchy file {shortened_path(name)}: {error}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"hierarchy file {name} line {line}: byte 0x{content[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None


def _parse(text: str, separator: str, name: str) -> Rows:
    rows = Rows(f"hierarchy file {name}", [], [])
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    with _any_size():
        try:
            for cells in reader:
                if cells:
                    rows.cells.append(cells)
                    rows.lines.append(reader.line_num)
        except csv.Error as error:
            raise HierarchyError(f"{rows.name} line {reader.line_num}: {error}") from None
    if not rows.cells:
        raise HierarchyError(f"{rows.name} is empty; accepted: one row per value: value, level 1, ..., top")
    return rows


@contextmanager
def _any_size() -> Iterator[None]:
    """Lift the csv module's limit on the size of a cell, which is one for the whole process."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
