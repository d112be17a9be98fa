"""Recodings: what is published for each distinct row of the frequency table; the outcome of a search for one.

Generalization is by column, by region, or by row and attribute; local suppression suppresses single cells on
top of another recoding. Anatomy publishes exact quasi-identifiers, and sensitive values by bucket. Rows with
equal published values are merged. The tree of cuts behind a multidimensional recoding determines the region
of every record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cached_property
from itertools import count as integers
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    Packing,
    add_up,
    count,
    count_exactly,
    first_items,
    freeze,
    group_keys,
    group_rows,
)
from anonymizer.model.labels import SUPPRESSED, NumberColumns
from anonymizer.model.table import PlacedRows, PublishedValues, QuasiIdentifier, Table

FATES = 3
"""Number of fates of a row: 0 published, 1 suppressed but kept with ``*``, 2 removed."""


def merged_rows(
    table: Table, nodes: Sequence[CodeArray], fate: NDArray[np.int8]
) -> tuple[Table, NDArray[np.int8]]:
    """Merge rows that are published at the same nodes, with equal sensitive values and the same fate.

    Parameters
    ----------
    nodes: published node of each code of each quasi-identifier, shape (values,), int32.
    fate: of each row, less than ``FATES``, shape (rows,).

    Returns
    -------
    The table, with the first code of each node; and the fate of each of its rows.
    """
    packing = Packing(table.combinations)
    firsts: list[CodeArray] = []
    for position, own in enumerate(nodes):
        _, first, ranks = np.unique(own, return_index=True, return_inverse=True)
        firsts.append(first.astype(np.int32))
        packing.add(ranks.astype(np.int32)[table.quasi_identifier_codes(position)], len(first))
    codes, counts = _distinct_fates(packing, table, fate)
    columns = list(codes.T[:-1])
    columns[: len(firsts)] = [first[own] for first, own in zip(firsts, columns, strict=False)]
    return _with_rows(table, columns, counts), codes[:, -1].astype(np.int8)


def merged_regions(
    table: Table, region_of: IntArray, fate: NDArray[np.int8]
) -> tuple[Table, IntArray, NDArray[np.int8]]:
    """Merge rows of the same region, with equal sensitive values and the same fate.

    Parameters
    ----------
    region_of: of each row, shape (rows,); all rows of a region have the same published values.
    fate: of each row, less than ``FATES``, shape (rows,).

    Returns
    -------
    The table, with the codes of each region's first row; and the region and the fate of each of its rows.
    """
    regions = int(region_of.max(initial=-1)) + 1
    packing = Packing(table.combinations)
    packing.add(region_of, regions)
    own, counts = _distinct_fates(packing, table, fate)
    rows = first_items(region_of, regions)[own[:, 0]]
    columns = [each[rows] for each in table.codes.T[: len(table.quasi_identifiers)]]
    merged = _with_rows(table, [*columns, *own.T[1:-1]], counts)
    return merged, own[:, 0].astype(np.int64), own[:, -1].astype(np.int8)


def _distinct_fates(packing: Packing, table: Table, fate: NDArray[np.int8]) -> tuple[CodeArray, IntArray]:
    """Pack sensitive values, weights and fates too; return the codes of distinct rows and their records."""
    for codes, size in table.others:
        packing.add(codes, size)
    packing.add(fate, FATES)
    space = packing.space
    distinct, counts = add_up(packing.take_keys(), table.counts, space)
    return packing.unpack(distinct), counts


def _with_rows(table: Table, columns: Sequence[CodeArray], counts: IntArray) -> Table:
    """Return the table with other rows, whose codes are given by column, each in one piece of memory.

    Units are not counted in these.
    """
    codes = np.empty((len(columns), len(counts)), dtype=np.int32)
    for place, column in enumerate(columns):
        codes[place] = column
    for array in (codes, counts):
        freeze(array)
    return table.with_rows(codes.T, counts)


class Published(Enum):
    """What a search may publish of a quasi-identifier."""

    LEVEL = 1
    """The nodes of one level."""
    NODES = 2
    """Nodes of several levels."""
    INTERVALS = 3
    """Intervals between any two values."""


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One quasi-identifier as published.

    Attributes
    ----------
    name: of the column.
    labels: the distinct published texts, in any order.
    codes: position in ``labels`` for each row of the table, shape (combinations,), int32.
    numbers: that are released in place of the labels; None to release the labels.
    """

    name: str
    labels: tuple[str, ...]
    codes: CodeArray
    numbers: NumberColumns | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """One quasi-identifier as recoded.

    Attributes
    ----------
    values: that may be published.
    labels: published text of each value; values with equal texts are the same in the release.
    codes: position in ``values`` for each row of the recoding's table, or each region, before suppression,
        shape (rows,) or (regions,), int32.
    """

    values: PublishedValues
    labels: Sequence[str]
    codes: CodeArray


