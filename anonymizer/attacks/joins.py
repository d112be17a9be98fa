"""Joins of original rows with the published rows whose values all cover theirs, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.pace import step
from anonymizer.model.adversary import (
    ValueCoverage,
)
from anonymizer.model.arrays import BoolArray, IntArray

BLOCK = 4096
"""Original rows that are joined at once, unless they have too many pairs."""

PAIRS = 1 << 23
"""Maximum number of pairs in memory."""

MASKED, CELLS = 1 << 15, 1 << 26
"""Most published rows, and most values times rows, whose masks are made before pairs are looked for."""


@dataclass(frozen=True, eq=False)
class ConsistentPairs:
    """Pairs of an original row and a published row whose values all cover the original ones.

    Attributes
    ----------
    original, published: positions, shape (pairs,), int64; ascending by ``original``, then ``published``.
    """

    original: IntArray
    published: IntArray


def spans(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the concatenated positions of several ranges, and the range of each position."""
    of_range = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    return np.arange(len(of_range)) + (starts - first)[of_range], of_range


class CoveringJoin:
    """Joins original rows with the published rows that cover them.

    Where published rows are few, each value has a mask of those that cover it, and a row is covered by those
    in the masks of all its values. Else attributes are joined one after another, the most selective first:
    consistent pairs of prefixes are extended by the values of the originals and the texts that cover them.

    Parameters
    ----------
    meanings: coverage of the texts of each attribute.
    published: texts of each published row, shape (published, attributes).
    """

    def __init__(self, meanings: Sequence[ValueCoverage], published: IntArray) -> None:
        self._order = sorted(range(len(meanings)), key=lambda own: _share(meanings[own]))
        self._meanings = [meanings[own] for own in self._order]
        self._published = published[:, self._order]

    @cached_property
    def _inverses(self) -> list[_Inverse]:
        return [_Inverse.of(meaning) for meaning in self._meanings]

    @cached_property
    def _tree(self) -> _PrefixTree:
        return _PrefixTree(self._published)

    def blocks(self, original: IntArray) -> Iterator[tuple[IntArray, ConsistentPairs]]:
        """Yield blocks of original rows with their pairs.

        Parameters
        ----------
        original: codes, shape (original, attributes); equal ones have the same pairs. Every text covers an
            unknown value, -1.

        Yields
        ------
        Positions of the rows of a block, and the pairs; ``original`` is a position in the block.
        """
        ordered = original[:, self._order]
        # Narrow whole numbers are sorted by their digits, in half the time.
        narrow = [(own + 1).astype(np.min_scalar_type(int(own.max(initial=-1)) + 1)) for own in ordered.T]
        order = np.lexsort(narrow[::-1]) if len(ordered) else np.zeros(0, dtype=np.int64)
        masks = _Masks.of(self._meanings, self._published, ordered)
        waiting = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)][::-1]
        while waiting:
            block = waiting.pop()
            step(waiting, len(order) - len(block) - sum(map(len, waiting)), len(order))
            covering = self._join(ordered[block]) if masks is None else masks.join(ordered[block])
            if covering is None:
                half = len(block) // 2
                waiting += [block[half:], block[:half]]
            else:
                yield block, covering

    def _join(self, original: IntArray) -> ConsistentPairs | None:
        """Return the pairs of sorted rows; None if they do not fit in memory at once."""
        tree = _PrefixTree(original)
        left, right = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for depth, inverse in enumerate(self._inverses):
            if tree.fan(depth, left) > PAIRS and len(original) > 1:
                return None
            child, pair = tree.children(depth, left)
            values = tree.values[depth][child]
            if inverse.fan(values) > PAIRS and len(original) > 1:
                return None
            texts, of_child = inverse.texts(values)
            parents = right[pair[of_child]]
            found, exists = self._tree.find(depth, parents, texts)
            left, right = child[of_child[exists]], found[exists]
        columns, pair = self._tree.members(right)
        # Originals that differ only in attributes that are not compared share a node.
        rows, pair = tree.members(left[pair])
        columns = columns[pair]
        by_original = np.lexsort((columns, rows))
        return ConsistentPairs(rows[by_original], columns[by_original])


