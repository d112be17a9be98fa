"""Recodings in which many rows share what is published for them."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from anonymizer.core.arrays import BoolArray, FloatArray, IntArray
from anonymizer.core.grouping import count, group_keys
from anonymizer.core.merging import merged_regions
from anonymizer.core.recoding import Cells, Recoding, interned
from anonymizer.core.table import Table
from anonymizer.core.values import PublishedValues


class SharedRecoding(Recoding):
    """A recoding of regions: what is asked about all rows is counted by regions, of which there are fewer.

    Attributes
    ----------
    region_of: region of each row of the table, shape (rows,); None where each row is one by itself.
    """

    region_of: IntArray | None

    @abstractmethod
    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier as recoded for each region, given its position in the table."""

    def cells(self, position: int) -> Cells:
        """Return a quasi-identifier by its regions."""
        own = self.shared_cells(position)
        codes = own.codes if self.region_of is None else own.codes[self.region_of]
        return Cells(own.values, own.labels, codes)

    def merged_rows(self) -> tuple[Table, IntArray, BoolArray, BoolArray]:
        """Return the rows of ``merged``: their table, their regions, which are suppressed, which removed."""
        assert self.region_of is not None, "each row is a region by itself"
        fate = self.suppressed.astype(np.int8) + self.removed
        table, region_of, fates = merged_regions(self.table, self.region_of, fate)
        return table, region_of, fates > 0, fates > 1

    @cached_property
    def _kept(self) -> IntArray:
        """Records of each region that are not suppressed, shape (regions,), int64."""
        kept = np.where(self.suppressed, 0, self.table.counts)
        if self.region_of is None:
            return kept
        return count(self.region_of, kept, len(self.shared_cells(0).codes))

    def cell_records(self, position: int) -> tuple[PublishedValues, FloatArray]:
        """Return what one quasi-identifier is published as, and the records of each."""
        cells = self.shared_cells(position)
        kept = self._kept
        number = len(cells.values.covered)
        records = np.bincount(cells.codes, weights=kept, minlength=number).astype(np.float64)
        return cells.values, records

    def class_sizes(self) -> IntArray:
        """Return the records of each equivalence class of records that are not suppressed."""
        present = np.flatnonzero(self._kept)
        keys, number = np.zeros(len(present), dtype=np.int64), 1
        for position in range(len(self.table.quasi_identifiers)):
            cells = self.shared_cells(position)
            labels, codes = interned(Cells(cells.values, cells.labels, cells.codes[present]))
            keys, distinct = group_keys(keys * len(labels) + codes, number * len(labels))
            number = len(distinct)
        return count(keys, self._kept[present], number) if len(present) else keys
