"""The weighted mean of squared differences."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.attacks.learning.family import Mixtures
from anonymizer.model.arrays import FloatArray


class WeightedMean(Mixtures):
    """A weight for each attribute.

    Source: Torra, Navarro-Arribas and Abril, Supervised learning for record linkage through weighted means
    and OWA operators (Control and Cybernetics 39, 2010).
    """

    name = "weighted-mean"
    extends = False

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes)
        self._of(tuple((position,) for position in range(attributes)))

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences."""
        return differences * differences

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names."""
        return list(names)

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the weights."""
        return weights.copy()
