"""A quasi-identifier of numbers or dates that is published as intervals."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.core.region_columns import interval_column
from anonymizer.core.region_recoding import RegionColumn
from anonymizer.core.table import Table
from anonymizer.core.values import PublishedValues
from anonymizer.loss.cells import CellMetric
from anonymizer.search.regions.region_axis import RegionAxis, finite
from anonymizer.search.regions.segments import Segments


class IntervalAxis(RegionAxis):
    """Regions are published as the interval from their lowest to their highest value.

    A missing value is the last of the order, so that it comes to lie in regions of its own; together with
    others it costs as much as a suppressed cell.
    """

    def __init__(self, table: Table, position: int, metric: CellMetric) -> None:
        super().__init__(table, position, metric)
        column = self.attribute.column
        self._numbers = np.full(column.size, np.nan) if column.numbers is None else column.numbers
        self._missing = -1 if column.missing is None else column.missing
        self._records = np.concatenate([[0], np.cumsum(column.counts)])

    def _ends(self, values: IntArray, regions: Segments) -> tuple[IntArray, IntArray]:
        # Units go by their lowest code, but may reach into each other.
        low = self.units.low_code[regions.lowest(values)]
        return low, regions.highest(self.units.high_code[values])

    def published(self, values: IntArray, regions: Segments) -> PublishedValues:
        """Return each region's interval, or the root where it has a missing value and others.

        Of the leaves in an interval only those are counted that the input has.
        """
        low, high = self._ends(values, regions)
        mixed = (high == self._missing) & (low < high)
        low = np.where(mixed, 0, low)
        covered = high - low + 1
        return PublishedValues(
            None if self.attribute.by_range else np.where(mixed, self.attribute.hierarchy.leaves, covered),
            covered,
            self._records[high + 1] - self._records[low],
            finite(self._numbers[low]),
            np.where(mixed, np.nan, self._numbers[high]),
            mixed,
            None,
        )

    def column(self, values: IntArray, regions: Segments) -> RegionColumn:
        """Return the interval that each region is published as."""
        low, high = self._ends(values, regions)
        return interval_column(self.attribute, low.astype(np.int32), high.astype(np.int32))
