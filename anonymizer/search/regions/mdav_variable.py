"""V-MDAV: clusters of k to 2k - 1 records that take in what is close to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from anonymizer.masking.mdav import Clustering, Pool, Shares, Taken, Tick
from anonymizer.model.arrays import FloatArray, IntArray


class VariableSize(Clustering):
    """Clusters of k to 2k - 1 records: one grows while what it would take in is close to it.

    The next point is the nearest to any record of the cluster. It is close when that distance is less than
    ``gain`` times its distance to the nearest other point without a cluster. Fewer than k records that are
    left over join the clusters of the nearest average. A point that k or more records share is a cluster.

    Source: Solanas and Martínez-Ballesté, V-MDAV: a multivariate microaggregation with variable group size
    (COMPSTAT 2006), here on points with counts. Time in O(points squared) for each gain.

    Parameters
    ----------
    gains: gammas of the paper, which proposes 0.2 for scattered and 1.1 for clustered data; the clusters of
        least squared error stay, of the first where several have it.
    """

    def __init__(self, gains: Sequence[float] = (0.2, 1.1)) -> None:
        self.gains = gains

    def cluster(self, coordinates: FloatArray, counts: IntArray, k: int, tick: Tick) -> Shares:
        """Return clusters of k to 2k - 1 records, larger where points are shared or some were left over."""
        tried = [_Growth(coordinates, counts, k, gain).run(tick) for gain in self.gains]
        return min(tried, key=lambda shares: shares.squared_error(coordinates))


class _Growth:
    def __init__(self, coordinates: FloatArray, counts: IntArray, k: int, gain: float) -> None:
        self._coordinates = coordinates
        self._counts = counts
        self._k = k
        self._gain = gain

    def run(self, tick: Tick) -> Shares:
        coordinates, k = self._coordinates, self._k
        pool = Pool(coordinates, self._counts)
        clusters: list[Taken] = []
        outlying = pool.distances(pool.average())
        while pool.left >= k:
            first = pool.furthest(outlying)
            taken = pool.take(first, pool.distances(pool.at(first)), k)
            clusters.append(self._grown(pool, taken))
            outlying = outlying[pool.compact()]
            tick(pool.taken)
        if not pool.left:
            return Shares.of(clusters)
        rest = pool.take_all()
        return _joined(Shares.of(clusters), rest, coordinates) if clusters else Shares.of([rest])

    def _grown(self, pool: Pool, taken: Taken) -> Taken:
        """Return a cluster with the points that are close enough, up to 2k - 1 records."""
        most = 2 * self._k - 1
        if taken.size >= most or not pool.left:
            return taken
        near = reduce(np.minimum, (pool.distances(own) for own in self._coordinates[taken.points]))
        while pool.left:
            position = pool.nearest(near)
            records = pool.count(position)
            if taken.size + records > most:
                break
            around = pool.distances(pool.at(position))
            outside = pool.nearest_distance(around, without=position)
            if not near[position] < self._gain**2 * outside:
                break
            pool.take_of(position, records)
            taken = taken.with_point(pool.point(position), records)
            near = np.minimum(near, around)
        return taken


def _joined(shares: Shares, rest: Taken, coordinates: FloatArray) -> Shares:
    """Return clusters with what was left over, each point in the cluster of the nearest average."""
    away = coordinates[rest.points, None, :] - shares.averages(coordinates)
    nearest: IntArray = np.einsum("ijk,ijk->ij", away, away).argmin(axis=1)
    return Shares(
        np.concatenate([shares.point, rest.points]),
        np.concatenate([shares.cluster, nearest]),
        np.concatenate([shares.records, rest.records]),
    )
