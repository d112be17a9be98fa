"""MDAV: clusters of k records around those that are furthest from the average."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymizer.core.mdav_pool import Pool, Taken
from anonymizer.model.arrays import FloatArray, IntArray

Tick = Callable[[int], None]
"""Told, after every cluster, how many records have one; ends the run by raising."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Which records are in which cluster; records at one point are alike, and may lie in several clusters.

    Attributes
    ----------
    point: of each share, shape (shares,), int64.
    cluster: of each share, shape (shares,), int64; clusters are numbered from 0 as they were formed.
    records: of each share, shape (shares,), int64, positive; those of a point add up to its count.
    """

    point: IntArray
    cluster: IntArray
    records: IntArray

    @staticmethod
    def of(clusters: list[Taken]) -> Shares:
        """Return the shares of clusters in the order in which they were formed."""
        sizes = [len(taken.points) for taken in clusters]
        return Shares(
            np.concatenate([taken.points for taken in clusters]),
            np.repeat(np.arange(len(clusters)), sizes),
            np.concatenate([taken.records for taken in clusters]),
        )

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1

    def averages(self, coordinates: FloatArray) -> FloatArray:
        """Return the average of each cluster, in whole numbers.

        Parameters
        ----------
        coordinates: of the points, shape (points, dimensions).

        Returns
        -------
        Shape (clusters, dimensions), float64.
        """
        weights = self.records.astype(np.float64)
        sizes = np.bincount(self.cluster, weights)
        sums = [np.bincount(self.cluster, weights * column[self.point]) for column in coordinates.T]
        averages: FloatArray = np.rint(np.stack(sums, axis=1) / sizes[:, None])
        return averages

    def squared_error(self, coordinates: FloatArray) -> float:
        """Return the sum over records of the squared distance to the average of their cluster."""
        away = coordinates[self.point] - self.averages(coordinates)[self.cluster]
        return float(self.records @ (away * away).sum(axis=1))


class Clustering(ABC):
    """Puts records together that are near each other, at least k of them."""

    @abstractmethod
    def cluster(self, coordinates: FloatArray, counts: IntArray, k: int, tick: Tick) -> Shares:
        """Return the clusters, each of at least k records unless there are fewer in all.

        Distances are Euclidean. Ties go to the point that comes first.

        Parameters
        ----------
        coordinates: of each point, shape (points, dimensions), float64; whole numbers whose squared distances
            are below 2**53, so that every comparison is exact.
        counts: records at each point, shape (points,), int64, positive.
        """


class FixedSize(Clustering):
    """Clusters of k records; a point that k or more records share is a cluster by itself.

    While 3k records are left: the k nearest to the one that is furthest from the average, then the k nearest
    to the one that is furthest from that one. From 2k the first of these, and all others are the last.

    Source: Domingo-Ferrer and Torra (DMKD 2005, doi:10.1007/s10618-005-0007-5), algorithm MDAV-generic, here
    on points with counts. Time in O(points * clusters).
    """

    def cluster(self, coordinates: FloatArray, counts: IntArray, k: int, tick: Tick) -> Shares:
        """Return clusters of k records, a last one of up to 2k - 1, and larger ones of shared points."""
        pool = Pool(coordinates, counts)
        clusters: list[Taken] = []
        while pool.left >= 2 * k:
            opposite = pool.left >= 3 * k
            first = pool.furthest(pool.distances(pool.average()))
            around = pool.distances(pool.at(first))
            clusters.append(pool.take(first, around, k))
            if opposite and pool.left >= 2 * k:
                second = pool.furthest(around)
                clusters.append(pool.take(second, pool.distances(pool.at(second)), k))
            pool.compact()
            tick(pool.taken)
        if pool.left:
            clusters.append(pool.take_all())
        return Shares.of(clusters)
