"""What published values cost by the range of their numbers, from the largest to the smallest floats."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from anonymizer.model.table import Column, PublishedValues, ValueType

LARGEST = sys.float_info.max
SMALLEST = 5e-324


def numbers(*values: float) -> Column:
    texts = tuple(map(str, values))
    counts = np.ones(len(values), dtype=np.int64)
    return Column("q", ValueType.NUMBER, texts, counts, np.array(values), None)


def intervals(*ranges: tuple[float, float]) -> PublishedValues:
    low, high = np.array(ranges).T
    ones = np.ones(len(ranges), dtype=np.int64)
    return PublishedValues(None, ones, ones, low, high, np.zeros(len(ranges), dtype=bool), None)


@pytest.mark.parametrize(
    ("values", "ranges", "costs"),
    [
        ((-LARGEST, 0.0, LARGEST), ((-LARGEST, LARGEST), (0.0, LARGEST), (0.0, 0.0)), [1, 0.5, 0]),
        ((0.0, SMALLEST), ((0.0, SMALLEST), (SMALLEST, SMALLEST)), [1, 0]),
        ((1.0, 3.0, 9.0), ((1.0, 3.0), (3.0, 9.0)), [0.25, 0.75]),
        ((2.0,), ((2.0, 2.0),), [0]),
    ],
)
def test_the_range_of_the_column_is_one(
    values: tuple[float, ...], ranges: tuple[tuple[float, float], ...], costs: list[float]
) -> None:
    assert intervals(*ranges).range_costs(numbers(*values)).tolist() == costs
