"""Euclidean distance."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linking.base import Distance
from anonymizer.model.arrays import FloatArray, IntArray


class Euclidean(Distance):
    """The root of the sum of squared differences, numbers in standard deviations of the original."""

    name = "euclidean"

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the squared distances."""
        total = self.differences(0, originals, np.square)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals, np.square)
        return total
