"""Nodes of several levels side by side: which label each has, and that labels tell different leaves apart."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np

from anonymizer.hierarchy.source import compile_tree
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import NodeRecoding
from anonymizer.model.table import QuasiIdentifier, Table
from tests.helpers import build

PATHS = {
    "a": ("a", "x", "*"),
    "b": ("b", "x", "*"),
    "c": ("c", "C", "*"),
    "x": ("x", "x2", "*"),
    "y": ("y", "x2", "*"),
}


def attribute(minimum: int = 0) -> QuasiIdentifier:
    column = build.column("letter", list(PATHS), numeric=False)[0]
    tree, leaf = build.hierarchy(PATHS, "letter")
    leaves = np.array([leaf[value] for value in column.texts], dtype=np.int32)
    return QuasiIdentifier(column, tree, leaves, 1.0, minimum, 2)


def published(own: QuasiIdentifier, levels: list[int]) -> list[str]:
    """Return how the values are published, each at a level of its own."""
    codes = np.arange(own.column.size, dtype=np.int32)
    nodes = np.array([own.nodes(level)[code] for code, level in enumerate(levels)], dtype=np.int32)
    table = Table((own,), (), codes[:, None], Measure(np.ones(len(codes), dtype=np.int64)))
    nothing = np.zeros(len(codes), dtype=bool)
    column = NodeRecoding(table, nodes[:, None], nothing, nothing).published()[0]
    return [column.labels[code] for code in column.codes]


def test_each_row_has_the_label_of_its_node() -> None:
    assert published(attribute(), [0, 0, 0, 0, 0]) == ["a", "b", "c", "x", "y"]
    assert published(attribute(), [2, 2, 2, 2, 2]) == ["*"] * 5


def test_a_label_that_stands_for_other_leaves_below_says_its_level() -> None:
    assert published(attribute(), [1, 1, 0, 0, 1]) == ["x (level 1)", "x (level 1)", "c", "x", "x2"]


def test_of_nodes_with_the_same_leaves_the_lowest_allowed_is_published() -> None:
    assert published(attribute(), [0, 0, 1, 0, 0])[2] == "c"
    assert published(attribute(minimum=1), [1, 1, 1, 1, 1])[2] == "C"


def test_labels_that_are_taken_are_numbered() -> None:
    graph: nx.DiGraph[tuple[int, str]] = nx.DiGraph()
    graph.add_edges_from(
        [((2, "*"), (1, "x")), ((2, "*"), (1, "o")), ((1, "x"), (0, "p")), ((1, "x"), (0, "q"))]
    )
    graph.add_edges_from(((1, "o"), (0, leaf)) for leaf in ("x", "x (level 1)"))
    tree = compile_tree(graph, "letter")
    column = build.column("letter", ["p", "q", "x", "x (level 1)"], numeric=False)[0]
    position = {tree.labels[node]: leaf for leaf, node in enumerate(tree.ancestors[0])}
    leaves = np.array([position[text] for text in column.texts], dtype=np.int32)
    own = replace(attribute(), column=column, hierarchy=tree, leaf=leaves)
    assert published(own, [1, 1, 0, 0]) == ["x (level 1, 2)", "x (level 1, 2)", "x", "x (level 1)"]
