"""Distinct rows that Spark keeps against the same in memory, and their regions at the end; slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from anonymizer.data.relation import DistinctRows, InMemoryRows, KeyWords
from anonymizer.data_spark.session import Session
from anonymizer.model.table import PlacedRows
from tests.spark import running

if TYPE_CHECKING:
    from anonymizer.data_spark.relation import SparkCombinations

pytestmark = pytest.mark.spark

SIZES = (2**30, 7, 2**31, 5, 3)
"""As many codes as need two words."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


def held(seed: int, rows: int = 400) -> InMemoryRows:
    random = np.random.default_rng(seed)
    drawn = np.stack([random.integers(0, min(size, 9), rows) for size in SIZES], axis=1)
    codes = np.unique(drawn, axis=0).astype(np.int32)
    return InMemoryRows(codes, random.integers(1, 50, len(codes)).astype(np.int64), SIZES)


def in_spark(session: Session, combinations: InMemoryRows) -> SparkCombinations:
    import pyarrow as pa

    from anonymizer.data_spark.columns import to_spark
    from anonymizer.data_spark.relation import SparkCombinations

    codes, counts = combinations.fetch()
    keys = KeyWords(SIZES)
    words = dict(zip(keys.names, keys.pack(codes), strict=True))
    frame = to_spark(session, pa.table({**words, "n": counts}).to_batches())
    return SparkCombinations(session, frame, keys, "people", int(counts.sum()))


def told(rows: DistinctRows, most: int) -> list[tuple[int, ...]]:
    found = []
    for piece in rows.pieces():
        assert len(piece.counts) <= most
        found += np.column_stack([*piece.keys, piece.counts]).tolist()
    return sorted(map(tuple, found))


@pytest.mark.parametrize("most", [1 << 18, 90, 7])
def test_spark_returns_the_rows_of_memory(spark: Session, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("anonymizer.data_spark.relation.PIECE", most)
    combinations = held(1, 60 if most == 7 else 400)
    with in_spark(spark, combinations) as kept:
        assert told(kept, most) == told(combinations, 1 << 18)


def test_spark_takes_the_regions_of_rows(spark: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from anonymizer.data_spark.relation import placed_frame

    monkeypatch.setattr("anonymizer.model.table.PIECE", 100)
    (piece,) = held(3).pieces()
    number = len(piece.counts)
    placed = PlacedRows(piece.keys, np.array([number - 5, 3, 2]))
    keys = KeyWords(SIZES)
    found = placed_frame(spark, placed, keys).toArrow()
    rows = np.column_stack([found.column(name).to_numpy() for name in (*keys.names, "region")])
    expected = np.column_stack([*piece.keys, np.repeat([0, 1, 2], [number - 5, 3, 2])])
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, expected.tolist()))
