"""The number of suppressed records as a metric: what a diagnosis minimises."""

from __future__ import annotations

from anonymizer.loss.base import LossMetric
from anonymizer.loss.lattice import LatticeLoss, SuppressedLatticeLoss
from anonymizer.model.classes import Released
from anonymizer.model.table import Table


class SuppressedRecords(LossMetric):
    """Counts the suppressed records; has no name, as a config cannot ask for it."""

    def value(self, released: Released) -> float | None:
        """Return the suppressed records."""
        return released.suppressed

    def on_lattice(self, table: Table, k: int | None) -> LatticeLoss:
        """What is suppressed at a node for certain is suppressed below it."""
        return SuppressedLatticeLoss(table)
