"""Rows to be written that stand for as many records as they say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymizer.core.arrays import BoolArray, CodeArray, IntArray
from anonymizer.engines.coding import Coding


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows in the order in which they are written, equal ones one after another.

    Attributes
    ----------
    columns: their names.
    labels: for each column the distinct texts, sorted by code point.
    codes: position in ``labels``, for each column an array of shape (rows,), int32.
    counts: how often each row is written, shape (rows,), int64, at least 1.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: tuple[CodeArray, ...]
    counts: IntArray


class CountedWriter(ABC):
    """Writes counted rows to files."""

    @abstractmethod
    def write_csv(self, rows: CountedRows, path: Path, separator: str) -> None:
        """Write UTF-8 CSV with a header; gzipped for ``.gz``.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    @abstractmethod
    def write_parquet(self, rows: CountedRows, path: Path) -> None:
        """Write Parquet, all columns as texts.

        Raises
        ------
        OutputError: the file cannot be written.
        """


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """What becomes of records, told for each distinct combination of coded columns.

    Attributes
    ----------
    codings: of the columns that tell the combinations.
    codes: of the combinations, shape (rows, codings), int32; sorted, equal ones in rows one after another.
    counts: records of each row, shape (rows,), int64; records of one combination go to its rows in the order
        of the columns that are released unchanged.
    kept: rows that are released, shape (rows,), bool.
    columns: released ones, in their order.
    labels: for each column that is replaced its distinct texts, sorted by code point.
    places: for each of them the place in ``labels`` for each row, shape (rows,), int32.
    """

    codings: Sequence[Coding]
    codes: CodeArray
    counts: IntArray
    kept: BoolArray
    columns: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    places: Mapping[str, CodeArray]


class RecodedWriter(ABC):
    """Writes the records of a relation as recoded, without that they come to this process."""

    @abstractmethod
    def write_parquet(self, rows: RecodedRows, path: Path) -> None:
        """Write Parquet sorted by what is published, unchanged columns in their own type.

        Raises
        ------
        OutputError: the files cannot be written.
        """
