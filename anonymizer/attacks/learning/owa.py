"""The ordered weighted average of squared differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.attacks.learning.family import Mixtures
from anonymizer.model.arrays import FloatArray


class Owa(Mixtures):
    """A weight for the largest squared difference, the second largest, and so on; the attributes are alike.

    Sources: Yager (IEEE Transactions on Systems, Man, and Cybernetics 18, 1988, doi:10.1109/21.87068); for
    record linkage Torra, Navarro-Arribas and Abril (Control and Cybernetics 39, 2010).
    """

    name = "owa"
    extends = False

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes)
        self._of(tuple((position,) for position in range(attributes)))

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences in descending order."""
        ordered: FloatArray = np.sort(differences * differences, axis=-1)[..., ::-1]
        return ordered

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the places in the order, the largest difference first."""
        return [f"difference {place + 1}" for place in range(len(names))]

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the same for every attribute."""
        return np.full_like(weights, 1 / self.attributes)
