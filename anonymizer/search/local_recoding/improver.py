"""What improves an assignment, one round at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import FloatArray
from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.guard import AssignmentJudge
from anonymizer.search.local_recoding.proposal import Proposal, applied, gains, lost
from anonymizer.search.local_recoding.validity import Validity

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
