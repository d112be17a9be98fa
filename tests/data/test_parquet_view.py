"""A Parquet file counted where it is, against the same file loaded."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonymizer.data.duckdb import columns as duckdb_spread
from anonymizer.data.duckdb import columns as duckdb_values
from anonymizer.data.duckdb.database import Database, parquet
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.open import open_file
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions, quoted
from anonymizer.errors import DataError
from anonymizer.model.arrays import IntArray

ROWS = 30_000
SQL = (
    "SELECT i AS id, 'P' || i AS person, i % 7 AS few, 'c' || (i * 7919 % 12000) AS many, "
    "CASE WHEN i % 3 > 0 THEN 'x' || i % 11 END AS gaps, i / 4.0 AS number, "
    f"DATE '2020-01-01' + (i % 90)::INTEGER AS day FROM range({ROWS}) AS t(i)"
)


def written(path: Path, query: str = SQL) -> Path:
    """Write the rows of a query as Parquet."""
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' (ROW_GROUP_SIZE 4096)")
    return path


def same_classes(one: IntArray, other: IntArray) -> bool:
    """Tell whether two keys of the records tell the same records apart."""
    pairs = len(np.unique(np.column_stack([one, other]), axis=0))
    return pairs == len(np.unique(one)) == len(np.unique(other))


@pytest.fixture
def both(tmp_path: Path) -> tuple[Relation, Relation]:
    """Open the same file in place and loaded."""
    path = written(tmp_path / "a.parquet")
    loaded = open_file(path)
    assert isinstance(loaded, DuckRelation)
    loaded.load()
    return open_file(path), loaded


@pytest.mark.slow
def test_all_that_is_counted_is_the_same(both: tuple[Relation, Relation]) -> None:
    view, loaded = both
    assert (view.rows, view.columns, view.name) == (loaded.rows, loaded.columns, loaded.name)
    for column in view.columns:
        assert view.profiling.spread(column, 500, ("x1",)) == loaded.profiling.spread(column, 500, ("x1",))
        assert view.dictionary(column) == loaded.dictionary(column)
        assert np.array_equal(view.codes(column), loaded.codes(column))
        assert view.profiling.count_matching(column, "[0-9]+") == loaded.profiling.count_matching(
            column, "[0-9]+"
        )


def test_ranks_are_in_the_order_of_the_file(
    both: tuple[Relation, Relation], monkeypatch: pytest.MonkeyPatch
) -> None:
    view, loaded = both
    expected = loaded.codes("gaps")
    monkeypatch.setattr(duckdb_values, "ENUM_VALUES", 5)
    assert np.array_equal(view.codes("gaps"), expected)


@pytest.mark.slow
def test_keys_tell_records_apart_as_codes_do_and_in_their_order(both: tuple[Relation, Relation]) -> None:
    for relation in both:
        for column in relation.columns:
            relation.profiling.spread(column, 500)
            keys = relation.profiling.keys(column)
            assert keys.min() >= 0
            assert same_classes(keys, relation.codes(column).astype(np.int64))


@pytest.mark.parametrize("buckets", [1, 64])
def test_hashes_that_share_a_place_of_the_table_are_told_apart(
    buckets: int, monkeypatch: pytest.MonkeyPatch, both: tuple[Relation, Relation]
) -> None:
    monkeypatch.setattr(duckdb_spread, "BUCKETS", buckets)
    view, loaded = both
    view.profiling.spread("many", 500)
    assert same_classes(view.profiling.keys("many"), loaded.codes("many").astype(np.int64))


@pytest.mark.parametrize("last", ["'P1'", "''", "NULL", "'?'"])
def test_a_column_of_different_texts_but_one_is_counted_exactly(tmp_path: Path, last: str) -> None:
    query = f"SELECT 'P' || i AS person FROM range(30000) AS t(i) UNION ALL SELECT {last}"
    with open_file(written(tmp_path / "a.parquet", query)) as relation:
        found = relation.profiling.spread("person", 1000, ("", "?"))
        repeated = last == "'P1'"
        assert (found.distinct, found.singles) == (30_000, 29_999 if repeated else 30_000)
        assert (found.largest, found.nulls) == ((2, 0) if repeated else (1, 1))


def counted(path: Path) -> None:
    """Count every column of a file."""
    with open_file(path) as relation:
        for column in relation.columns:
            relation.profiling.spread(column, 500)


@pytest.mark.parametrize("start", [100, 60_000, 120_000])
def test_a_damaged_page_is_a_message_about_the_file(tmp_path: Path, start: int) -> None:
    path = written(tmp_path / "a.parquet")
    content = bytearray(path.read_bytes())
    content[start : start + 50_000] = b"\xff" * 50_000
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"a\.parquet: .*(damaged|not a Parquet file)"):
        counted(path)


@pytest.mark.parametrize("name", ["a[1].parquet", "a'b.parquet", "a*.parquet"])
def test_any_name_and_a_column_named_as_the_number_of_records(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    written(tmp_path / "plain.parquet", "SELECT 1 AS file_row_number, 'x' AS b").rename(path)
    with open_file(path) as relation:
        assert relation.columns == ("file_row_number", "b")
        assert relation.dictionary("file_row_number") == [("1", 1)]


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("kind", "lowest", "number"),
    [("TINYINT", -128, 256), ("UTINYINT", 0, 256), ("SMALLINT", -32768, 65536), ("USMALLINT", 0, 65536)],
)
def test_whole_numbers_over_all_of_their_type(tmp_path: Path, kind: str, lowest: int, number: int) -> None:
    query = f"SELECT ({lowest} + i)::{kind} AS a FROM range({number}) AS t(i)"
    relation = open_file(written(tmp_path / "a.parquet", query))
    texts = [text for text, _ in relation.dictionary("a")]
    assert [int(texts[code] or 0) for code in relation.codes("a")] == list(range(lowest, lowest + number))


@pytest.mark.parametrize("values", [[1.0, np.nan], [5.0, 5.0, np.nan, None], [1.0, 2.0, np.nan]])
def test_statistics_without_nan_hide_no_record(tmp_path: Path, values: list[float | None]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"number": pa.array(values)}), path)
    with Database(EngineOptions()) as database:
        assert database.rows(f"SELECT count(*) FROM {parquet(quoted(path))} WHERE isnan(number)") == [(1,)]
    with open_file(path) as relation:
        assert relation.profiling.count_matching("number", "nan") == 1
        assert relation.profiling.spread("number", 500, ("nan",)).nulls == 1 + values.count(None)
