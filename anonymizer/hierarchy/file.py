"""Hierarchies in headerless CSV files, read with line numbers or written for editing."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, RootModel

from anonymizer.errors import HierarchyError, OutputError
from anonymizer.hierarchy.leaves import identity_in
from anonymizer.hierarchy.source import DiGraph, HierarchySource, Tree
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Column, Hierarchy
from anonymizer.plugins import FilePath, shortened_path, usable_path
from anonymizer.system import check_file, write_whole

SEPARATORS = (",", ";")


@dataclass(frozen=True)
class Rows:
    """The rows of a file, at least one: the ``cells`` of each, and the ``lines`` at which they end."""

    name: str
    cells: list[list[str]]
    lines: list[int]

    def score(self) -> tuple[bool, bool, int]:
        """Return how well the separator fits: equal widths, one root, number of columns."""
        width = len(self.cells[0])
        even = width > 1 and all(len(cells) == width for cells in self.cells)
        return even, len({cells[-1] for cells in self.cells}) == 1, width


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
    text = _read_text(path, name)
    occurring = [separator for separator in SEPARATORS if separator in text] or SEPARATORS[:1]
    return max((_parse(text, separator, name) for separator in occurring), key=Rows.score)


def _read_text(path: Path, name: str) -> str:
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
                    rows.cells.append([cell.strip() for cell in cells])
                    rows.lines.append(reader.line_num)
        except csv.Error as error:
            raise HierarchyError(f"{rows.name} line {reader.line_num}: {error}") from None
    if not rows.cells:
        raise HierarchyError(f"{rows.name} is empty; accepted: one row per value: value, level 1, ..., top")
    return rows


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
        values, *groups = zip(*rows.cells, strict=True)
        identity = identity_in(column)
        _check_values(rows, [*map(identity, values)])
        levels = [values, *map(spelled_once, groups)]
        tree: Tree = DiGraph()
        for level, (lower, upper) in enumerate(pairwise(levels)):
            parents = dict(zip(lower, upper, strict=True))
            _check_parents(rows, level, lower, upper)
            tree.add_edges_from(((level + 1, parent), (level, child)) for child, parent in parents.items())
        _check_root(rows, levels[-1], is_value=identity(values[0]) in {*map(identity, column.present)})
        return tree

    def files(self, folder: Path) -> list[Path]:
        """Return the one file."""
        return [folder / self.settings.root]

    def describe(self) -> str:
        """Return the path as the config gives it."""
        return f"hierarchy {self.settings.root}"


def _check_cells(rows: Rows) -> None:
    width = len(rows.cells[0])
    for line, cells in zip(rows.lines, rows.cells, strict=True):
        if len(cells) != width:
            raise HierarchyError(
                f"{rows.name} line {line}: has {len(cells)} columns, but line {rows.lines[0]} has {width}; "
                "give every row the value and its label at each level"
            )
        if any("\0" in cell for cell in cells):
            raise HierarchyError(
                f"{rows.name} line {line}: contains a NUL byte; remove it, CSV cannot contain one"
            )
        if "" in cells[1:]:
            level = cells.index("", 1)
            raise HierarchyError(
                f"{rows.name} line {line}: level {level} is empty; repeat the label of the level below"
            )
    if width == 1:
        raise HierarchyError(
            f"{rows.name} line {rows.lines[0]}: has only one column; accepted: value, level 1, ..., top, "
            "separated by , or ;"
        )


def _check_values(rows: Rows, values: Sequence[Hashable]) -> None:
    if len(set(values)) == len(values):
        return
    value = Counter(values).most_common(1)[0][0]
    places = [place for place, each in enumerate(values) if each == value]
    lines = ", ".join(str(rows.lines[place]) for place in places[:5])
    texts = " and ".join(dict.fromkeys(f"'{rows.cells[place][0]}'" for place in places[:5]))
    raise HierarchyError(f"{rows.name} lines {lines}: value {texts} is listed more than once; keep one")


def spelled_once(labels: Sequence[str]) -> list[str]:
    """Return the labels of a level with one spelling, the first, for those of one identity."""
    spellings: dict[str, str] = {}
    return [spellings.setdefault(text_identity(label), label) for label in labels]


def _check_parents(rows: Rows, level: int, labels: Sequence[str], above: Sequence[str]) -> None:
    parents = dict(zip(labels, above, strict=True))
    for line, label, parent in zip(rows.lines, labels, above, strict=True):
        if parents[label] != parent:
            raise HierarchyError(
                f"{rows.name} line {line}: '{label}' (level {level}) has two parents, '{parent}' and "
                f"'{parents[label]}'; keep one"
            )


def _check_root(rows: Rows, top: Sequence[str], *, is_value: bool) -> None:
    """Check that a file has one root; a first line whose first cell ``is_value`` is no header."""
    roots = list(dict.fromkeys(top))
    if len(roots) == 2 and top.count(roots[0]) == 1 and len(top) > 2 and not is_value:
        raise HierarchyError(
            f"{rows.name} line {rows.lines[0]}: looks like a header, as its last column is '{roots[0]}', "
            f"and in every other line '{roots[1]}'; remove it, so that the file starts with the first value"
        )
    if len(roots) > 1:
        line = rows.lines[top.index(roots[1])]
        raise HierarchyError(
            f"{rows.name} line {line}: the last column has {len(roots)} different labels, such as "
            f"'{roots[0]}' and '{roots[1]}'; end every row with one root, such as *"
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
