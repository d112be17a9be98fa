"""Compiled arrays against the tree they come from, walked edge by edge."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.source import compile_tree, pad
from anonymizer.model.table import ValueType
from tests.helpers.messages import exchange
from tests.hierarchy.columns import NOWHERE, column, nested_tree, source

nestings = st.recursive(st.just([]), lambda below: st.lists(below, min_size=1, max_size=4), max_leaves=30)


@given(nestings)
def test_every_array_is_what_the_tree_says(nesting: list) -> None:
    padded = pad(nested_tree(nesting), "t")
    compiled = compile_tree(padded, "t")
    tree = nx.DiGraph()
    tree.add_nodes_from(padded)
    tree.add_edges_from(padded.edges())
    assert compile_tree(tree, "t").labels == compiled.labels
    nodes = list(zip(compiled.level.tolist(), compiled.labels, strict=True))
    assert sorted(nodes) == sorted(tree)
    assert nodes == list(nx.dfs_preorder_nodes(tree, nodes[0]))
    leaves = [node for node in nodes if node[0] == 0]
    for index, node in enumerate(nodes):
        assert [nodes[i] for i in [compiled.parent[index]] if i >= 0] == list(tree.predecessors(node))
        under = nx.descendants(tree, node) | {node}
        assert leaves[compiled.first_leaf[index] : compiled.last_leaf[index]] == [
            leaf for leaf in leaves if leaf in under
        ]
    for position, leaf in enumerate(leaves):
        path = nx.shortest_path(tree, nodes[0], leaf)[::-1]
        assert [nodes[i] for i in compiled.ancestors[:, position]] == path
    assert compiled.height == nx.dag_longest_path_length(tree)
    assert compiled.leaves == len(leaves)
    assert compiled.leaf_counts().sum() == compiled.leaves * (compiled.height + 1)


def test_arrays_are_of_the_documented_types_and_read_only() -> None:
    compiled = compile_tree(pad(nested_tree([[], [[], []]]), "t"), "t")
    for array in (
        compiled.parent,
        compiled.level,
        compiled.first_leaf,
        compiled.last_leaf,
        compiled.ancestors,
    ):
        assert array.dtype == np.int32
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [((1, "*"), (0, "a")), ((1, "+"), (0, "b"))],
        [((1, "*"), (0, "a")), ((1, "+"), (0, "a"))],
        [((2, "*"), (0, "a"))],
        [((1, "a"), (1, "b")), ((1, "b"), (1, "a"))],
        [((2, "*"), (1, "a"))],
        [((0, "*"), (-1, "a"))],
    ],
    ids=str,
)
def test_what_is_no_tree_is_refused(edges: list, message: SnapshotAssertion) -> None:
    with pytest.raises(HierarchyError) as caught:
        compile_tree(nx.DiGraph(edges), "the tree")
    assert exchange(edges, caught.value) == message


@pytest.mark.slow
def test_a_large_tree_is_compiled() -> None:
    tree = source(mask={}).build(column(f"{i:06d}" for i in range(130_000)), NOWHERE)
    assert len(tree) > 140_000
    assert compile_tree(tree, "t").leaves == 130_000


def test_children_keep_the_order_in_which_they_were_added() -> None:
    tree = source(tree={"*": ["b", "a", "c"]}).build(column(["a"], ValueType.TEXT), NOWHERE)
    assert compile_tree(tree, "t").labels == ("*", "b", "a", "c")
