"""Every registered input format conforms; formats that break a rule each are found."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from pyarrow import feather

from anonymizer.data.duckdb.csv import Csv
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import INPUT_FORMATS, DuckRelation, InputFormat
from anonymizer.data.open import input_suffixes, open_file
from anonymizer.data.source import FileSource, Naming
from anonymizer.errors import DataError, InputError
from anonymizer.testing import check_input_format
from anonymizer.testing.engine import Value


def csv_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    opened: Any = gzip.open if path.suffix == ".gz" else open
    separator = "\t" if ".tsv" in path.name else ","
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows([columns, *records])


def parquet_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    values = [[record[place] for record in records] for place in range(len(columns))]
    arrays = [pa.array(own, type=None if own else pa.string()) for own in values]
    pq.write_table(pa.table(arrays, names=list(columns)), path, row_group_size=5000)


def json_lines_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    if len(set(columns)) < len(columns):
        raise ValueError("keys of an object differ")
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        for record in records:
            line = json.dumps(dict(zip(columns, record, strict=True)), default=str, ensure_ascii=False)
            file.write(f"{line}\n")


def feather_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    values = [[record[place] for record in records] for place in range(len(columns))]
    arrays = [pa.array(own, type=None if own else pa.string()) for own in values]
    feather.write_feather(pa.table(arrays, names=list(columns)), str(path), chunksize=5000)


def excel_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    if "" in columns or any(text == "" for record in records for text in record):
        raise ValueError("an empty cell is a null")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    sheet.append(columns)
    for record in records:
        sheet.append(record)
    book.save(path)


def labelled_frame(columns: Sequence[str], records: Sequence[Sequence[Value]]) -> pd.DataFrame:
    """Return records as a frame, if files with labels can hold them."""
    texts = [text for record in records for text in record if isinstance(text, str)]
    if not all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) for name in columns):
        raise ValueError("a name that is no name of a variable")
    if len({name.lower() for name in columns}) < len(columns):
        raise ValueError("names that differ in case alone")
    if any(text != text.rstrip(" ") or text == "" for text in texts) or any(None in own for own in records):
        raise ValueError("a text that ends in a space, or a missing text")
    return pd.DataFrame([list(record) for record in records], columns=list(columns))


def spss_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    frame = labelled_frame(columns, records)
    pyreadstat.write_sav(frame, path, compress=path.suffix.lower() == ".zsav")


def stata_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    pyreadstat.write_dta(labelled_frame(columns, records), path)


def sas_file(path: Path, columns: Sequence[str], records: Sequence[Sequence[Value]]) -> None:
    pyreadstat.write_xport(labelled_frame(columns, records), path, file_format_version=8)


WRITERS = {
    "csv": csv_file,
    "parquet": parquet_file,
    "json-lines": json_lines_file,
    "feather": feather_file,
    "excel": excel_file,
    "spss": spss_file,
    "stata": stata_file,
    "sas": sas_file,
}
"""How to write a file of each input format, by its name; ``check_input_format`` describes the function."""

# Nothing but SAS itself writes .sas7bdat.
CASES = [
    (name, suffix)
    for name in INPUT_FORMATS
    for suffix in INPUT_FORMATS[name].suffixes
    if suffix != ".sas7bdat"
]


@pytest.mark.quick(2)
@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_conforms(name: str, suffix: str) -> None:
    check_input_format(suffix, WRITERS[name])


def again(database: Database, source: FileSource, relation: DuckRelation, **changed: Any) -> DuckRelation:
    """Return a changed table as a relation that differs from the one before as given."""
    naming = Naming(relation.columns, relation.renamed)
    own = {"naming": naming, "sha256": relation.sha256, "separator": relation.separator, **changed}
    return DuckRelation(database, str(source.path), own.pop("naming"), **own)


class Altered(Csv):
    """Reads CSV, and then changes the table."""

    name = "false"
    suffixes = (".false",)
    statement = "SELECT 1"

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        relation = super().load(database, source, folder)
        database.run(self.statement)
        return again(database, source, relation)


class Trims(Altered):
    statement = "UPDATE records SET c0 = trim(c0)"


class LosesZeros(Altered):
    statement = "UPDATE records SET c0 = coalesce(TRY_CAST(c0 AS BIGINT)::VARCHAR, c0)"


class TakesNulls(Altered):
    statement = "UPDATE records SET c0 = nullif(c0, 'NULL')"


class Reverses(Altered):
    statement = "CREATE OR REPLACE TABLE records AS FROM records ORDER BY rowid DESC"


class ReadsOnePiece(Altered):
    statement = "DELETE FROM records WHERE rowid >= 2048"


class HidesNames(Altered):
    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        relation = Csv.load(self, database, source, folder)
        return again(database, source, relation, naming=Naming(relation.columns))


class HashesNothing(Altered):
    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        return again(database, source, Csv.load(self, database, source, folder), sha256="0" * 64)


class Crashes(Altered):
    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        try:
            return Csv.load(self, database, source, folder)
        except DataError:
            raise ValueError("no comma") from None


class ReadsAnything(Altered):
    """Takes a file that is no text for one record."""

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        try:
            return Csv.load(self, database, source, folder)
        except DataError:
            database.run("CREATE OR REPLACE TABLE records AS SELECT 'x' AS c0")
            return DuckRelation(database, str(source.path), Naming(("a",)))


@contextmanager
def registered(plug_in: type[InputFormat]) -> Iterator[None]:
    INPUT_FORMATS.add(plug_in)
    try:
        yield
    finally:
        INPUT_FORMATS.remove(plug_in.name)


@pytest.mark.parametrize(
    ("plug_in", "fault"),
    [
        (Trims, "dictionary of 'text'"),
        (LosesZeros, "dictionary of 'text'"),
        (TakesNulls, "dictionary of 'text'"),
        (Reverses, "codes of 'text'"),
        (ReadsOnePiece, "2048 records of 12000"),
        (HidesNames, "no warning"),
        (HashesNothing, "the hash of the file is 0000"),
        (Crashes, "raises ValueError, not DataError"),
        (ReadsAnything, "is read"),
    ],
)
def test_a_false_format_is_found(plug_in: type[InputFormat], fault: str) -> None:
    with registered(plug_in), pytest.raises(AssertionError, match=fault):
        check_input_format(".false", csv_file)


def test_the_format_below_the_false_ones_conforms() -> None:
    with registered(Altered):
        check_input_format(".false", csv_file)


class Grows(Altered):
    """Its file changes after it has been loaded."""

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        relation = Csv.load(self, database, source, folder)
        with source.path.open("a") as file:
            file.write("z\n")
        return relation


def test_a_file_that_changes_while_it_is_loaded_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.false"
    path.write_text("a\nx\n")
    with registered(Grows), pytest.raises(DataError, match=r"a\.false: changed while it was being read"):
        open_file(path)


def test_an_added_format_is_listed_and_two_for_one_suffix_are_refused(tmp_path: Path) -> None:
    path, first = tmp_path / "a.false", re.escape(input_suffixes()[0])
    with pytest.raises(DataError, match=rf"unknown kind of file '\.false'; accepted: {first},"):
        open_file(path)

    class Other(Altered):
        name = "other"

    with registered(Altered):
        with pytest.raises(DataError, match=r"accepted: .*\.false.*\.parquet"):
            open_file(tmp_path / "a.unknown")
        with registered(Other), pytest.raises(InputError, match="'false' and 'other' read such files"):
            open_file(path)
