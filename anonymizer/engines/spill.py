"""Folders for what does not fit in memory: each belongs to a process and does not outlive it for long."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import weakref
import zlib
from pathlib import Path

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
    OSError: it cannot be made.
    """

    def __init__(self, parent: Path | None) -> None:
        place = Path(tempfile.gettempdir() if parent is None else parent)
        _remove_leftovers(place)
        for _ in range(ATTEMPTS):
            self.path = Path(tempfile.mkdtemp(prefix=_prefix(), dir=place))
            descriptor = _locked(self.path)
            if descriptor is not None:
                break
        else:
            raise OSError(None, "folders disappear as soon as they are made", str(place))
        self.remove = weakref.finalize(self, _remove, self.path, descriptor)
        """Remove the folder with all that is in it; a second call does nothing."""


def _prefix() -> str:
    return f"anonymizer-{zlib.crc32(socket.gethostname().encode()):08x}-"


def _locked(path: Path) -> int | None:
    """Lock a folder; return the descriptor that holds the lock, None where another process has it."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor
    except BlockingIOError:
        pass
    os.close(descriptor)
    return None


def _remove(path: Path, descriptor: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(descriptor)


def _remove_leftovers(place: Path) -> None:
    """Remove the folders of this host that no living process has locked."""
    if fcntl is None:
        return
    for path in sorted(place.glob(f"{_prefix()}*")):
        descriptor = _locked(path)
        if descriptor is not None:
            _remove(path, descriptor)
