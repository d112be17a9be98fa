"""A quasi-identifier of numbers or dates that is published as intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.core.region_columns import interval_column
from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Reduction
from anonymizer.model.recoding import RegionColumn
from anonymizer.model.table import PublishedValues, QuasiIdentifier
from anonymizer.search.regions.axis import Number
from anonymizer.search.regions.region_axis import RegionAxis, finite
from anonymizer.search.regions.segments import Segments


class IntervalAxis(RegionAxis):
    """Regions are published as the interval from their lowest to their highest value.

    A missing value is the last of the order, so that it comes to lie in regions of its own; together with
    others it costs as much as a suppressed cell.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        column = attribute.column
        # Units go by their lowest code, but may reach into each other.
        highest = self.units.high_code[self.units.of_code]
        bits = max(column.size - 1, 1).bit_length()
        self.numbers = (self.unit, Number(highest, bits, (Reduction.MAX,)))
        self._numbers = np.full(column.size, np.nan) if column.numbers is None else column.numbers
        self._missing = -1 if column.missing is None else column.missing
        self._records = np.concatenate([[0], np.cumsum(column.counts)])

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of each group's interval, or of the root where it has missing values and others.

        Of the leaves in an interval only those are counted that the input has.
        """
        low, high = self.units.low_code[numbers[0]], numbers[2]
        mixed = (high == self._missing) & (low < high)
        low = np.where(mixed, 0, low)
        covered = high - low + 1
        values = PublishedValues(
            None if self.attribute.by_range else np.where(mixed, self.attribute.hierarchy.leaves, covered),
            covered,
            self._records[high + 1] - self._records[low],
            finite(self._numbers[low]),
            np.where(mixed, np.nan, self._numbers[high]),
            mixed,
            None,
        )
        return self.metric.costs(self.attribute, values)

    def column(self, codes: CodeArray, regions: Segments) -> RegionColumn:
        """Return the interval that each region is published as."""
        unit = self.units.of_code[codes]
        high = regions.highest(self.numbers[1].of_code[codes])
        return self.traced_column([regions.lowest(unit), regions.highest(unit), high])

    def traced_column(self, numbers: Sequence[IntArray]) -> RegionColumn:
        """Return the interval that each group is published as."""
        low = self.units.low_code[numbers[0]]
        return interval_column(self.attribute, low.astype(np.int32), numbers[2].astype(np.int32))
