"""Counted rows written by Spark, which repeats them; this process holds the distinct ones alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.data.relation import CountedRows, CountedWriter
from anonymizer.data.source import location_of
from anonymizer.engines.spark.failures import writing
from anonymizer.engines.spark.folder import write_folder
from anonymizer.engines.spark.frames import in_partitions, small_frame
from anonymizer.engines.spark.session import Session
from anonymizer.errors import OutputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PART_RECORDS = 1_000_000
"""Records of one file of a release; the same wherever it is written, so that the bytes are."""


class SparkWriter(CountedWriter):
    """Writes folders of Parquet files.

    Parameters
    ----------
    session: stays the caller's.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def write_csv(self, rows: CountedRows, path: Path, separator: str) -> None:  # noqa: ARG002 - none will do
        """Refuse: Spark writes folders, and a CSV release is one file."""
        raise OutputError(
            f"output.path '{path.name}': the engine spark writes Parquet; set a name that ends in .parquet"
        )

    def write_parquet(self, rows: CountedRows, path: Path) -> None:
        """Write a folder of Parquet files, all columns as texts."""
        self.write_folder(rows, location_of(path), path.name)

    def write_folder(self, rows: CountedRows, location: str, title: str) -> None:
        """Write a folder wherever Hadoop finds it.

        Parameters
        ----------
        title: what messages call it.

        Raises
        ------
        OutputError: it cannot be written.
        """
        with writing(title):
            frame = self._repeated(rows)
        write_folder(self._session, frame, location, title)

    def _repeated(self, rows: CountedRows) -> DataFrame:
        """Return a frame of all records in their order, as its partitions stand one after another."""
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra
        from pyspark.sql import functions  # noqa: PLC0415

        frame = in_partitions(self._session, list(_batches(rows)))
        for place, labels in enumerate(rows.labels):
            small = {f"j{place}": pa.array(range(len(labels)), pa.int32()), f"l{place}": pa.array(labels)}
            known = small_frame(self._session, small)
            count_matching = functions.col(f"r{place}") == functions.col(f"j{place}")
            frame = frame.join(known, on=count_matching, how="left").drop(f"r{place}", f"j{place}")
        frame = frame.withColumn("again", functions.expr("explode(array_repeat(0, CAST(n AS INT)))"))
        names = [functions.col(f"l{place}").alias(name) for place, name in enumerate(rows.columns)]
        return frame.select(*names)


def _batches(rows: CountedRows) -> Iterator[Any]:
    """Give a record batch for each file: the codes r0, r1, … of its rows and how often it has them, n.

    A row whose records are in two files is in both batches.
    """
    import pyarrow as pa  # noqa: PLC0415

    ends = np.cumsum(rows.counts)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, max(total, 1), PART_RECORDS):
        stop = min(start + PART_RECORDS, total)
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left"))
        own = slice(first, last + 1)
        begins = np.maximum(ends[own] - rows.counts[own], start)
        columns = {f"r{place}": pa.array(codes[own], pa.int32()) for place, codes in enumerate(rows.codes)}
        yield pa.record_batch({**columns, "n": pa.array(np.minimum(ends[own], stop) - begins, pa.int64())})
