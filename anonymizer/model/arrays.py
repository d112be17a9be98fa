"""Types of arrays, and operations on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]


def ranks_of(order: Sequence[int]) -> CodeArray:
    """Return the inverse of a permutation, shape (positions,), int32."""
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def freeze(array: NDArray[np.generic]) -> None:
    """Make an array read-only, to share it."""
    array.setflags(write=False)
