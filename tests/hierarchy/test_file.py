"""Hierarchies in CSV files: what is read, and what every fault is called."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.source import compile_tree
from tests.helpers.messages import exchange
from tests.hierarchy.columns import chains, column, source
from tests.shared import shared

EMPTY = column([])


def read(path: Path, content: str | bytes) -> dict[str, list[str]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return chains(compile_tree(source(file=path.name).build(EMPTY, path.parent), "t"))


SMALL = {"a": ["a", "x", "*"], "b": ["b", "x", "*"], "c": ["c", "y", "*"]}


@pytest.mark.parametrize(
    "content",
    [
        "a,x,*\nb,x,*\nc,y,*\n",
        "a;x;*\nb;x;*\nc;y;*\n",
        "a,x,*\r\nb,x,*\r\nc,y,*",
        "\ufeffa,x,*\nb,x,*\nc,y,*\n",
        '"a","x","*"\n"b",x,*\nc,y,*\n\n',
        "a,x,*\nc,y,*\nb,x,*\n",
    ],
)
def test_the_same_tree_in_several_spellings(tmp_path: Path, content: str) -> None:
    assert read(tmp_path / "h.csv", content) == SMALL


def test_a_separator_inside_the_labels_does_not_mislead(tmp_path: Path) -> None:
    assert read(tmp_path / "h.csv", "0,[0; 1[,*\n5,[1; 9[,*\n")["5"] == ["5", "[1; 9[", "*"]
    assert read(tmp_path / "h.csv", "0;0,5;*\n1;0,5;*\n")["1"] == ["1", "0,5", "*"]


def test_cells_lose_blanks_at_their_ends_and_keep_newlines_and_any_length(tmp_path: Path) -> None:
    long = "v" * 1_000_000
    limit = csv.field_size_limit()
    assert read(tmp_path / "h.csv", f'" a\nb ",x,*\n{long},x,*\n') == {
        "a\nb": ["a\nb", "x", "*"],
        long: [long, "x", "*"],
    }
    assert csv.field_size_limit() == limit


def test_an_empty_value_may_have_a_place(tmp_path: Path) -> None:
    assert read(tmp_path / "h.csv", ",none,*\na,x,*\n")[""] == ["", "none", "*"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a\nb\n",
        "a,x,*\nb,*\n",
        "a,x,*\nb,x,*\na,x,*\n",
        "a,x,*\nb,,*\n",
        "a,x,p,*\nb,y,p,*\nc,x,q,*\n",
        "a,x,*\nb,y,+\n",
        "value,group,top\na,x,*\nb,y,*\n",
        "a,x\0,*\n",
        b"a,x,*\nb,\xe9,*\n",
    ],
    ids=repr,
)
def test_faults_name_file_and_line(tmp_path: Path, content: str | bytes, message: SnapshotAssertion) -> None:
    with pytest.raises(HierarchyError) as caught:
        read(tmp_path / "h.csv", content)
    assert exchange(repr(content), caught.value) == message


@pytest.mark.parametrize("name", ["none.csv", "folder"])
def test_a_missing_file_and_a_directory_are_named(
    name: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(HierarchyError) as caught:
        source(file=name).build(EMPTY, tmp_path)
    assert exchange(name, caught.value, tmp_path) == message


def test_every_shared_hierarchy_is_what_its_rows_say() -> None:
    files = sorted(shared("data").glob("*/hierarchies/*.csv"))
    files.append(shared("data", "literature", "tcloseness_disease_hierarchy.csv"))
    assert len(files) > 30
    for path in files:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = {cells[0]: cells for cells in csv.reader(stream)}
        tree = source(file=path.name).build(EMPTY, path.parent)
        assert chains(compile_tree(tree, path.name)) == rows, path
