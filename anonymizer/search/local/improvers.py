"""Improvers of a local recoding: single parts, suppressed records, and neighborhoods of classes.

Each works in rounds: it moves single parts to another class, finds a class for suppressed records, or
groups a neighborhood of classes again. A proposal changes one zone and is accepted if it costs less and
every class is valid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.search.local.assignment import (
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
from anonymizer.search.local.start import Grouped, Joining, LevelLattice, Parts, group_greedily
from anonymizer.search.local.validity import AssignmentJudge, Validity

LEAST_GAIN = 1e-9
"""A proposal must save more than this, far above the rounding errors of the sums that are compared."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """New classes for the parts of some zones, none of which shares a class with another.

    Attributes
    ----------
    zone_of_class: zone of each class of the assignment, shape (classes,), int64, -1 for none.
    zones: their number.
    atoms, counts, zone_of: the parts of the zones' classes, perhaps split further, shape (parts,).
    labels: new class of each part, any number of at least 0, not shared between zones; ``SUPPRESSED``.
    """

    zone_of_class: IntArray
    zones: int
    atoms: IntArray
    counts: IntArray
    zone_of: IntArray
    labels: IntArray


def gains(assignment: Assignment, proposal: Proposal, validity: Validity) -> FloatArray:
    """Return what each zone's proposal saves of the sum of all costs, minus infinity where one fails."""
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
    """Return how many records each zone's proposal suppresses, shape (zones,), int64."""
    gone = proposal.labels < 0
    return count(proposal.zone_of[gone], proposal.counts[gone], proposal.zones)


def applied(assignment: Assignment, proposal: Proposal, accepted: BoolArray) -> Assignment:
    """Return the assignment with the proposals of the accepted zones, shape (zones,), in force."""
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
"""Times that half of the zones are left out when models of the whole table reject all of them."""


class Improver(ABC):
    """A way to lower the cost of an assignment.

    Class attributes
    ----------------
    name: as the steps of the report show it.
    effort: how much longer than others it usually takes; the clock would not do, as it differs between runs.
    """

    name: ClassVar[str]
    effort: ClassVar[float] = 1.0

    @abstractmethod
    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Return an assignment that may be released and costs less, or the same one.

        Deterministic given the state of ``random``; must not look at the clock.
        """


class ProposalAcceptance:
    """Puts proposals in force as far as they save something and the whole may still be released."""

    def __init__(self, validity: Validity, guard: AssignmentJudge, limit: int) -> None:
        self._validity = validity
        self._guard = guard
        self._limit = limit

    def room(self, assignment: Assignment) -> int:
        """Return how many more records may be suppressed; none where that would move the reference."""
        return 0 if self._validity.moving else self._limit - assignment.suppressed

    def taken(self, assignment: Assignment, proposal: Proposal) -> Assignment:
        """Return the assignment with the proposals of the zones that pay off."""
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
            if self._guard.admits(found):
                return found
            order = order[: len(order) // 2]
        return assignment

    @staticmethod
    def _order(proposal: Proposal, saved: FloatArray) -> np.ndarray:
        """Return the zones that save something; those that add no classes first, then by what they save."""
        better = np.flatnonzero(saved > 0)
        inside = proposal.zone_of_class[proposal.zone_of_class >= 0]
        labels, first = np.unique(proposal.labels, return_index=True)
        new = proposal.zone_of[first[labels >= 0]]
        added = np.bincount(new, minlength=proposal.zones) - np.bincount(inside, minlength=proposal.zones)
        return better[np.lexsort((-saved[better], added[better] > 0))]


REGION = 4096
"""Most classes that are looked at in one round."""

SHARES = (0.5, 0.3, 0.2, 0.1)
"""Zones per class, from which one is drawn: classes per zone are about the reciprocal."""

SPREAD = 0.3
"""Standard deviation of the logarithm by which the costs of each attribute are disturbed."""

NEAR, FAR = 600, 100
"""Vectors of levels that are tried in one round: those of classes and beside them, and any others."""


class Rebuilding(Improver):
    """Large neighbourhood search: many zones at once are grouped greedily in a disturbed order.

    Every zone is a class with those that are nearest to it. The records of a zone are grouped among
    themselves, at random vectors of levels in an order that is off the true one; what is left over joins the
    cheapest new class. Each zone keeps the better of its old and its new classes.
    """

    name = "rebuilding"

    def __init__(self, lattice: LevelLattice, validity: Validity, taking: ProposalAcceptance) -> None:
        self._lattice = lattice
        self._validity = validity
        self._taking = taking

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:
        """Rebuild all classes once, or those of a random region of many."""
        own = assignment
        share = float(random.choice(SHARES))
        zone_of_class, zones = voronoi(own, share, REGION, random)
        inside = own.first + np.flatnonzero(zone_of_class[own.class_of[own.first :]] >= 0)
        zone_of = zone_of_class[own.class_of[inside]]
        parts = Parts(own.atoms[inside], own.counts[inside], zone_of, zones)
        found = group_greedily(parts, self._lattice, self._vectors(own, random), self._validity)
        labels = _placed(own.ground, found, may_suppress=self._taking.room(own) > 0)
        parts = found.parts
        return self._taking.taken(
            own, Proposal(zone_of_class, zones, parts.atoms, parts.counts, parts.zones, labels)
        )

    def _vectors(self, own: Assignment, random: np.random.Generator) -> IntArray:
        """Return vectors to group at: those of some classes, vectors beside them, and any others."""
        lattice = self._lattice
        known = lattice.level_of[own.nodes]
        chosen = known[random.integers(len(known), size=NEAR)]
        beside = chosen[NEAR // 2 :]
        position = random.integers(beside.shape[1], size=len(beside))
        beside[np.arange(len(beside)), position] += random.choice((-1, 1), len(beside))
        others = lattice.vectors[random.integers(len(lattice.vectors), size=FAR)]
        vectors = np.unique(np.concatenate([np.clip(chosen, 0, lattice.top), others]), axis=0)
        losses = lattice.losses(vectors, np.exp(random.normal(0, SPREAD, len(lattice.means))))
        losses *= np.exp(random.normal(0, SPREAD / 4, len(vectors)))
        return vectors[np.argsort(losses, kind="stable")]


def _placed(ground: LocalProblem, found: Grouped, *, may_suppress: bool) -> IntArray:
    """Put what no group took into the class of its zone where it costs least, or suppress it.

    Where a zone has no class, every part is a class of its own, which the proposal then answers for.
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


