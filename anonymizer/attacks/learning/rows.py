"""The gaps that matter: of each original with the masked records that come near to it under some weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.learning.pairs import TIE, Pairs
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Some gaps, of which every original has one or more, in the order of the originals.

    Attributes
    ----------
    record: the original of each row, shape (rows,), int64, ascending.
    masked: the masked record of each row, shape (rows,), int64.
    gaps: shape (rows, weights), float64.
    starts: first row of each original, shape (records,), int64.
    """

    record: IntArray
    masked: IntArray
    gaps: FloatArray
    starts: IntArray

    @staticmethod
    def of(pairs: Pairs, chosen: BoolArray) -> Rows:
        """Return the rows of the chosen pairs, shape (records, masked records)."""
        record, masked = np.nonzero(chosen)
        starts = np.searchsorted(record, np.arange(pairs.records))
        return Rows(record, masked, pairs.gaps_of(record, masked), starts)

    def worst(self, weights: FloatArray) -> FloatArray:
        """Return the least margin of each original, shape (records,)."""
        worst: FloatArray = np.minimum.reduceat(self.gaps @ weights, self.starts)
        return worst

    def right(self, weights: FloatArray) -> BoolArray:
        """Tell which originals all their rows link rightly, shape (records,)."""
        return self.worst(weights) > TIE


class Chosen:
    """Pairs that are chosen so far; it only grows.

    Attributes
    ----------
    mask: shape (records, masked records), bool.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self.mask = np.zeros((pairs.records, len(pairs.masked)), dtype=np.bool_)

    def add_nearest(self, weights: FloatArray, number: int) -> None:
        """Choose the masked records that are nearest to each original, except the true one.

        Parameters
        ----------
        weights: of several distances, shape (distances, weights).
        number: of masked records for each original and distance.
        """
        others = self.mask.shape[1] - 1
        for rows, gaps in self._pairs.blocks():
            size = len(gaps)
            margins = gaps @ weights.T
            local = np.arange(size)
            margins[local, local + rows.start] = np.inf
            nearest = np.argpartition(margins, min(number, others) - 1, axis=1)[:, : min(number, others)]
            self.mask[(local + rows.start)[:, None, None], nearest] = True
        own = np.arange(self._pairs.records)
        self.mask[own, own] = False

    def rows(self) -> Rows:
        """Return the rows of all chosen pairs."""
        return Rows.of(self._pairs, self.mask)
