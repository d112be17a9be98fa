"""Values of the data placed in their hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
    place,
)
from anonymizer.model.table import Column, ValueType
from tests.hierarchy.columns import NOWHERE, column, source

TREE = {"*": {"x": ["a", "b"], "y": ["c"]}}


def published(data: Column, tree: dict[str, Any], placement: Placement) -> dict[str, list[str]]:
    """What each value of a column is published as, from level 0 up."""
    hierarchy, leaf = place(data, source(tree=tree), placement)
    return {
        text: [hierarchy.labels[node] for node in hierarchy.ancestors[:, position]]
        for text, position in zip(data.texts, leaf, strict=True)
    }


def test_listed_values_that_do_not_occur_stay_leaves() -> None:
    hierarchy, leaf = place(column(["c", "a"]), source(tree=TREE), Placement(NOWHERE))
    assert hierarchy.leaves == 3
    assert leaf.tolist() == [0, 2]


def test_a_lacking_value_is_named_with_source_column_and_rows() -> None:
    with pytest.raises(HierarchyError) as caught:
        place(column(["a", "q", "q", "p"]), source(tree=TREE), Placement(NOWHERE))
    assert str(caught.value) == (
        "column 'c': hierarchy 'tree' lacks 2 values (3 rows): 'p', 'q'; add them, or give unknown: top"
    )


def test_of_many_lacking_values_the_first_are_named() -> None:
    with pytest.raises(
        HierarchyError, match=r"lacks 8 values \(8 rows\): '1', '2', '3', '4', '5' and 3 more;"
    ):
        place(column("12345678"), source(tree=TREE), Placement(NOWHERE))


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a,*\n")
    with pytest.raises(HierarchyError, match=r"column 'c': hierarchy h.csv lacks 1 value"):
        place(column(["b"]), source(file="h.csv"), Placement(tmp_path))


def test_with_top_a_lacking_value_goes_directly_under_the_root() -> None:
    found = published(column(["a", "q"]), TREE, Placement(NOWHERE, Unknown.TOP))
    assert found == {"a": ["a", "x", "*"], "q": ["q", "q", "*"]}


def test_a_value_called_like_an_inner_node_cannot_go_under_the_root() -> None:
    with pytest.raises(HierarchyError, match=r"'x' cannot go under the root, as level 1 has another node"):
        published(column(["x"]), TREE, Placement(NOWHERE, Unknown.TOP))


@pytest.mark.parametrize(
    ("tree", "tokens", "missing"),
    [
        (TREE, ("",), ["<missing>", "<missing>", "*"]),
        ({"*": {"x": ["a", "?"]}}, ("",), ["<missing>", "<missing>", "*"]),
        ({"*": {"x": ["a", "?"]}}, ("", "?"), ["<missing>", "x", "*"]),
        ({"*": {"x": ["a"], "?": None}}, ("?",), ["<missing>", "<missing>", "*"]),
        ({"*": {"x": ["a"], "?": ["?", "!"]}}, ("?",), ["<missing>", "?", "*"]),
        ({"*": {"x": ["a", "<missing>"]}}, ("?",), ["<missing>", "x", "*"]),
        ({"*": {"x": ["a", "?", ""]}}, ("?", ""), ["<missing>", "x", "*"]),
    ],
)
def test_a_missing_value_has_a_place(
    tree: dict[str, Any], tokens: tuple[str, ...], missing: list[str]
) -> None:
    found = published(column(["a", None]), tree, Placement(NOWHERE, missing_tokens=tokens))
    assert found == {"a": ["a", "x", "*"], "<missing>": missing}


def test_missing_values_that_are_placed_twice_are_refused() -> None:
    tree = {"*": {"x": ["a", "?"], "y": ["NA"]}}
    with pytest.raises(HierarchyError, match=r"places missing values twice, as '\?' and as 'NA'"):
        published(column(["a", None]), tree, Placement(NOWHERE, missing_tokens=("?", "NA")))


def test_another_node_called_missing_is_refused() -> None:
    tree = {"*": {"<missing>": ["a"], "?": None}}
    with pytest.raises(HierarchyError, match=r"level 1 has another node '<missing>'"):
        published(column(["a", None]), tree, Placement(NOWHERE, missing_tokens=("?",)))


def test_a_token_keeps_its_name_where_nothing_is_missing() -> None:
    hierarchy, _ = place(
        column(["a"]), source(tree={"*": {"x": ["a", "?"]}}), Placement(NOWHERE, missing_tokens=("?",))
    )
    assert "?" in hierarchy.labels
    assert "<missing>" not in hierarchy.labels


def test_a_quasi_identifier_uses_all_levels_unless_told() -> None:
    built = build_quasi_identifier(column(["a"]), source(tree=TREE), Placement(NOWHERE), weight=2.5)
    assert (built.minimum, built.maximum, built.weight) == (0, 2, 2.5)
    levels = LevelRange(1, 1)
    built = build_quasi_identifier(column(["a"]), source(tree=TREE), Placement(NOWHERE), levels=levels)
    assert (built.minimum, built.maximum, built.weight) == (1, 1, 1.0)
    assert [built.hierarchy.labels[node] for node in built.nodes(1)] == ["x"]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (LevelRange(0, 3), "attributes.c.levels.max: 3; accepted: 0 to 2"),
        (LevelRange(0, -1), "attributes.c.levels.max: -1; accepted: 0 to 2"),
        (LevelRange(2, 1), "attributes.c.levels.min: 2; accepted: 0 to 1"),
        (LevelRange(3), "attributes.c.levels.min: 3; accepted: 0 to 2"),
        (LevelRange(-1), "attributes.c.levels.min: -1; accepted: 0 to 2"),
    ],
)
def test_levels_that_the_hierarchy_lacks_are_named_by_key(levels: LevelRange, said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        build_quasi_identifier(column(["a"]), source(tree=TREE), Placement(NOWHERE), levels=levels)
    assert str(caught.value).startswith(said)


def test_a_sensitive_attribute_has_its_hierarchy_and_distance() -> None:
    data = column(["a", "c"], ValueType.TEXT)
    built = build_sensitive_attribute(data, source(tree=TREE), Placement(NOWHERE), "hierarchical")
    assert built.distance == "hierarchical"
    assert built.hierarchy is not None
    assert built.leaf is not None
    assert built.leaf.tolist() == [0, 2]
