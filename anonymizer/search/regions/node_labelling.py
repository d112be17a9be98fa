"""Regions published as hierarchy nodes."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import BoolArray
from anonymizer.core.node_recoding import NodeRecoding
from anonymizer.core.table import Table
from anonymizer.loss.cells import CellMetric
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.node_axis import NodeAxis
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.rows import rows_of
from anonymizer.search.regions.sharing import InOrder


class NodeLabelling(Labelling):
    """Every attribute along its hierarchy.

    Two regions may be published alike. A relaxed cut keeps combinations together: regions that share many
    have the same nodes more often, and would be one class.
    """

    sharing = InOrder()

    def __init__(self, table: Table, metric: CellMetric) -> None:
        self.axes = self._axes = tuple(
            NodeAxis(table, position, metric) for position in range(len(table.quasi_identifiers))
        )

    def recoding(
        self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray
    ) -> NodeRecoding:
        """Return the lowest allowed node above each region's values, for each attribute."""
        rows = rows_of(table, regions, suppressed, removed)
        nodes = [axis.nodes(axis.values[regions.owner], regions.segments) for axis in self._axes]
        of_row = np.stack(nodes, axis=1)[rows.region_of]
        return NodeRecoding(rows.table, of_row, rows.suppressed, rows.removed, rows.owner)
