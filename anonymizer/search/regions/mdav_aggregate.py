"""Aggregates of numbers by class, rounded to what is published."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import QuasiIdentifier, ValueType
from anonymizer.search.regions.mdav_space import numbers_of, span_of

DIGITS = 6
"""Published means have so many significant digits of the attribute's range: a coarser one hardly costs."""

PRECISE_DIGITS = 15
"""Decimal digits that float64 carries."""

SMALLEST_EXPONENT = -308
"""The inverse of a smaller power of ten is no float64."""


@dataclass(frozen=True, eq=False)
class Members:
    """The known values of one attribute, by class.

    Attributes
    ----------
    group: class of each, shape (members,), int64.
    numbers: shape (members,), float64, finite.
    records: with each, shape (members,), int64.
    classes: how many there are; one without members has a NaN for its aggregate.
    """

    group: IntArray
    numbers: FloatArray
    records: IntArray
    classes: int


class Aggregate(ABC):
    """One number for many."""

    @abstractmethod
    def of(self, members: Members) -> FloatArray:
        """Return the aggregate of each class, shape (classes,), float64."""


class Mean(Aggregate):
    """The arithmetic mean."""

    def of(self, members: Members) -> FloatArray:
        """Return the mean of each class."""
        weights = members.records.astype(np.float64)
        sizes = np.bincount(members.group, weights, members.classes)
        sums = np.bincount(members.group, weights * members.numbers, members.classes)
        means: FloatArray = np.divide(sums, sizes, out=np.full(members.classes, np.nan), where=sizes > 0)
        return means


class Median(Aggregate):
    """The median; of an even number of records the mean of the two in the middle."""

    def of(self, members: Members) -> FloatArray:
        """Return the median of each class."""
        sizes = np.bincount(members.group, members.records, members.classes).astype(np.int64)
        order = np.lexsort((members.numbers, members.group))
        ends = np.cumsum(members.records[order])
        before = np.cumsum(sizes) - sizes
        some = sizes > 0
        lower = np.searchsorted(ends, (before + (sizes - 1) // 2)[some], side="right")
        upper = np.searchsorted(ends, (before + sizes // 2)[some], side="right")
        numbers = members.numbers[order]
        medians = np.full(members.classes, np.nan)
        medians[some] = numbers[lower] / 2 + numbers[upper] / 2
        return medians


class AggregateName(StrEnum):
    """What is published of a class."""

    MEAN = "mean"
    MEDIAN = "median"


AGGREGATES: Mapping[AggregateName, Aggregate] = {
    AggregateName.MEAN: Mean(),
    AggregateName.MEDIAN: Median(),
}


def step_exponent(attribute: QuasiIdentifier) -> int:
    """Return the power of ten to which an attribute's aggregates are rounded; whole days for dates."""
    half = span_of(attribute)
    if attribute.column.type is ValueType.DATE or half == 0:
        return 0
    largest = float(np.nanmax(np.abs(numbers_of(attribute))))
    leading = np.floor(np.log10(half) + np.log10(2.0)) + 1 - DIGITS
    return int(max(leading, np.floor(np.log10(largest)) + 1 - PRECISE_DIGITS, SMALLEST_EXPONENT))


def rounded(numbers: FloatArray, exponent: int) -> FloatArray:
    """Round to multiples of a power of ten, each the float64 nearest to the decimal, shape as given."""
    if exponent >= 0:
        return np.rint(numbers / 10.0**exponent) * 10.0**exponent
    # A division of whole numbers is rounded correctly, a product with 0.1 is not.
    return np.rint(numbers * 10.0**-exponent) / 10.0**-exponent
