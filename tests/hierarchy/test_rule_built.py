"""What holds for every source that builds its hierarchy from the values of a column."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.hierarchy.placement import Placement, place
from anonymizer.hierarchy.source import HIERARCHY_SOURCES, FlatSource, HierarchySource, compile_tree
from anonymizer.model.arrays import CodeArray
from anonymizer.model.table import Column, Hierarchy, ValueType
from tests.helpers.examples import costly
from tests.hierarchy.columns import NOWHERE, chains, column, dates, decimals, integers, source, texts

ANY = st.one_of(integers(), decimals(), dates(), texts())
NUMBERS = st.one_of(integers(), decimals())
CASES: list[tuple[HierarchySource[Any], st.SearchStrategy[Column]]] = [
    (FlatSource(), ANY),
    (source(auto=None), ANY),
    (source(auto={"levels": 3}), ANY),
    (source(frequency=None), ANY),
    (source(frequency={"rare": 1}), ANY),
    (source(mask={"from": "right"}), ANY),
    (source(prefixes={"lengths": [3, 1], "digits": [5]}), ANY),
    (source(prefixes={"lengths": [2], "merge": {"00": ["a", "12"]}}), ANY),
    (source(mask={"from": "left", "steps": [1, 3]}), ANY),
    (source(order={"sizes": [2, 4]}), ANY),
    (source(order={"sizes": [3]}), ANY),
    (source(intervals={"width": [5, 10, 20], "origin": 3}), NUMBERS),
    (source(intervals={"width": [1, 4], "bottom": -3, "top": 7}), NUMBERS),
    (source(intervals={"width": [0.1, 0.7], "origin": -0.05}), NUMBERS),
    (source(date=None), dates()),
    (source(date={"levels": ["month", "year"]}), dates()),
]


def test_every_rule_built_source_is_among_the_cases() -> None:
    covered = {type(case) for case, _ in CASES}
    assert {kind for kind in HIERARCHY_SOURCES.values() if kind.rule_built} <= covered


@pytest.mark.parametrize(("case", "columns"), CASES)
@costly()
@given(data=st.data())
def test_a_column_has_one_tree_of_consistent_levels(
    case: HierarchySource[Any], columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    drawn = data.draw(columns)
    hierarchy, leaf = place(drawn, case, Placement(NOWHERE))
    assert_every_value_is_one_leaf(hierarchy, leaf, drawn)
    again = compile_tree(case.build(drawn, NOWHERE), "t")
    assert again.labels == hierarchy.labels
    assert again.parent.tolist() == hierarchy.parent.tolist()
    assert_values_published_alike_stay_alike_further_up(hierarchy)


def assert_every_value_is_one_leaf(hierarchy: Hierarchy, leaf: CodeArray, drawn: Column) -> None:
    assert sorted(leaf.tolist()) == list(range(hierarchy.leaves))
    assert [hierarchy.labels[hierarchy.ancestors[0, position]] for position in leaf] == list(drawn.texts)
    assert hierarchy.labels[0] == "*"
    assert hierarchy.height >= 1


def assert_values_published_alike_stay_alike_further_up(hierarchy: Hierarchy) -> None:
    seen: dict[tuple[int, str], list[str]] = {}
    for chain in chains(hierarchy).values():
        for level, label in enumerate(chain):
            assert seen.setdefault((level, label), chain[level:]) == chain[level:]


@pytest.mark.parametrize("case", [case for case, _ in CASES])
def test_a_column_of_missing_values_alone_has_a_hierarchy(case: HierarchySource[Any]) -> None:
    hierarchy, leaf = place(column([None, None], ValueType.INTEGER), case, Placement(NOWHERE))
    assert leaf.tolist() == [0]
    assert hierarchy.leaves == 1
    assert set(hierarchy.labels[1:]) == {"<missing>"}
