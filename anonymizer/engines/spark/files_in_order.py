"""Records of Spark written in an order, so many in each file, the same files whoever does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.engines.spark.folder import write_folder, write_folder_by
from anonymizer.engines.spark.session import Session
from anonymizer.engines.spark.writer import PART_RECORDS
from anonymizer.model.arrays import IntArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE_BITS = 33
"""Of the number that Spark gives a record, those that tell its place in its partition."""


@dataclass(frozen=True)
class Files:
    """Records that are to be written in an order.

    Attributes
    ----------
    frame: has the columns that are written and those that the order needs.
    order: expressions of Spark, which tell apart all records that are not written alike.
    names: of the columns that are written, what they are called there.
    records: in the frame.
    """

    frame: DataFrame
    order: Sequence[Any]
    names: Mapping[str, str]
    records: int

    def write(self, session: Session, location: str, title: str) -> None:
        """Write the folder; the parameters and what is raised are those of ``write_folder``.

        Spark cuts what it sorts where a sample tells, another one each time: records are numbered in their
        order first, and these numbers tell the file.
        """
        files = max(-(-self.records // PART_RECORDS), 1)
        if files == 1:
            alone = self.frame.repartition(1).sortWithinPartitions(*self.order)
            write_folder(session, alone.select(*self.names).toDF(*self.names.values()), location, title)
            return
        file = "file"
        while file in self.names.values():
            file += "_"
        with self._numbered(files) as numbered:
            told = numbered.selectExpr("*", f"CAST(place DIV {PART_RECORDS} AS INT) AS file")
            ordered = told.repartition(files, "file").sortWithinPartitions("file", "place").drop("place")
            write_folder_by(session, ordered.toDF(*self.names.values(), file), file, location, title)

    @contextmanager
    def _numbered(self, parts: int) -> Iterator[DataFrame]:
        """Yield the written columns and ``place``, which numbers the records in their order from 0."""
        from pyspark import StorageLevel  # noqa: PLC0415 - comes with the extra

        cut = self.frame.repartitionByRange(parts, *self.order).sortWithinPartitions(*self.order)
        kept = cut.selectExpr(*self.names, "monotonically_increasing_id() AS m")
        # Cut again, it would be cut elsewhere.
        kept.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            part, within = f"shiftright(m, {_PLACE_BITS})", f"(m & {(1 << _PLACE_BITS) - 1})"
            counted = kept.selectExpr(f"CAST({part} AS INT) AS part").groupBy("part").count().collect()
            listed = ",".join(map(str, _begins(dict(map(tuple, counted))).tolist()))
            first = f"element_at(CAST(split('{listed}', ',') AS ARRAY<BIGINT>), CAST({part} AS INT) + 1)"
            yield kept.selectExpr(*self.names, f"{first} + {within} AS place")
        finally:
            kept.unpersist()


def _begins(records: Mapping[int, int]) -> IntArray:
    """Return the place of the first record of each partition, by their records; those without have none.

    >>> _begins({0: 5, 2: 3}).tolist()
    [0, 5, 5]
    """
    counts = np.zeros(max(records) + 1, dtype=np.int64)
    counts[list(records)] = list(records.values())
    begins: IntArray = np.cumsum(counts) - counts
    return begins
