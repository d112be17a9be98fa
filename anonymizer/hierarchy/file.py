"""A hierarchy in a CSV file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import networkx as nx
from pydantic import ConfigDict, Field, RootModel

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.base import HierarchySource
from anonymizer.hierarchy.graph import Tree
from anonymizer.hierarchy.rows import Rows, read_rows
from anonymizer.model.table import Column
from anonymizer.plugins import FilePath


class FileSettings(RootModel[FilePath]):
    """Path of the file."""

    model_config = ConfigDict(frozen=True)

    root: FilePath = Field(
        description="Headerless CSV file, one row per value: value, level 1, ..., top; separated by , or ;. "
        "Relative to the config.",
    )


class FileSource(HierarchySource[FileSettings]):
    """A headerless CSV file with one row per value: the value, its level 1, and so on up to the top."""

    name: ClassVar[str] = "file"
    Settings = FileSettings
    rule_built = False

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - the file lists the values
        """Return the tree of the file.

        Raises
        ------
        HierarchyError: a file that cannot be read or whose rows are not one tree; names file and line.
        """
        rows = read_rows(folder / self.settings.root, self.settings.root)
        _check_cells(rows)
        levels = list(zip(*rows.cells, strict=True))
        _check_values(rows, levels[0])
        tree: Tree = nx.DiGraph()
        for level, (lower, upper) in enumerate(pairwise(levels)):
            parents = dict(zip(lower, upper, strict=True))
            _check_parents(rows, level, parents)
            tree.add_edges_from(((level + 1, parent), (level, child)) for child, parent in parents.items())
        _check_root(rows, levels[-1])
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
                f"{rows.name} line {line}: {len(cells)} columns, line {rows.lines[0]} has {width}; every row "
                "holds the value and its label at each level"
            )
        if any("\0" in cell for cell in cells):
            raise HierarchyError(
                f"{rows.name} line {line}: holds a NUL byte; remove it, a CSV release cannot hold one"
            )
        if "" in cells[1:]:
            level = cells.index("", 1)
            raise HierarchyError(
                f"{rows.name} line {line}: level {level} is empty; repeat the label below it to keep that"
            )
    if width == 1:
        raise HierarchyError(
            f"{rows.name} line {rows.lines[0]}: one column; accepted: value, level 1, ..., top, "
            "separated by , or ;"
        )


def _check_values(rows: Rows, values: Sequence[str]) -> None:
    if len(set(values)) == len(values):
        return
    value = Counter(values).most_common(1)[0][0]
    lines = [str(line) for line, cells in zip(rows.lines, rows.cells, strict=True) if cells[0] == value]
    raise HierarchyError(
        f"{rows.name} lines {', '.join(lines[:5])}: value '{value}' is listed more than once"
    )


def _check_parents(rows: Rows, level: int, parents: dict[str, str]) -> None:
    for line, cells in zip(rows.lines, rows.cells, strict=True):
        label, parent = cells[level], cells[level + 1]
        if parents[label] != parent:
            raise HierarchyError(
                f"{rows.name} line {line}: '{label}' (level {level}) has two parents, '{parent}' and "
                f"'{parents[label]}'; one is accepted"
            )


def _check_root(rows: Rows, top: Sequence[str]) -> None:
    roots = list(dict.fromkeys(top))
    if len(roots) > 1:
        line = rows.lines[top.index(roots[1])]
        raise HierarchyError(
            f"{rows.name} line {line}: the last column has {len(roots)} different labels, '{roots[0]}' and "
            f"'{roots[1]}' among them; a hierarchy has one root, so end every row with *"
        )
