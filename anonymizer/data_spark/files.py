"""Files on any Hadoop file system, read and written by Spark in a fixed order.

The same release gives the same files on every cluster: records are written in an order, a fixed number to a
file, and files are named by their order. Of counted rows this process holds only the distinct ones; Spark
repeats them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.data.csv import check_header
from anonymizer.data.relation import CountedRows, ReleaseQuery
from anonymizer.data.source import location_of, sha256_of_list
from anonymizer.data_spark.columns import in_partitions, small_frame
from anonymizer.data_spark.session import Session, reason_of, whole_text, writing
from anonymizer.errors import DataError, OutputError
from anonymizer.model.arrays import IntArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

THREADS = 8
"""Footers that are read at the same time."""

_FIELD = re.compile(r"^(optional|required|repeated) ")
_FIELD_ID = re.compile(r" = \d+$")


@dataclass(frozen=True)
class Part:
    """One file of an input.

    Attributes
    ----------
    location: as Hadoop writes it, with the file system.
    name: relative to the folder, parts of it separated by ``/``; of a single file its name.
    size: bytes.
    modified: milliseconds since 1970; 0 where the file system does not say.
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
    in_folder: whether a folder was named, and not a file.
    """

    parts: tuple[Part, ...]
    in_folder: bool


def parts_of(session: Session, location: str) -> Parts:
    """Return the files of an input: a file itself, or all in a folder and folders in it.

    Names that begin with ``_`` or ``.`` are not data, as everywhere in Hadoop.

    Parameters
    ----------
    location: a path, or a URL of a file system.

    Raises
    ------
    DataError: there is no such file, or no file in the folder.
    """
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415 - comes with the extra

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
        raise DataError(f"{location}: no file in the folder; at least one with records is needed")
    return Parts(tuple(sorted(found, key=lambda part: part.name)), in_folder=True)


def _part(status: Any, name: str) -> Part:
    """Return a file by what Hadoop says of it."""
    location = str(status.getPath().toString())
    return Part(location, name, int(status.getLen()), int(status.getModificationTime()))


def sha256_of(session: Session, files: Parts) -> str:
    """Return the SHA-256 of a file; of a folder that of the list which ``sha256sum`` prints of its files."""
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
    """Check that every file is Parquet and has the columns of the first, of the same types.

    Returns
    -------
    The type of each column in the first file with the column's name, as the file tells it, by this name.

    Raises
    ------
    DataError: naming the file that cannot be read, or both files and the column that differ.
    """
    with ThreadPoolExecutor(THREADS) as threads:
        every = list(threads.map(lambda part: _fields(session, part), parts))
    first = every[0]
    check_header(parts[0].location if len(parts) > 1 else name, [column for column, _ in first])
    known = dict(first)
    for part, fields in zip(parts[1:], every[1:], strict=True):
        own = dict(fields)
        for column in [*known, *(each for each in own if each not in known)]:
            if known.get(column) != own.get(column):
                raise DataError(
                    f"{name}: column '{column}' differs between files: {known.get(column) or 'missing'} in "
                    f"{parts[0].name}, {own.get(column) or 'missing'} in {part.name}; give all one schema"
                )
    return known


def _fields(session: Session, part: Part) -> list[tuple[str, str]]:
    """Return the columns of a Parquet file with their types, in its order."""
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415 - comes with the extra

    parquet = session.jvm.org.apache.parquet.hadoop
    try:
        _, path = session.file_system(part.location)
        reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, session.hadoop))
        try:
            schema = reader.getFooter().getFileMetaData().getSchema()
            return [(str(each.getName()), _kind(str(each.toString()))) for each in schema.getFields()]
        finally:
            reader.close()
    except Py4JJavaError as error:
        what = "not a Parquet file, or a damaged one"
        if "AccessControl" in whole_text(error) or "Permission denied" in whole_text(error):
            what = "permission denied"
        raise DataError(f"{part.location}: {what}; write it again, or take it out of the folder") from None


def pandas_metadata(session: Session, part: Part) -> str | None:
    """Return what pandas wrote into a Parquet file that was read before, in JSON; None for nothing."""
    parquet = session.jvm.org.apache.parquet.hadoop
    _, path = session.file_system(part.location)
    reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, session.hadoop))
    try:
        found = reader.getFooter().getFileMetaData().getKeyValueMetaData().get("pandas")
        return None if found is None else str(found)
    finally:
        reader.close()


def _kind(field: str) -> str:
    """Return a field without what does not change its values: whether it may be null, and its number."""
    return _FIELD_ID.sub("", _FIELD.sub("", field))


PART = re.compile(r"part-\d{5}\.parquet$")
"""How a file of a release is called."""

_NO_MARK = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_WRITTEN = re.compile(r"part-(\d+)-.*\.parquet$")
_FOLDER = re.compile(r".*=(\d+)$")


def write_folder(session: Session, frame: DataFrame, location: str, title: str) -> None:
    """Write one file for each partition of a frame, in their order: part-00000.parquet and so on.

    Parameters
    ----------
    location: of a folder that is not there yet.
    title: what messages call it.

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
    frame: the records of one number stand in one partition, in the order in which they are written.
    file: name of the column; whole numbers from 0.
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
    """Give a file that was written its name in a release."""
    path_of = session.jvm.org.apache.hadoop.fs.Path
    system, _ = session.file_system(str(folder.toString()))
    final = path_of(folder, f"part-{number:05}.parquet")
    if not system.rename(path_of(folder, name), final):
        raise OSError(f"{name} cannot be renamed")
    # Of the local file system, which keeps sums beside the files.
    system.delete(path_of(folder, f".{final.getName()}.crc"), False)


def is_release(system: Any, path: Any) -> bool:
    """Tell whether a folder holds what ``write_folder`` writes, and nothing else."""
    status = system.getFileStatus(path)
    if not status.isDirectory():
        return False
    return all(PART.match(str(each.getPath().getName())) for each in system.listStatus(path))


PART_RECORDS = 1_000_000
"""Records of one file of a release; the same wherever it is written, so that the bytes are."""


def refuse_csv(path: Path, separator: str | None) -> None:
    """Refuse to write CSV, which is one file: many processes write folders of Parquet.

    Raises
    ------
    OutputError: there is a separator.
    """
    if separator is not None:
        what = "the engine spark writes Parquet; set a name that ends in .parquet"
        raise OutputError(f"output.path '{path.name}': {what}")


class SparkCountedQuery(ReleaseQuery):
    """Counted rows, written as a folder of Parquet files.

    Parameters
    ----------
    session: stays the caller's.
    """

    def __init__(self, session: Session, rows: CountedRows) -> None:
        self._session = session
        self._rows = rows

    def copy(self, path: Path, separator: str | None) -> None:
        """Write a folder wherever Hadoop finds it; refuse CSV, which is one file."""
        refuse_csv(path, separator)
        with writing(path.name):
            frame = self._repeated(self._rows)
        write_folder(self._session, frame, location_of(path), path.name)

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
