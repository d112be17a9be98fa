"""What the stages ask of an engine: one open input, its distinct values, its counts and its release."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from anonymizer.engines.beside import AppendWriter
from anonymizer.engines.changes import UnionDifference, changed, compare_union
from anonymizer.engines.coding import Coding, packed_column_by_column
from anonymizer.engines.combinations import DistinctRows, counted_keys
from anonymizer.engines.counted import CountedWriter, RecodedWriter
from anonymizer.engines.options import CsvDialect, EngineOptions
from anonymizer.engines.rows import Groups, Projection, Replacement
from anonymizer.engines.spread import ColumnStatistics, column_statistics
from anonymizer.errors import DataError, suggestion
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import Packing
from anonymizer.system import Closing

__all__ = ["CsvDialect", "EngineOptions", "Groups", "Projection", "Relation", "Replacement"]


class Relation(Closing):
    """One open input, read as texts; to be closed.

    Attributes
    ----------
    name: what a message calls the input.
    columns: names, in the order of the input; distinct, none empty.
    rows: number of records, at least 1.
    sha256: of the bytes of the file; None for what is not a file.
    separator: of a CSV file, as given or detected; None otherwise.
    unmatched_columns: columns of the file that are not among the columns, as they are the index of pandas.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str | None
    separator: str | None
    unmatched_columns: tuple[str, ...] = ()

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

    def packed(self, codings: Sequence[Coding]) -> Packing:
        """Return the codes of columns packed into one key for each record, in the input's order.

        Raises
        ------
        DataError: no such column.
        """
        return packed_column_by_column(self, codings)

    def keys(self, column: str) -> IntArray:
        """Return an integer of each record, the same where the texts are, from 0 on but in no certain order.

        Cheaper than ``codes`` for columns of very many texts; shape (records,), int64, in the input's order.

        Raises
        ------
        DataError: no such column.
        """
        return self.codes(column).astype(np.int64)

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return how records are spread over the texts of a column.

        Parameters
        ----------
        limit: number of distinct texts up to which the sample holds all of them; beyond it, about as many.
        absent: texts that count as nulls.

        Raises
        ------
        DataError: no such column.
        """
        return column_statistics(self.dictionary(column), limit, absent)

    def count_matching(self, column: str, pattern: str) -> int:
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

    def combinations(self, codings: Sequence[Coding]) -> DistinctRows:
        """Return the distinct combinations of the codes of columns with their records, to be closed.

        In memory, unless an engine keeps them elsewhere.

        Raises
        ------
        DataError: no such column.
        """
        return counted_keys(self.packed(codings), [each.size for each in codings])

    def stored_distinct_rows(self, codings: Sequence[Coding]) -> DistinctRows:
        """Return the same, kept by the engine where it can, so that they need not fit in memory.

        They can be asked as long as the relation is open.

        Raises
        ------
        DataError: no such column.
        """
        return self.combinations(codings)

    def in_small_classes(self, columns: Sequence[str], least: int) -> tuple[int, int]:
        """Return the records that no other has the same texts as, and those in small classes.

        Parameters
        ----------
        least: records of a class that is not small.

        Raises
        ------
        DataError: no such column.
        """
        sizes = self.group_counts(columns).counts
        return int(np.count_nonzero(sizes == 1)), int(sizes[sizes < least].sum())

    def estimated_combinations(self, columns: Sequence[str]) -> int:  # noqa: ARG002 - of any columns
        """Return about how many distinct combinations of texts columns have, or an upper bound.

        Raises
        ------
        DataError: no such column.
        """
        return self.rows

    def changed_records(self, column: str, other: Relation) -> tuple[int, int]:
        """Return the records of each text of a column that another relation has more of, and fewer of.

        A null counts as the empty text; raises as ``dictionary`` does.
        """
        return changed(self.dictionary(column), other.dictionary(column))

    def put_together(self, column: str, first: Relation, second: Relation) -> UnionDifference:
        """Compare a column with those of two relations whose records this one should hold.

        A null counts as the empty text; raises as ``dictionary`` does.
        """
        return compare_union(*(each.dictionary(column) for each in (self, first, second)))

    def check_unchanged(self) -> None:
        """Check that the input is still what it was at first.

        Raises
        ------
        DataError: it has changed.
        """

    @property
    def ordered(self) -> bool:
        """Whether records have an order, in which they can be asked for one by one."""
        return True

    @property
    def writer(self) -> CountedWriter | None:
        """What writes rows without a look at the records; None where nothing can."""
        return None

    @property
    def recoded_writer(self) -> RecodedWriter | None:
        """What writes records where they are; None where they have to come to this process."""
        return None

    @property
    def append_writer(self) -> AppendWriter | None:
        """What writes the records together with those of a file; None where nothing can."""
        return None

    def recoded_writer_beside(self, earlier: Relation) -> RecodedWriter | None:  # noqa: ARG002 - of any
        """Return what writes the records where they are, together with those of another relation.

        None where they have to come to a file first; see ``append_writer`` of the other one.
        """
        return None

    @abstractmethod
    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts, and not stored as numbers or dates."""

    def holds_texts(self, column: str) -> bool:  # noqa: ARG002 - of any column
        """Tell whether the values of a column are texts in every record, none a null or of another type."""
        return False

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

    def position(self, column: str) -> int:
        """Return where a column stands, from 0.

        Raises
        ------
        DataError: no such column; the message names the nearest one.
        """
        try:
            return self._positions[column]
        except KeyError:
            message = f"{self.name}: no column '{column}'; {suggestion(column, self.columns)}"
            raise DataError(message) from None

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Where each column stands; looked for in ``columns``, each would take time by their number."""
        return {column: index for index, column in enumerate(self.columns)}
