"""What is remembered of a group of rows, such that the traces of two groups give that of both together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from anonymizer.core.arrays import IntArray


class Reduction(StrEnum):
    """How the numbers of a group become one; the names are those of the aggregates in SQL."""

    OR = "bit_or"
    AND = "bit_and"
    MIN = "min"
    MAX = "max"

    @property
    def ufunc(self) -> np.ufunc:
        """The function of two numbers that is repeated."""
        return _UFUNCS[self]

    @property
    def identity(self) -> int:
        """What changes no other number: the trace of a group without rows."""
        return _IDENTITIES[self]


_UFUNCS = {
    Reduction.OR: np.bitwise_or,
    Reduction.AND: np.bitwise_and,
    Reduction.MIN: np.minimum,
    Reduction.MAX: np.maximum,
}
_IDENTITIES = {
    Reduction.OR: 0,
    Reduction.AND: -1,
    Reduction.MIN: int(np.iinfo(np.int64).max),
    Reduction.MAX: -1,
}


@dataclass(frozen=True)
class GroupStatistic:
    """One number that is remembered of a group of rows.

    Attributes
    ----------
    column: position of the column of the coded rows that it is computed from.
    """

    column: int
    reduction: Reduction


Traces = list[IntArray]
"""For each trace of a coding its number for each group, shape (groups,), int64."""
