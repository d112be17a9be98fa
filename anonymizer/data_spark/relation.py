"""Relations in Spark: files on any Hadoop file system, counted and recoded out of core.

Each record is joined to the row that holds its recoding, and may be appended to an earlier release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from anonymizer.data.csv import pandas_index
from anonymizer.data.distinct_rows import DistinctRows
from anonymizer.data.relation import (
    ByCodes,
    ByRegion,
    Coding,
    ColumnStatistics,
    CountedRows,
    EngineRelation,
    Groups,
    Profiling,
    Projection,
    RecodedRows,
    Relation,
    ReleaseQuery,
    UnionDifference,
    check_sum,
)
from anonymizer.data.source import location_of
from anonymizer.data_spark.columns import (
    ColumnTexts,
    KeyWords,
    lookup,
    matching_in_frame,
    small_frame,
    spread_of_frame,
    to_spark,
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
from anonymizer.data_spark.session import Session, close_session, open_session, reading, writing
from anonymizer.errors import DataError, InputError
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.out_of_core import PIECE, PlacedRows, RowPiece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCH = 1_000_000
"""Rows that are handed to Spark in one piece."""


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

    def pieces(self) -> Iterator[RowPiece]:
        """Return all of them, a share at a time, which goes by their keys."""
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

    def close(self) -> None:
        """Let Spark forget them; a second call does nothing."""
        with suppress(Exception):
            self.frame.unpersist()


def placed_frame(session: Session, placed: PlacedRows, keys: KeyWords) -> DataFrame:
    """Return the words of rows and their region."""
    import pyarrow as pa  # noqa: PLC0415 - comes with the extra

    frames = []
    for words, region in placed.pieces():
        columns = {**dict(zip(keys.names, words, strict=True)), "region": region.astype(np.int32)}
        frames.append(to_spark(session, pa.table(columns).to_batches()))
    return reduce(type(frames[0]).unionAll, frames)


class SparkRecodedQuery(ReleaseQuery):
    """Records as recoded, written as a folder of Parquet files, sorted by what is published.

    Parameters
    ----------
    relation: whose records are written; stays the caller's.
    """

    def __init__(self, relation: SparkRelation, rows: RecodedRows) -> None:
        self.relation = relation
        self.rows = rows

    def copy(self, path: Path, separator: str | None) -> None:
        """Write a folder wherever Hadoop finds it; refuse CSV, which is one file."""
        refuse_csv(path, separator)
        with writing(path.name), reading(self.relation.name):
            files = Files(self._frame(), self._order(), self._published(), self._records())
            files.write(self.relation.session, location_of(path), path.name)

    def check(self, release: Relation) -> None:
        """Compare whole records, because the audit counts only some of the columns."""
        check_sum(release, self.rows.labels, self.checksum())

    def checksum(self) -> int:
        """Sum up a hash of each record as recoded."""
        rows = self.rows
        with reading(self.relation.name):
            return sum_of(
                self.labelled(),
                [f"{'p' if name in rows.labels else 's'}{place}" for place, name in enumerate(rows.columns)],
            )

    def _frame(self) -> DataFrame:
        """Return what is written: the released columns as p0, p1, …, and what they are sorted by."""
        return self.labelled()

    def _records(self) -> int:
        """Return how many records are written."""
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
        records = relation.coded(found.codings, unchanged).selectExpr(*keys.packed(codes), *unchanged)
        if isinstance(found, ByRegion):
            return self._in_regions(found, records, keys)
        told = self._told(found, keys)
        if not _in_parts(found):
            return records.join(told, on=list(keys.names), how="inner").where("kept")
        keys_of = (self._key(name) for name in rows.columns if name not in rows.labels)
        order = ", ".join(f"{key} NULLS LAST" for key in keys_of) or "1"
        numbered = f"row_number() OVER (PARTITION BY {', '.join(keys.names)} ORDER BY {order}) AS i"
        records = records.selectExpr("*", numbered)
        joined = records.join(told, on=list(keys.names), how="inner")
        return joined.where("kept AND i > first AND i <= last")

    def _in_regions(self, found: ByRegion, records: DataFrame, keys: KeyWords) -> DataFrame:
        """Return the same for rows that are regions.

        Parameters
        ----------
        records: their keys and their unchanged columns.
        """
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        rows = self.rows
        rest = "NULL" if found.rest is None else str(found.rest)
        if found.regions is None:
            records = records.selectExpr("*", f"CAST({rest} AS INT) AS region")
        else:
            placed = placed_frame(self.relation.session, found.regions, keys)
            records = records.join(placed, on=list(keys.names), how="inner" if found.rest is None else "left")
            others = [name for name in records.columns if name != "region"]
            records = records.selectExpr(*others, f"coalesce(region, {rest}) AS region")
        told: dict[str, Any] = {"region": np.flatnonzero(rows.kept).astype(np.int32)}
        told |= {f"r{place}": codes[rows.kept] for place, codes in enumerate(rows.places.values())}
        batches = pa.table(told).to_batches(max_chunksize=BATCH)
        return records.join(to_spark(self.relation.session, batches), on="region", how="inner")

    def _told(self, found: ByCodes, keys: KeyWords) -> DataFrame:
        """Return the rows: their words, whether they are kept, which records of the words, and the places."""
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        rows = self.rows
        words = keys.pack(found.codes)
        last = _within(found, np.cumsum(rows.counts), rows.counts)
        columns: dict[str, Any] = dict(zip(keys.names, words, strict=True))
        columns |= {"kept": rows.kept, "first": last - rows.counts, "last": last}
        columns |= {f"r{place}": codes for place, codes in enumerate(rows.places.values())}
        return to_spark(self.relation.session, pa.table(columns).to_batches(max_chunksize=BATCH))

    def labelled(self) -> DataFrame:
        """Return the released columns as p0, p1, …, in their order, and the keys of those unchanged."""
        import pyarrow as pa  # noqa: PLC0415
        from pyspark.sql import functions  # noqa: PLC0415

        rows, frame, found = self.rows, self._joined(), {}
        for place, (name, labels) in enumerate(rows.labels.items()):
            small = {f"j{place}": pa.array(range(len(labels)), pa.int32()), f"l{place}": pa.array(labels)}
            known = small_frame(self.relation.session, small)
            count_matching = functions.col(f"r{place}") == functions.col(f"j{place}")
            frame = frame.join(known, on=count_matching, how="left")
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
        """Return what records are sorted by: texts, a null as the empty one but before it."""
        from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

        order = []
        rows = self.rows
        for place, name in enumerate(rows.columns):
            if name in rows.labels:
                order.append(functions.col(f"p{place}"))
            else:
                order += [functions.expr(f"coalesce(s{place}, '')"), functions.expr(f"s{place} IS NULL")]
        return order

    def _key(self, column: str) -> str:
        """Return SQL for the key of a column that is released unchanged."""
        return self.relation.texts_of(column).key


def _begins(rows: ByCodes) -> BoolArray:
    """Tell which rows are of another combination than the row before, shape (rows,), bool."""
    begins: BoolArray = np.ones(len(rows.codes), dtype=np.bool_)
    begins[1:] = (rows.codes[1:] != rows.codes[:-1]).any(axis=1)
    return begins


def _in_parts(rows: ByCodes) -> bool:
    """Tell whether some combination has more than one row."""
    return not bool(_begins(rows).all())


def _within(rows: ByCodes, ends: IntArray, counts: IntArray) -> IntArray:
    """Return the ends of rows within their combination, of those over all rows with their records."""
    begins = _begins(rows)
    starts = ends - counts
    return ends - np.repeat(starts[begins], np.diff(np.flatnonzero(begins), append=len(ends)))


def sum_of(frame: DataFrame, texts: Sequence[str]) -> int:
    """Return the sum of a hash of each record by SQL for its texts."""
    listed = ", ".join(f"coalesce({text}, '')" for text in texts)
    ((found,),) = frame.selectExpr(f"sum(CAST(xxhash64({listed}) AS DECIMAL(20, 0)))").collect()
    return int(found or 0)


class SparkAppendedQuery(SparkRecodedQuery):
    """Records as recoded and those of an earlier release, all in one order.

    Parameters
    ----------
    new: the further records.
    earlier: whose records are written as they are; stays the caller's.
    """

    def __init__(self, new: SparkRecodedQuery, earlier: SparkRelation) -> None:
        super().__init__(new.relation, replace(new.rows, columns=earlier.columns))
        self._earlier = earlier

    def checksum(self) -> int:
        """Sum up a hash of each record, those that are recoded and the earlier ones."""
        return super().checksum() + self._earlier.checksum(self.rows.labels)

    def _records(self) -> int:
        return super()._records() + self._earlier.rows

    def _frame(self) -> DataFrame:
        """Return the records of both.

        Raises
        ------
        DataError: a column holds another type in the two.
        """
        new, before = self.labelled(), self._before(self.rows)
        self._check_alike(self.rows.columns, dict(before.dtypes), dict(new.dtypes))
        return before.unionByName(new)

    def _before(self, rows: RecodedRows) -> DataFrame:
        """Return the earlier records: columns as p0, p1, … and the keys of those released unchanged."""
        earlier, columns = self._earlier, list(enumerate(rows.columns))
        return earlier.frame.selectExpr(
            *(f"{earlier.texts_of(name).key} AS s{at}" for at, name in columns if name not in rows.labels),
            *(f"c{earlier.position(name)} AS p{at}" for at, name in columns),
        )

    def _check_alike(self, columns: Sequence[str], kinds: dict[str, str], found: dict[str, str]) -> None:
        for place, name in enumerate(columns):
            one, other = kinds[f"p{place}"], found[f"p{place}"]
            if one != other:
                raise DataError(
                    f"{self.relation.name}: column '{name}' holds {other}, in {self._earlier.name} {one}; "
                    "write both inputs with one type for it"
                )


def compared(whole: DataFrame, first: DataFrame, second: DataFrame) -> UnionDifference:
    """Return how the texts of a column differ from those of two parts that it should hold.

    Parameters
    ----------
    whole, first, second: each text once as ``k``, with its records as r, a and b.
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
    entries: their texts with records, sorted by code point, None last.
    keys: of Spark, an Arrow array of texts; several may have one text.
    positions: in ``entries`` for each key, shape (keys,), int32.
    """

    entries: list[tuple[str | None, int]]
    keys: Any
    positions: CodeArray


class SparkProfiling(Profiling):
    """The same counted by Spark.

    Parameters
    ----------
    relation: stays the caller's.
    """

    def __init__(self, relation: SparkRelation) -> None:
        super().__init__(relation)
        self._spark = relation

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return how records are spread over the texts of a column; only a sample of many comes here."""
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
        """Return the records that no other has the same texts as, and those in small classes."""
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
    session: one use of it is given back when the relation is closed.
    frame: with columns of single values.
    name, columns, sha256, separator: as for every relation.
    files: that the frame reads, as they were when they were hashed; None for a frame that reads none.

    Raises
    ------
    DataError: the frame cannot be read, has no records, or a column has no text.
    """

    def __init__(
        self,
        session: Session,
        frame: DataFrame,
        name: str,
        columns: Sequence[str],
        *,
        sha256: str | None = None,
        separator: str | None = None,
        files: Parts | None = None,
    ) -> None:
        self.session = session
        self.frame = frame
        self.name = name
        self.columns = tuple(columns)
        self.sha256 = sha256
        self.separator = separator
        self._files = files
        self._closed = False
        self._dictionaries: dict[str, Dictionary] = {}
        try:
            kinds = [kind for _, kind in frame.dtypes]
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
        """Return how the values of a column become texts."""
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
        """What a profile asks."""
        return SparkProfiling(self)

    @property
    def ordered(self) -> bool:
        """Whether records have an order: what many processes read has none."""
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

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of texts, counted by Spark."""
        values = tuple(tuple(text for text, _ in self.known(column).entries) for column in columns)
        codings = [
            Coding(column, np.arange(len(texts), dtype=np.int32), len(texts))
            for column, texts in zip(columns, values, strict=True)
        ]
        with self.combinations(codings) as combinations:
            codes, counts = combinations.fetch()
        return Groups(values, codes, counts)

    def combinations(self, codings: Sequence[Coding]) -> SparkCombinations:
        """Return the distinct combinations of the codes of columns, which stay in Spark."""
        keys = KeyWords([coding.size for coding in codings])
        with reading(self.name):
            codes = [f"k{place}" for place in range(len(codings))]
            words = self.coded(codings).selectExpr(*keys.packed(codes), "CAST(1 AS BIGINT) AS n")
            return SparkCombinations(self.session, words, keys, self.name, self.rows)

    def coded(self, codings: Sequence[Coding], kept: Sequence[str] = ()) -> DataFrame:
        """Return the records with the codes of columns as k0, k1, …, found by joins with their dictionaries.

        Parameters
        ----------
        kept: further columns of the frame, by Spark's names.
        """
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

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

    def records_query(self, projection: Projection, *, shuffled: bool = False) -> ReleaseQuery:  # noqa: ARG002
        """Refuse: the records do not come to this process."""
        self._refuse("each record")

    def counted_query(self, rows: CountedRows) -> SparkCountedQuery:
        """Return counted rows, which Spark repeats."""
        return SparkCountedQuery(self.session, rows)

    def recoded_query(self, rows: RecodedRows, *, shuffled: bool = False) -> SparkRecodedQuery:
        """Return the records as recoded, by a join."""
        assert not shuffled, "a config with another order than sorted is refused"
        return SparkRecodedQuery(self, rows)

    def appended_query(
        self,
        new: ReleaseQuery,
        path: Path,  # noqa: ARG002 - all are folders of Parquet
        scratch: Path,  # noqa: ARG002 - Spark joins them where they are
        *,
        shuffled: bool = False,
    ) -> SparkAppendedQuery:
        """Return the records as they are, together with those that another relation has as recoded."""
        assert not shuffled, "a config with another order than sorted is refused"
        assert isinstance(new, SparkRecodedQuery), "one engine reads both"
        return SparkAppendedQuery(new, self)

    def checksum(self, recoded: Collection[str]) -> int:  # noqa: ARG002 - these are texts like others
        """Sum up a hash of each record."""
        with reading(self.name):
            return sum_of(self.frame, [self.texts_of(name).key for name in self.columns])

    def changed_records(self, column: str, other: Relation) -> tuple[int, int]:
        """Compare a column with that of another relation; by a join where Spark has both."""
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
        """Compare a column with those of two relations; by joins where Spark has all of them."""
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
        """Check names, sizes and times of the files, and their hash where the file system keeps no times."""
        if self._files is None:
            return
        found = parts_of(self.session, self.name)
        same = found == self._files
        if same and not all(part.modified for part in found.parts):
            same = sha256_of(self.session, found) == self.sha256
        if not same:
            raise DataError(f"{self.name}: changed while it was read; start again when nobody writes to it")

    def _tallied(self, column: str, count: str) -> DataFrame:
        """Return the records of each text of a column as ``k`` and a count, a null as the empty text."""
        keys = self.frame.selectExpr(f"coalesce({self.texts_of(column).key}, '') AS k")
        return keys.groupBy("k").count().withColumnRenamed("count", count)

    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts."""
        return self.texts_of(column).is_text

    def holds_texts(self, column: str) -> bool:
        """Tell whether the values of a column are texts in every record."""
        return self.texts_of(column).is_text and self.known(column).entries[-1][0] is not None

    def codes(self, column: str) -> CodeArray:
        """Refuse: the records do not come to this process."""
        self._refuse(f"the value of '{column}' in each record")

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(
            f"{self.name}: the engine spark counts records where they lie, and this needs {what} in one "
            "place; set engine.name to duckdb, or ask for something that works with counts"
        )

    def close(self) -> None:
        """Give back the use of Spark; a second call does nothing."""
        if not self._closed:
            self._closed = True
            close_session(self.session)


def _column(name: str) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

    return functions.col(name)


def open_spark(location: str, options: SparkOptions, named: Collection[str] | None = None) -> SparkRelation:
    """Open a Parquet file, or a folder with such files and nothing else, wherever Hadoop finds it.

    The texts of values are those that DuckDB gives for the same file. Folders named ``column=value`` give a
    column of texts.

    Parameters
    ----------
    location: a path, or a URL such as ``hdfs://host/people.parquet``.
    named: columns with a role; see ``EngineOptions``.

    Raises
    ------
    DataError: missing, without files or records, a file that is not Parquet or damaged, files of different
        schemas, two columns of one name, a column of nested values.
    InputError: as for ``open_session``.
    """
    session = open_session(options)
    try:
        with reading(location):
            files = parts_of(session, location)
            fields = checked_fields(session, location, files.parts)
            frame = session.spark.read.parquet(location)
            index_columns = pandas_index(frame.columns, pandas_metadata(session, files.parts[0]), named)
            relation = _relation(session, frame, location, files, fields, index_columns)
            relation.index_columns = index_columns
            return relation
    except BaseException:
        close_session(session)
        raise


def _relation(
    session: Session,
    frame: DataFrame,
    location: str,
    files: Parts,
    fields: Mapping[str, str],
    index_columns: Collection[str],
) -> SparkRelation:
    columns: Sequence[str] = frame.columns
    numbered = frame.toDF(*(f"c{index}" for index in range(len(columns))))
    kept = [index for index, name in enumerate(columns) if name not in index_columns]
    values = (_without_zone(f"c{index}", fields.get(columns[index], "")) for index in kept)
    return SparkRelation(
        session,
        numbered.selectExpr(*values).toDF(*(f"c{place}" for place in range(len(kept)))),
        location,
        [columns[index] for index in kept],
        sha256=sha256_of(session, files),
        files=files,
    )


def _without_zone(column: str, field: str) -> str:
    """Return SQL for a column: a moment of 96 bits, which tells no zone, has one only to Spark."""
    return f"CAST({column} AS TIMESTAMP_NTZ) AS {column}" if field.startswith("int96 ") else column
