"""A quasi-identifier that is published as sets of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.core.region_columns import set_column
from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Reduction
from anonymizer.model.recoding import RegionColumn
from anonymizer.model.table import PublishedValues, QuasiIdentifier
from anonymizer.search.regions.axis import Number
from anonymizer.search.regions.region_axis import RegionAxis, finite
from anonymizer.search.regions.segments import Segments, distinct_keys

_MASK_BITS = 31
"""Units that share a mask; two masks fill a word."""

MASKED_UNITS = 8 * _MASK_BITS
"""So many units are marked in masks; more are listed for each group."""


class SetAxis(RegionAxis):
    """Regions are published as the set of their values."""

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        starts = range(0, self.units.number, _MASK_BITS)
        self.numbers = (self.unit, *(self._mask(start) for start in starts))

    def _mask(self, start: int) -> Number:
        """Return a bit for each of some units, and none for the others."""
        bits = min(self.units.number - start, _MASK_BITS)
        place = self.units.of_code - start
        marked = (place >= 0) & (place < bits)
        masks = np.where(marked, np.int64(1) << np.where(marked, place, 0), 0)
        return Number(masks, bits, (Reduction.OR,))

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of the set of each group, from the masks of its units."""
        return self.set_costs(*self._marked(numbers))

    def _marked(self, numbers: Sequence[IntArray]) -> tuple[IntArray, Segments]:
        """Return the distinct units of each group, group after group, and the groups they lie in."""
        masks = np.stack(numbers[2:], axis=1).astype("<u4").view(np.uint8)
        bits = np.unpackbits(masks, axis=1, bitorder="little").reshape(len(numbers[0]), -1, 32)
        marked = np.ascontiguousarray(bits[:, :, :_MASK_BITS]).reshape(len(numbers[0]), -1)
        group, unit = np.divmod(np.flatnonzero(marked), marked.shape[1])
        return unit, Segments(group, len(numbers[0]))

    def members(self, values: IntArray, groups: Segments) -> tuple[IntArray, Segments]:
        """Return the distinct units of each group, group after group, and the groups they lie in."""
        size = self.units.number
        _, distinct = distinct_keys(groups.of_row * size + values, groups.number * size)
        of_member = distinct // size
        return distinct - of_member * size, Segments(of_member, groups.number)

    def set_costs(self, members: IntArray, own: Segments) -> FloatArray:
        """Return the cost of the set of each group, from its distinct units, group after group."""
        covered = own.total(self.units.sizes[members])
        missing = np.logical_or.reduceat(self.units.missing[members], own.starts)
        values = PublishedValues(
            None if self.attribute.by_range else covered,
            covered,
            own.total(self.units.records[members]),
            finite(np.minimum.reduceat(self.units.low[members], own.starts)),
            finite(np.maximum.reduceat(self.units.high[members], own.starts)),
            missing & (covered > 1),
            None,
        )
        return self.metric.costs(self.attribute, values)

    def column(self, codes: CodeArray, regions: Segments) -> RegionColumn:
        """Return the set that each region is published as."""
        return self._column(*self.members(self.units.of_code[codes], regions))

    def traced_column(self, numbers: Sequence[IntArray]) -> RegionColumn:
        """Return the set that each group is published as, from the masks of its units."""
        return self._column(*self._marked(numbers))

    def _column(self, members: IntArray, own: Segments) -> RegionColumn:
        sizes = self.units.sizes[members]
        region_of = np.repeat(own.of_row, sizes)
        firsts = np.cumsum(self.units.sizes) - self.units.sizes
        offsets = np.arange(len(region_of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        column_codes = self.units.members[np.repeat(firsts[members], sizes) + offsets]
        return set_column(self.attribute, region_of, column_codes.astype(np.int32), own.number)
