"""What prices prove: the Lagrangian of the facility location, with "every record is served once" relaxed."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.search.local_recoding.facilities import Facilities, segments

ROUNDING = 1e-11
"""Of the sum of the absolute values of all terms: far above what float64 sums of them can be wrong by."""


class Lagrangian:
    """Lower bound on the total cost of serving all records, as a function of the prices of their items.

    Every facility serves the records that are worth more than they cost, and if these are fewer than k, the
    next best until there are k, or nobody. With price u and n records of each item, the bound is the sum of
    n * u minus what the facilities gain; it is concave in u.

    Parameters
    ----------
    facilities: all that could gain something at the prices that are asked about.
    counts: records of each item, shape (items,), int64.
    size: records that a facility serves at least, k.
    """

    def __init__(self, facilities: Facilities, counts: IntArray, size: int) -> None:
        self._facilities, self._size = facilities, size
        self._counts = counts.astype(np.float64)
        self._owner = segments(facilities.starts)
        self._cost = facilities.cost[self._owner]
        self._bits = max(len(counts) - 1, 1).bit_length()

    def value(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound, rounding errors taken off, and its slope in each price.

        Parameters
        ----------
        prices: of each item's records, shape (items,), float64, none above its ceiling.

        Returns
        -------
        The bound, and records minus those served, shape (items,), float64.
        """
        own = self._counts * prices
        total, slack = float(own.sum()), float(np.abs(own).sum())
        slope = self._counts.copy()
        items, owner, cost, rest = self._active(prices)
        if len(cost):
            taken, gains, served = self._gains(prices, items, owner, cost, rest)
            total += float(gains.sum())
            slack -= float(gains.sum())
            slope -= np.bincount(items[served], taken[served], len(prices))
        return total - ROUNDING * slack, slope

    def _active(self, prices: FloatArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return the entries of the facilities for which some record is worth more than it costs.

        By facility, then by falling price: item and facility of each entry; cost and rest of each facility.
        """
        active = np.zeros(self._facilities.number, dtype=bool)
        active[self._owner[prices[self._facilities.items] > self._cost]] = True
        entries = np.flatnonzero(active[self._owner])
        owner = (np.cumsum(active) - 1)[self._owner[entries]]
        order = np.argsort(-prices, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        keys = (owner << self._bits) | rank[self._facilities.items[entries]]
        keys.sort()
        items = order[keys & ((1 << self._bits) - 1)]
        return items, owner, self._facilities.cost[active], self._facilities.rest[active]

    def _gains(
        self, prices: FloatArray, items: IntArray, owner: IntArray, cost: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray, np.ndarray]:
        """Return records taken per entry, what each facility adds (at most 0), and the entries served."""
        starts = np.searchsorted(owner, np.arange(len(cost)))
        price, records = prices[items], self._counts[items]
        before = np.cumsum(records) - records
        before -= before[starts][owner]
        taken = np.minimum(records, np.maximum(self._size - before, 0.0))
        pays = price > cost[owner]
        taken[pays] = records[pays]
        # Where an item is cheaper than what is not listed, that is assumed to fill up instead.
        other = rest[owner]
        gains = np.add.reduceat(taken * (cost[owner] - np.maximum(price, other)), starts)
        missing = self._size - np.add.reduceat(taken, starts)
        short = missing > 0
        gains[short] += missing[short] * (cost[short] - rest[short])
        served = (gains < 0)[owner] & (price >= other)
        return taken, np.minimum(gains, 0.0), served
