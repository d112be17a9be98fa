"""Rows to be written that stand for as many records as they say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymizer.engines.coding import Coding
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.out_of_core import RegionStore


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
class ByCodes:
    """Rows of distinct combinations of coded columns.

    Attributes
    ----------
    codings: of the columns that tell the combinations.
    codes: of each row, shape (rows, codings), int32; sorted, equal ones in rows one after another. Records of
        one combination go to its rows in the order of the columns that are released unchanged.
    """

    codings: Sequence[Coding]
    codes: CodeArray


@dataclass(frozen=True, eq=False)
class ByRegion:
    """Rows that are regions of combinations that an engine keeps.

    Attributes
    ----------
    codings: of the columns that tell the combinations.
    regions: region i is row i; None where all combinations are in none.
    rest: row of the combinations that are in no region; None where none is to be released.
    """

    codings: Sequence[Coding]
    regions: RegionStore | None
    rest: int | None


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """What becomes of records, told for each of some rows that they are found by.

    Attributes
    ----------
    found: how a record finds its row.
    counts: records of each row, shape (rows,), int64.
    kept: rows that are released, shape (rows,), bool.
    columns: released ones, in their order.
    labels: for each column that is replaced its distinct texts, sorted by code point.
    places: for each of them the place in ``labels`` for each row, shape (rows,), int32.
    """

    found: ByCodes | ByRegion
    counts: IntArray
    kept: BoolArray
    columns: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    places: Mapping[str, CodeArray]


class RecodedWriter(ABC):
    """Writes the records of a relation as recoded, without that they come to this process."""

    @abstractmethod
    def write_csv(self, rows: RecodedRows, path: Path, separator: str, secret: bytes | None) -> None:
        """Write UTF-8 CSV with a header; gzipped for ``.gz``.

        Parameters
        ----------
        secret: random bytes that put the records in an order; None for sorted by what is published.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    @abstractmethod
    def write_parquet(self, rows: RecodedRows, path: Path, secret: bytes | None) -> None:
        """Write Parquet, unchanged columns in their own type.

        Parameters
        ----------
        secret: as for ``write_csv``.

        Raises
        ------
        OutputError: the files cannot be written.
        """

    @abstractmethod
    def checksum(self, rows: RecodedRows) -> int:
        """Sum up a hash of each record as recoded: of its texts, a null being the empty one."""

    @abstractmethod
    def own_checksum(self, recoded: Collection[str]) -> int:
        """Return the same of the relation itself, whose records were recoded and written before.

        Parameters
        ----------
        recoded: the columns that were replaced.
        """
