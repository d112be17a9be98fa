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


def sign_of_log_sum(terms: Sequence[tuple[int, int]]) -> int:
    """Return the sign of sum(weight * ln(number)), exactly.

    Decimals of growing precision settle the sign of what is not zero. The sum is zero iff the product of the
    powers is 1, which factors tell.

    Parameters
    ----------
    terms: (weight, number) pairs of integers, numbers at least 1.

    >>> sign_of_log_sum([(3, 3), (-3, 3)])
    0
    >>> sign_of_log_sum([(1, 9), (-2, 3)]), sign_of_log_sum([(1, 8), (-2, 3)])
    (0, -1)
    """
    digits, zero = 50, None
    while True:
        with localcontext() as context:
            context.prec = digits
            logs = [weight * Decimal(number).ln() for weight, number in terms]
            total = sum(logs, Decimal(0))
            if total.copy_abs() > sum(map(abs, logs), Decimal(0)) * Decimal(10) ** (8 - digits):
                return 1 if total > 0 else -1
        zero = _is_zero(terms) if zero is None else zero
        if zero:
            return 0
        digits *= 2


FACTORED = 10**10
"""Numbers up to this size are factored; larger ones come from a threshold with many digits."""


def _is_zero(terms: Sequence[tuple[int, int]]) -> bool:
    """Tell whether the product of number**weight is 1.

    A number too large to factor is divided by the primes of the others. What is left of the numerator and the
    denominator of a threshold has no common factor, so it cancels only where it is the same.
    """
    primes = {prime for _, number in terms if number <= FACTORED for prime in _prime_factors(number)}
    powers: Counter[int] = Counter()
    for weight, number in terms:
        rest = number
        for prime in primes:
            while rest % prime == 0:
                powers[prime] += weight
                rest //= prime
        if rest > 1:
            powers[rest] += weight
    return not any(powers.values())


def _prime_factors(number: int) -> set[int]:
    factors, divisor = set(), 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors.add(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    return factors | {number} - {1}


def log_of(value: Fraction, digits: int = 60) -> Decimal:
    """Return ln(value) to more digits than a threshold has; it never equals a rational but at 0.

    Operators would round it to the digits of the current context: use ``copy_abs`` and ``copy_negate``.
    """
    with localcontext() as context:
        context.prec = digits
        return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()
