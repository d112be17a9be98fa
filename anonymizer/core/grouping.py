"""Counting: the one place where equal keys become groups with sizes.

Counts are of records. What is counted (records now; persons or sampling weights later) is decided here and
nowhere else: everything downstream sees int64 counts.
"""

from __future__ import annotations

import numpy as np

from anonymizer.core.arrays import IntArray

DENSE_LIMIT = 1 << 16
"""Key spaces up to this size are always counted in a dense array."""


def group_keys(keys: IntArray, space: int) -> tuple[IntArray, IntArray]:
    """Number the distinct keys in ascending order.

    Parameters
    ----------
    keys: shape (items,), int64, each in [0, space).
    space: number of possible keys.

    Returns
    -------
    group of each item, shape (items,), int64, and the distinct keys, shape (groups,), int64, ascending.
    """
    if space <= max(DENSE_LIMIT, 4 * len(keys)):
        present = np.zeros(space, dtype=bool)
        present[keys] = True
        distinct = np.flatnonzero(present)
        numbers = np.cumsum(present) - 1
        return numbers[keys], distinct
    distinct, groups = np.unique(keys, return_inverse=True)
    return groups.astype(np.int64, copy=False), distinct


def count(groups: IntArray, weights: IntArray, size: int) -> IntArray:
    """Add up integer weights by group.

    float64 carries the sums exactly: they are whole numbers below 2**53.

    Parameters
    ----------
    groups: shape (items,), int64, each in [0, size).
    weights: shape (items,), int64, not negative.

    Returns
    -------
    Sums, shape (size,), int64.
    """
    return np.bincount(groups, weights=weights, minlength=size).astype(np.int64)


def add_up(keys: IntArray, weights: IntArray, space: int) -> tuple[IntArray, IntArray]:
    """Add up integer weights by key.

    Parameters
    ----------
    keys: shape (items,), int64, each in [0, space).
    weights: shape (items,), int64, positive.

    Returns
    -------
    The distinct keys, ascending, and the sum of each, both of shape (distinct,), int64.
    """
    if space <= max(DENSE_LIMIT, len(keys)):
        sums = np.bincount(keys, weights=weights, minlength=space)
        distinct = np.flatnonzero(sums)
        return distinct, sums[distinct].astype(np.int64)
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.add.reduceat(weights[order], starts) if len(keys) else weights
