"""The metric ``discernibility``."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import LatticeLoss, LossMetric, ReleasedSizes, TransformationFacts, constant_floors
from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import Released
from anonymizer.model.table import Table


class Discernibility(LossMetric):
    """Sum of the squared class sizes, plus the number of input records for each suppressed record.

    Source: Bayardo, Agrawal (ICDE 2005, doi:10.1109/ICDE.2005.42), section 3.
    """

    name = "discernibility"
    summary = "sum of squared class sizes"
    of_release_alone = True

    def value(self, released: Released) -> float | None:
        """Return the sum, a whole number."""
        return int((released.class_sizes**2).sum()) + released.suppressed * released.records

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with bounds from class sizes and certain losses."""
        return _DiscernibilityOnLattice(table)


class _DiscernibilityOnLattice(LatticeLoss):
    """A record costs its class size or, if suppressed, N; coarser transformations have larger classes."""

    rounding = 0.0

    def __init__(self, table: Table) -> None:
        self._records = table.records
        self.floors = constant_floors(table, float(table.records))
        self.worst = float(table.records) ** 2

    def objective(self, facts: TransformationFacts) -> float:
        return float((facts.released**2).sum() + facts.suppressed.records * self._records)

    def approximate(self, floor: float, share: float, classes: ReleasedSizes) -> float:
        sizes, records = classes()
        return float(sizes @ records) + share * self._records**2

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        certain = facts.certain.records
        bound = float(certain * self._records + (self._records - certain))
        parts = super().below(facts)
        return [np.full(len(part), bound if position == 0 else 0.0) for position, part in enumerate(parts)]

    def above(self, facts: TransformationFacts) -> float:
        """Bound by convexity: removing x of n records costs (n - x)^2 + x N, least at x = n - N / 2."""
        sizes, half = facts.class_sizes, self._records / 2
        return float(np.where(sizes <= half, sizes**2, self._records * sizes - half**2).sum())
