"""The kinds of file that a release can be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from anonymizer.core.arrays import IntArray
from anonymizer.engines.base import Projection, Relation
from anonymizer.errors import OutputError


class ReleaseFormat(ABC):
    """Writes records to a file of one kind."""

    @abstractmethod
    def write(self, relation: Relation, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the given records in the given order.

        Raises
        ------
        OutputError: the file cannot be written.
        """


class Csv(ReleaseFormat):
    r"""UTF-8 text with a header, quotes where needed, lines ending in ``\n``; gzipped for ``.gz``."""

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def write(self, relation: Relation, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the records as separated text; what is missing is the empty text."""
        relation.write_csv(projection, rows, path, self.separator)


class Parquet(ReleaseFormat):
    """Parquet without any metadata but the schema; recoded columns are text."""

    def write(self, relation: Relation, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the records with the own types of unchanged columns."""
        relation.write_parquet(projection, rows, path)


FORMATS: Mapping[str, ReleaseFormat] = {
    ".csv": Csv(","),
    ".csv.gz": Csv(","),
    ".tsv": Csv("\t"),
    ".tsv.gz": Csv("\t"),
    ".parquet": Parquet(),
}
"""The formats by the suffix of the file."""


def release_format(path: Path) -> ReleaseFormat:
    """Return the format that the name of a file asks for.

    Raises
    ------
    OutputError: none has that suffix.
    """
    for suffix, found in FORMATS.items():
        if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
            return found
    raise OutputError(
        f"output.path '{path.name}': unknown kind of file; accepted: a name in {', '.join(FORMATS)}"
    )
