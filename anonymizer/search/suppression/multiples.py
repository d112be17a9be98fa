"""Whole numbers next to a share of a number of records, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.privacy.conditions import Shares

SMALL = 2**31
"""Products of two numbers below it fit int64."""


class Multiples:
    """Shares of one value each, to be multiplied by class sizes.

    Attributes
    ----------
    floats: the shares, shape (values,), float64.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self.floats: FloatArray = np.array([float(share) for share in shares])
        ratios = [share.as_integer_ratio() for share in shares]
        self._whole = all(max(ratio) < SMALL for ratio in ratios)
        if self._whole:
            self._ratios = np.array(ratios, dtype=np.int64).reshape(-1, 2).T

    def floor(self, sizes: IntArray) -> IntArray:
        """Return the largest whole numbers up to share * size, shape (sizes, values), int64."""
        if self._whole and sizes.max(initial=0) < SMALL:
            numerators, denominators = self._ratios
            exact: IntArray = sizes[:, None] * numerators // denominators
            return exact
        products = sizes[:, None] * self.floats
        result = np.floor(products).astype(np.int64)
        close = np.abs(products - np.rint(products)) <= 1e-9 * np.maximum(products, 1)
        for row, value in np.argwhere(close & (self.floats > 0)).tolist():
            result[row, value] = self._shares[value] * int(sizes[row]) // 1
        return result

    def ceil(self, sizes: IntArray) -> IntArray:
        """Return the smallest whole numbers from share * size up, shape (sizes, values), int64."""
        floors = self.floor(sizes)
        if self._whole and sizes.max(initial=0) < SMALL:
            numerators, denominators = self._ratios
            exact: IntArray = floors + (sizes[:, None] * numerators != floors * denominators)
            return exact
        products = sizes[:, None] * self.floats
        result = floors + (products > floors)
        close = np.abs(products - np.rint(products)) <= 1e-9 * np.maximum(products, 1)
        for row, value in np.argwhere(close & (self.floats > 0)).tolist():
            result[row, value] = -(-self._shares[value] * int(sizes[row]) // 1)
        return result


def below(limit: Fraction, counts: IntArray) -> IntArray:
    """Return the largest whole numbers strictly below limit * count, shape as ``counts``, int64."""
    return Multiples((limit,)).ceil(counts)[:, 0] - 1
