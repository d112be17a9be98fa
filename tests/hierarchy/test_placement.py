"""Values of the data placed in their hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

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
from tests.helpers.messages import exchange
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


def refusal(values: Iterable[str | None], tree: Any, placement: Placement) -> HierarchyError:
    with pytest.raises(HierarchyError) as caught:
        place(column(values), source(tree=tree), placement)
    return caught.value


@pytest.mark.parametrize("values", [["a", "q", "q", "p"], "12345678", ["q"]], ids=str)
def test_lacking_values_are_named_with_source_column_and_rows(
    values: Iterable[str], message: SnapshotAssertion
) -> None:
    assert exchange(values, refusal(values, TREE, Placement(NOWHERE))) == message


def test_a_file_is_named_by_its_path(tmp_path: Path, message: SnapshotAssertion) -> None:
    (tmp_path / "h.csv").write_text("a,*\n")
    with pytest.raises(HierarchyError) as caught:
        place(column(["b"]), source(file="h.csv"), Placement(tmp_path))
    assert exchange("h.csv", caught.value) == message


def test_with_top_a_lacking_value_goes_directly_under_the_root() -> None:
    found = published(column(["a", "q"]), TREE, Placement(NOWHERE, Unknown.TOP))
    assert found == {"a": ["a", "x", "*"], "q": ["q", "q", "*"]}


def test_a_value_called_like_an_inner_node_cannot_go_under_the_root(message: SnapshotAssertion) -> None:
    assert exchange("x", refusal(["x"], TREE, Placement(NOWHERE, Unknown.TOP))) == message


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


@pytest.mark.parametrize(
    "tree", [{"*": {"x": ["a", "?"], "y": ["NA"]}}, {"*": {"<missing>": ["a"], "?": None}}], ids=str
)
def test_missing_values_with_two_places_or_another_node_of_their_label_are_refused(
    tree: dict[str, Any], message: SnapshotAssertion
) -> None:
    found = refusal(["a", None], tree, Placement(NOWHERE, missing_tokens=("?", "NA")))
    assert exchange(tree, found) == message


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
    "levels",
    [LevelRange(0, 3), LevelRange(0, -1), LevelRange(2, 1), LevelRange(3), LevelRange(-1)],
    ids=str,
)
def test_levels_that_the_hierarchy_lacks_are_named_by_key(
    levels: LevelRange, message: SnapshotAssertion
) -> None:
    with pytest.raises(HierarchyError) as caught:
        build_quasi_identifier(column(["a"]), source(tree=TREE), Placement(NOWHERE), levels=levels)
    assert exchange(levels, caught.value) == message


def test_a_sensitive_attribute_has_its_hierarchy_and_distance() -> None:
    data = column(["a", "c"], ValueType.TEXT)
    built = build_sensitive_attribute(data, source(tree=TREE), Placement(NOWHERE), "hierarchical")
    assert built.distance == "hierarchical"
    assert built.hierarchy is not None
    assert built.leaf is not None
    assert built.leaf.tolist() == [0, 2]
