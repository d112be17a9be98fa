"""Parts of groups that fail: without the records whose sensitive values are too frequent."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Reference, SensitiveCodes
from anonymizer.model.counting import count
from anonymizer.search.local_recoding.validity import Validity

CAP = 1.2
"""How many times as frequent as in the reference a value may be in what is kept, before the rest shrinks."""

LEAST_KEPT = 0.3
"""A group is trimmed to no less than this share of its records."""


def trimmed(atoms: IntArray, counts: IntArray, class_of: IntArray, validity: Validity) -> IntArray:
    """Return how many records of each part stay in groups that hold when trimmed, shape (parts,), int64.

    What is cut off is over-represented in its group; elsewhere it may be what is missing.

    Parameters
    ----------
    atoms, counts, class_of: the parts of the groups, shape (parts,).
    """
    numbers, groups = np.unique(class_of, return_inverse=True)
    groups = groups.reshape(-1)
    sizes = count(groups, counts, len(numbers))
    kept = counts
    for own, reference in validity.referring():
        kept = np.minimum(kept, _capped(own, reference, (atoms, counts, groups), sizes))
    left = count(groups, kept, len(numbers))
    worth = left >= np.maximum(LEAST_KEPT * sizes, validity.minimum_size)
    chosen = np.flatnonzero(worth[groups] & (kept > 0))
    held = np.zeros(len(numbers), dtype=bool)
    if len(chosen):
        renumbered = np.cumsum(worth) - 1
        held[worth] = validity.holds(
            atoms[chosen], kept[chosen], renumbered[groups[chosen]], int(worth.sum())
        )
    return np.where(held[groups], kept, 0)


def _capped(
    own: SensitiveCodes, reference: Reference, parts: tuple[IntArray, IntArray, IntArray], sizes: IntArray
) -> IntArray:
    """Return how many records of each part are within the caps of its group's values, first ones first."""
    atoms, counts, groups = parts
    values = own.codes[atoms]
    keys = groups * len(reference.counts) + values
    # A stable sort of 16-bit keys takes linear time.
    order = np.argsort(keys.astype(np.min_scalar_type(keys.max())), kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    ends = np.cumsum(counts[order])
    begins = ends - counts[order]
    before = begins - np.repeat(begins[first], np.diff(np.append(first, len(order))))
    shares = reference.counts[values[order]] / max(reference.total, 1)
    caps = np.floor(CAP * shares * sizes[groups[order]]).astype(np.int64)
    kept = np.empty(len(order), dtype=np.int64)
    kept[order] = np.clip(caps - before, 0, counts[order])
    return kept
