"""Leaves and values in several spellings: one rule for every source of hierarchies."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.leaves import fitted, identity_in
from anonymizer.hierarchy.placement import Placement, place
from anonymizer.model.table import COMMA, Column, ValueType
from tests.hierarchy.columns import NOWHERE, chains, column, compiled, source

NUMBERS = ["1", "2.5", "30", "-4", "1000", "0"]
TEXTS = ["K\u00f6ln", "Bonn", "\u00c5rhus", "a b", "\u1ed3", "Z"]


def spelled(value: str, drawn: random.Random, *, numeric: bool) -> str:
    """Another spelling of a value that has only one, perhaps with blanks around it."""
    if not numeric:
        value = unicodedata.normalize(drawn.choice(["NFC", "NFD"]), value)
    elif "." in value:
        value += "0" * drawn.randrange(3)
    else:
        value = drawn.choice([value, f"{value}.0", f"{value}.", f"{value}e0", f"{int(value) * 10}e-1"])
    return drawn.choice(["", " ", "\t"]) + value + drawn.choice(["", " "])


def listed_source(kind: str, values: Sequence[str], folder: Path) -> dict[str, Any]:
    """A source that lists values in two groups."""
    half = len(values) // 2
    groups = {"low": [*values[:half]], "high": [*values[half:]]}
    if kind == "order":
        return {"order": {"sizes": [2], "values": [*values]}}
    if kind == "tree":
        return {"tree": {"*": groups}}
    lines = [f'"{value}", {group} ,*\n' for group, own in groups.items() for value in own]
    (folder / "h.csv").write_text("".join(lines), encoding="utf-8")
    return {"file": "h.csv"}


def groups_of(data: Column, folder: Path, mapping: dict[str, Any]) -> list[set[str]]:
    """Which values of a column are together at each level; leaves are published as the column has them."""
    hierarchy, leaf = place(data, source(**mapping), Placement(folder))
    nodes = hierarchy.ancestors[:, leaf]
    assert [hierarchy.labels[node] for node in nodes[0]] == list(data.texts)
    return [
        {" ".join(str(place) for place in range(data.size) if level[place] == node) for node in set(level)}
        for level in nodes.tolist()
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("leaves")


@pytest.mark.parametrize("kind", ["file", "tree", "order"])
@given(seed=st.integers(0, 2**32), numeric=st.booleans())
def test_levels_do_not_depend_on_how_leaves_are_spelled(
    folder: Path, kind: str, seed: int, numeric: bool
) -> None:
    drawn = random.Random(seed)
    values = NUMBERS if numeric else TEXTS
    data = column(values, ValueType.NUMBER if numeric else ValueType.TEXT)
    uniform = groups_of(data, folder, listed_source(kind, values, folder))
    others = [spelled(value, drawn, numeric=numeric) for value in values]
    assert groups_of(data, folder, listed_source(kind, others, folder)) == uniform


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (ValueType.INTEGER, "7", "7.0"),
        (ValueType.INTEGER, "7", "07"),
        (ValueType.NUMBER, "0.5", ".50"),
        (ValueType.NUMBER, "1e3", "1000"),
        (ValueType.TEXT, "\u00e9", "e\u0301"),
        (ValueType.TEXT, "a", "a "),
        (ValueType.DATE, "2024-05-01T10:00", "2024-05-01 10:00:00"),
    ],
)
def test_one_value_in_two_spellings_is_listed_more_than_once(
    tmp_path: Path, kind: ValueType, first: str, second: str
) -> None:
    data = Column("c", kind, (first.strip(),), column([first]).counts, None, None)
    (tmp_path / "h.csv").write_text(f"{first},x,*\n{second},y,*\n", encoding="utf-8")
    for mapping in (
        {"file": "h.csv"},
        {"tree": {"*": {"x": [first], "y": [second]}}},
    ):
        with pytest.raises(HierarchyError, match="listed more than once"):
            place(data, source(**mapping), Placement(tmp_path))
    with pytest.raises(HierarchyError, match=r"listed (more than once|2 times)"):
        place(data, source(order={"sizes": [2], "values": [first, second]}), Placement(tmp_path))


def test_codes_with_leading_zeros_are_texts_of_their_own() -> None:
    data = column(["07", "7"])
    assert compiled(data, tree={"*": {"x": ["07"], "y": ["7"]}}).leaves == 2


def test_decimal_commas_are_compared_by_value() -> None:
    data = Column("c", ValueType.NUMBER, ("1,5",), column(["x"]).counts, None, None, COMMA)
    hierarchy, _ = place(data, source(tree={"*": {"lo": ["1,50"]}}), Placement(NOWHERE))
    assert chains(hierarchy) == {"1,5": ["1,5", "lo", "*"]}


def test_nodes_that_pad_a_leaf_are_spelled_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1.0,1.0,odd,*\n2.0,2,even,*\n3.0,x,odd,*\n")
    data = column(["1", "2", "3"], ValueType.INTEGER)
    hierarchy, _ = place(data, source(file="h.csv"), Placement(tmp_path))
    assert chains(hierarchy) == {
        "1": ["1", "1", "odd", "*"],
        "2": ["2", "2", "even", "*"],
        "3": ["3", "x", "odd", "*"],
    }


def test_labels_of_groups_are_compared_without_blanks_and_in_nfc(tmp_path: Path) -> None:
    lines = "1, S\u00fcd ,*\n2,Su\u0308d, *\n3,Nord,*\n"
    (tmp_path / "h.csv").write_text(lines, encoding="utf-8")
    data = column(["1", "2", "3"], ValueType.INTEGER)
    hierarchy, _ = place(data, source(file="h.csv"), Placement(tmp_path))
    assert [chains(hierarchy)[value][1] for value in "123"] == ["S\u00fcd", "S\u00fcd", "Nord"]
    (tmp_path / "h.csv").write_text("1,a,S\u00fcd,*\n2,a ,Nord,*\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match=r"line 1: 'a' \(level 1\) has two parents"):
        place(data, source(file="h.csv"), Placement(tmp_path))


def test_a_missing_code_is_found_in_any_spelling() -> None:
    data = column(["5", None], ValueType.INTEGER)
    tree = {"*": {"known": ["5"], "unknown": ["-9.0"]}}
    hierarchy, leaf = place(data, source(tree=tree), Placement(NOWHERE, missing_tokens=("-9",)))
    assert [hierarchy.labels[node] for node in hierarchy.ancestors[:, leaf[1]]] == [
        "<missing>",
        "unknown",
        "*",
    ]


@pytest.mark.parametrize(
    "spellings", [["Cura\u00e7ao"], ["Curac\u0327ao"], ["Curacao"], ["Curac\u0327ao", "Curacao", "CW"]]
)
def test_ready_made_ones_accept_every_unicode_form(spellings: list[str]) -> None:
    data = column([*spellings, "France"])
    hierarchy, leaf = place(data, source(ready="country"), Placement(NOWHERE))
    assert [hierarchy.labels[node] for node in hierarchy.ancestors[0, leaf]] == list(data.texts)


def test_ready_made_codes_are_numbers_in_a_column_of_numbers() -> None:
    data = column(["1", "2"], ValueType.NUMBER)
    wanted, _ = place(data, source(ready="sex"), Placement(NOWHERE))
    spelled_otherwise = column(["1.0", "2.0"], ValueType.NUMBER)
    found, _ = place(spelled_otherwise, source(ready="sex"), Placement(NOWHERE))
    assert found.level.tolist() == wanted.level.tolist()
    assert [text for text in found.labels if "." not in text] == [
        text for text in wanted.labels if text not in data.texts
    ]


@pytest.mark.parametrize(
    ("value", "leaf", "said"),
    [
        ("a", "A", "'a' (the hierarchy has 'A')"),
        ("p", "\u0440", "'p' (the hierarchy has '\u0440' (U+0440 where 'p' has U+0070))"),
        ("007", "7", "'007' (the hierarchy has '7')"),
        ("a\u200bb", "ab", "(the hierarchy has 'ab' (nothing where 'a\u200bb' has U+200B))"),
        ("q", "z", "lacks 1 value (1 row): 'q'; add it"),
    ],
)
def test_a_lacking_value_is_told_apart_from_the_leaf_that_looks_like_it(
    value: str, leaf: str, said: str
) -> None:
    with pytest.raises(HierarchyError) as caught:
        place(column([value]), source(tree={"*": {"x": [leaf]}}), Placement(NOWHERE))
    assert said in str(caught.value)


@pytest.mark.parametrize("first", ["1", "1.0"])
def test_a_line_of_a_value_is_no_header(tmp_path: Path, first: str) -> None:
    (tmp_path / "h.csv").write_text(f"{first},lo,all\n2,hi,*\n3,hi,*\n")
    data = column(["1", "2", "3"], ValueType.INTEGER)
    with pytest.raises(HierarchyError, match="the last column has 2 different labels"):
        place(data, source(file="h.csv"), Placement(tmp_path))


def test_blanks_after_separators_are_no_part_of_labels(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1, lo, *\n2,lo,*\n3,hi,*\n")
    data = column(["1", "2", "3"], ValueType.INTEGER)
    hierarchy, _ = place(data, source(file="h.csv"), Placement(tmp_path))
    assert chains(hierarchy)["1"] == ["1", "lo", "*"]


def test_published_texts_have_the_levels_of_leaves_in_other_spellings(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1.0,lo,*\n2.0,hi,*\n")
    own = source(file="h.csv")
    assert own.levels_of(["1", "2"], tmp_path) == {0}
    assert own.levels_of(["lo"], tmp_path) == {1}
    assert own.levels_of(["3"], tmp_path) == set()


def test_a_tree_with_the_spellings_of_the_column_stays_as_it_is() -> None:
    data = column(["a", "b"])
    tree = source(tree={"*": ["a", "b"]}).build(data, NOWHERE)
    assert fitted(tree, data, "t") is tree
    assert identity_in(data)(" a") == "a"


@pytest.mark.parametrize(
    ("published", "starred", "beyond", "levels"),
    [
        (["130", "131"], False, False, {0}),
        (["13", "*"], False, False, {1}),
        (["130", "*"], False, False, set()),
        (["130", "*", ""], True, False, {0}),
        (["*"], False, False, {2}),
        (["*"], True, False, None),
        (["<missing>"], False, False, None),
        (["999"], False, False, set()),
        (["999"], False, True, None),
    ],
)
def test_levels_that_the_texts_of_a_release_allow(
    published: list[str], starred: bool, beyond: bool, levels: set[int] | None, tmp_path: Path
) -> None:
    (tmp_path / "zip.csv").write_text("130,13,*\n131,13,*\n200,*,*\n", encoding="utf-8")
    own = source(file="zip.csv")
    assert own.levels_shown(published, tmp_path, starred=starred, beyond=beyond) == levels
    (tmp_path / "zip.csv").unlink()
    assert own.levels_shown(published, tmp_path, starred=starred, beyond=beyond) is None
