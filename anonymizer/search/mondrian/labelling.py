"""Publishing of regions as nodes, intervals or sets: the recoding and its classes.

The labelling decides the axis of each quasi-identifier. Rows of the recoding keep the order of the table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, numbered
from anonymizer.model.classes import Classes, Traces
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import Cells, NodeRecoding, Recoding, RegionRecoding
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.mondrian.axes import (
    MASKED_UNITS,
    Axis,
    DeepNodeAxis,
    IntervalAxis,
    LargeSetAxis,
    NodeAxis,
    Published,
    RegionAxis,
    SetAxis,
    weight_shares,
)
from anonymizer.search.mondrian.regions import Checks, InOrder, Proportional, Regions, Segments, Sharing
from anonymizer.search.mondrian.store import WORD_BITS


class Labelling(ABC, Generic[Published]):
    """The kind of generalized values that regions are published with.

    Class attributes
    ----------------
    sharing: how a relaxed cut divides the records with the median value.

    Parameters
    ----------
    metric: guides the cuts.

    Attributes
    ----------
    axes: one for each quasi-identifier.
    """

    sharing: ClassVar[Sharing]

    def __init__(self, table: Table, metric: CellMetric) -> None:
        own = zip(table.quasi_identifiers, weight_shares(table), strict=True)
        self.axes = tuple(self._axis(attribute, share, metric) for attribute, share in own)

    @abstractmethod
    def _axis(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> Axis[Published]:
        """Return the axis of a quasi-identifier."""

    @abstractmethod
    def _recoded(self, rows: Rows, columns: list[Published]) -> Recoding:
        """Return the recoding of some rows from the published values of their regions along each axis."""

    def recoding(self, table: Table, regions: Regions, suppressed: BoolArray, removed: BoolArray) -> Recoding:
        """Return the recoding with the regions as classes.

        Parameters
        ----------
        regions: of all records of the table.
        suppressed, removed: regions, shape (regions,), bool.
        """
        columns = [
            axis.column(table.quasi_identifier_codes(position)[regions.owner], regions.segments)
            for position, axis in enumerate(self.axes)
        ]
        return self._recoded(rows_of(table, regions, suppressed, removed), columns)

    def traced_recoding(self, rows: Rows, numbers: Iterable[Traces]) -> Recoding:
        """Return the recoding of regions from their traces, without their rows.

        Parameters
        ----------
        rows: one for each region and combination of sensitive values.
        numbers: for each axis the reductions of its numbers over each region, as ``Coding.numbers`` has them.
        """
        return self._recoded(
            rows, [axis.traced_column(own) for axis, own in zip(self.axes, numbers, strict=True)]
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a recoding, one for each combination and each region with records of it.

    Attributes
    ----------
    table: the searched one, or one split where a combination is in several regions.
    owner: combination of each row, ascending; None if each has one row.
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


class RegionLabelling(Labelling[Cells]):
    """Numbers and dates with one kind of axis, other attributes as sets.

    Class attributes
    ----------------
    ordered: the kind of axis.
    """

    sharing = Proportional()
    ordered: ClassVar[type[RegionAxis]]

    def _axis(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> RegionAxis:
        kind = self.ordered if attribute.column.type.ordered else SetAxis
        axis = kind(attribute, share, metric)
        if isinstance(axis, SetAxis) and axis.units.number > MASKED_UNITS:
            return LargeSetAxis(attribute, share, metric)
        return axis

    def _recoded(self, rows: Rows, columns: list[Cells]) -> RegionRecoding:
        return RegionRecoding(rows.table, columns, rows.region_of, rows.suppressed, rows.removed, rows.owner)


class IntervalLabelling(RegionLabelling):
    """Ordered attributes as intervals, the others as sets."""

    ordered = IntervalAxis


class SetLabelling(RegionLabelling):
    """Every attribute as a set, numbers and dates too."""

    ordered = SetAxis


def node_axis(attribute: QuasiIdentifier, share: float, metric: CellMetric) -> NodeAxis:
    """Return the axis of an attribute along its hierarchy."""
    axis = NodeAxis(attribute, share, metric)
    return axis if axis.bits <= WORD_BITS else DeepNodeAxis(attribute, share, metric)


class NodeLabelling(Labelling[CodeArray]):
    """Every attribute along its hierarchy: the lowest allowed node above a region's values.

    Two regions may be published alike. A relaxed cut keeps combinations together: regions that share many
    more often have the same nodes and so become one class.
    """

    sharing = InOrder()

    def _axis(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> NodeAxis:
        return node_axis(attribute, share, metric)

    def _recoded(self, rows: Rows, columns: list[CodeArray]) -> NodeRecoding:
        nodes = np.stack(columns, axis=1)
        return NodeRecoding(rows.table, nodes, rows.suppressed, rows.removed, rows.owner, rows.region_of)


class DefaultLabelling(Labelling[Any]):
    """Attributes along their hierarchies; numbers and dates without one as intervals."""

    sharing = Proportional()

    def _axis(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> Axis[Any]:
        if attribute.by_range:
            return IntervalAxis(attribute, share, metric)
        return node_axis(attribute, share, metric)

    def _recoded(self, rows: Rows, columns: list[Any]) -> RegionRecoding:
        cells = [
            column
            if axis.attribute.by_range
            else Cells(axis.attribute.node_values, axis.attribute.hierarchy.labels, column)
            for axis, column in zip(self.axes, columns, strict=True)
        ]
        return RegionRecoding(rows.table, cells, rows.region_of, rows.suppressed, rows.removed, rows.owner)


class Publishing:
    """Publishes regions and the records suppressed at the start.

    Parameters
    ----------
    gone: suppressed records of each combination, shape (combinations,), int64.
    kept_suppressed: whether these stay as a class of their own.
    """

    def __init__(
        self, table: Table, labelling: Labelling[Any], gone: IntArray, *, kept_suppressed: bool
    ) -> None:
        self._table = table
        self._labelling = labelling
        self._gone = gone
        self._kept_suppressed = kept_suppressed

    def recoding(self, regions: Regions) -> Recoding:
        """Return the recoding of the table whose released records lie in the regions."""
        every = regions
        gone = np.flatnonzero(self._gone)
        if len(gone):
            alone = Segments(np.zeros(len(gone), dtype=np.int64), 1)
            every = Regions.joined([regions, Regions(gone, self._gone[gone], alone)])
        suppressed = np.arange(every.number) >= regions.number
        removed = np.zeros_like(suppressed) if self._kept_suppressed else suppressed
        return self._labelling.recoding(self._table, every, suppressed, removed)

    def classes(self, regions: Regions, checks: Checks) -> tuple[Classes, IntArray]:
        """Return the classes of the released rows by the published texts.

        Parameters
        ----------
        checks: of the problem.

        Returns
        -------
        The classes, and the region of each of their items, -1 for suppressed ones, shape (items,), int64.
        """
        recoding = self.recoding(regions)
        rows = np.flatnonzero(~recoding.removed)
        class_of, first = numbered((column.codes[rows] for column in recoding.published()), len(rows))
        order = np.argsort(regions.owner, kind="stable")
        region_of = np.full(len(recoding.suppressed), -1, dtype=np.int64)
        region_of[~recoding.suppressed] = regions.region_of[order]
        owner, counts = recoding.owners[rows], recoding.table.counts[rows]
        return checks.classes(owner, counts, class_of, len(first)), region_of[rows]


def hides(recoding: Recoding) -> bool:
    """Return whether a record that is not suppressed is published with ``*`` in every quasi-identifier."""
    like = ~recoding.suppressed
    for column in recoding.published():
        like &= np.array([label == SUPPRESSED for label in column.labels])[column.codes]
    return bool(like.any())
