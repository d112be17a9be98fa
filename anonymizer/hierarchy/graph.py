"""Hierarchies as networkx trees: nodes keyed ``(level, label)``, edges from parent to child.

The key makes publishing safe by construction: two nodes of one level that are published as the same text are
the same node.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import networkx as nx

from anonymizer.errors import HierarchyError

Node: TypeAlias = tuple[int, str]
Tree: TypeAlias = "nx.DiGraph[Node]"
UserTree: TypeAlias = "nx.DiGraph[Any]"

TOP = "*"
"""Label of the root of every rule-built hierarchy."""


def tree_of_rows(levels: Sequence[Sequence[str]], top: str = TOP) -> Tree:
    """Return the tree of values given by their label at each level, with a root above them.

    Parameters
    ----------
    levels: for each level from 0 up, the label of every value, shape (levels, values).
    top: label of the root, which stands one level above the last of ``levels``.
    """
    tree: Tree = nx.DiGraph()
    height = len(levels)
    tree.add_node((height, top))
    for level, (lower, upper) in enumerate(pairwise([*levels, [top] * len(levels[0])])):
        pairs = dict.fromkeys(zip(upper, lower, strict=True))
        tree.add_edges_from(((level + 1, parent), (level, child)) for parent, child in pairs)
    return tree


def pad(graph: UserTree, name: str) -> Tree:
    """Bring any networkx tree to the form of this room.

    Leaves of unequal depth are padded to one depth by repeating their label upward.

    Parameters
    ----------
    graph: edges from parent to child. The label of a node is its attribute ``label``, else, for a key of the
        form ``(level, label)``, that label, else the text of its key.
    name: what messages call the hierarchy.

    Raises
    ------
    HierarchyError: not one tree, or two nodes of one level have the same label.
    """
    root = root_of(graph, name)
    depth: dict[Hashable, int] = {root: 0}
    order: list[Any] = [root]
    for node in order:
        for child in graph.successors(node):
            depth[child] = depth[node] + 1
            order.append(child)
    if len(order) < len(graph):
        lost = next(node for node in graph if node not in depth)
        raise HierarchyError(
            f"{name}: '{_label(graph, lost)}' is part of a cycle; a hierarchy is a tree without cycles"
        )
    return _keyed(graph, order, depth, name)


def root_of(graph: UserTree, name: str) -> Any:
    """Return the one node without a parent, after checking that every other node has one parent.

    Raises
    ------
    HierarchyError: no root, several roots, or a node with several parents.
    """
    roots = [node for node, parents in graph.in_degree() if parents == 0]
    if len(roots) != 1:
        found = ", ".join(f"'{_label(graph, node)}'" for node in roots[:5]) or "none"
        raise HierarchyError(f"{name}: a hierarchy has exactly one root; found {len(roots)}: {found}")
    for node, parents in graph.in_degree():
        if parents > 1:
            first, second = [_label(graph, parent) for parent in graph.predecessors(node)][:2]
            raise HierarchyError(
                f"{name}: '{_label(graph, node)}' has two parents, '{first}' and '{second}'; one is accepted"
            )
    return roots[0]


def _keyed(graph: UserTree, order: Sequence[Any], depth: dict[Hashable, int], name: str) -> Tree:
    height = max(depth.values())
    tree: Tree = nx.DiGraph()
    owner: dict[Node, Any] = {}
    for node in order:
        label = _label(graph, node)
        level = height - depth[node]
        lowest = level if graph.out_degree(node) else 0
        chain = [(step, label) for step in range(level, lowest - 1, -1)]
        for key in chain:
            if owner.setdefault(key, node) is not node:
                above = f"under '{_parent(graph, owner[key])}' and under '{_parent(graph, node)}'"
                raise HierarchyError(
                    f"{name}: level {key[0]} has two nodes '{label}', {above}; labels of one level must "
                    "differ, as nothing else is published"
                )
        tree.add_nodes_from(chain)
        tree.add_edges_from(pairwise(chain))
        if depth[node]:
            tree.add_edge((level + 1, _parent(graph, node)), chain[0])
    return tree


def _parent(graph: UserTree, node: Any) -> str:
    return next((_label(graph, above) for above in graph.predecessors(node)), "nothing")


def _label(graph: UserTree, node: Any) -> str:
    given = graph.nodes[node].get("label")
    if given is not None:
        return str(given)
    keyed = isinstance(node, tuple) and len(node) == 2 and isinstance(node[0], int)
    return str(node[1] if keyed else node)
