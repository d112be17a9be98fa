"""Hierarchies as networkx trees: nodes keyed ``(level, label)``, edges from parent to child.

The key makes publishing safe by construction: two nodes of one level with the same label are the same node. A
tree is compiled to preorder arrays. Small values can be merged with small siblings into one node.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import networkx as nx
import numpy as np

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.labels import distinct
from anonymizer.model.arrays import CodeArray, IntArray, freeze
from anonymizer.model.table import Hierarchy

Node: TypeAlias = tuple[int, str]
Tree: TypeAlias = "nx.DiGraph[Node]"
UserTree: TypeAlias = "nx.DiGraph[Any]"

TOP = "*"
"""Label of the root of every rule-built hierarchy."""


def tree_of_rows(levels: Sequence[Sequence[str]], top: str = TOP) -> Tree:
    """Return the tree of values by their label at each level, with a root above them.

    Parameters
    ----------
    levels: for each level from 0 up, the label of every value, shape (levels, values).
    top: label of the root, one level above the last of ``levels``.
    """
    tree: Tree = nx.DiGraph()
    height = len(levels)
    tree.add_node((height, top))
    for level, (lower, upper) in enumerate(pairwise([*levels, [top] * len(levels[0])])):
        pairs = dict.fromkeys(zip(upper, lower, strict=True))
        tree.add_edges_from(((level + 1, parent), (level, child)) for parent, child in pairs)
    return tree


def pad(graph: UserTree, name: str) -> Tree:
    """Return any networkx tree with nodes keyed ``(level, label)``.

    Leaves of unequal depth are padded to one depth by repeating their label upward.

    Parameters
    ----------
    graph: edges from parent to child. The label of a node is its attribute ``label``; without it, the label
        of a key of the form ``(level, label)``; otherwise the key as text.
    name: of the hierarchy in messages.

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
            f"{name}: '{_label(graph, lost)}' is part of a cycle; remove an edge of the cycle"
        )
    return _keyed(graph, order, depth, name)


