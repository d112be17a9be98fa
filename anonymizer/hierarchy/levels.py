"""Trees whose nodes are numbered level by level, without a Python object for each edge.

A file of a million values is read, checked and compiled by arrays; only a message, or a user who asks for the
graph, needs its nodes one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray, freeze
from anonymizer.model.table import Hierarchy


class Numbering:
    """Numbers labels in the order in which they appear, piece by piece."""

    def __init__(self) -> None:
        self._codes: defaultdict[str, int] = defaultdict(count().__next__)
        self._pieces: list[CodeArray] = []

    def add(self, labels: Sequence[str]) -> None:
        """Number the labels of further rows."""
        self._pieces.append(np.fromiter(map(self._codes.__getitem__, labels), np.int32, len(labels)))

    @property
    def labels(self) -> list[str]:
        """The distinct labels in their order."""
        return list(self._codes)

    @property
    def codes(self) -> CodeArray:
        """The number of each row's label, shape (rows,), int32."""
        return np.concatenate(self._pieces)


def numbered(labels: Sequence[str]) -> tuple[list[str], CodeArray]:
    """Return the distinct labels in the order in which they appear, and the number of each."""
    numbering = Numbering()
    numbering.add(labels)
    return numbering.labels, numbering.codes


def all_distinct(values: Sequence[Hashable]) -> bool:
    """Return whether no value is repeated; by hashes, which take less memory than a set of the values."""
    hashes = np.sort(np.fromiter(map(hash, values), np.int64, len(values)))
    return not (hashes[1:] == hashes[:-1]).any() or len(set(values)) == len(values)


def last_parents(lower: CodeArray, upper: CodeArray, nodes: int) -> CodeArray:
    """Return for each node of a level the node above it in the last row that has it, shape (nodes,)."""
    parents = np.empty(nodes, dtype=np.int32)
    parents[lower] = upper
    return parents


@dataclass(frozen=True, eq=False)
class Levels:
    """A tree with all leaves at level 0; siblings are in the order of their numbers.

    Attributes
    ----------
    labels: of the nodes of each level from 0 up, distinct in a level; the last level has one, the root.
    parents: for each level but the last, the number of each node's parent in the level above, int32.
    """

    labels: Sequence[Sequence[str]]
    parents: Sequence[CodeArray]

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[str]]) -> Levels | None:
        """Return the tree of values by their label at each level; None if a node has two parents."""
        levels = [numbered(labels) for labels in rows]
        parents = []
        for (labels, lower), (_, upper) in pairwise(levels):
            parents.append(last_parents(lower, upper, len(labels)))
            if (parents[-1][lower] != upper).any():
                return None
        return cls([labels for labels, _ in levels], parents)

    @property
    def height(self) -> int:
        """Level of the root."""
        return len(self.parents)

    def edges(self) -> Iterator[tuple[tuple[int, str], tuple[int, str]]]:
        """Yield parent and child of every edge as ``(level, label)``, from the leaves up."""
        for level, ((lower, upper), parents) in enumerate(
            zip(pairwise(self.labels), self.parents, strict=True)
        ):
            for label, parent in zip(lower, parents.tolist(), strict=True):
                yield (level + 1, upper[parent]), (level, label)

    def lacks(self, values: Iterable[str]) -> bool:
        """Return whether values can be placed under the root: below it, no node has the label of one."""
        wanted = set(values)
        return self.height > 0 and all(map(wanted.isdisjoint, self.labels[:-1]))

    def hung(self, values: Sequence[str]) -> Levels:
        """Return the tree with values, which it ``lacks``, directly under the root, padded to level 0."""
        labels, parents = [], []
        for level, (own, above) in enumerate(zip(self.labels[:-1], self.parents, strict=True)):
            labels.append([*own, *values])
            first = 0 if level + 1 == self.height else len(self.labels[level + 1])
            added = np.zeros(len(values)) if level + 1 == self.height else first + np.arange(len(values))
            parents.append(np.concatenate([above, added]).astype(np.int32))
        return Levels([*labels, self.labels[-1]], parents)

    def compiled(self) -> Hierarchy:
        """Return the preorder arrays, without a loop over nodes."""
        orders, ranks = self._orders()
        sizes, nodes = self._sizes(ranks)
        total = sum(map(len, self.labels))
        labels = np.empty(total, dtype=object)
        parent, level, first, last = (np.full(total, -1, dtype=np.int32) for _ in range(4))
        ancestors = np.empty((self.height + 1, len(self.labels[0])), dtype=np.int32)
        place = np.zeros(1, dtype=np.int32)
        for own in range(self.height, -1, -1):
            if own < self.height:
                above = place[ranks[own]]
                place = above + 1 + _before(nodes[own], ranks[own])
                parent[place] = above
            labels[place] = np.array(self.labels[own], dtype=object)[orders[own]]
            level[place] = own
            last[place] = np.cumsum(sizes[own], dtype=np.int32)
            first[place] = last[place] - sizes[own]
            ancestors[own] = np.repeat(place, sizes[own])
        for array in (parent, level, first, last, ancestors):
            freeze(array)
        return Hierarchy(tuple(labels.tolist()), parent, level, first, last, ancestors)

    def _orders(self) -> tuple[list[IntArray], list[CodeArray]]:
        """Return the nodes of each level in preorder, and the place in it of the parent of each of those."""
        order: IntArray = np.zeros(1, dtype=np.int64)
        orders, ranks = [order], []
        for parents in reversed(self.parents):
            place = np.empty(len(order), dtype=np.int32)
            place[order] = np.arange(len(order), dtype=np.int32)
            above: CodeArray = place[parents]
            order = np.argsort(above, kind="stable")
            orders.append(order)
            ranks.append(above[order])
        return orders[::-1], ranks[::-1]

    def _sizes(self, ranks: Sequence[CodeArray]) -> tuple[list[CodeArray], list[CodeArray]]:
        """Return the leaves and the nodes, itself included, under each node of each level in preorder."""
        sizes: list[CodeArray] = [np.ones(len(self.labels[0]), dtype=np.int32)]
        nodes: list[CodeArray] = [sizes[0]]
        for above in ranks:
            starts = np.flatnonzero(np.diff(above, prepend=-1))
            sizes.append(np.add.reduceat(sizes[-1], starts, dtype=np.int32))
            nodes.append(np.add.reduceat(nodes[-1], starts, dtype=np.int32) + np.int32(1))
        return sizes, nodes


def _before(nodes: CodeArray, above: CodeArray) -> CodeArray:
    """Return the number of nodes under earlier siblings, for the nodes of a level in preorder."""
    before = np.cumsum(nodes, dtype=np.int32) - nodes
    starts = np.flatnonzero(np.diff(above, prepend=-1))
    offset: CodeArray = before - before[starts][above]
    return offset


def listed(values: Iterable[str], labels: Iterable[str]) -> dict[str, int]:
    """Return the place of each of some values among distinct labels, without those that they lack."""
    wanted = set(values)
    return {label: place for place, label in enumerate(labels) if label in wanted}
