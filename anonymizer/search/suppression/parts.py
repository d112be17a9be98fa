"""The table of a recoding that suppresses some records of a combination and publishes the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.table import Table


@dataclass(frozen=True, eq=False)
class Parts:
    """A table whose combinations are suppressed as a whole or not at all.

    Attributes
    ----------
    table: the table itself, or one with combinations split in two.
    owner: combination of the table that was split for each row, shape (rows,), int64; None for the table
        itself.
    suppressed: which rows are suppressed, shape (rows,), bool.
    """

    table: Table
    owner: IntArray | None
    suppressed: BoolArray


def parts_of(table: Table, gone: IntArray) -> Parts:
    """Split the combinations of which some records are suppressed, what stays before what does not.

    Parameters
    ----------
    gone: records of each combination that are suppressed, shape (combinations,), int64.
    """
    partly = (gone > 0) & (gone < table.counts)
    if not partly.any():
        return Parts(table, None, gone > 0)
    owner = np.repeat(np.arange(table.combinations), np.where(partly, 2, 1))
    second = np.concatenate([[False], owner[1:] == owner[:-1]])
    suppressed = np.where(partly[owner], second, (gone > 0)[owner])
    left = table.counts - gone
    counts = np.where(suppressed, gone[owner], left[owner])
    return Parts(table.split(owner, counts), owner, suppressed)
