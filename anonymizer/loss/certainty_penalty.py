"""The metric ``ncp``."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import FloatArray
from anonymizer.core.table import QuasiIdentifier
from anonymizer.loss.cells import CellMetric


class CertaintyPenalty(CellMetric):
    """Global certainty penalty of the Mondrian literature.

    Numbers and dates: (high - low) / (max - min) over the input's values under the published node. Other
    values: 0 for one value, else covered values / distinct values of the input. A missing value under a node
    counts as one more value, the whole range for numbers. 1 for a suppressed cell.

    Source: Xu, Wang, Pei, Wang, Shi, Fu (KDD 2006, doi:10.1145/1150402.1150504), section 2; Ghinita, Karras,
    Kalnis, Mamoulis (VLDB 2007), section 2.2.
    """

    name = "ncp"

    def node_costs(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return the penalty of each node."""
        if attribute.column.numbers is None:
            return self._category_costs(attribute)
        return self._range_costs(attribute)

    @staticmethod
    def _category_costs(attribute: QuasiIdentifier) -> FloatArray:
        tree = attribute.hierarchy
        occupied = np.zeros(tree.leaves + 1, dtype=np.int64)
        occupied[attribute.leaf + 1] = 1
        before = np.cumsum(occupied)
        covered = before[tree.last_leaf] - before[tree.first_leaf]
        return np.where(covered <= 1, 0.0, covered / attribute.column.size)

    @staticmethod
    def _range_costs(attribute: QuasiIdentifier) -> FloatArray:
        tree, numbers = attribute.hierarchy, attribute.column.numbers
        assert numbers is not None
        low = np.full(len(tree.labels), np.inf)
        high = np.full(len(tree.labels), -np.inf)
        missing = np.zeros(len(tree.labels), dtype=bool)
        for nodes in tree.ancestors[:, attribute.leaf]:
            known = ~np.isnan(numbers)
            np.minimum.at(low, nodes[known], numbers[known])
            np.maximum.at(high, nodes[known], numbers[known])
            missing[nodes[~known]] = True
        span = float(np.nanmax(numbers) - np.nanmin(numbers)) if not np.isnan(numbers).all() else 0.0
        some = high >= low
        width = np.where(some, high - np.where(some, low, 0.0), 0.0)
        costs = width / span if span > 0 else np.zeros(len(tree.labels))
        return np.where(missing & some, 1.0, costs)
