"""One running Spark for all that a process reads and writes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymizer.data.memory import SpillFolder
from anonymizer.engines.spark.launch import end, start
from anonymizer.engines.spark.options import SparkOptions
from anonymizer.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Session:
    """A Spark that is shared by all who opened it, and stopped when the last of them closes it.

    Parameters
    ----------
    options: how it is started.

    Raises
    ------
    InputError: the extra or Java is missing, the master cannot be reached, or there is no folder for what it
        keeps on disk.
    """

    def __init__(self, options: SparkOptions) -> None:
        self.options = options
        self.users = 0
        self._spill = SpillFolder(options.temp_directory)
        self._scratch = self._spill.path
        try:
            self.spark: SparkSession = start(options, self._scratch)
        except BaseException:
            self._spill.remove()
            raise

    @property
    def jvm(self) -> Any:
        """Spark's own classes, for files on whatever file system they are."""
        return self.spark._jvm

    @property
    def hadoop(self) -> Any:
        """The settings of Hadoop, which file systems are found by."""
        return self.spark._jsc.hadoopConfiguration()

    def file_system(self, location: str) -> tuple[Any, Any]:
        """Return Hadoop's file system of a location, and its path there."""
        path = self.jvm.org.apache.hadoop.fs.Path(location)
        return path.getFileSystem(self.hadoop), path

    def stop(self) -> None:
        """End it, with all that it keeps on disk."""
        end(self.spark)
        self._spill.remove()


_open: list[Session] = []


def open_session(options: SparkOptions) -> Session:
    """Return the running Spark, started where there is none; every call needs one of ``close_session``.

    Raises
    ------
    InputError: it cannot be started, or one runs already that was started otherwise.
    """
    if not _open:
        _open.append(Session(options))
    session = _open[0]
    if session.options != options:
        raise InputError(
            "engine.options: Spark runs in this process already, with other options; end it first"
        )
    session.users += 1
    return session


def close_session(session: Session) -> None:
    """Give one use of a session back; the last one stops it."""
    session.users -= 1
    if session.users <= 0 and session in _open:
        _open.remove(session)
        session.stop()


def reason_of(error: Exception) -> str:
    """Return the first line of what Spark or Java says."""
    told = str(error)
    java = getattr(error, "java_exception", None)
    if java is not None:
        told = str(java.getMessage() or java.toString())
    return told.strip().split("\n", 1)[0]
