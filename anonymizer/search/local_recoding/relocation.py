"""Single parts that move to another class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST
from anonymizer.search.local_recoding.improver import Improver, ProposalAcceptance
from anonymizer.search.local_recoding.nearest import cheapest_class, disjoint
from anonymizer.search.local_recoding.proposal import LEAST_GAIN, Proposal
from anonymizer.search.local_recoding.shrink import savings
from anonymizer.search.local_recoding.validity import Validity

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
