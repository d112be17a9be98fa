"""Relative gains (q - p) / p, which both beta-likenesses bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.privacy.shares import entry_shares, reference_shares


def entry_gains(view: ClassView, reference: Reference) -> FloatArray:
    """Return the relative gain of each entry, shape (entries,), infinite where p = 0."""
    shares = reference_shares(view.counted, reference)
    with np.errstate(divide="ignore"):
        return np.where(shares > 0, entry_shares(view) / shares - 1, np.inf)


def largest_gains(view: ClassView, gains: FloatArray) -> FloatArray:
    """Return the largest positive gain in each class, 0 if none, shape (classes,)."""
    largest: FloatArray = np.maximum.reduceat(gains, view.counted.starts[:-1])
    return np.maximum(largest, 0.0)


def exact_gains(entries: list[tuple[int, int]], reference: Reference) -> list[Fraction]:
    """Return the relative gain of each value of one class exactly; its values occur in the reference.

    Parameters
    ----------
    entries: (value code, count) pairs of the class.
    """
    size = sum(count for _, count in entries)
    return [
        Fraction(count * reference.total, size * int(reference.counts[value])) - 1 for value, count in entries
    ]
