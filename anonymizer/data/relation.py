"""The interface of engines: an open input, its dictionaries, column statistics, counts and release.

The texts of columns become codes, and the codes of a record are packed into keys. A release is written from
counted rows or from records; it can be appended to an earlier release. Distinct rows with their counts are in
memory or in an engine; codes are packed into keys in this process as in an engine.

Memory and DuckDB are part of ``anonymizer.data``. Any other engine is a plug-in that reads, counts and writes
files on other file systems: one class, with an entry point of the group ``anonymizer.engines`` by its
``engine.name`` in a config.
"""

from __future__ import annotations

import codecs
import gzip
import math
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.source import (
    CHUNK,
    PARQUET_FILES,
    CsvDialect,
    EngineOptions,
    KeyColumns,
    is_gzipped,
    open_content,
)
from anonymizer.data.values import identities_of_keys, split_absent
from anonymizer.errors import AuditFailed, DataError, InputError, OutputError, suggestion
from anonymizer.model.arrays import (
    SPACE,
    BoolArray,
    CodeArray,
    IntArray,
    Packing,
    add_up,
    count_keys,
    numbered,
)
from anonymizer.model.features import Supporter
from anonymizer.model.naming import Spellings
from anonymizer.model.spelling import suggested
from anonymizer.model.table import PIECE, PlacedRows, RowPiece
from anonymizer.model.units import Units
from anonymizer.system import Closing


class ReleaseQuery(ABC):
    """The rows of a release in their order, which an engine finds and copies to a file.

    The relation has to stay open.
    """

    @abstractmethod
    def copy(self, path: Path, separator: str | None) -> None:
        """Write the rows: with a separator as UTF-8 CSV with a header, gzipped for ``.gz``; else as Parquet.

        In CSV, texts are quoted if necessary, and nulls are the marker of the relation, or empty fields. In
        Parquet, recoded columns are texts or numbers, and unchanged columns have their own type and nulls.

        Raises
        ------
        OutputError: the file cannot be written.
        """

    def stage(self, folder: Path) -> Path:
        """Write the rows with their types into a file of the folder, from which a table is made.

        Raises
        ------
        OutputError: the file cannot be written.
        """
        path = folder / "release.parquet"
        self.copy(path, None)
        return path

    def write(self, path: Path, dialect: CsvDialect) -> None:
        """Write the rows as Parquet or, by the suffix of the path, as text in a dialect.

        Raises
        ------
        OutputError: the file cannot be written, or the encoding lacks a character.
        """
        if PARQUET_FILES.named(path.name):
            self.copy(path, None)
            return
        self.copy(path, dialect.separator)
        if codecs.lookup(dialect.encoding).name != "utf-8":
            encode_file(path, dialect.encoding)

    def check(self, release: Relation) -> None:  # noqa: B027 - most need nothing more than the audit
        """Compare a copy that was read back with these rows, in addition to the audit.

        Raises
        ------
        AuditFailed: they differ.
        """


class _Decoded:
    """A text that is decoded again: some encodings write two characters as one.

    Parameters
    ----------
    name: of the file in messages.
    """

    def __init__(self, name: str, encoding: str) -> None:
        self._name, self._encoding = name, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._pending = ""

    def check(self, text: str, encoded: bytes) -> None:
        """Compare the next part of a text with its encoded form.

        Raises
        ------
        OutputError: a character is decoded to another.
        """
        wanted, found = self._pending + text, self._decoder.decode(encoded)
        if not wanted.startswith(found):
            lost = next((own for own, read in zip(wanted, found, strict=False) if own != read), wanted[-1:])
            raise OutputError(
                f"{self._name}: encoding {self._encoding} writes '{lost}' (U+{ord(lost):04X}) like another "
                "character; set output.encoding: utf-8"
            )
        self._pending = wanted[len(found) :]


def encode_file(path: Path, encoding: str) -> None:
    """Write a text file in UTF-8 again in another encoding, compressed if it was.

    Raises
    ------
    OutputError: the encoding lacks a character, or decodes it to another.
    """
    plain = path.rename(path.with_name(f"utf8-{path.name}"))
    decoder = codecs.getincrementaldecoder("utf-8")()
    encoder, written = codecs.getincrementalencoder(encoding)(), _Decoded(path.name, encoding)
    try:
        with open_content(plain) as source, path.open("wb") as file, _compressed(path, file) as target:
            while content := source.read(CHUNK):
                text = decoder.decode(content)
                encoded = encoder.encode(text)
                written.check(text, encoded)
                target.write(encoded)
            target.write(encoder.encode("", final=True))
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise OutputError(
            f"{path.name}: encoding {encoding} lacks the character '{lacking}' (U+{ord(lacking):04X}); "
            "set output.encoding: utf-8"
        ) from None
    finally:
        plain.unlink()


