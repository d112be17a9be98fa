"""Sums over the entries of each class, and the steps from a share to whole records."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference, SensitiveCounts

SLACK = 1e-6
"""Records by which a computed bound is lowered before it is rounded up, far above its rounding error."""


def largest_counts(counts: SensitiveCounts) -> IntArray:
    """Return the count of the most frequent value in each class, r_1, shape (classes,), int64."""
    largest: IntArray = np.maximum.reduceat(counts.counts, counts.starts[:-1])
    return largest


def distinct_values(view: ClassView) -> IntArray:
    """Return the number of distinct sensitive values in each class, the missing one only where it counts."""
    counts = view.counted
    distinct: IntArray = np.diff(counts.starts)
    if view.missing is not None:
        is_missing = (counts.values == view.missing).astype(np.int64)
        distinct = distinct - np.add.reduceat(is_missing, counts.starts[:-1])
    return distinct


def entry_shares(view: ClassView) -> FloatArray:
    """Return q of each entry, shape (entries,)."""
    counts = view.counted
    return counts.counts / view.sizes[counts.owners]


def reference_shares(counts: SensitiveCounts, reference: Reference) -> FloatArray:
    """Return p of each entry's value, shape (entries,)."""
    shares: FloatArray = reference.counts[counts.values] / reference.total
    return shares


def excess_over_caps(view: ClassView, caps: FloatArray) -> FloatArray:
    """Return the records that a class must lose so that no value's share exceeds its cap.

    Losing only records of value v leaves c_v - x of n - x: at least (c_v - cap n) / (1 - cap) must go.

    Parameters
    ----------
    caps: largest allowed share of each entry's value, shape (entries,); 1 or more never binds.
    """
    counts = view.counted
    sizes = view.sizes[counts.owners]
    room = np.where(caps < 1, 1 - caps, 1.0)
    excess = np.where(caps < 1, (counts.counts - caps * sizes) / room, 0.0)
    largest: FloatArray = np.maximum.reduceat(excess, counts.starts[:-1])
    return largest


def whole_records(
    bound: FloatArray, view: ClassView, holds: BoolArray, *, smallest: int = 1, least: int = 1
) -> IntArray:
    """Turn a real lower bound into whole records.

    Parameters
    ----------
    bound: records that must be lost, shape (classes,), float64.
    holds: classes that lose nothing.
    smallest: a rest below this size cannot satisfy the model, then the whole class is lost.
    least: records that a failing class loses in any case.
    """
    records = np.ceil(np.clip(bound, 0, view.sizes) - SLACK).astype(np.int64)
    records = np.maximum(records, least)
    records = np.where(view.sizes - records < smallest, view.sizes, records)
    return np.where(holds, 0, np.minimum(records, view.sizes))
