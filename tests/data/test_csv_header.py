"""Separators and headers."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.csv import SAMPLE_CHARACTERS, detect_separator, read_header
from anonymizer.data.open import open_file, open_frame
from anonymizer.data.source import CsvDialect, name_columns
from anonymizer.errors import DataError
from tests.data.files import rows, write
from tests.helpers.messages import exchange


@given(
    st.sampled_from(["a", '"a"', '"a ""b"""', "\na"]),
    st.lists(st.text('a;,|\t"\n ', max_size=9), min_size=1, max_size=4),
)
def test_the_separator_of_one_column_does_not_depend_on_its_values(header: str, lines: list[str]) -> None:
    """The release has the separator of the input, and the values may be suppressed."""
    assert detect_separator("\n".join([header, *lines, ""])) == ","


@pytest.mark.parametrize(
    ("name", "text", "separator", "columns"),
    [
        ("a.csv", "a,b\n1,2\n", ",", ("a", "b")),
        ("a.csv", "a;b,c;d\n1;2,5;3\n4;5;6\n", ";", ("a", "b,c", "d")),
        ("a.csv", "a\tb\n1\t2,5\n", "\t", ("a", "b")),
        ("a.csv", "a|b|c\n1|2|3\n", "|", ("a", "b", "c")),
        ("a.csv", "single\n1,5\n2\n", ",", ("single",)),
        ("a.csv", '"a,x";b\n1;2\n', ";", ("a,x", "b")),
        ("a.csv", '\ufeff"a";"b"\n"1;1,1";2\n', ";", ("a", "b")),
        ("a.csv", "\n\na,b\n1,2\n", ",", ("a", "b")),
        ("a.tsv", "a;b\tc;d\n1;2\t3;4\n", "\t", ("a;b", "c;d")),
        ("a.tsv.gz", "a\tb\n1\t2\n", "\t", ("a", "b")),
    ],
)
def test_separator_and_names(
    name: str, text: str, separator: str, columns: tuple[str, ...], tmp_path: Path
) -> None:
    header = read_header(write(tmp_path / name, text), CsvDialect())
    assert (header.separator, header.columns) == (separator, columns)


def test_a_record_longer_than_the_sample_does_not_hide_the_separator(tmp_path: Path) -> None:
    long = "x," * SAMPLE_CHARACTERS
    for text in (f'a;b\n1;2\n3;"{long}"\n', f"a;b\n1;2\n3;{long}\n"):
        assert read_header(write(tmp_path / "a.csv", text), CsvDialect()).separator == ";"


def test_a_header_of_several_lines_is_skipped_whole(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f'\ufeff"a{end}x","b{end}{end}"{end}1,2{end}3,4{end}'
        with open_file(write(tmp_path / "a.csv", text)) as relation:
            assert relation.columns == (f"a{end}x", f"b{end}{end}")
            assert rows(relation) == [("1", "2"), ("3", "4")]


@given(st.lists(st.sampled_from(["", " ", "row", "a", "a_2", "a_3", "column_2", "column_2_2"]), min_size=1))
def test_names_are_distinct_and_only_unnamed_or_repeated_ones_change(columns: list[str]) -> None:
    named = name_columns("a.csv", columns)
    assert len(set(named.columns)) == len(columns)
    changed = [place for place, name in enumerate(columns) if named.columns[place] != name]
    kept = [columns.index(name) for name in {*columns} if name.strip()]
    assert sorted(changed + kept) == list(range(len(columns)))
    assert len(named.warnings) == len(changed)
    # A name that was free before is free of the names in the file.
    assert not {named.columns[place] for place in changed} & set(columns)


@pytest.mark.parametrize("header", ['"",age,age', "a,,a", "row,,row_2,row", ",row,"])
def test_what_is_said_of_columns_without_a_name(header: str, message: SnapshotAssertion) -> None:
    columns = next(csv.reader([header]))
    named = name_columns("people.csv", columns)
    assert exchange(header, "\n".join([", ".join(named.columns), *named.warnings])) == message
    with pytest.raises(DataError) as refused:
        name_columns("people.csv", columns, strict=True)
    assert exchange(f"{header}, strictly", refused.value) == message


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_all_files_are_named_alike(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "a.parquet":
        pd.DataFrame([[1, 2, 3, 4]], columns=["", "x", " ", "column_3"]).to_parquet(path)
    else:
        write(path, ",x, ,column_3\n1,2,3,4\n")
    with open_file(path) as relation:
        assert relation.columns == ("row", "x", "column_3_2", "column_3")
        assert rows(relation) == [("1", "2", "3", "4")]
        assert len(relation.header_warnings) == 2


def test_repeated_columns_of_a_frame_are_named() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with open_frame(frame) as relation:
        assert relation.columns == ("a", "b", "a_2")
        assert rows(relation) == [("1", "2", "3")]
    assert list(frame.columns) == ["a", "b", "a"]