def _compressed(path: Path, file: BinaryIO) -> AbstractContextManager[Any]:
    """Return a file that compresses what is written to it if the path ends in ``.gz``, without a time."""
    return gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_gzipped(path) else nullcontext(file)


Dictionary = Iterable[tuple[str | None, int]]
"""Texts with their records."""


def changed(before: Dictionary, after: Dictionary) -> tuple[int, int]:
    """Return the number of records that a second dictionary has more, and fewer, summed over texts.

    >>> changed([("a", 2), ("b", 1), (None, 1)], [("", 1), ("a", 1), ("c", 1)])
    (1, 2)
    """
    difference = compare_union(after, before, ())
    return difference.added, difference.lacking


class UnionDifference(NamedTuple):
    """How the records of a column differ from two parts that it should have, summed over texts.

    Attributes
    ----------
    lacking: fewer records than in the first part.
    added: more records than in both parts.
    missing: fewer records than in both parts.
    """

    lacking: int
    added: int
    missing: int


def compare_union(whole: Dictionary, first: Dictionary, second: Dictionary) -> UnionDifference:
    """Return how a dictionary differs from the union of two.

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
    """The codes of the texts of a column.

    Attributes
    ----------
    name: of the column.
    codes: code of each position in the relation's dictionary of the column, shape (distinct texts,), int32;
        several positions may have the same code.
    size: number of codes; each is in [0, size).
    """

    name: str
    codes: CodeArray
    size: int


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows in the order of a release, equal rows in sequence.

    Attributes
    ----------
    columns: names.
    labels: distinct texts of each column, sorted by code point.
    codes: positions in ``labels``, an array of shape (rows,), int32 for each column.
    counts: records of each row, shape (rows,), int64, at least 1.
    numbers: columns whose labels are stored as numbers of 64 bits, an empty one as a null.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: tuple[CodeArray, ...]
    counts: IntArray
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class ByCodes:
    """Records find their row by the codes of columns.

    Attributes
    ----------
    codings: of these columns.
    codes: of each row, shape (rows, codings), int32; sorted. Records of equal codes go to the rows of these
        codes in the order of the columns that are released unchanged.
    """

    codings: Sequence[Coding]
    codes: CodeArray


@dataclass(frozen=True, eq=False)
class ByRegion:
    """Records find their row by the region of their codes.

    Attributes
    ----------
    codings: of the columns with these codes.
    regions: region i is row i, with keys as in ``KeyWords``; None without regions.
    rest: row of the records without a region; None if they are not released.
    """

    codings: Sequence[Coding]
    regions: PlacedRows | None
    rest: int | None


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """Records as recoded, given by the rows of the recoding.

    Attributes
    ----------
    found: how a record finds its row.
    counts: records of each row, shape (rows,), int64.
    kept: which rows are released, shape (rows,), bool.
    columns: released columns, in their order.
    labels: distinct texts of each replaced column, sorted by code point.
    places: position in ``labels`` for each row, shape (rows,), int32, by replaced column.
    numbers: as for ``CountedRows``.
    """

    found: ByCodes | ByRegion
    counts: IntArray
    kept: BoolArray
    columns: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    places: Mapping[str, CodeArray]
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Groups:
    """The distinct rows of columns, counted by the engine.

    Attributes
    ----------
    values: distinct texts of each column, sorted by code point, None (a null) last.
    codes: position in ``values`` for each group and column, shape (groups, columns), int32, in any order.
    counts: records of each group, shape (groups,), int64.
    """

    values: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    counts: IntArray

    def texts(self, column: int) -> list[str | None]:
        """Return the text of each group in the column at a position."""
        values = self.values[column]
        return [values[code] for code in self.codes[:, column]]


@dataclass(frozen=True, eq=False)
class Replacement:
    """The released values of a replaced or new column.

    Attributes
    ----------
    labels: distinct texts, sorted by code point, or distinct whole numbers, ascending.
    codes: position in ``labels`` for each record of the input, shape (records,), int32.
    """

    labels: tuple[str, ...] | tuple[int, ...]
    codes: CodeArray


@dataclass(frozen=True, eq=False)
class Projection:
    """The released records and columns of an input.

    Attributes
    ----------
    columns: released columns, in the order of the input; new ones after them, or in place of another.
    replacements: by replaced or new column; the other columns are released unchanged.
    kept: which records are released, shape (records,), bool.
    numbers: as for ``CountedRows``.
    """

    columns: tuple[str, ...]
    replacements: Mapping[str, Replacement]
    kept: BoolArray
    numbers: frozenset[str] = frozenset()


def shuffled_rows(projection: Projection) -> IntArray:
    """Return the numbers of the released records in a random order, shape (released,), int64."""
    rows = shuffled(len(projection.kept))
    return rows[projection.kept[rows]]


def shuffled(number: int) -> IntArray:
    """Return the numbers below ``number`` in a random order, which no seed repeats."""
    order: IntArray = np.argsort(np.frombuffer(os.urandom(8 * number), dtype=np.uint64))
    return order


@dataclass(frozen=True)
class ColumnStatistics:
    """Distinct texts, unique texts, nulls and entropy of a column.

    Attributes
    ----------
    distinct: number of distinct texts, here and below without nulls and absent texts.
    singles: number of texts that occur in one record only.
    largest: records of the most frequent text, 0 without any.
    nulls: number of records with a null or an absent text.
    entropy: of the texts, in bits.
    sample: distinct texts with their records, sorted by code point; all, or a share that depends on the texts
        only, not on their order or frequency.
    """

    distinct: int
    singles: int
    largest: int
    nulls: int
    entropy: float
    sample: tuple[tuple[str, int], ...]

    @property
    def whole(self) -> bool:
        """Whether the sample has all texts."""
        return len(self.sample) == self.distinct


def column_statistics(
    dictionary: Sequence[tuple[str | None, int]], limit: int, absent: Collection[str] = ()
) -> ColumnStatistics:
    """Return the statistics of a column from its dictionary; parameters are as for ``Profiling.spread``."""
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
    """Return the entropy in bits of values whose counts n sum to ``records``, and n log2 n to ``scores``.

    >>> entropy_bits(4, 2 * 2 * 1.0)
    1.0
    """
    return max(math.log2(records) - scores / records, 0.0) if records else 0.0


class Relation(Closing):
    """An open input, read as texts; to be closed.

    Attributes
    ----------
    name: of the input in messages.
    columns: names, in the order of the input; distinct, none empty.
    rows: number of records, at least 1.
    sha256: of the bytes of the file; None if the input is not a file.
    separator: of a CSV file, as given or detected; None otherwise.
    index_columns: columns of the file that are left out as the index of pandas.
    renamed: a warning for each column whose name is not the input's.
    labels: what the file says about columns beside their values; columns may lack it.
    marker: text by which records with missing values are sorted and written as text; None if every column
        keeps its own.

    Class attributes
    ----------------
    is_frame: whether it is a DataFrame, whose release keeps the types of values and is no file.
    """

    is_frame: ClassVar[bool] = False

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str | None
    separator: str | None
    index_columns: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    labels: Mapping[str, ColumnLabels] = MappingProxyType({})
    spelled: Mapping[str, str] = {}
    marker: str | None = None

    @property
    def stored(self) -> Relation:
        """The same records as they are stored: itself, unless numbers are read as labels."""
        return self

    @property
    def header_warnings(self) -> list[str]:
        """Warnings about columns that have another name than in the input, or are left out."""
        left_out = (
            f"column '{name}' is the index of pandas and is left out; to use it, give it a role"
            for name in self.index_columns
        )
        return [*self.renamed, *left_out]

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
        packing = Packing(self.rows)
        # One column is in memory at a time.
        for coding in codings:
            packing.add(coding.codes[self.codes(coding.name)], coding.size)
        return packing

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct rows of the texts of columns with their records.

        Raises
        ------
        DataError: no such column.
        """
        values = tuple(tuple(text for text, _ in self.dictionary(column)) for column in columns)
        codings = [
            Coding(column, np.arange(len(texts), dtype=np.int32), len(texts))
            for column, texts in zip(columns, values, strict=True)
        ]
        with self.combinations(codings) as rows:
            return Groups(values, *rows.fetch())

    def combinations(self, codings: Sequence[Coding]) -> DistinctRows:
        """Return the distinct rows of the codes of columns, to be closed; in memory by default.

        Raises
        ------
        DataError: no such column.
        """
        packing = self.packed(codings)
        distinct, counts = count_keys(packing.take_keys())
        return InMemoryRows(packing.unpack(distinct), counts, [each.size for each in codings])

    def stored_distinct_rows(self, codings: Sequence[Coding]) -> DistinctRows:
        """Return the same, stored by the engine if it can, so that they need not fit in memory.

        The relation has to stay open.

        Raises
        ------
        DataError: no such column.
        """
        return self.combinations(codings)

    def stored_units(
        self,
        codings: Sequence[Coding],  # noqa: ARG002 - of any columns
        columns: Mapping[str, str],  # noqa: ARG002 - of any columns
        absent: Collection[str | None],  # noqa: ARG002 - any texts
        recorded: Collection[str] = (),  # noqa: ARG002 - any names
    ) -> Mapping[str, StoredUnits]:
        """Return the units of the distinct rows of codes, stored by the engine; the relation stays open.

        Parameters
        ----------
        columns: of the units, by their names.
        absent: texts of records that are units of their own.
        recorded: names of units whose records in each row are counted.

        Raises
        ------
        InputError: the engine counts records only.
        """
        raise InputError(
            f"{self.name}: only the engines memory and duckdb count persons and other units; set engine.name "
            "to one of them, or unit: record in each constraint"
        )

    def unit_codes(self, column: str, absent: Collection[str | None]) -> IntArray:
        """Return the unit of each record in the order of texts, shape (records,), int64; -1 without one.

        Parameters
        ----------
        absent: texts of records that are units of their own.
        """
        unknown = np.array([text in absent for text, _ in self.dictionary(column)], dtype=np.bool_)
        units = self.codes(column).astype(np.int64)
        units[unknown[units]] = -1
        return units

    def unit_facts(self, column: str, absent: Collection[str | None]) -> UnitFacts:
        """Return the number of units and of records without one; parameters are as for ``stored_units``."""
        known = [records for text, records in self.dictionary(column) if text not in absent]
        return UnitFacts(len(known), self.rows - sum(known), max(known, default=0))

    def units_in_several(self, inner: str, outer: str, absent: Collection[str | None]) -> int:
        """Return the number of units of one column that have records in several units of another."""
        pairs = self.group_counts([inner, outer])
        known = [np.array([text not in absent for text in own], dtype=bool) for own in pairs.values]
        both = known[0][pairs.codes[:, 0]] & known[1][pairs.codes[:, 1]]
        return int((np.bincount(pairs.codes[both, 0]) > 1).sum())

    def estimated_combinations(self, columns: Sequence[str]) -> int:  # noqa: ARG002 - of any columns
        """Return an estimate of the number of distinct rows of columns, or an upper bound.

        Raises
        ------
        DataError: no such column.
        """
        return self.rows

    def changed_records(self, column: str, other: Relation) -> tuple[int, int]:
        """Return how many records of a column another relation has more, and fewer, summed over texts.

        A null counts as the empty text; raises as ``dictionary`` does.
        """
        return changed(self.dictionary(column), other.dictionary(column))

    def put_together(self, column: str, first: Relation, second: Relation) -> UnionDifference:
        """Compare a column with those of two relations whose records this one should have.

        A null counts as the empty text; raises as ``dictionary`` does.
        """
        return compare_union(*(each.dictionary(column) for each in (self, first, second)))

    def check_storable(self, columns: Collection[str]) -> None:
        """Check that a file or server with types has all values of unchanged columns.

        Raises
        ------
        DataError: naming the column, its type and what to do.
        """

    def stores_whole_numbers(self, column: str) -> bool:  # noqa: ARG002 - of texts
        """Return whether the values of a column are stored as whole numbers."""
        return False

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns in every record, in place, before anything is counted.

        Parameters
        ----------
        labels: by column, one for each text of its dictionary, all texts or all numbers; None for a null.

        Raises
        ------
        InputError: this engine reads records as they are.
        """
        (name, *_) = labels
        raise InputError(
            f"{self.name}: this engine cannot release column '{name}' in groups; remove its labels from the "
            "config, or set engine.name to memory or duckdb"
        )

    def key_identities(self, column: str, keys: KeyColumns) -> dict[str, str]:
        """Return what identifies a unit, by the texts of a column of keys that it differs from.

        Texts of missing values become one of the codes of these.
        """
        texts = [text for text, _ in self.dictionary(column) if text is not None]
        _, numeric = split_absent(texts, keys.codes, keys.numerals)
        return identities_of_keys(texts, keys.codes, keys.numerals, numeric=numeric)

    def similar_texts(self, column: str, most: int) -> list[str]:
        """Return distinct texts of a column of which some may look alike.

        Parameters
        ----------
        most: maximum number of texts; of more, others that look alike may be left out.
        """
        return [text for text, _ in self.dictionary(column) if text is not None][:most]

    def respell(self, texts: Mapping[str, Mapping[str, str | None]]) -> None:
        """Replace texts of columns in every record, in place, before anything is counted.

        Parameters
        ----------
        texts: by column, the new text of some of its texts; None for a null.

        Raises
        ------
        InputError: this engine reads records as they are.
        """
        self.relabel(
            {
                name: [None if text is None else new.get(text, text) for text, _ in self.dictionary(name)]
                for name, new in texts.items()
            }
        )

    def check_unchanged(self) -> None:
        """Check that the input is unchanged since it was opened.

        Raises
        ------
        DataError: it changed.
        """

    @property
    def profiling(self) -> Profiling:
        """Statistics for ``init``."""
        return Profiling(self)

    @property
    def ordered(self) -> bool:
        """Whether records have an order; ``codes`` needs one."""
        return True

    @abstractmethod
    def is_text(self, column: str) -> bool:
        """Return whether the values of a column are texts, rather than stored numbers or dates."""

    def holds_texts(self, column: str) -> bool:  # noqa: ARG002 - of any column
        """Return whether the values of a column are texts in every record, not null; False if unknown."""
        return False

    @abstractmethod
    def records_query(self, projection: Projection, *, shuffled: bool = False) -> ReleaseQuery:
        """Return a query for the released records.

        Parameters
        ----------
        shuffled: whether their order is random, without a seed; else they are sorted by their released
            columns, left to right, texts by code point, a null as the marker, or as the empty text.
        """

    def position(self, column: str) -> int:
        """Return the position of a column, from 0; its name may be spelled otherwise.

        Raises
        ------
        DataError: no such column; the message suggests one.
        """
        try:
            return self._positions[column]
        except KeyError:
            found = self._positions.get(Spellings(self.columns).of(column))
            if found is not None:
                return found
            message = f"{self.name}: no column '{column}'; {suggested(column, self.columns)}"
            raise DataError(message) from None

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Position of each column; a search in ``columns`` takes time by their number."""
        return {column: index for index, column in enumerate(self.columns)}


