"""A quasi-identifier that is published as sets of values."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.core.region_columns import set_column
from anonymizer.core.region_recoding import RegionColumn
from anonymizer.core.values import PublishedValues
from anonymizer.search.regions.region_axis import RegionAxis, finite
from anonymizer.search.regions.segments import Segments, distinct_keys


class SetAxis(RegionAxis):
    """Regions are published as the set of their values."""

    def _members(self, values: IntArray, regions: Segments) -> tuple[IntArray, Segments]:
        """Return the distinct units of each region, region after region, and the regions they lie in."""
        size = self.units.number
        _, distinct = distinct_keys(regions.of_row * size + values, regions.number * size)
        of_member = distinct // size
        return distinct - of_member * size, Segments(of_member, regions.number)

    def published(self, values: IntArray, regions: Segments) -> PublishedValues:
        """Return the set of each region."""
        members, own = self._members(values, regions)
        covered = own.total(self.units.sizes[members])
        missing = np.logical_or.reduceat(self.units.missing[members], own.starts)
        return PublishedValues(
            None if self.attribute.by_range else covered,
            covered,
            own.total(self.units.records[members]),
            finite(np.minimum.reduceat(self.units.low[members], own.starts)),
            finite(np.maximum.reduceat(self.units.high[members], own.starts)),
            missing & (covered > 1),
            None,
        )

    def column(self, values: IntArray, regions: Segments) -> RegionColumn:
        """Return the set that each region is published as."""
        members, own = self._members(values, regions)
        sizes = self.units.sizes[members]
        region_of = np.repeat(own.of_row, sizes)
        firsts = np.cumsum(self.units.sizes) - self.units.sizes
        offsets = np.arange(len(region_of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        codes = self.units.members[np.repeat(firsts[members], sizes) + offsets]
        return set_column(self.attribute, region_of, codes.astype(np.int32), regions.number)
