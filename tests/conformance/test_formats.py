"""Every registered input format conforms; formats that break a rule each are found."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.files import Csv
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


WRITERS = {"csv": csv_file, "parquet": parquet_file}
"""How to write a file of each input format, by its name; ``check_input_format`` describes the function."""

CASES = [(name, suffix) for name in INPUT_FORMATS for suffix in INPUT_FORMATS[name].suffixes]


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
            open_file(tmp_path / "a.xlsx")
        with registered(Other), pytest.raises(InputError, match="'false' and 'other' read such files"):
            open_file(path)
