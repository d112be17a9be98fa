"""How the records of a column are spread, counted by Spark where the distinct texts are too many to fetch."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from anonymizer.data.relation import ColumnStatistics, entropy_bits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def spread_of_frame(frame: DataFrame, text: str, limit: int, absent: Collection[str]) -> ColumnStatistics:
    """Return the spread of a column; the parameters are those of ``Relation.spread``.

    Parameters
    ----------
    text: SQL of Spark for the column's text.
    """
    from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

    texts = frame.selectExpr(f"{text} AS t").groupBy("t").count().withColumnRenamed("count", "n")
    present = functions.col("t").isNotNull() & ~functions.col("t").isin(sorted(absent))
    told = texts.withColumn("p", functions.coalesce(present, functions.lit(False)))
    sizes = told.groupBy("p", "n").count().collect()
    counts = {int(n): int(count) for is_present, n, count in sizes if is_present}
    nulls = sum(int(n) * int(count) for is_present, n, count in sizes if not is_present)
    distinct, records = sum(counts.values()), sum(n * count for n, count in counts.items())
    scores = math.fsum(count * n * math.log2(n) for n, count in sorted(counts.items()))
    share = distinct // limit if distinct > limit else 1
    chosen = told.where("p") if share == 1 else told.where(f"p AND crc32(CAST(t AS BINARY)) % {share} = 0")
    sample = chosen.select("t", "n").toArrow()
    entries = sorted(zip(sample.column("t").to_pylist(), sample.column("n").to_pylist(), strict=True))
    entropy = entropy_bits(records, scores)
    return ColumnStatistics(
        distinct, counts.get(1, 0), max(counts, default=0), nulls, entropy, tuple(entries)
    )


def matching_in_frame(frame: DataFrame, text: str, pattern: str) -> int:
    """Return the records whose text matches a regular expression from end to end."""
    from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

    texts = frame.selectExpr(f"{text} AS t")
    return int(texts.where(functions.col("t").rlike(rf"\A(?:{pattern})\z")).count())
