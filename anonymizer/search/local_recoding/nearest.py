"""Which classes are cheapest to join, and which changes may be made at once."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.ground import LocalProblem

BLOCK = 64
"""Node vectors that are compared with all classes at once."""

PAIRS = 1 << 16
"""Pairs of node vectors that are compared at once."""


def cheapest_class(
    assignment: Assignment, nodes: CodeArray, counts: IntArray, excluded: IntArray
) -> tuple[IntArray, FloatArray]:
    """Return the class that some records join at the least rise of the sum of all costs.

    Parameters
    ----------
    nodes, counts: of the joining records, shapes (joining, quasi-identifiers), (joining,).
    excluded: a class that each may not join, shape (joining,).

    Returns
    -------
    Class and rise, both of shape (joining,); the rise is infinite where there is none.
    """
    own = assignment
    best = np.zeros(len(counts), dtype=np.int64)
    rise = np.full(len(counts), np.inf)
    if not own.classes:
        return best, rise
    before = own.sizes * own.costs
    for start in range(0, len(counts), BLOCK):
        block = slice(start, start + BLOCK)
        rises = own.ground.joins.matrix(nodes[block], own.nodes)
        rises *= counts[block] + own.sizes[:, None]
        rises -= before[:, None]
        columns = np.arange(rises.shape[1])
        rises[excluded[block], columns] = np.inf
        best[block] = rises.argmin(axis=0)
        rise[block] = rises[best[block], columns]
    return best, rise


def disjoint(group_of: IntArray, members: IntArray, worth: FloatArray, number: int) -> BoolArray:
    """Choose groups that share no member, the worthiest first.

    Parameters
    ----------
    group_of, members: group and member of each entry, shape (entries,); members are in [0, number).
    worth: of each group, shape (groups,); equal ones go by position.

    Returns
    -------
    Which groups are chosen, shape (groups,): every other one shares a member with a worthier chosen one.
    """
    rank = np.empty(len(worth), dtype=np.int64)
    rank[np.argsort(-worth, kind="stable")] = np.arange(len(worth))
    chosen = np.zeros(len(worth), dtype=bool)
    while len(group_of):
        lowest = np.full(number, len(worth), dtype=np.int64)
        np.minimum.at(lowest, members, rank[group_of])
        first = np.zeros(len(worth), dtype=bool)
        first[group_of] = True
        first[group_of[lowest[members] < rank[group_of]]] = False
        chosen |= first
        used = np.zeros(number, dtype=bool)
        used[members[first[group_of]]] = True
        blocked = np.zeros(len(worth), dtype=bool)
        blocked[group_of[used[members]]] = True
        open_entries = ~blocked[group_of]
        group_of, members = group_of[open_entries], members[open_entries]
    return chosen


def cheapest_in_zone(
    ground: LocalProblem,
    joining: tuple[CodeArray, IntArray, IntArray],
    classes: tuple[CodeArray, IntArray, IntArray],
) -> tuple[IntArray, FloatArray]:
    """Return for some records the class of their own zone that they join at the least rise of all costs.

    Parameters
    ----------
    joining: nodes, records and zone of what joins, each with one row per joining part.
    classes: nodes, size and zone of each class.

    Returns
    -------
    Class and rise, both of shape (joining,); -1 and infinite where the zone has no class that can be joined.
    """
    nodes, counts, zones = joining
    by_zone = np.argsort(classes[2], kind="stable")
    own, sizes, own_zones = classes[0][by_zone], classes[1][by_zone], classes[2][by_zone]
    before = sizes * ground.costs(own)
    first, last = np.searchsorted(own_zones, zones), np.searchsorted(own_zones, zones, side="right")
    best, rise = np.full(len(counts), -1, dtype=np.int64), np.full(len(counts), np.inf)
    ends = np.cumsum(last - first)
    start = 0
    while start < len(counts):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + PAIRS)), start + 1)
        spans = (last - first)[start:stop]
        part = np.repeat(np.arange(start, stop), spans)
        position = np.arange(len(part)) - np.repeat(np.cumsum(spans) - spans, spans) + first[part]
        rises = (counts[part] + sizes[position]) * ground.joins.costs(nodes[part], own[position])
        rises -= before[position]
        order = np.lexsort((rises, part))
        lead = order[np.flatnonzero(np.diff(part[order], prepend=-1))]
        best[part[lead]], rise[part[lead]] = by_zone[position[lead]], rises[lead]
        start = stop
    best[np.isinf(rise)] = -1
    return best, rise


def voronoi(
    assignment: Assignment, share: float, most: int, random: np.random.Generator
) -> tuple[IntArray, int]:
    """Divide classes into zones around random ones, each class in the zone of the cheapest join.

    Parameters
    ----------
    share: of the classes that become centres.
    most: classes that are looked at; of more, those nearest to a random one.

    Returns
    -------
    Zone of each class, shape (classes,), int64, -1 for those that are not looked at; and the number of zones.
    """
    own = assignment
    region = np.arange(own.classes)
    if own.classes > most:
        centre = int(random.integers(own.classes))
        costs = own.ground.joins.costs(own.nodes[centre], own.nodes)
        region = np.sort(np.argsort(costs, kind="stable")[:most])
    zones = max(int(share * len(region)), 1)
    centres = np.sort(random.choice(region, zones, replace=False))
    least, zone = np.full(len(region), np.inf), np.zeros(len(region), dtype=np.int64)
    for start in range(0, zones, BLOCK):
        costs = own.ground.joins.matrix(own.nodes[centres[start : start + BLOCK]], own.nodes[region])
        nearest = costs.argmin(axis=1)
        cost = costs[np.arange(len(region)), nearest]
        closer = cost < least
        least[closer], zone[closer] = cost[closer], start + nearest[closer]
    zone_of_class = np.full(own.classes, -1, dtype=np.int64)
    zone_of_class[region] = zone
    return zone_of_class, zones


def cheapest_partner(assignment: Assignment, seeds: IntArray) -> tuple[IntArray, FloatArray]:
    """Return for some classes the other one with which merging costs least, and that rise, both (seeds,)."""
    own = assignment
    partner, rise = cheapest_class(own, own.nodes[seeds], own.sizes[seeds], seeds)
    return partner, rise - own.sizes[seeds] * own.costs[seeds]
