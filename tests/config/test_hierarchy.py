"""``hierarchy:`` in a config."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import networkx as nx
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.load import load_config
from tests.config.examples import attribute, problems_of
from tests.helpers.messages import exchange


def loaded(hierarchy: Any) -> AttributeSettings:
    return load_config(attribute(role="quasi-identifier", hierarchy=hierarchy)).attributes["x"]


@pytest.mark.parametrize(
    "hierarchy",
    [
        "auto",
        {},
        {"unknown": "top"},
        {"masc": {}},
        {"mask": {"from": "right"}, "auto": {}},
        {"mask": {"from": "left"}, "unknwon": "top"},
        {"mask": {"from": "middle"}},
        {"mask": {"form": "left"}},
        {"auto": {}, "unknown": "drop"},
        {"intervals": {"width": 5}},
        {"intervals": {"width": [5, True]}},
        {"intervals": {"width": [5, 7]}},
        {"intervals": {}},
        {"file": 5},
    ],
    ids=str,
)
def test_refusals(hierarchy: Any, message: SnapshotAssertion) -> None:
    problems = problems_of(attribute(role="quasi-identifier", hierarchy=hierarchy))
    said = "\n".join(f"{where}: {what}" for where, what in problems.items())
    assert exchange(hierarchy, said) == message


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
