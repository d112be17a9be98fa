"""Columns in Spark: texts of typed columns, column statistics, and exchange of arrays.

The text of a typed value is the one that DuckDB gives for it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, functions

from anonymizer.data.duckdb.database import query_once, text_of
from anonymizer.data.relation import ColumnStatistics, entropy_bits
from anonymizer.data.source import KeyColumns, MissingTexts
from anonymizer.data.values import (
    WHOLE,
    absent_texts,
    identities_of_keys,
    number_key,
    split_absent,
    usual_number,
)
from anonymizer.data_spark.session import Session
from anonymizer.errors import DataError
from anonymizer.model.dates import DAY_OR_TIME, days_of
from anonymizer.model.identity import text_identity
from anonymizer.model.table import CODE

_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_HELD = "spark.sql.execution.arrow.localRelationThreshold"


def to_spark(session: Session, batches: Sequence[Any]) -> DataFrame:
    """Return a frame of Spark with the rows of some record batches.

    Parameters
    ----------
    batches: of Arrow, with the same schema; at least one.
    """
    return _created(session, batches, {_ROWS: str(2**31 - 1)})


def in_partitions(session: Session, batches: Sequence[Any]) -> DataFrame:
    """Return a frame of Spark with one partition for each of some record batches, in their order.

    Parameters
    ----------
    batches: as for ``to_spark``.
    """
    # Otherwise Spark turns small batches into rows in the driver, and distributes these by its cores.
    return _created(session, batches, {_ROWS: str(2**31 - 1), _HELD: "0"})


def _created(session: Session, batches: Sequence[Any], settings: Mapping[str, str]) -> DataFrame:
    spark = session.spark
    before = {name: str(spark.conf.get(name)) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        return spark.createDataFrame(pa.Table.from_batches(list(batches)))
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def small_frame(session: Session, columns: dict[str, Any]) -> DataFrame:
    """Return columns (arrays of Arrow or numpy, of equal length) as a frame copied to every process."""
    return functions.broadcast(to_spark(session, pa.table(columns).combine_chunks().to_batches()))


def with_labels(session: Session, frame: DataFrame, column: int, labels: Sequence[str | None]) -> DataFrame:
    """Return a frame with the label of each code in ``r0`` as ``l0``, and with the joined code as ``j0``.

    Parameters
    ----------
    column: number that takes the place of 0 in these names.
    """
    small = {
        f"j{column}": pa.array(range(len(labels)), pa.int32()),
        f"l{column}": pa.array(labels, pa.string()),
    }
    same = functions.col(f"r{column}") == functions.col(f"j{column}")
    return frame.join(small_frame(session, small), on=same, how="left")


def lookup(codes: Sequence[int], index: str, kind: str = "INT") -> str:
    """Return SQL for the element of a list at an index from 0, both whole numbers.

    Parameters
    ----------
    kind: type of the elements in SQL.
    """
    # From one text, as a list of thousands of literals is slow to plan.
    listed = ",".join(map(str, codes))
    return f"element_at(CAST(split('{listed}', ',') AS ARRAY<{kind}>), CAST({index} AS INT) + 1)"


def spread_of_frame(frame: DataFrame, text: str, limit: int, absent: Collection[str]) -> ColumnStatistics:
    """Return the statistics of a column, as ``Profiling.spread`` does.

    Parameters
    ----------
    text: SQL of Spark for the column's text.
    """
    texts = frame.selectExpr(f"{text} AS t").groupBy("t").count().withColumnRenamed("count", "n")
    present = functions.col("t").isNotNull() & ~functions.col("t").isin(sorted(absent))
    counted = texts.withColumn("p", functions.coalesce(present, functions.lit(False)))
    sizes = counted.groupBy("p", "n").count().collect()
    counts = {int(n): int(count) for is_present, n, count in sizes if is_present}
    nulls = sum(int(n) * int(count) for is_present, n, count in sizes if not is_present)
    distinct, records = sum(counts.values()), sum(n * count for n, count in counts.items())
    scores = math.fsum(count * n * math.log2(n) for n, count in sorted(counts.items()))
    share = distinct // limit if distinct > limit else 1
    sampled = "" if share == 1 else f" AND crc32(CAST(t AS BINARY)) % {share} = 0"
    chosen = counted.where(f"p{sampled}")
    sample = chosen.select("t", "n").toArrow()
    entries = sorted(zip(sample.column("t").to_pylist(), sample.column("n").to_pylist(), strict=True))
    entropy = entropy_bits(records, scores)
    return ColumnStatistics(
        distinct, counts.get(1, 0), max(counts, default=0), nulls, entropy, tuple(entries)
    )


def matching_in_frame(frame: DataFrame, text: str, pattern: str) -> int:
    """Return the records whose text matches a regular expression from end to end."""
    texts = frame.selectExpr(f"{text} AS t")
    return int(texts.where(functions.col("t").rlike(rf"\A(?:{pattern})\z")).count())


_UNLIKE_ITSELF = r"(?U)^\\s|\\s$|[^\\x00-\\x7f]"
"""Pattern, in SQL of Spark, of texts that may differ from their identity."""


def spelled_keys(frame: DataFrame, keys: KeyColumns) -> dict[str, str]:
    """Return what identifies a unit, by the texts of a column ``t`` of keys that it differs from."""
    number, usual = (_whole_text(each) for each in (keys.numerals.pattern, WHOLE))
    unlike = f"t RLIKE '{_UNLIKE_ITSELF}'"
    present = frame.where("t IS NOT NULL")
    others = present.where(f"NOT ({number}) AND NOT ({unlike})").distinct().limit(len(keys.codes) + 1)
    strange = {str(each.t) for each in others.collect()}
    if len(strange - absent_texts(strange, keys.codes)) == 0:
        texts = [str(each.t) for each in present.where(f"NOT ({usual})").distinct().collect()]
        absent, numeric = split_absent(texts, keys.codes, keys.numerals)
        if numeric or len(absent) == len(texts):
            codes = [own for code in keys.codes if (own := usual_number(code)) is not None]
            return identities_of_keys([*texts, *codes], keys.codes, keys.numerals, numeric=True)
    listed = ", ".join(map(_literal, map(text_identity, keys.codes)))
    wanted = f"{unlike} OR t IN ({listed})" if keys.codes else unlike
    texts = [str(each.t) for each in present.where(wanted).distinct().collect()]
    return identities_of_keys(texts, keys.codes, keys.numerals, numeric=False)


def spelled_codes(frame: DataFrame, column: str, missing: MissingTexts) -> set[str]:
    """Return the texts of a column ``t`` that are codes of missing values in some spelling."""
    if not missing.codes:
        return set()
    listed = ", ".join(map(_literal, map(text_identity, missing.codes)))
    values = [f"{float(own)!r}D" for code in missing.codes if (own := number_key(code)) is not None]
    candidate = f"t IN ({listed}) OR t RLIKE '{_UNLIKE_ITSELF}'"
    number = _whole_text(missing.numerals.pattern)
    if values and column not in missing.as_text:
        plain = f"translate(trim(t), '{missing.numerals.decimal}', '.')"
        candidate += f" OR coalesce(try_cast({plain} AS DOUBLE) IN ({', '.join(values)}), false)"
    days = [] if column in missing.as_text else days_of(missing.codes)
    if days:
        candidate += f" OR substr(trim(t), 1, 10) IN ({', '.join(map(_literal, days))})"
    present = frame.where("t IS NOT NULL")
    texts = [str(each.t) for each in present.where(candidate).distinct().collect()]
    if not (values or days) or column in missing.as_text:
        return absent_texts(texts, missing.codes)
    no_number = f"NOT ({number}) OR {_whole_text(CODE.pattern)}"
    no_moment = f"NOT ({_whole_text(DAY_OR_TIME)}) OR try_cast(substr(t, 1, 10) AS DATE) IS NULL"
    # One text in place of all others says what these are.
    others = [present.where(f"NOT ({candidate}) AND ({each})").limit(1) for each in (no_number, no_moment)]
    rest = [str(each.t) for own in others for each in own.collect()]
    return split_absent([*texts, *rest], missing.codes, missing.numerals)[0]


def _literal(text: str) -> str:
    """Return a text in SQL of Spark."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _whole_text(pattern: str) -> str:
    """Return SQL of Spark for whether a text ``t`` matches a pattern from end to end."""
    whole = rf"\A(?:{pattern})\z"
    return f"t RLIKE {_literal(whole)}"


