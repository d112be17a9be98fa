"""Classes that fail join the class that is nearest to them."""

from __future__ import annotations

import numpy as np

from anonymizer.masking.mdav import norms
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

CELLS_AT_ONCE = 1 << 24
"""Distances that are held in memory at a time."""


def merged(averages: FloatArray, failing: BoolArray) -> IntArray:
    """Merge failing classes, each with its nearest, at least one of them.

    Where the nearest class fails, too, and has another one nearest to it, the first waits for the next round:
    otherwise a chain of failing classes would become one. The pair at the smallest distance never waits.

    Parameters
    ----------
    averages: of the classes, at least two, shape (classes, dimensions), float64, whole numbers whose squared
        distances are exact.
    failing: shape (classes,), bool, at least one.

    Returns
    -------
    New class of each class, shape (classes,), int64, numbered without a gap in the order of the old ones.
    """
    chosen = np.flatnonzero(failing)
    partner = np.full(len(failing), -1)
    partner[chosen] = nearest_others(averages, chosen)
    target = partner[chosen]
    root = np.arange(len(failing))
    joining = ~failing[target]
    root[chosen[joining]] = target[joining]
    second = (partner[target] == chosen) & (target < chosen)
    root[chosen[second]] = target[second]
    return np.unique(root, return_inverse=True)[1].ravel().astype(np.int64)


def nearest_others(averages: FloatArray, chosen: IntArray) -> IntArray:
    """Return the nearest other class of each chosen one, the first of several, shape (chosen,), int64."""
    lengths = norms(averages)
    nearest = np.empty(len(chosen), dtype=np.int64)
    width = max(1, CELLS_AT_ONCE // len(averages))
    for start in range(0, len(chosen), width):
        own = chosen[start : start + width]
        distances = averages[own] @ (-2.0 * averages.T)
        distances += lengths
        distances += lengths[own, None]
        distances[np.arange(len(own)), own] = np.inf
        nearest[start : start + width] = distances.argmin(axis=1)
    return nearest
