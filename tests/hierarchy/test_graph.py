"""Trees in the form of the room: padded, keyed by level and label."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.source import DiGraph, pad, root_of, tree_of_rows
from tests.helpers.messages import exchange


def test_a_shallow_leaf_is_padded_by_its_own_label() -> None:
    graph = nx.DiGraph([("*", "a"), ("*", "b"), ("a", "a1"), ("a1", "a2")])
    assert set(pad(graph, "t").edges()) == {
        ((3, "*"), (2, "a")),
        ((2, "a"), (1, "a1")),
        ((1, "a1"), (0, "a2")),
        ((3, "*"), (2, "b")),
        ((2, "b"), (1, "b")),
        ((1, "b"), (0, "b")),
    }


def test_padding_what_is_padded_changes_nothing() -> None:
    once = pad(nx.DiGraph([("*", "a"), ("*", "b"), ("a", "a1")]), "t")
    again = pad(once, "t")
    assert set(again) == set(once)
    assert set(again.edges()) == set(once.edges())


nodes = st.integers(0, 5)
edges = st.tuples(nodes, nodes)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add_edge"), edges),
            st.tuples(st.just("add_node"), st.tuples(nodes)),
            st.tuples(st.just("add_edges_from"), st.tuples(st.lists(edges, max_size=4))),
            st.tuples(st.just("remove_node"), st.tuples(nodes)),
        ),
        max_size=12,
    )
)
def test_a_graph_is_that_of_networkx_in_the_same_order(steps: list[tuple[str, tuple]]) -> None:
    own, reference = DiGraph(), nx.DiGraph()
    for name, arguments in steps:
        if name == "remove_node" and arguments[0] not in reference:
            assert arguments[0] not in own
            continue
        for graph in (own, reference):
            getattr(graph, name)(*arguments)
    assert list(own) == list(reference)
    assert len(own) == len(reference)
    assert list(own.edges()) == list(reference.edges())
    assert list(own.in_degree()) == list(reference.in_degree())
    for node in reference:
        assert list(own.successors(node)) == list(reference.successors(node))
        assert list(own.predecessors(node)) == list(reference.predecessors(node))
        assert own.out_degree(node) == reference.out_degree(node)


def test_what_builds_hierarchies_does_not_import_networkx() -> None:
    text = (
        "import sys, anonymizer.hierarchy.ready, anonymizer.commands.init; print('networkx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_label_attribute_names_a_node() -> None:
    graph = nx.DiGraph([(0, 1), (0, 2)])
    graph.nodes[1]["label"] = "one"
    assert set(pad(graph, "t")) == {(1, "0"), (0, "one"), (0, "2")}


def test_a_node_may_have_the_label_of_its_child() -> None:
    graph = nx.DiGraph([("root", "inner"), ("inner", "leaf"), ("inner", "other")])
    nx.set_node_attributes(graph, {"root": "x", "inner": "x", "leaf": "x", "other": "y"}, "label")
    assert set(pad(graph, "t")) == {(2, "x"), (1, "x"), (0, "x"), (0, "y")}


def test_a_single_node_is_a_tree() -> None:
    graph = nx.DiGraph()
    graph.add_node("*")
    assert set(pad(graph, "t")) == {(0, "*")}


def _labelled(edges: list[tuple[int, int]], labels: dict[int, str]) -> nx.DiGraph:
    graph = nx.DiGraph(edges)
    nx.set_node_attributes(graph, labels, "label")
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        nx.DiGraph(),
        nx.DiGraph([("a", "b"), ("c", "d")]),
        nx.DiGraph([("a", "b"), ("b", "a")]),
        nx.DiGraph([("*", "a"), ("b", "c"), ("c", "b")]),
        nx.DiGraph([("*", "a"), ("*", "b"), ("a", "c"), ("b", "c")]),
        _labelled([(0, 1), (0, 2), (1, 3), (2, 4)], {0: "*", 1: "a", 2: "b", 3: "x", 4: "x"}),
        _labelled([(0, 1), (0, 2), (1, 3)], {0: "*", 1: "a", 2: "a", 3: "x"}),
        # The leaf b of level 1 is padded to level 0, which has another b.
        _labelled([(0, 1), (0, 2), (1, 3)], {0: "*", 1: "a", 2: "b", 3: "b"}),
    ],
    ids=lambda graph: f"{dict(graph.nodes(data='label'))} {list(graph.edges)}",
)
def test_what_cannot_be_published_safely_is_refused(graph: nx.DiGraph, message: SnapshotAssertion) -> None:
    with pytest.raises(HierarchyError) as caught:
        pad(graph, "the tree")
    assert exchange(f"{dict(graph.nodes(data='label'))} {list(graph.edges)}", caught.value) == message


def test_the_root_is_the_node_without_a_parent() -> None:
    assert root_of(nx.DiGraph([("b", "c"), ("a", "b")]), "t") == "a"


def test_rows_of_labels_become_a_tree_below_a_new_root() -> None:
    tree = tree_of_rows([["a", "b", "c"], ["ab", "ab", "c"]])
    assert set(tree.edges()) == {
        ((2, "*"), (1, "ab")),
        ((2, "*"), (1, "c")),
        ((1, "ab"), (0, "a")),
        ((1, "ab"), (0, "b")),
        ((1, "c"), (0, "c")),
    }


def test_no_values_leave_the_root_at_its_level() -> None:
    assert set(tree_of_rows([[], []])) == {(2, "*")}
