"""A quasi-identifier of many values that is published as sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import QuasiIdentifier
from anonymizer.search.regions.axis import ListedAxis
from anonymizer.search.regions.segments import Segments
from anonymizer.search.regions.set_axis import SetAxis


class LargeSetAxis(SetAxis, ListedAxis):
    """A SetAxis without masks: the distinct values of each group are listed."""

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        self.numbers = (self.unit,)

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return nothing for each group: the traces know only its ends, ``listed_costs`` all of it."""
        return np.zeros(len(numbers[0]))

    def listed_costs(self, numbers: NDArray[Any], groups: Segments) -> FloatArray:
        """Return the cost of the set of each group."""
        return self.set_costs(*self.members(numbers.astype(np.int64), groups))
