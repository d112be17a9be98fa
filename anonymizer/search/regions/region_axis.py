"""A quasi-identifier that is cut between its values and published as what a region has of it."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from anonymizer.core.arrays import FloatArray, IntArray
from anonymizer.core.region_recoding import RegionColumn
from anonymizer.core.table import Table
from anonymizer.core.values import PublishedValues
from anonymizer.loss.cells import CellMetric
from anonymizer.search.regions.axis import Axis, weight_shares
from anonymizer.search.regions.segments import Segments
from anonymizer.search.regions.units import units


class RegionAxis(Axis):
    """The parts of every region are the units of the attribute: its values where all levels are allowed.

    Parameters
    ----------
    position: of the quasi-identifier in the table.
    metric: says what a published value costs.
    """

    def __init__(self, table: Table, position: int, metric: CellMetric) -> None:
        self.attribute = table.quasi_identifiers[position]
        self.units = units(self.attribute)
        self.values = self.units.of_code[table.quasi_identifier_codes(position)]
        self.share = weight_shares(table)[position]
        self.parts = self.units.number
        self.ordered = self.attribute.column.type.ordered
        self._metric = metric

    @abstractmethod
    def published(self, values: IntArray, regions: Segments) -> PublishedValues:
        """Return what each region is published as, without its label, shape (regions,)."""

    @abstractmethod
    def column(self, values: IntArray, regions: Segments) -> RegionColumn:
        """Return what each region is published as."""

    def parts_of(self, values: IntArray, regions: Segments) -> IntArray:  # noqa: ARG002 - the same in all
        """Return the unit of each row."""
        return values

    def costs(self, values: IntArray, regions: Segments) -> FloatArray:
        """Return the cost of what each region is published as."""
        return self._metric.costs(self.attribute, self.published(values, regions))


def finite(numbers: FloatArray) -> FloatArray:
    """Return numbers with NaN where they are infinite."""
    return np.where(np.isfinite(numbers), numbers, np.nan)
