"""The metric ``loss``."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import FloatArray
from anonymizer.core.table import QuasiIdentifier
from anonymizer.loss.cells import CellMetric


class LeafShareLoss(CellMetric):
    """Share of the hierarchy's leaves that a published node hides: (n - 1) / (m - 1).

    n leaves under the published node, m leaves of the hierarchy; 1 for a suppressed cell, 0 where m = 1.

    Source: Iyengar (KDD 2002, doi:10.1145/775047.775089), section 3, general loss metric LM.
    """

    name = "loss"

    def node_costs(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return (n - 1) / (m - 1) of each node."""
        others = attribute.hierarchy.leaves - 1
        if others == 0:
            return np.zeros(len(attribute.hierarchy.labels))
        costs: FloatArray = (attribute.hierarchy.leaf_counts() - 1) / others
        return costs
