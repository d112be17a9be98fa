"""Trees by levels: the same arrays as by the graph, however they are made or read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from anonymizer.hierarchy.levels import Levels
from anonymizer.hierarchy.source import DiGraph, LeveledTree, compile_tree, levels_of, tree_of_rows
from anonymizer.model.table import Hierarchy
from tests.hierarchy.columns import column, source

EMPTY = column([])


def rows(seed: int, leaves: int) -> list[list[str]]:
    """Return the labels of each level of a random tree, rows in random order."""
    random = np.random.default_rng(seed)
    levels = [np.arange(leaves)]
    for _ in range(int(random.integers(0, 4))):
        names = int(random.integers(1, len(set(levels[-1].tolist())) + 1))
        levels.append(random.integers(0, names, size=int(levels[-1].max()) + 1)[levels[-1]])
    order = random.permutation(leaves)
    return [[f"{place}" for place in each[order].tolist()] for each in levels]


def same(one: Hierarchy, other: Hierarchy) -> bool:
    """Return whether two hierarchies are equal."""
    arrays = ("parent", "level", "first_leaf", "last_leaf", "ancestors")
    return one.labels == other.labels and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays
    )


@pytest.mark.parametrize("seed", range(40))
def test_arrays_of_levels_are_those_of_their_graph(seed: int) -> None:
    levels = rows(seed, 1 + seed % 23)
    tree, graph = tree_of_rows(levels), tree_of_rows(levels)
    assert len(graph) == len(set(graph))  # makes the graph
    assert levels_of(tree) is not None
    assert levels_of(graph) is None
    assert same(compile_tree(tree, "t"), compile_tree(graph, "t"))


@pytest.mark.parametrize("seed", range(10))
def test_values_under_the_root_come_last_as_in_the_graph(seed: int) -> None:
    tree = tree_of_rows(rows(seed, 7))
    own = levels_of(tree)
    assert own is not None
    assert own.lacks(["x", "y"])
    assert not own.lacks(["x", "3"])
    hung = compile_tree(LeveledTree(own.hung(["x", "y"])), "t")
    for value in ("x", "y"):
        chain = [max(tree), *((level, value) for level in range(own.height - 1, -1, -1))]
        tree.add_edges_from(pairwise(chain))
    assert same(hung, compile_tree(tree, "t"))


def test_two_parents_are_no_levels() -> None:
    assert Levels.of_rows([["a", "a"], ["x", "y"], ["*", "*"]]) is None
    assert type(tree_of_rows([["a", "a"], ["x", "y"]])) is DiGraph


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_files_with_and_without_quotes_are_the_same_tree(tmp_path: Path, end: str) -> None:
    levels = rows(3, 40_000)
    lines = [",".join([*cells, "*"]) for cells in zip(*levels, strict=True)]
    read = []
    for name, content in (
        ("plain", lines),
        ("quoted", [f'"{lines[0].split(",")[0]}"' + lines[0][lines[0].index(",") :], *lines[1:]]),
    ):
        (tmp_path / f"{name}.csv").write_text(end.join(content), encoding="utf-8", newline="")
        read.append(compile_tree(source(file=f"{name}.csv").build(EMPTY, tmp_path), "t"))
    assert same(*read)
    assert same(read[0], compile_tree(tree_of_rows(levels), "t"))
