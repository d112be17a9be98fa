"""Memory limits of this process, and temporary folders for data that does not fit.

The limit is that of the machine or of the container. A temporary folder belongs to a process; the next run
removes the folders of killed processes.
"""

from __future__ import annotations

import socket
import tempfile
import weakref
import zlib
from functools import cache
from pathlib import Path

import duckdb

from anonymizer.errors import InputError
from anonymizer.system import LockedFolder, NoLocks, container_limits, physical_memory

SYSTEM = Path("/")
"""Root of the system's files."""

OF_MACHINE = 0.8
"""Share of the machine's memory that DuckDB uses by default."""

KIBIBYTES = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
"""Units of memory in DuckDB, each 1024 times the one before."""


def memory_of_machine(system: Path = SYSTEM) -> int:
    """Return the bytes of memory of the machine, or of the container if that is less.

    Parameters
    ----------
    system: root of the system's files.
    """
    return min([_physical(), *container_limits(system)])


def parse_memory_setting(setting: str) -> int:
    """Return the bytes of an amount of memory in DuckDB's format.

    >>> parse_memory_setting("512 bytes"), parse_memory_setting("1.5 KiB")
    (512, 1536)
    """
    number, unit = setting.split()
    return int(float(number) * 1024 ** KIBIBYTES.index(unit))


@cache
def _physical() -> int:
    """Return the bytes of the machine; where the system does not say, from DuckDB's default limit."""
    known = physical_memory()
    if known is not None:
        return known
    with duckdb.connect(":memory:") as connection:
        ((limit,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    return int(parse_memory_setting(str(limit)) / OF_MACHINE)


class SpillFolder:
    """A folder that is locked by this process.

    Its name contains the host, as locks may not work between hosts that share the disk. Folders of killed
    runs of this host are removed first.

    Parameters
    ----------
    parent: folder for it; None for the system's folder of temporary files.

    Attributes
    ----------
    path: of the folder.

    Raises
    ------
    InputError: it cannot be made.
    """

    def __init__(self, parent: Path | None) -> None:
        place = Path(tempfile.gettempdir() if parent is None else parent)
        try:
            _remove_leftovers(place)
            folder = LockedFolder.make(place, _prefix())
        except OSError as error:
            raise InputError(
                f"engine.options.temp_directory: {place}: {error.strerror}; accepted: a folder that "
                "exists and can be written to"
            ) from None
        self.path = folder.path
        self.remove = weakref.finalize(self, folder.remove)
        """Remove the folder with its content; a second call does nothing."""


def _prefix() -> str:
    return f"anonymizer-{zlib.crc32(socket.gethostname().encode()):08x}-"


def _remove_leftovers(place: Path) -> None:
    """Remove the folders of this host that no running process has locked; none on systems without locks."""
    for path in sorted(place.glob(f"{_prefix()}*")):
        try:
            LockedFolder(path).remove()
        except NoLocks:
            return
        except OSError:
            continue
