"""A hierarchy from columns of the data that hold the groups of each value."""

from __future__ import annotations

from pathlib import Path

from anonymizer.data.open import open_file
from anonymizer.data.table import ColumnRequest, encode, read_columns
from anonymizer.errors import InputError
from anonymizer.flow.building.base import Builder
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.model.table import Column


class ColumnsBuilder(Builder):
    """Level i publishes what the i-th of some columns holds: the county of a town, then its state."""

    name = "columns"
    takes = "COUNTY,STATE"

    def build(self, data: Path, column: Column) -> Tree:
        """Return the tree; a value with two parents is left to who compiles it, which names both.

        Raises
        ------
        InputError: a column is named twice, or is the values' own.
        DataError: there is no such column.
        """
        names = [name.strip() for name in self.value.split(",")]
        if len({column.name, *names}) <= len(names):
            raise InputError(
                f"--by {self.name}={self.value}: with '{column.name}' itself, a column stands there twice; "
                "name each once, from fine to coarse"
            )
        with open_file(data) as relation:
            requests = [ColumnRequest(column.name, column.type), *map(ColumnRequest, names)]
            read = list(read_columns(relation, requests).values())
            combinations = encode(relation, read).codes
        known = combinations[combinations[:, 0] < len(column.present)]
        levels = [
            [each.column.texts[code] for code in codes]
            for each, codes in zip(read, known.T.tolist(), strict=True)
        ]
        return tree_of_rows(levels)
