"""What of an attribute a region may not take apart: its values, or its nodes at the lowest allowed level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.table import QuasiIdentifier
from anonymizer.search.regions.segments import Segments


@dataclass(frozen=True, eq=False)
class Units:
    """The values of an attribute, grouped by their nodes at the lowest allowed level.

    Attributes
    ----------
    of_code: unit of each of the column's codes, shape (values,), int64; units go by their lowest code.
    members: codes sorted by unit, shape (values,), int64.
    low_code, high_code: lowest and highest code of each unit, shape (units,), int64.
    sizes, records: values of each unit and records with them, shape (units,), int64.
    low, high: smallest and largest number of each unit, shape (units,), float64; infinite without one.
    missing: whether the missing value is among them, shape (units,), bool.
    """

    of_code: IntArray
    members: IntArray
    low_code: IntArray
    high_code: IntArray
    sizes: IntArray
    records: IntArray
    low: FloatArray
    high: FloatArray
    missing: BoolArray

    @property
    def number(self) -> int:
        """How many units there are."""
        return len(self.sizes)


def units(attribute: QuasiIdentifier) -> Units:
    """Return the units of an attribute."""
    column = attribute.column
    _, lowest, node_of = np.unique(attribute.nodes(attribute.minimum), return_index=True, return_inverse=True)
    rank = np.empty(len(lowest), dtype=np.int64)
    rank[np.argsort(lowest)] = np.arange(len(lowest))
    of_code = rank[node_of]
    members = np.argsort(of_code, kind="stable")
    groups = Segments(of_code[members], len(lowest))
    numbers = np.full(column.size, np.nan) if column.numbers is None else column.numbers
    known = numbers[members]
    missing = members == (-1 if column.missing is None else column.missing)
    return Units(
        of_code,
        members,
        groups.lowest(members),
        groups.highest(members),
        groups.total(np.ones_like(members)),
        groups.total(column.counts[members]),
        np.minimum.reduceat(np.where(np.isnan(known), np.inf, known), groups.starts),
        np.maximum.reduceat(np.where(np.isnan(known), -np.inf, known), groups.starts),
        np.logical_or.reduceat(missing, groups.starts),
    )
