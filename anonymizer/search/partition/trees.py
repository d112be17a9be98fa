"""The hierarchy nodes that local recoding may publish, over all quasi-identifiers, with their costs.

Every allowed node of every attribute has one number, so that arrays of nodes of any shape and of several
attributes are looked up at once. Nodes that cover the same values of the input make the same classes, so they
count as one: the cheapest, which is the lowest allowed one for any metric that grows towards the root. The
join of two node vectors costs as much as their lowest common ancestors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, numbered
from anonymizer.model.table import QuasiIdentifier, Table

NONE = -1
"""No allowed node, such as the parent of a root."""


@dataclass(frozen=True, eq=False)
class AllowedTrees:
    """The allowed nodes of all quasi-identifiers: a forest in preorder, attribute after attribute.

    Attributes
    ----------
    node: hierarchy node of each allowed node, shape (allowed,), int32.
    attribute: position of the quasi-identifier that each node belongs to, shape (allowed,), int32.
    parent: next larger allowed node, shape (allowed,), int32; ``NONE`` where there is none.
    first, last: half-open range of values that each node covers, shape (allowed,), int32; the values of all
        attributes are numbered in one sequence, in the order of their leaves.
    cost: share of the weights times the cost of publishing the node, shape (allowed,), float64: the part of
        one record in the sum of all losses. Never falls towards the root for the metrics of this package.
    lowest: per attribute, the smallest allowed node of each of the column's codes, int32.
    """

    node: CodeArray
    attribute: CodeArray
    parent: CodeArray
    first: CodeArray
    last: CodeArray
    cost: FloatArray
    lowest: tuple[CodeArray, ...]

    @property
    def attributes(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.lowest)

    @property
    def vectors(self) -> int:
        """Number of node vectors that one record could have."""
        return prod(np.bincount(self.attribute, minlength=self.attributes).tolist())

    def costs(self, nodes: CodeArray) -> FloatArray:
        """Return the cost of a record at each node vector, shape of ``nodes`` without its last axis.

        Parameters
        ----------
        nodes: allowed nodes, shape (..., quasi-identifiers), int32, none of them ``NONE``.
        """
        total = np.zeros(nodes.shape[:-1])
        for position in range(nodes.shape[-1]):
            total += self.cost[nodes[..., position]]
        return total

    def covering(self, nodes: CodeArray, first: CodeArray, last: CodeArray) -> CodeArray:
        """Return the lowest node at or above each one that covers a range, ``NONE`` without one.

        Parameters
        ----------
        nodes: any shape, int32, ``NONE`` stays ``NONE``.
        first, last: half-open ranges of values, of the same shape.
        """
        found = nodes.ravel().copy()
        low, high = first.ravel(), last.ravel()
        short = (self.first[found] > low) | (self.last[found] < high)
        pending = np.flatnonzero(short & (found != NONE))
        while len(pending):
            above = self.parent[found[pending]]
            found[pending] = above
            known = above != NONE
            pending, above = pending[known], above[known]
            pending = pending[(self.first[above] > low[pending]) | (self.last[above] < high[pending])]
        return found.reshape(nodes.shape)

    def common(self, left: CodeArray, right: CodeArray) -> CodeArray:
        """Return the lowest common ancestor node by node, ``NONE`` without one; equal shapes."""
        known = (left != NONE) & (right != NONE)
        return self.covering(np.where(known, left, NONE), self.first[right], self.last[right])

    def common_of_groups(self, nodes: CodeArray, starts: IntArray) -> CodeArray:
        """Return the lowest common ancestors of consecutive rows.

        Parameters
        ----------
        nodes: shape (rows, quasi-identifiers), int32, none of them ``NONE``.
        starts: first row of each group, shape (groups,), ascending from 0, no group empty.

        Returns
        -------
        Nodes, shape (groups, quasi-identifiers), int32, ``NONE`` where an attribute has no common one.
        """
        first = np.minimum.reduceat(self.first[nodes], starts, axis=0)
        last = np.maximum.reduceat(self.last[nodes], starts, axis=0)
        return self.covering(nodes[starts], first, last)


ONE = 1 << 32
"""The price of a suppressed record; any other record costs a part of it."""


def priced(trees: AllowedTrees) -> IntArray:
    """Return the nodes as the kernel reads them: first, last, parent and price, shape (allowed, 4), int64."""
    prices = np.rint(trees.cost * ONE)
    return np.stack([trees.first, trees.last, trees.parent, prices], axis=1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Items:
    """The distinct rows of a table at their lowest allowed nodes, without sensitive values.

    Attributes
    ----------
    nodes: smallest allowed node of each attribute, shape (items, quasi-identifiers), int32; rows are
        distinct and sorted.
    counts: records of each item, shape (items,), int64.
    units: most units that each adds to a class of the problem's smallest size, shape (items,), int64.
    item_of: item of each combination of the table, shape (combinations,), int64.
    """

    nodes: CodeArray
    counts: IntArray
    units: IntArray
    item_of: IntArray

    @property
    def number(self) -> int:
        """Number of items."""
        return len(self.counts)


def items_of(table: Table, trees: AllowedTrees, unit: str | None = None) -> Items:
    """Return the distinct vectors of lowest allowed nodes of a table.

    Parameters
    ----------
    unit: of the smallest class; None for records.
    """
    every = lowest_nodes(table, trees)
    item_of, first = numbered(every.T, len(every))
    nodes = every[first]
    counts, units = (
        np.bincount(item_of, weights=each, minlength=len(nodes)).astype(np.int64)
        for each in (table.counts, table.measure.counted(unit))
    )
    return Items(np.ascontiguousarray(nodes), counts, units, item_of)


def surely_more_items(table: Table, trees: AllowedTrees, most: int) -> bool:
    """Return True only if the table certainly has more items; it looks at a sample."""
    some = slice(None, None, max(table.combinations // (4 * most), 1))
    return len(np.unique(lowest_nodes(table, trees, some), axis=0)) > most


EVERY = slice(None)
"""All combinations."""


def lowest_nodes(table: Table, trees: AllowedTrees, rows: slice = EVERY) -> CodeArray:
    """Return the smallest allowed nodes of combinations, shape (combinations, quasi-identifiers), int32."""
    columns = [own[table.quasi_identifier_codes(place)[rows]] for place, own in enumerate(trees.lowest)]
    return np.stack(columns, axis=1)


def allowed_trees(attributes: Sequence[QuasiIdentifier], metric: CellMetric) -> AllowedTrees:
    """Build the allowed nodes of the quasi-identifiers between their minimum and maximum levels.

    Parameters
    ----------
    metric: gives the cost of each node; its aggregate is assumed to be the arithmetic mean.
    """
    total = sum(attribute.weight for attribute in attributes)
    parts: list[AllowedTrees] = []
    nodes = values = 0
    for position, attribute in enumerate(attributes):
        share = attribute.weight / total
        parts.append(_one_tree(position, attribute, share * metric.node_costs(attribute), (nodes, values)))
        nodes += len(parts[-1].node)
        values += attribute.column.size
    return AllowedTrees(
        node=np.concatenate([part.node for part in parts]),
        attribute=np.concatenate([part.attribute for part in parts]),
        parent=np.concatenate([part.parent for part in parts]),
        first=np.concatenate([part.first for part in parts]),
        last=np.concatenate([part.last for part in parts]),
        cost=np.concatenate([part.cost for part in parts]),
        lowest=tuple(part.lowest[0] for part in parts),
    )


def _one_tree(
    position: int, attribute: QuasiIdentifier, costs: FloatArray, offsets: tuple[int, int]
) -> AllowedTrees:
    """Build the nodes of one attribute, numbered from ``offsets[0]``, its values from ``offsets[1]``."""
    tree = attribute.hierarchy
    ancestors = tree.ancestors[attribute.minimum : attribute.maximum + 1, attribute.leaf]
    nodes = np.unique(ancestors)
    leaves = np.sort(attribute.leaf)
    first = np.searchsorted(leaves, tree.first_leaf[nodes])
    last = np.searchsorted(leaves, tree.last_leaf[nodes])
    # Among nodes with the same values the cheapest comes first, then the lowest.
    order = np.lexsort((tree.level[nodes], costs[nodes], -last, first))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(first[order]) != 0) | (np.diff(last[order]) != 0)
    kept = order[new]
    number = np.empty(len(tree.labels), dtype=np.int32)
    number[nodes[order]] = np.cumsum(new) - 1 + offsets[0]
    chains = number[ancestors]
    parent = np.full(len(kept), NONE, dtype=np.int32)
    for below, above in pairwise(chains):
        rises = below != above
        parent[below[rises] - offsets[0]] = above[rises]
    return AllowedTrees(
        nodes[kept].astype(np.int32),
        np.full(len(kept), position, dtype=np.int32),
        parent,
        (first[kept] + offsets[1]).astype(np.int32),
        (last[kept] + offsets[1]).astype(np.int32),
        costs[nodes[kept]],
        (chains[0],),
    )


TABLE_LIMIT = 1 << 22
"""Most pairs of nodes of one attribute whose join costs are tabulated; larger trees are climbed."""


class Joins:
    """Costs of joined node vectors, tabulated for attributes with small trees."""

    def __init__(self, trees: AllowedTrees) -> None:
        self._trees = trees
        self._offsets: list[int] = []
        self._tables: list[FloatArray | None] = []
        sizes = np.bincount(trees.attribute, minlength=trees.attributes)
        for offset, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
            self._offsets.append(int(offset))
            small = size * size <= TABLE_LIMIT
            self._tables.append(self._table(int(offset), int(size)) if small else None)

    def _table(self, offset: int, size: int) -> FloatArray:
        nodes = np.arange(offset, offset + size, dtype=np.int32)
        left = np.repeat(nodes, size)
        return self.climbed(left, np.tile(nodes, size)).reshape(size, size)

    def climbed(self, left: CodeArray, right: CodeArray) -> FloatArray:
        """Return the costs of the joins of single nodes, without a table; equal shapes."""
        found = self._trees.common(left, right)
        return np.where(found == NONE, np.inf, self._trees.cost[np.where(found == NONE, 0, found)])

    def costs(self, left: CodeArray, right: CodeArray) -> FloatArray:
        """Return the cost of a record in the join of two node vectors.

        Parameters
        ----------
        left, right: allowed nodes, shapes (..., quasi-identifiers) that broadcast, int32, none ``NONE``.

        Returns
        -------
        Costs, of the broadcast shape without its last axis, float64; infinite if no allowed node covers both.
        """
        shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
        total = np.zeros(shape)
        for position, (offset, table) in enumerate(zip(self._offsets, self._tables, strict=True)):
            one, other = left[..., position], right[..., position]
            if table is None:
                one, other = np.broadcast_arrays(one, other)
                total += self.climbed(np.ascontiguousarray(one), np.ascontiguousarray(other))
            else:
                total += table[one - offset, other - offset]
        return total

    def matrix(self, left: CodeArray, right: CodeArray) -> FloatArray:
        """Return the cost of a record in the join of each pair of two lists of node vectors.

        Much faster than ``costs`` for a few dozen vectors on the left.

        Parameters
        ----------
        left, right: allowed nodes, shapes (left, quasi-identifiers) and (right, quasi-identifiers).

        Returns
        -------
        Costs, shape (right, left), float64.
        """
        total = np.zeros((len(right), len(left)))
        for position, (offset, table) in enumerate(zip(self._offsets, self._tables, strict=True)):
            one, other = left[:, position], right[:, position]
            if table is None:
                distinct, rows = np.unique(other, return_inverse=True)
                pairs = np.broadcast_arrays(one, distinct[:, None])
                columns = self.climbed(*(np.ascontiguousarray(own) for own in pairs))
            else:
                rows = (other - offset).astype(np.int64)
                columns = np.ascontiguousarray(table[:, one - offset])
            # Gathering whole rows makes it fast.
            total += columns.take(rows.reshape(-1), axis=0)
        return total


SEVERAL = 1 << 18
"""Most costs in a table for several attributes, so that it stays in a processor's cache."""


