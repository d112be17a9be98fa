"""How regions are published: what an axis of each quasi-identifier is, and the recoding that regions make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import Table
from anonymizer.search.regions.axis import Axis
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.sharing import Sharing


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
