"""Names for the array types that the core hands around."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]


def freeze(array: NDArray[np.generic]) -> None:
    """Make an array that is shared between values read-only."""
    array.setflags(write=False)
