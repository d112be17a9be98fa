"""What dictionaries of a column differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

Dictionary = Iterable[tuple[str | None, int]]
"""Texts with their records."""


def changed(before: Dictionary, after: Dictionary) -> tuple[int, int]:
    """Return the records of each text that the second has more of, summed, and those that it has fewer of.

    >>> changed([("a", 2), ("b", 1), (None, 1)], [("", 1), ("a", 1), ("c", 1)])
    (1, 2)
    """
    own, theirs = Counter[str](), Counter[str]()
    for counted, dictionary in ((own, before), (theirs, after)):
        for text, records in dictionary:
            counted[text or ""] += records
    return (theirs - own).total(), (own - theirs).total()


@dataclass(frozen=True)
class UnionDifference:
    """How the texts of a column differ from those of two parts that it should hold.

    Attributes
    ----------
    lacking: records of each text that it has fewer of than the first part, summed.
    added: records of each text that it has more of than both parts, summed.
    unmatched_columns: records of each text that it has fewer of than both parts, summed.
    """

    lacking: int
    added: int
    unmatched_columns: int


def compare_union(whole: Dictionary, first: Dictionary, second: Dictionary) -> UnionDifference:
    """Return how a dictionary differs from two parts that it should hold.

    >>> put_together([("a", 3), ("b", 1)], [("a", 1)], [("a", 1), ("b", 1), (None, 2)])
    Together(lacking=0, added=1, left_out=2)
    """
    counted = [Counter[str](), Counter[str](), Counter[str]()]
    for own, dictionary in zip(counted, (whole, first, second), strict=True):
        for text, records in dictionary:
            own[text or ""] += records
    found, before, now = counted
    both = before + now
    return UnionDifference((before - found).total(), (found - both).total(), (both - found).total())
