"""The hierarchy of a column for which none was given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anonymizer.hierarchy.base import HierarchySource
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.model.table import Column
from anonymizer.plugins import Settings


class FlatSource(HierarchySource[Settings]):
    """Two levels: the value and ``*``. It has no name, as leaving ``hierarchy`` out is how to ask for it."""

    rule_built = True

    def __init__(self) -> None:
        super().__init__(Settings())

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return every value under the root."""
        return tree_of_rows([column.present])

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: every value stands under the root."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the level of values, or that of ``*`` where there is nothing else."""
        return frozenset({0 if texts else 1})

    def describe(self) -> str:
        """Return what a message calls this hierarchy."""
        return "hierarchy of two levels"
