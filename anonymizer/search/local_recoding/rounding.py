"""From prices to classes: zones that cost more than their prices are solved with the facilities that pay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment
from anonymizer.search.local_recoding.bound import DualBound
from anonymizer.search.local_recoding.facilities import Facilities, segments
from anonymizer.search.local_recoding.ground import LocalProblem
from anonymizer.search.local_recoding.improver import Improver, ProposalAcceptance
from anonymizer.search.local_recoding.proposal import Proposal
from anonymizer.search.local_recoding.restricted import Location, Served, covering, reduced_costs

MARGIN = 0.005
"""Facilities that would pay if all prices were higher by this are considered."""

DEAREST = 0.06
"""No facility that costs this much more than its price serves a record, unless it is the class it is in."""

CLASSES = 120
"""Most classes of a zone."""

PARTS = 900
"""Most parts of classes in a zone; large classes make zones of few."""

FACILITIES = 4000
"""Most facilities that are looked at for a zone; those that most of its records could fill come first."""

PAIRS = 3000
"""Most pairs of items and facilities of one zone, beyond those of the present classes: about a second."""

TIRING = 0.2
"""What the chance of a class to be the centre of a zone falls to each time that it was in one."""


class Rounding(Improver):
    """Solves neighbourhoods exactly, over existing classes and the facilities that the prices choose.

    A zone is a class with those that are nearest to it. Classes that cost much more than their records'
    prices are centres more often: there lies the gap to the bound.

    Parameters
    ----------
    dual: its prices choose; better ones choose better.
    stopped: whether the user wants to stop, asked while a zone is solved.
    """

    name = "rounding"
    effort = 40.0

    def __init__(
        self,
        ground: LocalProblem,
        dual: DualBound,
        taking: ProposalAcceptance,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ground, self._dual, self._taking, self._stopped = ground, dual, taking, stopped
        # Items are atoms of which only the nodes count, in the same order.
        _, item_of = np.unique(ground.atoms.nodes, axis=0, return_inverse=True)
        self._item_of = item_of.reshape(-1).astype(np.int64)
        self._fresh = np.ones(ground.atoms.number)
        self._rounds = -1
        self._facilities: Facilities | None = None

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Solve one zone."""
        own = assignment
        if self._rounds != self._dual.rounds:
            self._facilities, self._rounds = self._dual.facilities(MARGIN, self._stopped), self._dual.rounds
        if self._facilities is None or not own.classes:
            return assignment
        chosen = self._zone(own, random)
        parts = own.first + np.flatnonzero(np.isin(own.class_of[own.first :], chosen))
        self._fresh[own.atoms[parts]] *= TIRING
        served = self._solved(own, chosen, parts)
        if served is None:
            return assignment
        return self._taking.taken(own, _proposal(own, parts, served, self._item_of))

    def _zone(self, own: Assignment, random: np.random.Generator) -> IntArray:
        """Return the classes of a zone, ascending."""
        member, counts = own.atoms[own.first :], own.counts[own.first :]
        prices = self._dual.prices[self._item_of[member]]
        class_of = own.class_of[own.first :]
        excess = own.sizes * own.costs - np.bincount(class_of, counts * prices, own.classes)
        fresh = np.bincount(class_of, counts * self._fresh[member], own.classes) / own.sizes
        chances = np.maximum(excess, 1e-9) * fresh
        centre = int(random.choice(own.classes, p=chances / chances.sum()))
        joined = self._ground.joins.costs(own.nodes[centre], own.nodes)
        distance = joined - 0.5 * np.maximum(own.costs, own.costs[centre])
        nearest = np.argsort(distance, kind="stable")[:CLASSES]
        fits = np.cumsum(np.diff(own.starts)[nearest]) <= PARTS
        fits[:2] = True
        return np.sort(nearest[fits])

    def _solved(self, own: Assignment, chosen: IntArray, parts: IntArray) -> Served | None:
        """Serve the records of some classes by these classes and the facilities that they can fill."""
        trees, found = self._ground.trees, self._facilities
        assert found is not None
        records = count(self._item_of[own.atoms[parts]], own.counts[parts], len(self._dual.prices))
        items = np.flatnonzero(records)
        reach = np.bincount(segments(found.starts), records[found.items], found.number)
        size = self._ground.problem.minimum_size
        filled = np.flatnonzero(reach >= size)
        filled = filled[np.argsort(-reach[filled], kind="stable")[:FACILITIES]]
        nodes = np.concatenate([own.nodes[chosen], found.nodes[filled]])
        lowest = self._dual.items.nodes[items]
        pairs = covering(trees.first[nodes], trees.last[nodes], trees.first[lowest], trees.last[lowest])
        costs = self._ground.costs(nodes)
        pairs &= costs[:, None] < self._dual.prices[items] + DEAREST
        members = np.searchsorted(items, self._item_of[own.atoms[parts]])
        pairs[np.searchsorted(chosen, own.class_of[parts]), members] = True
        chosen_by = reduced_costs(costs, pairs, self._dual.prices[items], records[items], size)
        chosen_by[: len(chosen)] = -np.inf
        order = np.argsort(chosen_by, kind="stable")
        fits = (np.cumsum(pairs[order].sum(axis=1)) <= PAIRS) & (chosen_by[order] <= size * MARGIN)
        fits |= chosen_by[order] == -np.inf
        pairs[order[~fits]] = False
        facility, item = np.nonzero(pairs)
        location = Location(records[items], costs, facility, item, size, self._taking.room(own))
        worth = float((own.sizes * own.costs)[chosen].sum())
        served = location.solved(worth, self._stopped)
        return None if served is None else Served(items[served.item], served.records, served.facility)


