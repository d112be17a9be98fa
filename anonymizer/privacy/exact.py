"""Exact verdicts at a threshold: float64 decides the clear cases, rational arithmetic the close ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from anonymizer.core.arrays import BoolArray, FloatArray

CLOSE = 1e-9
"""Relative distance to a threshold below which float64 is not trusted; its error is below 1e-12 here."""


def settle(
    held: BoolArray,
    margins: FloatArray,
    scale: float,
    signature: Callable[[int], Hashable],
    exactly: Callable[[int], bool],
) -> BoolArray:
    """Replace the verdicts that rounding could have decided by exact ones.

    Parameters
    ----------
    held: the verdicts by float64, shape (classes,); changed in place.
    margins: distance of each score to its threshold, shape (classes,).
    scale: size of the threshold; margins below ``CLOSE`` times it are settled exactly.
    signature: of one class; classes with equal signatures have equal verdicts and are computed once.
    exactly: the verdict on one class by exact arithmetic.
    """
    known: dict[Hashable, bool] = {}
    for position in np.flatnonzero(np.abs(margins) <= CLOSE * max(1.0, scale)).tolist():
        key = signature(position)
        if key not in known:
            known[key] = exactly(position)
        held[position] = known[key]
    return held


def _prime_factors(number: int) -> Counter[int]:
    factors: Counter[int] = Counter()
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors[divisor] += 1
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        factors[number] += 1
    return factors


def sign_of_log_sum(terms: Sequence[tuple[int, int]]) -> int:
    """Return the sign of sum(weight * ln(number)), exactly.

    The sum is zero iff the product of the powers is 1, which the prime factors tell; otherwise decimals of
    growing precision settle the sign.

    Parameters
    ----------
    terms: (weight, number) pairs of integers, numbers at least 1.

    >>> sign_of_log_sum([(3, 3), (-3, 3)])
    0
    >>> sign_of_log_sum([(1, 9), (-2, 3)]), sign_of_log_sum([(1, 8), (-2, 3)])
    (0, -1)
    """
    powers: Counter[int] = Counter()
    for weight, number in terms:
        for prime, times in _prime_factors(number).items():
            powers[prime] += weight * times
    if not any(powers.values()):
        return 0
    digits = 50
    while True:
        with localcontext() as context:
            context.prec = digits
            total = sum((times * Decimal(prime).ln() for prime, times in powers.items()), Decimal(0))
            scale = sum(abs(times) * Decimal(prime).ln() for prime, times in powers.items())
            if abs(total) > scale * Decimal(10) ** (8 - digits):
                return 1 if total > 0 else -1
        digits *= 2


def log_of(value: Fraction, digits: int = 60) -> Decimal:
    """Return ln(value) to a precision that no comparison with a decimal of fewer digits can need more of."""
    with localcontext() as context:
        context.prec = digits
        return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()
