"""Taking records from the most frequent values until so many are left."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import IntArray


def levelled(least: IntArray, most: IntArray, sizes: IntArray) -> IntArray:
    """Return counts between bounds that are as even as their sum allows.

    Among all whole counts between the bounds with that sum they have the largest entropy: -y ln y is concave,
    so it never pays to raise a count while a smaller one can be raised.

    Parameters
    ----------
    least, most: shape (rows, values), int64, least <= most.
    sizes: wanted sum of each row, between the sums of its bounds, shape (rows,), int64.

    Returns
    -------
    Counts, shape (rows, values), int64.
    """
    low = np.zeros(len(sizes), dtype=np.int64)
    high = most.max(axis=1, initial=0)
    while (low < high).any():
        middle = (low + high + 1) // 2
        fits = np.clip(middle[:, None], least, most).sum(axis=1) <= sizes
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    counts = np.clip(low[:, None], least, most)
    missing = sizes - counts.sum(axis=1)
    raisable = (counts == low[:, None]) & (counts < most)
    raised = raisable & (np.cumsum(raisable, axis=1) <= missing[:, None])
    counts += raised
    return counts
