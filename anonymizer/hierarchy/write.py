"""Hierarchies written as files that can be edited and named in a config."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from anonymizer.core.hierarchy import Hierarchy
from anonymizer.errors import OutputError


def write_rows(hierarchy: Hierarchy, path: Path) -> None:
    """Write a headerless CSV file, one row per leaf: its label at each level; whole or not at all.

    Raises
    ------
    OutputError: the file cannot be written.
    """
    labels = hierarchy.labels
    # A reader that tries ; as the separator, or that ends a row at a carriage return, must not split a cell.
    quoting: Literal[0, 1] = (
        csv.QUOTE_ALL if any(";" in label or "\r" in label for label in labels) else csv.QUOTE_MINIMAL
    )
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=quoting, lineterminator="\n")
    writer.writerows([labels[node] for node in nodes] for nodes in hierarchy.ancestors.T.tolist())
    write_whole(path, stream.getvalue())


def write_whole(path: Path, text: str) -> None:
    """Write a text file as UTF-8; whole or not at all.

    Raises
    ------
    OutputError: the file cannot be written.
    """
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.write(text)
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
