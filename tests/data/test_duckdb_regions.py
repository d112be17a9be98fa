"""Regions that DuckDB keeps, against the same in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from anonymizer.data.distinct_rows import InMemoryRows, places_of
from anonymizer.data.duckdb.columns import packed_sql
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.distinct_rows import DuckCombinations
from anonymizer.data.source import EngineOptions
from anonymizer.model.classes import GroupStatistic, Reduction
from anonymizer.model.out_of_core import CodedRows, FirstRegions, RegionCut, RegionSums

SIZES = (9, 4, 70, 1100, 3)
"""Looked up as bits, in stretches, from a list and from a table; the last is sensitive."""

QUASI = 4


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with Database(EngineOptions(threads=1)) as opened:
        yield opened


def drawn(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    codes = np.stack([random.integers(0, size, 600) for size in SIZES], axis=1).astype(np.int32)
    codes = np.unique(codes, axis=0)
    return codes, random.integers(1, 400, len(codes))


def in_duckdb(database: Database, codes: np.ndarray, counts: np.ndarray) -> DuckCombinations:
    columns = {f"k{place}": own for place, own in enumerate(codes.T)}
    keys = ", ".join(packed_sql(places_of(SIZES), list(columns)))
    with database.holding("drawn", {**columns, "n": counts}):
        return DuckCombinations(database, SIZES, f"SELECT {keys}, n FROM drawn")


def same(one: RegionSums, other: RegionSums) -> None:
    for name in ("region", "code", "combinations", "records"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    for found, expected in zip(one.traces, other.traces, strict=True):
        assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_asked_before_and_after_cuts(database: Database, seed: int) -> None:
    """Sums of sides follow from histograms where these were asked, else they are asked anew."""
    random = np.random.default_rng(seed)
    codes, counts = drawn(random)
    adds = {place: random.integers(0, 2**40, SIZES[place]) for place in range(QUASI)}
    traces = tuple(GroupStatistic(0, own) for own in Reduction)
    coded = CodedRows((adds,), traces)
    halves = (np.arange(SIZES[0]) // 5 * 5).astype(np.int32)
    others = [np.zeros(size, dtype=np.int32) for size in SIZES[1:QUASI]]
    first = FirstRegions((halves, *others), np.array([[0, 0, 0, 0], [5, 0, 0, 0]], dtype=np.int32), True)
    held = InMemoryRows(codes, counts, SIZES).in_regions(first, coded)
    with in_duckdb(database, codes, counts) as kept, kept.in_regions(first, coded) as found:
        regions, left = np.arange(2), 2
        for level in range(4):
            same(found.sums(regions), held.sums(regions))
            for position in range(QUASI) if level != 1 else ():
                same(found.histogram(regions, position), held.histogram(regions, position))
            cuts = [
                RegionCut(region, (level + region) % QUASI, sides, left + 2 * number)
                for number, region in enumerate(regions.tolist())
                for sides in [random.random(SIZES[(level + region) % QUASI]) < 0.5]
            ]
            mine, theirs = found.sides(cuts), held.sides(cuts)
            for name in ("region", "codes", "counts"):
                assert_array_equal(getattr(mine, name), getattr(theirs, name))
            found.cut(cuts)
            held.cut(cuts)
            regions, left = np.arange(left, left + 2 * len(cuts)), left + 2 * len(cuts)
            regions = regions[random.random(len(regions)) < 0.8] if level else regions
        rows, expected = found.fetch(regions), held.fetch(regions)
        told = [np.column_stack([own.region, own.codes, own.counts]) for own in (rows, expected)]
        assert sorted(map(tuple, told[0].tolist())) == sorted(map(tuple, told[1].tolist()))
