"""A quasi-identifier that is cut between its values and published as what a region has of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Reduction
from anonymizer.model.recoding import RegionColumn
from anonymizer.model.table import QuasiIdentifier
from anonymizer.search.regions.axis import Axis, Frames, Number
from anonymizer.search.regions.segments import Segments
from anonymizer.search.regions.units import units


class RegionAxis(Axis):
    """The parts of every region are the units of the attribute: its values where all levels are allowed.

    Parameters
    ----------
    metric: says what a published value costs.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share)
        self.units = units(attribute)
        self.ordered = attribute.column.type.ordered
        self.metric = metric

    @property
    def unit(self) -> Number:
        """The unit of a value, of which a group's lowest and highest are kept."""
        bits = max(self.units.number - 1, 1).bit_length()
        return Number(self.units.of_code, bits, (Reduction.MIN, Reduction.MAX))

    @abstractmethod
    def column(self, codes: CodeArray, regions: Segments) -> RegionColumn:
        """Return what each region is published as.

        Parameters
        ----------
        codes: of the attribute's values, shape (rows,).
        """

    @abstractmethod
    def traced_column(self, numbers: Sequence[IntArray]) -> RegionColumn:
        """Return what each group is published as, from the reductions of its numbers."""

    def codes(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the lowest code of each group."""
        codes: IntArray = self.units.low_code[numbers[0]]
        return codes

    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the units from the lowest to the highest of each group."""
        first, last = numbers[:2]
        return Frames(np.zeros_like(first), np.full_like(first, -1), first, last - first + 1)

    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the unit of each part."""
        unit: IntArray = numbers[0][group] + part
        return unit


def finite(numbers: FloatArray) -> FloatArray:
    """Return numbers with NaN where they are infinite."""
    return np.where(np.isfinite(numbers), numbers, np.nan)
