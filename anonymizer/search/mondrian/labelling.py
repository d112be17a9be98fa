"""Publishing of regions as nodes, intervals or sets, and the recoding and classes that they make.

The labeling decides the axis of each quasi-identifier. Rows of the recoding keep the order of the table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.counting import group_keys
from anonymizer.model.recoding import NodeRecoding, Recoding, RegionRecoding
from anonymizer.model.table import SUPPRESSED, QuasiIdentifier, Table
from anonymizer.search.mondrian.axes import (
    MASKED_UNITS,
    Axis,
    DeepNodeAxis,
    IntervalAxis,
    LargeSetAxis,
    NodeAxis,
    RegionAxis,
    SetAxis,
    weight_shares,
)
from anonymizer.search.mondrian.regions import InOrder, Proportional, Regions, Segments, Sharing
from anonymizer.search.mondrian.store import WORD_BITS


class Labelling(ABC):
    """The kind of labels that regions are published with.

    Class attributes
    ----------------
    sharing: how a relaxed cut divides the records with the median value.

    Parameters
    ----------
    metric: guides the cuts.
    """

    sharing: ClassVar[Sharing]
    axes: tuple[Axis, ...]

    @abstractmethod
    def __init__(self, table: Table, metric: CellMetric) -> None: ...

    @abstractmethod
    def recoding(self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray) -> Recoding:
        """Return what is published when each region is one class.

        Parameters
        ----------
        regions: every record of the table lies in one.
        suppressed, removed: regions, shape (regions,), bool.
        """

    @abstractmethod
    def traced_recoding(
        self,
        table: Table,
        numbers: Iterable[Traces],
        region_of: IntArray,
        suppressed: BoolArray,
        removed: BoolArray,
    ) -> Recoding:
        """Return what is published of regions of which no rows are known, only what axes remember of them.

        Parameters
        ----------
        table: whose rows are those of regions and sensitive values.
        numbers: for each axis the reductions of its numbers over each region, as ``Coding.numbers`` has them.
        region_of: of each row, shape (rows,), int64.
        suppressed, removed: rows, shape (rows,), bool.
        """


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


class RegionLabelling(Labelling):
    """Numbers and dates by one kind of axis, other attributes by another.

    Class attributes
    ----------------
    ordered, unordered: the kinds of axis.
    """

    sharing = Proportional()
    ordered: ClassVar[type[RegionAxis]]
    unordered: ClassVar[type[RegionAxis]]

    def __init__(self, table: Table, metric: CellMetric) -> None:
        own = zip(table.quasi_identifiers, weight_shares(table), strict=True)
        self.axes = self._axes = tuple(self._axis(attribute, share, metric) for attribute, share in own)

    def _axis(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> RegionAxis:
        kind = self.ordered if attribute.column.type.ordered else self.unordered
        axis = kind(attribute, share, metric)
        if isinstance(axis, SetAxis) and axis.units.number > MASKED_UNITS:
            return LargeSetAxis(attribute, share, metric)
        return axis

    def recoding(
        self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray
    ) -> RegionRecoding:
        """Return what each region has of each attribute."""
        rows = rows_of(table, regions, suppressed, removed)
        columns = [
            axis.column(table.quasi_identifier_codes(position)[regions.owner], regions.segments)
            for position, axis in enumerate(self._axes)
        ]
        return RegionRecoding(rows.table, columns, rows.region_of, rows.suppressed, rows.removed, rows.owner)

    def traced_recoding(
        self,
        table: Table,
        numbers: Iterable[Traces],
        region_of: IntArray,
        suppressed: BoolArray,
        removed: BoolArray,
    ) -> RegionRecoding:
        """Return what each region has of each attribute."""
        columns = [axis.traced_column(each) for axis, each in zip(self._axes, numbers, strict=True)]
        return RegionRecoding(table, columns, region_of, suppressed, removed)


class IntervalLabelling(RegionLabelling):
    """Ordered attributes as intervals, the others as sets: an interval of names would mean nothing."""

    ordered = IntervalAxis
    unordered = SetAxis


class NodeLabelling(Labelling):
    """Every attribute along its hierarchy.

    Two regions may be published alike. A relaxed cut keeps combinations together: regions that share many
    have the same nodes more often, and would be one class.
    """

    sharing = InOrder()

    def __init__(self, table: Table, metric: CellMetric) -> None:
        own = zip(table.quasi_identifiers, weight_shares(table), strict=True)
        self.axes = self._axes = tuple(_axis(attribute, share, metric) for attribute, share in own)

    def recoding(
        self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray
    ) -> NodeRecoding:
        """Return the lowest allowed node above each region's values, for each attribute."""
        rows = rows_of(table, regions, suppressed, removed)
        nodes = [
            axis.published(table.quasi_identifier_codes(position)[regions.owner], regions.segments)
            for position, axis in enumerate(self._axes)
        ]
        own = np.stack(nodes, axis=1)
        return NodeRecoding(rows.table, own, rows.suppressed, rows.removed, rows.owner, rows.region_of)

    def traced_recoding(
        self,
        table: Table,
        numbers: Iterable[Traces],
        region_of: IntArray,
        suppressed: BoolArray,
        removed: BoolArray,
    ) -> NodeRecoding:
        """Return the node of each region, for each attribute."""
        own = np.stack([axis.nodes(each) for axis, each in zip(self._axes, numbers, strict=True)], axis=1)
        return NodeRecoding(table, own, suppressed, removed, None, region_of)


