"""MDAV and V-MDAV record by record, as the papers tell them.

One rule is ours: a chosen record that shares its point with k or more takes all of these and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Point = tuple[int, ...]
Cluster = list[int]
"""Positions of records."""


def squared(one: Sequence[float], two: Sequence[float]) -> float:
    return sum((left - right) ** 2 for left, right in zip(one, two, strict=True))


def average(points: Sequence[Point]) -> Point:
    """Return the average in whole numbers."""
    return tuple(round(sum(column) / len(points)) for column in zip(*points, strict=True))


class Records:
    """Records of which some have no cluster yet; the first of several goes first."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = points
        self.left = list(range(len(points)))

    def average(self) -> Point:
        return average([self.points[i] for i in self.left])

    def furthest(self, centre: Point) -> int:
        return min(self.left, key=lambda i: (-squared(self.points[i], centre), i))

    def nearest(self, centre: Point, k: int) -> Cluster:
        return sorted(self.left, key=lambda i: (squared(self.points[i], centre), i))[:k]

    def remove(self, cluster: Iterable[int]) -> None:
        gone = set(cluster)
        self.left = [i for i in self.left if i not in gone]

    def take(self, first: int, k: int) -> Cluster:
        """Take the k records nearest to one, or all that share its point."""
        alike = [i for i in self.left if self.points[i] == self.points[first]]
        others = len(self.left) - len(alike)
        cluster = self.nearest(self.points[first], k)
        if len(alike) >= k:
            cluster = alike[: len(self.left) - k] if 0 < others < k and len(self.left) >= 2 * k else alike
        self.remove(cluster)
        return cluster


def mdav(points: Sequence[Point], k: int) -> list[Cluster]:
    """Return clusters of k records; the last may have up to 2k - 1."""
    records = Records(points)
    clusters = []
    while len(records.left) >= 2 * k:
        opposite = len(records.left) >= 3 * k
        first = records.furthest(records.average())
        clusters.append(records.take(first, k))
        if opposite and len(records.left) >= 2 * k:
            clusters.append(records.take(records.furthest(points[first]), k))
    return [*clusters, records.left] if records.left else clusters


def v_mdav(points: Sequence[Point], k: int, gain: float) -> list[Cluster]:
    """Return clusters of k to 2k - 1 records, and what was left over with the nearest."""
    records = Records(points)
    centre = records.average()
    clusters: list[Cluster] = []
    while len(records.left) >= k:
        cluster = records.take(records.furthest(centre), k)
        while candidate := _close(records, cluster, 2 * k - 1 - len(cluster), gain):
            cluster += candidate
            records.remove(candidate)
        clusters.append(cluster)
    if not clusters:
        return [records.left]
    averages = [average([points[i] for i in cluster]) for cluster in clusters]
    for i in records.left:
        distances = [squared(points[i], own) for own in averages]
        clusters[distances.index(min(distances))].append(i)
    return clusters


def _close(records: Records, cluster: Cluster, room: int, gain: float) -> Cluster:
    """Return the records at the point that a cluster takes in next, none when it takes in no more."""
    points = records.points

    def inside(i: int) -> float:
        return min(squared(points[i], points[j]) for j in cluster)

    if not records.left or room <= 0:
        return []
    nearest = min(records.left, key=lambda i: (inside(i), i))
    candidate = [i for i in records.left if points[i] == points[nearest]]
    others = [squared(points[i], points[nearest]) for i in records.left if i not in candidate]
    close = inside(nearest) < gain**2 * min(others, default=float("inf"))
    return candidate if close and len(candidate) <= room else []
