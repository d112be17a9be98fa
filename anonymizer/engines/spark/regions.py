"""Combinations that Spark keeps, in regions that are cut."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from anonymizer.data.distinct_rows import counts_by_values, region_sums, traces_sql
from anonymizer.engines.spark.failures import reading
from anonymizer.engines.spark.frames import lookup, small_frame
from anonymizer.engines.spark.keys import KeyWords
from anonymizer.engines.spark.pieces import RESULT, noted_schema, noting, pieces_of, working
from anonymizer.model.arrays import IntArray
from anonymizer.model.out_of_core import (
    CodedRows,
    FirstRegions,
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
    Stopped,
    Work,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, GroupedData

    from anonymizer.engines.spark.session import Session

T = TypeVar("T")

AT_ONCE = 32
"""Pieces that workers are given in one job; between two jobs the user may have ended the search."""


class SparkRegions(RegionStore):
    """Regions of the combinations in a frame.

    Parameters
    ----------
    frame: the words of the packed codes, distinct, and the number of records, ``n``.
    keys: how codes are packed; quasi-identifiers first.
    name: of the input, for messages.
    first: the regions that cuts begin with.
    coded: what is summed up.
    """

    def __init__(
        self,
        session: Session,
        frame: DataFrame,
        keys: KeyWords,
        name: str,
        first: FirstRegions,
        coded: CodedRows,
    ) -> None:
        self._keys, self._name, self._traces = keys, name, coded.traces
        self._width = len(first.of_code)
        self._words = [self._word(word) for word in coded.words]
        self._kept: list[DataFrame] = []
        self._asked: IntArray | None = None
        self._histograms: list[RegionSums] = []
        self._ends: SparkRegions | None = None
        self._known = 0
        with reading(name):
            self._frame = self._begun(session, frame, first)

    def _word(self, adds: Mapping[int, IntArray]) -> str:
        """Return SQL for the number that a combination is written as."""
        terms = (lookup(own.tolist(), self._keys.code(position), "BIGINT") for position, own in adds.items())
        return " + ".join(terms)

    def _begun(self, session: Session, frame: DataFrame, first: FirstRegions) -> DataFrame:
        """Return the combinations that are in a region, and which."""
        if first.every and len(first.codes) == 1:
            return frame.selectExpr(*self._keys.names, "n", "0 AS region")
        own = KeyWords(self._keys.sizes[: self._width])
        codes = [lookup(new.tolist(), self._keys.code(place)) for place, new in enumerate(first.of_code)]
        asked = [each.replace(" AS w", " AS f") for each in own.packed(codes)]
        told = frame.selectExpr(*self._keys.names, "n", *asked)
        listed: dict[str, Any] = {f"j{place}": word for place, word in enumerate(own.pack(first.codes))}
        listed["region"] = np.arange(len(first.codes), dtype=np.int32)
        equal = [told[f"f{place}"] == _column(f"j{place}") for place in range(len(own.names))]
        joined = told.join(small_frame(session, listed), on=equal, how="inner")
        return self._keeping(joined.selectExpr(*self._keys.names, "n", "region"))

    def _keeping(self, frame: DataFrame) -> DataFrame:
        """Let Spark keep a frame from its first use on, and the one before it until then."""
        from pyspark import StorageLevel  # noqa: PLC0415 - comes with the extra

        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        if len(self._kept) > 2:
            self._kept.pop(0).unpersist()
        return frame

    def sums(self, regions: IntArray) -> RegionSums:
        """Sum up whole regions."""
        with reading(self._name):
            found = self._summed(self._in(regions), ["CAST(0 AS BIGINT) AS code"], ["region", "code"])
        return region_sums(found, self._traces)

    def histogram(self, regions: IntArray, position: int) -> RegionSums:
        """Sum up the combinations with each code of a quasi-identifier in each of some regions.

        All quasi-identifiers are summed up in one job, as each is asked about and jobs are slow to begin.
        """
        if self._asked is None or not np.array_equal(self._asked, regions):
            codes = ", ".join(self._keys.code(place) for place in range(self._width))
            with reading(self._name):
                told = [f"posexplode(array({codes})) AS (place, code)"]
                found = self._summed(self._in(regions), told, ["place", "region", "code"])
            ends = np.searchsorted(found["place"], np.arange(self._width + 1))
            self._histograms = [
                region_sums({name: own[first:last] for name, own in found.items()}, self._traces)
                for first, last in pairwise(ends)
            ]
            self._asked = regions.copy()
        return self._histograms[position]

    def _summed(self, rows: DataFrame, told: Sequence[str], groups: Sequence[str]) -> dict[str, IntArray]:
        words = (f"{word} AS c{place}" for place, word in enumerate(self._words))
        sums = ["count(*) AS combinations", "sum(n) AS records", *traces_sql(self._traces)]
        grouped = rows.selectExpr("region", "n", *words, *told).groupBy(*groups)
        return _arrays(grouped.agg(*map(_expression, sums)), groups)

    def sensitive_counts(self, regions: IntArray) -> SensitiveCounts:
        """Count the records of each combination of sensitive values in each of some regions."""
        return self._sensitive(self._in(regions))

    def sides(self, cuts: Sequence[RegionCut]) -> SensitiveCounts:
        """Return the same for the sides that cuts of different regions would have."""
        sides = self._frame.selectExpr(*self._keys.names, "n", f"{self._after(cuts, '-1')} AS region")
        return self._sensitive(sides.where("region >= 0"))

    def _sensitive(self, frame: DataFrame) -> SensitiveCounts:
        places = range(self._width, len(self._keys.sizes))
        names = ["region", *(f"s{number}" for number in range(len(places)))]
        codes = (f"{self._keys.code(place)} AS s{number}" for number, place in enumerate(places))
        with reading(self._name):
            rows = frame.selectExpr("region", "n", *codes).groupBy(*names)
            found = _arrays(rows.agg(_expression("sum(n) AS records")), names)
        return counts_by_values(found, len(places))

    def cut(self, cuts: Sequence[RegionCut]) -> None:
        """Cut regions in two."""
        self._asked = None
        with reading(self._name):
            after = f"CAST({self._after(cuts, 'region')} AS INT) AS region"
            self._frame = self._keeping(self._frame.selectExpr(*self._keys.names, "n", after))

    def _after(self, cuts: Sequence[RegionCut], otherwise: str) -> str:
        """Return SQL for the side of the cuts that a combination is on."""
        cases = (
            f"WHEN {own.region} THEN {own.left + 1} - "
            + lookup(own.goes_left.astype(np.int64).tolist(), self._keys.code(own.position))
            for own in cuts
        )
        return f"CASE region {' '.join(cases)} ELSE {otherwise} END"

    def fetch(self, regions: IntArray) -> RegionRows:
        """Return the combinations of some regions."""
        with reading(self._name):
            found = _arrays(self._in(regions), ())
        words = [found[name] for name in self._keys.names]
        return RegionRows(self._keys.unpack(words), found["n"], found["region"])

    def each(self, batches: Sequence[IntArray], work: Work[T], stopped: Stopped) -> Iterator[T]:
        """Let workers do some work with the combinations of batches of regions; only results come here.

        Batches are divided into the same pieces on every cluster.
        """
        pieces = pieces_of(batches)
        for start in range(0, len(pieces), AT_ONCE):
            some = pieces[start : start + AT_ONCE]
            piece_of = np.full(max(int(piece[-1]) for piece in some) + 1, -1, dtype=np.int64)
            for number, piece in enumerate(some):
                piece_of[piece] = number
            with reading(self._name):
                rows = self._in(np.flatnonzero(piece_of >= 0))
                told = rows.selectExpr("*", f"{lookup(piece_of.tolist(), 'region')} AS piece")
                found = self._done(told.groupBy("piece"), work, stopped=stopped())
            results = dict(zip(found.column("piece").to_pylist(), found.column("result"), strict=True))
            for number in sorted(results):
                yield pickle.loads(results.pop(number).as_py())

    def _done(self, pieces: GroupedData, work: Work[T], *, stopped: bool) -> Any:
        """Return the results of pieces as a table of Arrow; note where their rows are, if that is asked."""
        if self._ends is None:
            return pieces.applyInArrow(working(self._keys, work, stopped=stopped), RESULT).toArrow()
        done = pieces.applyInArrow(noting(self._keys, work, stopped=stopped), noted_schema(self._keys))
        done = self._ends._held(done)
        found = done.where("result IS NOT NULL").select("piece", "result", "regions").toArrow()
        regions = found.sort_by("piece").column("regions").to_numpy()
        first = self._known + np.cumsum(regions) - regions
        self._known += int(regions.sum())
        region = f"CAST(region + {lookup(first.tolist(), 'piece')} AS INT) AS region"
        self._ends._add(done.where("result IS NULL").selectExpr(*self._keys.names, "n", region))
        return found

    def ends(self, ended: IntArray) -> SparkRegions:
        """Return the regions at the end, which Spark keeps as the work finds them."""
        ends = copy(self)
        ends._kept, ends._asked, ends._histograms = [], None, []
        self._ends, self._known = ends, len(ended)
        number = np.full(int(ended.max(initial=0)) + 1, -1, dtype=np.int64)
        number[ended] = np.arange(len(ended))
        region = f"{lookup(number.tolist(), 'region')} AS region"
        with reading(self._name):
            ends._frame = ends._held(self._in(np.sort(ended)).selectExpr(*self._keys.names, "n", region))
        return ends

    @property
    def frame(self) -> DataFrame:
        """The combinations: their keys, their records n, and their region."""
        return self._frame

    def _held(self, frame: DataFrame) -> DataFrame:
        """Let Spark keep a frame until these regions are closed."""
        from pyspark import StorageLevel  # noqa: PLC0415 - comes with the extra

        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return frame

    def _add(self, frame: DataFrame) -> None:
        self._frame = self._frame.unionAll(frame)

    def note(self, rows: RegionRows, region: IntArray) -> None:
        """Do nothing: the processes that do the work note it."""

    def _in(self, regions: IntArray) -> DataFrame:
        """Return the combinations of some regions, whose numbers are ascending."""
        if len(regions) and int(regions[-1]) + 1 == len(regions):
            # Of the first ones no list is needed, which is slow to read where they are very many.
            return self._frame.where(f"region < {len(regions)}")
        asked = np.zeros(int(regions.max(initial=0)) + 1, dtype=np.int64)
        asked[regions] = 1
        within = f"region < {len(asked)} AND {lookup(asked.tolist(), f'least(region, {len(asked) - 1})')} = 1"
        return self._frame.where(within)

    def close(self) -> None:
        """Let Spark forget them; a second call does nothing."""
        while self._kept:
            with suppress(Exception):
                self._kept.pop().unpersist()


def _arrays(frame: DataFrame, order: Sequence[str]) -> dict[str, IntArray]:
    """Return the columns of a frame of whole numbers, int64, sorted by some of them."""
    table = frame.toArrow()
    found = {name: table.column(name).to_numpy().astype(np.int64, copy=False) for name in table.column_names}
    if not order:
        return found
    rows = np.lexsort([found[name] for name in reversed(order)])
    return {name: own[rows] for name, own in found.items()}


def _column(name: str) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

    return functions.col(name)


def _expression(sql: str) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

    return functions.expr(sql)
