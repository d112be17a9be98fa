"""Individual ranking: microaggregation of each attribute by itself."""

from __future__ import annotations

import numpy as np

from anonymizer.masking.base import Given, Masking, require
from anonymizer.model.arrays import FloatArray


class IndividualRanking(Masking):
    """Sorts each attribute and replaces every k consecutive values by their mean, the last k to 2k - 1.

    Equal values are taken in the order of the records. Nothing is random.

    Source: Defays and Nanopoulos (Statistics Canada Symposium 1992, published 1993), individual ranking.

    Parameters
    ----------
    k: values that share their mean at least.
    """

    def __init__(self, k: int) -> None:
        require(k >= 1, f"k = {k}; accepted: 1 or more")
        self._k = k

    def _masked(self, given: Given) -> FloatArray:
        last = max(len(given.values) // self._k, 1) - 1
        group = np.minimum(np.arange(len(given.values)) // self._k, last)
        sizes = np.bincount(group)
        masked = np.empty_like(given.values)
        for position, column in enumerate(given.values.T):
            order = np.argsort(column, kind="stable")
            masked[order, position] = (np.bincount(group, column[order]) / sizes)[group]
        return masked
