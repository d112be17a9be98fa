"""What stands for the bytes of a table, which has none of its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from anonymizer.data.relation import Projection, Relation


def table_digest(relation: Relation, scratch: Path) -> str:
    """Return the SHA-256 of a relation as CSV with its rows sorted: the same for any order of the rows.

    It is that of the file which a run with ``output: {path: release.csv}`` writes of the same rows.

    Parameters
    ----------
    scratch: a folder for a temporary file.
    """
    everything = Projection(relation.columns, {}, np.ones(relation.rows, dtype=np.bool_))
    path = scratch / "digest.csv"
    relation.write_csv(everything, relation.sorted_rows(everything), path, ",")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    finally:
        path.unlink()
