"""Values of an attribute as features: one by one, numbers in bins, or compared with what is published."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymizer.attacks.exchangeable.features import ExactFeature, Feature, Similar
from anonymizer.attacks.linking.gaps import gaps_of, standard_scale
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column

REACH = 0.25
"""Gap at which likeness has fallen to 1/e: standard deviations of numbers, shares of a hierarchy's height."""

PUBLISHED_PAIRS = 1 << 16
"""Most pairs of a value and a published text that are compared; with more, values are told apart exactly."""


@dataclass(frozen=True, eq=False)
class FeatureCoding:
    """How far the values of an attribute are told apart.

    Attributes
    ----------
    feature: what the model makes of them.
    code: feature value of each value of the column, shape (values,), int64.
    bins: least and largest number of each bin, in order; none where values are told apart one by one.
    """

    feature: Feature
    code: IntArray
    bins: list[tuple[float, float]] = field(default_factory=list)


def discretize(column: Column, counts: IntArray, bins: int) -> FeatureCoding:
    """Return features that tell values apart, numbers by bins of about as many people each.

    Parameters
    ----------
    counts: people with each value of the column, shape (values,), int64.
    bins: most bins; a number of at most so many values is told apart exactly.
    """
    numbers = column.numbers
    present = len(column.present)
    if numbers is None or present <= bins:
        return FeatureCoding(ExactFeature(column.size), np.arange(column.size))
    # A value lies in the bin that the middle of its people lies in.
    known = counts[:present]
    middle = np.cumsum(known) - known / 2
    place = np.minimum((middle * bins / max(int(known.sum()), 1)).astype(np.int64), bins - 1)
    used, code = np.unique(place, return_inverse=True)
    first = np.searchsorted(code, np.arange(len(used)))
    last = np.append(first[1:], present) - 1
    edges = [(float(numbers[low]), float(numbers[high])) for low, high in zip(first, last, strict=True)]
    missing = np.full(column.size - present, len(used))
    return FeatureCoding(
        ExactFeature(len(used) + (column.size > present)),
        np.concatenate([code, missing]).astype(np.int64),
        edges,
    )


def compared(meaning: ValueCoverage, counts: IntArray, bins: int) -> FeatureCoding:
    """Return features that compare values with the published texts: a value counts toward those it is like.

    The likeness of a value and a text is exp(-gap / ``REACH``), 1 where the text stands for the value.

    Parameters
    ----------
    meaning: of the published texts.
    counts, bins: as in ``told_apart``.
    """
    exact = discretize(meaning.column, counts, bins)
    texts, values = len(meaning.sizes), meaning.column.size
    if texts * exact.feature.values > PUBLISHED_PAIRS:
        return exact
    gaps = np.abs(gaps_of(meaning, standard_scale).rows(np.arange(values)))
    likeness = np.exp(-gaps.T / REACH) * np.maximum(counts, 1)
    joined: FloatArray = np.zeros((texts, exact.feature.values))
    np.add.at(joined.T, exact.code, likeness.T)
    return FeatureCoding(Similar(joined / joined.sum(axis=1, keepdims=True)), exact.code, exact.bins)
