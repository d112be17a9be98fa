"""Trees of networkx come out of a result, and go in again."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest

import anonymizer as an

AGES = [21, 22, 22, 35, 41, 41, 58, 59]


def data() -> pd.DataFrame:
    return pd.DataFrame({"age": AGES, "zip": ["101", "102", "111", "112", "201", "202", "202", "211"]})


def config(**hierarchies: object) -> dict[str, object]:
    own = {name: {"role": "quasi-identifier", "hierarchy": each} for name, each in hierarchies.items()}
    return {"attributes": own, "constraints": [{"model": "k-anonymity", "k": 2}]}


def test_what_comes_out_goes_in_again() -> None:
    first = an.anonymize(
        data(), config(age={"intervals": {"width": [10, 20]}}, zip={"mask": {"from": "right"}})
    )
    trees = first.hierarchies
    assert set(trees) == {"age", "zip"}
    for tree in trees.values():
        assert nx.is_arborescence(tree)
        root = next(node for node, degree in tree.in_degree() if degree == 0)
        assert tree.nodes[root]["count"] == 8
        for node, own in tree.nodes(data=True):
            below = list(tree.successors(node))
            assert node == (own["level"], own["label"])
            if below:
                assert own["count"] == sum(tree.nodes[each]["count"] for each in below)
                assert own["leaves"] == sum(tree.nodes[each]["leaves"] for each in below)
            else:
                assert own["level"] == 0
    assert trees["age"].nodes[0, "22"]["count"] == 2
    again = an.anonymize(data(), config(**trees))
    assert again.data.equals(first.data)
    for name, tree in again.hierarchies.items():
        assert nx.utils.graphs_equal(tree, trees[name])


def test_a_hierarchy_is_built_from_a_column() -> None:
    tree = an.build_hierarchy(data()["age"], {"intervals": {"width": [10, 20]}})
    assert tree.nodes[1, "20-29"] == {"label": "20-29", "level": 1, "leaves": 2, "count": 3}
    assert nx.utils.graphs_equal(tree, an.build_hierarchy(AGES, tree))
    with pytest.raises(an.InputError, match="15 after 10"):
        an.build_hierarchy(AGES, {"intervals": {"width": [10, 15]}})
