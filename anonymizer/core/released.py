"""What a loss metric looks at: a recoding of a table and the classes it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anonymizer.core.arrays import IntArray
from anonymizer.core.recoding import Recoding
from anonymizer.core.table import Table


@dataclass(frozen=True, eq=False)
class Released:
    """A recoding with its equivalence classes.

    Attributes
    ----------
    class_sizes: records of each class that was not suppressed, shape (classes,), int64.
    kept_suppressed: suppressed records that stay in the release, with ``*`` in every quasi-identifier.
    suppressed: all suppressed records, the starred ones among them.
    k: of the config's k-anonymity, None without one.
    """

    table: Table
    recoding: Recoding
    class_sizes: IntArray
    kept_suppressed: int
    suppressed: int
    k: int | None

    @property
    def records(self) -> int:
        """Number of input records, N."""
        return self.table.records

    @property
    def merged(self) -> Released:
        """The same of the recoding over fewer rows."""
        merged = self.recoding.merged
        return replace(self, table=merged.table, recoding=merged)

    @property
    def classes(self) -> int:
        """Number of equivalence classes of the release; the starred records form one."""
        return len(self.class_sizes) + (1 if self.kept_suppressed else 0)


def released(recoding: Recoding, k: int | None) -> Released:
    """Count the classes that a recoding publishes of its table."""
    merged = recoding.merged
    counts = merged.table.counts
    kept_suppressed = int(counts[merged.suppressed & ~merged.removed].sum())
    suppressed = int(counts[merged.suppressed].sum())
    return Released(recoding.table, recoding, merged.class_sizes(), kept_suppressed, suppressed, k)