def _proposal(own: Assignment, parts: IntArray, served: Served, item_of: IntArray) -> Proposal:
    """Return the new classes of the parts; what shares no item with the rest is a zone of its own."""
    atoms, atom_of = np.unique(own.atoms[parts], return_inverse=True)
    counts = count(atom_of.reshape(-1), own.counts[parts], len(atoms))
    atom_order = np.argsort(item_of[atoms], kind="stable")
    part_order = np.argsort(served.item, kind="stable")
    # Both sequences divide the same line of records, item after item: shares end where either does.
    ends, part_ends = np.cumsum(counts[atom_order]), np.cumsum(served.records[part_order])
    all_ends = np.union1d(ends, part_ends)
    new_atoms = atoms[atom_order][np.searchsorted(ends, all_ends)]
    labels = served.facility[part_order][np.searchsorted(part_ends, all_ends)]
    zone_of_item, zone_of_class, zones = _components(own, parts, served, item_of)
    return Proposal(
        zone_of_class,
        zones,
        new_atoms,
        np.diff(all_ends, prepend=0),
        zone_of_item[item_of[new_atoms]],
        np.where(labels < 0, SUPPRESSED, labels),
    )


def _components(
    own: Assignment, parts: IntArray, served: Served, item_of: IntArray
) -> tuple[IntArray, IntArray, int]:
    """Return the zone of each item and of each old class, -1 where there is none, and the number of zones.

    Items are in one zone if some class, old or new, has records of both.
    """
    items = int(item_of.max()) + 1
    placed = served.facility >= 0
    first = np.concatenate([item_of[own.atoms[parts]], served.item[placed]])
    second = np.concatenate([items + own.class_of[parts], items + own.classes + served.facility[placed]])
    ends, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    zone = connected(numbers.reshape(2, -1), len(ends))
    zone_of = np.full(items + own.classes + int(served.facility.max(initial=-1)) + 1, -1, dtype=np.int64)
    zone_of[ends] = zone
    return zone_of[:items], zone_of[items : items + own.classes], int(zone.max(initial=-1)) + 1


def connected(edges: IntArray, number: int) -> IntArray:
    """Return the connected component of each vertex of a graph, shape (vertices,), numbered from 0.

    Parameters
    ----------
    edges: the two ends of each edge, shape (2, edges).
    """
    least = np.arange(number)
    while True:
        before = least.copy()
        both = np.minimum(least[edges[0]], least[edges[1]])
        np.minimum.at(least, edges[0], both)
        np.minimum.at(least, edges[1], both)
        least = least[least]
        if np.array_equal(least, before):
            return np.unique(least, return_inverse=True)[1].reshape(-1).astype(np.int64)
