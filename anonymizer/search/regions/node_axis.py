"""A quasi-identifier that is cut and published along its hierarchy."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import CodeArray, FloatArray, IntArray
from anonymizer.core.table import Table
from anonymizer.loss.cells import CellMetric
from anonymizer.search.regions.axis import Axis, weight_shares
from anonymizer.search.regions.segments import Segments


class NodeAxis(Axis):
    """Regions are published as the lowest allowed node above all their values.

    The parts of a region are the children of that node, so that a side with one child descends to it.
    Values are leaf positions: the nodes of a tree in preorder cover ranges of them, and the lowest node above
    a region is the lowest above its first and its last leaf.

    Parameters
    ----------
    position: of the quasi-identifier in the table.
    metric: says what a node costs.
    """

    ordered = False

    def __init__(self, table: Table, position: int, metric: CellMetric) -> None:
        self.attribute = table.quasi_identifiers[position]
        self.values = self.attribute.leaf[table.quasi_identifier_codes(position)].astype(np.int64)
        self.share = weight_shares(table)[position]
        tree = self.attribute.hierarchy
        self.parts = len(tree.labels)
        self._costs = metric.node_costs(self.attribute)
        self._level = tree.level
        self._ancestors = tree.ancestors

    def nodes(self, values: IntArray, regions: Segments) -> CodeArray:
        """Return the lowest allowed node above each region, else the root, shape (regions,), int32."""
        first, last = regions.lowest(values), regions.highest(values)
        nodes = np.zeros(regions.number, dtype=np.int32)
        for level in range(self.attribute.maximum, self.attribute.minimum - 1, -1):
            below = self._ancestors[level][first]
            nodes = np.where(below == self._ancestors[level][last], below, nodes)
        return nodes

    def parts_of(self, values: IntArray, regions: Segments) -> IntArray:
        """Return the child of the region's node that each row lies under, or the node if it has none."""
        levels = np.maximum(self._level[self.nodes(values, regions)] - 1, self.attribute.minimum)
        parts: IntArray = self._ancestors[levels[regions.of_row], values].astype(np.int64)
        return parts

    def costs(self, values: IntArray, regions: Segments) -> FloatArray:
        """Return the cost of each region's node."""
        costs: FloatArray = self._costs[self.nodes(values, regions)]
        return costs
