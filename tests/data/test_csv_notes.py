"""Lines above the header: Excel's note of the separator, and titles."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.data.csv import read_header
from anonymizer.data.open import open_file
from anonymizer.data.source import CsvDialect
from anonymizer.errors import DataError
from tests.data.files import rows, write

RECORDS = [("20", "a"), ("21", "b")]


@pytest.mark.quick(10)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("note", "separator"),
    [
        ("sep=;", ";"),
        ('"sep=;"', ";"),
        ("SEP=;", ";"),
        ("Sep=,", ","),
        ('"sep=,"', ","),
        ("sep=|", "|"),
        ("sep=\t", "\t"),
        ("sep=;;", ";"),
        ("sep=~", "~"),
        ("\ufeffsep=;", ";"),
        ('\ufeff"sep=;"', ";"),
    ],
)
def test_a_first_line_that_sets_the_separator_is_no_header(
    tmp_path: Path, note: str, separator: str, end: str
) -> None:
    lines = [note, *(separator.join(record) for record in [("age", "s"), *RECORDS])]
    for name in ("a.csv", "a.tsv"):
        with open_file(write(tmp_path / name, end.join([*lines, ""]))) as relation:
            assert (relation.columns, relation.separator) == (("age", "s"), separator)
            assert rows(relation) == RECORDS
            assert relation.header_warnings == []


def test_it_is_found_in_other_encodings_and_in_compressed_files(tmp_path: Path) -> None:
    text = "sep=;\nage;s\n20;a\n21;b\n"
    with open_file(write(tmp_path / "a.csv", text.encode("utf-16")), CsvDialect(None, "utf-16")) as relation:
        assert rows(relation) == RECORDS
    with open_file(write(tmp_path / "a.csv.gz", text)) as relation:
        assert rows(relation) == RECORDS


def test_quotes_and_long_headers_are_read_after_it(tmp_path: Path) -> None:
    text = 'sep=;\n"a\nb";s\n"20;1";a\n21;"b"\n'
    with open_file(write(tmp_path / "a.csv", text)) as relation:
        assert relation.columns == ("a\nb", "s")
        assert rows(relation) == [("20;1", "a"), ("21", "b")]


def test_lines_are_counted_from_the_beginning_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 4 has 1 field"):
        open_file(write(tmp_path / "a.csv", "sep=;\na;b\n1;2\n3\n"))


def test_another_separator_in_the_config_contradicts_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "sep=;\na;b\n1;2\n")
    with pytest.raises(DataError, match=r"first line sets the separator ';', but input.separator is ','"):
        read_header(path, CsvDialect(","))
    assert read_header(path, CsvDialect(";")).columns == ("a", "b")


@pytest.mark.parametrize("text", ["sep,b\n1,2\n", "sep=,b=\n1,2\n", "sep=ab\n1\n2\n"])
def test_other_first_lines_are_headers(tmp_path: Path, text: str) -> None:
    assert read_header(write(tmp_path / "a.csv", text), CsvDialect()).lines == 1


TITLES = [
    ("Clinic 2024,,\nage,sex,income\n20,m,100\n30,f,200\n40,f,300\n", "line 1 is read as the header"),
    ("Clinic 2024\nage;sex\n20;m\n30;f\n", "line 1 is read as the header .* separated by ';'"),
    ("\nClinic 2024,,\nage,sex,income\n20,m,1\n", "line 2 is read as the header"),
    ("Clinic,list,2024\nage,sex,income\n20,m,100\n30,f,200\n40,f,300\n", "line 2 looks like names"),
    ("sep=;\nClinic;2024\nage;sex\n20;m\n30;f\n40;f\n", "line 3 looks like names .* if line 2 is a title"),
    ("Age;Sex\nin years;\n20;m\n30;f\n40;f\n", "line 2 looks like names"),
]


@pytest.mark.parametrize(("text", "said"), TITLES)
def test_a_title_is_warned_about_by_its_line(tmp_path: Path, text: str, said: str) -> None:
    header = read_header(write(tmp_path / "a.csv", text), CsvDialect())
    assert header.warnings
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(header.warnings[-1])


@pytest.mark.parametrize(
    "text",
    [
        "age,sex\n20,m\n30,f\n40,f\n",
        "age,sex\nNA,m\n30,f\n40,f\n",
        "age,sex\nx,f\n30,f\n40,f\n",
        "name,sex\nAnn,f\nBob,m\n",
        "a\n1,5\n2,5\n",
        "id,,\n1,,\n2,,\n",
        "a,b\n1,2\n",
    ],
)
def test_ordinary_files_are_not_warned_about(tmp_path: Path, text: str) -> None:
    header = read_header(write(tmp_path / "a.csv", text), CsvDialect())
    assert not [warning for warning in header.warnings if "title" in warning]
