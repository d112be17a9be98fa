"""A distribution before it is folded and rounded."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.model.arrays import BoolArray, IntArray

OTHERS = "others"
"""Entries that are too small to be named, drawn together."""

COARSER = "published coarser"
"""Released records whose value says less than the entries do."""


@dataclass(frozen=True, eq=False)
class Draft:
    """Exact counts of people; never shown as they are.

    Attributes
    ----------
    entries: what is counted.
    labels: name of each entry.
    counts: of the input's and of the release's records, shape (entries, 2), int64.
    hidden: entries whose label must not be shown, shape (entries,), bool.
    coarser: released records that belong to no entry.
    totals: records of the input and of the release, shape (2,), int64.
    """

    entries: str
    labels: tuple[str, ...]
    counts: IntArray
    hidden: BoolArray
    coarser: int
    totals: IntArray
