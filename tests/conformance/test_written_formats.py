"""Releases in formats of other programs have the texts of the release, by types and by any text."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.released import Staged, writer_of
from anonymizer.data.open import open_file
from anonymizer.data.source import CSV_FILES, PARQUET_FILES, RELEASED
from anonymizer.errors import OutputError
from anonymizer.testing.engine import check_round_trip
from tests.data.files import rows

SUFFIXES = [each for each in RELEASED if each not in (*CSV_FILES.released, *PARQUET_FILES.released)]


def whole_seconds(moment: Any) -> Any:
    return moment.replace(microsecond=0)


TYPES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": (pa.int8(), st.integers(-128, 127)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "fraction": (pa.float64(), st.floats()),
    "thin": (pa.float32(), st.floats(width=32)),
    "decimal": (pa.decimal128(20, 2), st.decimals(-(10**15), 10**15, places=2)),
    "truth": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates(date(1, 1, 1))),
    "moment": (pa.timestamp("us"), st.datetimes(datetime(1, 1, 1))),
    "second": (pa.timestamp("us"), st.datetimes(datetime(1, 1, 1)).map(whole_seconds)),
    "time": (pa.time64("us"), st.times().map(whole_seconds)),
    "text": (pa.string(), st.text(st.characters(exclude_categories=["C", "Z"]), max_size=6)),
}


@pytest.mark.quick(8)
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", TYPES)
@settings(deadline=None, max_examples=6)
@given(data=st.data())
def test_a_release_has_the_texts_of_its_values(suffix: str, kind: str, data: st.DataObject) -> None:
    stored, values = TYPES[kind]
    own = data.draw(st.lists(st.none() | values, min_size=1, max_size=6))
    with TemporaryDirectory() as folder:
        check_round_trip(suffix, staged(Path(folder), a=pa.array(own, stored), b=pa.array(range(len(own)))))


def staged(folder: Path, **columns: Any) -> Path:
    path = folder / "staged.parquet"
    pq.write_table(pa.table(columns), path)
    return path


LABELS = {
    "sex": ColumnLabels("Sex at birth", {"Male": 1, "Female": 2, "Other": 3}, {"Refused": 9}, "nominal"),
    "age": ColumnLabels("Age in years", {}, {"No answer": 999, "missing 998": 998}),
    "job": ColumnLabels("", {"Nurse": "N", "Doctor": "D"}),
}


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_keep_their_codes_and_groups_become_codes(suffix: str, tmp_path: Path) -> None:
    path = staged(
        tmp_path,
        sex=["Female", "Refused", "Female", "Male or other", None],
        age=["34", "No answer", "51", "missing 998", "7"],
        job=["Nurse", "Doctor", "Nurse", None, "Doctor"],
        years=["[20, 30)", "*", "[3, 20)", "<missing>", "[100, 120)"],
    )
    writer = writer_of(tmp_path / f"release{suffix}")
    assert writer is not None
    writer.write(Staged(path, tmp_path, {"years"}, LABELS), tmp_path / f"release{suffix}")
    reader = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}[suffix]
    found, facts = reader(tmp_path / f"release{suffix}", user_missing=True, output_format="dict")
    refused, silent, nothing, other = (9, 999, 998, 10) if suffix == ".sav" else ("a", "a", "b", 4)
    # Values that are hidden or missing are no values.
    hidden, missing = (-2, -1) if suffix == ".sav" else ("a", "b")
    assert found["sex"] == [2, refused, 2, other, None]
    assert found["age"] == [34, silent, 51, nothing, 7]
    # Texts of Stata have no labels.
    assert suffix == ".dta" or found["job"] == ["N", "D", "N", "", "D"]
    assert found["years"] == [2, hidden, 1, missing, 3]
    # Labels that no released value has may tell what was taken out.
    assert facts.variable_value_labels["sex"] == {2: "Female", other: "Male or other", refused: "Refused"}
    assert facts.variable_value_labels["years"][1] == "[3, 20)"
    assert facts.column_names_to_labels["sex"] == "Sex at birth"
    with open_file(path) as before, open_file(tmp_path / f"release{suffix}") as after:
        assert rows(after) == rows(before)


@pytest.mark.parametrize(
    ("suffix", "name", "text", "said"),
    [
        (".sav", "a", "x ", "column 'a' has the value 'x ', which SPSS cannot hold"),
        (".sav", "hours per week", "x", "SPSS has no column named 'hours per week'"),
        (".dta", "ä", "x", "Stata has no column named 'ä'"),
        (".dta", "a", "x" * 3000, "longer than the 2,045 bytes of a text; set output.path to a .csv"),
        (".xlsx", "a", "x\x01y", "with a character that cells cannot have"),
    ],
)
def test_what_a_format_cannot_hold_is_named(
    suffix: str, name: str, text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(OutputError) as refused:
        check_round_trip(suffix, staged(tmp_path, **{name: [text]}))
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["=1+1", "#N/A", "007", " a", "first\nsecond", "_x", "1e5", "<b>&amp;"])
def test_texts_that_a_workbook_would_take_for_something_else(text: str, tmp_path: Path) -> None:
    path = check_round_trip(".xlsx", staged(tmp_path, a=[text, "b"]))
    cell = openpyxl.load_workbook(path).active["A2"]
    assert (cell.value, cell.data_type) == (text, "s")
