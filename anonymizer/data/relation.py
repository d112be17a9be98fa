"""The interface of engines: one open input, its dictionaries, column statistics, counts and release.

The texts of columns become codes, and records become keys packed from these codes. A release is written
from counted rows; it may be appended to the records of an earlier release.
"""

from __future__ import annotations

import math
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np

from anonymizer.data.distinct_rows import DistinctRows, counted_keys
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.errors import AuditFailed, DataError, suggestion
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.counting import Packing
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.system import Closing


class ReleaseQuery(ABC):
    """The rows of a release in their order, as the engine of a relation finds them; a sink has them copied.

    Its relation has to be open as long as it is in use.
    """

    @abstractmethod
    def copy(self, path: Path, separator: str | None) -> None:
        """Write the rows: with a separator UTF-8 CSV with a header, gzipped for ``.gz``, else Parquet.

        In CSV, texts have quotes where needed, and a null or an empty text is nothing at all. In Parquet,
        recoded columns are texts, and unchanged ones have their own type and nulls.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    def check(self, release: Relation) -> None:  # noqa: B027 - most need nothing more than the audit
        """Compare a copy that was read back with these rows, beyond what the audit does.

        Raises
        ------
        AuditFailed: it is something else.
        """


Dictionary = Iterable[tuple[str | None, int]]
"""Texts with their records."""


def changed(before: Dictionary, after: Dictionary) -> tuple[int, int]:
    """Return the records of each text that the second has more of, summed, and those that it has fewer of.

    >>> changed([("a", 2), ("b", 1), (None, 1)], [("", 1), ("a", 1), ("c", 1)])
    (1, 2)
    """
    own, theirs = Counter[str](), Counter[str]()
    for counted, dictionary in ((own, before), (theirs, after)):
        for text, records in dictionary:
            counted[text or ""] += records
    return (theirs - own).total(), (own - theirs).total()


@dataclass(frozen=True)
class UnionDifference:
    """How the texts of a column differ from those of two parts that it should hold.

    Attributes
    ----------
    lacking: records of each text that it has fewer of than the first part, summed.
    added: records of each text that it has more of than both parts, summed.
    missing: records of each text that it has fewer of than both parts, summed.
    """

    lacking: int
    added: int
    missing: int


def compare_union(whole: Dictionary, first: Dictionary, second: Dictionary) -> UnionDifference:
    """Return how a dictionary differs from two parts that it should hold.

    >>> compare_union([("a", 3), ("b", 1)], [("a", 1)], [("a", 1), ("b", 1), (None, 2)])
    UnionDifference(lacking=0, added=1, missing=2)
    """
    counted = [Counter[str](), Counter[str](), Counter[str]()]
    for own, dictionary in zip(counted, (whole, first, second), strict=True):
        for text, records in dictionary:
            own[text or ""] += records
    found, before, now = counted
    both = before + now
    return UnionDifference((before - found).total(), (found - both).total(), (both - found).total())


@dataclass(frozen=True, eq=False)
class Coding:
    """How the texts of a column become codes.

    Attributes
    ----------
    name: of the column.
    codes: code of each position in the relation's dictionary of the column, shape (distinct texts,), int32;
        several positions may have one code.
    size: number of codes; each is in [0, size).
    """

    name: str
    codes: CodeArray
    size: int


def packed_column_by_column(relation: Relation, codings: Sequence[Coding]) -> Packing:
    """Pack the codes of each record, in the input's order; no two columns are in memory at once."""
    packing = Packing(relation.rows)
    for coding in codings:
        packing.add(coding.codes[relation.codes(coding.name)], coding.size)
    return packing


def fitting(codings: Sequence[Coding], space: int) -> int:
    """Return how many of some columns, from the first on, have no more combinations of codes than a space."""
    number = 0
    while number < len(codings) and prod(max(each.size, 1) for each in codings[: number + 1]) < space:
        number += 1
    return number


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
    """Rows that are regions of combinations.

    Attributes
    ----------
    codings: of the columns that tell the combinations.
    regions: region i is row i, keys being as ``DistinctRows`` has them; None where all are in none.
    rest: row of the combinations that are in no region; None where none is to be released.
    """

    codings: Sequence[Coding]
    regions: PlacedRows | None
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


def shuffled_rows(projection: Projection) -> IntArray:
    """Return the numbers of the published records in a random order, shape (released,), int64."""
    rows = shuffled(len(projection.kept))
    return rows[projection.kept[rows]]


def shuffled(number: int) -> IntArray:
    """Return whole numbers below one in an order by randomness of the system: a known seed would undo it."""
    order: IntArray = np.argsort(np.frombuffer(os.urandom(8 * number), dtype=np.uint64))
    return order


@dataclass(frozen=True)
class ColumnStatistics:
    """How the records of a column are spread over its distinct texts.

    Attributes
    ----------
    distinct: number of distinct texts; nulls and what was asked to count as such are left out here and below.
    singles: texts that stand in one record only.
    largest: records of the most frequent text, 0 without any.
    nulls: records with a null, or with what counts as one.
    entropy: of the texts, in bits.
    sample: distinct texts with their records, sorted by code point; all of them, or a share that depends on
        the texts alone and neither on their order nor on how frequent they are.
    """

    distinct: int
    singles: int
    largest: int
    nulls: int
    entropy: float
    sample: tuple[tuple[str, int], ...]

    @property
    def whole(self) -> bool:
        """Whether the sample holds every text."""
        return len(self.sample) == self.distinct


