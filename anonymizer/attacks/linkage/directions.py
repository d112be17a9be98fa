"""The direction of numbers in other units: years of birth fall where ages rise.

Whether the numbers of a column run against those of the original follows from either file alone: its ranks
correlate with those of the other columns, and its distribution leans to one side. A column that runs the same
way in both is far more common, so that it takes evidence to read one backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from anonymizer.attacks.linkage.distances import ComparisonSpace, Numbers, rank_scale
from anonymizer.attacks.linkage.unknown import covers_all
from anonymizer.model.arrays import FloatArray, IntArray

RARE = 3.0
"""Evidence, in logarithms of odds, that it takes to read a column backwards."""

SURE = 6.0
"""Difference in evidence from which only the better directions are tried."""

OTHERS = 2
"""Maximum number of further directions that are tried."""

LEANING = 0.57
"""Variance of the difference of mean and median of normal values, in deviations, times their number."""


def directed(space: ComparisonSpace) -> list[ComparisonSpace]:
    """Return the space with the likeliest directions of its columns, then with others nearly as likely.

    Only numbers in other units have an unknown direction.
    """
    foreign = [position for position, own in enumerate(space.rescaled) if own is not None]
    if not foreign:
        return [space]
    agreement, leaning = _evidence(space)
    best: frozenset[int] = frozenset()
    while True:
        near = {best: 0.0} | {best ^ flipped: 0.0 for flipped in _flips(foreign)}
        near = {each: _score(each, agreement, leaning) for each in near}
        better = max(near, key=lambda each: near[each])
        if near[better] <= near[best]:
            break
        best = better
    others = sorted(
        (each for each in near if each != best and near[each] > near[best] - SURE),
        key=lambda each: (-near[each], sorted(each)),
    )
    return [replace(space, mirrored=each) for each in (best, *others[:OTHERS])]


def _flips(positions: Sequence[int]) -> list[frozenset[int]]:
    """Return every column, and every two of them."""
    return [frozenset(some) for size in (1, 2) for some in combinations(positions, size)]


def _score(mirrored: frozenset[int], agreement: FloatArray, leaning: FloatArray) -> float:
    """Return the evidence for reading these columns backwards, the others as they are."""
    signs = np.ones(len(leaning))
    signs[list(mirrored)] = -1
    return float(signs @ agreement @ signs) / 2 + float(signs @ leaning) - RARE * len(mirrored)


def _evidence(space: ComparisonSpace) -> tuple[FloatArray, FloatArray]:
    """Return how far correlations agree, shape (columns, columns), and how far columns lean alike.

    With n records, two correlations r and s of independent normal values have the log odds n r s for equal
    signs.
    """
    files = [_of_original(space), _of_release(space)]
    number = min(float(weights.sum()) for _, weights in files)
    correlations, leanings = zip(*(_shape(values, weights) for values, weights in files), strict=True)
    agreement = number * correlations[0] * correlations[1]
    np.fill_diagonal(agreement, 0.0)
    return agreement, number * leanings[0] * leanings[1] / LEANING


def _of_original(space: ComparisonSpace) -> tuple[FloatArray, IntArray]:
    """Return the numbers of the held rows, NaN for others, shape (rows, columns), and their records."""
    columns = []
    for meaning, codes in zip(space.meanings, space.originals.T, strict=True):
        numbers = meaning.column.numbers
        own = np.full(len(codes), np.nan) if numbers is None else numbers[codes]
        columns.append(np.where(codes < 0, np.nan, own))
    return np.stack(columns, axis=1), space.records


def _of_release(space: ComparisonSpace) -> tuple[FloatArray, IntArray]:
    """Return the middle of published numbers, NaN for others, shape (classes, columns), and the records."""
    columns = []
    for meaning, texts in zip(space.meanings, space.classes.T, strict=True):
        middle = np.where(covers_all(meaning), np.nan, (meaning.low + meaning.high) / 2)
        columns.append(middle[texts])
    return np.stack(columns, axis=1), space.sizes


def _shape(values: FloatArray, records: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the correlations of ranks, and mean less median of each column in deviations; 0 if constant."""
    ranks, leaning = np.zeros_like(values), np.zeros(values.shape[1])
    for position, column in enumerate(values.T):
        known = ~np.isnan(column)
        if known.any():
            distinct, place = np.unique(column[known], return_inverse=True)
            numbers = Numbers(distinct, np.bincount(place, weights=records[known]).astype(np.int64))
            ranks[known, position] = rank_scale(numbers)(column[known]) - 0.5
            median = float(distinct[np.searchsorted(np.cumsum(numbers.counts), records[known].sum() / 2)])
            leaning[position] = (numbers.mean - median) / (numbers.deviation or np.inf)
    covariance = (ranks * records[:, None]).T @ ranks
    size = np.sqrt(np.diag(covariance))
    correlation: FloatArray = covariance / np.maximum(np.outer(size, size), np.finfo(float).tiny)
    return correlation, leaning
