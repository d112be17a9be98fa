"""Folders for what does not fit in memory: each belongs to a process and does not outlive it for long."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import tempfile
import weakref
import zlib
from pathlib import Path

from anonymizer.errors import InputError

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
