"""Counting: the one place where equal keys become groups with sizes.

Counts are of records. What is counted (records now; persons or sampling weights later) is decided here and
nowhere else: everything downstream sees int64 counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymizer.core.arrays import BoolArray, IntArray

SPACE = 2**63
"""Keys that one integer can tell apart."""

BLOCK = 1 << 18
"""Keys that are looked at once; what that takes stays in the processor's cache."""

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
    bits = len(keys).bit_length()
    if space << bits >= SPACE:
        distinct, groups = np.unique(keys, return_inverse=True)
        return groups.astype(np.int64, copy=False), distinct
    # Sorting places along in the low bits of the keys takes a tenth of the time of finding an order.
    ordered = keys << bits
    for start in range(0, len(keys), BLOCK):
        ordered[start : start + BLOCK] |= np.arange(start, min(start + BLOCK, len(keys)))
    ordered.sort()
    starts = starts_of(ordered, bits)
    distinct = ordered[starts] >> bits
    groups, last = np.empty(len(keys), dtype=np.int64), -1
    for start in range(0, len(keys), BLOCK):
        block = slice(start, start + BLOCK)
        own = np.cumsum(starts[block]) + last
        groups[ordered[block] & ((1 << bits) - 1)] = own
        last = int(own[-1])
    return groups, distinct


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


def add_up(keys: IntArray, weights: NDArray[np.integer], space: int) -> tuple[IntArray, IntArray]:
    """Add up integer weights by key.

    Parameters
    ----------
    keys: shape (items,), int64, each in [0, space).
    weights: shape (items,), of any integer type, positive.

    Returns
    -------
    The distinct keys, ascending, and the sum of each, both of shape (distinct,), int64.
    """
    if space <= max(DENSE_LIMIT, len(keys)):
        sums = np.bincount(keys, weights=weights, minlength=space)
        distinct = np.flatnonzero(sums)
        return distinct, sums[distinct].astype(np.int64)
    bits = int(weights.max(initial=0)).bit_length()
    if space << bits >= SPACE:
        order = np.argsort(keys)
        ordered = keys[order]
        starts = np.flatnonzero(starts_of(ordered))
        return ordered[starts], np.add.reduceat(weights[order], starts, dtype=np.int64)
    # Sorting weights along in the low bits of the keys takes a tenth of the time of finding an order.
    ordered = keys << bits
    ordered |= weights
    return add_up_packed(ordered, bits)


def add_up_packed(packed: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Add up weights that lie in the low bits of their keys; uses up the array.

    Parameters
    ----------
    packed: shape (items,), int64, none negative.
    bits: of a weight.

    Returns
    -------
    The distinct keys, ascending, and the sum of each, both of shape (distinct,), int64.
    """
    packed.sort()
    starts = starts_of(packed, bits)
    distinct = packed[starts]
    distinct >>= bits
    packed &= (1 << bits) - 1
    # Differences of running sums take a third of the time of summing many short stretches.
    np.cumsum(packed, out=packed)
    starts[:-1] = starts[1:]
    starts[-1:] = True
    sums = packed[starts]
    # From the end on and block by block, so that no copy of all is made.
    for end in range(len(sums), 1, -BLOCK):
        begin = max(end - BLOCK, 1)
        sums[begin:end] -= sums[begin - 1 : end - 1]
    return distinct, sums


def starts_of(ordered: IntArray, bits: int = 0) -> BoolArray:
    """Tell which sorted keys differ from the one before, shape (keys,), bool.

    Parameters
    ----------
    bits: lowest ones, in which no difference counts.
    """
    starts = np.ones(len(ordered), dtype=np.bool_)
    for begin in range(1, len(ordered), BLOCK):
        own = ordered[begin - 1 : begin + BLOCK] >> bits if bits else ordered[begin - 1 : begin + BLOCK]
        np.not_equal(own[1:], own[:-1], out=starts[begin : begin + BLOCK])
    return starts
