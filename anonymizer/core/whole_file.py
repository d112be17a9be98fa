"""A text file that appears whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from anonymizer.errors import OutputError


def write_whole(path: Path, content: str) -> None:
    """Write a text file in UTF-8 by a temporary name beside it and a rename.

    Raises
    ------
    OutputError: the file cannot be written; what stood there stays as it was.
    """
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
