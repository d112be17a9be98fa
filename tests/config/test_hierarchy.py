"""``hierarchy:`` in a config."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import networkx as nx
import pytest

from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.load import load_config
from tests.config.examples import attribute, problems_of


def loaded(hierarchy: Any) -> AttributeSettings:
    return load_config(attribute(role="quasi-identifier", hierarchy=hierarchy)).attributes["x"]


@pytest.mark.parametrize(
    ("hierarchy", "where", "what"),
    [
        ("auto", "", "'auto'; accepted: a mapping with one of the keys auto, date, file, "),
        ({}, "", "no source; accepted: one of auto, date, file, "),
        ({"unknown": "top"}, "", "no source; accepted: one of auto, date, file, "),
        ({"masc": {}}, ".masc", "unknown key; did you mean 'mask'?"),
        (
            {"mask": {"from": "right"}, "auto": {}},
            "",
            "mask and auto are given; accepted: exactly one source",
        ),
        ({"mask": {"from": "left"}, "unknwon": "top"}, ".unknwon", "unknown key; did you mean 'unknown'?"),
        ({"mask": {"from": "middle"}}, ".mask.from", "'middle'; accepted: left, right"),
        ({"mask": {"form": "left"}}, ".mask.form", "unknown key; did you mean 'from'?"),
        ({"auto": {}, "unknown": "drop"}, ".unknown", "'drop'; accepted: error, top"),
        ({"intervals": {"width": 5}}, ".intervals.width", "5; accepted: a list, each a number"),
        ({"intervals": {"width": [5, True]}}, ".intervals.width[1]", "true; accepted: a number"),
        ({"intervals": {"width": [5, 7]}}, ".intervals.width", "7"),
        ({"intervals": {}}, ".intervals.width", "missing; accepted: a list, each a number"),
        ({"file": 5}, ".file", "5; accepted: text"),
    ],
)
def test_refusals(hierarchy: Any, where: str, what: str) -> None:
    problems = problems_of(attribute(role="quasi-identifier", hierarchy=hierarchy))
    assert problems[f"attributes.x.hierarchy{where}"].startswith(what)


def test_a_source_is_built_with_its_parameters() -> None:
    hierarchy = loaded({"intervals": {"width": [2.5, 5]}, "unknown": "top"}).hierarchy
    assert hierarchy is not None
    assert hierarchy.unknown == "top"
    assert hierarchy.build().settings.width == (Decimal("2.5"), Decimal(5))


def test_a_networkx_tree_becomes_a_nested_mapping_that_loads_again() -> None:
    graph: Any = nx.DiGraph([("all", "north"), ("all", "south"), ("north", "oslo"), ("south", "rome")])
    tree = loaded(graph).to_dict()["hierarchy"]["tree"]
    assert tree == {"all": {"north": {"oslo": None}, "south": {"rome": None}}}
    assert loaded({"tree": tree}).hierarchy == loaded(graph).hierarchy


def test_a_graph_that_is_no_tree_is_refused() -> None:
    graph: Any = nx.DiGraph([("a", "c"), ("b", "c")])
    problems = problems_of(attribute(role="quasi-identifier", hierarchy=graph))
    assert "root" in problems["attributes.x.hierarchy"]
