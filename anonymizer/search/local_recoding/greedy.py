"""Greedy grouping: vectors of levels one after the other, every group that holds becomes a class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import group_keys
from anonymizer.search.local_recoding.barren import WORTHWHILE, KnownEmpty
from anonymizer.search.local_recoding.levels import Keying, LevelLattice
from anonymizer.search.local_recoding.trimming import trimmed
from anonymizer.search.local_recoding.validity import Validity

UNASSIGNED = -2
"""Label of what no group took."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of atoms that are to be grouped, each within its own zone.

    Attributes
    ----------
    atoms, counts: shape (parts,), int64.
    zones: parts of different zones never share a class, shape (parts,), int64, in [0, number).
    number: of zones.
    """

    atoms: IntArray
    counts: IntArray
    zones: IntArray
    number: int

    def take(self, chosen: IntArray, counts: IntArray) -> Parts:
        """Return some parts, each with a number of its records."""
        return Parts(self.atoms[chosen], counts, self.zones[chosen], self.number)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Parts with the classes that a grouping gives them.

    Attributes
    ----------
    labels: class of each part, shape (parts,), int64, ``UNASSIGNED`` where no group held.
    """

    parts: Parts
    labels: IntArray


def group_greedily(
    parts: Parts, lattice: LevelLattice, vectors: Iterable[IntArray], validity: Validity
) -> Grouped:
    """Make classes of all groups that hold, each at the first vector at which it does.

    Of a group that fails a model with a reference distribution, what is left after trimming it may hold.

    Parameters
    ----------
    vectors: levels to group at, in this order, each of shape (quasi-identifiers,).
    """
    left, found, labels, next_label = parts, [], [], 0
    keying, barren = lattice.keying(parts.atoms), KnownEmpty(lattice.top)
    for vector in vectors:
        if barren.covers(vector):
            continue
        inside, class_of, number = _large_groups(left, _keys(left, keying, vector), validity.minimum_size)
        if not number:
            if len(left.atoms) >= WORTHWHILE:
                barren.climb(vector, partial(_in_vain, left, keying, validity.minimum_size))
            continue
        amounts = _amounts(left.take(inside, left.counts[inside]), class_of, number, validity)
        taken = amounts > 0
        if not taken.any():
            continue
        found.append(left.take(inside[taken], amounts[taken]))
        labels.append(next_label + class_of[taken])
        next_label += number
        rest = left.counts.copy()
        rest[inside] -= amounts
        staying = np.flatnonzero(rest)
        left, keying = left.take(staying, rest[staying]), keying.narrowed(staying)
        if not len(staying):
            break
    unassigned = np.full(len(left.atoms), UNASSIGNED, dtype=np.int64)
    return Grouped(_joined([*found, left]), np.concatenate([*labels, unassigned]))


def _joined(several: Sequence[Parts]) -> Parts:
    """Return parts of the same zones one after the other."""
    return Parts(
        np.concatenate([each.atoms for each in several]),
        np.concatenate([each.counts for each in several]),
        np.concatenate([each.zones for each in several]),
        several[0].number,
    )


def _keys(parts: Parts, keying: Keying, vector: IntArray) -> IntArray:
    """Return keys that are equal for parts with the same zone and the same nodes at a vector of levels."""
    keys, space = keying.keys(vector)
    if parts.number == 1:
        return keys
    if space * parts.number >= 2**62:
        keys, _ = group_keys(keys, space)
    return keys * parts.number + parts.zones


def _large_keys(parts: Parts, keys: IntArray, minimum: int) -> IntArray:
    """Return the keys of groups of enough records, ascending, some of them several times."""
    # A sorted list has a key k times, a part counting at most k times, iff its group has k records or more.
    # Sorting alone takes a fraction of the time of sorting with positions.
    ranked = np.sort(np.repeat(keys, np.minimum(parts.counts, minimum)))
    large = ranked[minimum - 1 :]
    repeated: IntArray = large[large == ranked[: len(large)]]
    return repeated


def _large_groups(parts: Parts, keys: IntArray, minimum: int) -> tuple[IntArray, IntArray, int]:
    """Return the parts in groups of enough records, each one's group, and the number of groups."""
    large = _large_keys(parts, keys, minimum)
    if not len(large):
        return large, large, 0
    large = large[np.diff(large, prepend=large[0] - 1) != 0]
    group = np.minimum(np.searchsorted(large, keys), len(large) - 1)
    inside = np.flatnonzero(large[group] == keys)
    return inside, group[inside], len(large)


def _in_vain(parts: Parts, keying: Keying, minimum: int, vector: IntArray) -> bool:
    """Tell whether no group at a vector has enough records."""
    return not len(_large_keys(parts, _keys(parts, keying, vector), minimum))


def _amounts(parts: Parts, class_of: IntArray, number: int, validity: Validity) -> IntArray:
    """Return how many records of each part the groups take that hold, perhaps trimmed, shape (parts,)."""
    held = validity.holds(parts.atoms, parts.counts, class_of, number)
    amounts = np.where(held[class_of], parts.counts, 0)
    failing = np.flatnonzero(~held[class_of])
    if len(failing) and validity.refers:
        amounts[failing] = trimmed(parts.atoms[failing], parts.counts[failing], class_of[failing], validity)
    return amounts
