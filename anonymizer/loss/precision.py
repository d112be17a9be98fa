"""The metric ``precision``."""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import FloatArray
from anonymizer.core.released import Released
from anonymizer.core.table import QuasiIdentifier
from anonymizer.loss.cells import CellMetric


class PrecisionLoss(CellMetric):
    """Mean over cells of level / top level, which is 1 - Prec.

    1 for a suppressed cell, 0 where the top level is 0; no value for a recoding without levels.

    Source: Sweeney (IJUFKS 2002, doi:10.1142/S021848850200165X), section 3.2.
    """

    name = "precision"

    def applies(self, released: Released) -> bool:
        """Tell whether the recoding has levels."""
        return released.recoding.levels is not None

    def node_costs(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return level / top level of each node."""
        tree = attribute.hierarchy
        if tree.height == 0:
            return np.zeros(len(tree.labels))
        costs: FloatArray = tree.level / tree.height
        return costs
