"""Which published combinations cover which original ones, found by a join along the attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import BoolArray, IntArray

BLOCK = 4096
"""Original combinations that are joined at once, unless their pairs are too many."""

PAIRS = 1 << 23
"""Most pairs that are held at once."""


@dataclass(frozen=True, eq=False)
class ConsistentPairs:
    """Pairs of an original and a published combination of which every value covers the original one.

    Attributes
    ----------
    original, published: positions, shape (pairs,), int64; ascending by ``original``, then ``published``.
    """

    original: IntArray
    published: IntArray


def spans(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions in several ranges one after another, and the range that each is in."""
    of_range = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    return np.arange(len(of_range)) + (starts - first)[of_range], of_range


class CoveringJoin:
    """Joins original combinations with the published ones that cover them.

    One attribute after another, those that tell most first: pairs of beginnings that fit are prolonged by the
    values of the original and the texts that stand for these.

    Parameters
    ----------
    meanings: what the texts of each attribute stand for.
    published: texts of each published combination, shape (published, attributes).
    """

    def __init__(self, meanings: Sequence[ValueCoverage], published: IntArray) -> None:
        self._order = sorted(range(len(meanings)), key=lambda own: _share(meanings[own]))
        self._meanings = [_Inverse.of(meanings[own]) for own in self._order]
        self._tree = _Beginnings(published[:, self._order])

    def blocks(self, original: IntArray) -> Iterator[tuple[IntArray, ConsistentPairs]]:
        """Yield blocks of original combinations with their pairs.

        Parameters
        ----------
        original: codes, shape (original, attributes); equal ones have the same pairs.

        Yields
        ------
        Positions of the combinations of a block, and the pairs, ``original`` being positions in the block.
        """
        ordered = original[:, self._order]
        order = np.lexsort(ordered.T[::-1])
        waiting = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)][::-1]
        while waiting:
            block = waiting.pop()
            covering = self._join(ordered[block])
            if covering is None:
                half = len(block) // 2
                waiting += [block[half:], block[:half]]
            else:
                yield block, covering

    def _join(self, original: IntArray) -> ConsistentPairs | None:
        """Return the pairs of sorted combinations; None when they are too many to be held at once."""
        tree = _Beginnings(original)
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
        # Originals that differ only in what is not compared are at one node.
        rows, pair = tree.members(left[pair])
        columns = columns[pair]
        by_original = np.lexsort((columns, rows))
        return ConsistentPairs(rows[by_original], columns[by_original])


class _Beginnings:
    """The beginnings of combinations as a tree: level j has one node for each of its first j + 1 values.

    Nodes of a level are in the order of their values, so the children of a node are neighbours.
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
        """Return the nodes of a level under some of the level above, and under which each is."""
        starts = self._starts[depth]
        return spans(starts[nodes], starts[nodes + 1] - starts[nodes])

    def members(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the combinations at some nodes of the last level, and at which of the nodes each is."""
        places, of_node = spans(self._members[nodes], self._members[nodes + 1] - self._members[nodes])
        return self.rows[places], of_node

    def fan(self, depth: int, nodes: IntArray) -> int:
        """Return how many nodes of a level are under some of the level above."""
        starts = self._starts[depth]
        return int((starts[nodes + 1] - starts[nodes]).sum())

    def find(self, depth: int, parents: IntArray, values: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the node of a level with a parent and a value, and whether there is one."""
        keys, size = self._keys[depth], self._sizes[depth]
        wanted = parents * size + values
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return place, (values < size) & (keys[place] == wanted)


@dataclass(frozen=True, eq=False)
class _Inverse:
    """The texts that stand for each value: of value i, ``entries[starts[i]:starts[i + 1]]``."""

    starts: IntArray
    entries: IntArray

    @classmethod
    def of(cls, meaning: ValueCoverage) -> _Inverse:
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        order = np.argsort(meaning.values, kind="stable")
        starts = np.searchsorted(meaning.values[order], np.arange(meaning.column.size + 1))
        return cls(starts, owners[order])

    def fan(self, values: IntArray) -> int:
        """Return how many pairs of a value and a text that stands for it there are."""
        return int((self.starts[values + 1] - self.starts[values]).sum())

    def texts(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """Return the texts that stand for some values, and for which of these each does."""
        places, of_value = spans(self.starts[values], self.starts[values + 1] - self.starts[values])
        return self.entries[places], of_value


def _share(meaning: ValueCoverage) -> float:
    """Return the mean share of the column's values that a text stands for."""
    return len(meaning.values) / max(meaning.column.size * len(meaning.sizes), 1)
