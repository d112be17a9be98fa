"""Regions published as what they have of each attribute, without regard to its hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.recoding import RegionRecoding
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.regions.axis import weight_shares
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.large_set_axis import LargeSetAxis
from anonymizer.search.regions.region_axis import RegionAxis
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.rows import rows_of
from anonymizer.search.regions.set_axis import MASKED_UNITS, SetAxis
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
        own = zip(table.quasi_identifiers, weight_shares(table), strict=True)
        self.axes = self._axes = tuple(self._axis(attribute, share, metric) for attribute, share in own)

    def _axis(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> RegionAxis:
        kind = self.ordered if attribute.column.type.ordered else self.unordered
        axis = kind(attribute, share, metric)
        if isinstance(axis, SetAxis) and axis.units.number > MASKED_UNITS:
            return LargeSetAxis(attribute, share, metric)
        return axis

    def recoding(
        self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray
    ) -> RegionRecoding:
        """Return what each region has of each attribute."""
        rows = rows_of(table, regions, suppressed, removed)
        columns = [
            axis.column(table.quasi_identifier_codes(position)[regions.owner], regions.segments)
            for position, axis in enumerate(self._axes)
        ]
        return RegionRecoding(rows.table, columns, rows.region_of, rows.suppressed, rows.removed, rows.owner)

    def traced_recoding(
        self,
        table: Table,
        numbers: Iterable[Traces],
        region_of: IntArray,
        suppressed: BoolArray,
        removed: BoolArray,
    ) -> RegionRecoding:
        """Return what each region has of each attribute."""
        columns = [axis.traced_column(each) for axis, each in zip(self._axes, numbers, strict=True)]
        return RegionRecoding(table, columns, region_of, suppressed, removed)
