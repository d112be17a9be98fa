"""Classes under sensitive models from below: fine ones, merged where they violate a model.

A search from the top stops at the first cut that breaks a model. From the finest classes that are large
enough, the smallest that violates a model is merged with the one that takes most of the violation away for
the loss that it costs, suppression within its limit being one more partner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from anonymizer.compiled import Room
from anonymizer.model.arrays import IntArray
from anonymizer.search.base import Control, SearchProblem, first_with
from anonymizer.search.partition.assignment import SUPPRESSED, Assignment, LocalProblem, assignment_of
from anonymizer.search.partition.kernel import GONE, INTO, MODULE, WEIGHT, Parts, repair, weigh
from anonymizer.search.partition.limits import KernelLimits
from anonymizer.search.partition.trees import priced

CLASSES = 1 << 13
"""Most classes that look for partners among each other; of more, those that follow each other do."""

POWERS = (1, 2, 4)
"""Powers of the loss with which fine classes are merged; none is best for all models."""

MERGES = 64
"""Merges after which the user may have stopped the search."""


def mondrian_start(
    ground: LocalProblem, problem: SearchProblem, stopped: Callable[[], bool]
) -> Assignment | None:
    """Return the classes of Mondrian along the hierarchies, None without any.

    It has no budget, so that the result does not depend on the clock.

    Parameters
    ----------
    problem: what the classes must satisfy, on the table of ``ground``.
    """
    found = first_with("mondrian", problem, Control(stopped=stopped), labels="hierarchy")
    return None if found.recoding is None or stopped() else assignment_of(ground, found.recoding)


def finest(ground: LocalProblem, stopped: Callable[[], bool]) -> Assignment | None:
    """Return fine classes that are large enough, whatever their sensitive values; None without any."""
    return mondrian_start(ground, by_size(ground.problem), stopped)


def by_size(problem: SearchProblem) -> SearchProblem:
    """Return a problem that asks for the sizes of classes alone."""
    sizes = tuple(each for each in problem.class_constraints if each.attribute is None)
    return replace(problem, class_constraints=sizes, table_constraints=())


def repaired(
    own: Assignment, limits: KernelLimits, room: int, power: int, stopped: Callable[[], bool]
) -> Assignment | None:
    """Return classes merged until they satisfy the conditions, as far as these are known; None if stopped.

    Parameters
    ----------
    room: records that may be suppressed.
    power: of the loss beside the violation that a merge takes away.
    """
    while True:
        before, labels, left = own.classes, np.arange(own.classes), room
        # Classes in the order of their labels, so that neighbours are near.
        for start in range(0, own.classes, CLASSES):
            chosen = slice(start, start + CLASSES)
            merged = _merged(own, labels[chosen], limits, left, power, stopped)
            if merged is None:
                return None
            left -= int(own.sizes[chosen][merged == SUPPRESSED].sum())
            labels[chosen] = merged
        class_of = own.class_of.copy()
        class_of[own.first :] = labels[class_of[own.first :]]
        own = Assignment.of(own.ground, own.atoms, own.counts, class_of)
        if before <= CLASSES or own.classes == before:
            return own
        room = left


def _merged(
    own: Assignment,
    chosen: IntArray,
    limits: KernelLimits,
    room: int,
    power: int,
    stopped: Callable[[], bool],
) -> IntArray | None:
    """Return the class that each of some becomes part of, ``SUPPRESSED`` for none; None if stopped."""
    numbers = limits.limits
    number = len(chosen) + 1
    place = np.full(own.classes, 0, dtype=np.int64)
    place[chosen] = np.arange(1, number)
    state = np.zeros((number, 3), dtype=np.int64)
    state[1:, WEIGHT], state[:, INTO] = own.sizes[chosen], np.arange(number)
    labels = np.concatenate([np.zeros((1, own.nodes.shape[1]), np.int32), own.nodes[chosen].astype(np.int32)])
    parts = Parts(
        priced(own.ground.trees),
        labels,
        state,
        limits.counts_of(own, place, number),
        np.zeros(number),
    )
    arrays = Room(MODULE, [parts, numbers])
    parts, given = arrays.values
    arrays.run(weigh, parts, given)
    left = 1
    while left > 0:
        if stopped():
            return None
        left = arrays.run(repair, parts, given, MERGES, room, power)
    into = parts.state[:, INTO].copy()
    while (into != into[into]).any():
        into = into[into]
    return np.where(into[1:] == GONE, SUPPRESSED, chosen[np.maximum(into[1:], 1) - 1])
