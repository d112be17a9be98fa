"""Deal records to groups so that each gets as even a share of every sensitive value as there can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.table import Table

NOBODY = -1
"""Stands in a seat that no record has."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a table one by one, in an order that depends on the seed and not on the input's.

    Attributes
    ----------
    row: combination of the table that each record is of, shape (records,), int64.
    value: its sensitive value, shape (records,), int64.
    counts: records with each value, shape (values,), int64.
    queue: the records by value, the most frequent value first, those of one value in random order, shape
        (records,), int64.
    """

    row: IntArray
    value: IntArray
    counts: IntArray
    queue: IntArray

    @classmethod
    def of(cls, table: Table, random: np.random.Generator) -> Records:
        """Return the records of a table with one sensitive attribute."""
        row = np.repeat(np.arange(table.combinations), table.counts)
        value = table.sensitive_codes(table.sensitive_names[0])[row].astype(np.int64)
        counts = np.bincount(value, minlength=table.sensitive[0].column.size).astype(np.int64)
        rank = np.empty(len(counts), dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
        return cls(row, value, counts, np.lexsort((random.permutation(len(row)), rank[value])))

    def capped(self, cap: int) -> IntArray:
        """Return the queue with at most so many records of each value, shape (records left,), int64."""
        ordered = self.value[self.queue]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        lengths = np.diff(np.r_[starts, len(ordered)])
        place = np.arange(len(ordered)) - np.repeat(starts, lengths)
        return self.queue[place < cap]


def highest_cap(counts: IntArray, size: int) -> int:
    """Return how many records may stay of each value for none to exceed 1 / size of the rest.

    With c the counts it is the largest L with L * size <= sum of min(c, L): a concave function of L, 0 at 0,
    so that what holds for L holds for all below.

    Parameters
    ----------
    counts: records with each value, shape (values,), int64.
    size: wanted number of records of a group, all of other values.

    Returns
    -------
    The cap; 0 where there are fewer than ``size`` values.
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        fits = middle * size <= int(np.minimum(counts, middle).sum())
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def dealt(queue: IntArray, groups: int) -> IntArray:
    """Deal records to groups one after another.

    The records of a value follow each other. So no group gets two of a value that has no more records than
    there are groups, and of any value each group gets the same number or one more: with ``groups`` =
    floor(n / l) and no value in more than n / l records all values of a group are distinct, and every group
    has l records at least. The n mod l records that are left in Xiao and Tao's procedure go round like all
    others.

    Parameters
    ----------
    queue: the records by value, shape (records,), int64.
    groups: at most the number of records.

    Returns
    -------
    The record in each seat of each group, shape (groups, seats), int64; ``NOBODY`` in the last seat of groups
    that are one record smaller.
    """
    seats = -(-len(queue) // groups)
    padded = np.full(seats * groups, NOBODY, dtype=np.int64)
    padded[: len(queue)] = queue
    return np.ascontiguousarray(padded.reshape(seats, groups).T)


def groups_of(seats: IntArray, records: int) -> IntArray:
    """Return the group of each record, shape (records,), int64; ``NOBODY`` for those that have no seat."""
    group = np.full(records + 1, NOBODY, dtype=np.int64)
    group[seats] = np.arange(len(seats))[:, None]
    group[-1] = NOBODY
    return group[:-1]


def values_in(seats: IntArray, value: IntArray) -> IntArray:
    """Return the sensitive value in each seat, shape (groups, seats), int64; ``NOBODY`` in empty ones."""
    return np.append(value, NOBODY)[seats]


def all_distinct(values: IntArray) -> bool:
    """Tell whether no group has a value twice.

    Parameters
    ----------
    values: in each seat, shape (groups, seats), int64.
    """
    ordered = np.sort(values, axis=1)
    return not ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NOBODY)).any()
