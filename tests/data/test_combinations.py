"""Combinations against counting by hand: in memory, and in DuckDB with keys of one word and of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.distinct_rows import DuckCombinations, placed_table
from anonymizer.data.open import open_file
from anonymizer.data.relation import Coding, DistinctRows, InMemoryRows, KeyWords
from anonymizer.data.source import EngineOptions
from anonymizer.model.arrays import Packing, count_keys
from anonymizer.model.table import PlacedRows
from tests.helpers.examples import costly

Records = list[tuple[int, int, int]]
Count = Callable[[Records], DistinctRows]
VALUES = (5, 3, 4)
SHARED = settings(costly(), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def records() -> st.SearchStrategy[Records]:
    return st.lists(st.tuples(*(st.integers(0, size - 1) for size in VALUES)), min_size=1, max_size=40)


def in_memory(drawn: Records) -> DistinctRows:
    columns = np.array(drawn, dtype=np.int32).T
    packing = Packing(len(drawn))
    for codes, size in zip(columns, VALUES, strict=True):
        packing.add(codes, size)
    distinct, counts = count_keys(packing.take_keys())
    return InMemoryRows(packing.unpack(distinct), counts, VALUES)


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with Database(EngineOptions(threads=1)) as opened:
        yield opened


@pytest.fixture(params=["memory", "duckdb", "duckdb, many words"])
def count(request: pytest.FixtureRequest, database: Database) -> Count:
    if request.param == "memory":
        return in_memory
    # Sizes far beyond the values need a word of their own each.
    sizes = VALUES if request.param == "duckdb" else (2**40, 2**40, 2**31)

    def counted(drawn: Records) -> DistinctRows:
        codes = dict(zip("abc", np.array(drawn, dtype=np.int32).T, strict=True))
        keys = ", ".join(KeyWords(sizes).packed_sql(list("abc")))
        with database.holding("drawn", codes):
            return DuckCombinations(database, sizes, f"SELECT {keys}, 1 AS n FROM drawn")

    return counted


def told(combinations: DistinctRows) -> list[tuple[tuple[int, ...], int]]:
    codes, counts = combinations.fetch()
    assert codes.dtype == np.int32
    assert counts.dtype == np.int64
    assert combinations.number == len(counts)
    return list(zip(map(tuple, codes.tolist()), counts.tolist(), strict=True))


@SHARED
@given(drawn=records())
def test_they_are_sorted_with_their_records(count: Count, drawn: Records) -> None:
    with count(drawn) as combinations:
        assert told(combinations) == sorted(Counter(drawn).items())


@SHARED
@given(drawn=records(), least=st.integers(1, 5), columns=st.integers(1, 3))
def test_records_in_small_groups(count: Count, drawn: Records, least: int, columns: int) -> None:
    groups = Counter(each[:columns] for each in drawn)
    with count(drawn) as combinations:
        found = combinations.records_in_small_groups(columns, least)
    assert found == sum(size for size in groups.values() if size < least)


@SHARED
@given(
    drawn=records(),
    first=st.lists(st.integers(0, 4), min_size=5, max_size=5),
    last=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_coarser_codes_are_counted_anew(
    database: Database, drawn: Records, first: list[int], last: list[int]
) -> None:
    coarser = [np.array(first, dtype=np.int32), None, np.array(last, dtype=np.int32)]
    expected = sorted(Counter((first[a], b, last[c]) for a, b, c in drawn).items())
    codes = dict(zip("abc", np.array(drawn, dtype=np.int32).T, strict=True))
    keys = ", ".join(KeyWords(VALUES).packed_sql(list("abc")))
    with database.holding("drawn", codes):
        kept = DuckCombinations(database, VALUES, f"SELECT {keys}, 1 AS n FROM drawn")
    for combinations in (in_memory(drawn), kept):
        with combinations, combinations.rolled_up(coarser) as rolled:
            assert told(rolled) == expected
            assert rolled.sizes == VALUES


@SHARED
@given(drawn=records(), most=st.sampled_from([1, 3, 1 << 18]))
def test_they_come_in_pieces(count: Count, drawn: Records, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch, count(drawn) as combinations:
        for module in ("anonymizer.data.relation", "anonymizer.data.duckdb.distinct_rows"):
            patch.setattr(f"{module}.PIECE", most)
        keys, found = KeyWords(combinations.sizes), Counter[tuple[int, ...]]()
        for piece in combinations.pieces():
            assert 0 < len(piece.counts) <= most
            codes = keys.unpack(piece.keys)
            found.update(dict(zip(map(tuple, codes.tolist()), piece.counts.tolist(), strict=True)))
    assert found == Counter(drawn)


def test_a_database_takes_the_regions_of_rows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.model.table.PIECE", 3)
    before = database.rows("SELECT count(*) FROM duckdb_tables()")
    placed = PlacedRows((np.arange(7), np.arange(7) * 5), np.array([2, 1, 4]))
    with placed_table(database, (2**40, 2**40), placed) as table:
        rows = database.rows(f"SELECT w0, w1, region FROM {table} ORDER BY w0")
    assert rows == [(row, row * 5, region) for row, region in enumerate([0, 0, 1, 2, 2, 2, 2])]
    assert database.rows("SELECT count(*) FROM duckdb_tables()") == before


def test_a_closed_one_leaves_no_table(database: Database) -> None:
    before = database.rows("SELECT count(*) FROM duckdb_tables()")
    with DuckCombinations(database, (2,), "SELECT 1::BIGINT AS w0, 1 AS n") as kept:
        assert told(kept) == [((1,), 1)]
    kept.close()
    assert database.rows("SELECT count(*) FROM duckdb_tables()") == before


@pytest.mark.parametrize("many", [0, 30_000])
def test_a_file_is_counted_as_in_memory(tmp_path: Path, many: int) -> None:
    """Codes are any function of the texts; a column of many texts is looked up in another way."""
    path = tmp_path / "data.csv"
    lines = [f"{n % 7},{'' if n % 5 == 0 else n * 7919 % (many or 11)},x{n % 3}" for n in range(many or 60)]
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n", encoding="utf-8")
    random = np.random.default_rng(7)
    with open_file(path, options=EngineOptions(threads=1)) as relation:
        codings = []
        for name in relation.columns:
            texts = len(relation.dictionary(name))
            codings.append(Coding(name, random.permutation(texts).astype(np.int32), texts))
        with relation.stored_distinct_rows(codings) as kept:
            assert told(kept) == told(relation.combinations(codings))
            distinct = kept.number
        estimate = relation.estimated_combinations(relation.columns)
    assert estimate == pytest.approx(distinct, rel=0.2)
