"""MDAV: clusters of k records around the records furthest from the average.

Coordinates are scaled so that squared distances are exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray

COMPACT_BELOW = 0.8
"""Share of points with records below which the other points are dropped."""


def norms(coordinates: FloatArray) -> FloatArray:
    """Return the squared length of each row, shape (rows,)."""
    lengths: FloatArray = np.einsum("ij,ij->i", coordinates, coordinates)
    return lengths


@dataclass(frozen=True, eq=False)
class Taken:
    """Records of one cluster.

    Attributes
    ----------
    points: shape (points,), int64.
    records: of each point, shape (points,), int64, positive.
    """

    points: IntArray
    records: IntArray

    @property
    def size(self) -> int:
        """Number of records."""
        return int(self.records.sum())

    def with_point(self, point: int, records: int) -> Taken:
        """Return the cluster with records of one more point."""
        return Taken(np.append(self.points, point), np.append(self.records, records))


class Pool:
    """The records without a cluster, by point.

    Distances are squared: sums of whole numbers below 2**53, exact in float64. So they are the same on every
    machine and in every order of addition. Ties go to the first point.

    Parameters
    ----------
    coordinates: of each point, shape (points, dimensions), float64, whole numbers.
    counts: records at each point, shape (points,), int64, positive.
    """

    def __init__(self, coordinates: FloatArray, counts: IntArray) -> None:
        self._points = np.arange(len(counts))
        self._axes = np.ascontiguousarray(coordinates.T)
        self._norms = norms(coordinates)
        self._counts = counts.copy()
        self._sums = counts.astype(np.float64) @ coordinates
        self._total = self.left = int(counts.sum())

    @property
    def taken(self) -> int:
        """Number of records in a cluster."""
        return self._total - self.left

    def average(self) -> FloatArray:
        """Return the average of the records left, rounded to whole numbers, shape (dimensions,)."""
        return np.rint(self._sums / self.left)

    def at(self, position: int) -> FloatArray:
        """Return the coordinates of a position, shape (dimensions,)."""
        return self._axes[:, position].copy()

    def distances(self, centre: FloatArray) -> FloatArray:
        """Return the distance of each position to a centre, shape (positions,)."""
        # A matrix product would start threads, which cost more than they save for few columns.
        distances: FloatArray = np.einsum("ji,j->i", self._axes, -2.0 * centre)
        distances += self._norms
        distances += float(centre @ centre)
        return distances

    def furthest(self, distances: FloatArray) -> int:
        """Return the furthest position with records; of several, the first."""
        return int(np.argmax(np.where(self._counts > 0, distances, -1.0)))

    def nearest(self, distances: FloatArray) -> int:
        """Return the nearest position with records; of several, the first."""
        return int(np.argmin(self._open(distances)))

    def nearest_distance(self, distances: FloatArray, without: int) -> float:
        """Return the distance of the nearest other position with records; infinite if there is none."""
        others = self._open(distances)
        others[without] = np.inf
        return float(others.min())

    def count(self, position: int) -> int:
        """Return the records left at a position."""
        return int(self._counts[position])

    def point(self, position: int) -> int:
        """Return the point at a position."""
        return int(self._points[position])

    def take(self, first: int, distances: FloatArray, k: int) -> Taken:
        """Take all records of a position if they are at least k, otherwise the k records nearest to it.

        If fewer than k others would remain, some of the records stay with them, if there are enough.

        Parameters
        ----------
        distances: of each position to the first.
        """
        own = self.count(first)
        if own < k:
            return self._take(*self._closest(distances, k))
        others = self.left - own
        short = 0 < others < k and self.left >= 2 * k
        return self.take_of(first, self.left - k if short else own)

    def take_of(self, position: int, records: int) -> Taken:
        """Take a number of records of one position."""
        return self._take(np.array([position]), np.array([records]))

    def take_all(self) -> Taken:
        """Take all records left."""
        positions = np.flatnonzero(self._counts)
        return self._take(positions, self._counts[positions])

    def compact(self) -> IntArray | slice:
        """Drop positions without records if they are many; return the positions that stay."""
        staying = np.flatnonzero(self._counts)
        if len(staying) > COMPACT_BELOW * len(self._counts):
            return slice(None)
        self._points = self._points[staying]
        self._axes = np.ascontiguousarray(self._axes[:, staying])
        self._norms = self._norms[staying]
        self._counts = self._counts[staying]
        return staying

    def _open(self, distances: FloatArray) -> FloatArray:
        return np.where(self._counts > 0, distances, np.inf)

    def _closest(self, distances: FloatArray, k: int) -> tuple[IntArray, IntArray]:
        """Return positions and records of the k nearest records; the last position may keep some."""
        own = self._open(distances)
        reach = np.partition(own, k - 1)[k - 1] if len(own) > k else np.inf
        near = np.flatnonzero((own <= reach) & (self._counts > 0))
        near = near[np.argsort(own[near], kind="stable")]
        reached = np.cumsum(self._counts[near])
        last = int(np.searchsorted(reached, k))
        chosen = near[: last + 1]
        records = self._counts[chosen]
        records[-1] -= reached[last] - k
        return chosen, records

    def _take(self, positions: IntArray, records: IntArray) -> Taken:
        self._counts[positions] -= records
        self._sums -= self._axes[:, positions] @ records.astype(np.float64)
        self.left -= int(records.sum())
        return Taken(self._points[positions], records)


Tick = Callable[[int], None]
"""Called after every cluster with the number of records in clusters; may raise to end the run."""


@dataclass(frozen=True, eq=False)
class Shares:
    """The cluster of each record; the records of one point are equal, and may be in several clusters.

    Attributes
    ----------
    point: of each share, shape (shares,), int64.
    cluster: of each share, shape (shares,), int64; clusters are numbered from 0 in the order of forming.
    records: of each share, shape (shares,), int64, positive; the shares of a point add up to its count.
    """

    point: IntArray
    cluster: IntArray
    records: IntArray

    @staticmethod
    def of(clusters: list[Taken]) -> Shares:
        """Return the shares of clusters, given in the order of forming."""
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
        """Return the average of each cluster, rounded to whole numbers.

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
        return np.rint(np.stack(sums, axis=1) / sizes[:, None])

    def squared_error(self, coordinates: FloatArray) -> float:
        """Return the sum over records of the squared distance to the average of their cluster."""
        away = coordinates[self.point] - self.averages(coordinates)[self.cluster]
        return float(self.records @ (away * away).sum(axis=1))


