"""Combinations of a table in parts, where their records are in different clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.masking.mdav import Shares
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.table import Table


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the combinations of a table, each with its group.

    Attributes
    ----------
    table: the searched one.
    owner: combination of each part, shape (parts,), int64, ascending.
    counts: records of each part, shape (parts,), int64.
    group: of each part, shape (parts,), int64.
    """

    table: Table
    owner: IntArray
    counts: IntArray
    group: IntArray

    @staticmethod
    def of(table: Table, shares: Shares) -> Parts:
        """Split combinations; a point's records go in the order of the table to its clusters in theirs."""
        order = np.lexsort((shares.cluster, shares.point))
        share_ends, row_ends = np.cumsum(shares.records[order]), np.cumsum(table.counts)
        ends = np.union1d(share_ends, row_ends)
        cluster = shares.cluster[order][np.searchsorted(share_ends, ends)]
        return Parts(table, np.searchsorted(row_ends, ends), np.diff(ends, prepend=0), cluster)

    @staticmethod
    def whole(table: Table) -> Parts:
        """Return all combinations as one group."""
        rows = table.combinations
        return Parts(table, np.arange(rows), table.counts, np.zeros(rows, dtype=np.int64))

    @property
    def split(self) -> bool:
        """Whether a combination is in several parts."""
        return len(self.owner) > self.table.combinations

    def grouped(self, class_of: IntArray) -> Parts:
        """Put groups together, and with them parts of one combination.

        Parameters
        ----------
        class_of: new group of each group, shape (groups,), int64.
        """
        number = int(class_of.max()) + 1
        distinct, joined = np.unique(self.owner * number + class_of[self.group], return_inverse=True)
        counts = np.bincount(joined.ravel(), self.counts).astype(np.int64)
        return Parts(self.table, distinct // number, counts, distinct % number)

    def rows(self) -> Table:
        """Return a table whose rows are the parts."""
        return self.table.split(self.owner, self.counts) if self.split else self.table

    def classes(self) -> Classes:
        """Return the groups as equivalence classes; they must be numbered without a gap."""
        sensitive = {
            own.name: SensitiveCodes(own, self.table.sensitive_codes(own.name)[self.owner].astype(np.int64))
            for own in self.table.sensitive
        }
        return Classes(self.group, self.counts, int(self.group.max()) + 1, sensitive)
