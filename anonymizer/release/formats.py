"""The file formats of a release, and a record order that reveals nothing of the input's order."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

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
from anonymizer.data.source import CSV_FILES, PARQUET_FILES, separator_of, split_suffix
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
    **{suffix: Csv(separator_of(suffix) or ",") for suffix in CSV_FILES.suffixes},
    **{suffix: Parquet() for suffix in PARQUET_FILES.suffixes},
}
"""The formats by the suffix of the file."""


def release_format(path: Path) -> ReleaseFormat:
    """Return the format that the name of a file asks for.

    Raises
    ------
    OutputError: none has that suffix.
    """
    found = FORMATS.get(split_suffix(path.name)[1].lower())
    if found is not None:
        return found
    raise OutputError(
        f"output.path '{path.name}': unknown kind of file; accepted: a name in {', '.join(FORMATS)}"
    )


class RowOrder(ABC):
    """Puts the published records in an order."""

    name: ClassVar[str]

    @abstractmethod
    def rows(self, relation: Relation, projection: Projection) -> IntArray:
        """Return the numbers of the published records in their new order, shape (released,), int64."""

    @abstractmethod
    def normalize_input(self, rows: CountedRows) -> CountedRows:
        """Return counted rows, which are sorted, in their new order."""

    @abstractmethod
    def secret(self) -> bytes | None:
        """Return random bytes by which an engine puts records in an order; None for sorted ones."""


class SortedOrder(RowOrder):
    """By the published values, all columns left to right, texts by code point: a function of these alone."""

    name = "sorted"

    def rows(self, relation: Relation, projection: Projection) -> IntArray:
        """Return the records sorted; what is not told apart by published values is the same row."""
        return relation.sorted_rows(projection)

    def normalize_input(self, rows: CountedRows) -> CountedRows:
        """Return the rows."""
        return rows

    def secret(self) -> None:
        """Return that there is none."""


class ShuffledOrder(RowOrder):
    """By randomness of the system, which no seed repeats: a known seed would undo the shuffle."""

    name = "shuffled"

    def rows(self, relation: Relation, projection: Projection) -> IntArray:
        """Return the records by a random 64-bit number each."""
        keys = np.frombuffer(os.urandom(8 * relation.rows), dtype=np.uint64)
        rows: IntArray = np.argsort(keys)
        return rows[projection.kept[rows]]

    def normalize_input(self, rows: CountedRows) -> CountedRows:
        """Return every single row by a random 64-bit number."""
        number = int(rows.counts.sum())
        order = np.argsort(np.frombuffer(os.urandom(8 * number), dtype=np.uint64))
        single = np.repeat(np.arange(len(rows.counts)), rows.counts)[order]
        codes = tuple(each[single] for each in rows.codes)
        return CountedRows(rows.columns, rows.labels, codes, np.ones(number, dtype=np.int64))

    def secret(self) -> bytes:
        """Return 128 bits."""
        return os.urandom(16)


SORTED = SortedOrder()
ROW_ORDERS: Mapping[str, RowOrder] = {order.name: order for order in (SORTED, ShuffledOrder())}
"""The orders by the name that the config gives them."""