class Recoding(ABC):
    """The published values of each row of a table.

    If records of a distinct row are published differently, the recoding has a table of its own: the searched
    one with its rows split into parts.

    Attributes
    ----------
    table: with the recoded rows.
    owner: row of the searched table for each row of ``table``, shape (rows,), ascending; None if ``table`` is
        the searched one.
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
        return tuple(self.published_column(place) for place in range(len(self.table.quasi_identifiers)))

    def published_column(self, position: int) -> PublishedColumn:
        """Return a quasi-identifier as published, given its position in the table."""
        attribute, kept_suppressed = self.table.quasi_identifiers[position], self.suppressed & ~self.removed
        labels, codes = interned(self.cells(position))
        if kept_suppressed.any():
            if SUPPRESSED not in labels:
                labels.append(SUPPRESSED)
            codes[kept_suppressed] = labels.index(SUPPRESSED)
        return PublishedColumn(attribute.name, tuple(labels), codes, attribute.number_columns)

    def class_columns(self) -> tuple[PublishedColumn, ...]:
        """Return the columns that define equivalence classes: the quasi-identifiers."""
        return self.published()

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding of a table in which rows with equal published values may be merged.

        Published and sensitive values have the same counts in both.
        """
        return self

    def classes_of(self, rows: IntArray) -> tuple[IntArray, int]:
        """Return the class of each of some released rows of the table, by the published values.

        Suppressed records that stay are one class, with others of which nothing but ``*`` is published.

        Returns
        -------
        Shape (rows,), int64, and the number of classes.
        """
        columns = ((column.codes[rows], len(column.labels)) for column in self.class_columns())
        return group_rows(columns, len(rows))

    def class_sizes(self) -> IntArray:
        """Return the records of each equivalence class of records that are not suppressed, int64."""
        kept = ~self.suppressed
        columns = ((column.codes[kept], len(column.labels)) for column in self.class_columns())
        groups, number = group_rows(columns, int(kept.sum()))
        return count(groups, self.table.counts[kept], number)

    def cell_people(self, position: int, people: IntArray) -> tuple[PublishedValues, IntArray]:
        """Return the values of a quasi-identifier, and the sum of the weights of the records of each.

        The sums are of shape (values,), int64, without suppressed records.

        Parameters
        ----------
        people: sum of the weights of the records of each row, shape (rows,), int64.
        """
        cells, kept = self.cells(position), ~self.suppressed
        return cells.values, count_exactly(cells.codes[kept], people[kept], len(cells.values.covered))

    def cell_records(self, position: int) -> tuple[PublishedValues, FloatArray]:
        """Return the values of a quasi-identifier, and the records of each without suppressed ones.

        The records are of shape (values,), float64.
        """
        cells = self.cells(position)
        kept = np.where(self.suppressed, 0, self.table.counts)
        number = len(cells.values.covered)
        records = np.bincount(cells.codes, weights=kept, minlength=number).astype(np.float64)
        return cells.values, records

    @property
    def owners(self) -> IntArray:
        """Row of the searched table for each row of ``table``, shape (rows,), int64."""
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
    """Return the distinct labels in use, and their positions for each row."""
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

    @classmethod
    def suppressing(cls, table: Table, levels: Sequence[int], gone: IntArray, *, kept: bool = False) -> Self:
        """Return the recoding of a table some of whose records are suppressed.

        Rows of the table that are suppressed in part are split: the remaining records, then the others.

        Parameters
        ----------
        gone: suppressed records of each row, shape (rows,), int64.
        kept: whether suppressed records are published as ``*``, not removed.
        """
        partly = (gone > 0) & (gone < table.counts)
        owner, suppressed = None, gone > 0
        if partly.any():
            owner = np.repeat(np.arange(table.combinations), np.where(partly, 2, 1))
            second = np.concatenate([[False], owner[1:] == owner[:-1]])
            suppressed = np.where(partly[owner], second, suppressed[owner])
            table = table.split(owner, np.where(suppressed, gone[owner], (table.counts - gone)[owner]))
        removed = np.zeros_like(suppressed) if kept else suppressed
        return cls(table, levels, suppressed, removed, owner)

    @property
    def levels(self) -> tuple[int, ...]:
        return self._levels

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding with one row for each published row, its sensitive values, and its fate."""
        if type(self) is not FullDomainRecoding:
            # A subclass publishes more than the nodes.
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
    if attribute.number_columns is not None:
        # Labels of numbers are the same at all levels, and distinct where they may be published.
        return labels
    for text, node in zip(attribute.column.texts, attribute.nodes(0).tolist(), strict=True):
        labels[node] = text
    return labels


class LocalSuppressionRecoding(Recoding):
    """Local suppression: chosen cells are published as ``*``, which is a value of its own.

    Parameters
    ----------
    table: the searched table, or one with its combinations split into parts by ``owner``.
    base: recoding of the searched table; nothing of it is suppressed.
    blanks: suppressed cells, shape (rows of the table, quasi-identifiers), bool. A row with suppressed cells
        only is a suppressed row; the search also suppresses the roots of rows with nothing else left.
    removed: which suppressed rows are not in the release, shape (rows,), bool; None for none.
    """

    def __init__(
        self,
        table: Table,
        base: Recoding,
        blanks: BoolArray,
        owner: IntArray | None = None,
        removed: BoolArray | None = None,
    ) -> None:
        self.table = table
        self.owner = owner
        self.suppressed = np.logical_and.reduce(blanks, axis=1)
        self.removed = np.zeros(len(blanks), dtype=bool) if removed is None else removed
        self._base = base
        self._blanks = blanks

    def cells(self, position: int) -> Cells:
        """Return a quasi-identifier of the base, with suppressed cells, which cover what the root covers."""
        below = self._base.cells(position)
        root = self.table.quasi_identifiers[position].node_values.take(np.zeros(1, dtype=np.int64))
        codes = below.codes if self.owner is None else below.codes[self.owner]
        blanked = np.where(self._blanks[:, position], len(below.labels), codes).astype(np.int32)
        return Cells(below.values.joined(root), [*below.labels, SUPPRESSED], blanked)

    @property
    def suppressed_cells(self) -> int:
        """Number of suppressed cells in records that are not suppressed."""
        return int(self._blanked_cells().sum())

    def _blanked_cells(self) -> IntArray:
        """Return the suppressed cells of each quasi-identifier, shape (quasi-identifiers,), int64."""
        single = self._blanks & ~self.suppressed[:, None]
        cells: IntArray = self.table.counts @ single
        return cells

    def describe(self) -> dict[str, Any]:
        """Return the entry of the base, and the suppressed cells of each quasi-identifier."""
        names = [attribute.name for attribute in self.table.quasi_identifiers]
        blanked = dict(zip(names, self._blanked_cells().tolist(), strict=True))
        return self._base.describe() | {"blanked_cells": blanked}


GROUP = "group"
"""Name of the column with the bucket, which joins QIT and ST."""

COUNT = "count"
"""Name of the column with the records of a sensitive value in a bucket."""


def renumbered(group: IntArray, groups: int, published: Sequence[IntArray]) -> IntArray:
    """Return the buckets of records, numbered by their published values.

    Buckets are compared by their sorted ranks in the first column, then in the next. Those with equal
    published values keep their order, which reveals nothing.

    Parameters
    ----------
    group: of each record, shape (records,), int64; negative for removed ones.
    groups: number of buckets, none empty.
    published: ranks of each record, shape (records,), int64 each.
    """
    seated = np.flatnonzero(group >= 0)
    order = np.zeros(groups, dtype=np.int64)
    number = 1
    for ranks in published:
        own = seated[np.lexsort((ranks[seated], group[seated]))]
        starts = np.searchsorted(group[own], np.arange(groups + 1))
        sizes, space = np.diff(starts), int(ranks.max(initial=0)) + 2
        for place in range(int(sizes.max(initial=0))):
            if number == groups:
                break
            inside = sizes > place
            column = np.zeros(groups, dtype=np.int64)
            column[inside] = ranks[own[starts[:-1][inside] + place]] + 1
            order, distinct = group_keys(order * space + column, number * space)
            number = len(distinct)
    new = np.empty(groups, dtype=np.int64)
    new[np.argsort(order, kind="stable")] = np.arange(groups)
    numbers: IntArray = np.where(group >= 0, new[group], group)
    return numbers


class GroupRecoding(FullDomainRecoding):
    """Anatomy: quasi-identifiers in the QIT, the sensitive values of each bucket in the ST.

    The equivalence classes are the buckets.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), definition 3.

    Parameters
    ----------
    levels: of the published quasi-identifiers, their minimum levels.
    group_of: bucket of each row of the table, from 0, shape (rows,), int64; -1 for removed rows.
    removed: suppressed rows, shape (rows,), bool.
    facts: other entries of the report's ``recoding``.
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
        """Number of buckets."""
        return int(self.group_of.max(initial=-1)) + 1

    def class_columns(self) -> tuple[PublishedColumn, ...]:
        """Return the bucket of each row, named from 1."""
        labels = tuple(str(number) for number in range(1, self.groups + 1))
        return (PublishedColumn(GROUP, labels, self.group_of.astype("int32")),)

    def describe(self) -> dict[str, Any]:
        """Return the levels and the other facts."""
        return super().describe() | self._facts