def column_statistics(
    dictionary: Sequence[tuple[str | None, int]], limit: int, absent: Collection[str] = ()
) -> ColumnStatistics:
    """Return the spread of a column whose dictionary is known; the parameters are those of ``spread``."""
    texts = [(text, count) for text, count in dictionary if text is not None and text not in absent]
    counts = [count for _, count in texts]
    sample = texts
    if len(texts) > limit:
        share = len(texts) // limit
        sample = [entry for entry in texts if zlib.crc32(entry[0].encode("utf-8", "replace")) % share == 0]
    nulls = sum(count for _, count in dictionary) - sum(counts)
    scores = math.fsum(count * math.log2(count) for count in counts)
    return ColumnStatistics(
        len(texts),
        counts.count(1),
        max(counts, default=0),
        nulls,
        entropy_bits(sum(counts), scores),
        tuple(sample),
    )


def entropy_bits(records: int, scores: float) -> float:
    """Return the entropy in bits of values whose counts n add up to ``records`` and n log2 n to ``scores``.

    >>> entropy_bits(4, 2 * 2 * 1.0)
    1.0
    """
    return max(math.log2(records) - scores / records, 0.0) if records else 0.0


__all__ = ["CsvDialect", "EngineOptions", "Groups", "Profiling", "Projection", "Relation", "Replacement"]


class Relation(Closing):
    """One open input, read as texts; to be closed.

    Attributes
    ----------
    name: what a message calls the input.
    columns: names, in the order of the input; distinct, none empty.
    rows: number of records, at least 1.
    sha256: of the bytes of the file; None for what is not a file.
    separator: of a CSV file, as given or detected; None otherwise.
    index_columns: columns of the file that are not among the columns, as they are the index of pandas.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str | None
    separator: str | None
    index_columns: tuple[str, ...] = ()

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
    def profiling(self) -> Profiling:
        """What a profile asks beyond the operations here."""
        return Profiling(self)

    @property
    def ordered(self) -> bool:
        """Whether records have an order, in which they can be asked for one by one."""
        return True

    @abstractmethod
    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts, and not stored as numbers or dates."""

    def holds_texts(self, column: str) -> bool:  # noqa: ARG002 - of any column
        """Tell whether the values of a column are texts in every record, none a null or of another type."""
        return False

    @abstractmethod
    def records_query(self, projection: Projection, *, shuffled: bool = False) -> ReleaseQuery:
        """Return the published records.

        Parameters
        ----------
        shuffled: whether randomness of the system, which no seed repeats, puts them in an order; else they
            are sorted by what is published: all columns, left to right, texts by code point, a null as the
            empty text.
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


class EngineRelation(Relation):
    """A relation whose engine writes records without that they come to this process."""

    @abstractmethod
    def counted_query(self, rows: CountedRows) -> ReleaseQuery:
        """Return rows that are written in their order, each as often as it counts, all columns as texts."""

    @abstractmethod
    def recoded_query(self, rows: RecodedRows, *, shuffled: bool = False) -> ReleaseQuery:
        """Return the records as recoded, in an order as for ``records_query``."""

    @abstractmethod
    def appended_query(
        self, new: ReleaseQuery, path: Path, scratch: Path, *, shuffled: bool = False
    ) -> ReleaseQuery:
        """Return the records of this relation, an earlier release, and further ones, all in one order.

        Nothing tells the ones from the others. Copying raises DataError where a column holds another type in
        the further records, or where the earlier release has changed.

        Parameters
        ----------
        new: the further records, with the same columns in whatever order.
        path: of the earlier release, whose kind of file it is.
        scratch: a folder for a temporary file.
        """

    @abstractmethod
    def checksum(self, recoded: Collection[str]) -> int:
        """Sum up a hash of each record, of its texts, a null being the empty one, as the engine finds it.

        Parameters
        ----------
        recoded: columns that were replaced before the records were written.
        """


def check_sum(release: Relation, recoded: Collection[str], expected: int) -> None:
    """Check that a release that was read back has the records that were to be written.

    Raises
    ------
    AuditFailed: it has others.
    """
    if not isinstance(release, EngineRelation) or release.checksum(recoded) != expected:
        raise AuditFailed(f"{release.name}: some record is not one of the input as recoded")


class Profiling:
    """What a profile asks of a relation, from what every relation tells; an engine may be quicker.

    Parameters
    ----------
    relation: stays the caller's.
    """

    def __init__(self, relation: Relation) -> None:
        self._relation = relation

    def keys(self, column: str) -> IntArray:
        """Return an integer of each record, the same where the texts are, from 0 on but in no certain order.

        Cheaper than ``codes`` for columns of very many texts; shape (records,), int64, in the input's order.

        Raises
        ------
        DataError: no such column.
        """
        return self._relation.codes(column).astype(np.int64)

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
        return column_statistics(self._relation.dictionary(column), limit, absent)

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
        return sum(
            count for text, count in self._relation.dictionary(column) if text is not None and match(text)
        )

    def in_small_classes(self, columns: Sequence[str], least: int) -> tuple[int, int]:
        """Return the records that no other has the same texts as, and those in small classes.

        Parameters
        ----------
        least: records of a class that is not small.

        Raises
        ------
        DataError: no such column.
        """
        sizes = self._relation.group_counts(columns).counts
        return int(np.count_nonzero(sizes == 1)), int(sizes[sizes < least].sum())
