"""Numbering the distinct combinations of several columns of codes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.core.grouping import group_keys
from anonymizer.core.packing import Packing


def numbered(columns: Iterable[IntArray | CodeArray], rows: int) -> tuple[IntArray, IntArray]:
    """Number the distinct combinations in lexicographic order.

    Parameters
    ----------
    columns: codes, shape (rows,) each, none negative.
    rows: how many there are.

    Returns
    -------
    Number of each row's combination, shape (rows,), int64, and the first row with each, shape (distinct,).
    """
    keys, number = np.zeros(rows, dtype=np.int64), min(rows, 1)
    for column in columns:
        size = int(column.max(initial=0)) + 1
        keys, distinct = group_keys(keys * size + column, number * size)
        number = len(distinct)
    first = np.empty(number, dtype=np.int64)
    first[keys[::-1]] = np.arange(rows)[::-1]
    return keys, first


def ascending(columns: Iterable[IntArray | CodeArray], rows: int) -> bool:
    """Tell whether all combinations differ and stand in lexicographic order, as ``numbered`` gives them."""
    packing = Packing(rows)
    for column in columns:
        packing.add(column, int(column.max(initial=0)) + 1)
    keys = packing.take_keys()
    return bool((keys[1:] > keys[:-1]).all())
