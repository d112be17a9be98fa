"""What the stages ask of an engine: one open input, its distinct values, its counts and its release."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from anonymizer.core.arrays import BoolArray, CodeArray, IntArray
from anonymizer.engines.spread import Spread, spread_of
from anonymizer.errors import DataError, nearest


@dataclass(frozen=True)
class EngineOptions:
    """Limits for an engine.

    Attributes
    ----------
    memory_limit: such as ``4GB``; None for the engine's default.
    threads: most threads at once; None for one per core.
    temp_directory: where what does not fit in memory goes; None for the system's.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: Path | None = None


@dataclass(frozen=True)
class CsvDialect:
    """How the text of a CSV file is to be read.

    Attributes
    ----------
    separator: between fields, one ASCII character; None to detect it.
    encoding: a codec of Python's; a byte-order mark of UTF-8 is always accepted.
    """

    separator: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, eq=False)
class Groups:
    """The distinct combinations of some columns, counted by the engine.

    Attributes
    ----------
    values: for each column its distinct texts sorted by code point, None (a null) last.
    codes: position in ``values`` for each group and column, shape (groups, columns), int32; no certain order.
    counts: records of each group, shape (groups,), int64.
    """

    values: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    counts: IntArray

    def texts(self, column: int) -> list[str | None]:
        """Return the text of each group in one column, given by its position."""
        values = self.values[column]
        return [values[code] for code in self.codes[:, column]]


@dataclass(frozen=True, eq=False)
class Replacement:
    """What is published instead of a column, or as a new one.

    Attributes
    ----------
    labels: distinct published texts, sorted by code point, or distinct whole numbers, ascending.
    codes: position in ``labels`` for each record of the input, shape (records,), int32.
    """

    labels: tuple[str, ...] | tuple[int, ...]
    codes: CodeArray


@dataclass(frozen=True, eq=False)
class Projection:
    """What of an input is published.

    Attributes
    ----------
    columns: released columns, in the order of the input; new ones after them.
    replacements: by column; the other columns are published unchanged. What the input has not is new.
    kept: which records are published, shape (records,), bool.
    """

    columns: tuple[str, ...]
    replacements: Mapping[str, Replacement]
    kept: BoolArray


class Relation(ABC):
    """One open input, read as texts; to be closed.

    Attributes
    ----------
    name: what a message calls the input.
    columns: names, in the order of the input; distinct, none empty.
    rows: number of records, at least 1.
    sha256: of the bytes of the file; None for what is not a file.
    separator: of a CSV file, as given or detected; None otherwise.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str | None
    separator: str | None

    @abstractmethod
    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted by code point, a null (None) last.

        Raises
        ------
        DataError: no such column.
        """

    @abstractmethod
    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,), in the input's order.

        Raises
        ------
        DataError: no such column.
        """

    def keys(self, column: str) -> IntArray:
        """Return an integer of each record, the same where the texts are, from 0 on but in no certain order.

        Cheaper than ``codes`` for columns of very many texts; shape (records,), int64, in the input's order.

        Raises
        ------
        DataError: no such column.
        """
        return self.codes(column).astype(np.int64)

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> Spread:
        """Return how records are spread over the texts of a column.

        Parameters
        ----------
        limit: number of distinct texts up to which the sample holds all of them; beyond it, about as many.
        absent: texts that count as nulls.

        Raises
        ------
        DataError: no such column.
        """
        return spread_of(self.dictionary(column), limit, absent)

    def matching(self, column: str, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end; a null does not.

        Parameters
        ----------
        pattern: what Python's ``re`` and RE2 read alike.

        Raises
        ------
        DataError: no such column.
        """
        match = re.compile(pattern).fullmatch
        return sum(count for text, count in self.dictionary(column) if text is not None and match(text))

    @abstractmethod
    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of the texts of columns with their records.

        Raises
        ------
        DataError: no such column.
        """

    @abstractmethod
    def sorted_rows(self, projection: Projection) -> IntArray:
        """Return the numbers of the published records, sorted by what is published of them.

        All columns count, left to right, texts by code point, a null as the empty text.
        """

    @abstractmethod
    def write_csv(self, projection: Projection, rows: IntArray, path: Path, separator: str) -> None:
        """Write the given records in the given order as UTF-8 CSV with a header; gzipped for ``.gz``.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    @abstractmethod
    def write_parquet(self, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the given records in the given order as Parquet, unchanged columns in their own type.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    @abstractmethod
    def close(self) -> None:
        """Give back memory and temporary files; a second call does nothing."""

    def position(self, column: str) -> int:
        """Return where a column stands, from 0.

        Raises
        ------
        DataError: no such column; the message names the nearest one.
        """
        try:
            return self.columns.index(column)
        except ValueError:
            message = f"{self.name}: no column '{column}'; {nearest(column, self.columns)}"
            raise DataError(message) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def check_header(name: str, columns: Sequence[str]) -> None:
    """Check that column names can serve as such.

    Raises
    ------
    DataError: a name is empty or occurs twice; says which and where.
    """
    first: dict[str, int] = {}
    for number, column in enumerate(columns, start=1):
        if not column.strip():
            raise DataError(
                f"{name}: column {number} of {len(columns)} has no name; the header must give one"
            )
        if column in first:
            raise DataError(
                f"{name}: columns {first[column]} and {number} are both named '{column}'; rename one of them"
            )
        first[column] = number
