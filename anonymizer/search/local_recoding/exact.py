"""The best local recoding of a handful of records, by dynamic programming over their subsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.privacy.base import Merging
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment, common_nodes
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST, LocalProblem
from anonymizer.search.local_recoding.guard import AssignmentJudge
from anonymizer.search.local_recoding.validity import Validity

RECORDS = 12
"""Most records whose partitions are all looked at; there are 3**12 pairs of a subset and a part of it."""

MOVING_RECORDS = 9
"""The same where every choice of suppressed records has a reference of its own."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """Records that stay, and the least that they and the suppressed ones cost.

    Attributes
    ----------
    costs, cheapest: of each subset as one class and in the best classes, shape (subsets,).
    """

    total: float
    kept: int
    costs: FloatArray
    cheapest: FloatArray


class Exact:
    """All partitions of a few records into classes, with every choice of suppressed ones.

    A subset of the records is a number whose bits say which ones are in it.
    """

    def __init__(self, ground: LocalProblem, validity: Validity, guard: AssignmentJudge) -> None:
        self._validity = validity
        self._guard = guard
        self._ground = ground
        self._atoms = np.repeat(np.arange(ground.atoms.number), ground.atoms.counts)
        self._subsets = np.arange(1 << len(self._atoms))
        self._bits = (self._subsets[:, None] >> np.arange(len(self._atoms))) & 1
        self._sizes = self._bits.sum(axis=1)

    @staticmethod
    def applies(ground: LocalProblem) -> bool:
        """Tell whether the table is small enough, and classes can be judged one by one."""
        most = MOVING_RECORDS if ground.problem.moving_reference else RECORDS
        return ground.records <= most and not ground.problem.table_constraints

    @property
    def conclusive(self) -> bool:
        """Whether nothing else can be valid where nothing was found, or better than what was found.

        Classes that are published alike are one, which may fail a model that merging can break; and with a
        moving reference, more is asked of the classes than that they hold in the end.
        """
        return self._validity.merging is not Merging.NONE and not self._validity.moving

    def best(self) -> Assignment | None:
        """Return the assignment of least cost that may be released, None where there is none."""
        for choice in sorted(self._choices(), key=lambda each: each.total):
            found = self._assignment(choice)
            self._validity.refer_to(found.kept)
            if self._guard.admits(found):
                return found
        return None

    def _choices(self) -> Iterator[_Choice]:
        """Yield what the best classes cost for each choice of suppressed records."""
        everyone = len(self._atoms)
        limit = self._ground.problem.limit
        costs: FloatArray | None = None
        cheapest = np.zeros(0)
        for kept in self._subsets[self._sizes >= everyone - limit].tolist():
            moved = self._validity.refer_to(
                count(self._members(kept), self._one(kept), self._ground.atoms.number)
            )
            if costs is None or moved:
                costs = self._costs()
                cheapest = self._cheapest(costs)
            if cheapest[kept] < np.inf:
                gone = everyone - int(self._sizes[kept])
                yield _Choice(cheapest[kept] + gone * SUPPRESSION_COST, kept, costs, cheapest)

    def _members(self, subset: int) -> IntArray:
        members: IntArray = self._atoms[self._bits[subset] == 1]
        return members

    def _one(self, subset: int) -> IntArray:
        return np.ones(int(self._sizes[subset]), dtype=np.int64)

    def _costs(self) -> FloatArray:
        """Return what each subset costs as one class, shape (subsets,), infinite where it does not hold."""
        subset, record = np.nonzero(self._bits)
        class_of, atoms = subset - 1, self._atoms[record]
        number = len(self._subsets) - 1
        held = self._validity.holds(atoms, np.ones_like(atoms), class_of, number)
        each = self._ground.costs(common_nodes(self._ground, atoms, class_of, number))
        return np.concatenate([[np.inf], np.where(held, self._sizes[1:] * each, np.inf)])

    def _first_classes(self, subset: int) -> IntArray:
        """Return the subsets that contain the first record of a subset and nothing outside of it."""
        lowest = subset & -subset
        inside = (self._subsets & ~subset == 0) & (self._subsets & lowest != 0)
        return np.flatnonzero(inside)

    def _cheapest(self, costs: FloatArray) -> FloatArray:
        """Return the least cost of a partition of each subset, shape (subsets,)."""
        cheapest = np.zeros(len(costs))
        for subset in range(1, len(costs)):
            first = self._first_classes(subset)
            cheapest[subset] = (costs[first] + cheapest[subset ^ first]).min()
        return cheapest

    def _assignment(self, choice: _Choice) -> Assignment:
        kept, costs, cheapest = choice.kept, choice.costs, choice.cheapest
        labels = np.full(len(self._atoms), SUPPRESSED, dtype=np.int64)
        while kept:
            first = self._first_classes(kept)
            own = int(first[(costs[first] + cheapest[kept ^ first]).argmin()])
            labels[self._bits[own] == 1] = own
            kept ^= own
        return Assignment.of(self._ground, self._atoms, np.ones_like(self._atoms), labels)
