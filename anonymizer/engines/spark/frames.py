"""Arrays of this process as frames of Spark, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymizer.engines.spark.session import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    # Else Spark makes rows of them in the driver if they are small, and deals these as it has cores.
    return _created(session, batches, {_ROWS: str(2**31 - 1), _HELD: "0"})


def _created(session: Session, batches: Sequence[Any], settings: Mapping[str, str]) -> DataFrame:
    import pyarrow as pa  # noqa: PLC0415 - comes with the extra

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
