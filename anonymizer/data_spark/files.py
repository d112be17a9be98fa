"""Files on any Hadoop file system, read and written by Spark in a fixed order.

The same release has the same files on every cluster: records are sorted, each file has a fixed number of
them, and files are numbered. This process holds distinct rows only; Spark repeats them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel
from pyspark.sql import DataFrame, functions

from anonymizer.data.relation import CountedRows, ReleaseQuery
from anonymizer.data.source import location_of, sha256_of_list
from anonymizer.data_spark.columns import in_partitions, lookup, with_labels
from anonymizer.data_spark.session import Session, reason_of, whole_text, writing
from anonymizer.errors import DataError, OutputError
from anonymizer.model.arrays import IntArray
from anonymizer.model.labels import MISSING

THREADS = 8
"""Number of footers that are read at the same time."""

_FIELD = re.compile(r"^(optional|required|repeated) ")
_FIELD_ID = re.compile(r" = \d+$")


@dataclass(frozen=True)
class Part:
    """One file of an input.

    Attributes
    ----------
    location: URL with the file system.
    name: path relative to the folder, separated by ``/``; the name of a single file.
    size: in bytes.
    modified: milliseconds since 1970; 0 if the file system keeps no times.
    """

    location: str
    name: str
    size: int
    modified: int


@dataclass(frozen=True)
class Parts:
    """The files of an input.

    Attributes
    ----------
    parts: sorted by name.
    in_folder: whether the location is a folder.
    """

    parts: tuple[Part, ...]
    in_folder: bool


def parts_of(session: Session, location: str) -> Parts:
    """Return the files of an input: the file, or all files in a folder and its subfolders.

    Names that begin with ``_`` or ``.`` are not data, as everywhere in Hadoop.

    Parameters
    ----------
    location: a path, or a URL of a file system.

    Raises
    ------
    DataError: the location does not exist or cannot be read, or the folder has no files.
    """
    try:
        system, path = session.file_system(location)
        if not system.exists(path):
            raise DataError(f"{location}: no such file or folder; check the path")
        top = system.getFileStatus(path)
        if not top.isDirectory():
            return Parts((_part(top, str(path.getName())),), in_folder=False)
        root = str(top.getPath().toString()).rstrip("/") + "/"
        found = []
        every = system.listFiles(path, True)
        while every.hasNext():
            each = every.next()
            name = str(each.getPath().toString()).removeprefix(root)
            if not any(piece.startswith(("_", ".")) for piece in name.split("/")):
                found.append(_part(each, name))
    except Py4JJavaError as error:
        raise DataError(f"{location}: cannot be read: {reason_of(error)}") from None
    if not found:
        raise DataError(f"{location}: the folder has no files; at least one file with records is needed")
    return Parts(tuple(sorted(found, key=lambda part: part.name)), in_folder=True)


def _part(status: Any, name: str) -> Part:
    """Return a file from its status in Hadoop."""
    location = str(status.getPath().toString())
    return Part(location, name, int(status.getLen()), int(status.getModificationTime()))


def sha256_of(session: Session, files: Parts) -> str:
    """Return the SHA-256 of a file, or of the list that ``sha256sum`` prints for the files of a folder."""
    digests = session.jvm.org.apache.commons.codec.digest.DigestUtils
    hashes = []
    for part in files.parts:
        system, path = session.file_system(part.location)
        stream = system.open(path)
        try:
            hashes.append(str(digests.sha256Hex(stream)))
        finally:
            stream.close()
    if not files.in_folder:
        return hashes[0]
    return sha256_of_list([part.name for part in files.parts], hashes)


def checked_fields(session: Session, name: str, parts: Sequence[Part]) -> dict[str, str]:
    """Check that every file is Parquet and has the same columns and types.

    Returns
    -------
    The Parquet schema of each column in the first file, by name.

    Raises
    ------
    DataError: a file cannot be read, or a column differs between two files.
    """
    with ThreadPoolExecutor(THREADS) as threads:
        every = list(threads.map(lambda part: _fields(session, part), parts))
    first = every[0]
    known = dict(first)
    for part, fields in zip(parts[1:], every[1:], strict=True):
        own = dict(fields)
        for column in [*known, *(each for each in own if each not in known)]:
            if known.get(column) != own.get(column):
                raise DataError(
                    f"{name}: column '{column}' differs between files: {known.get(column) or 'missing'} in "
                    f"{parts[0].name}, {own.get(column) or 'missing'} in {part.name}; "
                    "give all files the same columns and types"
                )
    return known


def _fields(session: Session, part: Part) -> list[tuple[str, str]]:
    """Return the columns of a Parquet file with their types, in its order."""
    try:
        with _footer(session, part) as footer:
            fields = footer.getSchema().getFields()
            return [(str(each.getName()), _kind(str(each.toString()))) for each in fields]
    except Py4JJavaError as error:
        what = "not a Parquet file, or a damaged one"
        if "AccessControl" in whole_text(error) or "Permission denied" in whole_text(error):
            what = "permission denied"
        raise DataError(f"{part.location}: {what}; write it again, or take it out of the folder") from None


def pandas_metadata(session: Session, part: Part) -> str | None:
    """Return the metadata that pandas wrote into a readable Parquet file, in JSON; None without any."""
    with _footer(session, part) as footer:
        found = footer.getKeyValueMetaData().get("pandas")
        return None if found is None else str(found)


@contextmanager
def _footer(session: Session, part: Part) -> Iterator[Any]:
    """Yield the metadata in the footer of a Parquet file."""
    parquet = session.jvm.org.apache.parquet.hadoop
    _, path = session.file_system(part.location)
    reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, session.hadoop))
    try:
        yield reader.getFooter().getFileMetaData()
    finally:
        reader.close()


def _kind(field: str) -> str:
    """Return the schema of a field without its number and whether it may be null."""
    return _FIELD_ID.sub("", _FIELD.sub("", field))


_NO_MARK = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_WRITTEN = re.compile(r"part-(\d+)-.*\.parquet$")
_FOLDER = re.compile(r".*=(\d+)$")


def write_folder(session: Session, frame: DataFrame, location: str, title: str) -> None:
    """Write one file for each partition of a frame, in their order: part-00000.parquet and so on.

    Parameters
    ----------
    location: URL of a folder that does not exist yet.
    title: its name in messages.

    Raises
    ------
    OutputError: it cannot be written.
    """
    with writing(title):
        _writer(frame).parquet(location)
        system, folder = session.file_system(location)
        for number, name in enumerate(each for each in _names(system, folder) if _WRITTEN.match(each)):
            _rename(session, folder, name, number)


def write_folder_by(session: Session, frame: DataFrame, file: str, location: str, title: str) -> None:
    """Write one file for each number in a column, without that column: part-00000.parquet and so on.

    Parameters
    ----------
    frame: has all records of a file in one partition, in their order.
    file: name of the column with the number of the file, from 0.
    location, title: as for ``write_folder``.

    Raises
    ------
    OutputError: it cannot be written.
    """
    with writing(title):
        _writer(frame).partitionBy(file).parquet(location)
        system, folder = session.file_system(location)
        for name in _names(system, folder):
            if (found := _FOLDER.match(name)) is None:
                continue
            own = session.jvm.org.apache.hadoop.fs.Path(folder, name)
            (written,) = (each for each in _names(system, own) if _WRITTEN.match(each))
            _rename(session, folder, f"{name}/{written}", int(found[1]))
            system.delete(own, True)


def _writer(frame: DataFrame) -> Any:
    return frame.write.option(_NO_MARK, "false").option("compression", "snappy")


def _names(system: Any, folder: Any) -> list[str]:
    return sorted(str(each.getPath().getName()) for each in system.listStatus(folder))


def _rename(session: Session, folder: Any, name: str, number: int) -> None:
    """Rename a file to its name in the release."""
    path_of = session.jvm.org.apache.hadoop.fs.Path
    system, _ = session.file_system(str(folder.toString()))
    final = path_of(folder, f"part-{number:05}.parquet")
    if not system.rename(path_of(folder, name), final):
        raise OSError(f"{name} cannot be renamed")
    # The local file system keeps checksums in files of their own.
    system.delete(path_of(folder, f".{final.getName()}.crc"), False)


PART_RECORDS = 1_000_000
"""Records per file of a release: the same everywhere, so that the bytes are the same."""


def refuse_csv(path: Path, separator: str | None) -> None:
    """Refuse to write CSV, a single file: several processes write a folder of Parquet files.

    Raises
    ------
    OutputError: a separator is given.
    """
    if separator is not None:
        raise OutputError(
            f"output.path '{path.name}': the engine spark writes Parquet; set a name that ends in .parquet"
        )


@dataclass(frozen=True, eq=False)
class SparkCountedQuery(ReleaseQuery):
    """Counted rows, written as a folder of Parquet files.

    Attributes
    ----------
    session: stays the caller's.
    rows: in the order of the release.
    marked: whether missing values are written as nulls.
    """

    session: Session
    rows: CountedRows
    marked: bool = False

    def copy(self, path: Path, separator: str | None) -> None:
        """Write a folder on any Hadoop file system; refuse CSV."""
        refuse_csv(path, separator)
        with writing(path.name):
            frame = self._repeated()
        write_folder(self.session, frame, location_of(path), path.name)

    def _repeated(self) -> DataFrame:
        """Return a frame of all records; its partitions in sequence have the order of the release."""
        frame = in_partitions(self.session, list(_batches(self.rows)))
        for place, labels in enumerate(self.rows.labels):
            shown = [None if self.marked and label == MISSING else label for label in labels]
            frame = with_labels(self.session, frame, place, shown).drop(f"r{place}", f"j{place}")
        frame = frame.withColumn("again", functions.expr("explode(array_repeat(0, CAST(n AS INT)))"))
        names = [functions.col(f"l{place}").alias(name) for place, name in enumerate(self.rows.columns)]
        return frame.select(*names)


def _batches(rows: CountedRows) -> Iterator[Any]:
    """Yield a record batch for each file: the codes r0, r1, … of its rows, and their records in it, n.

    A row with records in two files is in both batches.
    """
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


_PLACE_BITS = 33
"""Low bits of the number that Spark gives a record, which are its place in its partition."""


@dataclass(frozen=True)
class Files:
    """Records with their order in a release.

    Attributes
    ----------
    frame: has the columns that are written and those that the order needs.
    order: expressions of Spark; records with equal values are written identically.
    names: of the written columns: in the release, by their names in the frame.
    records: number of records of the frame.
    """

    frame: DataFrame
    order: Sequence[Any]
    names: Mapping[str, str]
    records: int

    def write(self, session: Session, location: str, title: str) -> None:
        """Write the folder as ``write_folder`` does.

        When Spark sorts, a random sample decides which records a partition gets. So records are numbered in
        their order first, and the numbers decide which file they are in.
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
            filed = numbered.selectExpr("*", f"CAST(place DIV {PART_RECORDS} AS INT) AS file")
            ordered = filed.repartition(files, "file").sortWithinPartitions("file", "place").drop("place")
            write_folder_by(session, ordered.toDF(*self.names.values(), file), file, location, title)

    @contextmanager
    def _numbered(self, parts: int) -> Iterator[DataFrame]:
        """Yield the written columns and ``place``, which numbers the records in their order from 0."""
        cut = self.frame.repartitionByRange(parts, *self.order).sortWithinPartitions(*self.order)
        kept = cut.selectExpr(*self.names, "monotonically_increasing_id() AS m")
        # Computed again, the partitions would have other records.
        kept.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            part, within = f"shiftright(m, {_PLACE_BITS})", f"(m & {(1 << _PLACE_BITS) - 1})"
            counted = kept.selectExpr(f"CAST({part} AS INT) AS part").groupBy("part").count().collect()
            first = lookup(_begins(dict(map(tuple, counted))).tolist(), part, "BIGINT")
            yield kept.selectExpr(*self.names, f"{first} + {within} AS place")
        finally:
            kept.unpersist()


def _begins(records: Mapping[int, int]) -> IntArray:
    """Return the place of the first record of each partition, given the records of those that have any.

    >>> _begins({0: 5, 2: 3}).tolist()
    [0, 5, 5]
    """
    counts = np.zeros(max(records) + 1, dtype=np.int64)
    counts[list(records)] = list(records.values())
    begins: IntArray = np.cumsum(counts) - counts
    return begins
