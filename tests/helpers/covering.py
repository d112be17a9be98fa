"""Choices of several options, so few that every pair, or every three of them, still go together once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any


def covering(options: Sequence[Sequence[Any]], together: int = 2) -> list[tuple[Any, ...]]:
    """Return a few of all choices, in which any choices of ``together`` options occur together.

    The one that has most of what is missing comes next. A fault that shows only for one choice of more
    options than that may be missed; faults of two or three are nearly all there are.
    """
    places = [range(len(each)) for each in options]
    parts = {row: frozenset(_parts(row, together)) for row in product(*places)}
    missing = set[tuple[tuple[int, int], ...]]().union(*parts.values())
    found = []
    while missing:
        best = max(parts, key=lambda row: len(parts[row] & missing))
        missing -= parts[best]
        found.append(tuple(option[place] for option, place in zip(options, best, strict=True)))
    return found


def _parts(row: tuple[int, ...], together: int) -> Iterator[tuple[tuple[int, int], ...]]:
    return combinations(enumerate(row), together)
