"""Open files of any file system of Hadoop as relations of Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from anonymizer.data.csv import pandas_index
from anonymizer.engines.spark.failures import reading
from anonymizer.engines.spark.files import Parts, checked_fields, pandas_metadata, parts_of, sha256_of
from anonymizer.engines.spark.options import SparkOptions
from anonymizer.engines.spark.relation import SparkRelation
from anonymizer.engines.spark.session import Session, close_session, open_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
            unmatched_columns = pandas_index(frame.columns, pandas_metadata(session, files.parts[0]), named)
            relation = _relation(session, frame, location, files, fields, unmatched_columns)
            relation.unmatched_columns = unmatched_columns
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
    unmatched_columns: Collection[str],
) -> SparkRelation:
    columns: Sequence[str] = frame.columns
    numbered = frame.toDF(*(f"c{index}" for index in range(len(columns))))
    kept = [index for index, name in enumerate(columns) if name not in unmatched_columns]
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
