"""What is published for each combination of the frequency table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from anonymizer.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.core.grouping import count, group_keys
from anonymizer.core.merging import merged_rows
from anonymizer.core.table import SUPPRESSED, QuasiIdentifier, Table
from anonymizer.core.values import PublishedValues


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One quasi-identifier as published.

    Attributes
    ----------
    name: of the column.
    labels: the distinct published texts, in any order, all different.
    codes: position in ``labels`` for each combination of the table, shape (combinations,), int32.
    """

    name: str
    labels: tuple[str, ...]
    codes: CodeArray


@dataclass(frozen=True, eq=False)
class Cells:
    """One quasi-identifier as recoded.

    Attributes
    ----------
    values: what it may be published as.
    labels: published text of each value; values with equal texts are one to whoever reads the release.
    codes: position in ``values`` of what each row of the recoding's table has, or would have were it not
        suppressed, shape (rows,), int32.
    """

    values: PublishedValues
    labels: Sequence[str]
    codes: CodeArray


class Recoding(ABC):
    """A value that says what becomes of each record of a table.

    Records of one combination may be published differently. A recoding then comes with a table of its own,
    the searched one with its combinations split into parts.

    Attributes
    ----------
    table: whose rows it speaks of.
    owner: combination of the searched table for each row of ``table``, shape (rows,), ascending; None where
        ``table`` is the searched one.
    suppressed: rows whose records count as suppressed, shape (rows,), bool.
    removed: rows whose records are not in the release, shape (rows,), bool; a subset of ``suppressed``, the
        rest of which stays with ``*`` in every quasi-identifier.

    Class attributes
    ----------------
    along_hierarchies: whether every published value of a record that is not suppressed is a node of the
        hierarchy within the allowed levels.
    """

    along_hierarchies: ClassVar[bool] = False
    table: Table
    owner: IntArray | None = None
    suppressed: BoolArray
    removed: BoolArray

    @abstractmethod
    def cells(self, position: int) -> Cells:
        """Return a quasi-identifier as recoded, given its position in the table."""

    def published(self) -> tuple[PublishedColumn, ...]:
        """Return the quasi-identifiers as published, in the order of the table."""
        kept_suppressed = self.suppressed & ~self.removed
        columns = []
        for position, attribute in enumerate(self.table.quasi_identifiers):
            labels, codes = interned(self.cells(position))
            if kept_suppressed.any():
                if SUPPRESSED not in labels:
                    labels.append(SUPPRESSED)
                codes[kept_suppressed] = labels.index(SUPPRESSED)
            columns.append(PublishedColumn(attribute.name, tuple(labels), codes))
        return tuple(columns)

    def class_columns(self) -> tuple[PublishedColumn, ...]:
        """Return the columns whose equal values make an equivalence class: the quasi-identifiers."""
        return self.published()

    @cached_property
    def merged(self) -> Recoding:
        """The same over a table in which rows that are published alike may be one, with a value for all.

        Whatever follows from what is published, and from the sensitive values, follows from either.
        """
        return self

    def class_sizes(self) -> IntArray:
        """Return the records of each equivalence class of records that are not suppressed, int64."""
        kept = ~self.suppressed
        keys, number = np.zeros(int(kept.sum()), dtype=np.int64), 1
        for column in self.class_columns():
            labels = len(column.labels)
            keys, distinct = group_keys(keys * labels + column.codes[kept], number * labels)
            number = len(distinct)
        return count(keys, self.table.counts[kept], number) if kept.any() else keys

    def cell_records(self, position: int) -> tuple[PublishedValues, FloatArray]:
        """Return what one quasi-identifier is published as, and the records of each that are not suppressed.

        The records are of shape (values,).
        """
        cells = self.cells(position)
        kept = np.where(self.suppressed, 0, self.table.counts)
        number = len(cells.values.covered)
        records = np.bincount(cells.codes, weights=kept, minlength=number).astype(np.float64)
        return cells.values, records

    @property
    def owners(self) -> IntArray:
        """Combination of the searched table for each row of ``table``, shape (rows,), int64."""
        return np.arange(self.table.combinations) if self.owner is None else self.owner

    @property
    def levels(self) -> tuple[int, ...] | None:
        """The one generalization level of each quasi-identifier; None unless full-domain."""
        return None

    @property
    def suppressed_cells(self) -> int:
        """Single cells of released records that are published as ``*``."""
        return 0

    def describe(self) -> dict[str, Any]:
        """Return the ``recoding`` entry of the report."""
        return {"levels": None}


def interned(cells: Cells) -> tuple[list[str], CodeArray]:
    """Return the distinct labels in use, and for each row the position of its own."""
    used = np.zeros(len(cells.labels), dtype=bool)
    used[cells.codes] = True
    labels: dict[str, int] = {}
    position_of = np.zeros(len(used), dtype=np.int32)
    for value in np.flatnonzero(used).tolist():
        position_of[value] = labels.setdefault(cells.labels[value], len(labels))
    return list(labels), position_of[cells.codes]


class FullDomainRecoding(Recoding):
    """Every value of an attribute is published at the same generalization level (global recoding)."""

    along_hierarchies = True

    def __init__(
        self,
        table: Table,
        levels: Sequence[int],
        suppressed: BoolArray,
        removed: BoolArray,
        owner: IntArray | None = None,
    ) -> None:
        self.table = table
        self.owner = owner
        self._levels = tuple(int(level) for level in levels)
        self.suppressed = suppressed
        self.removed = removed

    @property
    def levels(self) -> tuple[int, ...]:
        """The generalization level of each quasi-identifier."""
        return self._levels

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding with one row for each published row, its sensitive values, and its fate."""
        if type(self) is not FullDomainRecoding:
            # A subclass tells rows apart by more than the nodes.
            return self
        attributes = self.table.quasi_identifiers
        nodes = [attribute.nodes(level) for attribute, level in zip(attributes, self._levels, strict=True)]
        fate = self.suppressed.astype(np.int8) + self.removed
        table, fates = merged_rows(self.table, nodes, fate)
        return FullDomainRecoding(table, self._levels, fates > 0, fates > 1)

    def nodes(self, position: int) -> CodeArray:
        """Return the node of each row's value at the attribute's level, shape (rows,), int32."""
        attribute = self.table.quasi_identifiers[position]
        return attribute.nodes(self._levels[position])[self.table.quasi_identifier_codes(position)]

    def cells(self, position: int) -> Cells:
        """Return a quasi-identifier at its level."""
        attribute, level = self.table.quasi_identifiers[position], self._levels[position]
        labels: Sequence[str] = attribute.hierarchy.labels
        if level == 0:
            labels = value_labels(attribute)
        return Cells(attribute.node_values, labels, self.nodes(position))

    def describe(self) -> dict[str, Any]:
        """Return the generalization level of each quasi-identifier."""
        return {"levels": levels_by_name(self.table.quasi_identifiers, self._levels)}


def levels_by_name(attributes: Sequence[QuasiIdentifier], levels: Sequence[int]) -> dict[str, int]:
    """Return generalization levels by the name of their attribute."""
    return {attribute.name: int(level) for attribute, level in zip(attributes, levels, strict=True)}


def value_labels(attribute: QuasiIdentifier) -> list[str]:
    """Return the labels of the nodes, leaves spelled as the column spells its values, shape (nodes,)."""
    labels = list(attribute.hierarchy.labels)
    for text, node in zip(attribute.column.texts, attribute.nodes(0).tolist(), strict=True):
        labels[node] = text
    return labels