@dataclass(frozen=True, eq=False)
class _Masks:
    """For each value of each attribute, a bit for every published row: whether it covers the value.

    Attributes
    ----------
    numbers: place of each value, from -1 on, in the masks of its attribute.
    masks: shape (values that occur, words), uint64; eight bytes hold the bits of 64 rows in their order.
    """

    numbers: list[IntArray]
    masks: list[NDArray[np.uint64]]

    @classmethod
    def of(cls, meanings: Sequence[ValueCoverage], published: IntArray, original: IntArray) -> _Masks | None:
        """Return the masks of the values of some originals; None if they would take too long to make.

        Parameters
        ----------
        published, original: as in ``CoveringJoin``, with the columns in the order of the meanings.
        """
        values = [np.flatnonzero(np.bincount(column + 1)) - 1 for column in original.T]
        cells = len(published) * sum(map(len, values))
        if not values or not len(published) or len(published) > MASKED or cells > CELLS:
            return None
        numbers, masks = [], []
        for meaning, own, texts in zip(meanings, values, published.T, strict=True):
            number = np.full(meaning.column.size + 1, -1, dtype=np.int64)
            number[own + 1] = np.arange(len(own))
            place = number[meaning.values + 1]
            covers = np.zeros((len(own), len(meaning.sizes)), dtype=bool)
            covers[place[place >= 0], np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)[place >= 0]] = (
                True
            )
            covers[own < 0] = True
            bits = np.packbits(covers[:, texts], axis=1, bitorder="little")
            words = np.zeros((len(own), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
            words[:, : bits.shape[1]] = bits
            numbers.append(number)
            masks.append(words.view(np.uint64))
        return cls(numbers, masks)

    def join(self, original: IntArray) -> ConsistentPairs | None:
        """Return the pairs of some rows; None if they do not fit in memory at once."""
        places = [number[column + 1] for number, column in zip(self.numbers, original.T, strict=True)]
        found = self.masks[0][places[0]]
        for mask, place in zip(self.masks[1:], places[1:], strict=True):
            found &= mask[place]
        if int(np.bitwise_count(found).sum()) > PAIRS and len(original) > 1:
            return None
        words = np.flatnonzero(found.ravel() != 0)
        bits = np.flatnonzero(
            np.unpackbits(found.ravel()[words].view(np.uint8), bitorder="little").view(np.bool_)
        )
        row, word = np.divmod(words[bits >> 6], found.shape[1])
        return ConsistentPairs(row, word * 64 + (bits & 63))


class _PrefixTree:
    """The prefixes of rows as a tree: level j has one node for each vector of the first j + 1 values.

    Nodes of a level are in the order of their values, so the children of a node are consecutive.
    """

    def __init__(self, combinations: IntArray) -> None:
        self.rows = np.lexsort(combinations.T[::-1])
        ordered = combinations[self.rows].astype(np.int64)
        new: BoolArray = np.zeros(len(ordered), dtype=bool)
        new[:1] = True
        above = np.zeros(len(ordered), dtype=np.int64)
        self.values: list[IntArray] = []
        self._starts: list[IntArray] = []
        self._keys: list[IntArray] = []
        self._sizes: list[int] = []
        for column in ordered.T:
            new[1:] |= column[1:] != column[:-1]
            first = np.flatnonzero(new)
            parents, values = above[first], column[first]
            size = int(values.max(initial=0)) + 1
            number = int(parents.max(initial=-1)) + 1
            self.values.append(values)
            self._starts.append(np.searchsorted(parents, np.arange(number + 1)))
            self._keys.append(parents * size + values)
            self._sizes.append(size)
            above = np.cumsum(new) - 1
        self._members = np.append(np.flatnonzero(new), len(ordered))

    def children(self, depth: int, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the children at a level of nodes above it, and the parent's position for each."""
        starts = self._starts[depth]
        return spans(starts[nodes], starts[nodes + 1] - starts[nodes])

    def members(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows at some nodes of the last level, and the node's position for each."""
        places, of_node = spans(self._members[nodes], self._members[nodes + 1] - self._members[nodes])
        return self.rows[places], of_node

    def fan(self, depth: int, nodes: IntArray) -> int:
        """Return the number of children at a level of nodes above it."""
        starts = self._starts[depth]
        return int((starts[nodes + 1] - starts[nodes]).sum())

    def find(self, depth: int, parents: IntArray, values: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the node of a level with a parent and a value, and whether it exists."""
        keys, size = self._keys[depth], self._sizes[depth]
        wanted = parents * size + values
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return place, (values < size) & (keys[place] == wanted)


@dataclass(frozen=True, eq=False)
class _Inverse:
    """The texts that cover each value: for value i, ``entries[starts[i + 1]:starts[i + 2]]``.

    Every text covers the unknown value, -1.
    """

    starts: IntArray
    entries: IntArray

    @classmethod
    def of(cls, meaning: ValueCoverage) -> _Inverse:
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        order = np.argsort(meaning.values, kind="stable")
        starts = np.searchsorted(meaning.values[order], np.arange(meaning.column.size + 1))
        texts = len(meaning.sizes)
        return cls(np.append(0, texts + starts), np.concatenate([np.arange(texts), owners[order]]))

    def fan(self, values: IntArray) -> int:
        """Return the number of pairs of a value and a text that covers it."""
        return int((self.starts[values + 2] - self.starts[values + 1]).sum())

    def texts(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the texts that cover some values, and the value's position for each."""
        starts = self.starts[values + 1]
        places, of_value = spans(starts, self.starts[values + 2] - starts)
        return self.entries[places], of_value


def _share(meaning: ValueCoverage) -> float:
    """Return the mean share of the column's values that a text covers."""
    return len(meaning.values) / max(meaning.column.size * len(meaning.sizes), 1)
