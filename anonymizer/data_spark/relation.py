"""Relations in Spark: files on any Hadoop file system, counted and recoded out of core.

Records are joined to the rows of their recoding, and can be appended to an earlier release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, functions

from anonymizer.data.relation import (
    ByCodes,
    ByRegion,
    Coding,
    ColumnStatistics,
    CountedRows,
    DistinctRows,
    EngineRelation,
    KeyWords,
    Profiling,
    Projection,
    RecodedRows,
    Relation,
    ReleaseQuery,
    RowUnits,
    StoredUnits,
    SummedQuery,
    UnionDifference,
    UnitFacts,
    check_alike,
)
from anonymizer.data.source import (
    EngineOptions,
    KeyColumns,
    MissingTexts,
    location_of,
    name_columns,
    pandas_index,
)
from anonymizer.data_spark.columns import (
    ColumnTexts,
    lookup,
    matching_in_frame,
    small_frame,
    spelled_codes,
    spelled_keys,
    spread_of_frame,
    to_spark,
    with_labels,
)
from anonymizer.data_spark.files import (
    Files,
    Parts,
    SparkCountedQuery,
    checked_fields,
    pandas_metadata,
    parts_of,
    refuse_csv,
    sha256_of,
)
from anonymizer.data_spark.options import SparkOptions
from anonymizer.data_spark.session import Session, changed, close_session, open_session, reading, writing
from anonymizer.errors import DataError, InputError
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.labels import MISSING
from anonymizer.model.table import PIECE, PlacedRows, RowPiece

BATCH = 1_000_000
"""Maximum number of rows in a record batch for Spark."""


class SparkCombinations(DistinctRows):
    """Distinct rows of codes in a frame of Spark.

    Parameters
    ----------
    session: stays the caller's.
    frame: has the packed keys and ``n``, the records of each; not yet distinct.
    keys: of the codes.
    name: of the input, for messages.
    records: number of records of the input.
    """

    def __init__(self, session: Session, frame: DataFrame, keys: KeyWords, name: str, records: int) -> None:
        self.sizes = tuple(place.size for place in keys.places)
        self._session = session
        self._keys = keys
        self._name = name
        self._records = records
        self._number: int | None = None
        self.units: dict[str, SparkUnits] = {}
        with reading(name):
            self.frame = frame.groupBy(*keys.names).agg({"n": "sum"}).withColumnRenamed("sum(n)", "n")
            self.frame.persist(StorageLevel.MEMORY_AND_DISK)

    @property
    def number(self) -> int:
        """Number of distinct rows, counted once.

        Raises
        ------
        DataError: they do not have all records of the input.
        """
        if self._number is None:
            with reading(self._name):
                counted = self.frame.selectExpr(
                    "count(*)", "sum(n)", *(f"count({word})" for word in self._keys.names)
                ).collect()[0]
            if counted[1] != self._records or any(each != counted[0] for each in counted[2:]):
                raise changed(self._name)
            self._number = int(counted[0])
        return self._number

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return the codes, sorted, and their records."""
        expected = self.number
        with reading(self._name):
            table = self.frame.toArrow()
        words: list[IntArray] = [table.column(word).to_numpy() for word in self._keys.names]
        counts: IntArray = table.column("n").to_numpy()
        if len(counts) != expected:
            raise changed(self._name)
        order = np.lexsort(words[::-1])
        return self._keys.unpack([word[order] for word in words]), counts[order].astype(np.int64, copy=False)

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> SparkCombinations:
        """Return the distinct rows of coarser codes, counted by Spark."""
        coarser = [
            code if new is None else lookup(new.tolist(), code)
            for code, new in zip(map(self._code, range(len(codes))), codes, strict=True)
        ]
        words = self._keys.packed_sql(coarser)
        frame = self.frame.selectExpr(*words, "n")
        rolled = SparkCombinations(self._session, frame, self._keys, self._name, self._records)
        rolled.units = {name: own.rolled_up(words) for name, own in self.units.items()}
        return rolled

    def records_in_small_groups(self, columns: int, least: int, unit: str | None = None) -> int:
        """Return the number of records in small groups by the first columns."""
        groups = [f"{self._code(place)} AS g{place}" for place in range(columns)]
        names = [f"g{place}" for place in range(columns)]
        with reading(self._name):
            sizes = self.frame.selectExpr(*groups, "n").groupBy(*names).agg({"n": "sum"})
            sizes = sizes.withColumnRenamed("sum(n)", "records").withColumn("size", _column("records"))
            if unit is not None:
                counted = self.units[unit].counted_by(groups, names)
                sizes = sizes.drop("size").join(counted, on=names)
            found = sizes.where(f"size < {least}").selectExpr("sum(records)").collect()[0][0]
        return int(found or 0)

    def pieces(self) -> Iterator[RowPiece]:
        """Yield all of them; each question to Spark is for a share by the hash of the keys."""
        shares = -(-2 * self.number // PIECE)
        for share in range(shares):
            with reading(self._name):
                hashed = f"pmod(xxhash64({', '.join(self._keys.names)}), {shares}) = {share}"
                table = self.frame.where(hashed).toArrow()
            columns = [
                table.column(name).to_numpy().astype(np.int64, copy=False)
                for name in (*self._keys.names, "n")
            ]
            for first in range(0, len(columns[-1]), PIECE):
                *keys, counts = (own[first : first + PIECE] for own in columns)
                yield RowPiece(tuple(keys), counts)

    def _code(self, column: int) -> str:
        return self._keys.code_sql(column, "DIV")

    def close(self) -> None:
        """Free the frame in Spark; a second call does nothing."""
        with suppress(Exception):
            self.frame.unpersist()
        for own in self.units.values():
            own.close()


class SparkUnits(StoredUnits):
    """The units of distinct rows in two frames: numbers of units alone in a row, and pairs of others.

    Parameters
    ----------
    given: keys and a unit u, null for records of their own; may repeat rows.
    alone: keys and a number a of units that are alone; None without any.
    keys: of the rows.
    name: of the input, for messages.
    recorded: whether ``given`` also has a number of records n, and pairs have their sum; units with several
        records then stay pairs.
    """

    def __init__(
        self, given: DataFrame, alone: DataFrame | None, keys: KeyWords, name: str, *, recorded: bool = False
    ) -> None:
        self._keys, self._name, self._recorded = keys, name, recorded
        with reading(name):
            known = given.where("u IS NOT NULL")
            lowest = [functions.min(word).alias(f"l{word}") for word in keys.names]
            highest = [functions.max(word).alias(f"h{word}") for word in keys.names]
            records = [functions.sum("n").alias("n")] if recorded else []
            by_unit = known.groupBy("u").agg(*lowest, *highest, *records)
            several = [f"l{word} < h{word}" for word in keys.names]
            spread = " OR ".join([*several, "n > 1"] if recorded else several)
            single = by_unit.where(f"NOT ({spread})").selectExpr(*(f"l{w} AS {w}" for w in keys.names))
            parts = [single, given.where("u IS NULL").select(*keys.names)]
            counted = reduce(type(given).unionAll, parts).selectExpr("*", "CAST(1 AS BIGINT) AS a")
            counted = counted if alone is None else counted.unionAll(alone)
            self._alone = counted.groupBy(*keys.names).agg(functions.sum("a").alias("a"))
            others = by_unit.where(spread).select("u")
            pairs = known.join(others, on="u").select(*keys.names, *self._counted)
            by_row = pairs.groupBy(*keys.names, "u")
            self._pairs = by_row.agg(*records) if recorded else pairs.distinct()
            for frame in (self._alone, self._pairs):
                frame.persist(StorageLevel.MEMORY_AND_DISK)

    def rolled_up(self, words: Sequence[str]) -> SparkUnits:
        """Return the units of distinct rows of coarser keys, given in SQL."""
        given, alone = self._pairs.selectExpr(*words, *self._counted), self._alone.selectExpr(*words, "a")
        return SparkUnits(given, alone, self._keys, self._name, recorded=self._recorded)

    @property
    def _counted(self) -> list[str]:
        """The columns of the pairs besides the keys."""
        return ["u", "n"] if self._recorded else ["u"]

    def counted_by(self, groups: Sequence[str], names: Sequence[str]) -> DataFrame:
        """Return the distinct units of groups of rows as their size.

        Parameters
        ----------
        groups: in SQL.
        names: of these.
        """
        pairs = self._pairs.selectExpr(*groups, "u").distinct().selectExpr(*names, "CAST(1 AS BIGINT) AS a")
        counted = self._alone.selectExpr(*groups, "a").unionAll(pairs)
        return counted.groupBy(*names).agg(functions.sum("a").alias("size"))

    def fetch(self) -> RowUnits:
        """Return the units."""
        with reading(self._name):
            alone, pairs = self._alone.toArrow(), self._pairs.toArrow()
        units = pairs.column("u").combine_chunks().dictionary_encode()
        return RowUnits(
            tuple(alone.column(word).to_numpy().astype(np.int64) for word in self._keys.names),
            alone.column("a").to_numpy().astype(np.int64),
            tuple(pairs.column(word).to_numpy().astype(np.int64) for word in self._keys.names),
            units.indices.to_numpy(zero_copy_only=False).astype(np.int64),
            pairs.column("n").to_numpy().astype(np.int64) if self._recorded else None,
        )

    def close(self) -> None:
        """Free the frames in Spark; a second call does nothing."""
        with suppress(Exception):
            self._alone.unpersist()
            self._pairs.unpersist()


def placed_frame(session: Session, placed: PlacedRows, keys: KeyWords) -> DataFrame:
    """Return the keys of rows with their region."""
    frames = []
    for words, region in placed.pieces():
        columns = {**dict(zip(keys.names, words, strict=True)), "region": region.astype(np.int32)}
        frames.append(to_spark(session, pa.table(columns).to_batches()))
    return reduce(type(frames[0]).unionAll, frames)


@dataclass(frozen=True, eq=False)
class SparkRecodedQuery(SummedQuery):
    """Records as recoded, written as a folder of Parquet files, sorted by what is published.

    Attributes
    ----------
    relation: has the records; stays the caller's.
    rows: of the recoding.
    """

    relation: SparkRelation
    rows: RecodedRows

    def copy(self, path: Path, separator: str | None) -> None:
        """Write a folder on any Hadoop file system; refuse CSV."""
        refuse_csv(path, separator)
        with writing(path.name), reading(self.relation.name):
            frame = self._frame()
            for place, name in enumerate(self.rows.columns):
                if name in self.rows.labels and self.relation.marker is not None:
                    frame = frame.withColumn(f"p{place}", _label_or_null(f"p{place}"))
            files = Files(frame, self._order(), self._published(), self._records())
            files.write(self.relation.session, location_of(path), path.name)

    def checksum(self) -> int:
        """Return the sum of a hash of each record as recoded."""
        rows = self.rows
        with reading(self.relation.name):
            return sum_of(
                self.labelled(),
                [f"{'p' if name in rows.labels else 's'}{place}" for place, name in enumerate(rows.columns)],
            )

    def _frame(self) -> DataFrame:
        """Return the released columns as p0, p1, …, and the columns that they are sorted by."""
        return self.labelled()

    def _records(self) -> int:
        """Return the number of released records."""
        return int(self.rows.counts[self.rows.kept].sum())

    def _published(self) -> dict[str, str]:
        return {f"p{place}": name for place, name in enumerate(self.rows.columns)}

    def _joined(self) -> DataFrame:
        """Return the released records: their unchanged columns, and the places of labels as r0, r1, …"""
        relation, rows = self.relation, self.rows
        unchanged = [f"c{relation.position(name)}" for name in rows.columns if name not in rows.labels]
        found = rows.found
        keys = KeyWords([coding.size for coding in found.codings])
        codes = [f"k{place}" for place in range(len(found.codings))]
        records = relation.coded(found.codings, unchanged).selectExpr(*keys.packed_sql(codes), *unchanged)
        if isinstance(found, ByRegion):
            return self._in_regions(found, records, keys)
        recoded = self._recoded(found, keys)
        if not _in_parts(found):
            return records.join(recoded, on=list(keys.names), how="inner").where("kept")
        keys_of = (self._key(name) for name in rows.columns if name not in rows.labels)
        order = ", ".join(f"{key} NULLS LAST" for key in keys_of) or "1"
        numbered = f"row_number() OVER (PARTITION BY {', '.join(keys.names)} ORDER BY {order}) AS i"
        records = records.selectExpr("*", numbered)
        joined = records.join(recoded, on=list(keys.names), how="inner")
        return joined.where("kept AND i > first AND i <= last")

    def _in_regions(self, found: ByRegion, records: DataFrame, keys: KeyWords) -> DataFrame:
        """Return the same for rows that are regions.

        Parameters
        ----------
        records: the keys and the unchanged columns of each record.
        """
        rows = self.rows
        rest = "NULL" if found.rest is None else str(found.rest)
        if found.regions is None:
            records = records.selectExpr("*", f"CAST({rest} AS INT) AS region")
        else:
            placed = placed_frame(self.relation.session, found.regions, keys)
            records = records.join(placed, on=list(keys.names), how="inner" if found.rest is None else "left")
            others = [name for name in records.columns if name != "region"]
            records = records.selectExpr(*others, f"coalesce(region, {rest}) AS region")
        places: dict[str, Any] = {"region": np.flatnonzero(rows.kept).astype(np.int32)}
        places |= {f"r{place}": codes[rows.kept] for place, codes in enumerate(rows.places.values())}
        batches = pa.table(places).to_batches(max_chunksize=BATCH)
        return records.join(to_spark(self.relation.session, batches), on="region", how="inner")

    def _recoded(self, found: ByCodes, keys: KeyWords) -> DataFrame:
        """Return the rows: keys, whether kept, range of records with these keys, places of labels."""
        rows = self.rows
        words = keys.pack(found.codes)
        last = _within(found, np.cumsum(rows.counts), rows.counts)
        columns: dict[str, Any] = dict(zip(keys.names, words, strict=True))
        columns |= {"kept": rows.kept, "first": last - rows.counts, "last": last}
        columns |= {f"r{place}": codes for place, codes in enumerate(rows.places.values())}
        return to_spark(self.relation.session, pa.table(columns).to_batches(max_chunksize=BATCH))

    def labelled(self) -> DataFrame:
        """Return the released columns as p0, p1, …, in their order, and the keys of those unchanged."""
        rows, frame, found = self.rows, self._joined(), {}
        for place, (name, labels) in enumerate(rows.labels.items()):
            frame = with_labels(self.relation.session, frame, place, labels)
            found[name] = f"l{place}"
        return frame.selectExpr(
            *(
                f"{self._key(name)} AS s{place}"
                for place, name in enumerate(rows.columns)
                if name not in found
            ),
            *(
                f"{found.get(name, f'c{self.relation.position(name)}')} AS p{place}"
                for place, name in enumerate(rows.columns)
            ),
        )

    def _order(self) -> list[Any]:
        """Return the sort order: by text, a null after an empty text."""
        order = []
        rows = self.rows
        for place, name in enumerate(rows.columns):
            if name in rows.labels:
                order.append(functions.expr(f"coalesce(p{place}, '')"))
            else:
                order += [functions.expr(f"coalesce(s{place}, '')"), functions.expr(f"s{place} IS NULL")]
        return order

    def _key(self, column: str) -> str:
        """Return SQL for the key of a column that is released unchanged."""
        return self.relation.texts_of(column).key


def _begins(rows: ByCodes) -> BoolArray:
    """Return which rows have other codes than the row before, shape (rows,), bool."""
    begins: BoolArray = np.ones(len(rows.codes), dtype=np.bool_)
    begins[1:] = (rows.codes[1:] != rows.codes[:-1]).any(axis=1)
    return begins


def _in_parts(rows: ByCodes) -> bool:
    """Return whether several rows have the same codes."""
    return not bool(_begins(rows).all())


def _within(rows: ByCodes, ends: IntArray, counts: IntArray) -> IntArray:
    """Return the end of each row among the records of its codes, given its end among all records."""
    begins = _begins(rows)
    starts = ends - counts
    return ends - np.repeat(starts[begins], np.diff(np.flatnonzero(begins), append=len(ends)))


def sum_of(frame: DataFrame, texts: Sequence[str]) -> int:
    """Return the sum of a hash of each record, given SQL for its texts."""
    listed = ", ".join(f"coalesce({text}, '')" for text in texts)
    ((found,),) = frame.selectExpr(f"sum(CAST(xxhash64({listed}) AS DECIMAL(20, 0)))").collect()
    return int(found or 0)


@dataclass(frozen=True, eq=False)
class SparkAppendedQuery(SparkRecodedQuery):
    """Records as recoded and those of an earlier release, all in one order.

    Attributes
    ----------
    relation, rows: of the new records, with the columns in the order of the earlier release.
    earlier: the earlier release, whose records are unchanged; stays the caller's.
    """

    earlier: SparkRelation

    def checksum(self) -> int:
        """Return the sum of a hash of each record, new and earlier."""
        return super().checksum() + self.earlier.checksum(self.rows.labels)

    def _records(self) -> int:
        return super()._records() + self.earlier.rows

    def _frame(self) -> DataFrame:
        """Return the records of both.

        Raises
        ------
        DataError: a column has different types in the two.
        """
        new, before = self.labelled(), self._before(self.rows)
        one, other = (
            {name: dict(each.dtypes)[f"p{place}"] for place, name in enumerate(self.rows.columns)}
            for each in (before, new)
        )
        check_alike((self.earlier.name, one), (self.relation.name, other))
        return before.unionByName(new)

    def _before(self, rows: RecodedRows) -> DataFrame:
        """Return the earlier records, with columns as ``labelled`` has them."""
        earlier, columns = self.earlier, list(enumerate(rows.columns))
        return earlier.frame.selectExpr(
            *(f"{earlier.texts_of(name).key} AS s{at}" for at, name in columns if name not in rows.labels),
            *(f"c{earlier.position(name)} AS p{at}" for at, name in columns),
        )


def compared(whole: DataFrame, first: DataFrame, second: DataFrame) -> UnionDifference:
    """Return how the texts of a column differ from those of two parts that it should have.

    Parameters
    ----------
    whole, first, second: distinct texts as ``k``, with their records as r, a and b.
    """
    every = whole.join(first, on="k", how="full").join(second, on="k", how="full")
    counted = every.selectExpr(*(f"coalesce({name}, 0) AS {name}" for name in "rab"))
    found = counted.selectExpr(
        "sum(greatest(a - r, 0))", "sum(greatest(r - a - b, 0))", "sum(greatest(a + b - r, 0))"
    ).collect()[0]
    return UnionDifference(int(found[0]), int(found[1]), int(found[2]))


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The distinct values of a column.

    Attributes
    ----------
    entries: distinct texts with their records, sorted by code point, None last.
    keys: of Spark, an Arrow array of texts; several keys may have the same text.
    positions: in ``entries`` for each key, shape (keys,), int32.
    """

    entries: list[tuple[str | None, int]]
    keys: Any
    positions: CodeArray


class SparkProfiling(Profiling):
    """Statistics for ``init``, counted by Spark.

    Parameters
    ----------
    relation: stays the caller's.
    """

    def __init__(self, relation: SparkRelation) -> None:
        super().__init__(relation)
        self._spark = relation

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return the statistics of a column; of many texts this process gets a sample only."""
        texts = self._spark.texts_of(column)
        if not texts.canonical:
            return super().spread(column, limit, absent)
        with reading(self._spark.name):
            return spread_of_frame(self._spark.frame, texts.key, limit, absent)

    def count_matching(self, column: str, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        texts = self._spark.texts_of(column)
        if not texts.canonical:
            return super().count_matching(column, pattern)
        with reading(self._spark.name):
            return matching_in_frame(self._spark.frame, texts.key, pattern)

    def in_small_classes(self, columns: Sequence[str], least: int) -> tuple[int, int]:
        """Return the number of records whose texts are unique, and of those in small classes."""
        keys = [f"{self._spark.texts_of(column).key} AS t{place}" for place, column in enumerate(columns)]
        with reading(self._spark.name):
            sizes = (
                self._spark.frame.selectExpr(*keys)
                .groupBy(*(f"t{place}" for place in range(len(keys))))
                .count()
            )
            small = f"coalesce(sum(IF(count < {least}, count, 0)), 0)"
            alone, below = sizes.selectExpr("count_if(count = 1)", small).collect()[0]
        return int(alone), int(below)


class SparkRelation(EngineRelation):
    """A frame of Spark whose columns are c0, c1, … in the order of the input.

    Parameters
    ----------
    session: closed with the relation.
    frame: without nested columns.
    name, columns, sha256: as for every relation.
    files: that the frame reads, as they were when they were hashed; None if the frame reads no files.
    missing: how missing values are read.

    Raises
    ------
    DataError: the frame cannot be read, has no records, or has a nested column.
    """

    def __init__(
        self,
        session: Session,
        frame: DataFrame,
        name: str,
        columns: Sequence[str],
        *,
        sha256: str | None = None,
        files: Parts | None = None,
        missing: MissingTexts | None = None,
    ) -> None:
        self.session = session
        self.frame = frame if missing is None else _marked(frame, columns, missing)
        self.marker = None if missing is None else missing.marker
        self.name = name
        self.columns = tuple(columns)
        self.sha256 = sha256
        self.separator = None
        self._files = files
        self._closed = False
        self._dictionaries: dict[str, Dictionary] = {}
        try:
            kinds = [kind for _, kind in self.frame.dtypes]
            self._texts = [
                ColumnTexts(column, f"c{index}", kind)
                for index, (column, kind) in enumerate(zip(columns, kinds, strict=True))
            ]
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        with reading(name):
            self.rows = frame.count()
        if not self.rows:
            raise DataError(f"{name}: no records; at least one record is needed")

    def texts_of(self, column: str) -> ColumnTexts:
        """Return the conversion of the values of a column to texts."""
        return self._texts[self.position(column)]

    def known(self, column: str) -> Dictionary:
        """Return the distinct values of a column, counted by Spark once."""
        if column not in self._dictionaries:
            self._dictionaries[column] = self._counted(self.texts_of(column))
        return self._dictionaries[column]

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        return list(self.known(column).entries)

    @property
    def profiling(self) -> SparkProfiling:
        """Statistics for ``init``."""
        return SparkProfiling(self)

    @property
    def ordered(self) -> bool:
        """Whether records have an order: those that several processes read have none."""
        return False

    def _counted(self, texts: ColumnTexts) -> Dictionary:
        with reading(self.name):
            table = self.frame.selectExpr(f"{texts.key} AS k").groupBy("k").count().toArrow().combine_chunks()
        keys = table.column("k")
        own = texts.texts(keys)
        records: dict[str | None, int] = {}
        for text, count in zip(own, table.column("count").to_pylist(), strict=True):
            records[text] = records.get(text, 0) + count
        entries = sorted(records.items(), key=lambda entry: (entry[0] is None, entry[0] or ""))
        place = {text: position for position, (text, _) in enumerate(entries)}
        positions = np.fromiter((place[text] for text in own), dtype=np.int32, count=len(own))
        return Dictionary(entries, keys, positions)

    def combinations(self, codings: Sequence[Coding]) -> SparkCombinations:
        """Return the distinct rows of the codes of columns, which stay in Spark."""
        keys = KeyWords([coding.size for coding in codings])
        with reading(self.name):
            codes = [f"k{place}" for place in range(len(codings))]
            words = self.coded(codings).selectExpr(*keys.packed_sql(codes), "CAST(1 AS BIGINT) AS n")
            return SparkCombinations(self.session, words, keys, self.name, self.rows)

    def stored_units(
        self,
        codings: Sequence[Coding],
        columns: Mapping[str, str],
        absent: Collection[str | None],
        recorded: Collection[str] = (),
    ) -> dict[str, SparkUnits]:
        """Return the units of the distinct rows of codes, which stay in Spark."""
        keys = KeyWords([coding.size for coding in codings])
        words, found = keys.packed_sql([f"k{place}" for place in range(len(codings))]), {}
        for name, column in columns.items():
            with reading(self.name):
                unit = self._unit(column, absent)
                counted = [f"{unit} AS u", *(["CAST(1 AS BIGINT) AS n"] if name in recorded else [])]
                given = self.coded(codings, [f"c{self.position(column)}"]).selectExpr(*words, *counted)
            found[name] = SparkUnits(given, None, keys, self.name, recorded=name in recorded)
        return found

    def _unit(self, column: str, absent: Collection[str | None]) -> str:
        """Return SQL for the unit of each record, null without one."""
        text = self.texts_of(column).key
        listed = [each.replace("\\", "\\\\").replace("'", "\\'") for each in absent if each is not None]
        if not listed:
            return text
        texts = ", ".join(f"'{each}'" for each in listed)
        return f"CASE WHEN CAST({text} AS STRING) IN ({texts}) THEN NULL ELSE {text} END"

    def unit_facts(self, column: str, absent: Collection[str | None]) -> UnitFacts:
        """Return the number of units and of records without one."""
        with reading(self.name):
            counted = self.frame.selectExpr(f"{self._unit(column, absent)} AS u").groupBy("u").count()
            known = counted.where("u IS NOT NULL")
            units, records, most = known.selectExpr("count(*)", "sum(count)", "max(count)").collect()[0]
        return UnitFacts(int(units), self.rows - int(records or 0), int(most or 0))

    def units_in_several(self, inner: str, outer: str, absent: Collection[str | None]) -> int:
        """Return the number of units of one column that have records in several units of another."""
        with reading(self.name):
            known = self.frame.selectExpr(
                f"{self._unit(inner, absent)} AS i", f"{self._unit(outer, absent)} AS o"
            )
            pairs = known.where("i IS NOT NULL AND o IS NOT NULL").distinct()
            return int(pairs.groupBy("i").count().where("count > 1").count())

    def key_identities(self, column: str, keys: KeyColumns) -> dict[str, str]:
        """Return what identifies a unit; texts that are certainly in the usual form stay in Spark."""
        with reading(self.name):
            return spelled_keys(self.frame.selectExpr(f"{self.texts_of(column).key} AS t"), keys)

    def similar_texts(self, column: str, most: int) -> list[str]:
        """Return distinct texts of a column, at most so many."""
        with reading(self.name):
            texts = self.frame.selectExpr(f"{self.texts_of(column).key} AS t").where("t IS NOT NULL")
            return [str(each.t) for each in texts.distinct().limit(most).collect()]

    def respell(self, texts: Mapping[str, Mapping[str, str | None]]) -> None:
        """Replace texts of columns by joins with their new texts."""
        for name, new in texts.items():
            index = self.position(name)
            listed = {"given": pa.array(list(new), pa.string()), "new": pa.array(new.values(), pa.string())}
            own = self.frame.selectExpr("*", f"{self.texts_of(name).key} AS own")
            small = small_frame(self.session, listed)
            joined = own.join(small, on=own["own"] == small["given"], how="left")
            replaced = f"CASE WHEN given IS NULL THEN own ELSE new END AS c{index}"
            self.frame = joined.selectExpr(
                *(replaced if each == f"c{index}" else each for each in self.frame.columns)
            )
            self._texts[index] = ColumnTexts(name, f"c{index}", "string")
        self._dictionaries.clear()

    def coded(self, codings: Sequence[Coding], kept: Sequence[str] = ()) -> DataFrame:
        """Return the records with the codes of columns as k0, k1, …, joined from their dictionaries.

        Parameters
        ----------
        kept: other columns of the frame to return, by Spark's names.
        """
        needed = [f"{self.texts_of(coding.name).key} AS t{place}" for place, coding in enumerate(codings)]
        frame = self.frame.selectExpr(*needed, *kept)
        for place, coding in enumerate(codings):
            known = self.known(coding.name)
            codes = coding.codes[known.positions]
            present = known.keys.is_valid().to_numpy(zero_copy_only=False)
            null = int(codes[~present][0]) if not present.all() else "NULL"
            others = [each for each in frame.columns if each != f"t{place}"]
            if not present.any():
                frame = frame.selectExpr(*others, f"{null} AS k{place}")
                continue
            small = {f"j{place}": known.keys.filter(pa.array(present)), f"f{place}": pa.array(codes[present])}
            frame = frame.join(
                small_frame(self.session, small), on=frame[f"t{place}"] == _column(f"j{place}"), how="left"
            ).selectExpr(
                *others,
                f"CASE WHEN t{place} IS NULL THEN {null} ELSE f{place} END AS k{place}",
            )
        return frame

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns by joins with their dictionaries."""
        for name, own in labels.items():
            known, index = self.known(name), self.position(name)
            kind = pa.float64() if any(isinstance(label, float) for label in own) else pa.string()
            shown = pa.array(own, kind).take(pa.array(known.positions))
            small = small_frame(self.session, {"key": known.keys, "shown": shown})
            keyed = self.frame.selectExpr("*", f"{self.texts_of(name).key} AS own")
            joined = keyed.join(small, on=keyed["own"].eqNullSafe(small["key"]), how="left")
            self.frame = joined.selectExpr(
                *("shown AS " + column if column == f"c{index}" else column for column in self.frame.columns)
            )
            self._texts[index] = ColumnTexts(name, f"c{index}", dict(self.frame.dtypes)[f"c{index}"])
        self._dictionaries.clear()

    def records_query(self, projection: Projection, *, shuffled: bool = False) -> ReleaseQuery:  # noqa: ARG002
        """Refuse, as this process does not read records."""
        self._refuse("each record")

    def counted_query(self, rows: CountedRows) -> SparkCountedQuery:
        """Return a query for counted rows, which Spark repeats."""
        return SparkCountedQuery(self.session, rows, marked=self.marker is not None)

    def recoded_query(self, rows: RecodedRows, *, shuffled: bool = False) -> SparkRecodedQuery:
        """Return a query for the records as recoded, by a join."""
        assert not shuffled, "a config with another order than sorted is refused"
        return SparkRecodedQuery(self, rows)

    def appended_query(
        self,
        new: ReleaseQuery,
        path: Path,  # noqa: ARG002 - always a folder of Parquet
        scratch: Path,  # noqa: ARG002 - Spark needs no temporary file
        *,
        shuffled: bool = False,
    ) -> SparkAppendedQuery:
        """Return a query for these records together with new ones."""
        assert not shuffled, "a config with another order than sorted is refused"
        assert isinstance(new, SparkRecodedQuery), "one engine reads both"
        return SparkAppendedQuery(new.relation, replace(new.rows, columns=self.columns), self)

    def checksum(self, recoded: Collection[str]) -> int:  # noqa: ARG002 - texts like all others
        """Return the sum of a hash of each record."""
        with reading(self.name):
            return sum_of(self.frame, [self.texts_of(name).key for name in self.columns])

    def changed_records(self, column: str, other: Relation) -> tuple[int, int]:
        """Compare a column with that of another relation, by a join if Spark has both."""
        own = self.texts_of(column)
        if not isinstance(other, SparkRelation) or other.texts_of(column).kind != own.kind:
            return super().changed_records(column, other)
        mine, theirs = self._tallied(column, "a"), other._tallied(column, "b")
        with reading(other.name):
            both = mine.join(theirs, on="k", how="full").selectExpr(
                "coalesce(a, 0) AS a", "coalesce(b, 0) AS b"
            )
            found = both.selectExpr("sum(greatest(b - a, 0))", "sum(greatest(a - b, 0))").collect()[0]
        return int(found[0]), int(found[1])

    def put_together(self, column: str, first: Relation, second: Relation) -> UnionDifference:
        """Compare a column with those of two relations, by joins if Spark has all of them."""
        own = self.texts_of(column)
        if not isinstance(first, SparkRelation) or not isinstance(second, SparkRelation):
            return super().put_together(column, first, second)
        if {first.texts_of(column).kind, second.texts_of(column).kind} != {own.kind}:
            return super().put_together(column, first, second)
        with reading(self.name):
            whole, one, other = (
                each._tallied(column, count) for each, count in ((self, "r"), (first, "a"), (second, "b"))
            )
            return compared(whole, one, other)

    def check_unchanged(self) -> None:
        """Check names, sizes and times of the files, and their hash if the file system keeps no times."""
        if self._files is None:
            return
        found = parts_of(self.session, self.name)
        same = found == self._files
        if same and not all(part.modified for part in found.parts):
            same = sha256_of(self.session, found) == self.sha256
        if not same:
            raise changed(self.name)

    def _tallied(self, column: str, count: str) -> DataFrame:
        """Return the texts of a column as ``k`` with their records, a null as the empty text."""
        keys = self.frame.selectExpr(f"coalesce({self.texts_of(column).key}, '') AS k")
        return keys.groupBy("k").count().withColumnRenamed("count", count)

    def is_text(self, column: str) -> bool:
        """Return whether the values of a column are texts."""
        return self.texts_of(column).is_text

    def holds_texts(self, column: str) -> bool:
        """Return whether the values of a column are texts in every record."""
        return self.texts_of(column).is_text and self.known(column).entries[-1][0] is not None

    def codes(self, column: str) -> CodeArray:
        """Refuse, as this process does not read records."""
        self._refuse(f"the value of '{column}' in each record")

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(
            f"{self.name}: the engine spark counts records where they are stored, but this needs {what} in "
            "one process; set engine.name: duckdb, or choose a step that works with counts"
        )

    def close(self) -> None:
        """Release the Spark session; a second call does nothing."""
        if not self._closed:
            self._closed = True
            close_session(self.session)


def _marked(frame: DataFrame, columns: Sequence[str], missing: MissingTexts) -> DataFrame:
    """Return a frame with missing values as ``MissingTexts`` describes."""
    for index, (name, (column, kind)) in enumerate(zip(columns, frame.dtypes, strict=True)):
        own = functions.col(column)
        key = ColumnTexts(name, column, kind).key
        read = {*missing.read, *spelled_codes(frame.selectExpr(f"{key} AS t"), name, missing)}
        if read:
            own = functions.when(functions.expr(key).isin(*read), None).otherwise(own)
        if name in missing.recoded:
            own = functions.coalesce(own.cast("string"), functions.lit(MISSING))
        frame = frame.withColumn(f"c{index}", own)
    return frame


def _label_or_null(column: str) -> Any:
    """Return a released label, a null for a missing value."""
    return functions.nullif(functions.col(column), functions.lit(MISSING))


def _column(name: str) -> Any:
    return functions.col(name)


LIMITS = EngineOptions()


def open_spark(location: str, options: SparkOptions, limits: EngineOptions = LIMITS) -> SparkRelation:
    """Open a Parquet file, or a folder with such files only, on any Hadoop file system.

    The texts of values are those of DuckDB for the same file. Folders named ``column=value`` become a column
    of texts.

    Parameters
    ----------
    location: a path, or a URL such as ``hdfs://host/people.parquet``.
    limits: that have the columns with a role, and whether columns without a name are refused.

    Raises
    ------
    DataError: missing, without files or records, a file that is not Parquet or damaged, files of different
        schemas, a nested column.
    InputError: as for ``open_session``.
    """
    session = open_session(options)
    try:
        with reading(location):
            files = parts_of(session, location)
            fields = checked_fields(session, location, files.parts)
            frame = session.spark.read.parquet(location)
            naming = name_columns(location, frame.columns, strict=limits.strict_header)
            metadata = pandas_metadata(session, files.parts[0])
            index_columns = pandas_index(naming.columns, metadata, limits.named)
            kept = [index for index, name in enumerate(naming.columns) if name not in index_columns]
            naming = naming.spelled_as(limits.spelling)
            numbered = frame.toDF(*(f"c{index}" for index in range(len(naming.columns))))
            types = dict(numbered.dtypes)
            given = {f"c{index}": fields.get(frame.columns[index], "") for index in kept}
            values = (_plain(name, field, types[name]) for name, field in given.items())
            relation = SparkRelation(
                session,
                numbered.selectExpr(*values).toDF(*(f"c{place}" for place in range(len(kept)))),
                location,
                [naming.columns[index] for index in kept],
                sha256=sha256_of(session, files),
                files=files,
                missing=limits.missing,
            )
            relation.index_columns, relation.renamed = index_columns, naming.warnings
            relation.spelled = naming.spelled
            return relation
    except BaseException:
        close_session(session)
        raise


def _plain(column: str, field: str, kind: str) -> str:
    """Return SQL for a column without what makes two of one value.

    A timestamp of 96 bits has no time zone, though Spark reads it with one; zero and NaN have no sign.
    """
    if field.startswith("int96 "):
        return f"CAST({column} AS TIMESTAMP_NTZ) AS {column}"
    if kind in {"float", "double"}:
        # The sum of both zeros is the one without a sign.
        return f"nanvl({column} + CAST(0 AS {kind}), CAST('NaN' AS {kind})) AS {column}"
    return column