class EngineRelation(Relation):
    """A relation whose engine writes records that this process does not read."""

    @abstractmethod
    def counted_query(self, rows: CountedRows) -> ReleaseQuery:
        """Return a query for counted rows in their order, each as often as it counts, as texts."""

    @abstractmethod
    def recoded_query(self, rows: RecodedRows, *, shuffled: bool = False) -> ReleaseQuery:
        """Return a query for the records as recoded, in an order as for ``records_query``."""

    @abstractmethod
    def appended_query(
        self, new: ReleaseQuery, path: Path, scratch: Path, *, shuffled: bool = False
    ) -> ReleaseQuery:
        """Return a query for the records of this relation, an earlier release, and new ones, in one order.

        Their order does not disclose which are new. Copying raises DataError if a column has another type in
        the new records, or if the earlier release changed.

        Parameters
        ----------
        new: the new records, with the same columns in any order.
        path: of the earlier release; the new one has its suffix.
        scratch: a folder for a temporary file.
        """

    @abstractmethod
    def checksum(self, recoded: Collection[str]) -> int:
        """Return the sum of the engine's hash of each record by its texts, a null as the empty text.

        Parameters
        ----------
        recoded: columns that were replaced before the records were written.
        """


def check_alike(
    one: tuple[str, Mapping[str, str]], other: tuple[str, Mapping[str, str]], further: str = ""
) -> None:
    """Check that the columns of two relations have the same types.

    Parameters
    ----------
    one, other: name of each in messages, and the types by column.
    further: another remedy.

    Raises
    ------
    DataError: naming the first column of the one that has another type in the other.
    """
    for column, kind in one[1].items():
        if other[1][column] != kind:
            raise DataError(
                f"{other[0]}: column '{column}' has type {other[1][column]}, in {one[0]} {kind}; "
                f"write both inputs with the same type{further}"
            )


