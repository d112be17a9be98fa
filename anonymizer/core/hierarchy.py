"""A generalization hierarchy, compiled from its networkx tree to arrays."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.core.arrays import CodeArray, IntArray


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of values in preorder, so that every node covers a contiguous range of leaves.

    All leaves have the same depth (shallower ones are padded by repeating their label), hence every leaf has
    one ancestor at each generalization level: itself at level 0, the root at level ``height``.

    Attributes
    ----------
    labels: published text of each node, shape (nodes,); the root is node 0.
    parent: node of each node's parent, shape (nodes,), int32, -1 for the root.
    level: generalization level of each node, shape (nodes,), int32, 0 for leaves.
    first_leaf, last_leaf: the half-open range of leaf positions that each node covers, shape (nodes,), int32.
    ancestors: node of each leaf position at each level, shape (height + 1, leaves), int32.
    """

    labels: tuple[str, ...]
    parent: CodeArray
    level: CodeArray
    first_leaf: CodeArray
    last_leaf: CodeArray
    ancestors: CodeArray

    @property
    def height(self) -> int:
        """Level of the root; 0 for a tree of one node."""
        return len(self.ancestors) - 1

    @property
    def leaves(self) -> int:
        """Number of leaves, m in the definition of ``loss``."""
        return int(self.ancestors.shape[1])

    def leaf_counts(self) -> IntArray:
        """Number of leaves under each node, shape (nodes,), int64."""
        counts: IntArray = (self.last_leaf - self.first_leaf).astype("int64")
        return counts
