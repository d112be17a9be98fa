"""Counts of a given sum that are closest to what is expected when every value stands for itself."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.privacy.conditions import Deviation


class SeparateDeviation:
    """A deviation of single values: what some have too much is what others lack."""

    def __init__(self, deviation: Deviation) -> None:
        self._expected = deviation.expected[deviation.group_of]
        self._total = deviation.total
        self._limit = float(deviation.limit) / 2

    def bound(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Bound the sizes at which what is lacking is within the limit: Newton's method from above.

        Parameters
        ----------
        counts: records that could stay, shape (rows, values), int64.
        sizes: bounds known before, shape (rows,), float64.
        """
        shares = self._expected / self._total
        for _ in range(counts.shape[1] + 1):
            short = sizes[:, None] * shares > counts
            slope = short @ shares - self._limit
            there = np.where(short, counts, 0).sum(axis=1)
            beyond = (slope * sizes - there > 1e-9) & (slope > 0)
            if not beyond.any():
                break
            allowed = there / np.where(beyond, slope, 1.0)
            sizes = np.where(beyond, np.minimum(allowed, sizes), sizes)
        return sizes

    def closest(self, least: IntArray, most: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the counts between bounds that lack least, and twice what they lack, in 1 / total.

        A record more of a value makes up for a whole one while less than expected is there, for a fraction at
        the last one, then for nothing: the largest gains first.
        """
        wanted = sizes[:, None] * self._expected
        whole = wanted // self._total
        counts = np.clip(whole, least, most)
        spare = counts.sum(axis=1) - sizes
        # Too many: any that is above its least, one lacking more for each.
        room = counts - least
        counts -= _first(room, spare)
        gains = np.where((counts == whole) & (counts < most), wanted - whole * self._total, -1)
        order = np.argsort(-gains, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None, :], axis=1)
        counts += (rank < -spare[:, None]) & (gains >= 0)
        counts += _first(most - counts, sizes - counts.sum(axis=1))
        return counts, 2 * np.maximum(wanted - counts * self._total, 0).sum(axis=1)


def _first(room: IntArray, number: IntArray) -> IntArray:
    """Return how many of a number of records each value takes when the first take all they can."""
    before = np.cumsum(room, axis=1) - room
    taken: IntArray = np.clip(number[:, None] - before, 0, room)
    return taken
