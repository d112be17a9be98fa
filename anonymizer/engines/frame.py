"""DataFrames as relations: encoded once by pandas, counted in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.engines.base import Relation
from anonymizer.engines.frame_texts import record_texts
from anonymizer.engines.header import check_header
from anonymizer.engines.options import EngineOptions
from anonymizer.engines.rows import Groups, Projection
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.counting import count, group_keys

if TYPE_CHECKING:
    import pandas

NAME = "the DataFrame"


@dataclass(frozen=True, eq=False)
class _Column:
    """The distinct texts of a column, sorted, a null (None) last, and the position of each record's."""

    texts: tuple[str | None, ...]
    codes: CodeArray

    @cached_property
    def counts(self) -> IntArray:
        return np.bincount(self.codes, minlength=len(self.texts)).astype(np.int64, copy=False)

    @property
    def ranks(self) -> CodeArray:
        """Order of each text for sorting: a null right after the empty text."""
        order = sorted(range(len(self.texts)), key=lambda i: (self.texts[i] or "", self.texts[i] is None))
        return ranks_of(order)


class FrameRelation(Relation):
    """A DataFrame, whose missing values (None, NaN, NaT, NA) are nulls; its index plays no part.

    Raises
    ------
    DataError: without records or columns, two columns of one name, a name that is not a text.
    """

    def __init__(self, frame: pandas.DataFrame, options: EngineOptions) -> None:
        check_frame(frame)
        self._frame = frame
        self._options = options
        self._read: dict[str, _Column] = {}
        self._stored: Relation | None = None
        self.name = NAME
        self.columns = tuple(frame.columns)
        self.rows = len(frame)
        self.sha256 = None
        self.separator = None

    def _column(self, name: str) -> _Column:
        if name not in self._read:
            codes, texts = record_texts(self._frame.iloc[:, self.position(name)])
            order = sorted(range(len(texts)), key=lambda i: (texts[i] is None, texts[i] or ""))
            self._read[name] = _Column(tuple(texts[i] for i in order), ranks_of(order)[codes])
        return self._read[name]

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        read = self._column(column)
        return list(zip(read.texts, read.counts.tolist(), strict=True))

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,), int32."""
        return self._column(column).codes

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of texts, found by telling records apart column by column."""
        read = [self._column(column) for column in columns]
        groups, number = _ranked([(each.codes, len(each.texts)) for each in read], self.rows)
        first = np.empty(number, dtype=np.int64)
        first[groups] = np.arange(self.rows)
        codes = np.column_stack([each.codes[first] for each in read])
        ones = np.ones(self.rows, dtype=np.int64)
        return Groups(tuple(each.texts for each in read), codes, count(groups, ones, number))

    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts."""
        values = self._frame.iloc[:, self.position(column)]
        return all(isinstance(value, str) for value in values.dropna().unique())

    def sorted_rows(self, projection: Projection) -> IntArray:
        """Return the numbers of the published records, sorted by what is published of them."""
        keys = []
        for column in projection.columns:
            if column in projection.replacements:
                replacement = projection.replacements[column]
                keys.append((replacement.codes, len(replacement.labels)))
            else:
                read = self._column(column)
                keys.append((read.ranks[read.codes], len(read.texts)))
        ranks, _ = _ranked(keys, self.rows)
        rows = np.flatnonzero(projection.kept)
        return rows[np.argsort(ranks[rows], kind="stable")]

    def write_csv(self, projection: Projection, rows: IntArray, path: Path, separator: str) -> None:
        """Write the given records as CSV; the database that does it is made now."""
        self._in_database().write_csv(projection, rows, path, separator)

    def write_parquet(self, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write the given records as Parquet; the database that does it is made now."""
        self._in_database().write_parquet(projection, rows, path)

    def _in_database(self) -> Relation:
        from anonymizer.engines.duckdb_frame import open_in_database  # noqa: PLC0415 - rarely needed

        if self._stored is None:
            self._stored = open_in_database(self._frame, self._options)
        return self._stored

    def close(self) -> None:
        """Forget what was read; a second call does nothing."""
        self._read.clear()
        if self._stored is not None:
            self._stored.close()


def check_frame(frame: pandas.DataFrame) -> None:
    """Check that a DataFrame has records and columns with proper names.

    Raises
    ------
    DataError: it has not; says what is wrong.
    """
    columns = list(frame.columns)
    if not columns or not len(frame):
        found = f"{len(frame)} records, {len(columns)} columns"
        raise DataError(f"{NAME}: {found}; at least one of each is needed")
    for column in columns:
        if not isinstance(column, str):
            raise DataError(f"{NAME}: column name {column!r} is not a text; rename it with df.columns")
    check_header(NAME, columns)


def _ranked(keys: Sequence[tuple[CodeArray, int]], records: int) -> tuple[IntArray, int]:
    """Number the distinct rows of code columns in lexicographic order.

    Parameters
    ----------
    keys: codes, shape (records,), and number of possible codes of each column.

    Returns
    -------
    The number of each record's row, shape (records,), int64, and how many there are.
    """
    groups, number = np.zeros(records, dtype=np.int64), 1
    for codes, size in keys:
        groups, distinct = group_keys(groups * size + codes, number * size)
        number = len(distinct)
    return groups, number
