"""Transformations that the values of one or two attributes rule out, before any is counted as a whole.

A class of a transformation is part of a class of its projection on some of the attributes, so that records in
classes that are too small there are lost. Two attributes have few pairs of values: one table of these is
counted, and gives the pairs at all of their levels.

Source of the subset property: LeFevre, DeWitt, Ramakrishnan (SIGMOD 2005, doi:10.1145/1066157.1066164),
section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.lattice.frontier import Levels
from anonymizer.search.rollup import RollUp

MOST_VALUES = 1 << 6
"""An attribute is paired with others from the lowest level on that has at most so many values."""


class _Attribute:
    """The values of an attribute at its levels from some level on.

    Attributes
    ----------
    lowest, highest: the levels.
    size: number of values at the lowest of them.
    values: of each distinct row there, shape (rows,), int64.
    above: which values of all levels hold which of the lowest, shape (values, size), as ones; level by level.
    starts: first row of each level there, shape (levels,), int64.
    """

    def __init__(self, rollup: RollUp, place: int) -> None:
        attribute = rollup.attributes[place]
        levels = [each for each in attribute.levels if each.size <= MOST_VALUES]
        self.highest = attribute.lowest + len(attribute.levels) - 1
        self.lowest = self.highest - len(levels) + 1
        self.size = levels[0].size
        self.values = levels[0].ranks[rollup.base_values(place)]
        sizes = [each.size for each in levels]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.above = np.zeros((sum(sizes), self.size))
        for start, level in zip(self.starts.tolist(), levels, strict=True):
            self.above[start + level.ranks, levels[0].ranks] = 1


def alone(rollup: RollUp, smallest: int, limit: int) -> Levels:
    """Return for each attribute the lowest level whose values alone lose no more than may be suppressed.

    Parameters
    ----------
    smallest: records of the smallest class that is not lost.
    limit: most records that may be suppressed.
    """
    counts = rollup.marginals(rollup.counts).counts
    return tuple(
        next(
            (
                attribute.lowest + above
                for above, level in enumerate(attribute.levels[:-1])
                if _lost(np.bincount(level.ranks, own), smallest).sum() <= limit
            ),
            attribute.lowest + len(attribute.levels) - 1,
        )
        for attribute, own in zip(rollup.attributes, counts, strict=True)
    )


def in_pairs(rollup: RollUp, smallest: int, limit: int) -> Iterator[Levels]:
    """Yield transformations at and below which all lose too many records, as two of the attributes show.

    The parameters are those of ``alone``.
    """
    top = [each.lowest + len(each.levels) - 1 for each in rollup.attributes]
    own = {
        place: _Attribute(rollup, place)
        for place, each in enumerate(rollup.attributes)
        if each.levels[-1].size <= MOST_VALUES and each.size > 1
    }
    for one, other in combinations(own, 2):
        for levels in _highest(_lost_by_levels(rollup.weights, own[one], own[other], smallest) > limit):
            found = top.copy()
            found[one], found[other] = own[one].lowest + levels[0], own[other].lowest + levels[1]
            yield tuple(found)


def _lost(records: FloatArray | IntArray, smallest: int) -> FloatArray:
    return np.where(records < smallest, records, 0.0)


def _lost_by_levels(weights: FloatArray, one: _Attribute, other: _Attribute, smallest: int) -> FloatArray:
    """Return the records that two attributes lose at each of their levels, shape (levels, levels).

    Parameters
    ----------
    weights: records of each distinct row, shape (rows,), float64.
    """
    keys = one.values * other.size + other.values
    table = np.bincount(keys, weights, one.size * other.size).reshape(one.size, other.size)
    lost = _lost(one.above @ table @ other.above.T, smallest)
    by_level: FloatArray = np.add.reduceat(np.add.reduceat(lost, one.starts), other.starts, axis=1)
    return by_level


def _highest(excluded: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield the highest of the excluded levels of two attributes; below an excluded one all are."""
    numbers: IntArray = excluded.sum(axis=1)
    above = np.append(numbers[1:], 0)
    for level in np.flatnonzero(numbers > above).tolist():
        yield level, int(numbers[level]) - 1