class Clustering(ABC):
    """Forms clusters of at least k records near each other."""

    @abstractmethod
    def cluster(self, coordinates: FloatArray, counts: IntArray, k: int, tick: Tick) -> Shares:
        """Return the clusters, each of at least k records unless there are fewer in all.

        Distances are Euclidean. Ties go to the first point.

        Parameters
        ----------
        coordinates: of each point, shape (points, dimensions), float64; whole numbers whose squared distances
            are below 2**53, so that every comparison is exact.
        counts: records at each point, shape (points,), int64, positive.
        """


class FixedSize(Clustering):
    """Clusters of k records; a point with k or more records is a cluster of its own.

    While 3k records are left: the k nearest to the record furthest from the average, then the k nearest to
    the record furthest from that one. With 2k to 3k - 1 left, the first of these; the rest is the last.

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


LARGEST_SQUARE = 2.0**50
"""Bound on squared distances; sums of a few of them are exact in float64."""

LARGEST_SUM = 2.0**52
"""Bound on sums of one coordinate over all records."""


def whole_numbers(axes: FloatArray, records: int) -> FloatArray:
    """Scale coordinates by a power of two to the largest whole numbers with exact sums and squares.

    Parameters
    ----------
    axes: coordinates around 0, shape (points, dimensions).
    records: number of records, over which coordinates are summed.

    Returns
    -------
    Shape (points, dimensions), float64.
    """
    spans = axes.max(axis=0) - axes.min(axis=0)
    square = float(spans @ spans)
    if square == 0:
        return np.zeros_like(axes)
    largest = min(np.sqrt(LARGEST_SQUARE / square), LARGEST_SUM / (records * float(spans.max())))
    # A quarter less, because rounding adds up to one to every span.
    scaled: FloatArray = np.rint(axes * 2.0 ** np.floor(np.log2(0.75 * largest)))
    return scaled
