"""Arrays of this process as frames of Spark, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anonymizer.engines.spark.session import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def to_spark(session: Session, batches: Sequence[Any]) -> DataFrame:
    """Return a frame of Spark with one partition for each of some record batches, in their order.

    Parameters
    ----------
    batches: of Arrow, with the same schema; at least one.
    """
    import pyarrow as pa  # noqa: PLC0415 - comes with the extra

    spark = session.spark
    before = spark.conf.get(_ROWS)
    spark.conf.set(_ROWS, str(2**31 - 1))
    try:
        return spark.createDataFrame(pa.Table.from_batches(list(batches)))
    finally:
        spark.conf.set(_ROWS, str(before))


def small_frame(session: Session, columns: dict[str, Any]) -> DataFrame:
    """Return columns (arrays of Arrow or numpy, of equal length) as a frame that every process gets whole."""
    import pyarrow as pa  # noqa: PLC0415
    from pyspark.sql import functions  # noqa: PLC0415

    return functions.broadcast(to_spark(session, pa.table(columns).combine_chunks().to_batches()))


def lookup(codes: Sequence[int], index: str, kind: str = "INT") -> str:
    """Return SQL for the element of a list at an index from 0, both whole numbers.

    Parameters
    ----------
    kind: type of the elements in SQL.
    """
    # Of a text that is read once, as a list of thousands of literals is slow to plan.
    listed = ",".join(map(str, codes))
    return f"element_at(CAST(split('{listed}', ',') AS ARRAY<{kind}>), CAST({index} AS INT) + 1)"
