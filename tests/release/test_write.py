"""Releases written and read back: same texts, an order of their own, nothing else in the file."""

from __future__ import annotations

import csv
import gzip
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.data.frames import FrameQuery
from anonymizer.data.open import open_file, open_frame
from anonymizer.data.relation import Relation
from anonymizer.data.source import CSV_FILES, PARQUET_FILES, CsvDialect
from anonymizer.errors import OutputError
from anonymizer.model.identity import text_identity
from anonymizer.release.folder import check_name
from anonymizer.release.query import project
from tests import strategies
from tests.data.files import frame, rows, texts, write
from tests.release.recodings import Given, first_letters

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(texts, min_size=width, max_size=width), min_size=1, max_size=8)
)


def _unchanged(
    relation: Relation, path: Path, columns: Sequence[str] | None = None, *, shuffled: bool = False
) -> None:
    everyone = np.zeros(relation.rows, dtype=np.int32)
    projection = project(relation, everyone, Given((), [False]), columns or relation.columns)
    relation.records_query(projection, shuffled=shuffled).write(path, CsvDialect.usual(path.name))


SUFFIXES = CSV_FILES.suffixes + PARQUET_FILES.suffixes
"""Of the files that the engines write themselves."""


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(tables, strategies.randoms())
def test_any_text_survives_and_the_order_of_the_input_does_not(
    records: list[list[str]], rng: random.Random
) -> None:
    names = [f'a "{number}" b' for number in range(len(records[0]))]
    with tempfile.TemporaryDirectory() as folder:
        for part, given_records in (("one", records), ("two", rng.sample(records, len(records)))):
            with open_frame(frame(names, given_records)) as relation:
                for suffix in SUFFIXES:
                    _unchanged(relation, Path(folder) / f"{part}{suffix}")
        for suffix in SUFFIXES:
            one, two = (Path(folder) / f"{part}{suffix}" for part in ("one", "two"))
            assert one.read_bytes() == two.read_bytes()
            with open_file(one, CsvDialect(separator="\t" if "tsv" in suffix else ",")) as release:
                assert release.columns == tuple(names)
                assert rows(release) == sorted(map(tuple, records))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8), strategies.randoms())
def test_a_recoding_replaces_and_removes(records: list[tuple[str, str, str]], rng: random.Random) -> None:
    # Of a recoded column, one spelling of a value is published.
    records = [(text_identity(a), b, text_identity(c)) for a, b, c in records]
    expected = sorted(
        (a[:1] or "nothing", b, c[:1] or "nothing") for a, b, c in records if a[:1] != "a" and c[:1] != "a"
    )
    contents = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        for given_records in (records, rng.sample(records, len(records))):
            with open_frame(frame(["x", "y", "z"], given_records)) as relation:
                combination, recoding = first_letters(relation, ["z", "x"], drop="a")
                projection = project(relation, combination, recoding, ["z", "y", "x"])
                query = relation.records_query(projection)
                query.copy(path, ",")
                contents.add(path.read_bytes())
                assert isinstance(query, FrameQuery)
                released = query.frame()
                assert list(released.itertuples(index=False, name=None)) == expected
                assert released.index.equals(pd.RangeIndex(len(expected)))
        with path.open(encoding="utf-8", newline="") as file:
            assert list(csv.reader(file)) == [["x", "y", "z"], *map(list, expected)]
    assert len(contents) == 1


