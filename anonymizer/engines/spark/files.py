"""Files of any file system of Hadoop: which ones are read, what they hold, and their hash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from anonymizer.data.csv import check_header
from anonymizer.data.source import sha256_of_list
from anonymizer.engines.spark.failures import whole_text
from anonymizer.engines.spark.session import Session, reason_of
from anonymizer.errors import DataError

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
