"""The metric ``average-class-size``."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import (
    IndifferentLatticeLoss,
    LatticeLoss,
    LossMetric,
    ReleasedSizes,
    TransformationFacts,
    constant_floors,
)
from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import Released
from anonymizer.model.table import Table


class AverageClassSize(LossMetric):
    """Released records / classes / k; without a k in the config, k is the smallest class size.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101), section 2.3.
    """

    name = "average-class-size"
    summary = "mean class size over k"
    of_release_alone = True

    def value(self, released: Released) -> float | None:
        """Return the normalized average; None for a release without records."""
        return _average([*released.class_sizes.tolist(), released.kept_suppressed], released.k)

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with the smallest possible class over k as floor."""
        return _AverageOnLattice(table, k, smallest)


def _average(sizes: list[int], k: int | None) -> float | None:
    own = [size for size in sizes if size > 0]
    return sum(own) / len(own) / (k or min(own)) if own else None


class _AverageOnLattice(IndifferentLatticeLoss):
    def __init__(self, table: Table, k: int | None, smallest: int) -> None:
        self._k, self._smallest = k, smallest if k is None else min(k, smallest)
        self.floors = constant_floors(table, 1.0 if k is None else self._smallest / k)
        self.worst = float(table.records)

    def approximate(self, floor: float, share: float, classes: ReleasedSizes) -> float:
        sizes, records = classes()
        return (
            float(records.sum() / (records / sizes).sum() / (self._k or sizes.min())) if len(sizes) else floor
        )

    def expected(self, floors: FloatArray, share: FloatArray) -> FloatArray:
        """Return little above the floor, less with more suppressed records, as classes are small there."""
        return floors + (1 - share) * self.rounding

    def above(self, facts: TransformationFacts) -> float:
        """Bound by the number of classes, as none is smaller than the smallest possible.

        Above, a class with records that are released here has all that last of at least one class; the others
        consist of suppressed records, each as small as possible. Suppressed records may be one more class.
        """
        if self._k is None:
            return -np.inf
        others = facts.suppressed.records // self._smallest
        classes = len(facts.released) + others + 1
        return (facts.lasting + self._smallest * others) / classes / self._k

    def objective(self, facts: TransformationFacts) -> float:
        value = _average([*facts.released.tolist(), facts.kept_suppressed], self._k)
        return np.inf if value is None else value
