"""The metric ``precision``."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import FloatArray
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import PublishedValues, QuasiIdentifier


class PrecisionLoss(CellMetric):
    """Mean over cells of level / top level, which is 1 - Prec.

    1 for a suppressed cell, 0 if the top level is 0; no value if published values have no levels.

    Source: Sweeney (IJUFKS 2002, doi:10.1142/S021848850200165X), section 3.2.
    """

    name = "precision"
    summary = "mean height in the hierarchies"
    of_release_alone = True

    def applies(self, recoding: Recoding) -> bool:
        """Return whether every published value has a level."""
        positions = range(len(recoding.table.quasi_identifiers))
        return all(recoding.cells(position).values.levels is not None for position in positions)

    def costs(self, attribute: QuasiIdentifier, values: PublishedValues) -> FloatArray:
        """Return level / top level of each value."""
        assert values.levels is not None, "value() checks that every value has a level"
        height = attribute.hierarchy.height
        if height == 0:
            return np.zeros(len(values.levels))
        return values.levels / height
