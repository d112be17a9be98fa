"""Attributes of many values, put together to few."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column
from anonymizer.utility.estimate import Bins


def binned(column: Column, records: FloatArray, most: int) -> Bins:
    """Return bins of a column's values, one for each where there are few enough.

    Numbers and dates: consecutive values with about as many records in each bin, missing ones beside them.
    Texts: the most frequent values have bins of their own, all others one together.

    Parameters
    ----------
    records: with each value, shape (values,).
    most: bins, at least 2; a missing number comes on top.
    """
    if column.size <= most:
        return Bins(column.name, np.arange(column.size), column.size)
    if column.type.ordered:
        return _of_ordered(column, records, most)
    rank = np.empty(column.size, dtype=np.int64)
    rank[np.argsort(-records, kind="stable")] = np.arange(column.size)
    return Bins(column.name, np.minimum(rank, most - 1), most)


def _of_ordered(column: Column, records: FloatArray, most: int) -> Bins:
    present = len(column.present)
    own = records[:present]
    middle = (np.cumsum(own) - own / 2) / max(own.sum(), 1)
    parts = np.minimum((middle * most).astype(np.int64), most - 1)
    of_value: IntArray = np.unique(parts, return_inverse=True)[1].astype(np.int64)
    if column.missing is not None:
        of_value = np.append(of_value, int(of_value.max(initial=-1)) + 1)
    return Bins(column.name, of_value, int(of_value.max()) + 1)
