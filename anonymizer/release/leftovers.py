"""Staging folders: claimed while a run lives, found and removed after one that was killed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from anonymizer.release.exchange import EARLIER

try:
    import fcntl
except ImportError:  # where there is no such lock, each run leaves other runs' folders alone
    fcntl = None  # type: ignore[assignment]

PREFIX = ".share.tmp-"
"""How the name of a staging folder starts."""


class StagingLock:
    """A staging folder that belongs to this process until it is removed, or the process ends.

    Raises
    ------
    BlockingIOError: another process has it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY)
        try:
            if fcntl is not None:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(self._descriptor)
            raise

    def remove(self) -> None:
        """Remove the folder with what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._descriptor)

    def leave(self) -> None:
        """Leave the folder to whoever claims it next."""
        os.close(self._descriptor)


def remove_leftovers(directory: Path) -> None:
    """Remove staging folders whose run has ended; what it had just taken from its place goes back first.

    Raises
    ------
    OSError: one cannot be read or restored.
    """
    if fcntl is None:
        return
    for path in sorted(directory.glob(f"{PREFIX}*")):
        try:
            claim = StagingLock(path)
        except (BlockingIOError, NotADirectoryError, FileNotFoundError):
            continue
        for aside in path.glob(f"*{EARLIER}"):
            place = directory / aside.name.removesuffix(EARLIER)
            if not os.path.lexists(place):
                aside.rename(place)
        claim.remove()
