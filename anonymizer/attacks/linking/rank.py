"""Distance of ranks."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linking.base import Distance
from anonymizer.attacks.linking.gaps import Scaling, rank_scale
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column


class RankDistance(Distance):
    """The fourth root of the sum of fourth powers, numbers compared by their rank among the original records.

    Equal numbers share the mean of their ranks, as a share of the records. What bounds how far a rank can
    move, as rank swapping does, is betrayed by the largest differences, which the power brings out.

    Source: ranks in record linkage: Muralidhar, Domingo-Ferrer, "Rank-based record linkage for
    re-identification risk assessment" (PSD 2016, doi:10.1007/978-3-319-45381-1_17).
    """

    name = "rank"

    def scale(self, column: Column) -> Scaling:
        """Return the map from numbers to ranks."""
        return rank_scale(column)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the fourth powers of the distances."""
        total = self.differences(0, originals, _fourth)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals, _fourth)
        return total


def _fourth(gaps: FloatArray) -> FloatArray:
    squares: FloatArray = np.square(gaps)
    return np.square(squares)
