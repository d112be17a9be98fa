"""Trees written out in the config."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
import yaml

from anonymizer.errors import HierarchyError
from tests.hierarchy.columns import NOWHERE, chains, column, compiled, source

EMPTY = column([])


def read(text: str) -> dict[str, list[str]]:
    return chains(compiled(EMPTY, tree=yaml.safe_load(text)))


def test_leaves_are_items_scalars_and_keys_without_a_value() -> None:
    text = """
    "*":
      Europe: [France, Germany]
      Asia: {Japan: , China: }
      Africa: Kenya
      Antarctica:
      America:
        - North: [Canada]
        - Brazil
    """
    assert read(text) == {
        "France": ["France", "France", "Europe", "*"],
        "Germany": ["Germany", "Germany", "Europe", "*"],
        "Japan": ["Japan", "Japan", "Asia", "*"],
        "China": ["China", "China", "Asia", "*"],
        "Kenya": ["Kenya", "Kenya", "Africa", "*"],
        "Antarctica": ["Antarctica", "Antarctica", "Antarctica", "*"],
        "Canada": ["Canada", "North", "America", "*"],
        "Brazil": ["Brazil", "Brazil", "America", "*"],
    }


def test_numbers_and_dates_are_taken_as_text() -> None:
    assert list(read("{'*': [1, 2.5, 2021-03-04]}")) == ["1", "2.5", date(2021, 3, 4).isoformat()]


def test_a_deep_tree_needs_no_recursion() -> None:
    deep: Any = "leaf"
    for depth in range(3000):
        deep = {f"n{depth}": deep}
    assert compiled(EMPTY, tree=deep).height == 3000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{a: [x], b: [y]}", "2 roots: 'a', 'b'"),
        ("{}", "0 roots: none"),
        ("{'*': {a: []}}", "'a' has an empty list"),
        ("{'*': [yes, no]}", "True is a truth value"),
        ("{'*': [[a]]}", "a list is not a label"),
        ("{'*': {a: [x], b: [x]}}", "value 'x' is listed more than once, under 'a' and under 'b'"),
        ("{'*': {a: {b: [x]}, c: [b, y]}}", "level 1 has two nodes 'b', under 'a' and under 'c'"),
        ("[a, b]", "valid dict"),
    ],
)
def test_faults_say_what_would_do(text: str, said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(tree=yaml.safe_load(text)).build(EMPTY, NOWHERE)
    assert said in str(caught.value)
