"""Sizes that grow from level to level so that every group lies within one of the next level."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

N = TypeVar("N", int, Decimal)


def nested(sizes: Sequence[N]) -> Sequence[N]:
    """Return the sizes if each is a multiple of the one before and larger.

    Raises
    ------
    ValueError: they would not nest.
    """
    for smaller, larger in pairwise(sizes):
        if larger <= smaller or Fraction(larger) % Fraction(smaller) != 0:
            raise ValueError(
                f"{larger} after {smaller}; accepted: ascending, each a multiple of the one before"
            )
    return sizes
