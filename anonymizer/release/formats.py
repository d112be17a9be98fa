"""The kinds of file that a release can be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from anonymizer.data.relation import (
    AppendedFile,
    AppendWriter,
    CountedRows,
    CountedWriter,
    Projection,
    RecodedRows,
    RecodedWriter,
    Relation,
)
from anonymizer.errors import OutputError
from anonymizer.model.arrays import IntArray


class ReleaseFormat(ABC):
    """Writes records to a file of one kind."""

    @abstractmethod
    def write(self, relation: Relation, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the given records in the given order.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    @abstractmethod
    def write_counted(self, writer: CountedWriter, rows: CountedRows, path: Path) -> None:
        """Write rows, each as often as it counts; raises as ``write`` does."""

    @abstractmethod
    def write_beside(
        self, writer: AppendWriter, further: AppendedFile, path: Path, secret: bytes | None
    ) -> None:
        """Write the records of a relation and those of a file; the rest is as for ``AppendWriter``."""

    @abstractmethod
    def write_recoded(
        self, writer: RecodedWriter, rows: RecodedRows, path: Path, secret: bytes | None
    ) -> None:
        """Write records where they are; raises as ``write`` does.

        Parameters
        ----------
        secret: random bytes that put the records in an order; None for sorted by what is published.
        """


class Csv(ReleaseFormat):
    r"""UTF-8 text with a header, quotes where needed, lines ending in ``\n``; gzipped for ``.gz``."""

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def write(self, relation: Relation, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the records as separated text; what is missing is the empty text."""
        relation.write_csv(projection, rows, path, self.separator)

    def write_counted(self, writer: CountedWriter, rows: CountedRows, path: Path) -> None:
        """Write the rows as separated text."""
        writer.write_csv(rows, path, self.separator)

    def write_beside(
        self, writer: AppendWriter, further: AppendedFile, path: Path, secret: bytes | None
    ) -> None:
        """Write the records as separated text."""
        writer.write_csv(further, path, self.separator, secret)

    def write_recoded(
        self, writer: RecodedWriter, rows: RecodedRows, path: Path, secret: bytes | None
    ) -> None:
        """Write the records as separated text; what is missing is the empty text."""
        writer.write_csv(rows, path, self.separator, secret)


class Parquet(ReleaseFormat):
    """Parquet without any metadata but the schema; recoded columns are text."""

    def write(self, relation: Relation, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the records with the own types of unchanged columns."""
        relation.write_parquet(projection, rows, path)

    def write_counted(self, writer: CountedWriter, rows: CountedRows, path: Path) -> None:
        """Write the rows as texts."""
        writer.write_parquet(rows, path)

    def write_beside(
        self, writer: AppendWriter, further: AppendedFile, path: Path, secret: bytes | None
    ) -> None:
        """Write the records in their own types."""
        writer.write_parquet(further, path, secret)

    def write_recoded(
        self, writer: RecodedWriter, rows: RecodedRows, path: Path, secret: bytes | None
    ) -> None:
        """Write the records with the own types of unchanged columns."""
        writer.write_parquet(rows, path, secret)


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
