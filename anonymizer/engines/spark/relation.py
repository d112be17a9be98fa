"""Relations in Spark: whatever it can read, counted where it lies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from anonymizer.data.relation import (
    Coding,
    ColumnStatistics,
    Groups,
    Projection,
    RecodedWriter,
    Relation,
    UnionDifference,
)
from anonymizer.engines.spark.beside import SparkBesideWriter, compared
from anonymizer.engines.spark.combinations import SparkCombinations
from anonymizer.engines.spark.failures import reading
from anonymizer.engines.spark.files import Parts, parts_of, sha256_of
from anonymizer.engines.spark.frames import small_frame
from anonymizer.engines.spark.keys import KeyWords
from anonymizer.engines.spark.recoded import SparkRecodedWriter
from anonymizer.engines.spark.session import Session, close_session
from anonymizer.engines.spark.spread import matching_in_frame, spread_of_frame
from anonymizer.engines.spark.texts import ColumnTexts
from anonymizer.engines.spark.writer import SparkWriter
from anonymizer.errors import DataError, InputError
from anonymizer.model.arrays import CodeArray, IntArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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


class SparkRelation(Relation):
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

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return how records are spread over the texts of a column; only a sample of many comes here."""
        texts = self.texts_of(column)
        if not texts.canonical:
            return super().spread(column, limit, absent)
        with reading(self.name):
            return spread_of_frame(self.frame, texts.key, limit, absent)

    def count_matching(self, column: str, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        texts = self.texts_of(column)
        if not texts.canonical:
            return super().count_matching(column, pattern)
        with reading(self.name):
            return matching_in_frame(self.frame, texts.key, pattern)

    def in_small_classes(self, columns: Sequence[str], least: int) -> tuple[int, int]:
        """Return the records that no other has the same texts as, and those in small classes."""
        keys = [f"{self.texts_of(column).key} AS t{place}" for place, column in enumerate(columns)]
        with reading(self.name):
            sizes = self.frame.selectExpr(*keys).groupBy(*(f"t{place}" for place in range(len(keys)))).count()
            small = f"coalesce(sum(IF(count < {least}, count, 0)), 0)"
            alone, below = sizes.selectExpr("count_if(count = 1)", small).collect()[0]
        return int(alone), int(below)

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

    @property
    def writer(self) -> SparkWriter:
        """What writes counted rows, with the same Spark."""
        return SparkWriter(self.session)

    @property
    def recoded_writer(self) -> SparkRecodedWriter:
        """What writes the records as recoded, by a join."""
        return SparkRecodedWriter(self)

    def recoded_writer_beside(self, earlier: Relation) -> RecodedWriter:
        """Return what writes the records as recoded, by a join, together with those of another relation."""
        assert isinstance(earlier, SparkRelation), "one engine reads both"
        return SparkBesideWriter(self, earlier)

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

    def sorted_rows(self, projection: Projection) -> IntArray:  # noqa: ARG002 - none will do
        """Refuse: the records do not come to this process."""
        self._refuse("the order of the records")

    def write_csv(self, projection: Projection, rows: IntArray, path: Path, separator: str) -> None:  # noqa: ARG002
        """Refuse: the records do not come to this process."""
        self._refuse("each record")

    def write_parquet(self, projection: Projection, rows: IntArray, path: Path) -> None:  # noqa: ARG002
        """Refuse: the records do not come to this process."""
        self._refuse("each record")

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
