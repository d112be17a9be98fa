"""Linear conditions that every class of enough entropy meets and a given one does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.privacy.conditions import CountConditions
from anonymizer.privacy.exact import has_entropy

FLAT = 0.01
"""The largest slope of the entropy that is not told from 0."""


@dataclass(frozen=True, eq=False)
class Cut:
    """The weighted counts of some cells add up to 0 or more.

    Attributes
    ----------
    cells: positions, shape (cells of the cut,), int64.
    weights: shape (cells of the cut,), float64.
    """

    cells: IntArray
    weights: FloatArray


def cut_off(rule: CountConditions, part: IntArray, value: IntArray, kept: IntArray) -> Iterator[Cut]:
    """Yield a cut for every part of a class that has too little entropy.

    n (H(y / n) - ln l) is concave in the counts y and grows in proportion to them, so its gradient at any
    point, as weights, is at least as large everywhere: below 0 means below the threshold. At counts of 0 it
    is infinite; a little is added there, too little to bring it to 0 at the counts to be cut off.

    Parameters
    ----------
    part, value: of each cell, shape (cells,), int64.
    kept: records of each cell that stay, shape (cells,), int64.
    """
    for l in rule.entropies:  # noqa: E741
        for own in np.unique(part[kept > 0]).tolist():
            cells = np.flatnonzero(part == own)
            _, groups = np.unique(value[cells], return_inverse=True)
            counts = np.bincount(groups, weights=kept[cells]).astype(np.float64)
            if not has_entropy([int(count) for count in counts if count], l):
                yield Cut(cells, _gradient(counts, l)[groups])


def tangents(rule: CountConditions, part: IntArray, value: IntArray, kept: FloatArray) -> Iterator[Cut]:
    """Yield the same for counts that need not be whole, where clearly too little entropy is left.

    The gradient is taken where the way from there to even counts reaches the threshold: that cut touches what
    has enough entropy, and fewer are needed.
    """
    for l in rule.entropies:  # noqa: E741
        for own in np.unique(part[kept > 0]).tolist():
            cells = np.flatnonzero(part == own)
            _, groups = np.unique(value[cells], return_inverse=True)
            counts = np.bincount(groups, weights=kept[cells]).astype(np.float64)
            if _lacking(counts, l) > 1e-7 * counts.sum():
                weights = _gradient(_border(counts, l), l)
                # Around even counts the entropy is flat and its gradient there mostly rounding.
                clear = np.abs(weights).max() > FLAT
                yield Cut(cells, (weights if clear else _gradient(counts, l))[groups])


def _lacking(counts: FloatArray, l: Fraction) -> float:  # noqa: E741
    """Return n (ln l - H)."""
    positive = counts[counts > 0]
    size = counts.sum()
    return float(size * np.log(float(l)) - positive @ np.log(size / positive))


def _border(counts: FloatArray, l: Fraction) -> FloatArray:  # noqa: E741
    """Return the counts nearest to the given ones, on the way to even ones, that have enough entropy."""
    even = np.full_like(counts, counts.mean())
    if _lacking(even, l) > 0:
        return counts
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        lacking = _lacking(counts + middle * (even - counts), l) > 0
        low, high = (middle, high) if lacking else (low, middle)
    border: FloatArray = counts + high * (even - counts)
    return border


def _gradient(counts: FloatArray, l: Fraction) -> FloatArray:  # noqa: E741
    lacking = _lacking(counts, l)
    added = np.where(counts > 0, 0.0, min(0.5, max(lacking, 1e-9) / (4 * len(counts))))
    smooth = counts + added
    gradient: FloatArray = np.log(smooth.sum() / (float(l) * smooth))
    return gradient
