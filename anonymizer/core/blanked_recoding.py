"""A recoding with single cells blanked on top of another one."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import BoolArray, IntArray
from anonymizer.core.recoding import Cells, Recoding
from anonymizer.core.table import SUPPRESSED, Table


class BlankedRecoding(Recoding):
    """Local suppression: chosen cells are published as ``*``, which is a value of its own.

    Parameters
    ----------
    table: the searched table, or one with its combinations split into parts by ``owner``.
    base: recoding of the searched table; nothing of it is suppressed.
    blanks: shape (rows of the table, quasi-identifiers), bool. A row with blanks alone counts as suppressed.
    """

    def __init__(
        self, table: Table, base: Recoding, blanks: BoolArray, owner: IntArray | None = None
    ) -> None:
        self.table = table
        self.owner = owner
        self.suppressed = np.logical_and.reduce(blanks, axis=1)
        self.removed = np.zeros(len(blanks), dtype=bool)
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
        """Blanked cells, those of records that are blanked as a whole not among them."""
        single = self._blanks & ~self.suppressed[:, None]
        return int(single.sum(axis=1) @ self.table.counts)
