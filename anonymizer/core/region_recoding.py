"""A recoding that publishes the same values for all records of a region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anonymizer.core.arrays import BoolArray, CodeArray, IntArray
from anonymizer.core.recoding import Cells, Recoding
from anonymizer.core.shared_recoding import SharedRecoding
from anonymizer.core.table import Table
from anonymizer.core.values import PublishedValues


@dataclass(frozen=True, eq=False)
class RegionColumn:
    """What one quasi-identifier is published as in each region.

    Attributes
    ----------
    values: that are published, with their ``labels``, shape (values,).
    of_region: position in ``values`` for each region, shape (regions,), int32.
    """

    values: PublishedValues
    labels: Sequence[str]
    of_region: CodeArray


class RegionRecoding(SharedRecoding):
    """Multidimensional recoding: each row lies in a region, which has one published value per attribute.

    Parameters
    ----------
    columns: one per quasi-identifier, in the order of the table.
    region_of: region of each row of the table, shape (rows,), int64.
    facts: further entries of the report's ``recoding``.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[RegionColumn],
        region_of: IntArray,
        suppressed: BoolArray,
        removed: BoolArray,
        owner: IntArray | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.table = table
        self.suppressed = suppressed
        self.removed = removed
        self.owner = owner
        self._columns = columns
        self.region_of = region_of
        self._facts = dict(facts or {})

    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier by its regions."""
        column = self._columns[position]
        return Cells(column.values, column.labels, column.of_region)

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding with one row for each region, its sensitive values, and its fate."""
        if type(self) is not RegionRecoding:
            # A subclass may tell rows apart by more than their region.
            return self
        table, region_of, suppressed, removed = self.merged_rows()
        return RegionRecoding(table, self._columns, region_of, suppressed, removed, facts=self._facts)

    def describe(self) -> dict[str, Any]:
        """Return that there are no levels, and the further facts."""
        return super().describe() | self._facts
