"""A recoding that publishes a hierarchy node of its own for each row and attribute."""

from __future__ import annotations

from functools import cached_property
from itertools import count as integers

import numpy as np

from anonymizer.core.arrays import BoolArray, CodeArray, IntArray
from anonymizer.core.recoding import Cells, Recoding, value_labels
from anonymizer.core.shared_recoding import SharedRecoding
from anonymizer.core.table import QuasiIdentifier, Table


class NodeRecoding(SharedRecoding):
    """Local recoding along the hierarchies: equal values of two records may be published as different nodes.

    Parameters
    ----------
    nodes: each an ancestor of the row's value or its leaf, shape (rows, quasi-identifiers), int32.
    region_of: where rows share their nodes: the row of ``nodes`` for each row of the table, shape (rows,).
    """

    along_hierarchies = True

    def __init__(
        self,
        table: Table,
        nodes: CodeArray,
        suppressed: BoolArray,
        removed: BoolArray,
        owner: IntArray | None = None,
        region_of: IntArray | None = None,
    ) -> None:
        self.table = table
        self.suppressed = suppressed
        self.removed = removed
        self.owner = owner
        self._nodes = nodes
        self.region_of = region_of

    @cached_property
    def merged(self) -> Recoding:
        """The same recoding with one row for each region, its sensitive values, and its fate."""
        if type(self) is not NodeRecoding or self.region_of is None:
            # A subclass may tell rows apart by more than their region.
            return self
        table, region_of, suppressed, removed = self.merged_rows()
        return NodeRecoding(table, self._nodes, suppressed, removed, region_of=region_of)

    @cached_property
    def _published(self) -> list[tuple[CodeArray, list[str]]]:
        return [distinct_nodes(attribute) for attribute in self.table.quasi_identifiers]

    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier by its nodes; of those that cover the same leaves, the lowest."""
        canonical, labels = self._published[position]
        values = self.table.quasi_identifiers[position].node_values
        return Cells(values, labels, canonical[self._nodes[:, position]])


def distinct_nodes(attribute: QuasiIdentifier) -> tuple[CodeArray, list[str]]:
    """Return for each node the one that is published for it, and labels that tell these apart.

    A tree may repeat a label at another level for other leaves, which only full-domain recoding tells apart
    by the column's one level. The higher node's label then says its level.
    """
    tree = attribute.hierarchy
    canonical = np.arange(len(tree.labels), dtype=np.int32)
    parents, leaves = tree.parent, tree.leaf_counts()
    # Nodes are in preorder, so going backwards a node's only child is settled before the node itself.
    unary = np.flatnonzero((parents >= 0) & (leaves == leaves[parents]) & (tree.level >= attribute.minimum))
    for child in unary[::-1].tolist():
        canonical[parents[child]] = canonical[child]
    labels = value_labels(attribute)
    taken: set[str] = set()
    for node in np.lexsort((canonical, tree.level)).tolist():
        if canonical[node] == node:
            labels[node] = _untaken(labels[node], int(tree.level[node]), taken)
            taken.add(labels[node])
    return canonical, labels


def _untaken(label: str, level: int, taken: set[str]) -> str:
    if label not in taken:
        return label
    named = (f"{label} (level {level})" if n == 1 else f"{label} (level {level}, {n})" for n in integers(1))
    return next(name for name in named if name not in taken)