class SharedRecoding(Recoding):
    """A recoding by regions, which are counted instead of rows, as they are fewer.

    Attributes
    ----------
    region_of: region of each row of the table, shape (rows,); None if each row is a region.
    """

    region_of: IntArray | None

    @abstractmethod
    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier as recoded for each region, given its position in the table."""

    def cells(self, position: int) -> Cells:
        own = self.shared_cells(position)
        codes = own.codes if self.region_of is None else own.codes[self.region_of]
        return Cells(own.values, own.labels, codes)

    def merged_rows(self) -> tuple[Table, IntArray, BoolArray, BoolArray]:
        """Return the rows of ``merged``: their table, their regions, which are suppressed, which removed."""
        assert self.region_of is not None, "each row is a region"
        fate = self.suppressed.astype(np.int8) + self.removed
        table, region_of, fates = merged_regions(self.table, self.region_of, fate)
        return table, region_of, fates > 0, fates > 1

    @cached_property
    def _kept(self) -> IntArray:
        """Records of each region that are not suppressed, shape (regions,), int64."""
        kept = np.where(self.suppressed, 0, self.table.counts)
        if self.region_of is None:
            return kept
        return count(self.region_of, kept, len(self.shared_cells(0).codes))

    def cell_records(self, position: int) -> tuple[PublishedValues, FloatArray]:
        cells = self.shared_cells(position)
        kept = self._kept
        number = len(cells.values.covered)
        records = np.bincount(cells.codes, weights=kept, minlength=number).astype(np.float64)
        return cells.values, records

    def classes_of(self, rows: IntArray) -> tuple[IntArray, int]:
        """Return the class of each of some released rows, from the classes of regions where these do."""
        if self.region_of is None or self.suppressed[rows].any():
            return super().classes_of(rows)
        regions = np.unique(self.region_of[rows])
        groups, number = group_rows(self._class_codes(regions), len(regions))
        return groups[np.searchsorted(regions, self.region_of[rows])], number

    def class_sizes(self) -> IntArray:
        present = np.flatnonzero(self._kept)
        groups, number = group_rows(self._class_codes(present), len(present))
        return count(groups, self._kept[present], number)

    def _class_codes(self, regions: IntArray) -> Iterator[tuple[CodeArray, int]]:
        """Yield for each quasi-identifier a code of its text in some regions, and the number of texts."""
        for position in range(len(self.table.quasi_identifiers)):
            cells = self.shared_cells(position)
            labels, codes = interned(Cells(cells.values, cells.labels, cells.codes[regions]))
            yield codes, len(labels)


@dataclass(frozen=True, eq=False)
class NodeRecoding(SharedRecoding):
    """Local recoding along the hierarchies: equal values of two records may be published as different nodes.

    Attributes
    ----------
    nodes: each an ancestor of the row's value or its leaf, shape (rows, quasi-identifiers), int32.
    region_of: row of ``nodes`` for each row of the table, shape (rows,); None if they are the same.
    """

    along_hierarchies = True

    table: Table
    nodes: CodeArray
    suppressed: BoolArray
    removed: BoolArray
    owner: IntArray | None = None
    region_of: IntArray | None = None

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding with one row for each region, its sensitive values, and its fate."""
        if type(self) is not NodeRecoding or self.region_of is None:
            # A subclass may publish more than regions.
            return self
        table, region_of, suppressed, removed = self.merged_rows()
        return NodeRecoding(table, self.nodes, suppressed, removed, region_of=region_of)

    @cached_property
    def _published(self) -> list[tuple[CodeArray, list[str]]]:
        return [distinct_nodes(attribute) for attribute in self.table.quasi_identifiers]

    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier by its nodes, the lowest of those that cover the same leaves."""
        canonical, labels = self._published[position]
        values = self.table.quasi_identifiers[position].node_values
        return Cells(values, labels, canonical[self.nodes[:, position]])


def distinct_nodes(attribute: QuasiIdentifier) -> tuple[CodeArray, list[str]]:
    """Return the published node for each node, and distinct labels of published nodes.

    A hierarchy may repeat a label at another level for other leaves. Only full-domain recoding distinguishes
    them, by the column's level; here the label of the higher node contains its level.
    """
    tree = attribute.hierarchy
    canonical = np.arange(len(tree.labels), dtype=np.int32)
    parents, leaves = tree.parent, tree.leaf_counts()
    # Nodes are in preorder, so in reverse order an only child comes before its parent.
    unary = np.flatnonzero((parents >= 0) & (leaves == leaves[parents]) & (tree.level >= attribute.minimum))
    for child in unary[::-1].tolist():
        canonical[parents[child]] = canonical[child]
    labels = value_labels(attribute)
    taken: set[str] = set()
    for node in np.lexsort((canonical, tree.level)).tolist():
        # Nodes below the lowest level are never published.
        if canonical[node] == node and tree.level[node] >= attribute.minimum:
            labels[node] = _untaken(labels[node], int(tree.level[node]), taken)
            taken.add(labels[node])
    return canonical, labels


def _untaken(label: str, level: int, taken: set[str]) -> str:
    if label not in taken:
        return label
    named = (f"{label} (level {level})" if n == 1 else f"{label} (level {level}, {n})" for n in integers(1))
    return next(name for name in named if name not in taken)


@dataclass(frozen=True, eq=False)
class RegionRecoding(SharedRecoding):
    """Multidimensional recoding: each row is in a region, which has one published value per attribute.

    Attributes
    ----------
    columns: one per quasi-identifier, in the order of the table.
    region_of: region of each row of the table, shape (rows,), int64.
    facts: other entries of the report's ``recoding``.
    """

    table: Table
    columns: Sequence[Cells]
    region_of: IntArray
    suppressed: BoolArray
    removed: BoolArray
    owner: IntArray | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier by its regions."""
        return self.columns[position]

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding with one row for each region, its sensitive values, and its fate."""
        if type(self) is not RegionRecoding:
            # A subclass may publish more than regions.
            return self
        table, region_of, suppressed, removed = self.merged_rows()
        return RegionRecoding(table, self.columns, region_of, suppressed, removed, facts=self.facts)

    def describe(self) -> dict[str, Any]:
        """Return no levels, and the other facts."""
        return {**super().describe(), **self.facts}


class Status(StrEnum):
    """Whether a release satisfies every constraint: one was found, proven no, or unknown."""

    SATISFIED = "satisfied"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"


class Bound(StrEnum):
    """How much work goes into the bound on every recoding along the hierarchies."""

    QUICK = "quick"
    FULL = "full"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class CutTree:
    """Regions that were recursively cut in two along the hierarchies; the leaves of the tree are published.

    The first regions of the search come first; the two sides of a cut have consecutive numbers.

    Attributes
    ----------
    levels: of each quasi-identifier, at which the first regions are classes of equal nodes.
    first: these nodes of each of the first regions, shape (first regions, quasi-identifiers), int32.
    axis: quasi-identifier along which each region was cut, shape (regions,), int64; -1 if it was not.
    left: left side of each cut, shape (regions,), int64; the right side is the next region.
    listed_right: whether the listed parts of a cut are its right side, and all others its left side, or the
        other way round, shape (regions,), bool.
    starts: the listed parts of region i are ``parts[starts[i]:starts[i + 1]]``, shape (regions + 1,), int64.
    parts: nodes in the hierarchy of the cut's quasi-identifier, at one level per cut, int64.
    published: node of each quasi-identifier, for regions that were not cut, shape (regions,
        quasi-identifiers), int32.
    """

    levels: tuple[int, ...]
    first: CodeArray
    axis: IntArray
    left: IntArray
    listed_right: BoolArray
    starts: IntArray
    parts: IntArray
    published: CodeArray


@dataclass(frozen=True)
class CheckerMeasure:
    """What one constraint measured on a candidate.

    Attributes
    ----------
    constraint: its name, with its attribute.
    measured: over all classes before suppression, with p of the input; of a model of the whole table, and of
        regions or suppressed cells, on what is released. None for no classes.
    satisfied: whether ``measured`` satisfies the constraint.
    violating: records in classes that violate it; None for a model of the whole table.
    released: measured on what is released; None unless the candidate is valid.
    """

    constraint: str
    measured: Any
    satisfied: bool
    violating: int | None
    released: Any = None


@dataclass(frozen=True)
class AttackerMeasure:
    """What the attackers of one constraint reached on a candidate.

    Attributes
    ----------
    constraint: its name, with its attribute.
    measured: the success that counts against ``max``.
    satisfied: whether it is at most ``max``.
    estimated: whether other random numbers may decide otherwise.
    attackers: the number of each attacker, and whether it learned, in plain types.
    """

    constraint: str
    measured: float
    satisfied: bool
    estimated: bool
    attackers: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Step:
    """A candidate that a search evaluated.

    Attributes
    ----------
    candidate: its identity, such as levels by attribute.
    objective: its loss; None if it was rejected before.
    accepted: whether it satisfies every constraint within the suppression limit.
    failed: names of the violated constraints or limits.
    at_least: lower bound on its loss, from what it publishes or surely suppresses; None if there is none.
    suppressed: records that it suppresses, or surely at least if it was not counted; None if unknown.
    checks: what each constraint measured; empty if nobody asked, or if the step is no candidate.
    refused: of a round of cuts, what each constraint measured on both sides of those that it refused: the
        best of each region that is not cut; or on all regions, where one judges these together.
    attackers: what the attackers reached; empty unless they were asked.
    proof: what rules it out without its classes, or before it was judged; None if it was judged.
    seconds: that the other algorithm took whose release it is; None for a step of the search itself.
    """

    candidate: dict[str, Any]
    objective: float | None
    accepted: bool
    failed: tuple[str, ...] = ()
    at_least: float | None = None
    suppressed: int | None = None
    checks: tuple[CheckerMeasure, ...] = ()
    refused: tuple[CheckerMeasure, ...] = ()
    attackers: tuple[AttackerMeasure, ...] = ()
    proof: str | None = None
    seconds: float | None = field(default=None, compare=False)


TELLING = 0.1
"""Least share of the loss that a bound on every recoding has where it is worth a line."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a search.

    Attributes
    ----------
    recoding: the best found; None unless satisfied.
    candidates: size of the searched space.
    evaluated: candidates whose class sizes were computed.
    objective: loss of ``recoding``.
    bound: proven lower bound on the loss of any valid candidate.
    interrupted: whether the user ended the search.
    chosen: name of the algorithm that was chosen, None without a choice, and the reasons, a sentence each.
    best_possible: proven lower bound on the loss of any recoding along the hierarchies, local ones too.
    cuts: of ``recoding``, if it was made by cuts along the hierarchies that keep equal values together.
    ends: region of ``recoding`` for each distinct row, if these do not fit in memory and the problem requests
        it; else None, also if all are suppressed.
    estimated: constraints whose estimates rejected candidates, if nothing else stands in the way of a proof.
    runners_up: other releases that passed all attack checks, in case that an attack refutes ``recoding`` in
        the audit.
    """

    status: Status
    recoding: Recoding | None
    objective: float | None
    bound: float | None
    candidates: int
    evaluated: int
    steps: tuple[Step, ...] = field(default=())
    seconds: float = 0.0
    interrupted: bool = False
    chosen: tuple[str | None, tuple[str, ...]] = (None, ())
    best_possible: float | None = None
    cuts: CutTree | None = None
    ends: PlacedRows | None = None
    estimated: tuple[str, ...] = ()
    runners_up: tuple[Outcome, ...] = ()

    @property
    def optimal(self) -> bool:
        """Whether the recoding is proven optimal."""
        return self.objective is not None and self.objective == self.bound

    @property
    def gap(self) -> float | None:
        """(objective - bound) / objective, 0 if both are 0, None without a result."""
        if self.objective is None or self.bound is None:
            return None
        if self.objective == self.bound:
            return 0.0
        return (self.objective - self.bound) / self.objective if self.objective else None
