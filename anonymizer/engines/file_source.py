"""A file that is read more than once, which must be the same file every time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from anonymizer.engines.parquet_folder import sha256_of
from anonymizer.errors import DataError

COARSEST_CLOCK = 2 * 10**9
"""Nanoseconds within which two changes of a file may get the same time, on the coarsest file systems."""


@dataclass(frozen=True)
class FileSource:
    """A file as it was when it was first looked at.

    Attributes
    ----------
    path: of the file.
    kind: what it should be, for a message, such as "a Parquet file".
    stamp: device, inode, bytes, and nanoseconds of the last change of content and of anything else.
    settled: whether the last change was so long ago that a further one must get another time.
    """

    path: Path
    kind: str
    stamp: tuple[int, ...]
    settled: bool

    @classmethod
    def of(cls, path: Path, kind: str) -> Self:
        """Look at a file for the first time."""
        stamp = _stamp(path)
        return cls(path, kind, stamp, settled=time.time_ns() - max(stamp[-2:]) > COARSEST_CLOCK)

    def check(self) -> None:
        """Check that the file is still the same.

        Raises
        ------
        DataError: it is another, or gone; two readings of it would not belong together.
        """
        try:
            same = _stamp(self.path) == self.stamp
        except OSError:
            same = False
        if not same:
            raise self._changed()

    def check_bytes(self, sha256: str) -> None:
        """Check that the file is still the same and has the hash that was taken of it.

        The bytes are read again only where the file is so new that its times might not show a change.

        Raises
        ------
        DataError: as for ``check``.
        """
        self.check()
        if not self.settled:
            try:
                same = sha256_of(self.path) == sha256
            except OSError:
                same = False
            if not same:
                raise self._changed()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Let an error that comes of a change say so: half a record is not the fault of its writer.

        Raises
        ------
        DataError: the error of the block, or that of ``check`` in place of it.
        """
        try:
            yield
        except DataError:
            self.check()
            raise

    def damaged(self, error: Exception) -> DataError:
        """Return the error for a file that is still the same and cannot be read, with the engine's reason."""
        reason = str(error).split("\n", 1)[0]
        return DataError(
            f"{self.path}: not {self.kind}, or a damaged one; write it again, or as .csv ({reason})"
        )

    def _changed(self) -> DataError:
        return DataError(
            f"{self.path}: changed while it was read; nothing of it can be used, start again once it is "
            "complete, or on a copy"
        )


def _stamp(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
