"""A proven lower bound on the loss of every local recoding, from the nearest records of each record.

It holds in any number of dimensions, where hardly any records share a class that is worth a thought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from anonymizer.compiled import Room
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.table import Table
from anonymizer.search.local.neighbours.kernel import MODULE, TOO_FEW, Near, cheapest
from anonymizer.search.partition.trees import NONE, AllowedTrees, blocks_of, lowest_nodes

ADDITIONS = 300_000_000
"""Additions of costs in a round; about 0.25 seconds."""

SORTING = 3
"""Additions that take as long as it takes to find a record's neighbours by their costs."""

TOGETHER, TILE = 64, 2048
"""Items whose costs with so many others are added up at once, which fits a processor's cache."""

MOST_TOGETHER = 1 << 22
"""Most costs that are held at once."""

WIDEST_TABLE = 2048
"""Most nodes of an attribute, and most vectors of nodes of several, in a table of join costs."""


FEWEST, NEAREST = 64, 512
"""Nearest records of each that are joined with each other, at first and at most."""

SOME = 0.1
"""Share of records for which a class with one farther away could be the cheapest, from which on more are."""

SIDE_BY_SIDE = 3
"""Additions of the kernel that take as long as another, as it adds several costs at once."""

LARGEST = 64
"""Largest class size for which they are: more of them would have to be joined."""

DEEP_ROUNDS = 200
"""Most rounds that join them."""


