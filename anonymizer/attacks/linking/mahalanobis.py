"""Mahalanobis distance."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linking.base import Distance
from anonymizer.attacks.linking.gaps import standard_scale
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.arrays import FloatArray, IntArray

DEGENERATE = 1e-6
"""Directions with less than this share of the largest variance count as having none."""


class Mahalanobis(Distance):
    """Differences weighted by the inverse covariance of the original's numbers.

    Categories are correlated with nothing. Where numbers do not vary, in a constant attribute or along one
    that depends on others, differences count as in the Euclidean distance.

    Sources: Mahalanobis, "On the generalised distance in statistics" (1936); in record linkage: Torra, Abowd
    and Domingo-Ferrer, "Using Mahalanobis distance-based record linkage for disclosure risk assessment" (PSD
    2006, doi:10.1007/11930242_20).
    """

    name = "mahalanobis"

    def __init__(self, space: ComparisonSpace) -> None:
        super().__init__(space)
        self._factor = _factor(_covariance(space))

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the squared distances."""
        stacked = np.stack(
            [self.differences(position, originals) for position in range(len(self.space.meanings))]
        )
        turned = np.tensordot(self._factor, stacked, axes=1)
        total: FloatArray = (turned**2).sum(axis=0)
        return total


def _covariance(space: ComparisonSpace) -> FloatArray:
    """Return the covariance of the records that the intruder holds, shape (attributes, attributes)."""
    covariance = np.eye(len(space.meanings))
    numeric, columns = [], []
    for position, meaning in enumerate(space.meanings):
        numbers = meaning.column.numbers
        if numbers is not None and not np.isnan(numbers).all():
            scaled = standard_scale(meaning.column)(numbers)
            filled = np.where(np.isnan(scaled), np.nanmean(scaled), scaled)
            numeric.append(position)
            columns.append(filled[space.originals[:, position]])
    if numeric:
        own = np.stack(columns)
        centred = own - np.average(own, axis=1, weights=space.records)[:, None]
        covariance[np.ix_(numeric, numeric)] = (centred * space.records) @ centred.T / space.records.sum()
    return covariance


def _factor(covariance: FloatArray) -> FloatArray:
    """Return F with F'F the inverse of the covariance, the identity along directions of no variance."""
    variances, directions = np.linalg.eigh(covariance)
    varies = variances > DEGENERATE * max(float(variances.max()), 1.0)
    factor: FloatArray = directions.T / np.sqrt(np.where(varies, variances, 1.0))[:, None]
    return factor
