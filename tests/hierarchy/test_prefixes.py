"""Codes cut to their first characters: small areas become one, zeros that were lost come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.source import make_source
from anonymizer.model.table import ValueType
from tests.hierarchy.columns import column


def labels(hierarchy: dict[str, Any], *codes: str) -> dict[str, str]:
    """Return the label of level 1 of each code."""
    tree = make_source(hierarchy, "hierarchy").build(column(list(codes), ValueType.TEXT), Path())
    return {child[1]: parent[1] for parent, child in tree.edges() if parent[0] == 1}


def test_zip_codes_keep_three_digits_and_small_areas_none() -> None:
    found = labels(
        {"ready": "us-zip3"}, "02139", "03601", "03602-1111", "059", "021", "20331", "2139", "48201"
    )
    assert found == {
        "02139": "021",
        "03601": "000",
        "03602-1111": "000",
        "059": "000",
        "021": "021",
        "20331": "000",
        "2139": "021",
        "48201": "482",
    }


def test_levels_are_told_by_their_texts() -> None:
    source = make_source({"prefixes": {"lengths": [3, 2], "merge": {"x": ["03"]}}}, "hierarchy")
    assert source.levels_of(["021", "x"], Path()) == {1}
    assert source.levels_of(["02", "x"], Path()) == {2}
    assert source.levels_of(["02139"], Path()) == {0}
    assert source.levels_of([], Path()) == {3}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lengths": [2, 3]}, "3; accepted: descending numbers of characters from 1"),
        (
            {"lengths": [3, 2], "merge": {"021": ["03"]}},
            "merge: '021' could be the beginning of another code",
        ),
        ({"lengths": [3, 1], "merge": {"0": ["03"]}}, "merge: '03' has more characters than a level keeps"),
    ],
)
def test_settings_that_are_no_hierarchy(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        make_source({"prefixes": settings}, "hierarchy")
