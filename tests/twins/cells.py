"""Exhaustive cell suppression, record by record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product

Record = tuple[str, ...]
Mask = tuple[bool, ...]
Holds = Callable[[list[int]], bool]
"""Tells whether the records at some positions may be a class."""

BLANK = "*"


def published(record: Record, mask: Mask) -> Record:
    """Return what is published of a record when some cells are blanked."""
    return tuple(BLANK if blank else cell for cell, blank in zip(record, mask, strict=True))


def classes(records: Sequence[Record], masks: Sequence[Mask | None]) -> list[list[int]]:
    """Return the records that look alike as published, a blank being a value of its own.

    Parameters
    ----------
    masks: the blanked cells of each record; None for one that is suppressed.
    """
    found: defaultdict[Record, list[int]] = defaultdict(list)
    for position, (record, mask) in enumerate(zip(records, masks, strict=True)):
        if mask is not None:
            found[published(record, mask)].append(position)
    return list(found.values())


def cost(records: Sequence[Record], masks: Sequence[Mask | None], weights: Sequence[float]) -> float:
    """Return the weighted number of cells that became blank; all those of a suppressed record did."""
    return sum(
        weight
        for record, mask in zip(records, masks, strict=True)
        for position, (cell, weight) in enumerate(zip(record, weights, strict=True))
        if cell != BLANK and (mask is None or mask[position])
    )


def emptied(record: Record, mask: Mask | None) -> bool:
    """Tell whether a record that is not suppressed has no cell left, but had one."""
    return mask is not None and set(published(record, mask)) == {BLANK} != set(record)


def fewest(records: Sequence[Record], weights: Sequence[float], holds: Holds, most_gone: int) -> float | None:
    """Return the lowest cost of any valid choice of cells, None when there is none.

    Parameters
    ----------
    most_gone: records that may be suppressed; one of which all cells were blanked would be one of these.
    """
    best: float | None = None
    options: list[Mask | None] = [None, *product((False, True), repeat=len(weights))]
    own = [[mask for mask in options if not emptied(record, mask)] for record in records]
    for masks in product(*own):
        spent = cost(records, masks, weights)
        gone = sum(mask is None for mask in masks)
        if (best is not None and spent >= best) or gone > most_gone or gone == len(records):
            continue
        if all(holds(positions) for positions in classes(records, masks)):
            best = spent
    return best


def matches(one: Record, other: Record) -> bool:
    """Tell whether two published records could be the same where a blank means anything."""
    return all(BLANK in (left, right) or left == right for left, right in zip(one, other, strict=True))


def matched_by_anything(records: Sequence[Record], masks: Sequence[Mask], k: int) -> bool:
    """Tell whether every record matches k where a blank means anything: the weak reading of k-anonymity."""
    shown = [published(record, mask) for record, mask in zip(records, masks, strict=True)]
    return all(sum(matches(one, other) for other in shown) >= k for one in shown)
