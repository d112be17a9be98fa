"""Records written as recoded by Spark, each joined to the row that says what becomes of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.data.relation import ByCodes, ByRegion, RecodedRows, RecodedWriter
from anonymizer.data.source import location_of
from anonymizer.engines.spark.failures import reading, writing
from anonymizer.engines.spark.files_in_order import Files
from anonymizer.engines.spark.frames import small_frame, to_spark
from anonymizer.engines.spark.keys import KeyWords
from anonymizer.engines.spark.regions import SparkRegions
from anonymizer.errors import OutputError
from anonymizer.model.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from anonymizer.engines.spark.relation import SparkRelation

BATCH = 1_000_000
"""Rows that are handed to Spark in one piece."""


class SparkRecodedWriter(RecodedWriter):
    """Writes folders of Parquet files, sorted by what is published.

    Parameters
    ----------
    relation: whose records are written; stays the caller's.
    """

    def __init__(self, relation: SparkRelation) -> None:
        self._relation = relation

    def write_csv(self, rows: RecodedRows, path: Path, separator: str, secret: bytes | None) -> None:  # noqa: ARG002
        """Refuse: many processes write Parquet."""
        raise OutputError(
            f"output.path '{path.name}': this engine writes Parquet; set a name that ends in .parquet"
        )

    def write_parquet(self, rows: RecodedRows, path: Path, secret: bytes | None) -> None:
        """Write a folder of Parquet files."""
        assert secret is None, "a config with another order than sorted is refused"
        self.write_folder(rows, location_of(path), path.name)

    def write_folder(self, rows: RecodedRows, location: str, title: str) -> None:
        """Write a folder wherever Hadoop finds it; raises as ``write_parquet`` does."""
        with writing(title), reading(self._relation.name):
            frame = self._labelled(rows, self._joined(rows))
            published = {f"p{place}": name for place, name in enumerate(rows.columns)}
            files = Files(frame, self._order(rows), published, int(rows.counts[rows.kept].sum()))
            files.write(self._relation.session, location, title)

    def checksum(self, rows: RecodedRows) -> int:
        """Sum up a hash of each record as recoded."""
        with reading(self._relation.name):
            return self._sum(
                self._labelled(rows, self._joined(rows)),
                [f"{'p' if name in rows.labels else 's'}{place}" for place, name in enumerate(rows.columns)],
            )

    def own_checksum(self, recoded: Collection[str]) -> int:  # noqa: ARG002 - these are texts like others
        """Return the same of the records of the relation."""
        with reading(self._relation.name):
            return self._sum(self._relation.frame, [self._key(name) for name in self._relation.columns])

    def _sum(self, frame: DataFrame, texts: Sequence[str]) -> int:
        listed = ", ".join(f"coalesce({text}, '')" for text in texts)
        ((found,),) = frame.selectExpr(f"sum(CAST(xxhash64({listed}) AS DECIMAL(20, 0)))").collect()
        return int(found or 0)

    def _joined(self, rows: RecodedRows) -> DataFrame:
        """Return the released records: their unchanged columns, and the places of labels as r0, r1, …"""
        relation = self._relation
        unchanged = [f"c{relation.position(name)}" for name in rows.columns if name not in rows.labels]
        found = rows.found
        keys = KeyWords([coding.size for coding in found.codings])
        codes = [f"k{place}" for place in range(len(found.codings))]
        records = relation.coded(found.codings, unchanged).selectExpr(*keys.packed(codes), *unchanged)
        if isinstance(found, ByRegion):
            return self._in_regions(rows, found, records, keys)
        told = self._told(rows, found, keys)
        if not _in_parts(found):
            return records.join(told, on=list(keys.names), how="inner").where("kept")
        keys_of = (self._key(name) for name in rows.columns if name not in rows.labels)
        order = ", ".join(f"{key} NULLS LAST" for key in keys_of) or "1"
        numbered = f"row_number() OVER (PARTITION BY {', '.join(keys.names)} ORDER BY {order}) AS i"
        records = records.selectExpr("*", numbered)
        joined = records.join(told, on=list(keys.names), how="inner")
        return joined.where("kept AND i > first AND i <= last")

    def _in_regions(
        self, rows: RecodedRows, found: ByRegion, records: DataFrame, keys: KeyWords
    ) -> DataFrame:
        """Return the same for rows that are regions.

        Parameters
        ----------
        records: their keys and their unchanged columns.
        """
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        rest = "NULL" if found.rest is None else str(found.rest)
        if found.regions is None:
            records = records.selectExpr("*", f"CAST({rest} AS INT) AS region")
        else:
            assert isinstance(found.regions, SparkRegions), "regions are kept where the records are"
            ends = found.regions.frame.select(*keys.names, "region")
            records = records.join(ends, on=list(keys.names), how="inner" if found.rest is None else "left")
            others = [name for name in records.columns if name != "region"]
            records = records.selectExpr(*others, f"coalesce(region, {rest}) AS region")
        told: dict[str, Any] = {"region": np.flatnonzero(rows.kept).astype(np.int32)}
        told |= {f"r{place}": codes[rows.kept] for place, codes in enumerate(rows.places.values())}
        batches = pa.table(told).to_batches(max_chunksize=BATCH)
        return records.join(to_spark(self._relation.session, batches), on="region", how="inner")

    def _told(self, rows: RecodedRows, found: ByCodes, keys: KeyWords) -> DataFrame:
        """Return the rows: their words, whether they are kept, which records of the words, and the places."""
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        words = keys.pack(found.codes)
        last = _within(found, np.cumsum(rows.counts), rows.counts)
        columns: dict[str, Any] = dict(zip(keys.names, words, strict=True))
        columns |= {"kept": rows.kept, "first": last - rows.counts, "last": last}
        columns |= {f"r{place}": codes for place, codes in enumerate(rows.places.values())}
        return to_spark(self._relation.session, pa.table(columns).to_batches(max_chunksize=BATCH))

    def _labelled(self, rows: RecodedRows, frame: DataFrame) -> DataFrame:
        """Return the released columns as p0, p1, …, in their order."""
        import pyarrow as pa  # noqa: PLC0415
        from pyspark.sql import functions  # noqa: PLC0415

        found = {}
        for place, (name, labels) in enumerate(rows.labels.items()):
            small = {f"j{place}": pa.array(range(len(labels)), pa.int32()), f"l{place}": pa.array(labels)}
            known = small_frame(self._relation.session, small)
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
                f"{found.get(name, f'c{self._relation.position(name)}')} AS p{place}"
                for place, name in enumerate(rows.columns)
            ),
        )

    def _order(self, rows: RecodedRows) -> list[Any]:
        """Return what records are sorted by: texts, a null as the empty one but before it."""
        from pyspark.sql import functions  # noqa: PLC0415 - comes with the extra

        order = []
        for place, name in enumerate(rows.columns):
            if name in rows.labels:
                order.append(functions.col(f"p{place}"))
            else:
                order += [functions.expr(f"coalesce(s{place}, '')"), functions.expr(f"s{place} IS NULL")]
        return order

    def _key(self, column: str) -> str:
        """Return SQL for the key of a column that is released unchanged."""
        return self._relation.texts_of(column).key


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
