"""What it costs to blank a cell of a recoded table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.loss.base import ArithmeticMean, CellMetric, LossMetric
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import Table


@dataclass(frozen=True, eq=False)
class CellWeights:
    """Costs of the cells of one record, by the hierarchy node that each is published as.

    Where the metric is a weighted sum over cells, the cheapest blanking loses least: a blank costs what the
    metric charges for it beyond what it charges for the node, which is the attribute's weight where nothing
    is generalized. With any other metric a blank costs the weight wherever it is.

    Attributes
    ----------
    blank: of blanking a cell, an array of shape (nodes,) for each attribute.
    gone: share of a cell in the cost of suppressing its record, of the same shapes.
    additive: whether the objective is the loss of the levels plus these costs, in units of ``unit``.
    unit: what one unit of cost adds to the objective.
    """

    blank: tuple[FloatArray, ...]
    gone: tuple[FloatArray, ...]
    additive: bool
    unit: float

    @classmethod
    def of(cls, table: Table, metric: LossMetric) -> CellWeights:
        """Return the costs of the cells of a table."""
        attributes = table.quasi_identifiers
        unit = 1.0 / (sum(each.weight for each in attributes) * table.records)
        if not isinstance(metric, CellMetric) or not isinstance(metric.aggregate, ArithmeticMean):
            plain = tuple(np.full(len(each.hierarchy.labels), each.weight) for each in attributes)
            return cls(plain, plain, additive=False, unit=unit)
        charged = [metric.node_costs(each) for each in attributes]
        pairs = list(zip(attributes, charged, strict=True))
        # The root, which is what a blank hides, is the first node.
        blank = tuple(each.weight * np.maximum(costs[0] - costs, 0.0) for each, costs in pairs)
        gone = tuple(each.weight * (1.0 - costs) for each, costs in pairs)
        return cls(blank, gone, additive=True, unit=unit)
