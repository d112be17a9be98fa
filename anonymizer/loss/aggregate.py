"""How the losses of the attributes become one number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from anonymizer.model.arrays import FloatArray


class Aggregate(ABC):
    """Joins the losses of attributes that have weights w >= 0, not all 0.

    ``part`` turns the losses of one attribute into what ``join`` combines and ``finish`` turns back, so that
    a search can join whole vectors of levels by outer operations.
    """

    join: np.ufunc

    @abstractmethod
    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Prepare the losses of one attribute whose share of all weights is w / sum of w."""

    @abstractmethod
    def finish(self, joined: FloatArray) -> FloatArray:
        """Turn joined parts into aggregated losses."""

    def of(self, losses: Sequence[float], weights: Sequence[float]) -> float:
        """Aggregate one loss per attribute."""
        total = sum(weights)
        parts = [
            self.part(np.array([loss]), weight / total) for loss, weight in zip(losses, weights, strict=True)
        ]
        joined = parts[0]
        for part in parts[1:]:
            joined = self.join(joined, part)
        return float(self.finish(joined)[0])


class ArithmeticMean(Aggregate):
    """Sum of w x / sum of w."""

    join = np.add

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Weigh the losses."""
        return losses * share

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the sums as they are."""
        return joined


class GeometricMean(Aggregate):
    """Product of (1 + x)^(w / sum of w), minus 1."""

    join = np.multiply

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Raise 1 + x to the weight."""
        powers: FloatArray = (1 + losses) ** share
        return powers

    def finish(self, joined: FloatArray) -> FloatArray:
        """Subtract the 1 that was added."""
        return joined - 1


class Maximum(Aggregate):
    """The largest loss of an attribute whose weight is above 0."""

    join = np.maximum

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Leave out attributes of weight 0: no loss is below 0."""
        return losses if share > 0 else np.zeros_like(losses)

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the maxima as they are."""
        return joined


class AggregateName(StrEnum):
    """The aggregates by their name in a config."""

    ARITHMETIC_MEAN = "arithmetic-mean"
    GEOMETRIC_MEAN = "geometric-mean"
    MAXIMUM = "maximum"


AGGREGATES: dict[AggregateName, Aggregate] = {
    AggregateName.ARITHMETIC_MEAN: ArithmeticMean(),
    AggregateName.GEOMETRIC_MEAN: GeometricMean(),
    AggregateName.MAXIMUM: Maximum(),
}
"""What each name stands for."""
