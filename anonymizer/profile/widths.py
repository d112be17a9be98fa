"""Widths of intervals that suit a column of numbers."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

import numpy as np

from anonymizer.model.table import ValueType
from anonymizer.profile.facts import ColumnFacts

INTERVALS = 32
"""Narrowest intervals that the middle of a column is divided into, about."""

LEVELS = 5
"""Levels of intervals, each twice as wide as the one before, so that the widest are half of the middle."""

TAIL = 0.01
"""Share of the records at either end that does not decide about the widths."""

TOO_FULL = 0.6
"""Share of the other records beside the most frequent value that one narrowest interval may hold."""


def widths_of(column: ColumnFacts) -> list[Decimal]:
    """Return the widths of nested intervals, none where intervals of equal width do not suit a column.

    The narrowest is 1, 2 or 5 times a power of ten.
    """
    numbers, weights = column.numbers, column.weights
    if not len(numbers):
        return []
    upto = np.cumsum(weights) / weights.sum()
    low, high = (float(numbers[np.searchsorted(upto, share)]) for share in (TAIL, 1 - TAIL))
    if not high > low:
        return []
    narrowest = nice((high - low) / INTERVALS)
    if column.type is ValueType.INTEGER:
        narrowest = max(narrowest, Decimal(2))
    if _fullest(column, float(narrowest)) > TOO_FULL:
        return []
    return [narrowest * 2**level for level in range(LEVELS)]


def nice(width: float) -> Decimal:
    """Return the smallest of 1, 2, 5 times a power of ten that is no smaller.

    >>> [str(nice(width)) for width in (0.03, 1.0, 3.1, 70)]
    ['0.05', '1', '5', '100']
    """
    exact = Decimal(repr(width))
    power = Decimal(1).scaleb(exact.adjusted())
    steps = (exact / power).quantize(Decimal("1.000"), rounding=ROUND_CEILING)
    found = next(step for step in (1, 2, 5, 10) if step >= steps) * power
    return Decimal(int(found)) if found == found.to_integral_value() else found.normalize()


def _fullest(column: ColumnFacts, width: float) -> float:
    """Return the largest share of records in one interval, the most frequent value left out."""
    weights = column.weights.copy()
    weights[int(np.argmax(weights))] = 0
    others = int(weights.sum())
    _, place = np.unique(np.floor(column.numbers / width), return_inverse=True)
    return float(np.bincount(place, weights).max()) / others if others else 0.0