class Rejoining(Improver):
    """Lets suppressed records join classes that have changed since, where that costs less."""

    name = "rejoining"

    def __init__(self, validity: Validity, guard: AssignmentJudge) -> None:
        self._validity = validity
        self._guard = guard

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Ask the nearest classes of every suppressed part."""
        found = Joining(assignment, self._validity, SUPPRESSION_COST).run()
        better = found.total < assignment.total and self._guard.admits(found)
        return found if better else assignment


SAMPLE = 1024
"""Most parts that look for a better class in one round."""


@dataclass(frozen=True, eq=False)
class _Moves:
    """Parts that would move.

    Attributes
    ----------
    parts: positions in the assignment, shape (moves,).
    amounts: records that move, shape (moves,).
    targets: classes, or ``SUPPRESSED``, shape (moves,).
    gains: estimates of what is saved, shape (moves,).
    """

    parts: IntArray
    amounts: IntArray
    targets: IntArray
    gains: FloatArray


class Relocation(Improver):
    """Moves parts that cost less in another class, or suppressed, than they add to their own.

    A class that cannot spare a whole part spares as many of its records as its size allows.
    """

    name = "relocation"

    def __init__(self, validity: Validity, taking: ProposalAcceptance) -> None:
        self._validity = validity
        self._taking = taking

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
        return self._taking.taken(own, _proposal(own, moves, chosen))

    def _moves(self, assignment: Assignment, random: np.random.Generator) -> _Moves:
        own = assignment
        class_of, counts = own.class_of[own.first :], own.counts[own.first :]
        spare = np.maximum(own.sizes[class_of] - self._validity.minimum_size, 0)
        whole = (counts <= spare) | (counts == own.sizes[class_of])
        amounts = np.where(whole, counts, spare)
        saved = np.where(whole, savings(own), amounts * own.costs[class_of])
        leaving = np.flatnonzero(saved > LEAST_GAIN)
        if len(leaving) > SAMPLE:
            leaving = np.sort(random.choice(leaving, SAMPLE, replace=False))
        amounts, saved = amounts[leaving], saved[leaving]
        nodes = own.ground.atoms.nodes[own.atoms[own.first + leaving]]
        targets, rises = cheapest_class(own, nodes, amounts, class_of[leaving])
        if self._taking.room(own):
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
