"""Files that cannot be read, each with a message that names place and remedy; relations of every kind."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.open import open_file, open_frame
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.errors import DataError, InputError
from tests.data.files import frame, rows, write
from tests.helpers.messages import exchange
from tests.shared import shared

BAD_FILES: dict[str, tuple[str, str | bytes]] = {
    "empty": ("a.csv", ""),
    "blank": ("a.csv", "\n\n"),
    "only a byte-order mark": ("a.csv", b"\xef\xbb\xbf"),
    "header only": ("a.csv", "a,b\n"),
    "header without line end": ("a.csv", "a,b"),
    "short record": ("a.csv", "a,b\n1,2\n3\n"),
    "long record": ("a.csv", "a,b\n1,2\n3,4,5\n"),
    "surplus empty field": ("a.csv", "a,b\n1,2\n3,4,\n"),
    "short after quoted newline": ("a.csv", 'a,b\n"1\n1",2\n3\n'),
    "open quote": ("a.csv", 'a,b\n1,2\n3,"4\n'),
    "quote inside": ("a.csv", 'a,b\n1,"2"2\n'),
    "open quote in header": ("a.csv", 'a,"b\n1,2\n'),
    "Latin-1": ("a.csv", b"a,b\n1,2\n\xe9,\xe9\xfc\n"),
    "Windows-1252": ("a.csv", b"a,b\n1,2\n\x80\xa0,2\n"),
    "neither": ("a.csv", b"a,b\n1,2\n\x81,2\n"),
    "utf-16": ("a.csv", "a,b\n1,2\n".encode("utf-16")),
    "NUL": ("a.csv", b"a,b\n1,2\n3,\0\n"),
    "cut gzip": ("a.csv.gz", b""),
    "no gzip": ("a.csv.gz", b""),
    "damaged gzip": ("a.csv.gz", b""),
    "empty Parquet": ("a.parquet", ""),
    "no Parquet": ("a.parquet", "a,b\n1,2\n"),
    "suffix": ("a.ods", "a,b\n1,2\n"),
    "no suffix": ("data", "a,b\n1,2\n"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_by_name(case: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    name, content = BAD_FILES[case]
    path = write(tmp_path / name, content)
    whole = gzip.compress(b"a,b\n" + os.urandom(4000).hex().encode() + b",2\n", mtime=0)
    if case == "cut gzip":
        path.write_bytes(whole[:-100])
    elif case == "no gzip":
        path.write_bytes(b"a,b\n1,2\n")
    elif case == "damaged gzip":
        path.write_bytes(whole[:2000] + bytes(100) + whole[2100:])
    with pytest.raises(DataError) as caught:
        open_file(path)
    assert exchange(case, caught.value, tmp_path) == message
    # A file of another program comes with the command that converts it.
    assert str(caught.value).count("\n") == (case == "suffix")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_missing_file_and_a_directory_are_refused(
    name: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(DataError) as refused:
            open_file(path)
        assert exchange(path, refused.value, tmp_path) == message


def test_a_message_never_holds_a_record(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "name,age\nSecret Person,1\nOther Secret\n")
    with pytest.raises(DataError) as caught:
        open_file(path)
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize(("given", "header"), [(",", "a;b"), (";", "a\tb"), ("\t", "a,b")])
def test_a_wrong_separator_is_named(
    given: str, header: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    path = write(tmp_path / "a.csv", f"{header}\n1{header[1]}2\n")
    with pytest.raises(DataError) as refused:
        open_file(path, CsvDialect(separator=given))
    assert exchange(given, refused.value, tmp_path) == message


def test_an_encoding_is_set_and_an_unknown_one_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "näme,b\né,2\n".encode("windows-1252"))
    with open_file(path, CsvDialect(encoding="windows-1252")) as relation:
        assert relation.columns == ("näme", "b")
        assert rows(relation) == [("é", "2")]
    utf16 = write(tmp_path / "b.csv.gz", 'a,b\n"é\nx",2\n'.encode("utf-16"))
    with open_file(utf16, CsvDialect(encoding="utf-16")) as relation:
        assert rows(relation) == [("é\nx", "2")]
    for unknown in ("klingon", "base64"):
        with pytest.raises(DataError, match=rf"input\.encoding '{unknown}'.*windows-1252"):
            open_file(path, CsvDialect(encoding=unknown))


def test_no_temporary_file_stays(tmp_path: Path) -> None:
    folder = tmp_path / "spill"
    folder.mkdir()
    options = EngineOptions(temp_directory=folder)
    latin = write(tmp_path / "a[1].csv", "a,b\r\né,2\n".encode("latin-1"))
    open_file(latin, CsvDialect(encoding="latin-1"), options).close()
    with pytest.raises(DataError):
        open_file(latin, CsvDialect(), options)
    with pytest.raises(InputError, match=r"memory_limit"):
        open_file(latin, CsvDialect(encoding="latin-1"), EngineOptions("lots", temp_directory=folder))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["a*[x]?.csv", "it's.csv", "year=2020/a.csv", "A.CSV", "x.tsv.csv"])
def test_a_path_is_taken_by_its_letter(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    write(path, "a\tb\n1\t2\n")
    with open_file(path) as relation:
        assert relation.columns == ("a", "b")


def test_capitals_of_a_suffix_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "A.TSV.GZ"
    path.write_bytes(gzip.compress(b"a;b\tc;d\n1\t2\n"))
    with open_file(path) as relation:
        assert relation.columns == ("a;b", "c;d")


def test_limits_reach_the_engine(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 100)
    with open_file(path, options=EngineOptions("200MB", 1)) as relation:
        settings = relation._database.rows(
            "SELECT current_setting('memory_limit'), current_setting('threads'), "
            "current_setting('autoinstall_known_extensions')"
        )
    assert settings == [("190.7 MiB", 1, False)]


def test_adult_is_read_whole() -> None:
    with open_file(shared("data", "adult", "data.csv.gz")) as relation:
        assert (relation.rows, len(relation.columns), relation.separator) == (30162, 9, ",")
        assert len(relation.dictionary("age")) == 72
        assert len(relation.group_counts(relation.columns).counts) == 19502


def test_an_unknown_column_is_answered_by_the_nearest(tmp_path: Path) -> None:
    with (
        open_file(write(tmp_path / "a.csv", "age,zip\n1,2\n")) as relation,
        pytest.raises(DataError, match=r"no column 'agee'; did you mean 'age'\?"),
    ):
        relation.dictionary("agee")


def test_closing_twice_does_nothing() -> None:
    relation = open_frame(frame(["a"], [["x"]]))
    relation.close()
    relation.close()
