"""What a loss metric looks at: a recoding of a table and the classes it makes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.core.grouping import count, group_keys
from anonymizer.core.recoding import Recoding
from anonymizer.core.table import Table


@dataclass(frozen=True, eq=False)
class Released:
    """A recoding with its equivalence classes.

    Attributes
    ----------
    class_sizes: records of each class that was not suppressed, shape (classes,), int64.
    starred: suppressed records that stay in the release, with ``*`` in every quasi-identifier.
    suppressed: all suppressed records, the starred ones among them.
    k: of the config's k-anonymity, None without one.
    """

    table: Table
    recoding: Recoding
    class_sizes: IntArray
    starred: int
    suppressed: int
    k: int | None

    @property
    def records(self) -> int:
        """Number of input records, N."""
        return self.table.records

    @property
    def classes(self) -> int:
        """Number of equivalence classes of the release; the starred records form one."""
        return len(self.class_sizes) + (1 if self.starred else 0)


def released(recoding: Recoding, k: int | None) -> Released:
    """Count the classes that a recoding publishes of its table."""
    table, kept = recoding.table, ~recoding.suppressed
    keys, number = np.zeros(int(kept.sum()), dtype=np.int64), 1
    for column in recoding.class_columns():
        labels = len(column.labels)
        keys, distinct = group_keys(keys * labels + column.codes[kept], number * labels)
        number = len(distinct)
    starred = int(table.counts[recoding.suppressed & ~recoding.removed].sum())
    suppressed = int(table.counts[recoding.suppressed].sum())
    sizes = count(keys, table.counts[kept], number) if kept.any() else np.zeros(0, dtype=np.int64)
    return Released(table, recoding, sizes, starred, suppressed, k)
