"""Improvers of a local recoding, which work in rounds.

Each moves single parts to another class, finds a class for suppressed records, groups a neighbourhood of
classes again, or solves one exactly over the facilities that dual prices choose. A proposal changes one zone
and is accepted if it costs less and every class is valid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, count, numbered, overlaps
from anonymizer.search.local.bound import DualBound
from anonymizer.search.local.facilities import Facilities, segments
from anonymizer.search.local.start import (
    UNASSIGNED,
    Grouped,
    Joining,
    LevelLattice,
    Parts,
    group_greedily,
)
from anonymizer.search.partition.assignment import (
    SUPPRESSED,
    SUPPRESSION_COST,
    Assignment,
    LocalProblem,
    cheapest_class,
    cheapest_in_zone,
    common_nodes,
    disjoint,
    savings,
    voronoi,
)
from anonymizer.search.partition.trees import RowJoins
from anonymizer.search.partition.validity import AssignmentJudge, Validity
from anonymizer.search.solver import Effort, Programme

LEAST_GAIN = 1e-9
"""Least savings of a proposal, far above the rounding errors of the compared sums."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """New classes for the parts of some zones without common classes.

    Attributes
    ----------
    zone_of_class: zone of each class of the assignment, shape (classes,), int64, -1 for none.
    zones: number of zones.
    atoms, counts, zone_of: the parts of the zones' classes, perhaps split further, shape (parts,).
    labels: new class of each part, any number from 0, not shared between zones; or ``SUPPRESSED``.
    """

    zone_of_class: IntArray
    zones: int
    atoms: IntArray
    counts: IntArray
    zone_of: IntArray
    labels: IntArray


def gains(assignment: Assignment, proposal: Proposal, validity: Validity) -> FloatArray:
    """Return the savings of each zone's proposal, minus infinity if invalid."""
    ground = assignment.ground
    inside = proposal.zone_of_class >= 0
    before = np.bincount(
        proposal.zone_of_class[inside],
        weights=(assignment.sizes * assignment.costs)[inside],
        minlength=proposal.zones,
    )
    kept = proposal.labels >= 0
    distinct, numbers = np.unique(proposal.labels[kept], return_inverse=True)
    numbers = numbers.reshape(-1)
    atoms, counts, zones = proposal.atoms[kept], proposal.counts[kept], proposal.zone_of[kept]
    costs = ground.costs(common_nodes(ground, atoms, numbers, len(distinct)))
    after = np.bincount(zones, weights=counts * costs[numbers], minlength=proposal.zones)
    saved = before - after - lost(proposal) * SUPPRESSION_COST
    hopeful = saved > LEAST_GAIN
    chosen = hopeful[zones]
    used = np.zeros(len(distinct), dtype=bool)
    used[numbers[chosen]] = True
    held = np.zeros(len(distinct), dtype=bool)
    renumbered = np.cumsum(used) - 1
    if used.any():
        held[used] = validity.holds(
            atoms[chosen], counts[chosen], renumbered[numbers[chosen]], int(used.sum())
        )
    failing = np.zeros(proposal.zones, dtype=bool)
    failing[zones[~held[numbers]]] = True
    return np.where(failing | ~hopeful, -np.inf, saved)


def lost(proposal: Proposal) -> IntArray:
    """Return the records that each zone's proposal suppresses, shape (zones,), int64."""
    gone = proposal.labels < 0
    return count(proposal.zone_of[gone], proposal.counts[gone], proposal.zones)


def applied(assignment: Assignment, proposal: Proposal, accepted: BoolArray) -> Assignment:
    """Return the assignment with the proposals of the accepted zones, shape (zones,), applied."""
    inside = proposal.zone_of_class >= 0
    changes = np.zeros(assignment.classes, dtype=bool)
    changes[inside] = accepted[proposal.zone_of_class[inside]]
    stays = np.ones(len(assignment.atoms), dtype=bool)
    stays[assignment.first :] = ~changes[assignment.class_of[assignment.first :]]
    new = accepted[proposal.zone_of]
    labels = np.where(proposal.labels < 0, SUPPRESSED, proposal.labels + assignment.classes)
    return Assignment.of(
        assignment.ground,
        np.concatenate([assignment.atoms[stays], proposal.atoms[new]]),
        np.concatenate([assignment.counts[stays], proposal.counts[new]]),
        np.concatenate([assignment.class_of[stays], labels[new]]),
    )


