"""Separators and headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.data.csv import SAMPLE_CHARACTERS, read_header
from anonymizer.data.open import open_csv
from anonymizer.data.source import CsvDialect
from tests.data.files import rows, write


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
        with open_csv(write(tmp_path / "a.csv", text)) as relation:
            assert relation.columns == (f"a{end}x", f"b{end}{end}")
            assert rows(relation) == [("1", "2"), ("3", "4")]