class SummedQuery(ReleaseQuery):
    """Recoded records, which are compared with what was read back by a sum of hashes.

    Attributes
    ----------
    rows: of the recoding.
    """

    rows: RecodedRows

    @abstractmethod
    def checksum(self) -> int:
        """Return the sum of a hash of each record as recoded."""

    def check(self, release: Relation) -> None:
        """Compare whole records, as the audit counts some of the columns only.

        Raises
        ------
        AuditFailed: the release has other records.
        """
        same = isinstance(release, EngineRelation) and release.checksum(self.rows.labels) == self.checksum()
        if not same:
            raise AuditFailed(f"{release.name}: a record is not a recoded record of the input")


class Profiling:
    """Statistics for ``init``, from the operations of every relation; an engine may be faster.

    Parameters
    ----------
    relation: stays the caller's.
    """

    def __init__(self, relation: Relation) -> None:
        self._relation = relation

    def keys(self, column: str) -> IntArray:
        """Return an integer for each record, equal for equal texts, from 0 on; shape (records,), int64.

        Faster than ``codes`` for columns of very many texts; records are in the input's order.

        Raises
        ------
        DataError: no such column.
        """
        return self._relation.codes(column).astype(np.int64)

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return the statistics of a column.

        Parameters
        ----------
        limit: the sample has all texts up to this number, and about as many of more texts.
        absent: texts that count as nulls.

        Raises
        ------
        DataError: no such column.
        """
        return column_statistics(self._relation.dictionary(column), limit, absent)

    def count_matching(self, column: str, pattern: str) -> int:
        """Return the number of records whose text matches a regular expression from end to end; nulls do not.

        Parameters
        ----------
        pattern: that means the same in Python's ``re`` and RE2.

        Raises
        ------
        DataError: no such column.
        """
        match = re.compile(pattern).fullmatch
        return sum(
            count for text, count in self._relation.dictionary(column) if text is not None and match(text)
        )

    def in_small_classes(self, columns: Sequence[str], least: int) -> tuple[int, int]:
        """Return the number of records whose texts are unique, and of those in small classes.

        Parameters
        ----------
        least: records of the smallest class that is not small.

        Raises
        ------
        DataError: no such column.
        """
        sizes = self._relation.group_counts(columns).counts
        return int(np.count_nonzero(sizes == 1)), int(sizes[sizes < least].sum())


@dataclass(frozen=True, eq=False)
class RowUnits:
    """The units of distinct rows, which are given by their keys.

    Attributes
    ----------
    keys: of rows with units that are alone there, as in ``RowPiece``, each of shape (rows,), int64.
    alone: number of these units, shape (rows,), int64.
    paired: keys of the row of each pair of a row and another unit, each of shape (pairs,), int64.
    units: number of the unit of each pair, shape (pairs,), int64, from 0.
    records: of each pair, shape (pairs,), int64, as in ``Units``; None if they are not counted.
    """

    keys: tuple[IntArray, ...]
    alone: IntArray
    paired: tuple[IntArray, ...]
    units: IntArray
    records: IntArray | None = None

    def of_rows(self, codes: CodeArray, sizes: Sequence[int]) -> Units:
        """Return the units of distinct rows of codes, shape (rows, columns); every row with units is one."""
        known = KeyWords(sizes).pack(codes)
        alone = np.zeros(len(codes), dtype=np.int64)
        alone[_places(known, self.keys)] = self.alone
        items = _places(known, self.paired)
        order = np.argsort(items, kind="stable")
        space = int(self.units.max(initial=-1)) + 1 or 1
        records = None if self.records is None else self.records[order]
        return Units(alone, items[order], self.units[order], space, records=records)


def _places(known: Sequence[IntArray], keys: Sequence[IntArray]) -> IntArray:
    """Return the place of keys among distinct ones, shape (keys,), int64.

    Raises
    ------
    AuditFailed: a key is not among them.
    """
    number = len(known[0])
    rows = number + len(keys[0])
    groups, first = numbered((np.concatenate(pair) for pair in zip(known, keys, strict=True)), rows)
    found: IntArray = first[groups[number:]]
    if (found >= number).any():
        raise AuditFailed("the engine returned units in distinct rows that are missing from its counts")
    return found


class UnitFacts(NamedTuple):
    """The units of all records.

    Attributes
    ----------
    units: number of units, without records that are units of their own.
    without: number of these records.
    most: records of the unit that has most.
    """

    units: int
    without: int
    most: int


class StoredUnits(Closing):
    """The units of distinct rows that an engine stores; to be closed."""

    @abstractmethod
    def fetch(self) -> RowUnits:
        """Return the units."""


class DistinctRows(Closing):
    """A frequency table that need not be in memory: distinct rows of codes with their records; to be closed.

    Attributes
    ----------
    sizes: number of codes of each column.
    units: of the rows, by name; empty where none are counted.
    """

    sizes: tuple[int, ...]
    units: Mapping[str, StoredUnits] = MappingProxyType({})

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of distinct rows, exact, counted when first used."""

    @abstractmethod
    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return the codes, sorted, shape (rows, columns), int32, and their records, shape (rows,), int64."""

    @abstractmethod
    def rolled_up(self, codes: Sequence[CodeArray | None]) -> DistinctRows:
        """Return the distinct rows of coarser codes.

        Parameters
        ----------
        codes: for each column the new code of each code, shape (size,), int32, in the same range; None for an
            unchanged column.
        """

    @abstractmethod
    def records_in_small_groups(self, columns: int, least: int, unit: str | None = None) -> int:
        """Return the number of records in small groups.

        Parameters
        ----------
        columns: number of the first columns, which define the groups.
        least: records, or units, of the smallest group that is not small.
        unit: what is counted; None for records.
        """

    @abstractmethod
    def pieces(self) -> Iterator[RowPiece]:
        """Yield all of them, in any order, at most ``PIECE`` at a time, with the keys of ``KeyWords``."""


class InMemoryRows(DistinctRows):
    """Distinct rows in memory.

    Parameters
    ----------
    codes, counts: as ``fetch`` returns them.
    """

    def __init__(self, codes: CodeArray, counts: IntArray, sizes: Sequence[int]) -> None:
        self._codes = codes
        self._counts = counts
        self.sizes = tuple(sizes)

    @property
    def number(self) -> int:
        """Number of distinct rows."""
        return len(self._counts)

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return the codes and their records."""
        return self._codes, self._counts

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> InMemoryRows:
        """Return the distinct rows of coarser codes."""
        packing = Packing(self.number)
        for place, (new, size) in enumerate(zip(codes, self.sizes, strict=True)):
            own = self._codes[:, place]
            packing.add(own if new is None else new[own], size)
        distinct, counts = add_up(packing.take_keys(), self._counts, packing.space)
        return InMemoryRows(packing.unpack(distinct), counts, self.sizes)

    def records_in_small_groups(self, columns: int, least: int, unit: str | None = None) -> int:
        """Return the number of records in small groups; units are not stored with rows in memory."""
        assert unit is None, "units of rows in memory are counted there"
        packing = Packing(self.number)
        for place, size in enumerate(self.sizes[:columns]):
            packing.add(self._codes[:, place], size)
        _, sizes = add_up(packing.take_keys(), self._counts, packing.space)
        return int(sizes[sizes < least].sum())

    def pieces(self) -> Iterator[RowPiece]:
        """Yield all of them."""
        keys = KeyWords(self.sizes)
        for first in range(0, self.number, PIECE):
            rows = slice(first, first + PIECE)
            yield RowPiece(tuple(keys.pack(self._codes[rows])), self._counts[rows])

    def close(self) -> None:
        """Do nothing."""