class NeighbourBound:
    """A lower bound that holds in any number of dimensions, from the neighbours of each record.

    A record costs at least as much as its join with the farthest other record of its class, and so with its
    (k - 1)-th nearest record, or unit, of the table. Once these are known for all, neighbours are joined with
    each other: a record costs what it does with any two of its class (``kernel.cheapest``), then with any
    three, and so on. Records whose neighbours nobody has looked for yet cost what they do alone, so the bound
    is weak on large tables. In few dimensions ``DualBound`` is far better.

    Parameters
    ----------
    size: smallest class.
    unit: in which it is counted; None for records.
    by_weights: whether the mean is over the people that records represent.

    Attributes
    ----------
    loss: the bound on the mean loss of all records.
    """

    def __init__(
        self,
        table: Table,
        trees: AllowedTrees,
        size: int,
        unit: str | None = None,
        *,
        by_weights: bool = False,
    ) -> None:
        self._counts = table.row_people if by_weights else table.counts
        self._units, self._size = table.measure.counted(unit), size
        nodes, least = lowest_nodes(table, trees), _least_costs(trees)
        self._joins = BlockedJoins(trees, least, nodes)
        self._least = np.minimum(least[nodes].sum(axis=1), 1.0)
        # A combination with k units needs no others. The others are looked at in an even order.
        sparse = np.flatnonzero(self._units < size)
        strides = max(isqrt(len(sparse)), 1)
        self._order = np.concatenate([sparse[first::strides] for first in range(strides)])
        self._done, self._depth, self._rounds = 0, 1, 0
        self.loss = 0.0

    @property
    def brief(self) -> bool:
        """Whether all records have their nearest ones after one round."""
        return len(self._order) <= _reached(len(self._counts), self._joins.blocks)

    @property
    def complete(self) -> bool:
        """Whether the nearest ones of all records are known."""
        return self._depth > 1

    @property
    def settled(self) -> bool:
        """Whether neighbours are not joined any further, which would raise the bound hardly or never."""
        if not self.complete:
            return not len(self._order)
        return self._depth >= self._size or self._size > LARGEST or self._rounds >= DEEP_ROUNDS

    def improve(self, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Look at the neighbours of some more records; return False if ``stopped`` ended it before."""
        least, done, added = self._least.copy(), self._done, 0
        together = self._together
        while done < len(self._order) and added < ADDITIONS:
            if stopped():
                return False
            own = self._order[done : done + together]
            costs = self._joins.costs(own)
            added += costs.size * (self._joins.blocks + SORTING)
            if self._depth == 1:
                found = _nearest(costs, self._units, self._size)
            else:
                found, joined = self._joined.least(own, costs, self._depth)
                added += joined
            # Joins of ancestors may cost less than the record does alone.
            least[own] = np.maximum(least[own], found)
            done += len(own)
        self._least, self._done = least, done
        self._rounds += self.complete
        if done == len(self._order):
            self._done, self._depth = 0, self._depth + 1
        total = float(self._counts @ least)
        self.loss = max(self.loss, total / int(self._counts.sum()) - self._joins.slack)
        return True

    @property
    def _together(self) -> int:
        """Records that are looked at at once."""
        of_each = len(self._counts) if self._depth == 1 else max(len(self._counts), self._joined.of_each)
        return max(min(TOGETHER, MOST_TOGETHER // of_each), 1)

    @cached_property
    def _joined(self) -> FewNeighbours:
        """The neighbours that are joined with each other, which short searches do without."""
        return FewNeighbours(self._joins, self._units, self._size)


class FewNeighbours:
    """The nearest records of some records, joined with each other.

    Parameters
    ----------
    units: of each item, shape (items,), int64.
    size: fewest units of a class.

    Attributes
    ----------
    of_each: numbers that are held for each record.
    """

    def __init__(self, joins: BlockedJoins, units: IntArray, size: int) -> None:
        self._joins, self._size = joins, size
        self._units = np.minimum(units, size).astype(np.int32)
        self._number, self._attributes = min(FEWEST, len(units)), joins.attributes
        # Sums over all attributes are whole numbers of 31 bits.
        self._one = (TOO_FEW - 1) // self._attributes
        self.of_each = min(NEAREST, len(units)) * self._attributes
        self._room: Room | None = None

    def least(self, own: IntArray, costs: NDArray[np.float32], depth: int) -> tuple[FloatArray, int]:
        """Return the least cost of a class of each item, shape (own,), float64, and the additions.

        Parameters
        ----------
        costs: of the join of each with every item, shape (own, items).
        depth: neighbours in a join.
        """
        costs[np.arange(len(own)), own] = -1.0
        beyond = np.full(len(own), np.inf)
        near = np.argpartition(costs, self._number - 1, axis=1)[:, : self._number]
        its = np.take_along_axis(costs, near, axis=1)
        if self._number < costs.shape[1]:
            # A class with a record that is farther away costs at least as much.
            beyond = its.max(axis=1).astype(np.float64)
        near = np.take_along_axis(near, np.argsort(its, axis=1, kind="stable"), axis=1)
        room = self._room_for(len(own), depth)
        known: Near = room.values[0]
        for attribute in range(self._attributes):
            exact = self._joins.pairs(attribute, own, near).astype(np.float64) * self._one
            known.costs[attribute : len(own) * self._attributes : self._attributes] = exact.astype(np.int32)
        known.units[: len(own)] = self._units[near]
        added = room.run(cheapest, known, len(own), self._size, depth)
        found = known.found[: len(own)]
        least = np.where(found == TOO_FEW, np.inf, found / self._one)
        if np.count_nonzero(beyond < least) > SOME * len(own):
            self._number, self._room = min(2 * self._number, NEAREST, len(self._units)), None
        return np.minimum(np.minimum(least, beyond), 1.0), added // SIDE_BY_SIDE

    def _room_for(self, records: int, depth: int) -> Room:
        """Return the tables of so many records, those of the last call if they are large enough."""
        if self._room is not None:
            known: Near = self._room.values[0]
            if len(known.units) >= records and len(known.labels) > depth:
                return self._room
        shape = (records, self._number)
        near = Near(
            np.zeros((records * self._attributes, self._number), dtype=np.int32),
            np.zeros(shape, dtype=np.int32),
            np.zeros(records, dtype=np.int32),
            np.zeros((depth + 1, self._attributes), dtype=np.int32),
            np.zeros((depth + 1, self._number), dtype=np.int32),
            np.zeros((2 * (depth + 1), self._size + 1), dtype=np.int32),
        )
        self._room = Room(MODULE, [near])
        return self._room


def _reached(combinations: int, blocks: int) -> int:
    """Return for how many combinations a round looks for neighbours."""
    return max(ADDITIONS // (combinations * (blocks + SORTING)), 1)


def surely_long(table: Table, size: int, unit: str | None) -> bool:
    """Return True only if one round of ``NeighbourBound`` is certainly not enough."""
    # Other combinations need no neighbours.
    waiting = np.count_nonzero(table.measure.counted(unit) < size)
    return bool(waiting > _reached(table.combinations, 1))


def _nearest(costs: NDArray[np.float32], units: IntArray, size: int) -> FloatArray:
    """Return the least cost within which each of several items has ``size`` units, at most 1.

    Parameters
    ----------
    costs: of the join of each with every item, shape (several, items).
    units: of each item, shape (items,), int64; together at least ``size``.

    Returns
    -------
    Costs, shape (several,), float64.
    """
    # A sample shows how near they are at most; of those nearer, few are left to sort.
    sampled = costs[:, :: max(isqrt(len(units) // size) // 3, 1)]
    place = min(size, sampled.shape[1]) - 1
    found = np.partition(sampled, place, axis=1)[:, place]
    row, item = np.divmod(np.flatnonzero(costs < found[:, None]), costs.shape[1])
    order = np.lexsort((costs[row, item], row))
    row, item = row[order], item[order]
    within = np.cumsum(units[item])
    before = np.concatenate([[0], within])[np.searchsorted(row, np.arange(len(found)))]
    enough = np.flatnonzero(within - before[row] >= size)
    rows, firsts = np.unique(row[enough], return_index=True)
    found[rows] = costs[rows, item[enough[firsts]]]
    return np.minimum(found, 1.0).astype(np.float64)


class BlockedJoins:
    """Least costs of the joins of items, by tables for blocks of attributes.

    Parameters
    ----------
    least: as ``_least_costs``.
    nodes: of each item, shape (items, quasi-identifiers), int32.

    Attributes
    ----------
    blocks: number of tables that each cost is the sum of.
    slack: more than the rounding errors of a sum.
    """

    def __init__(self, trees: AllowedTrees, least: FloatArray, nodes: CodeArray) -> None:
        parts = [_join_table(trees, least, own) for own in nodes.T]
        blocks = blocks_of([len(table) for table, _ in parts], WIDEST_TABLE)
        self._parts = [[parts[place] for place in block] for block in blocks]
        self._codes = [
            np.ravel_multi_index([codes for _, codes in block], [len(table) for table, _ in block])
            for block in self._parts
        ]
        self.blocks = len(self._parts)
        self.slack = 2.0**-22 * nodes.shape[1]
        self._each = parts

    @property
    def attributes(self) -> int:
        """Number of attributes."""
        return len(self._each)

    def pairs(self, attribute: int, own: IntArray, near: IntArray) -> NDArray[np.float32]:
        """Return the least cost of an attribute of each item with some others, shape as ``near``.

        Parameters
        ----------
        near: of each item, shape (own, near).
        """
        table, places = self._each[attribute]
        return table[places[own][:, None], places[near]]

    def costs(self, own: IntArray) -> NDArray[np.float32]:
        """Return the least cost of a record in a class with one of several items, shape (own, items)."""
        tables = [self._table(block, own) for block in self._parts]
        items = len(self._codes[0])
        found = np.empty((len(own), items), dtype=np.float32)
        for first in range(0, items, TILE):
            tile = slice(first, first + TILE)
            total = tables[0].take(self._codes[0][tile], axis=0)
            for table, codes in zip(tables[1:], self._codes[1:], strict=True):
                total += table.take(codes[tile], axis=0)
            found[:, tile] = total.T
        return found

    @staticmethod
    def _table(block: Sequence[tuple[NDArray[np.float32], IntArray]], own: IntArray) -> NDArray[np.float32]:
        """Return the costs of a block for all vectors of its nodes, shape (vectors, own)."""
        table = np.zeros((1, len(own)), dtype=np.float32)
        for each, places in block:
            table = (table[:, None] + each[:, places[own]]).reshape(-1, len(own))
        return table


def _join_table(
    trees: AllowedTrees, least: FloatArray, nodes: CodeArray
) -> tuple[NDArray[np.float32], IntArray]:
    """Return the least costs of joins of an attribute's nodes, and the place of each item's node there.

    Where there are too many nodes for a table, ancestors take their place, and a join counts only where it
    is above both.

    Parameters
    ----------
    least: as ``_least_costs``.
    nodes: of each item, shape (items,), int32.
    """
    distinct, place = np.unique(nodes, return_inverse=True)
    exact = len(distinct) <= WIDEST_TABLE
    while len(distinct) > WIDEST_TABLE:
        above = trees.parent[distinct]
        if (above == NONE).all():
            return np.zeros((1, 1), dtype=np.float32), np.zeros(len(nodes), dtype=np.int64)
        distinct, up = np.unique(np.where(above == NONE, distinct, above), return_inverse=True)
        place = up[place]
    left, right = np.repeat(distinct, len(distinct)), np.tile(distinct, len(distinct))
    joined = trees.common(left, right)
    costs = np.where(joined == NONE, 1.0, np.minimum(least[joined], 1.0))
    if not exact:
        costs[(joined == left) | (joined == right)] = 0.0
    shape = (len(distinct), len(distinct))
    return costs.reshape(shape).astype(np.float32), place.reshape(-1).astype(np.int64)


def _least_costs(trees: AllowedTrees) -> FloatArray:
    """Return the least cost of each node and all above it: what a class costs that needs it at least."""
    least, above = trees.cost, trees.parent
    while (above != NONE).any():
        least = np.where(above == NONE, least, np.minimum(least, trees.cost[above]))
        above = np.where(above == NONE, NONE, trees.parent[above])
    return least
