"""Families of distances that are linear in their weights, given features of a pair of records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import FloatArray


class Family(ABC):
    """The distances of one kind: ``features(differences) @ weights`` for any allowed weights.

    Weights are allowed when every row of ``cone`` gives at least 0 on them and ``total @ weights`` is 1.
    Scaling all weights links the same records, so the last condition excludes nothing but zero.

    Class attributes
    ----------------
    name: as in the config.
    extends: whether all weighted means are in it, and more.

    Attributes
    ----------
    attributes: number of attributes that are compared.
    members: for each weight the positions of the attributes it is about.
    cone: shape (conditions, weights), float64.
    total: shape (weights,), float64.
    """

    name: ClassVar[str]
    extends: ClassVar[bool] = True
    attributes: int
    members: tuple[tuple[int, ...], ...]
    cone: FloatArray
    total: FloatArray

    def __init__(self, attributes: int) -> None:
        self.attributes = attributes

    @abstractmethod
    def features(self, differences: FloatArray) -> FloatArray:
        """Return the features of pairs, shape (..., weights), from differences, shape (..., attributes)."""

    def equal(self) -> FloatArray:
        """Return the weights of the Euclidean distance, shape (weights,): its square over the attributes."""
        return self.with_weighted_mean(np.full(self.attributes, 1 / self.attributes))

    def with_weighted_mean(self, shares: FloatArray) -> FloatArray:
        """Return the weights of the weighted mean with these shares; single attributes come first.

        Parameters
        ----------
        shares: of the attributes, shape (attributes,), at least 0, summing to 1.
        """
        weights = np.zeros(len(self.members))
        weights[: self.attributes] = shares
        return weights

    @abstractmethod
    def labels(self, names: Sequence[str]) -> list[str]:
        """Return what each weight is about, given the names of the attributes."""

    @abstractmethod
    def importance(self, weights: FloatArray) -> FloatArray:
        """Return how much each attribute counts, shape (attributes,), summing to 1."""

    @abstractmethod
    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least value of ``gaps @ weights`` over all allowed weights, shape (gaps,), or less."""

    @abstractmethod
    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return random allowed weights, shape (number, weights)."""

    @abstractmethod
    def corners(self) -> FloatArray:
        """Return some extreme weights to move towards, shape (corners, weights)."""

    def reach(self, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Return the steps t between which ``weights + t * direction`` is allowed, at most 0 and at least 0.

        Parameters
        ----------
        direction: shape (weights,), with ``total @ direction`` equal to 0.
        """
        slack, slope = np.maximum(self.cone @ weights, 0.0), self.cone @ direction
        up = slope < -SLOPE
        down = slope > SLOPE
        return -float((slack[down] / slope[down]).min(initial=FAR)), float(
            (slack[up] / -slope[up]).min(initial=FAR)
        )

    def cuts(self, weights: FloatArray) -> FloatArray:
        """Return conditions beyond ``cone`` that weights break, rows that must give at least 0; none here."""
        return np.empty((0, len(weights)))

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return weights with conditions repaired that they miss by rounding errors, scaled to total 1."""
        return weights / float(self.total @ weights)


FAR = 1e6
"""Longest step along a direction that nothing limits."""
SLOPE = 1e-12
"""A condition whose slope is within this of 0 limits no step."""


class Mixtures(Family):
    """A family whose distances are mixtures: weights of at least 0 that sum to 1."""

    def _of(self, members: tuple[tuple[int, ...], ...]) -> None:
        self.members = members
        self.cone = np.eye(len(members))
        self.total = np.ones(len(members))

    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least entry of each row."""
        least: FloatArray = gaps.min(axis=1)
        return least

    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return weights from Dirichlet distributions, half of them sparse."""
        size = len(self.members)
        sparse = random.dirichlet(np.full(size, 0.3), number // 2)
        return np.concatenate([sparse, random.dirichlet(np.ones(size), number - number // 2)])

    def corners(self) -> FloatArray:
        """Return all extreme weights."""
        return np.eye(len(self.members))

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights without negative ones, summing to 1."""
        kept = np.maximum(weights, 0.0)
        return kept / float(kept.sum())
