"""Regions published as hierarchy nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.recoding import NodeRecoding
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.cutting.coding import WORD_BITS
from anonymizer.search.regions.axis import weight_shares
from anonymizer.search.regions.deep_node_axis import DeepNodeAxis
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
        own = zip(table.quasi_identifiers, weight_shares(table), strict=True)
        self.axes = self._axes = tuple(_axis(attribute, share, metric) for attribute, share in own)

    def recoding(
        self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray
    ) -> NodeRecoding:
        """Return the lowest allowed node above each region's values, for each attribute."""
        rows = rows_of(table, regions, suppressed, removed)
        nodes = [
            axis.published(table.quasi_identifier_codes(position)[regions.owner], regions.segments)
            for position, axis in enumerate(self._axes)
        ]
        own = np.stack(nodes, axis=1)
        return NodeRecoding(rows.table, own, rows.suppressed, rows.removed, rows.owner, rows.region_of)

    def traced_recoding(
        self,
        table: Table,
        numbers: Iterable[Traces],
        region_of: IntArray,
        suppressed: BoolArray,
        removed: BoolArray,
    ) -> NodeRecoding:
        """Return the node of each region, for each attribute."""
        own = np.stack([axis.nodes(each) for axis, each in zip(self._axes, numbers, strict=True)], axis=1)
        return NodeRecoding(table, own, suppressed, removed, None, region_of)


def _axis(attribute: QuasiIdentifier, share: float, metric: CellMetric) -> NodeAxis:
    axis = NodeAxis(attribute, share, metric)
    return axis if axis.bits <= WORD_BITS else DeepNodeAxis(attribute, share, metric)
