"""Vectors of levels at which no group is large enough: nor is one at any vector below."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anonymizer.model.arrays import IntArray

WORTHWHILE = 2_000
"""Parts from which on grouping them costs more than finding out where it is in vain."""


class KnownEmpty:
    """What is known of vectors in vain while parts are taken away, which makes no group larger.

    Parameters
    ----------
    top: the highest levels, shape (quasi-identifiers,).
    """

    def __init__(self, top: IntArray) -> None:
        self._top = top
        self._known = np.zeros((0, len(top)), dtype=np.int64)
        self._random = np.random.default_rng(0)

    def covers(self, vector: IntArray) -> bool:
        """Tell whether a vector is known to be in vain."""
        return bool((self._known >= vector).all(axis=1).any())

    def climb(self, vector: IntArray, in_vain: Callable[[IntArray], bool]) -> None:
        """Note the highest vector in vain on some way from one in vain to the top, found by bisection.

        Parameters
        ----------
        in_vain: tells it of a vector.
        """
        rises = self._random.permutation(np.repeat(np.arange(len(vector)), self._top - vector))
        ways = np.zeros((len(rises) + 1, len(vector)), dtype=np.int64)
        ways[np.arange(1, len(ways)), rises] = 1
        way = vector + np.cumsum(ways, axis=0)
        low, high = 0, len(way)
        while high - low > 1:
            middle = (low + high) // 2
            if in_vain(way[middle]):
                low = middle
            else:
                high = middle
        below = (self._known <= way[low]).all(axis=1)
        self._known = np.concatenate([self._known[~below], way[low : low + 1]])
