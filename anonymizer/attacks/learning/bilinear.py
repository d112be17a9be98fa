"""Symmetric bilinear forms of the differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.model.arrays import FloatArray


class Bilinear(Family):
    """A symmetric matrix S of the distance d'Sd, not negative where one attribute differs or two do equally.

    That is: no diagonal entry is negative, and no other entry is larger, without its sign, than the mean of
    the two diagonal entries beside it. Every positive semidefinite matrix is among these. The trace is 1.

    Source: Abril, Torra and Navarro-Arribas, Supervised learning using a symmetric bilinear form for record
    linkage (Information Fusion 26, 2015).
    """

    name = "bilinear"

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes)
        self._first, self._second = np.triu_indices(attributes, 1)
        singles = [(position,) for position in range(attributes)]
        self.members = (*singles, *combinations(range(attributes), 2))
        own = np.eye(len(self.members))
        sums = (own[self._first] + own[self._second]) / 2
        entries = own[attributes:]
        self.cone = np.concatenate([own[:attributes], sums + entries, sums - entries])
        self.total = np.zeros(len(self.members))
        self.total[:attributes] = 1.0

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences, then twice the products of the differences of two attributes."""
        products = 2 * differences[..., self._first] * differences[..., self._second]
        return np.concatenate([differences * differences, products], axis=-1)

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names, then two for each product."""
        products = [f"{one} × {other}" for one, other in combinations(names, 2)]
        return [*names, *products]

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal."""
        return weights[: self.attributes].copy()

    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least values: entries off the diagonal at their limits, one attribute has the rest."""
        extra = np.abs(gaps[:, self.attributes :]) / 2
        corners = gaps[:, : self.attributes].copy()
        for position in range(self.attributes):
            beside = (self._first == position) | (self._second == position)
            corners[:, position] -= extra[:, beside].sum(axis=1)
        least: FloatArray = corners.min(axis=1)
        return least

    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return random semidefinite matrices, half of them diagonal."""
        size = self.attributes
        diagonal = random.dirichlet(np.ones(size), number // 2)
        factors = random.standard_normal((number - number // 2, size, size))
        full = self.weights_of(factors @ factors.transpose(0, 2, 1))
        full /= full[:, :size].sum(axis=1, keepdims=True)
        return np.concatenate([np.stack([self.with_weighted_mean(row) for row in diagonal]), full])

    def corners(self) -> FloatArray:
        """Return the forms of one attribute alone, of the sum and of the difference of two."""
        own = np.eye(len(self.members))
        sums = (own[self._first] + own[self._second]) / 2
        entries = own[self.attributes :] / 2
        return np.concatenate([own[: self.attributes], sums + entries, sums - entries])

    def matrix(self, weights: FloatArray) -> FloatArray:
        """Return the matrix of weights, shape (attributes, attributes)."""
        matrix = np.diag(weights[: self.attributes])
        matrix[self._first, self._second] = matrix[self._second, self._first] = weights[self.attributes :]
        return matrix

    def weights_of(self, matrices: FloatArray) -> FloatArray:
        """Return the weights of matrices, shape (..., weights)."""
        diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
        return np.concatenate([diagonal, matrices[..., self._first, self._second]], axis=-1)