HALVINGS = 8
"""Times that half of the zones are dropped if models of the whole table reject all of them."""


class Improver(ABC):
    """A way to lower the cost of an assignment.

    Class attributes
    ----------------
    name: in the steps of the report.
    by_prices: whether it works with the prices of the bound, so that its effort brings no round nearer.

    Attributes
    ----------
    effort: usual time of the next step relative to others; never measured, as times differ between runs.
    """

    name: ClassVar[str]
    by_prices: ClassVar[bool] = False
    effort: float = 1.0

    @abstractmethod
    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Return a valid assignment of lower cost, or the given one.

        Deterministic given the state of ``random``; must not use the clock.
        """


class ProposalAcceptance:
    """Applies proposals that save something if the whole assignment remains valid."""

    def __init__(self, validity: Validity, judge: AssignmentJudge, limit: int) -> None:
        self._validity = validity
        self._judge = judge
        self._limit = limit

    def room(self, assignment: Assignment) -> int:
        """Return how many more records may be suppressed; 0 if that would move the reference."""
        return 0 if self._validity.moving else self._limit - assignment.suppressed

    def taken(self, assignment: Assignment, proposal: Proposal) -> Assignment:
        """Return the assignment with the proposals that save something."""
        saved = gains(assignment, proposal, self._validity)
        order = self._order(proposal, saved)
        if not len(order):
            return assignment
        spent = np.cumsum(lost(proposal)[order])
        order = order[spent <= self.room(assignment)]
        for _ in range(HALVINGS):
            if not len(order):
                break
            accepted = np.zeros(proposal.zones, dtype=bool)
            accepted[order] = True
            found = applied(assignment, proposal, accepted)
            if self._judge.admits(found):
                return found
            order = order[: len(order) // 2]
        return assignment

    @staticmethod
    def _order(proposal: Proposal, saved: FloatArray) -> np.ndarray:
        """Return the zones with savings; those that add no classes first, then by savings."""
        better = np.flatnonzero(saved > 0)
        inside = proposal.zone_of_class[proposal.zone_of_class >= 0]
        labels, first = np.unique(proposal.labels, return_index=True)
        new = proposal.zone_of[first[labels >= 0]]
        added = np.bincount(new, minlength=proposal.zones) - np.bincount(inside, minlength=proposal.zones)
        return better[np.lexsort((-saved[better], added[better] > 0))]


REGION = 4096
"""Most classes in one round."""

SHARES = (0.5, 0.3, 0.2, 0.1)
"""Zones per class, one drawn in each round; the classes of a zone are about its reciprocal."""

SPREAD = 0.3
"""Standard deviation of the logarithm by which the costs of each attribute are disturbed."""

NEAR, FAR = 600, 100
"""Level vectors tried in one round: those of classes and their neighbours, and random others."""


class Rebuilding(Improver):
    """Large neighbourhood search: many zones at once are grouped greedily in a perturbed order.

    Every zone is a class with its nearest ones. The records of a zone are grouped at random level vectors in
    a perturbed order; leftovers join the cheapest new class. Each zone keeps the better of its old and its
    new classes.
    """

    name = "rebuilding"

    def __init__(self, lattice: LevelLattice, validity: Validity, acceptance: ProposalAcceptance) -> None:
        self._lattice = lattice
        self._validity = validity
        self._acceptance = acceptance

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Rebuild all classes once, or those of a random region of many."""
        own = assignment
        share = float(random.choice(SHARES))
        zone_of_class, zones = voronoi(own, share, REGION, random)
        inside = own.first + np.flatnonzero(zone_of_class[own.class_of[own.first :]] >= 0)
        zone_of = zone_of_class[own.class_of[inside]]
        parts = Parts(own.atoms[inside], own.counts[inside], zone_of, zones)
        found = group_greedily(parts, self._lattice, self._vectors(own, random), self._validity)
        labels = _placed(own.ground, found, may_suppress=self._acceptance.room(own) > 0)
        parts = found.parts
        return self._acceptance.taken(
            own, Proposal(zone_of_class, zones, parts.atoms, parts.counts, parts.zones, labels)
        )

    def _vectors(self, own: Assignment, random: np.random.Generator) -> IntArray:
        """Return level vectors to group at: those of some classes, their neighbours, and random others."""
        lattice = self._lattice
        known = lattice.level_of[own.nodes]
        chosen = known[random.integers(len(known), size=NEAR)]
        neighbours = chosen[NEAR // 2 :]
        position = random.integers(neighbours.shape[1], size=len(neighbours))
        neighbours[np.arange(len(neighbours)), position] += random.choice((-1, 1), len(neighbours))
        others = lattice.vectors[random.integers(len(lattice.vectors), size=FAR)]
        vectors = np.unique(np.concatenate([np.clip(chosen, 0, lattice.top), others]), axis=0)
        losses = lattice.losses(vectors, np.exp(random.normal(0, SPREAD, len(lattice.means))))
        losses *= np.exp(random.normal(0, SPREAD / 4, len(vectors)))
        return vectors[np.argsort(losses, kind="stable")]


def _placed(ground: LocalProblem, found: Grouped, *, may_suppress: bool) -> IntArray:
    """Put ungrouped parts into the cheapest class of their zone, or suppress them.

    In a zone without classes every part becomes a class of its own, which the check of the proposal judges.
    """
    parts, labels = found.parts, found.labels.copy()
    left = np.flatnonzero(labels < 0)
    if not len(left):
        return labels
    grouped = labels >= 0
    distinct, class_of = np.unique(labels[grouped], return_inverse=True)
    class_of = class_of.reshape(-1)
    zones = np.zeros(len(distinct), dtype=np.int64)
    zones[class_of] = parts.zones[grouped]
    best, rises = cheapest_in_zone(
        ground,
        (ground.atoms.nodes[parts.atoms[left]], parts.counts[left], parts.zones[left]),
        (
            common_nodes(ground, parts.atoms[grouped], class_of, len(distinct)),
            count(class_of, parts.counts[grouped], len(distinct)),
            zones,
        ),
    )
    alone = (int(distinct[-1]) if len(distinct) else 0) + 1 + np.arange(len(left))
    chosen = np.where(best >= 0, distinct[best] if len(distinct) else 0, alone)
    if may_suppress:
        chosen = np.where(parts.counts[left] * SUPPRESSION_COST < rises, SUPPRESSED, chosen)
    labels[left] = chosen
    return labels


ZONE_SHARES = (0.2, 0.1, 0.05, 0.03)
"""Zones per class of a clustering, one drawn in each round."""

ZONE_PARTS = 500
"""Most parts of a zone of a clustering."""


class Clustering(Improver):
    """Divides many zones at once into clusters of near records, one cluster after the other.

    A zone is a class with its nearest ones. A cluster begins with a random record of its zone, or with the
    one farthest from the cluster before, and takes the record that raises its cost least until it is large
    enough; what remains joins the cheapest cluster. The work grows with the attributes, not with their
    levels. Each zone keeps the better of its old and its new classes.

    Source: Byun, Kamra, Bertino, Li (DASFAA 2007, doi:10.1007/978-3-540-71703-4_18), algorithm 1, here within
    zones.

    Parameters
    ----------
    ground: whose atoms are clustered.
    ended: whether the budget is spent; a clustering is given up then.
    """

    name = "clustering"

    def __init__(
        self, ground: LocalProblem, acceptance: ProposalAcceptance, ended: Callable[[], bool]
    ) -> None:
        self._joins = RowJoins(ground.trees, ground.joins, ground.atoms.nodes)
        self._acceptance = acceptance
        self._ended = ended

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Cluster all classes once, or those of a random region of many."""
        own = assignment
        zone_of_class, zones = voronoi(own, float(random.choice(ZONE_SHARES)), REGION, random)
        parts_of = np.bincount(
            zone_of_class[zone_of_class >= 0], np.diff(own.starts)[zone_of_class >= 0], zones
        )
        zone_of_class = np.where(
            (zone_of_class >= 0) & (parts_of[zone_of_class] <= ZONE_PARTS), zone_of_class, -1
        )
        inside = own.first + np.flatnonzero(zone_of_class[own.class_of[own.first :]] >= 0)
        if not len(inside):
            return own
        zone_of = zone_of_class[own.class_of[inside]]
        order = np.argsort(zone_of, kind="stable")
        parts = Parts(own.atoms[inside[order]], own.counts[inside[order]], zone_of[order], zones)
        labels = _Clusters(own.ground, self._joins, parts, random).run(self._ended)
        if labels is None:
            return own
        labels = _placed(own.ground, Grouped(parts, labels), may_suppress=self._acceptance.room(own) > 0)
        return self._acceptance.taken(
            own, Proposal(zone_of_class, zones, parts.atoms, parts.counts, parts.zones, labels)
        )


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The parts that growing clusters may take, zone after zone.

    Attributes
    ----------
    parts: positions among the parts of all zones, shape (candidates,), int64.
    codes: of their rows in the tables of join costs, shape (tables, candidates), int64.
    taken: infinite for those that a cluster has, else 0, shape (candidates,), float32.
    lengths: candidates of each zone, shape (zones,), int64.
    """

    parts: IntArray
    codes: IntArray
    taken: NDArray[np.float32]
    lengths: IntArray

    @property
    def starts(self) -> IntArray:
        """First candidate of each zone, shape (zones,), int64."""
        return np.cumsum(self.lengths) - self.lengths

    def of(self, zones: BoolArray) -> _Candidates:
        """Return those of some zones."""
        if zones.all():
            return self
        inside = np.flatnonzero(np.repeat(zones, self.lengths))
        return _Candidates(
            self.parts[inside], self.codes.take(inside, axis=1), self.taken[inside], self.lengths[zones]
        )

    def least(self, values: FloatArray | NDArray[np.float32]) -> IntArray:
        """Return the first candidate of least value in each zone, shape (zones,), int64."""
        starts = self.starts
        lowest = np.repeat(np.minimum.reduceat(values, starts), self.lengths)
        found = np.flatnonzero(values == lowest)
        return found[np.searchsorted(found, starts)]


class _Clusters:
    """The clusters of several zones, which grow side by side.

    Parameters
    ----------
    joins: of the atoms.
    parts: sorted by zone.
    """

    def __init__(
        self, ground: LocalProblem, joins: RowJoins, parts: Parts, random: np.random.Generator
    ) -> None:
        self._ground, self._joins, self._random = ground, joins, random
        self._atoms, self._zones = parts.atoms, parts.zones
        self._weights = ground.weights(parts.atoms, parts.counts)
        self._units: IntArray | None = None
        if ground.unit is not None:
            self._units = ground.atoms.keys.by_name[ground.unit][parts.atoms]
        self._labels = np.full(len(parts.atoms), UNASSIGNED, dtype=np.int64)
        self._open = np.ones(len(parts.atoms), dtype=bool)
        self._last = np.zeros((parts.number, ground.trees.attributes), dtype=np.int32)
        self._farthest = bool(random.random() < FARTHEST)

    def run(self, ended: Callable[[], bool]) -> IntArray | None:
        """Return the cluster of each part, shape (parts,), ``UNASSIGNED`` without one; None if ended."""
        turn, zones = 0, len(self._last)
        while not ended():
            left = count(self._zones, np.where(self._open, self._weights, 0), zones)
            parts = np.flatnonzero(self._open & (left >= self._ground.size)[self._zones])
            if not len(parts):
                return self._labels
            self._grow(parts, turn)
            turn += 1
        return None

    def _grow(self, parts: IntArray, turn: int) -> None:
        """Add a cluster in the zones of some open parts."""
        zones, lengths = np.unique(self._zones[parts], return_counts=True)
        codes = self._joins.codes.take(self._atoms[parts], axis=1)
        own = _Candidates(parts, codes, np.zeros(len(parts), dtype=np.float32), lengths)
        worth = self._random.random(len(parts))
        if turn and self._farthest:
            worth += self._joins.costs(self._last[zones], codes, lengths, own.taken)
        chosen = own.least(-worth)
        nodes = self._ground.atoms.nodes[self._atoms[parts[chosen]]]
        sizes, growing = np.zeros(len(zones), dtype=np.int64), np.arange(len(zones))
        labels = turn * len(self._last) + zones
        weights = self._weights if self._units is None else self._weights.copy()
        while True:
            joining = own.parts[chosen]
            self._labels[joining] = labels[growing]
            self._open[joining] = False
            own.taken[chosen] = np.inf
            sizes[growing] += weights[joining]
            if self._units is not None:
                # Further records of a unit do not make the cluster larger.
                unit = np.repeat(self._units[joining], own.lengths)
                weights[own.parts[(self._units[own.parts] == unit) & (unit >= 0)]] = 0
            unfinished = sizes[growing] < self._ground.size
            own, growing = own.of(unfinished), growing[unfinished]
            if not len(growing):
                break
            chosen, possible = self._next(own, nodes[growing])
            if not possible.all():
                chosen = (chosen - own.starts)[possible]
                own, growing = own.of(possible), growing[possible]
                chosen += own.starts
            joined = self._ground.atoms.nodes[self._atoms[own.parts[chosen]]]
            nodes[growing] = self._ground.trees.common(nodes[growing], joined)
        if self._units is not None:
            few = np.isin(self._labels[parts], labels[sizes < self._ground.size])
            self._labels[parts[few]] = UNASSIGNED
        self._last[zones] = nodes

    def _next(self, own: _Candidates, nodes: CodeArray) -> tuple[IntArray, BoolArray]:
        """Return the candidate that each cluster takes, and whether there is one, both (zones,)."""
        costs = self._joins.costs(nodes, own.codes, own.lengths, own.taken)
        chosen = own.least(costs)
        possible = np.isfinite(costs[chosen])
        if not possible.all():
            # Records without an allowed node that covers them stay where they are.
            self._open[own.parts[np.repeat(~possible, own.lengths)]] = False
        return chosen, possible


FARTHEST = 0.5
"""Chance that clusters begin with the record farthest from the cluster before."""


class Rejoining(Improver):
    """Lets suppressed records join classes if that costs less."""

    name = "rejoining"

    def __init__(self, validity: Validity, judge: AssignmentJudge) -> None:
        self._validity = validity
        self._judge = judge

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Try the nearest classes of every suppressed part."""
        found = Joining(assignment, self._validity, SUPPRESSION_COST).run()
        better = found.total < assignment.total and self._judge.admits(found)
        return found if better else assignment


SAMPLE = 1024
"""Most parts for which one round looks for a better class."""


@dataclass(frozen=True, eq=False)
class _Moves:
    """Proposed moves of parts.

    Attributes
    ----------
    parts: positions in the assignment, shape (moves,).
    amounts: moved records, shape (moves,).
    targets: classes, or ``SUPPRESSED``, shape (moves,).
    gains: estimated savings, shape (moves,).
    """

    parts: IntArray
    amounts: IntArray
    targets: IntArray
    gains: FloatArray


class Relocation(Improver):
    """Moves parts that cost less in another class, or suppressed, than in their own.

    A class that cannot lose a whole part loses as many of its records as its size allows.
    """

    name = "relocation"

    def __init__(self, validity: Validity, acceptance: ProposalAcceptance) -> None:
        self._validity = validity
        self._acceptance = acceptance

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Move a sample of the parts; no class takes part in two moves at once."""
        moves = self._moves(assignment, random)
        own = assignment
        sources = own.class_of[moves.parts]
        entries = np.concatenate([sources, moves.targets])
        owners = np.tile(np.arange(len(sources)), 2)
        real = entries >= 0
        chosen = disjoint(owners[real], entries[real], moves.gains, own.classes)
        if not chosen.any():
            return own
        return self._acceptance.taken(own, _proposal(own, moves, chosen))

    def _moves(self, assignment: Assignment, random: np.random.Generator) -> _Moves:
        own = assignment
        class_of, counts = own.class_of[own.first :], own.counts[own.first :]
        spare, added = own.spare
        whole = (added <= spare) | (counts == own.sizes[class_of])
        # Of several records of one unit, one suffices to keep the size.
        amounts = np.where(whole, counts, np.where(added == counts, spare, counts - 1))
        saved = np.where(whole, savings(own), amounts * own.costs[class_of])
        leaving = np.flatnonzero(saved > LEAST_GAIN)
        if len(leaving) > SAMPLE:
            leaving = np.sort(random.choice(leaving, SAMPLE, replace=False))
        amounts, saved = amounts[leaving], saved[leaving]
        nodes = own.ground.atoms.nodes[own.atoms[own.first + leaving]]
        targets, rises = cheapest_class(own, nodes, amounts, class_of[leaving])
        if self._acceptance.room(own):
            gone = amounts * SUPPRESSION_COST
            targets, rises = np.where(gone < rises, SUPPRESSED, targets), np.minimum(gone, rises)
        better = saved - rises > LEAST_GAIN
        return _Moves(own.first + leaving[better], amounts[better], targets[better], (saved - rises)[better])


def _proposal(assignment: Assignment, moves: _Moves, chosen: np.ndarray) -> Proposal:
    own = assignment
    parts, amounts, targets = moves.parts[chosen], moves.amounts[chosen], moves.targets[chosen]
    numbers = np.arange(len(parts))
    zone_of_class = np.full(own.classes, -1, dtype=np.int64)
    zone_of_class[own.class_of[parts]] = numbers
    zone_of_class[targets[targets >= 0]] = numbers[targets >= 0]
    left = own.counts.copy()
    left[parts] -= amounts
    inside = own.first + np.flatnonzero(zone_of_class[own.class_of[own.first :]] >= 0)
    staying = inside[left[inside] > 0]
    return Proposal(
        zone_of_class,
        len(parts),
        np.concatenate([own.atoms[staying], own.atoms[parts]]),
        np.concatenate([left[staying], amounts]),
        np.concatenate([zone_of_class[own.class_of[staying]], numbers]),
        np.concatenate([own.class_of[staying], targets]),
    )


NODES = 1
"""Of branch and bound: the root suffices, further nodes take too much time."""

GAP = 1e-2
"""Accepted distance of a solution from the bound, as a share of the records' cost."""


@dataclass(frozen=True, eq=False)
class Location:
    """Some items, the facilities that may serve them, and the pairs of both that are considered.

    A lower-bounded facility location as a mixed-integer programme. Serving is bounded pair by pair: a
    facility serves an item's records only as far as it is open, and an open one serves k records or more. So
    the linear relaxation is tight; once the open ones are known, the rest is a flow with lower bounds, whose
    vertices are integral. Measured on zones of Adult with 300 items: HiGHS proves the optimum within seconds;
    CP-SAT finds nothing better than the present classes in 15.

    Attributes
    ----------
    records: of each item, shape (items,), int64, positive.
    costs: of serving one record, shape (facilities,), float64.
    facility, item: of each pair, shape (pairs,), int64.
    size: fewest records of an open facility.
    room: most records that may be suppressed.
    """

    records: IntArray
    costs: FloatArray
    facility: IntArray
    item: IntArray
    size: int
    room: int

    def solved(self, worth: float, stopped: Callable[[], bool]) -> Served | None:
        """Return the best way found to serve all records, None without one.

        Deterministic, unless ``stopped`` asks to end meanwhile: then None.

        Parameters
        ----------
        worth: present cost of serving them, which sets the precision.
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
        """Return the solution, None if rounding errors make it invalid."""
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
    """The facility of each record.

    Attributes
    ----------
    item, records, facility: of each part of an item, shape (parts,), int64; facility -1 for suppressed ones.
    """

    item: IntArray
    records: IntArray
    facility: IntArray


def covering(first: CodeArray, last: CodeArray, lowest: CodeArray, highest: CodeArray) -> BoolArray:
    """Return which facilities cover which items, shape (facilities, items).

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
    """Return the reduced cost of each facility, shape (facilities,); negative if opening it pays.

    Parameters
    ----------
    costs: of serving one record, shape (facilities,).
    pairs: items that each facility may serve, shape (facilities, items).
    prices, records: of each item, shape (items,).

    Returns
    -------
    Reduced costs; infinite if a facility covers too few records.
    """
    order = np.argsort(-prices, kind="stable")
    own, number = prices[order], np.where(pairs[:, order], records[order], 0)
    after = np.cumsum(number, axis=1)
    taken = np.clip(size - (after - number), 0, number)
    taken = np.where(own > costs[:, None], number, taken)
    reduced: FloatArray = (taken * (costs[:, None] - own)).sum(axis=1)
    return np.where(after[:, -1] >= size, reduced, np.inf)


MARGIN = 0.005
"""Rise of all prices at which a considered facility would pay."""

DEAREST = 0.06
"""Excess of cost over price above which a facility does not serve a record of another class."""

CLASSES = 120
"""Most classes of a zone."""

PARTS = 900
"""Most parts of classes in a zone, so that zones of large classes have few."""

FACILITIES = 4000
"""Most facilities for a zone; those with the most records of the zone come first."""

PAIRS = 3000
"""Most pairs of items and facilities of one zone besides those of its classes: about a second."""

TIRING = 0.2
"""Factor for the chance of a class to be a centre, for each zone that it was in."""


class Rounding(Improver):
    """Solves neighbourhoods exactly, over their classes and the facilities that the prices choose.

    A zone is a class with its nearest ones. Classes that cost much more than their records' prices are
    centres more often, as they make the gap to the bound.

    Parameters
    ----------
    dual: gives the prices.
    stopped: returns while a zone is solved whether the user wants to stop.
    """

    name = "rounding"
    by_prices = True
    effort = 40.0

    def __init__(
        self,
        ground: LocalProblem,
        dual: DualBound,
        acceptance: ProposalAcceptance,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ground, self._dual, self._acceptance, self._stopped = ground, dual, acceptance, stopped
        # Items are atoms without sensitive values, in the same order.
        self._item_of, _ = numbered(ground.atoms.nodes.T, ground.atoms.number)
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
        return self._acceptance.taken(own, _served_proposal(own, parts, served, self._item_of))

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
        """Serve the records of some classes by these classes and facilities with enough of the records."""
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
        location = Location(records[items], costs, facility, item, size, self._acceptance.room(own))
        worth = float((own.sizes * own.costs)[chosen].sum())
        served = location.solved(worth, self._stopped)
        return None if served is None else Served(items[served.item], served.records, served.facility)


def _served_proposal(own: Assignment, parts: IntArray, served: Served, item_of: IntArray) -> Proposal:
    """Return the new classes of the parts; items without common classes are in different zones."""
    atoms, atom_of = np.unique(own.atoms[parts], return_inverse=True)
    counts = count(atom_of.reshape(-1), own.counts[parts], len(atoms))
    atom_order = np.argsort(item_of[atoms], kind="stable")
    part_order = np.argsort(served.item, kind="stable")
    # Both sequences divide the same records, item after item.
    own_atom, own_part, records = overlaps(counts[atom_order], served.records[part_order])
    new_atoms = atoms[atom_order][own_atom]
    labels = served.facility[part_order][own_part]
    zone_of_item, zone_of_class, zones = _components(own, parts, served, item_of)
    return Proposal(
        zone_of_class,
        zones,
        new_atoms,
        records,
        zone_of_item[item_of[new_atoms]],
        np.where(labels < 0, SUPPRESSED, labels),
    )


def _components(
    own: Assignment, parts: IntArray, served: Served, item_of: IntArray
) -> tuple[IntArray, IntArray, int]:
    """Return the zone of each item and of each old class, -1 for none, and the number of zones.

    Two items are in one zone if an old or new class has records of both.
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
