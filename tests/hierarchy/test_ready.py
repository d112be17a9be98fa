"""Shipped hierarchies, and how the data's spellings find their leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy import ready
from anonymizer.hierarchy.placement import Placement, place
from anonymizer.model.table import ValueType
from tests.hierarchy.columns import NOWHERE, above, chains, column, compiled, source

COLOURS = """
title: Colours
about: Names of colours.
source: This test.
hierarchy: {file: colours.csv}
aliases: colours.aliases.csv
"""


@pytest.fixture
def colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "colours.yaml").write_text(COLOURS)
    (tmp_path / "colours.csv").write_text("Dark red,red,*\nPink,red,*\nSky-blue,blue,*\nsky blue,blue,*\n")
    (tmp_path / "colours.aliases.csv").write_text("Rosé,Pink\nSky,Sky-blue\n")
    (tmp_path / "widths.yaml").write_text(
        "{title: Widths, about: a, source: s, hierarchy: {intervals: {width: [5]}}}"
    )
    monkeypatch.setattr(ready, "ready_folder", lambda: tmp_path)


@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize("spelling", ["Dark red", "dark RED", " dark-red. ", "Dark_red"])
def test_a_value_takes_the_place_of_the_leaf_that_it_spells(spelling: str) -> None:
    hierarchy = compiled(column([spelling]), ready="colours")
    assert chains(hierarchy)[spelling] == [spelling, "red", "*"]
    assert hierarchy.leaves == 4


@pytest.mark.usefixtures("colours")
def test_other_spellings_are_listed() -> None:
    found = chains(compiled(column(["ROSÉ", "sky"]), ready="colours"))
    assert found["ROSÉ"] == ["ROSÉ", "red", "*"]
    assert found["sky"] == ["sky", "blue", "*"]
    assert "Pink" not in found


@pytest.mark.usefixtures("colours")
def test_two_spellings_of_a_leaf_become_siblings() -> None:
    hierarchy = compiled(column(["Pink", "pink", "rosé"]), ready="colours")
    assert [chains(hierarchy)[text][1] for text in ("Pink", "pink", "rosé")] == ["red"] * 3
    assert hierarchy.leaves == 6


@pytest.mark.usefixtures("colours")
def test_leaves_that_differ_in_spelling_alone_match_exactly() -> None:
    place(column(["Sky-blue", "sky blue"]), source(ready="colours"), Placement(NOWHERE))
    with pytest.raises(
        HierarchyError, match=r"column 'c': ready hierarchy 'colours' lacks 1 value.*'SKY BLUE'"
    ):
        place(column(["SKY BLUE"]), source(ready="colours"), Placement(NOWHERE))


@pytest.mark.usefixtures("colours")
def test_a_rule_is_built_from_the_data() -> None:
    assert above(column(["7"], ValueType.INTEGER), ready="widths") == {"7": ["5-9"]}


@pytest.mark.usefixtures("colours")
def test_an_unknown_name_meets_the_nearest_one() -> None:
    with pytest.raises(HierarchyError, match=r"unknown ready hierarchy 'colors'; did you mean 'colours'\?"):
        compiled(column(["a"]), ready="colors")
    with pytest.raises(HierarchyError, match=r"unknown ready hierarchy '../colours'"):
        compiled(column(["a"]), ready="../colours")


def test_every_shipped_hierarchy_is_a_tree_with_its_notes() -> None:
    names = ready.ready_names()
    assert {"country", "age", "date", "postal-code"} <= set(names)
    kinds = {"age": ["7", "8"], "income": ["7", "8"], "date": ["2021-03-04"]}
    for name in names:
        shipped = ready.read_ready(name)
        assert shipped.title
        assert shipped.about
        assert shipped.source
        kind = {"date": ValueType.DATE, "postal-code": ValueType.TEXT}.get(name, ValueType.INTEGER)
        values = kinds.get(name, ["7"]) if shipped.hierarchy.rule_built else []
        hierarchy = compiled(column(values, kind), ready=name)
        assert hierarchy.labels[0] == "*"
        assert set(shipped.aliases.values()) <= set(chains(hierarchy))


def test_countries_are_found_by_name_and_code() -> None:
    found = above(column(["germany", "DE", "Outlying-US(Guam-USVI-etc)", "united states"]), ready="country")
    assert found["germany"][-1] == found["DE"][-1] == "Europe"
    assert found["united states"][-1] == "Americas"
    assert "Outlying-US(Guam-USVI-etc)" in found


AGRICULTURE = ["Agriculture, forestry and fishing"] * 2 + ["Agriculture", "*"]


@pytest.mark.parametrize("code", ["01.11", "0111", " 01.19 ", "01.1", "011"])
def test_codes_of_nace_have_their_group_and_division_above_them(code: str) -> None:
    assert chains(compiled(column([code, "62.01"]), ready="nace"))[code] == [code, "01.1", "01", *AGRICULTURE]


def test_a_division_of_nace_is_a_leaf_beside_its_codes() -> None:
    hierarchy = compiled(column(["01", "01.11", "0111", "01.2"]), ready="nace")
    assert chains(hierarchy)["01"] == ["01", "01", "01", *AGRICULTURE]
    assert chains(hierarchy)["01.11"][1] == chains(hierarchy)["0111"][1] == "01.1"
    assert hierarchy.leaves == 4 + 87  # the other divisions


@pytest.mark.parametrize("code", ["111", "1.11", "04.11", "01.", "01.111", "01110", "A01", "٠١.١", "", "100"])
def test_what_is_no_code_of_nace_has_no_place(code: str) -> None:
    """Three digits can be a class that has lost its zero; there is no division 04."""
    with pytest.raises(HierarchyError, match="lacks 1 value"):
        place(column([code, "01.11"]), source(ready="nace"), Placement(NOWHERE))
