"""Distinct rows stored by Spark, in the memory and on the disks of its processes, and their regions.

Spark's processes work on the rows of some regions with numpy.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from anonymizer.data.distinct_rows import DistinctRows, counts_by_values, region_sums, traces_sql
from anonymizer.data_spark.columns import KeyWords, lookup, small_frame
from anonymizer.data_spark.session import reading
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, IntArray
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
    never_stopped,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, GroupedData

    from anonymizer.data_spark.session import Session

Result = TypeVar("Result")

PIECES = 8
"""That a batch is divided into, if it has so many regions: several processes can work on it."""

RESULT = "piece INT, result BINARY"
"""What comes back of a piece: its number, and what the work returned, pickled."""


def noted_schema(keys: KeyWords) -> str:
    """Return what comes back of a piece where its rows are noted: a row as above, with the number of regions.

    Then a row for each of the piece, without a result: its keys, records, and its region from 0 on.
    """
    words = "".join(f", {name} BIGINT" for name in keys.names)
    return f"{RESULT}, regions INT, n BIGINT, region INT{words}"


def pieces_of(batches: Sequence[IntArray]) -> list[IntArray]:
    """Divide batches of regions, each ascending; the same way on every cluster."""
    return [
        piece for batch in batches for piece in np.array_split(batch, min(len(batch), PIECES)) if len(piece)
    ]


def working(keys: KeyWords, work: Work[Result], *, stopped: bool) -> Callable[[Any], Any]:
    """Return what Spark calls with the rows of a piece, in its processes.

    Parameters
    ----------
    keys: how the codes of the rows are packed.
    stopped: whether the user wants to end, so that the work does only what it has to.
    """

    def worked(rows: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        done = work(_given(keys, rows), _at_once if stopped else never_stopped)
        numbers = rows.column("piece").slice(0, 1).combine_chunks().cast(pa.int32())
        return pa.table({"piece": numbers, "result": pa.array([pickle.dumps(done.result)], pa.binary())})

    return worked


def noting(keys: KeyWords, work: Work[Result], *, stopped: bool) -> Callable[[Any], Any]:
    """Return the same where rows are noted; the parameters are those of ``working``."""

    def noted(rows: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        done = work(_given(keys, rows), _at_once if stopped else never_stopped)
        number = pa.array(np.full(rows.num_rows, rows.column("piece")[0].as_py(), dtype=np.int32))
        first = pa.table(
            {
                "piece": number.slice(0, 1),
                "result": pa.array([pickle.dumps(done.result)], pa.binary()),
                "regions": pa.array([int(done.region.max()) + 1], pa.int32()),
            }
        )
        others = {"piece": number, "region": pa.array(done.region.astype(np.int32))}
        others |= {name: rows.column(name) for name in ("n", *keys.names)}
        told = pa.concat_tables([first, pa.table(others)], promote_options="default")
        names = ["piece", "result", "regions", "n", "region", *keys.names]
        return told.select(names)

    return noted


def _given(keys: KeyWords, rows: Any) -> RegionRows:
    """Return the rows of a piece."""
    return RegionRows(
        keys.unpack([rows.column(name).to_numpy() for name in keys.names]),
        rows.column("n").to_numpy().astype(np.int64, copy=False),
        rows.column("region").to_numpy().astype(np.int64),
    )


def _at_once() -> bool:
    """Tell that work is to end as soon as it can."""
    return True


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


class SparkCombinations(DistinctRows):
    """Combinations of codes in a frame of Spark.

    Parameters
    ----------
    session: stays the caller's.
    frame: with the words of the packed codes and ``n``, the records of each; not yet distinct.
    keys: how codes are packed.
    name: of the input, for messages.
    records: that there must be.
    """

    def __init__(self, session: Session, frame: DataFrame, keys: KeyWords, name: str, records: int) -> None:
        from pyspark import StorageLevel  # noqa: PLC0415 - comes with the extra

        self.sizes = keys.sizes
        self._session = session
        self._keys = keys
        self._name = name
        self._records = records
        self._number: int | None = None
        with reading(name):
            self.frame = frame.groupBy(*keys.names).agg({"n": "sum"}).withColumnRenamed("sum(n)", "n")
            self.frame.persist(StorageLevel.MEMORY_AND_DISK)

    @property
    def number(self) -> int:
        """How many distinct combinations there are, and thus whether every record is in one of them."""
        if self._number is None:
            with reading(self._name):
                counted = self.frame.selectExpr(
                    "count(*)", "sum(n)", *(f"count({word})" for word in self._keys.names)
                ).collect()[0]
            if counted[1] != self._records or any(each != counted[0] for each in counted[2:]):
                raise DataError(
                    f"{self._name}: changed while it was read; start again when nobody writes to it"
                )
            self._number = int(counted[0])
        return self._number

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return them into memory, in lexicographic order."""
        expected = self.number
        with reading(self._name):
            table = self.frame.toArrow()
        words: list[IntArray] = [table.column(word).to_numpy() for word in self._keys.names]
        counts: IntArray = table.column("n").to_numpy()
        if len(counts) != expected:
            raise DataError(f"{self._name}: changed while it was read; start again when nobody writes to it")
        order = np.lexsort(words[::-1])
        return self._keys.unpack([word[order] for word in words]), counts[order].astype(np.int64, copy=False)

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> SparkCombinations:
        """Return the distinct combinations of coarser codes, counted anew by Spark."""
        coarser = [
            self._keys.code(place) if new is None else lookup(new.tolist(), self._keys.code(place))
            for place, new in enumerate(codes)
        ]
        frame = self.frame.selectExpr(*self._keys.packed(coarser), "n")
        return SparkCombinations(self._session, frame, self._keys, self._name, self._records)

    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Count the records in groups of fewer than some number of records."""
        groups = [f"{self._keys.code(place)} AS g{place}" for place in range(columns)]
        with reading(self._name):
            sizes = self.frame.selectExpr(*groups, "n").groupBy(*(f"g{place}" for place in range(columns)))
            summed = sizes.agg({"n": "sum"}).where(f"`sum(n)` < {least}")
            found = summed.selectExpr("sum(`sum(n)`)").collect()[0][0]
        return int(found or 0)

    def in_regions(self, first: FirstRegions, coded: CodedRows) -> SparkRegions:
        """Return the combinations in regions that can be cut, kept by Spark as well."""
        return SparkRegions(self._session, self.frame, self._keys, self._name, first, coded)

    def close(self) -> None:
        """Let Spark forget them; a second call does nothing."""
        with suppress(Exception):
            self.frame.unpersist()