PLAIN = ("boolean", "tinyint", "smallint", "int", "bigint", "decimal")
"""Types whose casts to text are the same in Spark and DuckDB."""

_MADE = {
    "float": ("CAST(k AS FLOAT)", "FLOAT"),
    "double": ("CAST(k AS DOUBLE)", "DOUBLE"),
    "timestamp_ntz": ("CAST(k AS TIMESTAMP)", "TIMESTAMP"),
    "timestamp": ("CAST(k || '+00' AS TIMESTAMPTZ)", "TIMESTAMP WITH TIME ZONE"),
    "binary": ("unhex(k)", "BLOB"),
}
"""By Spark's type: SQL of DuckDB for the value of a key, and its type in DuckDB."""


class ColumnTexts:
    """The texts of one column.

    Parameters
    ----------
    name: of the column in the input, for messages.
    column: as Spark's SQL calls it.
    kind: Spark's type.

    Attributes
    ----------
    kind: as given.
    key: SQL of Spark for a text of each value, distinct for distinct values, null for null.
    canonical: whether the key is the text itself.

    Raises
    ------
    DataError: values of the type have no text.
    """

    def __init__(self, name: str, column: str, kind: str) -> None:
        self.kind = kind
        self._kind = kind.partition("(")[0]
        self.canonical = self._kind not in _MADE
        if self._kind in {"string", "varchar", "char"}:
            self.key = column
        elif self._kind == "binary":
            self.key = f"hex({column})"
        elif self._kind == "date":
            # Only Spark puts a sign before years of more than four digits.
            self.key = f"regexp_replace(CAST({column} AS STRING), '^[+]', '')"
        elif self._kind in PLAIN or self._kind in _MADE:
            self.key = f"CAST({column} AS STRING)"
        else:
            raise DataError(f"column '{name}' has the nested type {kind}; write it as text, or leave it out")

    @property
    def is_text(self) -> bool:
        """Whether values are texts."""
        return self._kind in {"string", "varchar", "char"}

    def texts(self, keys: Any) -> list[str | None]:
        """Return the texts of keys.

        Parameters
        ----------
        keys: Arrow array of texts.
        """
        if self.canonical:
            texts: list[str | None] = keys.to_pylist()
            return texts

        value, kind = _MADE[self._kind]
        numbered = pa.table({"i": pa.array(range(len(keys)), pa.int64()), "k": keys})
        query = f"SELECT {text_of('v', kind)} FROM (SELECT i, {value} AS v FROM keys) ORDER BY i"
        return [text for (text,) in query_once(query, {"keys": numbered})]
