"""The metric ``loss``."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import PublishedValues, QuasiIdentifier


class LeafShareLoss(CellMetric):
    """Share of the hierarchy's leaves that a published value hides: (n - 1) / (m - 1).

    n leaves under the published node or in the published set, m leaves of the hierarchy; 0 where m = 1.
    Numbers without a hierarchy and aggregated ones: (high - low) / (max - min). 1 for a suppressed cell.

    Source: Iyengar (KDD 2002, doi:10.1145/775047.775089), section 3, general loss metric LM.
    """

    name = "loss"
    summary = "share of the information that is lost, 0 to 1"

    def costs(self, attribute: QuasiIdentifier, values: PublishedValues) -> FloatArray:
        """Return (n - 1) / (m - 1) of each value, or the width of its interval / range."""
        if values.leaves is None:
            return values.range_costs(attribute.column)
        others = attribute.hierarchy.leaves - 1
        if others == 0:
            return np.zeros(len(values.leaves))
        return (values.leaves - 1) / others
