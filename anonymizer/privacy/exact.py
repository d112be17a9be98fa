"""Exact verdicts at a threshold: float64 decides the clear cases, rational arithmetic the close ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray

CLOSE = 1e-9
"""Relative distance to a threshold below which float64 is not trusted; its error is below 1e-12 here."""


def resolve_near_ties(
    held: BoolArray,
    margins: FloatArray,
    scale: float,
    signature: Callable[[int], Hashable],
    exactly: Callable[[int], bool],
) -> BoolArray:
    """Replace the verdicts that rounding may have decided by exact ones.

    Parameters
    ----------
    held: the verdicts by float64, shape (classes,), bool; changed in place.
    margins: distance of each score to its threshold, shape (classes,).
    scale: size of the threshold; margins below ``CLOSE`` times it are decided exactly.
    signature: from the position of a class; equal signatures have equal verdicts, computed once.
    exactly: from the position of a class, its verdict by exact arithmetic.
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

    Decimals of increasing precision decide the sign of a nonzero sum. The sum is zero iff the product of
    number**weight is 1, which common divisors decide.

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


def _is_zero(terms: Sequence[tuple[int, int]]) -> bool:
    """Return whether the product of number**weight is 1.

    Every number is a product of powers of a coprime base, and such a base is multiplicatively independent:
    the product is 1 iff every power cancels. Unlike prime factors, common divisors are quick to find.
    """
    powers: Counter[int] = Counter()
    base = _coprime_base({number for _, number in terms})
    for weight, number in terms:
        rest = number
        for factor in base:
            while rest % factor == 0:
                powers[factor] += weight
                rest //= factor
    return not any(powers.values())


def _coprime_base(numbers: Iterable[int]) -> list[int]:
    """Return pairwise coprime numbers above 1; each given number is a product of their powers."""
    base: list[int] = []
    pending = list(numbers)
    while pending:
        number = pending.pop()
        if number == 1:
            continue
        for position, factor in enumerate(base):
            common = gcd(number, factor)
            if common > 1:
                del base[position]
                pending += [number // common, factor // common, common]
                break
        else:
            base.append(number)
    return base


def log_of(value: Fraction, digits: int = 60) -> Decimal:
    """Return ln(value) to more digits than a threshold has; it is irrational unless it is 0.

    Operators round to the precision of the current context; use ``copy_abs`` and ``copy_negate``.
    """
    with localcontext() as context:
        context.prec = digits
        return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()


def has_entropy(counts: Sequence[int], l: Fraction) -> bool:  # noqa: E741
    """Return whether the entropy of a distribution, given as positive counts, is at least ln l.

    >>> has_entropy([2, 2, 2], Fraction(3)), has_entropy([3, 2, 2], Fraction(3))
    (True, False)
    """
    total = sum(counts)
    terms = [(total, total), (-total, l.numerator), (total, l.denominator)]
    return sign_of_log_sum([*terms, *((-count, count) for count in counts)]) >= 0


def exponential_of(value: Decimal, digits: int = 60) -> Fraction:
    """Return exp(min(value, 700)) to 60 digits; exp(700) exceeds any ratio of counts."""
    with localcontext() as context:
        context.prec = digits
        return Fraction(min(value, Decimal(700)).exp())
