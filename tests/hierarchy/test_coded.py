"""Hierarchies over the codes of an input that is read by its labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.coded import CodedSource, labels_of_codes, tree_of
from anonymizer.hierarchy.file import FileSettings, FileSource
from anonymizer.hierarchy.placement import Placement, Unknown, place
from anonymizer.hierarchy.source import HierarchySource, compile_tree, leaves_of
from anonymizer.hierarchy.tree import TreeSettings, TreeSource
from anonymizer.model.table import Code, Column, ValueType

TOWNS: Mapping[str, Code] = {"Hamburg": 1, "Bremen": 2, "Munich": 3, "Berlin": 4, "Refused": 99}
SHIFTED: Mapping[str, Code] = {"1": 0, "2": 1, "3": 2}
"""Labels that are the codes of others."""


def column(codes: Mapping[str, Code], present: tuple[str, ...] | None = None) -> Column:
    texts = tuple(sorted(codes)) if present is None else present
    counts = np.ones(len(texts), dtype=np.int64)
    return Column("town", ValueType.TEXT, texts, counts, None, None, codes=codes)


def tree(*rows: str) -> TreeSource:
    """Return a tree of groups, each ``group value value``; a value alone is under the root."""
    below: dict[str, Any] = {}
    for row in rows:
        first, *values = row.split()
        below[first] = values or None
    return TreeSource(TreeSettings({"*": below}))


def file(folder: Path, *rows: str) -> FileSource:
    (folder / "town.csv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return FileSource(FileSettings("town.csv"))


def levels(source: HierarchySource[Any], own: Column, folder: Path) -> list[list[str]]:
    """Return the label of each leaf at each level."""
    found = compile_tree(tree_of(source, own, folder, "hierarchy town.csv"), "hierarchy town.csv")
    return [[found.labels[node] for node in nodes] for nodes in found.ancestors.tolist()]


def test_codes_become_labels_with_what_pads_them(tmp_path: Path) -> None:
    over_codes = ["1,north,*", "2,north,*", "3,south,*", "4,4,*", "99,99,*"]
    over_labels = [
        "Hamburg,north,*",
        "Bremen,north,*",
        "Munich,south,*",
        "Berlin,Berlin,*",
        "Refused,Refused,*",
    ]
    expected = levels(file(tmp_path, *over_labels), column(TOWNS), tmp_path)
    assert levels(file(tmp_path, *over_codes), column(TOWNS), tmp_path) == expected
    assert expected[1] == ["north", "north", "south", "Berlin", "Refused"]
    found = levels(tree("north 1 2", "south 3", "4", "99"), column(TOWNS), tmp_path)
    assert [sorted(each) for each in found] == [sorted(each) for each in expected]


def test_codes_are_numbers_or_texts(tmp_path: Path) -> None:
    numbers: Mapping[str, Code] = {"low": 1.5, "high": 2}
    assert leaves_of(tree_of(tree("all 1.50 2.0"), column(numbers), tmp_path, "")) == ["low", "high"]
    texts: Mapping[str, Code] = {"low": "01", "high": "1"}
    assert leaves_of(tree_of(tree("all 01 1"), column(texts), tmp_path, "")) == ["low", "high"]


def test_values_that_nobody_declares_stay(tmp_path: Path) -> None:
    found = tree_of(tree("north 1 2 3 4 99", "south 7"), column(TOWNS), tmp_path, "")
    assert "7" in leaves_of(found)
    # Without labels, nothing is a code.
    assert leaves_of(tree_of(tree("north 1 2"), column({}, ("1", "2")), tmp_path, "")) == ["1", "2"]


def test_groups_may_have_the_names_of_codes(tmp_path: Path) -> None:
    found = tree_of(tree("1 1 2", "2 3 4 99"), column(TOWNS), tmp_path, "")
    assert {label for level, label in found if level == 1} == {"1", "2"}
    assert leaves_of(found) == list(TOWNS)


def test_what_only_a_code_or_only_a_label_can_be_decides(tmp_path: Path) -> None:
    def leaves(*rows: str) -> list[str]:
        return list(leaves_of(tree_of(tree(*rows), column(SHIFTED), tmp_path, "")))

    assert leaves("low 0 1", "high 2") == ["1", "2", "3"]
    assert leaves("low 1 2", "high 3") == ["1", "2", "3"]
    # The same text as code and label of one value decides nothing, and need not.
    same: Mapping[str, Code] = {"1": 1, "2": 2}
    assert list(leaves_of(tree_of(tree("all 1 2"), column(same), tmp_path, ""))) == ["1", "2"]


def test_codes_beside_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError) as caught:
        place(column(TOWNS), tree("north 1 Bremen", "south 3"), Placement(tmp_path, Unknown.TOP))
    assert str(caught.value) == (
        "column 'town': hierarchy 'tree' has codes and labels of the input as values: '1' is the code of "
        "'Hamburg', and 'Bremen' is a label; write all values as labels, or all as codes"
    )


@pytest.mark.parametrize(
    ("codes", "values", "remedy"),
    [
        (SHIFTED, "1 2", "add the value '3' if they are labels, or '0' if they are codes"),
        ({"1": 2, "2": 1}, "1 2", "change the labels in the input"),
    ],
)
def test_values_that_are_codes_and_labels_of_others_are_refused(
    codes: Mapping[str, Code], values: str, remedy: str, tmp_path: Path
) -> None:
    with pytest.raises(HierarchyError, match="can be codes or labels of the input") as caught:
        tree_of(tree(f"all {values}"), column(codes), tmp_path, "hierarchy town.csv")
    assert str(caught.value).endswith(f"and the label of another code; {remedy}")


@pytest.mark.parametrize("rows", [("Berlin 1 2", "3", "4"), ("all 1 1.0",)])
def test_labels_that_are_there_already_are_refused(rows: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"would both be '(Berlin|Hamburg)'"):
        tree_of(tree(*rows), column(TOWNS), tmp_path, "hierarchy town.csv")


def test_a_release_is_read_with_or_without_the_labels(tmp_path: Path) -> None:
    source = tree("north 1 2", "south 3", "4")
    own = column(TOWNS)
    labels = labels_of_codes(source.build(own, tmp_path), own, "")
    assert labels == {"1": "Hamburg", "2": "Bremen", "3": "Munich", "4": "Berlin"}
    for known in (labels, {}):
        coded = CodedSource(source, known)
        assert coded.levels_of(["north", "south"], tmp_path) == {1}
        assert coded.levels_of(["north", "Berlin"], tmp_path) == {1}
        assert coded.levels_of([], tmp_path) == {2}
        assert coded.levels_by_text(["north", "Berlin"], tmp_path) == {"north": {1}, "Berlin": {0}}
    assert CodedSource(source, labels).levels_of(["Munich"], tmp_path) == {0}
    # A value may be one that pads its branch.
    assert CodedSource(source, {}).levels_of(["Munich"], tmp_path) == {0, 1}
    with pytest.raises(HierarchyError, match="whose labels only the input has"):
        CodedSource(source, {}).build(column({}, ("Munich",)), tmp_path)
    found = leaves_of(tree_of(CodedSource(source, {}), own, tmp_path, ""))
    assert sorted(found) == ["Berlin", "Bremen", "Hamburg", "Munich"]
