"""Published texts spread in equal parts over what they stand for, as whoever knows nothing more would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class UniformExpansion:
    """Pairs of a text and a value it stands for, and the value's part in it.

    Attributes
    ----------
    texts, values: shape (pairs,), int64.
    shares: shape (pairs,), float64; those of a text add up to 1. What stands for nothing is in no pair.
    """

    texts: IntArray
    values: IntArray
    shares: FloatArray


def expand_uniformly(meaning: ValueCoverage) -> UniformExpansion:
    """Return the parts of each text of a column.

    A text stands for each of its values in equal parts; a number that no original record has, such as a mean,
    for the nearest that one has, the lower of two.
    """
    sizes = meaning.sizes
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shares = 1 / sizes[owners]
    numbers = meaning.column.numbers
    alone = np.flatnonzero((sizes == 0) & ~np.isnan(meaning.low))
    if numbers is None or not len(alone):
        return UniformExpansion(owners, meaning.values, shares)
    nearest = _nearest(numbers[: len(meaning.column.present)], meaning, alone)
    return UniformExpansion(
        np.concatenate([owners, alone]),
        np.concatenate([meaning.values, nearest]),
        np.concatenate([shares, np.ones(len(alone))]),
    )


def _nearest(present: FloatArray, meaning: ValueCoverage, texts: IntArray) -> IntArray:
    if len(present) < 2:
        return np.zeros(len(texts), dtype=np.int64)
    middle = (meaning.low[texts] + meaning.high[texts]) / 2
    above = np.clip(np.searchsorted(present, middle), 1, len(present) - 1)
    nearest: IntArray = np.where(middle - present[above - 1] <= present[above] - middle, above - 1, above)
    return nearest
