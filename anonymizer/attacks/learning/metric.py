"""Bilinear forms that are metrics."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.learning.bilinear import Bilinear
from anonymizer.model.arrays import FloatArray

FLOOR = 1e-9
"""Eigenvalues below this count as 0 where a direction's reach is taken."""
BROKEN = 1e-7
"""An eigenvalue below minus this breaks the condition."""


class Metric(Bilinear):
    """A positive semidefinite matrix S with trace 1: the square of a distance in the sense of geometry.

    Source: as ``Bilinear``. The condition is a linear one for every vector, added where it is broken.
    """

    def reach(self, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Return the steps between which the matrix stays semidefinite."""
        values, vectors = np.linalg.eigh(self.matrix(weights))
        root = vectors / np.sqrt(np.maximum(values, FLOOR))
        slopes = np.linalg.eigvalsh(root.T @ self.matrix(direction) @ root)
        low, high = float(slopes[0]), float(slopes[-1])
        limit = 1 / FLOOR
        return -1 / max(high, 1 / limit), 1 / max(-low, 1 / limit)

    def cuts(self, weights: FloatArray) -> FloatArray:
        """Return, for every negative eigenvalue, that the form must not be negative along its vector."""
        values, vectors = np.linalg.eigh(self.matrix(weights))
        broken = vectors[:, values < -BROKEN].T
        cuts = self.weights_of(broken[:, :, None] * broken[:, None, :])
        cuts[:, self.attributes :] *= 2
        return cuts

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return the nearest semidefinite matrix with its trace scaled to 1."""
        values, vectors = np.linalg.eigh(self.matrix(weights))
        kept = self.weights_of((vectors * np.maximum(values, 0.0)) @ vectors.T)
        return kept / float(self.total @ kept)
