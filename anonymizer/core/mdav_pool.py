"""Points whose records still have no cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray

COMPACT_BELOW = 0.8
"""Points without records are dropped when they are more than the rest of this share."""


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
    """What is left of the points.

    Distances are squared. They are sums of whole numbers below 2**53, exact in float64: the same on every
    machine, in whatever order they are added, and equal distances are equal. Ties go to the point that comes
    first.

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
        """Number of records that have a cluster."""
        return self._total - self.left

    def average(self) -> FloatArray:
        """Return the average of the records that are left, in whole numbers, shape (dimensions,)."""
        average: FloatArray = np.rint(self._sums / self.left)
        return average

    def at(self, position: int) -> FloatArray:
        """Return the coordinates of a position, shape (dimensions,)."""
        return self._axes[:, position].copy()

    def distances(self, centre: FloatArray) -> FloatArray:
        """Return the distance of each position to a centre, shape (positions,)."""
        # Not a product of matrices: for so few columns its threads cost more than they save.
        distances: FloatArray = np.einsum("ji,j->i", self._axes, -2.0 * centre)
        distances += self._norms
        distances += float(centre @ centre)
        return distances

    def furthest(self, distances: FloatArray) -> int:
        """Return the position with records that is furthest, the first of several."""
        return int(np.argmax(np.where(self._counts > 0, distances, -1.0)))

    def nearest(self, distances: FloatArray) -> int:
        """Return the position with records that is nearest, the first of several."""
        return int(np.argmin(self._open(distances)))

    def nearest_distance(self, distances: FloatArray, without: int) -> float:
        """Return the distance of the nearest position with records other than one, infinite without any."""
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
        """Take all records of a position when they are at least k, else the k nearest to it.

        Where fewer than k others would remain although they need not, they are left some of the first.

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
        """Take some records of one position."""
        return self._take(np.array([position]), np.array([records]))

    def take_all(self) -> Taken:
        """Take all that is left."""
        positions = np.flatnonzero(self._counts)
        return self._take(positions, self._counts[positions])

    def compact(self) -> IntArray | slice:
        """Drop positions without records when they are many; return the positions that stay."""
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
        """Return positions and records of the k nearest records, as many as needed of the last position."""
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
