"""Rows that lie in groups, one after the other, and what is added up or compared within each group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import IntArray

_DENSE_SHARE = 32
"""A key space of up to so many times the number of keys is marked in a dense array instead of sorted."""


@dataclass(frozen=True, eq=False)
class Segments:
    """Consecutive groups of rows.

    Attributes
    ----------
    of_row: group of each row, shape (rows,), int64, ascending, every group with at least one row.
    number: how many groups there are.
    """

    of_row: IntArray
    number: int

    @cached_property
    def starts(self) -> IntArray:
        """First row of each group, shape (groups,), int64."""
        starts: IntArray = np.searchsorted(self.of_row, np.arange(self.number))
        return starts

    def lowest(self, values: IntArray) -> IntArray:
        """Return the smallest value of each group, shape (groups,)."""
        lowest: IntArray = np.minimum.reduceat(values, self.starts)
        return lowest

    def highest(self, values: IntArray) -> IntArray:
        """Return the largest value of each group, shape (groups,)."""
        highest: IntArray = np.maximum.reduceat(values, self.starts)
        return highest

    def total(self, values: IntArray) -> IntArray:
        """Return the sum of the values of each group, shape (groups,)."""
        total: IntArray = np.add.reduceat(values, self.starts)
        return total

    def running(self, values: IntArray) -> IntArray:
        """Return the sums of the values from the first of each group up to each row, shape (rows,)."""
        sums = np.cumsum(values)
        before = (sums - values)[self.starts]
        running: IntArray = sums - before[self.of_row]
        return running

    def first(self, chosen: IntArray) -> IntArray:
        """Return the first of some rows in each group, -1 in a group that has none of them, shape (groups,).

        Parameters
        ----------
        chosen: rows, ascending.
        """
        found = np.full(self.number, -1, dtype=np.int64)
        # The last assignment to a group counts.
        found[self.of_row[chosen[::-1]]] = chosen[::-1]
        return found


def distinct_keys(keys: IntArray, space: int) -> tuple[IntArray, IntArray]:
    """Number the distinct keys in ascending order.

    Parameters
    ----------
    keys: shape (rows,), int64, each in [0, space).

    Returns
    -------
    The number of each row's key, shape (rows,), int64, and the keys, shape (distinct,), int64, ascending.
    """
    if space <= _DENSE_SHARE * len(keys):
        present = np.zeros(space, dtype=bool)
        present[keys] = True
        distinct = np.flatnonzero(present)
        number_of = np.empty(space, dtype=np.int64)
        number_of[distinct] = np.arange(len(distinct))
        return number_of[keys], distinct
    distinct, numbers = np.unique(keys, return_inverse=True)
    return numbers.astype(np.int64, copy=False), distinct
