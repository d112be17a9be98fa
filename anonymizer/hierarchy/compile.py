"""A networkx tree compiled to preorder arrays."""

from __future__ import annotations

import numpy as np

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.graph import Node, Tree
from anonymizer.model.arrays import CodeArray, freeze
from anonymizer.model.table import Hierarchy


def compile_tree(tree: Tree, name: str) -> Hierarchy:
    """Return the arrays of a tree whose nodes are keyed ``(level, label)``; linear in the number of nodes.

    Parameters
    ----------
    tree: edges from parent to child; children are taken in the order in which they were added.
    name: what messages call the hierarchy.

    Raises
    ------
    HierarchyError: not exactly one root, a node with two parents, an edge that does not go down by one level,
        or a leaf that is not at level 0.
    """
    parents = _parents(tree, name)
    nodes = _preorder(tree, parents, name)
    position = {node: index for index, node in enumerate(nodes)}
    level = np.fromiter((node[0] for node in nodes), np.int32, len(nodes))
    parent = np.fromiter((position[parents[node]] if node in parents else -1 for node in nodes), np.int32)
    first, last, ancestors = _ranges(level)
    for array in (parent, level, first, last, ancestors):
        freeze(array)
    return Hierarchy(tuple(label for _, label in nodes), parent, level, first, last, ancestors)


def _parents(tree: Tree, name: str) -> dict[Node, Node]:
    parents: dict[Node, Node] = {}
    for parent, child in tree.edges():
        if child in parents:
            raise HierarchyError(
                f"{name}: '{child[1]}' (level {child[0]}) has two parents, '{parents[child][1]}' and "
                f"'{parent[1]}'; one is accepted"
            )
        if parent[0] != child[0] + 1:
            raise HierarchyError(
                f"{name}: '{child[1]}' (level {child[0]}) stands under '{parent[1]}' (level {parent[0]}); "
                "a parent stands exactly one level above"
            )
        parents[child] = parent
    return parents


def _preorder(tree: Tree, parents: dict[Node, Node], name: str) -> list[Node]:
    roots = [node for node in tree if node not in parents]
    if len(roots) != 1:
        found = ", ".join(f"'{label}'" for _, label in roots[:5]) or "none"
        raise HierarchyError(f"{name}: a hierarchy has exactly one root; found {len(roots)}: {found}")
    children: dict[Node, list[Node]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    order: list[Node] = []
    stack = roots
    while stack:
        node = stack.pop()
        order.append(node)
        below = children.get(node)
        if below:
            stack.extend(reversed(below))
        elif node[0] != 0:
            raise HierarchyError(f"{name}: '{node[1]}' (level {node[0]}) has no values under it")
    return order


def _ranges(level: CodeArray) -> tuple[CodeArray, CodeArray, CodeArray]:
    """Return first leaf, last leaf and ancestors; the nodes of one level share out the leaves in preorder."""
    is_leaf = level == 0
    first = (np.cumsum(is_leaf) - is_leaf).astype(np.int32)
    leaves = int(is_leaf.sum())
    last = np.empty_like(first)
    ancestors = np.empty((int(level[0]) + 1, leaves), dtype=np.int32)
    for height in range(len(ancestors)):
        nodes = np.flatnonzero(level == height)
        last[nodes] = np.append(first[nodes[1:]], leaves)
        ancestors[height] = np.repeat(nodes, last[nodes] - first[nodes])
    return first, last, ancestors
