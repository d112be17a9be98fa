"""What is published for clusters of numbers, and which clusters that makes one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.masking.mdav import Shares
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import group_keys
from anonymizer.model.table import QuasiIdentifier
from anonymizer.search.regions.mdav_aggregate import Aggregate, Members, rounded, step_exponent
from anonymizer.search.regions.mdav_space import Space


@dataclass(frozen=True, eq=False)
class AggregatedColumn:
    """One attribute of the classes.

    Attributes
    ----------
    published: number of each class, shape (classes,), float64; NaN where all miss the value.
    mixed: classes in which some records miss the value and others do not, shape (classes,), bool.
    low, high: of the originals of each class, shape (classes,), float64; NaN without any.
    """

    published: FloatArray
    mixed: BoolArray
    low: FloatArray
    high: FloatArray

    @staticmethod
    def of(
        attribute: QuasiIdentifier, aggregate: Aggregate, members: Members, sizes: IntArray
    ) -> AggregatedColumn:
        """Aggregate the known values of each class; what all have is published as it is.

        Parameters
        ----------
        sizes: records of each class, those that miss the value too, shape (classes,), int64.
        """
        low, high = np.full(members.classes, np.inf), np.full(members.classes, -np.inf)
        np.minimum.at(low, members.group, members.numbers)
        np.maximum.at(high, members.group, members.numbers)
        known = np.bincount(members.group, members.records, members.classes).astype(np.int64)
        low, high = np.where(known > 0, low, np.nan), np.where(known > 0, high, np.nan)
        whole = rounded(np.clip(aggregate.of(members), low, high), step_exponent(attribute))
        return AggregatedColumn(np.where(low == high, low, whole), (known > 0) & (known < sizes), low, high)

    def keys(self) -> tuple[IntArray, int]:
        """Number what is published, equal for equal, shape (classes,); return how many there are, too."""
        shown = np.where(self.mixed, np.inf, np.where(np.isnan(self.published), -np.inf, self.published))
        distinct, keys = np.unique(shown, return_inverse=True)
        return keys.ravel().astype(np.int64), len(distinct)


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters put together to classes, no two of which are published alike.

    Attributes
    ----------
    class_of: class of each cluster, shape (clusters,), int64.
    columns: one per quasi-identifier.
    """

    class_of: IntArray
    columns: Sequence[AggregatedColumn]

    @property
    def number(self) -> int:
        """Number of classes."""
        return len(self.columns[0].published)


class Aggregator:
    """Aggregates the clusters of a space.

    Parameters
    ----------
    attributes: the quasi-identifiers.
    shares: the clusters of the space's points.
    """

    def __init__(
        self, attributes: Sequence[QuasiIdentifier], space: Space, shares: Shares, aggregate: Aggregate
    ) -> None:
        self._attributes = attributes
        self._space = space
        self._shares = shares
        self._aggregate = aggregate

    def partition(self, class_of: IntArray) -> Partition:
        """Publish classes of clusters; those that are published alike become one, until none are.

        Parameters
        ----------
        class_of: class of each cluster, shape (clusters,), int64, numbered without a gap.
        """
        while True:
            columns = [self._column(position, class_of) for position in range(len(self._attributes))]
            keys, number = columns[0].keys()
            for column in columns[1:]:
                own, size = column.keys()
                keys, distinct = group_keys(keys * size + own, number * size)
                number = len(distinct)
            if number == len(keys):
                return Partition(class_of, columns)
            class_of = keys[class_of]

    def averages(self, class_of: IntArray) -> FloatArray:
        """Return the average coordinates of each class in whole numbers, shape (classes, dimensions)."""
        own = self._shares
        joined = Shares(own.point, class_of[own.cluster], own.records)
        return joined.averages(self._space.coordinates)

    def _column(self, position: int, class_of: IntArray) -> AggregatedColumn:
        own = self._shares
        group, numbers = class_of[own.cluster], self._space.numbers[own.point, position]
        number = int(class_of.max()) + 1
        known = ~np.isnan(numbers)
        members = Members(group[known], numbers[known], own.records[known], number)
        sizes = np.bincount(group, own.records, number).astype(np.int64)
        return AggregatedColumn.of(self._attributes[position], self._aggregate, members, sizes)
