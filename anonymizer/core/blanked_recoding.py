"""A recoding with single cells blanked on top of another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymizer.core.arrays import BoolArray, IntArray
from anonymizer.core.recoding import Cells, Recoding
from anonymizer.core.table import SUPPRESSED, Table


class LocalSuppressionRecoding(Recoding):
    """Local suppression: chosen cells are published as ``*``, which is a value of its own.

    Parameters
    ----------
    table: the searched table, or one with its combinations split into parts by ``owner``.
    base: recoding of the searched table; nothing of it is suppressed.
    blanks: shape (rows of the table, quasi-identifiers), bool. A row with blanks alone counts as
        suppressed; the search also blanks the roots of one that nothing else is left of.
    removed: which of these are not in the release, shape (rows,), bool; None for none.
    """

    def __init__(
        self,
        table: Table,
        base: Recoding,
        blanks: BoolArray,
        owner: IntArray | None = None,
        removed: BoolArray | None = None,
    ) -> None:
        self.table = table
        self.owner = owner
        self.suppressed = np.logical_and.reduce(blanks, axis=1)
        self.removed = np.zeros(len(blanks), dtype=bool) if removed is None else removed
        self._base = base
        self._blanks = blanks

    def cells(self, position: int) -> Cells:
        """Return a quasi-identifier of the base, or a blank, which hides what the root would hide."""
        below = self._base.cells(position)
        root = self.table.quasi_identifiers[position].node_values.take(np.zeros(1, dtype=np.int64))
        codes = below.codes if self.owner is None else below.codes[self.owner]
        blanked = np.where(self._blanks[:, position], len(below.labels), codes).astype(np.int32)
        return Cells(below.values.joined(root), [*below.labels, SUPPRESSED], blanked)

    @property
    def suppressed_cells(self) -> int:
        """Blanked cells, those of suppressed records not among them."""
        return int(self._blanked_cells().sum())

    def _blanked_cells(self) -> IntArray:
        """Return the blanked cells of each quasi-identifier, shape (quasi-identifiers,), int64."""
        single = self._blanks & ~self.suppressed[:, None]
        cells: IntArray = self.table.counts @ single
        return cells

    def describe(self) -> dict[str, Any]:
        """Return the entry of the base, and the blanked cells of each quasi-identifier."""
        names = [attribute.name for attribute in self.table.quasi_identifiers]
        blanked = dict(zip(names, self._blanked_cells().tolist(), strict=True))
        return self._base.describe() | {"blanked_cells": blanked}