class RowJoins:
    """Costs of joining node vectors with many rows each, by tables for several attributes at once.

    They are for choosing among rows, and in half of the usual precision, as memory bounds the work.

    Parameters
    ----------
    rows: vectors of lowest allowed nodes, shape (rows, quasi-identifiers), int32.

    Attributes
    ----------
    codes: what each row has in each table, shape (tables, rows), int64.
    """

    def __init__(self, trees: AllowedTrees, joins: Joins, rows: CodeArray) -> None:
        self._joins = joins
        lowest = [np.unique(own) for own in trees.lowest]
        counts = np.bincount(trees.attribute, minlength=trees.attributes)
        first = np.cumsum(counts) - counts
        sizes = [int(number) * len(own) for number, own in zip(counts, lowest, strict=True)]
        blocks = blocks_of(sizes, SEVERAL)
        self._order = np.concatenate(blocks)
        self._starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
        self._places = np.zeros(len(trees.node), dtype=np.int64)
        self._tables: list[NDArray[np.float32] | None] = []
        codes = []
        for block in blocks:
            if sizes[block[0]] > TABLE_LIMIT:
                self._tables.append(None)
                codes.append(rows[:, block[0]].astype(np.int64))
                continue
            table, code = np.zeros((1, 1)), np.zeros(len(rows), dtype=np.int64)
            for position in block:
                own = lowest[position]
                nodes = np.arange(first[position], first[position] + counts[position], dtype=np.int32)
                costs = joins.climbed(np.repeat(nodes, len(own)), np.tile(own, len(nodes)))
                table = table[:, None, :, None] + costs.reshape(1, len(nodes), 1, len(own))
                table = table.reshape(table.shape[0] * len(nodes), -1)
                code = code * len(own) + np.searchsorted(own, rows[:, position])
            self._tables.append(table.astype(np.float32).ravel())
            codes.append(code)
            width = table.shape[1]
            for position in block[::-1]:
                nodes = np.arange(counts[position])
                self._places[first[position] + nodes] = width * nodes
                width *= len(nodes)
        self.codes = np.stack(codes)

    def costs(
        self, nodes: CodeArray, codes: IntArray, lengths: IntArray, least: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the cost of a record in the join of each node vector with each of its rows.

        Parameters
        ----------
        nodes: allowed ones, shape (vectors, quasi-identifiers), int32, none ``NONE``.
        codes: of the rows, shape (tables, rows), those of the first vector first.
        lengths: rows of each vector, shape (vectors,).
        least: to which the costs are added, shape (rows,).

        Returns
        -------
        Costs, shape (rows,); infinite if no allowed node covers both.
        """
        total = least.copy()
        places = np.add.reduceat(self._places[nodes[:, self._order]], self._starts, axis=1)
        for block, table in enumerate(self._tables):
            if table is None:
                own = np.repeat(nodes[:, self._order[self._starts[block]]], lengths)
                total += self._joins.climbed(own, codes[block].astype(np.int32))
            else:
                place = np.repeat(places[:, block], lengths)
                place += codes[block]
                total += table.take(place)
        return total


def blocks_of(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Group positions, those of small sizes first, so that the sizes of each group have a bounded product.

    Parameters
    ----------
    most: largest product; a larger size is a group of its own.
    """
    blocks: list[list[int]] = []
    width = most + 1
    for position in np.argsort(sizes, kind="stable").tolist():
        width *= sizes[position]
        if width > most:
            blocks.append([])
            width = sizes[position]
        blocks[-1].append(position)
    return blocks
