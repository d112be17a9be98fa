"""Regions that Spark keeps against the same in memory; slow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from anonymizer.data.distinct_rows import InMemoryRows
from anonymizer.data_spark import distinct_rows as pieces
from anonymizer.data_spark import distinct_rows as regions
from anonymizer.data_spark.columns import KeyWords, to_spark
from anonymizer.data_spark.distinct_rows import SparkCombinations
from anonymizer.data_spark.session import Session
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import GroupStatistic, Reduction
from anonymizer.model.out_of_core import (
    CodedRows,
    FirstRegions,
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
    Stopped,
    WorkResult,
    never_stopped,
)
from tests.spark import running

pytestmark = pytest.mark.spark

SIZES = (9, 7, 9, 5, 3)
"""Of three quasi-identifiers and two sensitive attributes."""

WIDE = (2**30, 7, 2**31, 5, 3)
"""As many codes as need two words."""

QUASI = 3


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


def held(seed: int, rows: int = 400) -> InMemoryRows:
    random = np.random.default_rng(seed)
    drawn = np.stack([random.integers(0, min(size, 9), rows) for size in SIZES], axis=1)
    codes = np.unique(drawn, axis=0).astype(np.int32)
    return InMemoryRows(codes, random.integers(1, 50, len(codes)).astype(np.int64), SIZES)


def in_spark(session: Session, combinations: InMemoryRows, keys: KeyWords) -> SparkCombinations:
    import pyarrow as pa

    codes, counts = combinations.fetch()
    words = dict(zip(keys.names, keys.pack(codes), strict=True))
    frame = to_spark(session, pa.table({**words, "n": counts}).to_batches())
    return SparkCombinations(session, frame, keys, "people", int(counts.sum()))


def coded(random: np.random.Generator) -> CodedRows:
    def adds(most: int) -> dict[int, IntArray]:
        return {place: random.integers(0, most, SIZES[place]) for place in range(QUASI)}

    traces = (
        GroupStatistic(0, Reduction.MIN),
        GroupStatistic(0, Reduction.MAX),
        GroupStatistic(1, Reduction.OR),
        GroupStatistic(2, Reduction.AND),
    )
    return CodedRows((adds(2**60), adds(2**30), {1: random.integers(0, 2**61, SIZES[1])}), traces)


def first_of(combinations: InMemoryRows, *, every: bool) -> FirstRegions:
    """Return regions of the first quasi-identifier halved; where not every row is in one, of some of them."""
    codes, _ = combinations.fetch()
    of_code = tuple(
        (np.arange(size) // 2 * 2 if place == 0 else np.zeros(size)).astype(np.int32)
        for place, size in enumerate(SIZES[:QUASI])
    )
    stands = np.unique(np.stack([new[codes[:, place]] for place, new in enumerate(of_code)], axis=1), axis=0)
    return FirstRegions(of_code, stands if every else stands[1:], every)


def cuts_of(random: np.random.Generator, regions: IntArray, left: int) -> list[RegionCut]:
    made = []
    for number, region in enumerate(regions.tolist()):
        place = int(random.integers(QUASI))
        goes_left = random.random(SIZES[place]) < 0.5
        made.append(RegionCut(region, place, goes_left, left + 2 * number))
    return made


def same_sums(one: RegionSums, other: RegionSums) -> None:
    for name in ("region", "code", "combinations", "records"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    for found, expected in zip(one.traces, other.traces, strict=True):
        assert_array_equal(found, expected)


def same_counts(one: SensitiveCounts, other: SensitiveCounts) -> None:
    for name in ("region", "codes", "counts"):
        assert_array_equal(getattr(one, name), getattr(other, name))


def sorted_rows(rows: RegionRows) -> list[tuple[int, ...]]:
    told = np.column_stack([rows.region, rows.codes, rows.counts])
    return sorted(map(tuple, told.tolist()))


def work(rows: RegionRows, stopped: Stopped) -> WorkResult[tuple[list[tuple[int, ...]], bool]]:
    """Cut each region in two, by the last code of its rows where that tells rows apart."""
    _, region = np.unique(np.stack([rows.region, rows.codes[:, -1] % 2], axis=1), axis=0, return_inverse=True)
    return WorkResult((sorted_rows(rows), stopped()), region.ravel())


def compare(found: RegionStore, expected: RegionStore, regions: IntArray) -> None:
    same_sums(found.sums(regions), expected.sums(regions))
    same_counts(found.sensitive_counts(regions[::2]), expected.sensitive_counts(regions[::2]))
    for place in range(QUASI):
        same_sums(found.histogram(regions[1:], place), expected.histogram(regions[1:], place))


@pytest.mark.parametrize(("seed", "every"), [(1, True), (2, False)])
def test_spark_tells_of_regions_what_memory_tells(spark: Session, seed: int, every: bool) -> None:
    random = np.random.default_rng(seed)
    combinations, told = held(seed), coded(random)
    first = first_of(combinations, every=every)
    number = len(first.codes)
    expected = combinations.in_regions(first, told)
    with (
        in_spark(spark, combinations, KeyWords(WIDE)) as kept,
        kept.in_regions(first, told) as found,
    ):
        compare(found, expected, np.arange(number))
        asked = np.arange(number)[1:]
        cuts = cuts_of(random, asked, number)
        same_counts(found.sides(cuts), expected.sides(cuts))
        for each in (found, expected):
            each.cut(cuts)
        further = cuts_of(random, np.array([number, number + 3]), 3 * number)
        for each in (found, expected):
            each.cut(further)
        every_region = np.arange(3 * number + 4)
        compare(found, expected, every_region)
        assert sorted_rows(found.fetch(every_region[2:])) == sorted_rows(expected.fetch(every_region[2:]))
        batches = [every_region[:4], every_region[4:]]
        for stopped in (never_stopped, lambda: True):
            done = list(found.each(batches, work, stopped))
            assert sorted(row for rows, _ in done for row in rows) == sorted_rows(
                expected.fetch(every_region)
            )
            assert {told for _, told in done} == {stopped()}
        assert [rows for rows, _ in done] == [rows for rows, _ in found.each(batches, work, never_stopped)]


def test_spark_keeps_the_regions_at_the_end(spark: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbered as memory does that works on the same pieces; also of several jobs."""
    monkeypatch.setattr(regions, "AT_ONCE", 3)
    combinations, told = held(3), coded(np.random.default_rng(3))
    first = first_of(combinations, every=False)
    given = np.arange(len(first.codes))
    ended, batches = given[[2, 0]], [given[1:2], given[3:]]
    expected = combinations.in_regions(first, told)
    ends = expected.ends(ended)
    assert len(list(expected.each(pieces.pieces_of(batches), work, never_stopped))) == len(given) - 2
    with in_spark(spark, combinations, KeyWords(WIDE)) as kept, kept.in_regions(first, told) as found:
        by_spark = found.ends(ended)
        assert len(list(found.each(batches, work, never_stopped))) == len(given) - 2
        every_region = np.arange(len(ends.sums(np.arange(999)).region))
        same_sums(by_spark.sums(every_region), ends.sums(every_region))
        assert len(every_region) > len(given)
    # The regions before are closed by now.
    same_sums(by_spark.sums(every_region[3:]), ends.sums(every_region[3:]))
    by_spark.close()


def test_regions_that_ended_come_in_any_order(spark: Session) -> None:
    """As many as the number of the last one, though the first of all were cut."""
    combinations, told = held(5), coded(np.random.default_rng(5))
    whole = tuple(np.zeros(size, dtype=np.int32) for size in SIZES[:QUASI])
    first = FirstRegions(whole, np.zeros((1, QUASI), dtype=np.int32), every=True)
    expected = combinations.in_regions(first, told)
    ended = np.array([3, 4, 2])
    with in_spark(spark, combinations, KeyWords(WIDE)) as kept, kept.in_regions(first, told) as found:
        for region, left in ((0, 1), (1, 3)):
            cut = RegionCut(region, region, np.arange(SIZES[region]) % 2 == 0, left)
            found.cut([cut])
            expected.cut([cut])
        with found.ends(ended) as by_spark:
            same_sums(by_spark.sums(np.arange(3)), expected.ends(ended).sums(np.arange(3)))
