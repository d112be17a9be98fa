"""Joins of original rows with the published rows whose values all cover theirs, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.pace import step
from anonymizer.model.adversary import (
    ValueCoverage,
)
from anonymizer.model.arrays import BoolArray, IntArray

BLOCK = 4096
"""Original rows that are joined at once, unless they have too many pairs."""

PAIRS = 1 << 23
"""Maximum number of pairs in memory."""


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

    Attributes are joined one after another, the most selective first: consistent pairs of prefixes are
    extended by the values of the originals and the texts that cover them.

    Parameters
    ----------
    meanings: coverage of the texts of each attribute.
    published: texts of each published row, shape (published, attributes).
    """

    def __init__(self, meanings: Sequence[ValueCoverage], published: IntArray) -> None:
        self._order = sorted(range(len(meanings)), key=lambda own: _share(meanings[own]))
        self._meanings = [_Inverse.of(meanings[own]) for own in self._order]
        self._tree = _PrefixTree(published[:, self._order])

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
        order = np.lexsort(ordered.T[::-1])
        waiting = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)][::-1]
        while waiting:
            block = waiting.pop()
            step(waiting, len(order) - len(block) - sum(map(len, waiting)), len(order))
            covering = self._join(ordered[block])
            if covering is None:
                half = len(block) // 2
                waiting += [block[half:], block[:half]]
            else:
                yield block, covering

    def _join(self, original: IntArray) -> ConsistentPairs | None:
        """Return the pairs of sorted rows; None if they do not fit in memory at once."""
        tree = _PrefixTree(original)
        left, right = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for depth, inverse in enumerate(self._meanings):
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
