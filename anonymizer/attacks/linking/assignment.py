"""Linking all records at once, each record of the release with one original at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.covering import CoveringJoin
from anonymizer.attacks.linking.base import Distance, Distancing, Linked, Linking
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.counting import count, group_keys

BLOCK = 2000
"""Most original records that are assigned together."""

NEIGHBOURS = 50
"""Nearest classes of each original that are at hand in a block."""

TIE = 1e-9
"""Weight of the breadth of a class beside the largest distance: it decides between equal distances only."""


class AssignmentLinking(Linking):
    """The one-to-one assignment of originals to released records with the least sum of distances.

    An original that one class alone stands for is given to it. More than ``BLOCK`` other records are assigned
    block by block, originals with the same nearest class in one block, each block to what is left.

    Sources: Domingo-Ferrer, Muralidhar, "New directions in anonymization: permutation paradigm, verifiability
    by subjects and intruders, transparency to users" (Information Sciences 2016,
    doi:10.1016/j.ins.2015.12.014); the solver: Crouse (IEEE Transactions on Aerospace and Electronic Systems
    2016, doi:10.1109/TAES.2016.140952).
    """

    name = "assignment"
    together = True

    def __init__(self, distance: Distancing) -> None:
        self._distance = distance

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared for originals that more than one class may be given to."""
        sure = _sure(space) if self._distance.exact else _Assigned.none()
        return (len(space.originals) - len(sure.originals)) * space.cells

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Link; which of several best assignments is found is left to chance."""
        distance = self._distance(space)
        left, waiting = space.sizes.copy(), space.records.copy()
        sure = _sure(space) if distance.exact else _Assigned.none()
        taken = _per_link(space, sure, space.records[sure.originals])
        waiting[sure.originals] = 0
        left -= count(sure.classes, space.records[sure.originals], len(left))
        blocks = _blocks(distance, waiting)
        for block in blocks:
            if not left.any():
                break
            assigned = _assign(distance, block, left, random)
            left -= np.bincount(assigned.classes, minlength=len(left))
            taken += _per_link(space, assigned, np.ones(len(assigned.classes), dtype=np.int64))
        truth = space.truth
        chance = taken / space.records[truth.original] / space.sizes[truth.release]
        return Linked(chance, {"blocks": len(blocks)}, ties_randomized=bool(blocks))


@dataclass(frozen=True, eq=False)
class _Assigned:
    """Pairs of an original and a class."""

    originals: IntArray
    classes: IntArray

    @classmethod
    def none(cls) -> _Assigned:
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing)


def _sure(space: ComparisonSpace) -> _Assigned:
    """Return the originals that one class alone stands for, where it has room for all of them.

    They are at distance 0 from it. When that is so for all, no other assignment has as small a sum.
    """
    originals, classes = [], []
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals.astype(np.int64)):
        lone = np.bincount(pairs.original, minlength=len(block))[pairs.original] == 1
        originals.append(block[pairs.original[lone]])
        classes.append(pairs.published[lone])
    own, given = np.concatenate(originals), np.concatenate(classes)
    wanted = count(given, space.records[own], len(space.sizes))
    fits = (wanted <= space.sizes)[given]
    return _Assigned(own[fits], given[fits])


def _per_link(space: ComparisonSpace, assigned: _Assigned, records: IntArray) -> FloatArray:
    """Return how many records were assigned along each link of the truth."""
    number = len(space.sizes)
    links = space.truth.original * number + space.truth.release
    keys = np.concatenate([links, assigned.originals * number + assigned.classes])
    group_of, distinct = group_keys(keys, number * len(space.originals))
    counts = count(group_of[len(links) :], records, len(distinct))
    return counts[group_of[: len(links)]].astype(np.float64)


def _blocks(distance: Distance, waiting: IntArray) -> list[IntArray]:
    """Return the original of each record that waits, in blocks, alike ones in the same block.

    Parameters
    ----------
    waiting: records of each original, shape (originals,).
    """
    originals = np.flatnonzero(waiting)
    if not len(originals):
        return []
    if int(waiting.sum()) <= BLOCK:
        return [np.repeat(originals, waiting[originals])]
    nearest = np.concatenate([distance.rows(block).argmin(axis=1) for block in distance.blocks(originals)])
    order = originals[np.argsort(nearest, kind="stable")]
    records = np.repeat(order, waiting[order])
    return [records[start : start + BLOCK] for start in range(0, len(records), BLOCK)]


def _assign(distance: Distance, block: IntArray, left: IntArray, random: np.random.Generator) -> _Assigned:
    """Assign the originals of some records to records that are left, shape (classes,)."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  quick start-up

    space = distance.space
    own, row_of = np.unique(block, return_inverse=True)
    parts = [distance.rows(part) for part in distance.blocks(own)]
    open_classes = np.flatnonzero(left)
    distances = np.concatenate([part[:, open_classes] for part in parts])
    if len(open_classes) > NEIGHBOURS and int(left.sum()) > 2 * BLOCK:
        near = np.unique(np.argpartition(distances, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS])
        open_classes, distances = open_classes[near], distances[:, near]
    costs = distances + TIE * max(float(distances.max()), 1.0) * _narrowness(space.breadth[open_classes])
    columns = np.repeat(np.arange(len(open_classes)), np.minimum(left[open_classes], len(block)))
    # Equal costs are many; in the files' order the solver would find the truth by its position.
    rows, columns = random.permutation(row_of), random.permutation(columns)
    first, second = linear_sum_assignment(costs[np.ix_(rows, columns)])
    return _Assigned(own[rows[first]], open_classes[columns[second]])


def _narrowness(breadth: FloatArray) -> FloatArray:
    """Return the logarithm of the breadth, from 0 to 1."""
    logarithm = np.log(breadth)
    widest = float(logarithm.max())
    return logarithm / widest if widest > 0 else logarithm
