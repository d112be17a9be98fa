"""Rounding dual prices to classes: zones that cost more than their prices are solved exactly.

A zone is a lower-bounded facility location, restricted to the facilities that pay and to few items, as a
mixed-integer program. Serving is modeled pair by pair: an item's records are served by a facility only to
the extent that it is open, and an open one serves k records or more. Once it is known which are open, the
rest is a flow with lower bounds: its vertices are integral. With serving bounded per pair, not per
facility, the linear relaxation is tight. Measured on zones of Adult with 300 items: HiGHS proves the
optimum within seconds where CP-SAT finds nothing better than the present classes in 15.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.search.local.assignment import SUPPRESSED, SUPPRESSION_COST, Assignment, LocalProblem
from anonymizer.search.local.bound import DualBound
from anonymizer.search.local.facilities import Facilities, segments
from anonymizer.search.local.improvers import Improver, Proposal, ProposalAcceptance
from anonymizer.search.solver import Effort, Programme

NODES = 1
"""Of branch and bound: the root finds what there is; the time that more takes is better spent elsewhere."""

GAP = 1e-2
"""A solution within this share of what the records cost is good enough."""


@dataclass(frozen=True, eq=False)
class Location:
    """Some items, the facilities that may serve them, and which pairs of both are considered.

    Attributes
    ----------
    records: of each item, shape (items,), int64, positive.
    costs: of serving one record, shape (facilities,), float64.
    facility, item: of each pair, shape (pairs,), int64.
    size: records that an open facility serves at least.
    room: records that may be suppressed at most.
    """

    records: IntArray
    costs: FloatArray
    facility: IntArray
    item: IntArray
    size: int
    room: int

    def solved(self, worth: float, stopped: Callable[[], bool]) -> Served | None:
        """Return the best way to serve all records that was found, None where none was.

        Deterministic, unless ``stopped`` asks to end meanwhile: then None.

        Parameters
        ----------
        worth: what serving them costs at present, which sets the precision.
        """
        if stopped():
            return None
        effort = Effort(nodes=NODES, slack=GAP * abs(worth), stopped=stopped)
        found = self._programme().solved(effort, None)
        if found.values is None or not found.ended:
            return None
        pairs = len(self.facility)
        return self._read(
            np.rint(found.values[: pairs + len(self.records) * (self.room > 0)]).astype(np.int64)
        )

    def _programme(self) -> Programme:
        """Variables: records per pair, records suppressed per item if any may be, open facilities."""
        pairs, items, facilities = len(self.facility), len(self.records), len(self.costs)
        gone = np.arange(items if self.room > 0 else 0)
        first_open = pairs + len(gone)
        pair, served = np.arange(pairs), self.records[self.item].astype(np.float64)
        opened = first_open + self.facility
        serving = items + np.arange(facilities)
        linking = items + facilities + pair
        last = items + facilities + pairs
        row = [self.item, gone, items + self.facility, serving, linking, linking, np.full(len(gone), last)]
        column = [pair, pairs + gone, pair, first_open + np.arange(facilities), pair, opened, pairs + gone]
        ones = np.ones(pairs)
        few = np.full(facilities, -float(self.size))
        coefficient = [ones, np.ones(len(gone)), ones, few, ones, -served, np.ones(len(gone))]
        limits = np.full(min(len(gone), 1), float(self.room))
        unbounded = np.full(pairs, -np.inf)
        return Programme(
            costs=np.concatenate(
                [self.costs[self.facility], np.full(len(gone), SUPPRESSION_COST), np.zeros(facilities)]
            ),
            upper=np.concatenate([served, self.records[gone].astype(np.float64), np.ones(facilities)]),
            whole=np.arange(first_open + facilities) >= first_open,
            row=np.concatenate(row),
            column=np.concatenate(column),
            coefficient=np.concatenate(coefficient),
            row_low=np.concatenate([self.records, np.zeros(facilities), unbounded, -np.inf * limits]),
            row_high=np.concatenate([self.records, np.full(facilities, np.inf), np.zeros(pairs), limits]),
        )

    def _read(self, values: IntArray) -> Served | None:
        """Return what was found, None where rounding errors have spoiled it."""
        served, gone = values[: len(self.facility)], values[len(self.facility) :]
        total = count(self.item, served, len(self.records))
        if len(gone):
            total = total + gone
        sizes = count(self.facility, served, len(self.costs))
        spoiled = (total != self.records).any() or ((sizes > 0) & (sizes < self.size)).any()
        if spoiled or (values < 0).any() or gone.sum() > self.room:
            return None
        used, lost = np.flatnonzero(served), np.flatnonzero(gone)
        return Served(
            np.concatenate([self.item[used], lost]),
            np.concatenate([served[used], gone[lost]]),
            np.concatenate([self.facility[used], np.full(len(lost), -1)]),
        )


@dataclass(frozen=True, eq=False)
class Served:
    """How the records are served.

    Attributes
    ----------
    item, records, facility: of each part of an item, shape (parts,), int64; facility -1 for suppressed ones.
    """

    item: IntArray
    records: IntArray
    facility: IntArray


def covering(first: CodeArray, last: CodeArray, lowest: CodeArray, highest: CodeArray) -> BoolArray:
    """Tell which facilities cover which items, shape (facilities, items).

    Parameters
    ----------
    first, last: half-open ranges of values of the facilities' nodes, shape (facilities, quasi-identifiers).
    lowest, highest: the same for the items' own nodes, shape (items, quasi-identifiers).
    """
    covered = np.ones((len(first), len(lowest)), dtype=bool)
    for position in range(first.shape[1]):
        covered &= first[:, position, None] <= lowest[None, :, position]
        covered &= highest[None, :, position] <= last[:, position, None]
    return covered


def reduced_costs(
    costs: FloatArray, pairs: BoolArray, prices: FloatArray, records: IntArray, size: int
) -> FloatArray:
    """Return what it costs beyond the prices to open each facility, shape (facilities,); negative if it pays.

    Parameters
    ----------
    costs: of serving one record, shape (facilities,).
    pairs: whom each facility may serve, shape (facilities, items).
    prices, records: of each item, shape (items,).

    Returns
    -------
    Infinite where a facility covers too few records.
    """
    order = np.argsort(-prices, kind="stable")
    own, number = prices[order], np.where(pairs[:, order], records[order], 0)
    after = np.cumsum(number, axis=1)
    taken = np.clip(size - (after - number), 0, number)
    taken = np.where(own > costs[:, None], number, taken)
    reduced: FloatArray = (taken * (costs[:, None] - own)).sum(axis=1)
    return np.where(after[:, -1] >= size, reduced, np.inf)


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
