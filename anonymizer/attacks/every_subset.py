"""Going through all sets of known quasi-identifiers, each counted from a table with one more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")


def iter_subsets(
    order: Sequence[int], most: int, full: T, only: Callable[[T, tuple[int, ...]], T]
) -> Iterator[tuple[tuple[int, ...], T]]:
    """Yield every non-empty set of at most a size with what is counted by it, each once.

    Only the largest sets are counted from all there is. From then on attributes are left out one at a time,
    always one after the last in a fixed order, so that each set is met once, is counted from a table with one
    more attribute, and no more tables are held than there are attributes.

    Parameters
    ----------
    order: the attributes; the one with most values had better come first, as half of all sets lack it.
    full: what is counted by all attributes.
    only: returns what is counted by some of the attributes that a table is counted by.
    """
    for own in combinations(order, min(most, len(order))):
        unmatched_columns = [place for place, position in enumerate(order) if position not in own]
        yield from _below(order, max(unmatched_columns, default=-1), own, only(full, own), only)


def _below(
    order: Sequence[int],
    after: int,
    own: tuple[int, ...],
    table: T,
    only: Callable[[T, tuple[int, ...]], T],
) -> Iterator[tuple[tuple[int, ...], T]]:
    """Yield one set and all that are reached from it by leaving out attributes beyond a place."""
    yield own, table
    if len(own) == 1:
        return
    for place in range(after + 1, len(order)):
        left = tuple(position for position in own if position != order[place])
        yield from _below(order, place, left, only(table, left), only)
