"""A recoding that keeps records exact and gives each a group that has its sensitive value and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anonymizer.core.arrays import BoolArray, IntArray
from anonymizer.core.recoding import FullDomainRecoding, PublishedColumn
from anonymizer.core.table import Table

GROUP = "group"
"""Name of the column that joins the two tables."""

COUNT = "count"
"""Name of the column that says how many records of a group have a sensitive value."""


class GroupRecoding(FullDomainRecoding):
    """Anatomy: quasi-identifiers in one table, the sensitive values of each group of records in another.

    The equivalence classes are the groups, whatever their records' quasi-identifiers are.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), definition 3.

    Parameters
    ----------
    levels: at which the quasi-identifiers are published, the lowest that they may have.
    group_of: group of each row of the table, from 0, shape (rows,), int64; -1 for removed rows.
    removed: suppressed rows, shape (rows,), bool.
    facts: further entries of the report's ``recoding``.
    """

    along_hierarchies = False

    def __init__(
        self,
        table: Table,
        levels: Sequence[int],
        group_of: IntArray,
        removed: BoolArray,
        owner: IntArray | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(table, levels, removed, removed, owner)
        self.group_of = group_of
        self._facts = dict(facts or {})

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.group_of.max(initial=-1)) + 1

    def class_columns(self) -> tuple[PublishedColumn, ...]:
        """Return the group of each row, named from 1."""
        labels = tuple(str(number) for number in range(1, self.groups + 1))
        return (PublishedColumn(GROUP, labels, self.group_of.astype("int32")),)

    def describe(self) -> dict[str, Any]:
        """Return the levels and the further facts."""
        return super().describe() | self._facts
