"""Memory limits of this process, and temporary folders for data that does not fit.

The limit is that of the machine or of the container. A temporary folder belongs to a process and is removed
soon after that process has ended.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import duckdb

from anonymizer.errors import InputError

SYSTEM = Path("/")
"""Where the files of the system are."""

OF_MACHINE = 0.8
"""What DuckDB uses of the memory of a machine unless it is told otherwise."""

KIBIBYTES = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
"""Units of memory as DuckDB writes them, each 1024 of the one before."""


def memory_of_machine(system: Path = SYSTEM) -> int:
    """Return the bytes of memory that there are for this process and those beside it.

    Parameters
    ----------
    system: where the files of the system are.
    """
    return min([_physical(), *_of_containers(system)])


def parse_memory_setting(setting: str) -> int:
    """Return an amount of memory as DuckDB writes it, in bytes.

    >>> parse_memory_setting("512 bytes"), parse_memory_setting("1.5 KiB")
    (512, 1536)
    """
    number, unit = setting.split()
    return int(float(number) * 1024 ** KIBIBYTES.index(unit))


@cache
def _physical() -> int:
    """Return the bytes of the machine, on any system, from what DuckDB would use of them."""
    with duckdb.connect(":memory:") as connection:
        ((told,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    return int(parse_memory_setting(str(told)) / OF_MACHINE)


def _of_containers(system: Path) -> Iterator[int]:
    """Give the limits of the control groups of this process and of those around them, of both versions."""
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux, or hidden
        return
    mounted = system / "sys/fs/cgroup"
    for line in lines:
        if line.count(":") < 2:  # of a kernel that only looks like Linux
            continue
        number, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            yield from _limits(mounted / "memory", group, "memory.limit_in_bytes")
        elif number == "0":
            yield from _limits(mounted, group, "memory.max")
            yield from _limits(mounted / "unified", group, "memory.max")


def _limits(mounted: Path, group: str, name: str) -> Iterator[int]:
    """Give the limits of a group and of all that it is in, as far as they can be seen from in here."""
    own = PurePosixPath(group.lstrip("/"))
    for each in (own, *own.parents):
        try:
            yield int((mounted / each / name).read_text(encoding="ascii"))
        except (OSError, ValueError):  # no such group in here, or no limit: "max"
            continue


try:
    import fcntl
except ImportError:  # where there is no such lock, each run leaves other runs' folders alone
    fcntl = None  # type: ignore[assignment]

ATTEMPTS = 10
"""Folders that are tried: one that was just made may be taken for a leftover before it is locked."""


class SpillFolder:
    """A folder that is locked by this process.

    The lock is the kernel's and goes with the process, so that it tells a folder in use from one of a killed
    run, whatever process has its number now. The name tells the host: a lock may not reach others that share
    the disk. Folders of killed runs of this host are removed first.

    Parameters
    ----------
    parent: where it is made; None for the system's folder of temporary files.

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
            self.path, descriptor = _made(place)
        except OSError as error:
            raise InputError(
                f"engine.options.temp_directory: {place}: {error.strerror}; accepted: a folder that exists "
                "and can be written to"
            ) from None
        self.remove = weakref.finalize(self, _remove, self.path, descriptor)
        """Remove the folder with all that is in it; a second call does nothing."""


def _made(place: Path) -> tuple[Path, int | None]:
    """Make a folder and return it with the descriptor that holds its lock, None where there are no locks."""
    for _ in range(ATTEMPTS):
        path = Path(tempfile.mkdtemp(prefix=_prefix(), dir=place))
        try:
            descriptor = _locked(path)
        except OSError:  # without locks no other run can lock it and take it for a leftover
            return path, None
        if descriptor is not None:
            return path, descriptor
    raise OSError(None, "folders disappear as soon as they are made", str(place))


def _prefix() -> str:
    return f"anonymizer-{zlib.crc32(socket.gethostname().encode()):08x}-"


def _locked(path: Path) -> int | None:
    """Lock a folder; return the descriptor that holds the lock, None where another process has it.

    Raises
    ------
    OSError: there are no such locks, on this system or on this file system.
    """
    if fcntl is None:
        raise OSError(errno.ENOTSUP, "no locks of files", str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor
    except BlockingIOError:
        pass
    except OSError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _remove(path: Path, descriptor: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)


def _remove_leftovers(place: Path) -> None:
    """Remove the folders of this host that no living process has locked; where there are no locks, none."""
    for path in sorted(place.glob(f"{_prefix()}*")):
        try:
            descriptor = _locked(path)
        except OSError:
            return
        if descriptor is not None:
            _remove(path, descriptor)
