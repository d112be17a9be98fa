"""Counts compared with shares of totals, exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray


def at_least(counts: IntArray, share: Decimal | Fraction, totals: IntArray) -> BoolArray:
    """Tell which counts are at least a share of their totals, shape as the counts, bool.

    Both sides are whole numbers: in int64 where the products fit, else in Python's.
    """
    ratio = Fraction(share)
    numerator, denominator = ratio.numerator, ratio.denominator
    largest = max(int(counts.max(initial=0)) * denominator, int(totals.max(initial=0)) * numerator)
    if largest >= 1 << 63:
        counts, totals = counts.astype(object), totals.astype(object)
    reached: BoolArray = np.asarray(counts * denominator >= totals * numerator, dtype=bool)
    return reached


def at_most(counts: IntArray, share: Decimal | Fraction, totals: IntArray) -> BoolArray:
    """Tell which counts are at most a share of their totals, shape as the counts, bool."""
    return at_least(totals - counts, 1 - Fraction(share), totals)
