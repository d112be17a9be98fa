"""A quasi-identifier along a hierarchy whose paths do not fit a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.classes import Reduction
from anonymizer.model.table import QuasiIdentifier
from anonymizer.search.regions.axis import Frames, Number
from anonymizer.search.regions.node_axis import NodeAxis


class DeepNodeAxis(NodeAxis):
    """A NodeAxis by leaf positions: the nodes of a tree in preorder cover ranges of them.

    The lowest node above a group is the lowest above its first and its last leaf. Parts are nodes, which
    cannot be read from the bits of a row.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        leaf = attribute.leaf.astype(np.int64)
        bits = max(attribute.hierarchy.leaves - 1, 1).bit_length()
        self.numbers = (Number(leaf, bits, (Reduction.MIN, Reduction.MAX)),)

    def levels(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the level of the lowest allowed node above each group."""
        own = self.attribute
        levels = np.full(len(numbers[0]), own.hierarchy.height, dtype=np.int64)
        for level in range(own.hierarchy.height - 1, own.minimum - 1, -1):
            ancestors = own.hierarchy.ancestors[level]
            levels[ancestors[numbers[0]] == ancestors[numbers[1]]] = level
        return levels

    def nodes(self, numbers: Sequence[IntArray]) -> CodeArray:
        """Return the lowest allowed node above each group, else the root."""
        levels = self.levels(numbers)
        nodes: CodeArray = self.attribute.hierarchy.ancestors[levels, numbers[0]]
        return np.where(levels <= self.attribute.maximum, nodes, 0)

    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the nodes at the level of the parts; ``shift`` is that level."""
        family = np.maximum(self.levels(numbers) - 1, self.attribute.minimum)
        first, last = (self.attribute.hierarchy.ancestors[family, own].astype(np.int64) for own in numbers)
        return Frames(family, np.full_like(first, -1), first, last - first + 1)

    def parts_of(self, numbers: NDArray[Any], frames: Frames, rows: IntArray) -> IntArray:
        """Return the node that each row lies under."""
        parts: IntArray = self.attribute.hierarchy.ancestors[np.repeat(frames.shift, rows), numbers]
        return parts.astype(np.int64)

    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the node of each part."""
        return self.frames(numbers).first[group] + part
