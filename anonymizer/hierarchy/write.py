"""Hierarchies written as files that can be edited and named in a config."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal

from anonymizer.errors import OutputError
from anonymizer.model.table import Hierarchy
from anonymizer.system import write_whole


def write_rows(hierarchy: Hierarchy, path: Path) -> None:
    """Write a headerless CSV file, one row per leaf: its label at each level; whole or not at all.

    Raises
    ------
    OutputError: the file cannot be written, or could not be read as a hierarchy again.
    """
    labels = hierarchy.labels
    if any("\0" in label for label in labels):
        raise OutputError(
            f"{path}: cannot hold NUL bytes, which values of the column have; remove them first"
        )
    # A reader that tries ; as the separator, or that ends a row at a carriage return, must not split a cell.
    quoting: Literal[0, 1] = (
        csv.QUOTE_ALL if any(";" in label or "\r" in label for label in labels) else csv.QUOTE_MINIMAL
    )
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=quoting, lineterminator="\n")
    writer.writerows([labels[node] for node in nodes] for nodes in hierarchy.ancestors.T.tolist())
    write_whole(path, stream.getvalue())
