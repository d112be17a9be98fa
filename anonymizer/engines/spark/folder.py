"""Folders of Parquet files that Spark writes: named by their order, and with nothing else in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from anonymizer.engines.spark.failures import writing
from anonymizer.engines.spark.session import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