def test_the_bytes_of_a_csv_release(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", 'a,A,"b,c"\n2,"say ""hi""",\n1,=cmd|\'/C\'!A0,"x\ny"\n1, s ,é\n')
    with open_file(source) as relation:
        for suffix in (".csv", ".csv.gz"):
            _unchanged(relation, tmp_path / f"r{suffix}")
        _unchanged(relation, tmp_path / "r.tsv")
    expected = 'a,A,"b,c"\n1, s ,é\n1,=cmd|\'/C\'!A0,"x\ny"\n2,"say ""hi""",\n'.encode()
    assert (tmp_path / "r.csv").read_bytes() == expected
    packed = (tmp_path / "r.csv.gz").read_bytes()
    assert gzip.decompress(packed) == expected
    assert packed[3:8] == bytes(5), "neither a file name nor a time stamp"
    assert (tmp_path / "r.tsv").read_bytes().startswith(b"a\tA\tb,c\n")


def test_a_single_column_keeps_its_empty_texts(tmp_path: Path) -> None:
    with open_file(write(tmp_path / "a.csv", "a,b\n,1\nx,2\n,3\n")) as relation:
        _unchanged(relation, tmp_path / "r.csv", ["a"])
    assert (tmp_path / "r.csv").read_bytes() == b'a\n""\n""\nx\n'


@pytest.mark.slow
def test_a_megabyte_of_text_survives(tmp_path: Path) -> None:
    long = '"é,\n' * 250_000
    source = write(tmp_path / "a.csv", "a,b\n1,x\n2," + '"' + long.replace('"', '""') + '"\n')
    for suffix in SUFFIXES:
        with open_file(source) as relation:
            _unchanged(relation, tmp_path / f"r{suffix}")
        with open_file(tmp_path / f"r{suffix}") as release:
            assert rows(release) == [("1", "x"), ("2", long)]


def test_parquet_keeps_types_and_nulls_and_adds_nothing(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "r.parquet"
    duckdb.sql(
        "SELECT * FROM (VALUES (2::SMALLINT, 'b', DATE '2024-01-02', 'secret'), "
        "(NULL, NULL, NULL, 'hidden'), (NULL, '', DATE '2024-01-01', 'hidden')) AS t(i, t, d, name)"
    ).write_parquet(str(source))
    with open_file(source) as relation:
        _unchanged(relation, target, ["d", "i", "t"])
    described = duckdb.sql(f"DESCRIBE SELECT * FROM '{target}'").fetchall()
    assert [row[:2] for row in described] == [("i", "SMALLINT"), ("t", "VARCHAR"), ("d", "DATE")]
    assert [row[1] for row in duckdb.sql(f"SELECT * FROM '{target}'").fetchall()] == [None, "", "b"]
    assert duckdb.sql(f"SELECT * FROM parquet_kv_metadata('{target}')").fetchall() == []
    assert b"secret" not in target.read_bytes()
    assert b"hidden" not in target.read_bytes()


def test_nulls_and_empty_texts_do_not_show_the_order_of_the_input(tmp_path: Path) -> None:
    contents = set()
    for records in ([[None, "x"], ["", "x"]], [["", "x"], [None, "x"]]):
        with open_frame(frame(["a", "b"], records)) as relation:
            for suffix in (".csv", ".parquet"):
                _unchanged(relation, tmp_path / f"r{suffix}")
                contents.add((tmp_path / f"r{suffix}").read_bytes())
    assert len(contents) == 2
    assert b"a,b\n,x\n,x\n" in contents


def test_zero_is_released_without_a_sign_which_would_show_the_order_of_the_input(tmp_path: Path) -> None:
    contents = set()
    for number, values in enumerate(["(0::DOUBLE), (-0e0)", "(-0e0), (0::DOUBLE)"]):
        source, target = tmp_path / f"{number}.parquet", tmp_path / "r.parquet"
        duckdb.sql(f"SELECT * FROM (VALUES {values}) AS t(a)").write_parquet(str(source))
        with open_file(source) as relation:
            _unchanged(relation, target)
        contents.add(target.read_bytes())
        assert {str(row[0]) for row in duckdb.sql(f"SELECT * FROM '{target}'").fetchall()} == {"0.0"}
    assert len(contents) == 1


def test_parquet_refuses_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    with open_file(write(tmp_path / "a.csv", "a,A\n1,2\n")) as relation:
        with pytest.raises(OutputError, match=r"'a' and 'A' differ in case alone.*\.csv"):
            _unchanged(relation, tmp_path / "r.parquet")
        _unchanged(relation, tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b"a,A\n1,2\n"


def test_a_shuffle_holds_the_same_rows_in_another_order_each_time(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a,b\n" + "".join(f"{i},{i % 7}\n" for i in range(200)))
    found = []
    with open_file(source) as relation:
        for number in range(2):
            path = tmp_path / f"r{number}.csv"
            _unchanged(relation, path, shuffled=True)
            found.append(path.read_text().splitlines())
        combination, recoding = first_letters(relation, ["b"], drop="3")
        projection = project(relation, combination, recoding, ["a", "b"])
        relation.records_query(projection, shuffled=True).copy(tmp_path / "kept.csv", ",")
    kept = (tmp_path / "kept.csv").read_text().splitlines()[1:]
    assert Counter(found[0]) == Counter(found[1]) == Counter(source.read_text().splitlines())
    assert found[0][0] == found[1][0] == "a,b"
    assert found[0] != found[1]
    expected = {i: i % 7 for i in range(200) if i % 7 != 3}
    assert sorted(int(line.partition(",")[0]) for line in kept) == list(expected)


def test_a_frame_keeps_the_types_of_what_is_unchanged() -> None:
    data = pd.DataFrame(
        {
            "age": [30, 41, 7],
            "job": pd.Categorical(["b", "a", "c"], categories=["c", "b", "a", "unused"]),
            "day": pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-03"]),
            "note": pd.array([1, None, 3], dtype="Int64"),
        },
        index=[5, 6, 7],
    )
    data.attrs["origin"] = "secret"
    before = data.copy()
    with open_frame(data) as relation:
        combination, recoding = first_letters(relation, ["age"], drop="7")
        query = relation.records_query(project(relation, combination, recoding, list(data.columns)))
        assert isinstance(query, FrameQuery)
        released = query.frame()
    assert released["age"].tolist() == ["3", "4"]
    assert released.dtypes[["day", "note"]].equals(data.dtypes[["day", "note"]])
    assert released["job"].cat.categories.tolist() == ["b", "a"]
    assert released["note"].isna().tolist() == [False, True]
    assert released.attrs == {}
    pd.testing.assert_frame_equal(data, before)


def test_kinds_of_file() -> None:
    with pytest.raises(OutputError, match=r"'a\.ods'.*\.csv\.gz"):
        check_name("a.ods")
    for name in (".csv", "csv"):
        with pytest.raises(OutputError):
            check_name(name)


FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np
from anonymizer.data.open import open_file
from anonymizer.errors import OutputError
from anonymizer.release.query import project
from tests.release.recodings import Given
with open_file(Path(sys.argv[1])) as relation:
    everyone = np.zeros(relation.rows, dtype=np.int32)
    projection = project(relation, everyone, Given((), [False]), relation.columns)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        relation.records_query(projection).copy(Path(sys.argv[2]), ",")
    except OutputError as error:
        print(error)
"""


@pytest.mark.quick(1)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_full_disk_is_an_error_of_the_output(suffix: str, tmp_path: Path) -> None:
    rng = random.Random(0)
    lines = "".join(f"{rng.random()},{rng.random()}\n" for _ in range(20_000))
    source = write(tmp_path / "a.csv", "a,b\n" + lines)
    command = [sys.executable, "-c", FULL_DISK, str(source), str(tmp_path / f"r{suffix}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"r{suffix}: cannot be written: ")
    assert resource.getrlimit(resource.RLIMIT_FSIZE) != (100_000, 100_000)
