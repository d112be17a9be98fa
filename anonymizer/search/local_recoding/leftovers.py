"""Letting single parts join classes that stay valid with them."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment
from anonymizer.search.local_recoding.nearest import BLOCK
from anonymizer.search.local_recoding.validity import Validity

CANDIDATES = 16
"""Classes that a part may try, the cheapest first."""


class Joining:
    """Suppressed parts of an assignment that try to join its classes.

    Every round each part asks the cheapest class that has not refused it. A class is judged with as many of
    the parts that ask as its quota allows; when it fails the quota is halved, and a part that fails alone is
    refused. So most parts are placed in few rounds whatever the models are.
    """

    def __init__(self, assignment: Assignment, validity: Validity, most: float) -> None:
        self._assignment = assignment
        self._validity = validity
        self._most = most
        first = assignment.first
        self._parts = np.arange(first)
        self._nodes = assignment.ground.atoms.nodes[assignment.atoms[:first]]
        self._counts = assignment.counts[:first]
        self._candidates, self._costs = self._nearest()
        self._tried = np.zeros(first, dtype=np.int64)
        self._joined = np.full(first, SUPPRESSED, dtype=np.int64)
        self._quota = np.full(assignment.classes, first, dtype=np.int64)

    def _nearest(self) -> tuple[IntArray, FloatArray]:
        """Return the cheapest classes of each part, and the rise per record, both (parts, candidates)."""
        own = self._assignment
        width = min(CANDIDATES, own.classes)
        chosen = np.zeros((len(self._parts), width), dtype=np.int64)
        costs = np.zeros((len(self._parts), width))
        before = (own.sizes * own.costs)[:, None]
        for start in range(0, len(self._parts) if width else 0, BLOCK):
            block = slice(start, start + BLOCK)
            rises = own.ground.joins.matrix(self._nodes[block], own.nodes)
            rises *= self._counts[block] + own.sizes[:, None]
            rises -= before
            near = np.sort(np.argpartition(rises, width - 1, axis=0)[:width], axis=0)
            lowest = np.take_along_axis(rises, near, axis=0)
            order = np.argsort(lowest, axis=0, kind="stable")
            chosen[block] = np.take_along_axis(near, order, axis=0).T
            costs[block] = np.take_along_axis(lowest, order, axis=0).T
        return chosen, costs / self._counts[:, None]

    @property
    def nearest(self) -> IntArray:
        """The class that each part asks first, of the parts for which there is one."""
        first = self._candidates[:, :1]
        possible: IntArray = first[self._costs[:, :1] < np.inf]
        return possible

    def run(self) -> Assignment:
        """Return the assignment with all parts joined that a class took."""
        while True:
            asking = np.flatnonzero((self._joined == SUPPRESSED) & (self._tried < self._candidates.shape[1]))
            if len(asking):
                costs = self._costs[asking, self._tried[asking]]
                asking = asking[(costs <= self._most) & (costs < np.inf)]
            if not len(asking):
                break
            self._round(asking)
        own = self._assignment
        labels = own.class_of.copy()
        labels[: own.first] = self._joined
        return Assignment.of(own.ground, own.atoms, own.counts, labels)

    def _round(self, asking: IntArray) -> None:
        target = self._candidates[asking, self._tried[asking]]
        order = np.lexsort((self._costs[asking, self._tried[asking]], target))
        asking, target = asking[order], target[order]
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        rank = np.arange(len(target)) - np.repeat(starts, np.diff(np.append(starts, len(target))))
        within = rank < self._quota[target]
        held = self._held(asking[within], target[within])
        accepted = held[target[within]]
        self._joined[asking[within][accepted]] = target[within][accepted]
        failed = np.unique(target[within][~accepted])
        alone = ~accepted & (self._quota[target[within]] == 1)
        self._tried[asking[within][alone]] += 1
        # A class with one asker fails alone, whatever its quota is.
        asked = np.bincount(target[within], minlength=len(self._quota))
        single = ~accepted & (asked[target[within]] == 1) & ~alone
        self._tried[asking[within][single]] += 1
        self._quota[failed] = np.maximum(np.minimum(self._quota, asked)[failed] // 2, 1)

    def _held(self, asking: IntArray, target: IntArray) -> BoolArray:
        """Tell for every class whether it holds with these parts; classes that nobody asks do."""
        own = self._assignment
        touched = np.zeros(own.classes, dtype=bool)
        touched[target] = True
        number = np.cumsum(touched) - 1
        members = np.flatnonzero(touched[own.class_of[own.first :]]) + own.first
        earlier = np.flatnonzero((self._joined != SUPPRESSED) & touched[self._joined])
        parts = np.concatenate([members, earlier, asking])
        classes = np.concatenate([own.class_of[members], self._joined[earlier], target])
        held = np.ones(own.classes, dtype=bool)
        held[touched] = self._validity.holds(
            own.atoms[parts], own.counts[parts], number[classes], int(touched.sum())
        )
        return held
