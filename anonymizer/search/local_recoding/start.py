"""The first assignment: greedy groups, leftovers placed, merged until everything holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from anonymizer.errors import Interrupted
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment
from anonymizer.search.local_recoding.greedy import Parts, group_greedily
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST, LocalProblem
from anonymizer.search.local_recoding.guard import AssignmentJudge
from anonymizer.search.local_recoding.leftovers import Joining
from anonymizer.search.local_recoding.levels import LevelLattice
from anonymizer.search.local_recoding.merging import merged
from anonymizer.search.local_recoding.validity import Validity

ROUNDS = 200
"""Most rounds of merging before the start is given up."""

MERGED_AT_ONCE = 0.05
"""Share of the classes that are merged before a model of the whole table is asked again."""


class Start:
    """Finds a first assignment that may be released.

    Parameters
    ----------
    stopped: whether to give up; both methods raise ``Interrupted`` then.
    """

    def __init__(
        self,
        ground: LocalProblem,
        lattice: LevelLattice,
        validity: Validity,
        guard: AssignmentJudge,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ground = ground
        self._stopped = stopped
        self._lattice = lattice
        self._validity = validity
        self._guard = guard
        self._limit = ground.problem.limit

    def greedy(self) -> Assignment:
        """Return the groups that hold, found at vectors of levels of rising loss; the rest is suppressed."""
        atoms = np.arange(self._ground.atoms.number)
        counts = self._ground.atoms.counts
        losses = self._lattice.losses(self._lattice.vectors, np.ones(self._ground.trees.attributes))
        vectors = self._lattice.vectors[np.argsort(losses, kind="stable")]
        parts = Parts(atoms, counts, np.zeros_like(atoms), 1)
        found = group_greedily(parts, self._lattice, self._until_stopped(vectors), self._validity)
        return Assignment.of(self._ground, found.parts.atoms, found.parts.counts, found.labels)

    def _until_stopped(self, vectors: IntArray) -> Iterator[IntArray]:
        for vector in vectors:
            self._go_on()
            yield vector

    def _go_on(self) -> None:
        if self._stopped():
            raise Interrupted("interrupted before a release was found; nothing was written")

    def settled(self, assignment: Assignment) -> Assignment | None:
        """Place leftovers and merge classes until the assignment may be released; None if that fails.

        A part is suppressed rather than placed where that costs less, as far as the limit allows.
        """
        most, found = SUPPRESSION_COST, assignment
        for _ in range(ROUNDS):
            self._go_on()
            found = self._standing(found)
            found = Joining(found, self._validity, most).run()
            if found.suppressed > self._limit and most < np.inf:
                most = np.inf
                continue
            if self._guard.admits(found):
                return found
            before = found.classes
            found = self._merged(found)
            if found.classes == before:
                return None
        return None

    def _standing(self, assignment: Assignment) -> Assignment:
        """Suppress the classes that do not hold under p of what stays, until none is left."""
        found = assignment
        while True:
            self._validity.refer_to(found.kept)
            held = self._holding(found)
            if held.all():
                return found
            class_of = found.class_of.copy()
            own = class_of[found.first :]
            class_of[found.first :] = np.where(held[own], own, SUPPRESSED)
            found = Assignment.of(self._ground, found.atoms, found.counts, class_of)

    def _holding(self, found: Assignment) -> BoolArray:
        first = found.first
        return self._validity.holds(
            found.atoms[first:], found.counts[first:], found.class_of[first:], found.classes
        )

    def _merged(self, found: Assignment) -> Assignment:
        """Merge the classes that could take leftovers; without too many of these, the cheapest ones."""
        if found.suppressed > self._limit:
            return merged(found, self._asked(found), found.classes)
        seeds = np.argsort(found.sizes, kind="stable")
        return merged(found, seeds, max(int(MERGED_AT_ONCE * found.classes), 1))

    def _asked(self, found: Assignment) -> IntArray:
        """Return the classes that are nearest to a leftover, those that are so to most leftovers first."""
        nearest = Joining(found, self._validity, np.inf).nearest
        asked = np.bincount(nearest, minlength=found.classes)
        order = np.argsort(-asked, kind="stable")
        return order[asked[order] > 0].astype(np.int64)
