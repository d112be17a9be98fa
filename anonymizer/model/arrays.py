"""Types of arrays, and counting: the one place where equal keys become classes with sizes.

Counts are int64, and of records. Columns of codes are packed into one integer per record and counted by
sorting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

SPACE = 2**63
"""Number of keys in one integer."""

BLOCK = 1 << 18
"""Keys that are processed at a time, which fit the processor's cache."""

DENSE_LIMIT = 1 << 16
"""Key spaces up to this size are always counted in a dense array."""


def ranks_of(order: Sequence[int]) -> CodeArray:
    """Return the inverse of a permutation, shape (positions,), int32."""
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def freeze(array: NDArray[np.generic]) -> None:
    """Make an array read-only, to share it."""
    array.setflags(write=False)


SHORT, MANY = 4, 64
"""Most numbers that NumPy joins to at least so many others more slowly than one by one."""


def joined_by(join: np.ufunc, vectors: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Join all combinations of numbers, one of each vector, from left to right, an axis for each vector."""
    found = vectors[0]
    for own in vectors[1:]:
        if len(own) <= SHORT and len(found) > MANY:
            wider = np.empty((len(found), len(own)), dtype=np.result_type(found, own))
            for place, number in enumerate(own):
                join(found, number, out=wider[:, place])
        else:
            wider = join.outer(found, own)
        found = wider.reshape(-1)
    return found.reshape([len(own) for own in vectors])


def group_keys(keys: IntArray, space: int) -> tuple[IntArray, IntArray]:
    """Number the distinct keys in ascending order.

    Parameters
    ----------
    keys: shape (items,), int64, each in [0, space).
    space: number of possible keys.

    Returns
    -------
    group of each item, shape (items,), int64, and the distinct keys, shape (groups,), int64, ascending.
    """
    if space <= max(DENSE_LIMIT, 4 * len(keys)):
        present = np.zeros(space, dtype=bool)
        present[keys] = True
        distinct = np.flatnonzero(present)
        numbers = np.cumsum(present) - 1
        return numbers[keys], distinct
    bits = len(keys).bit_length()
    if space << bits >= SPACE:
        distinct, groups = np.unique(keys, return_inverse=True)
        return groups.astype(np.int64, copy=False), distinct
    # Sorting keys with their positions in the low bits takes a tenth of the time of argsort.
    ordered = keys << bits
    for start in range(0, len(keys), BLOCK):
        ordered[start : start + BLOCK] |= np.arange(start, min(start + BLOCK, len(keys)))
    ordered.sort()
    starts = starts_of(ordered, bits)
    distinct = ordered[starts] >> bits
    groups, last = np.empty(len(keys), dtype=np.int64), -1
    for start in range(0, len(keys), BLOCK):
        block = slice(start, start + BLOCK)
        own = np.cumsum(starts[block]) + last
        groups[ordered[block] & ((1 << bits) - 1)] = own
        last = int(own[-1])
    return groups, distinct


def group_rows(columns: Iterable[tuple[IntArray | CodeArray, int]], rows: int) -> tuple[IntArray, int]:
    """Number the distinct rows of columns of codes in lexicographic order.

    Parameters
    ----------
    columns: codes, shape (rows,), each in [0, size), and their size.

    Returns
    -------
    Group of each row, shape (rows,), int64, and the number of groups.
    """
    groups, number = np.zeros(rows, dtype=np.int64), min(rows, 1)
    for codes, size in columns:
        groups, distinct = group_keys(groups * size + codes, number * size)
        number = len(distinct)
    return groups, number


def count(groups: IntArray, weights: IntArray, size: int) -> IntArray:
    """Sum integer weights by group; exact, as sums are below 2**53 in float64.

    Parameters
    ----------
    groups: shape (items,), int64, each in [0, size).
    weights: shape (items,), int64, not negative.

    Returns
    -------
    Sums, shape (size,), int64.
    """
    return np.bincount(groups, weights=weights, minlength=size).astype(np.int64)


def count_exactly(groups: NDArray[np.integer], weights: IntArray, size: int) -> IntArray:
    """Sum integer weights by group, as ``count``; exact for all sums below 2**63."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups, weights)
    return sums


def add_up(keys: IntArray, weights: NDArray[np.integer], space: int) -> tuple[IntArray, IntArray]:
    """Sum integer weights by key.

    Parameters
    ----------
    keys: shape (items,), int64, each in [0, space).
    weights: shape (items,), of any integer type, positive.

    Returns
    -------
    The distinct keys, ascending, and the sum of each, both of shape (distinct,), int64.
    """
    if space <= max(DENSE_LIMIT, len(keys)):
        sums = np.bincount(keys, weights=weights, minlength=space)
        # Places of true values are found several times faster than those of numbers.
        distinct = np.flatnonzero(sums > 0)
        return distinct, sums[distinct].astype(np.int64)
    bits = int(weights.max(initial=0)).bit_length()
    if space << bits >= SPACE:
        order = np.argsort(keys)
        ordered = keys[order]
        starts = np.flatnonzero(starts_of(ordered))
        return ordered[starts], np.add.reduceat(weights[order], starts, dtype=np.int64)
    # Sorting keys with their weights in the low bits takes a tenth of the time of argsort.
    ordered = keys << bits
    ordered |= weights
    return add_up_packed(ordered, bits)


def add_up_packed(packed: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Sum weights in the low bits of their keys; overwrites the array.

    Parameters
    ----------
    packed: shape (items,), int64, none negative.
    bits: of a weight.

    Returns
    -------
    The distinct keys, ascending, and the sum of each, both of shape (distinct,), int64.
    """
    packed.sort()
    starts = starts_of(packed, bits)
    distinct = packed[starts]
    distinct >>= bits
    packed &= (1 << bits) - 1
    # Differences of running sums take a third of the time of many short sums.
    np.cumsum(packed, out=packed)
    starts[:-1] = starts[1:]
    starts[-1:] = True
    sums = packed[starts]
    # In blocks from the end, so that the array is not copied.
    for end in range(len(sums), 1, -BLOCK):
        begin = max(end - BLOCK, 1)
        sums[begin:end] -= sums[begin - 1 : end - 1]
    return distinct, sums


def starts_of(ordered: IntArray, bits: int = 0) -> BoolArray:
    """Return which sorted keys differ from the one before, shape (keys,), bool.

    Parameters
    ----------
    bits: number of low bits to ignore.
    """
    starts = np.ones(len(ordered), dtype=np.bool_)
    for begin in range(1, len(ordered), BLOCK):
        own = ordered[begin - 1 : begin + BLOCK] >> bits if bits else ordered[begin - 1 : begin + BLOCK]
        np.not_equal(own[1:], own[:-1], out=starts[begin : begin + BLOCK])
    return starts


@dataclass
class _Word:
    """Columns in one integer.

    Attributes
    ----------
    sizes: number of codes of each column; except in the first word, first the number of ranks of the word
        before.
    distinct: the distinct keys, ascending, of a word before another.
    """

    sizes: list[int] = field(default_factory=list)
    distinct: IntArray | None = None
    space: int = 1


class Packing:
    """Packs columns of codes, added one by one, into keys that sort as the rows of codes do.

    If the next column does not fit the integer, the keys so far are replaced by their ranks.

    Parameters
    ----------
    records: length of the columns.
    """

    def __init__(self, records: int) -> None:
        self._keys: IntArray = np.zeros(records, dtype=np.int64)
        self._words = [_Word()]

    @classmethod
    def of(cls, keys: IntArray, sizes: Sequence[int]) -> Packing:
        """Return the packing of columns that are packed already; it modifies the keys.

        Parameters
        ----------
        keys: shape (records,), int64, from columns of these sizes in sequence.
        sizes: number of codes of each column; together fewer than ``SPACE`` combinations.
        """
        packing = cls(0)
        packing._keys = keys
        packing._words = [_Word(list(sizes), None, prod(max(size, 1) for size in sizes))]
        return packing

    def add(self, codes: NDArray[np.integer], size: int) -> None:
        """Pack one more column.

        Parameters
        ----------
        codes: shape (records,), each in [0, size).
        """
        word = self._words[-1]
        if word.space * size >= SPACE:
            ranks, word.distinct = rank(self._keys)
            self._keys[:] = ranks
            word = _Word([len(word.distinct)], None, max(len(word.distinct), 1))
            self._words.append(word)
        word.sizes.append(size)
        word.space *= max(size, 1)
        self._keys *= size
        self._keys += codes

    @property
    def space(self) -> int:
        """Number of possible keys, from 0."""
        return self._words[-1].space

    def take_keys(self) -> IntArray:
        """Return the keys, shape (records,), int64, for the caller to modify; no column can be added."""
        keys, self._keys = self._keys, np.zeros(0, dtype=np.int64)
        return keys

    def unpack(self, keys: IntArray) -> CodeArray:
        """Return the codes of keys, shape (keys, columns), int32, each column in one piece of memory."""
        width = sum(len(word.sizes[1 if number else 0 :]) for number, word in enumerate(self._words))
        codes = np.empty((width, len(keys)), dtype=np.int32)
        for start in range(0, len(keys), BLOCK):
            self._unpack(keys[start : start + BLOCK], codes[:, start : start + BLOCK])
        return codes.T

    def _unpack(self, keys: IntArray, codes: CodeArray) -> None:
        """Write the codes of keys into an array of shape (columns, keys)."""
        place = len(codes)
        for number, word in reversed(list(enumerate(self._words))):
            if word.distinct is not None:
                keys = word.distinct[keys]
            # The first column of later words is the rank of the word before.
            for size in reversed(word.sizes[1 if number else 0 :]):
                higher = keys // size
                place -= 1
                codes[place] = keys - higher * size
                keys = higher


def count_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct keys, ascending, and their number of records, int64; sorts ``keys`` in place."""
    keys.sort()
    starts = np.flatnonzero(starts_of(keys))
    counts = np.diff(starts, append=len(keys)).astype(np.int64, copy=False)
    return keys[starts], counts


def rank(keys: IntArray) -> tuple[CodeArray, IntArray]:
    """Return the rank of each key, shape (records,), int32, and the distinct keys, ascending."""
    order = np.argsort(keys)
    ordered = keys[order]
    starts = starts_of(ordered)
    ranks = np.empty(len(keys), dtype=np.int32)
    ranks[order] = np.cumsum(starts, dtype=np.int32) - 1
    return ranks, ordered[starts]


def numbered(columns: Iterable[IntArray | CodeArray], rows: int) -> tuple[IntArray, IntArray]:
    """Number the distinct rows in lexicographic order.

    Parameters
    ----------
    columns: codes, shape (rows,) each, none negative.

    Returns
    -------
    Number of each row, shape (rows,), int64, and the first row with each number, shape (distinct,).
    """
    groups, number = group_rows(((own, int(own.max(initial=0)) + 1) for own in columns), rows)
    return groups, first_items(groups, number)


def first_items(groups: NDArray[np.integer], number: int) -> IntArray:
    """Return the first item of each group, shape (number,), int64; 0 for an empty one."""
    first = np.zeros(number, dtype=np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    return first


def distinct_in_groups(groups: IntArray | CodeArray, codes: IntArray | CodeArray, number: int) -> IntArray:
    """Return the number of distinct codes in each group, shape (number,), int64.

    Parameters
    ----------
    groups, codes: of each item, shape (items,), none negative.

    >>> distinct_in_groups(np.array([0, 0, 2, 2]), np.array([5, 5, 5, 1]), 3).tolist()
    [1, 0, 2]
    """
    size = int(codes.max(initial=0)) + 1
    number = max(number, int(groups.max(initial=-1)) + 1)
    pairs = groups.astype(np.int64) * size + codes
    if number * size <= FEW_CELLS + CELLS_AN_ITEM * len(pairs):
        present = np.zeros(number * size, dtype=np.bool_)
        present[pairs] = True
        distinct: IntArray = present.reshape(number, size).sum(axis=1, dtype=np.int64)
        return distinct
    return np.bincount(np.unique(pairs) // size, minlength=number)


FEW_CELLS, CELLS_AN_ITEM = 1 << 16, 16
"""Up to so many cells, all pairs of a group and a code are flags; sorting takes ten times as long."""


def constant_in_groups(
    groups: IntArray | CodeArray, codes: IntArray | CodeArray, number: int = 0
) -> BoolArray:
    """Return which groups have at most one code, shape (number,) or up to the last group, bool.

    Parameters
    ----------
    groups, codes: of each item, shape (items,), none negative.

    >>> constant_in_groups(np.array([0, 0, 2, 2]), np.array([5, 5, 5, 1])).tolist()
    [True, True, False]
    """
    number = max(number, int(groups.max(initial=-1)) + 1)
    one_of = np.zeros(number, dtype=codes.dtype)
    one_of[groups] = codes
    constant = np.ones(number, dtype=np.bool_)
    constant[groups[codes != one_of[groups]]] = False
    return constant


def overlaps(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Cut the same records as two sequences of parts do, at the end of each part of either.

    Parameters
    ----------
    one, other: records of each part, of equal sums.

    Returns
    -------
    Part of each sequence that a piece lies in, and its records, each of shape (pieces,), int64.
    """
    ends, other_ends = np.cumsum(one), np.cumsum(other)
    every = np.union1d(ends, other_ends)
    return np.searchsorted(ends, every), np.searchsorted(other_ends, every), np.diff(every, prepend=0)


def from_the_first(
    group_of: IntArray, counts: IntArray, taken: IntArray, order: IntArray | None = None
) -> IntArray:
    """Take records from the first members of each group, shape (members,), int64.

    Parameters
    ----------
    group_of: group of each member, shape (members,), int64; every group has one.
    counts: records of each member, shape (members,), int64.
    taken: records that are taken from each group, shape (groups,), int64.
    order: of the members, by group, shape (members,); None for the given one.
    """
    order = np.argsort(group_of, kind="stable") if order is None else order
    own, groups = counts[order], group_of[order]
    before = np.cumsum(own) - own
    before -= before[np.searchsorted(groups, np.arange(len(taken)))][groups]
    found = np.empty_like(own)
    found[order] = np.clip(taken[groups] - before, 0, own)
    return found


def number_lists(owner: IntArray, parts: IntArray, number: int) -> IntArray:
    """Number the lists that owners have; equal lists get equal numbers.

    Parameters
    ----------
    owner: of each entry, shape (entries,), int64, ascending.
    parts: the entries in their order in each list, shape (entries,), int64, from 0 to ``number`` - 1.

    Returns
    -------
    The number of the list of each owner, in their order, shape (owners,), int64.
    """
    # Neighbours are numbered together until each owner has one number for its list.
    while (starts := starts_of(owner)).sum() < len(owner):
        place = np.arange(len(owner)) - np.flatnonzero(starts)[np.cumsum(starts) - 1]
        left = np.flatnonzero(place % 2 == 0)
        after = np.append(parts + 1, 0)[left + 1]
        alone = np.append(owner, -1)[left + 1] != owner[left]
        pairs = parts[left] * (number + 1) + np.where(alone, 0, after)
        parts, distinct = group_keys(pairs, number * (number + 1))
        owner, number = owner[left], len(distinct)
    return parts


def ascending(columns: Iterable[IntArray | CodeArray], rows: int) -> bool:
    """Return whether all rows are distinct and in lexicographic order."""
    packing = Packing(rows)
    for column in columns:
        packing.add(column, int(column.max(initial=0)) + 1)
    keys = packing.take_keys()
    return bool((keys[1:] > keys[:-1]).all())