def _axis(attribute: QuasiIdentifier, share: float, metric: CellMetric) -> NodeAxis:
    axis = NodeAxis(attribute, share, metric)
    return axis if axis.bits <= WORD_BITS else DeepNodeAxis(attribute, share, metric)


@dataclass(frozen=True, eq=False)
class Release:
    """The rows of a release with the classes that its reader sees.

    Attributes
    ----------
    owner, counts: combination and records of each row, shape (rows,), int64.
    region_of: region of each row, -1 for starred ones, shape (rows,), int64.
    class_of: class of each row, shape (rows,), int64.
    classes: how many there are.
    """

    owner: IntArray
    counts: IntArray
    region_of: IntArray
    class_of: IntArray
    classes: int


class Publishing:
    """Publishes regions beside what was suppressed from the start.

    Parameters
    ----------
    gone: records of each combination that are suppressed, shape (combinations,), int64.
    kept_suppressed: whether these stay as a class of their own.
    """

    def __init__(self, table: Table, labelling: Labelling, gone: IntArray, *, kept_suppressed: bool) -> None:
        self._table = table
        self._labelling = labelling
        self._gone = gone
        self._starred = kept_suppressed

    def recoding(self, regions: Regions) -> Recoding:
        """Return the recoding of the table whose released records lie in the regions."""
        every = regions
        gone = np.flatnonzero(self._gone)
        if len(gone):
            alone = Segments(np.zeros(len(gone), dtype=np.int64), 1)
            every = Regions.joined([regions, Regions(gone, self._gone[gone], alone)])
        suppressed = np.arange(every.number) >= regions.number
        removed = np.zeros_like(suppressed) if self._starred else suppressed
        return self._labelling.recoding(self._table, every, suppressed, removed)

    def hides(self, recoding: Recoding) -> bool:
        """Tell whether records that are not suppressed are published like the starred ones."""
        return self._starred and hides(recoding)

    def release(self, regions: Regions) -> Release:
        """Return the released rows with their classes by the published texts."""
        recoding = self.recoding(regions)
        rows = np.flatnonzero(~recoding.removed)
        keys, number = np.zeros(len(rows), dtype=np.int64), 1
        for column in recoding.published():
            labels = len(column.labels)
            keys, distinct = group_keys(keys * labels + column.codes[rows], number * labels)
            number = len(distinct)
        order = np.argsort(regions.owner, kind="stable")
        region_of = np.full(len(recoding.suppressed), -1, dtype=np.int64)
        region_of[~recoding.suppressed] = regions.region_of[order]
        return Release(recoding.owners[rows], recoding.table.counts[rows], region_of[rows], keys, number)


def hides(recoding: Recoding) -> bool:
    """Tell whether records that are not suppressed are published with ``*`` in every quasi-identifier."""
    like = ~recoding.suppressed
    for column in recoding.published():
        like &= np.array([label == SUPPRESSED for label in column.labels])[column.codes]
    return bool(like.any())


class SetLabelling(RegionLabelling):
    """Every attribute as a set, numbers and dates too."""

    ordered = SetAxis
    unordered = SetAxis
