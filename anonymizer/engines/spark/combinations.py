"""Combinations that Spark keeps, in the memory and on the disks of its processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.data.distinct_rows import DistinctRows
from anonymizer.engines.spark.failures import reading
from anonymizer.engines.spark.frames import lookup
from anonymizer.engines.spark.keys import KeyWords
from anonymizer.engines.spark.regions import SparkRegions
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.out_of_core import CodedRows, FirstRegions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from anonymizer.engines.spark.session import Session


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
