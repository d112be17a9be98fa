"""Neighbourhoods of classes that are taken apart and grouped anew."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment, common_nodes
from anonymizer.search.local_recoding.greedy import Grouped, Parts, group_greedily
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST, LocalProblem
from anonymizer.search.local_recoding.improver import Improver, ProposalAcceptance
from anonymizer.search.local_recoding.levels import LevelLattice
from anonymizer.search.local_recoding.nearest import cheapest_in_zone, voronoi
from anonymizer.search.local_recoding.proposal import Proposal
from anonymizer.search.local_recoding.validity import Validity

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
