"""How far two distributions are apart."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import Column


def total_variation(one: FloatArray, other: FloatArray, records: tuple[int, int]) -> float:
    """Return half the sum of |share - share|: the share of records that would have to change, in [0, 1].

    Parameters
    ----------
    one, other: records with each value, of the same shape.
    records: of both; what is missing in ``one`` or ``other`` has a value that the other has not.
    """
    if not records[0] or not records[1]:
        return float(records[0] != records[1])
    first, second = one / records[0], other / records[1]
    lost = abs((1 - first.sum()) - (1 - second.sum()))
    return float(min((np.abs(first - second).sum() + lost) / 2, 1.0))


def earth_movers(column: Column, one: FloatArray, other: FloatArray) -> float | None:
    """Return the earth mover's distance in parts of the range of a column's numbers, in [0, 1].

    Missing values are left out. None for texts, and where one side has no number.

    Parameters
    ----------
    one, other: records with each value, shape (values,).

    Source: Vallender, "Calculation of the Wasserstein distance between probability distributions on the line"
    (Theory of Probability and its Applications 18, 1974).
    """
    if column.numbers is None:
        return None
    present = ~np.isnan(column.numbers)
    numbers, first, second = column.numbers[present], one[present], other[present]
    if not first.sum() or not second.sum():
        return None
    # Half a number and half another always differ by a float.
    steps = np.diff(numbers / 2)
    ahead = np.cumsum(first / first.sum() - second / second.sum())[:-1]
    return float((np.abs(ahead) * steps).sum() / steps.sum()) if len(steps) else 0.0