def root_of(graph: UserTree, name: str) -> Any:
    """Return the root: the only node without a parent; every other node must have one.

    Raises
    ------
    HierarchyError: no root, several roots, or a node with several parents.
    """
    roots = [node for node, parents in graph.in_degree() if parents == 0]
    if len(roots) != 1:
        if not roots and graph:
            found = "none, because edges form a cycle; remove one of them"
            raise HierarchyError(f"{name}: a hierarchy has exactly one root; found {found}")
        raise _not_one_root(name, [_label(graph, node) for node in roots])
    for node, parents in graph.in_degree():
        if parents > 1:
            first, second = [_label(graph, parent) for parent in graph.predecessors(node)][:2]
            raise HierarchyError(
                f"{name}: '{_label(graph, node)}' has two parents, '{first}' and '{second}'; keep one"
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
                parents = dict.fromkeys((_parent(graph, owner[key]), _parent(graph, node)))
                above = " and ".join(f"under '{parent}'" for parent in parents)
                raise HierarchyError(
                    f"{name}: level {key[0]} has two nodes '{label}', {above}; give the nodes of a level "
                    "different labels, because only labels are published"
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


def _not_one_root(name: str, roots: Sequence[str]) -> HierarchyError:
    """Return the error for no root or several."""
    named = ", ".join(f"'{label}'" for label in roots[:5])
    found = (
        f"found {len(roots)}: {named}; add one node above them"
        if roots
        else "found none; add one node above all others, such as *"
    )
    return HierarchyError(f"{name}: a hierarchy has exactly one root; {found}")


def to_networkx(hierarchy: Hierarchy, records: IntArray) -> Tree:
    """Return a hierarchy as a tree of networkx, with edges from parent to child; it can be read again.

    Nodes are ``(level, label)`` with the attributes ``label``, ``level``, ``leaves`` (values under the node)
    and ``count`` (records under it).

    Parameters
    ----------
    records: at each leaf, shape (leaves,), int64.
    """
    sums = np.concatenate([[0], np.cumsum(records)])
    counts = (sums[hierarchy.last_leaf] - sums[hierarchy.first_leaf]).tolist()
    keys = list(zip(hierarchy.level.tolist(), hierarchy.labels, strict=True))
    tree: Tree = nx.DiGraph()
    for key, leaves, count in zip(keys, hierarchy.leaf_counts().tolist(), counts, strict=True):
        tree.add_node(key, label=key[1], level=key[0], leaves=leaves, count=count)
    parents = hierarchy.parent.tolist()
    tree.add_edges_from((keys[parent], key) for key, parent in zip(keys, parents, strict=True) if parent >= 0)
    return tree


def compile_tree(tree: Tree, name: str) -> Hierarchy:
    """Return the arrays of a tree whose nodes are keyed ``(level, label)``; linear in the number of nodes.

    Parameters
    ----------
    tree: edges from parent to child; children keep the order in which they were added.
    name: of the hierarchy in messages.

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
                f"'{parent[1]}'; keep one"
            )
        if parent[0] != child[0] + 1:
            raise HierarchyError(
                f"{name}: '{child[1]}' (level {child[0]}) is under '{parent[1]}' (level {parent[0]}); "
                "a parent is exactly one level higher"
            )
        parents[child] = parent
    return parents


def _preorder(tree: Tree, parents: dict[Node, Node], name: str) -> list[Node]:
    roots = [node for node in tree if node not in parents]
    if len(roots) != 1:
        raise _not_one_root(name, [label for _, label in roots])
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
            raise HierarchyError(
                f"{name}: '{node[1]}' (level {node[0]}) has no values under it; add values or remove it"
            )
    return order


def _ranges(level: CodeArray) -> tuple[CodeArray, CodeArray, CodeArray]:
    """Return first leaf, last leaf and ancestors; the nodes of a level divide the leaves in preorder."""
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


def merge_small(hierarchy: Hierarchy, records: Mapping[str, int], least: int) -> Tree:
    """Return a hierarchy with one more level above the values, in which small values are merged.

    Under the lowest node with several values, those of fewer than ``least`` records become one node
    ``other``, prefixed by the label of that node unless it is the root. If together they have fewer than
    ``least`` records, the next smallest value joins them. The labels reveal which values are rare.

    Parameters
    ----------
    records: of each value; 0 for values without an entry.
    least: minimum number of records of a value that is not merged, at least 1.
    """
    labels = np.array(hierarchy.labels, dtype=object)
    counts = np.array([records.get(labels[node], 0) for node in hierarchy.ancestors[0]], dtype=np.int64)
    level = _lowest_shared(hierarchy)
    parents = hierarchy.ancestors[level, np.arange(hierarchy.leaves)].astype(np.int64)
    merged = _merged(parents, counts, least)
    nodes = np.unique(parents[merged])
    named = ["other" if node == 0 else f"{labels[node]}, other" for node in nodes.tolist()]
    # No other label may be the same: only labels are published.
    names = distinct([*hierarchy.labels, *named])[len(labels) :]
    other = dict(zip(nodes.tolist(), names, strict=True))
    rows = [labels[each].tolist() for each in [hierarchy.ancestors[0], *hierarchy.ancestors[:-1]]]
    for leaf in np.flatnonzero(merged).tolist():
        # Up to the node above them all: below it, merged values have one path.
        for step in range(1, level[leaf] + 1):
            rows[step][leaf] = other[parents[leaf]]
    return tree_of_rows(rows, hierarchy.labels[0])


def _lowest_shared(hierarchy: Hierarchy) -> IntArray:
    """Return for each leaf the level of its lowest ancestor with several leaves, shape (leaves,), int64."""
    sizes = hierarchy.leaf_counts()[hierarchy.ancestors]
    shared = sizes > 1
    # In a tree of a single value no node has several leaves; the root counts as one that has.
    shared[-1] = True
    level: IntArray = shared.argmax(axis=0).astype(np.int64)
    return level


def _merged(parents: IntArray, counts: IntArray, least: int) -> np.ndarray:
    """Return which leaves are merged, shape (leaves,): small ones, and others to reach ``least``."""
    order = np.lexsort((counts, parents))
    grouped = parents[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    total = np.cumsum(counts[order])
    before = np.repeat(total[starts] - counts[order][starts], sizes)
    # All smaller leaves have fewer than ``least`` records together: so this one is small itself, or joins.
    needed = total - before - counts[order] < least
    small = counts[order] < least
    some_small = np.repeat(np.logical_or.reduceat(small, starts), sizes)
    several = np.repeat(sizes > 1, sizes)
    chosen = (small | needed) & some_small & several
    merged = np.zeros(len(order), dtype=np.bool_)
    merged[order] = chosen
    return merged
