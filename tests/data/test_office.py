"""Files of Excel, SPSS, Stata, SAS, JSON Lines and Arrow: labels are values, and other files are refused."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.released import Staged
from anonymizer.data.duckdb.stata import Stata
from anonymizer.data.open import open_file
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.errors import DataError, InputError
from tests.data.files import rows

PEOPLE = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 2.0, 9.0, np.nan],
        "age": [34.0, 999.0, 98.0, 51.0, 998.0],
        "size": [1.5, 2.0, np.nan, 0.1, 3.0],
        "ward": ["A", "B", "A", "", "B"],
        "born": [date(1980, 2, 29), date(1582, 10, 15), None, date(9999, 12, 31), date(2000, 1, 1)],
        "seen": [datetime(2024, 1, 2, 3, 4, 5), datetime(2024, 1, 2), None, None, None],
        "at": [time(3, 4, 5), None, None, None, time(23, 59, 59)],
    }
)


def test_labels_and_kinds_of_missing_are_read_as_people_read_them(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(
        PEOPLE,
        path,
        column_labels={"sex": "Sex at birth"},
        variable_value_labels={
            "sex": {1: "Male", 2: "Female", 3: "Other", 9: "Refused"},
            "age": {98: "98 or older", 999: "Refused"},
            "ward": {"A": "Children", "B": "Surgery"},
        },
        missing_ranges={"sex": [9], "age": [{"lo": 998, "hi": 999}]},
        variable_measure={"sex": "nominal"},
    )
    with open_file(path) as relation:
        assert rows(relation) == [
            ("Male", "34", "1.5", "Children", "1980-02-29", "2024-01-02 03:04:05", "03:04:05"),
            ("Female", "Refused", "2", "Surgery", "1582-10-15", "2024-01-02", None),
            ("Female", "98", None, "Children", None, None, None),
            ("Refused", "51", "0.1", None, "9999-12-31", None, None),
            (None, "missing 998", "3", "Surgery", "2000-01-01", None, "23:59:59"),
        ]
        assert relation.labels["sex"] == ColumnLabels(
            "Sex at birth", {"Male": 1, "Female": 2, "Other": 3}, {"Refused": 9}, "nominal"
        )
        assert relation.labels["age"].absent == {"Refused": 999, "missing 998": 998}
        # 98 has a label, but other ages have none.
        assert relation.labels["age"].codes == {}


def test_letters_of_stata_are_kinds_of_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.dta"
    frame = pd.DataFrame({"sex": [1, 2, "a", None], "score": [1.5, "b", 2.5, "a"]})
    pyreadstat.write_dta(
        frame,
        path,
        variable_value_labels={"sex": {1: "Male", 2: "Female", "a": "Refused"}},
        missing_user_values={"sex": ["a"], "score": ["a", "b"]},
    )
    with open_file(path) as relation:
        assert rows(relation) == [
            ("Male", "1.5"),
            ("Female", ".b"),
            ("Refused", "2.5"),
            (None, ".a"),
        ]
    pd.DataFrame({"thin": np.array([0.1, 1.1], "f4")}).to_stata(path, write_index=False)
    with open_file(path) as relation:
        assert rows(relation) == [("0.1",), ("1.1",)]


def test_a_label_of_two_values_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    labels = {"job": {1: "Nurse", 2: "Doctor", 3: "Nurse "}}
    pyreadstat.write_sav(pd.DataFrame({"job": [1.0, 2.0, 3.0]}), path, variable_value_labels=labels)
    with pytest.raises(DataError, match=r"a\.sav: column 'job': the values 1 and 3 have the same label"):
        open_file(path)
    # A label that no record uses does no harm.
    pyreadstat.write_sav(pd.DataFrame({"job": [1.0, 2.0]}), path, variable_value_labels=labels)
    with open_file(path) as relation:
        assert rows(relation) == [("Nurse",), ("Doctor",)]


@pytest.mark.parametrize(
    ("suffix", "package"), [(".sav", "pyreadstat"), (".xlsx", "openpyxl"), (".feather", "pyarrow")]
)
def test_without_its_library_a_file_comes_with_two_ways_on(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, package, None)
    for module in [name for name in sys.modules if name.startswith("anonymizer.data.office.")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(InputError) as refused:
        open_file(path)
    assert f"{suffix} files need the package {package}; run: pip install" in str(refused.value)
    assert "[office]" in str(refused.value)
    assert f"to convert it: python -c 'import pandas; pandas.read_{''}" in str(refused.value)


def workbook(path: Path, *cells: list[Any], **sheets: list[list[Any]]) -> Any:
    """Write a workbook whose first sheet has these rows; return it for changes."""
    book = openpyxl.Workbook()
    first = book.active
    first.title = "People"
    for row in cells:
        first.append(row)
    for title, own in sheets.items():
        sheet = book.create_sheet(title)
        for row in own:
            sheet.append(row)
    book.save(path)
    return book


def test_a_table_in_a_workbook_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = workbook(
        path,
        ["Patients of 2024"],
        [],
        [None, "age", "born", "code", "well", 2024],
        [None, 34, datetime(1980, 2, 29), "007", True, 1.5],
        [None, None, None, 8, False, 2],
        Notes=[["not", "read"], ["x", "y"]],
    )
    with open_file(path) as relation:
        assert relation.columns == ("age", "born", "code", "well", "2024")
        assert rows(relation) == [
            ("34", "1980-02-29", "007", "true", "1.5"),
            (None, None, "8", "false", "2"),
        ]
        assert [each.split(";")[0] for each in relation.renamed] == [
            "sheet 'People': the 1 rows above the names are not read",
            "sheet 'People' is read, 'Notes' not",
        ]
    book["People"].sheet_state = "hidden"
    book.save(path)
    with open_file(path) as relation:
        assert rows(relation) == [("x", "y")]


def _merged(book: Any) -> None:
    book["People"].merge_cells("A2:A3")


def _formula(book: Any) -> None:
    book["People"]["B3"] = "=1+1"


def _footnote(book: Any) -> None:
    book["People"]["A6"] = "Source: registry"


def _mixed(book: Any) -> None:
    book["People"]["B3"] = datetime(2024, 2, 29)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_merged, r"cells A2:A3 of sheet 'People' are merged; split them"),
        (_formula, r"cell B3 of sheet 'People' has a formula without a value; open the workbook"),
        (_footnote, r"row 6 is below the empty row 4; remove the empty rows"),
        (_mixed, r"column 'n' mixes numbers \(B2\) and dates \(B3\); give all its cells one type"),
    ],
)
def test_what_is_no_table_is_refused_by_cell(
    change: Callable[[Any], None], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.xlsx"
    book = workbook(path, ["a", "n"], ["x", 1], ["y", 2])
    change(book)
    book.save(path)
    with pytest.raises(DataError, match=said):
        open_file(path)


def test_a_formula_whose_value_is_an_empty_text_has_a_value(tmp_path: Path) -> None:
    path, made = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    book = workbook(path, ["a", "n"], ["x", 1], ["y", 2])
    _formula(book)
    book.save(path)
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(made, "w") as written:
        for name in given.namelist():
            stored = re.sub(rb'<c r="B3"[^>]*><f>[^<]*</f><v ?/?>(</v>)?', _as_text, given.read(name))
            written.writestr(name, stored)
    with open_file(made) as relation:
        assert rows(relation) == [("x", "1"), ("y", None)]


def _as_text(_: re.Match[bytes]) -> bytes:
    return b'<c r="B3" t="str"><f>IF(A3="y","")</f><v></v>'


def test_a_workbook_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2000))
    with pytest.raises(DataError, match=r"a\.xlsx: is protected by a password"):
        open_file(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": 1, "a": 2}', "object 2 has a key twice"),
        ("[1]", "object 2 is not an object"),
        ('{"a": [1]}', "column 'a' holds lists or objects"),
        ('{"a": 1', "not a JSON Lines file, or a damaged one"),
    ],
)
def test_lines_of_no_table_are_refused(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n')
    with pytest.raises(DataError, match=said):
        open_file(path)


def test_values_of_json_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"A": "007", "a": 12345678901234567890123, "x\\"y.z": 1.5, "mixed": 1}\n'
        '{"A": null, "a": 2, "mixed": "b"}\n'
    )
    with open_file(path) as relation:
        assert relation.columns == ("A", "a", 'x"y.z', "mixed")
        assert rows(relation) == [
            ("007", "12345678901234567890123", "1.5", "1"),
            (None, "2", None, "b"),
        ]


def test_categories_and_odd_types_of_arrow_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    table = pa.table(
        {
            "ward": pa.array(["A", None, "B"]).dictionary_encode(),
            "day": pa.array([date(2024, 2, 29)] * 3),
            "view": pa.array(["x", "y", "z"], pa.string_view()),
        }
    )
    feather.write_feather(table, str(path), compression="zstd")
    with open_file(path) as relation:
        assert rows(relation) == [
            ("A", "2024-02-29", "x"),
            (None, "2024-02-29", "y"),
            ("B", "2024-02-29", "z"),
        ]


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity"])
def test_numbers_of_json_that_64_bits_lack_are_refused(number: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": 1, "b": 2.5}}\n{{"b": null}}\n{{"b": {number}}}\n', encoding="utf-8")
    with pytest.raises(DataError) as caught:
        open_file(path)
    assert str(caught.value) == (
        f"{path}: object 3: column 'b': no number of 64 bits is {number}; write null for a missing value, "
        "or a text, so that the column is text"
    )


def test_numbers_of_json_among_texts_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x"}\n{"a": 1e400}\n', encoding="utf-8")
    with open_file(path) as relation:
        assert [text for text, _ in relation.dictionary("a")] == ["1e400", "x"]


def test_a_column_of_stata_may_begin_with_many_hidden_values(tmp_path: Path) -> None:
    hidden = ["*"] * 150 + ["Hamburg", "Bremen"]
    codes = ColumnLabels(codes={"Hamburg": 1, "Bremen": 2})
    path = tmp_path / "release.dta"
    pq.write_table(pa.table({"town": hidden}), tmp_path / "release.parquet")
    staged = Staged(tmp_path / "release.parquet", tmp_path, frozenset(), {"town": codes})
    Stata(CsvDialect(), EngineOptions()).write(staged, path)
    with open_file(path) as relation:
        assert dict(relation.dictionary("town")) == {"*": 150, "Hamburg": 1, "Bremen": 1}


def test_the_parts_of_a_workbook_may_have_any_names(tmp_path: Path) -> None:
    usual, other = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    pd.DataFrame({"town": ["Bonn", "Köln"]}).to_excel(usual, index=False)
    with zipfile.ZipFile(usual) as archive, zipfile.ZipFile(other, "w") as moved:
        for name in archive.namelist():
            content = archive.read(name).replace(b"xl/", b"")
            if name == "xl/_rels/workbook.xml.rels":
                content = content.replace(b'Target="/', b'Target="')
            moved.writestr(name.removeprefix("xl/"), content)
    with open_file(other) as relation:
        assert rows(relation) == [("Bonn",), ("Köln",)]
