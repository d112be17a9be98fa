"""The metric ``height``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.loss.base import IndifferentLatticeLoss, LatticeLoss, LossMetric, TransformationFacts
from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import Released
from anonymizer.model.table import Table


class Height(LossMetric):
    """Sum of the generalization levels; no value unless the recoding is full-domain.

    Source: Samarati (IEEE TKDE 2001, doi:10.1109/69.971193), section 4.
    """

    name = "height"
    summary = "sum of levels"
    of_release_alone = True

    def value(self, released: Released) -> float | None:
        """Return the sum of levels."""
        levels = released.recoding.levels
        return None if levels is None else sum(levels)

    def joined(self, bounds: Sequence[float], weights: Sequence[float]) -> float:
        """Return the sum, as the loss is one over attributes."""
        return float(sum(bounds))

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with its exact values as floors."""
        return _HeightOnLattice(table)


class _HeightOnLattice(IndifferentLatticeLoss):
    rounding = 0.0

    def __init__(self, table: Table) -> None:
        heights = [attribute.hierarchy.height for attribute in table.quasi_identifiers]
        self.floors = [np.arange(height + 1, dtype=np.float64) for height in heights]
        self.worst = float(sum(heights))

    def expected(self, floors: FloatArray, share: FloatArray) -> FloatArray:
        return floors

    def objective(self, facts: TransformationFacts) -> float:
        return float(sum(facts.levels))