class Place(NamedTuple):
    """Where the code of a column is in the packed keys.

    Attributes
    ----------
    word: number of the key.
    unit: what the code is multiplied by.
    size: number of codes.
    """

    word: int
    unit: int
    size: int


class KeyWords:
    """Columns of codes packed into one or more keys of 63 bits, which sort as the rows of codes do.

    Parameters
    ----------
    sizes: number of codes of each column.

    Attributes
    ----------
    places: of each column in the keys.
    names: of the keys in SQL: w0, w1, …
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        words: list[list[int]] = [[]]
        for size in sizes:
            if prod(words[-1]) * max(size, 1) >= SPACE:
                words.append([])
            words[-1].append(max(size, 1))
        self.places = tuple(
            Place(word, prod(own[place + 1 :]), size)
            for word, own in enumerate(words)
            for place, size in enumerate(own)
        )
        self.names = tuple(f"w{word}" for word in range(len(words)))

    def pack(self, codes: CodeArray) -> list[IntArray]:
        """Return the keys of rows of codes, each of shape (rows,), int64."""
        keys: list[IntArray] = [np.zeros(len(codes), dtype=np.int64) for _ in self.names]
        for place, column in zip(self.places, codes.T, strict=True):
            keys[place.word] += column.astype(np.int64) * place.unit
        return keys

    def unpack(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes of rows, shape (rows, columns), int32, each column in one piece of memory."""
        codes = np.empty((len(self.places), len(keys[0])), dtype=np.int32)
        for column, place in enumerate(self.places):
            codes[column] = keys[place.word] // place.unit % place.size
        return codes.T

    def packed_sql(self, codes: Sequence[str]) -> list[str]:
        """Return SQL for each key, given SQL for the code of each column."""
        terms: list[list[str]] = [[] for _ in self.names]
        for place, code in zip(self.places, codes, strict=True):
            terms[place.word].append(f"CAST({code} AS BIGINT) * {place.unit}")
        return [f"{' + '.join(own)} AS {name}" for own, name in zip(terms, self.names, strict=True)]

    def code_sql(self, column: int, division: str = "//") -> str:
        """Return SQL for the code of a column, given how the engine writes the division of whole numbers."""
        place = self.places[column]
        return f"(({self.names[place.word]} {division} {place.unit}) % {place.size})"


