"""Rows of a recoding in the order of the table that they are parts of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.table import Table
from anonymizer.search.regions.regions import Regions


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that regions make of a table, one for each combination and region that it has records in.

    Attributes
    ----------
    table: the searched one, or one with combinations in parts where some lie in several regions.
    owner: combination of each row, ascending, None where each has one row.
    region_of: region of each row, shape (rows,), int64.
    suppressed, removed: shape (rows,), bool.
    """

    table: Table
    owner: IntArray | None
    region_of: IntArray
    suppressed: BoolArray
    removed: BoolArray


def rows_of(table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray) -> Rows:
    """Sort the rows of regions by combination; ``suppressed`` and ``removed`` are of shape (regions,)."""
    divided = len(regions.owner) > table.combinations
    if not divided:
        region_of = np.empty(table.combinations, dtype=np.int64)
        region_of[regions.owner] = regions.region_of
        return Rows(table, None, region_of, suppressed[region_of], removed[region_of])
    order = np.argsort(regions.owner, kind="stable")
    owner, region_of = regions.owner[order], regions.region_of[order]
    return Rows(
        table.split(owner, regions.counts[order]),
        owner,
        region_of,
        suppressed[region_of],
        removed[region_of],
    )
