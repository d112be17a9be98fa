"""What the values stand for that a quasi-identifier is published as: nodes, intervals, sets, aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.core.hierarchy import Hierarchy

if TYPE_CHECKING:
    from anonymizer.core.table import Column


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """Facts of values that one quasi-identifier may be published as; loss metrics are functions of these.

    Attributes
    ----------
    leaves: of the hierarchy that each value stands for, shape (values,), int64; None where the loss goes by
        the range of numbers: numbers without a hierarchy, and aggregated values.
    covered: distinct values of the input that each stands for, shape (values,), int64.
    records: of the input with one of those, shape (values,), int64.
    low, high: smallest and largest number among those, shape (values,), float64; NaN where there is none.
    mixed: whether it stands for a missing value and for others, shape (values,), bool.
    levels: generalization level of each value, shape (values,), int32; None unless all are nodes.
    """

    leaves: IntArray | None
    covered: IntArray
    records: IntArray
    low: FloatArray
    high: FloatArray
    mixed: BoolArray
    levels: CodeArray | None

    def take(self, positions: IntArray) -> PublishedValues:
        """Return the values at some positions, shape (positions,)."""
        return PublishedValues(
            None if self.leaves is None else self.leaves[positions],
            self.covered[positions],
            self.records[positions],
            self.low[positions],
            self.high[positions],
            self.mixed[positions],
            None if self.levels is None else self.levels[positions],
        )

    def joined(self, other: PublishedValues) -> PublishedValues:
        """Return these values followed by others; what only one side knows is known of none."""
        return PublishedValues(
            _both(self.leaves, other.leaves),
            np.concatenate([self.covered, other.covered]),
            np.concatenate([self.records, other.records]),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
            np.concatenate([self.mixed, other.mixed]),
            None
            if self.levels is None or other.levels is None
            else np.concatenate([self.levels, other.levels]),
        )

    def range_costs(self, column: Column) -> FloatArray:
        """Return (high - low) / (max - min) over the numbers of a column, shape (values,), in [0, 1].

        1 for what stands for a missing value and others, 0 for one number, where max = min, and for missing.
        """
        numbers = column.numbers
        if numbers is None or np.isnan(numbers).all():
            return np.where(self.mixed, 1.0, 0.0)
        lowest, highest = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        # A difference of two numbers may be too large for a float; that of their halves is not.
        unit = 1.0 if isfinite(highest - lowest) else 0.5
        span = unit * highest - unit * lowest
        width = np.where(np.isnan(self.high), 0.0, unit * self.high - unit * self.low)
        costs = width / span if span > 0 else np.zeros(len(width))
        return np.where(self.mixed, 1.0, costs)


def _both(one: IntArray | None, other: IntArray | None) -> IntArray | None:
    return None if one is None or other is None else np.concatenate([one, other])


def values_of_nodes(
    column: Column, hierarchy: Hierarchy, leaf: CodeArray, *, by_range: bool
) -> PublishedValues:
    """Return what each node of a hierarchy stands for, in the order of the nodes.

    Parameters
    ----------
    leaf: leaf position of each of the column's codes, shape (values,), int32.
    by_range: whether the loss of the attribute goes by the range of its numbers.
    """
    nodes = len(hierarchy.labels)
    covered, records = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    low, high = np.full(nodes, np.inf), np.full(nodes, -np.inf)
    missing = np.zeros(nodes, dtype=bool)
    numbers = np.full(column.size, np.nan) if column.numbers is None else column.numbers
    known = ~np.isnan(numbers)
    for level in range(hierarchy.height + 1):
        own = hierarchy.ancestors[level, leaf]
        covered += np.bincount(own, minlength=nodes)
        records += np.bincount(own, weights=column.counts, minlength=nodes).astype(np.int64)
        np.minimum.at(low, own[known], numbers[known])
        np.maximum.at(high, own[known], numbers[known])
        if column.missing is not None:
            missing[own[column.missing]] = True
    some = high >= low
    return PublishedValues(
        None if by_range else hierarchy.leaf_counts(),
        covered,
        records,
        np.where(some, low, np.nan),
        np.where(some, high, np.nan),
        missing & (covered > 1),
        hierarchy.level,
    )
