"""Regions published as what they have of each attribute, without regard to its hierarchy."""

from __future__ import annotations

from typing import ClassVar

from anonymizer.core.arrays import BoolArray
from anonymizer.core.region_recoding import RegionRecoding
from anonymizer.core.table import Table
from anonymizer.loss.cells import CellMetric
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.region_axis import RegionAxis
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.rows import rows_of
from anonymizer.search.regions.sharing import Proportional


class RegionLabelling(Labelling):
    """Numbers and dates by one kind of axis, other attributes by another.

    Class attributes
    ----------------
    ordered, unordered: the kinds of axis.
    """

    sharing = Proportional()
    ordered: ClassVar[type[RegionAxis]]
    unordered: ClassVar[type[RegionAxis]]

    def __init__(self, table: Table, metric: CellMetric) -> None:
        self.axes = self._axes = tuple(
            (self.ordered if attribute.column.type.ordered else self.unordered)(table, position, metric)
            for position, attribute in enumerate(table.quasi_identifiers)
        )

    def recoding(
        self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray
    ) -> RegionRecoding:
        """Return what each region has of each attribute."""
        rows = rows_of(table, regions, suppressed, removed)
        columns = [axis.column(axis.values[regions.owner], regions.segments) for axis in self._axes]
        return RegionRecoding(rows.table, columns, rows.region_of, rows.suppressed, rows.removed, rows.owner)
