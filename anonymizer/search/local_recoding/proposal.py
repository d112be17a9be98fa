"""Changing an assignment zone by zone: each proposal is taken if it costs less and every class holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment, common_nodes
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST
from anonymizer.search.local_recoding.validity import Validity

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
