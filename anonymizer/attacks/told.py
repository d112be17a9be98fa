"""How much is told by every set of known quasi-identifiers: numbers alone, counted from packed keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.every_subset import iter_subsets
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import BLOCK, add_up, add_up_packed, starts_of

if TYPE_CHECKING:
    from anonymizer.model.adversary import PublishedTable

WORD = 63
"""Bits of an integer that a key may have."""


@dataclass(frozen=True)
class SubsetRisk:
    """How much somebody sees who knows some quasi-identifiers.

    Attributes
    ----------
    names: that are known.
    classes, uniques: number of classes, and of those of one record.
    largest: records with the most frequent value of their class, by attribute.
    """

    names: tuple[str, ...]
    classes: int
    uniques: int
    largest: dict[str, int]


@dataclass(frozen=True, eq=False)
class _Keyed:
    """Distinct combinations of some quasi-identifiers and of one sensitive attribute, ascending.

    Attributes
    ----------
    own: positions of the quasi-identifiers in a key, from the highest bits on.
    keys: the codes side by side, that of the sensitive value in the lowest bits, int64.
    counts: records, in the narrowest type that holds them.
    """

    own: tuple[int, ...]
    keys: IntArray
    counts: NDArray[np.integer]


def risk_by_subset(release: PublishedTable, most: int) -> Iterator[SubsetRisk] | None:
    """Return how much every non-empty set of quasi-identifiers of at most a size tells, each once.

    None where the codes of a combination do not fit one integer.

    Parameters
    ----------
    most: attributes of a set.
    """
    attributes = list(release.sensitive.values())
    bits = [_bits(len(labels)) for labels in release.labels]
    widest = max((_bits(each.attribute.column.size) for each in attributes), default=0)
    if sum(bits) + widest > WORD:
        return None
    if not attributes:
        return _Sweep(release, bits, None).told(most)
    return _together([_Sweep(release, bits, name).told(most) for name in release.sensitive])


def order_of(release: PublishedTable) -> list[int]:
    """Return the quasi-identifiers in the order in which they are left out: of most values first."""
    return sorted(range(len(release.names)), key=lambda each: (-len(release.labels[each]), each))


def _together(told: Sequence[Iterator[SubsetRisk]]) -> Iterator[SubsetRisk]:
    """Yield what all sensitive attributes tell, gone through one after another, as each needs memory."""
    found: list[SubsetRisk] = []
    for each in told:
        own = list(each)
        found = [
            SubsetRisk(new.names, new.classes, new.uniques, before.largest | new.largest)
            for before, new in zip(found or own, own, strict=True)
        ]
    yield from found


class _Sweep:
    """All sets of quasi-identifiers beside one sensitive attribute.

    Parameters
    ----------
    bits: that a code of each quasi-identifier takes.
    sensitive: name of the attribute, None for none.
    """

    def __init__(self, release: PublishedTable, bits: Sequence[int], sensitive: str | None) -> None:
        self._release = release
        self._bits = bits
        self._sensitive = sensitive
        column = None if sensitive is None else release.sensitive[sensitive].attribute.column
        self._value_bits = 0 if column is None else _bits(column.size)

    def told(self, most: int) -> Iterator[SubsetRisk]:
        order = order_of(self._release)
        for own, table in iter_subsets(order, most, self._full(order), self._only):
            yield self._told(own, table)

    def _full(self, order: Sequence[int]) -> _Keyed:
        """Pack all combinations, and add up those that are equal but for what is not packed."""
        release = self._release
        keys = np.zeros(len(release.counts), dtype=np.int64)
        for position in order:
            keys <<= self._bits[position]
            keys |= release.codes[:, position]
        if self._sensitive is not None:
            keys <<= self._value_bits
            keys |= release.sensitive[self._sensitive].codes
        table = _Keyed(tuple(order), keys, _narrow(release.counts))
        ordered = bool((keys[1:] > keys[:-1]).all())
        return table if ordered else self._added_up(table, tuple(order))

    def _only(self, table: _Keyed, own: tuple[int, ...]) -> _Keyed:
        """Leave out what is not among some quasi-identifiers, and add up what is equal then."""
        return table if own == table.own else self._added_up(table, own)

    def _added_up(self, table: _Keyed, own: tuple[int, ...]) -> _Keyed:
        widths = [(self._bits[position], position in own) for position in reversed(table.own)]
        low = self._value_bits + sum(width for width, stays in widths if stays)
        bits = int(table.counts.max(initial=0)).bit_length()
        fits = low + bits <= WORD
        keys = np.empty(len(table.keys), dtype=np.int64)
        # Block by block, so that what lies between stays in the processor's cache.
        for start in range(0, len(keys), BLOCK):
            block = slice(start, start + BLOCK)
            left = self._leave_out(table.keys[block], widths)
            keys[block] = left << bits | table.counts[block] if fits else left
        found = add_up_packed(keys, bits) if fits else add_up(keys, table.counts, 1 << low)
        return _Keyed(own, found[0], _narrow(found[1]))

    def _leave_out(self, keys: IntArray, widths: Sequence[tuple[int, bool]]) -> IntArray:
        """Close the gaps of codes that do not stay; the bits of each, lowest first, and whether it does."""
        low = self._value_bits
        for width, stays in widths:
            if stays:
                low += width
            else:
                keys = keys >> (low + width) << low | keys & ((1 << low) - 1)
        return keys

    def _told(self, own: tuple[int, ...], table: _Keyed) -> SubsetRisk:
        names = tuple(self._release.names[position] for position in sorted(own))
        if self._sensitive is None:
            return SubsetRisk(names, len(table.keys), int(np.count_nonzero(table.counts == 1)), {})
        starts = np.flatnonzero(starts_of(table.keys, self._value_bits))
        # A class of one record has one entry, with a count of 1.
        entries = np.diff(starts, append=len(table.keys))
        alone = int(np.count_nonzero((table.counts[starts] == 1) & (entries == 1)))
        largest = int(np.maximum.reduceat(table.counts, starts).sum(dtype=np.int64))
        return SubsetRisk(names, len(starts), alone, {self._sensitive: largest})


def _bits(codes: int) -> int:
    """Return the bits that so many codes take."""
    return max(codes - 1, 0).bit_length()


def _narrow(counts: IntArray | CodeArray) -> NDArray[np.integer]:
    """Return counts in the narrowest unsigned type, of those that 32 bits do not hold int64."""
    narrowest = np.min_scalar_type(int(counts.max(initial=0)))
    # Keys of 64 bits with a sign have no common integer type with such counts without one.
    return counts.astype(np.int64 if narrowest == np.uint64 else narrowest)
