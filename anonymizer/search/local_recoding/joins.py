"""What it costs to publish two node vectors as one: the costs of their lowest common ancestors."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import CodeArray, FloatArray
from anonymizer.search.local_recoding.trees import NONE, AllowedTrees

TABLE_LIMIT = 1 << 22
"""Most pairs of nodes of one attribute whose joined costs are kept in a table; larger trees are climbed."""


class Joins:
    """Costs of joined node vectors, by a table per attribute where its tree is small enough."""

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
        return self._climbed(left, np.tile(nodes, size)).reshape(size, size)

    def _climbed(self, left: CodeArray, right: CodeArray) -> FloatArray:
        found = self._trees.common(left, right)
        return np.where(found == NONE, np.inf, self._trees.cost[np.where(found == NONE, 0, found)])

    def costs(self, left: CodeArray, right: CodeArray) -> FloatArray:
        """Return what a record costs in the join of two node vectors.

        Parameters
        ----------
        left, right: allowed nodes, shapes (..., quasi-identifiers) that broadcast, int32, none ``NONE``.

        Returns
        -------
        Costs, of the broadcast shape without its last axis, float64; infinite where no allowed node covers
        both.
        """
        shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
        total = np.zeros(shape)
        for position, (offset, table) in enumerate(zip(self._offsets, self._tables, strict=True)):
            one, other = left[..., position], right[..., position]
            if table is None:
                one, other = np.broadcast_arrays(one, other)
                total += self._climbed(np.ascontiguousarray(one), np.ascontiguousarray(other))
            else:
                total += table[one - offset, other - offset]
        return total

    def matrix(self, left: CodeArray, right: CodeArray) -> FloatArray:
        """Return what a record costs in the join of each pair of two lists of node vectors.

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
                columns = self._climbed(*(np.ascontiguousarray(own) for own in pairs))
            else:
                rows = (other - offset).astype(np.int64)
                columns = np.ascontiguousarray(table[:, one - offset])
            # Whole rows are gathered, which is where the speed comes from.
            total += columns.take(rows.reshape(-1), axis=0)
        return total
