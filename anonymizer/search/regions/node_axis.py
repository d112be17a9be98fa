"""A quasi-identifier that is cut and published along its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Reduction
from anonymizer.model.table import Hierarchy, QuasiIdentifier
from anonymizer.search.regions.axis import Axis, Frames, Number
from anonymizer.search.regions.segments import Segments

_TABLE_BITS = 20
"""Nodes are looked up by their path in a dense table up to so many bits, else by bisection."""

BLOCK = 1 << 16
"""Groups whose nodes are found at once."""


class NodeAxis(Axis):
    """Regions are published as the lowest allowed node above all their values.

    The parts of a region are the children of that node, so that a side with one child descends to it.

    A value is written as its path from the root: for each level the number of the node among its siblings, in
    as many bits as the largest family of the level needs. The highest bit in which the paths of a region
    differ tells the level of the lowest node above it, and the bits before it which node that is.
    """

    ordered = False

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share)
        tree = attribute.hierarchy
        self._node_costs = metric.node_costs(attribute)
        self._below, self._paths = _paths(tree, attribute.minimum)
        self.bits = int(self._below[-1])
        self.numbers = (Number(self._paths[attribute.leaf], self.bits, (Reduction.OR, Reduction.AND)),)
        self._level_of_bits = np.searchsorted(self._below, np.arange(self.bits + 1)) + attribute.minimum
        self._table, self._offsets = self._nodes_by_path()

    def _nodes_by_path(self) -> tuple[CodeArray, IntArray]:
        """Return the node at each level by its path, level after level; empty if that is too large."""
        if self.bits > _TABLE_BITS:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        sizes = 1 << (self.bits - self._below)
        offsets = np.cumsum(sizes) - sizes
        table = np.zeros(int(sizes.sum()), dtype=np.int32)
        for level, (below, offset) in enumerate(zip(self._below, offsets, strict=True)):
            # Beyond the highest allowed level only the root is left.
            if self.attribute.minimum + level <= self.attribute.maximum:
                own = self.attribute.hierarchy.ancestors[self.attribute.minimum + level]
                table[offset + (self._paths >> below)] = own
        return table, offsets

    def levels(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the level of the lowest allowed node above each group, shape (groups,), int64."""
        different = numbers[0] ^ numbers[1]
        # The exponent of a whole number below 2**53 is its length in bits.
        _, high = np.frexp((different >> 31).astype(np.float64))
        _, low = np.frexp(different.astype(np.float64))
        length = np.where(high > 0, high + 31, low) if self.bits > 52 else low
        levels: IntArray = self._level_of_bits[length]
        return levels

    def nodes(self, numbers: Sequence[IntArray]) -> CodeArray:
        """Return the lowest allowed node above each group, else the root, shape (groups,), int32."""
        nodes = np.empty(len(numbers[0]), dtype=np.int32)
        # What is found on the way is several times as long as the nodes.
        for start in range(0, len(nodes), BLOCK):
            some = slice(start, start + BLOCK)
            nodes[some] = self._nodes([each[some] for each in numbers])
        return nodes

    def _nodes(self, numbers: Sequence[IntArray]) -> CodeArray:
        levels = self.levels(numbers)
        below = self._below[levels - self.attribute.minimum]
        if len(self._table):
            return self._table[self._offsets[levels - self.attribute.minimum] + (numbers[0] >> below)]
        leaf = np.searchsorted(self._paths, (numbers[0] >> below) << below)
        nodes: CodeArray = self.attribute.hierarchy.ancestors[levels, leaf]
        return np.where(levels <= self.attribute.maximum, nodes, 0)

    def codes(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the code of the first leaf under each group's node that the column has."""
        order = np.argsort(self.attribute.leaf, kind="stable")
        first = self.attribute.hierarchy.first_leaf[self.nodes(numbers)]
        codes: IntArray = order[np.searchsorted(self.attribute.leaf[order], first)]
        return codes

    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the children of each group's node, numbered from 0."""
        family = np.maximum(self.levels(numbers) - 1 - self.attribute.minimum, 0)
        bits = np.where(numbers[0] == numbers[1], 0, np.diff(self._below, append=self._below[-1])[family])
        parts = np.int64(1) << bits
        return Frames(self._below[family], parts - 1, np.zeros_like(parts), parts)

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of each group's node."""
        costs: FloatArray = self._node_costs[self.nodes(numbers)]
        return costs

    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the node of each part."""
        family = np.maximum(self.levels(numbers)[group] - 1 - self.attribute.minimum, 0)
        bits = np.diff(self._below, append=self._below[-1])[family]
        path = ((numbers[0][group] >> self._below[family] >> bits) << bits) | part
        leaf = np.searchsorted(self._paths, path << self._below[family])
        node: IntArray = self.attribute.hierarchy.ancestors[family + self.attribute.minimum, leaf]
        return node.astype(np.int64)

    def published(self, codes: CodeArray, regions: Segments) -> CodeArray:
        """Return the node that each region is published as, shape (regions,), int32.

        Parameters
        ----------
        codes: of the attribute's values, shape (rows,).
        """
        own = self.numbers[0]
        values = own.of_code[codes]
        return self.nodes([each.ufunc.reduceat(values, regions.starts) for each in own.reductions])


def _paths(tree: Hierarchy, minimum: int) -> tuple[IntArray, IntArray]:
    """Return the bits below each level from the lowest allowed one on, and the path of each leaf."""
    below, paths = [0], np.zeros(tree.leaves, dtype=np.int64)
    for level in range(minimum, tree.height):
        nodes = np.unique(tree.ancestors[level])
        parents = tree.parent[nodes]
        first = np.searchsorted(parents, parents)
        child = np.zeros(len(tree.labels), dtype=np.int64)
        child[nodes] = np.arange(len(nodes)) - first
        if below[-1] < 63:
            paths |= child[tree.ancestors[level]] << below[-1]
        below.append(below[-1] + int(child.max()).bit_length())
    return np.array(below, dtype=np.int64), paths
