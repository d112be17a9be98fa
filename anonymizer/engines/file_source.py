"""A file that is read more than once, which must be the same file every time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from anonymizer.errors import DataError


@dataclass(frozen=True)
class FileSource:
    """A file as it was when it was first looked at.

    Attributes
    ----------
    path: of the file.
    kind: what it should be, for a message, such as "a Parquet file".
    stamp: device, inode, bytes, and nanoseconds of the last change of content and of anything else.
    """

    path: Path
    kind: str
    stamp: tuple[int, ...]

    @classmethod
    def of(cls, path: Path, kind: str) -> Self:
        """Look at a file for the first time."""
        return cls(path, kind, _stamp(path))

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
            raise DataError(
                f"{self.path}: changed while it was read; nothing of it can be used, start again once it is "
                "complete, or on a copy"
            )

    def damaged(self, error: Exception) -> DataError:
        """Return the error for a file that is still the same and cannot be read, with the engine's reason."""
        reason = str(error).split("\n", 1)[0]
        return DataError(
            f"{self.path}: not {self.kind}, or a damaged one; write it again, or as .csv ({reason})"
        )


def _stamp(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
