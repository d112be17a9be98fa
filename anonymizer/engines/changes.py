"""What two dictionaries of a column differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
