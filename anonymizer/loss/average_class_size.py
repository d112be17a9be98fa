"""The metric ``average-class-size``."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import LatticeLoss, LossMetric, TransformationFacts
from anonymizer.model.classes import Released
from anonymizer.model.table import Table


class AverageClassSize(LossMetric):
    """Released records / classes / k, with the config's k, else the smallest class.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101), section 2.3.
    """

    name = "average-class-size"

    def value(self, released: Released) -> float | None:
        """Return the normalised average; None for a release without records."""
        return _average([*released.class_sizes.tolist(), released.kept_suppressed], released.k)

    def on_lattice(self, table: Table, k: int | None) -> LatticeLoss:
        """No class is smaller than k, so the metric is at least 1."""
        return _AverageOnLattice(table, k)


def _average(sizes: list[int], k: int | None) -> float | None:
    own = [size for size in sizes if size > 0]
    return sum(own) / len(own) / (k or min(own)) if own else None


class _AverageOnLattice(LatticeLoss):
    def __init__(self, table: Table, k: int | None) -> None:
        self._k = k
        self.floors = [np.zeros(attribute.hierarchy.height + 1) for attribute in table.quasi_identifiers]
        self.floors[0] += 1.0
        self.worst = float(table.records)

    def objective(self, facts: TransformationFacts) -> float:
        value = _average([*facts.released.tolist(), facts.kept_suppressed], self._k)
        return np.inf if value is None else value
