"""The metric ``ncp``."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import PublishedValues, QuasiIdentifier


class CertaintyPenalty(CellMetric):
    """Global certainty penalty of the Mondrian literature.

    Numbers and dates: (high - low) / (max - min) over the input's values under the published node. Other
    values: 0 for one value, else covered values / distinct values of the input. A missing value under a node
    counts as one more value, the whole range for numbers. 1 for a suppressed cell.

    Source: Xu, Wang, Pei, Wang, Shi, Fu (KDD 2006, doi:10.1145/1150402.1150504), section 2; Ghinita, Karras,
    Kalnis, Mamoulis (VLDB 2007), section 2.2.
    """

    name = "ncp"
    summary = "normalized certainty penalty (Mondrian literature)"

    def costs(self, attribute: QuasiIdentifier, values: PublishedValues) -> FloatArray:
        if attribute.column.numbers is not None:
            return values.range_costs(attribute.column)
        return np.where(values.covered <= 1, 0.0, values.covered / max(attribute.column.size, 1))