GROUP = "anonymizer.engines"

REMOTE = "spark"
"""The default engine for URLs."""


class EngineFolder(Closing):
    """A release that an engine writes as a folder, which gets its name in ``commit``.

    Attributes
    ----------
    staged: URL under which it is written; ``Engine.open`` reads it back from there.
    """

    staged: str

    @abstractmethod
    def commit(self) -> None:
        """Give the folder its name, in place of an earlier release.

        Raises
        ------
        OutputError: it cannot be renamed; everything is as before.
        """


class Engine(ABC, Supporter):
    """An engine that reads files on other file systems, and writes a release as a folder of files.

    Attributes
    ----------
    name: as in the config.
    supports: the features that it carries out besides Parquet files on this machine, which all engines read
        and write; such as ``REMOTE`` for other file systems, ``TEXT_INPUT``, ``OTHER_INPUT``
        and ``TEXT_OUTPUT``.
    program_bytes: memory of its processes on this machine before any input is read.
    """

    name: ClassVar[str]
    program_bytes: ClassVar[int] = 0

    @abstractmethod
    def has_option(self, name: str) -> bool:
        """Return whether ``engine.options`` may have this name, besides those of all engines."""

    @abstractmethod
    def open(self, location: str, options: EngineOptions) -> Relation:
        """Open a file, or a folder of files.

        Parameters
        ----------
        location: path or URL.
        options: ``settings`` holds those of this engine.

        Raises
        ------
        DataError: missing, damaged, without records, or of a kind that the engine does not read.
        InputError: the engine cannot be started.
        """

    @abstractmethod
    def folder(
        self, location: str, directory: Path, source: str, options: EngineOptions, *, overwrite: bool
    ) -> EngineFolder:
        """Return the folder for a release.

        Parameters
        ----------
        location: URL of the folder.
        directory: local folder of the reports.
        source: path or URL of the input, which is never replaced.
        overwrite: whether an earlier release may be replaced.

        Raises
        ------
        InputError: the engine cannot be started.
        OutputError: something exists there that may not be replaced.
        """


def engine_names() -> list[str]:
    """Return the names of the engines that are plug-ins, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def engine_named(name: str) -> Engine:
    """Return the engine of a name.

    Raises
    ------
    InputError: it is not installed, or cannot be imported.
    """
    points = list(entry_points(group=GROUP, name=name))
    if not points:
        raise InputError(f"engine '{name}' is not installed; {suggestion(name, engine_names())}")
    try:
        plug_in: type[Engine] = points[0].load()
    except ImportError as error:
        raise InputError(f"engine '{name}' cannot be imported ({error}); install it again") from None
    return plug_in()
