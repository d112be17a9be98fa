"""Columns in DuckDB: dictionaries, column statistics, and SQL for their codes.

The distinct texts of a high-cardinality column are not fetched. DuckDB finds most codes; those of many
numbers are looked up in an array.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.duckdb.database import WIDE, Database, new_name, text_of
from anonymizer.data.relation import ColumnStatistics, entropy_bits
from anonymizer.data.source import quoted
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, IntArray

FEW = 64
"""Largest number of texts for which DuckDB searches a list for each record."""

FEW_OF_PARQUET = 256
"""The same for records in Parquet, where DuckDB searches once for each text of Parquet's dictionary."""

ENUM_VALUES = 200_000
"""Largest number of distinct values for which an enumeration is faster than ranking all records."""

NARROW = 1 << 16
"""Longest range of whole numbers that DuckDB looks up by their distance from the smallest."""

WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})


class CodeSql(NamedTuple):
    """An expression that is never null.

    Attributes
    ----------
    text: SQL with a question mark for each parameter.
    parameters: in their order.
    """

    text: str
    parameters: tuple[list[int] | list[str], ...] = ()


def code_of_number(column: str, texts: Sequence[str], codes: CodeArray) -> CodeSql | None:
    """Return the code of a column of whole numbers; None if their range is too long.

    Parameters
    ----------
    column: its name in SQL.
    texts: the distinct ones.
    codes: of each text, shape (texts,), int32.
    """
    numbers = [int(text) for text in texts]
    lowest = min(numbers)
    if max(numbers) - lowest >= NARROW:
        return None
    by_number = np.zeros(max(numbers) - lowest + 1, dtype=np.int64)
    by_number[np.array(numbers) - lowest] = codes
    # The difference may overflow the column's type.
    return CodeSql(f"list_extract(?, {column}::BIGINT - ({lowest}) + 1)", (by_number.tolist(),))


def check_coded(source: str, codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return fetched codes; a null among them is an error.

    Parameters
    ----------
    source: name of the input in messages.

    Raises
    ------
    DataError: a record has a value that is not in the dictionary.
    """
    if np.ma.is_masked(codes):
        raise DataError(
            f"{source}: a record has a value that was not there when the column was read; run again when the "
            "input is complete, or on a copy"
        )
    return np.asarray(codes)


def _code_at(place: CodeSql, codes: CodeArray) -> CodeSql:
    """Return the code at a place that counts from 1."""
    if np.array_equal(codes, np.arange(len(codes))):
        return CodeSql(f"({place.text} - 1)", place.parameters)
    return CodeSql(f"list_extract(?, {place.text})", ([int(code) for code in codes], *place.parameters))


BUCKETS = 1 << 21
"""Maximum size of the table of hashes, a power of two."""

PROBED = 20_000
"""First records, from which the number of distinct texts is estimated."""


HASHED = 1 << 26
"""Largest number of records whose hashes are held in memory, 8 bytes each."""

MANY, SAMPLE = 1 << 20, 1 << 16
"""From ``MANY`` records on, a sample of the first shows whether most are distinct."""


class HighCardinalityColumns:
    """Counts columns without fetching their dictionaries.

    Parameters
    ----------
    database: stays the caller's.
    texts: SQL for the text of each column.
    rows: number of records.
    """

    def __init__(self, database: Database, texts: Sequence[str], rows: int) -> None:
        self._database = database
        self._texts = texts
        self._rows = rows
        self._distinct: dict[int, int] = {}

    def keys(self, column: int) -> IntArray | None:
        """Return an integer for each record by the hash of its text; None if two texts have the same hash."""
        text = self._texts[column]
        if self._rows > HASHED:
            return None
        if column not in self._distinct:
            query = f"SELECT count(*) FROM (SELECT DISTINCT {text} FROM records)"
            self._distinct[column] = int(self._database.rows(query)[0][0])
        hashes = self._hashes(text)
        ascending = np.sort(hashes)
        distinct = ascending[np.append(True, ascending[1:] != ascending[:-1])]
        return _ranks(distinct, hashes) if len(distinct) == self._distinct[column] else None

    def fetched(self, column: int, most: int) -> list[tuple[str | None, int]] | None:
        """Return the dictionary of a column, sorted, a null last; None if it has more texts than ``most``."""
        if self._probed[column] > most:
            return None
        # One row more shows that there are too many.
        grouped = f"SELECT {self._texts[column]} AS t, count(*) FROM records GROUP BY t LIMIT {most + 1}"
        rows = self._database.rows(grouped)
        return None if len(rows) > most else sorted(rows, key=lambda row: (row[0] is None, row[0] or ""))

    def spread(self, column: int, limit: int, absent: Collection[str]) -> ColumnStatistics:
        """Return the statistics of a column; its sample has between one and two times ``limit`` texts.

        Parameters
        ----------
        absent: texts that count as nulls.
        """
        text = self._texts[column]
        likely = 10 * self._probed[column] > 9 * min(self._rows, PROBED)
        if likely and self._rows <= HASHED and self._all_distinct_and_present(text, absent):
            self._distinct[column] = self._rows
            found = ColumnStatistics(
                self._rows, self._rows, min(self._rows, 1), 0, entropy_bits(self._rows, 0.0), ()
            )
        else:
            found, self._distinct[column] = self._counted(text, absent)
        share = max(found.distinct // limit, 1)
        sample = self._database.rows(
            f"SELECT {text} AS t, count(*) FROM records WHERE hash({text}) % {share} = 0 "
            f"AND {text} IS NOT NULL GROUP BY t ORDER BY t"
        )
        return replace(found, sample=tuple(entry for entry in sample if entry[0] not in absent))

    def _counted(self, text: str, absent: Collection[str]) -> tuple[ColumnStatistics, int]:
        """Return statistics without a sample, and the number of distinct texts, absent ones and null too."""
        # Absent texts are compared after grouping, when there are fewer.
        present = "t IS NOT NULL"
        if absent:
            present += f" AND t NOT IN ({', '.join(map(quoted, sorted(absent)))})"
        sizes = self._database.rows(
            f"SELECT {present} AS p, n, count(*) FROM ({self._grouped(text)}) GROUP BY ALL"
        )
        texts = sum(count for _, _, count in sizes)
        nulls = sum(n * count for is_present, n, count in sizes if not is_present)
        counts = {n: count for is_present, n, count in sizes if is_present}
        records = sum(n * count for n, count in counts.items())
        scores = math.fsum(count * n * math.log2(n) for n, count in counts.items())
        entropy = entropy_bits(records, scores)
        distinct, singles, largest = sum(counts.values()), counts.get(1, 0), max(counts, default=0)
        return ColumnStatistics(distinct, singles, largest, nulls, entropy, ()), texts

    def _all_distinct_and_present(self, text: str, absent: Collection[str]) -> bool:
        """Return True only if all texts are certainly distinct, and none is absent or null.

        Different hashes prove different texts, and take less time and memory than the texts.
        """
        listed = ", ".join(f"({quoted(each)})" for each in sorted(absent))
        null = "SELECT hash(NULL::VARCHAR) AS h"
        others = f" UNION ALL SELECT hash(t) FROM (VALUES {listed}) AS absent(t)" if absent else ""
        unwanted = self._database.arrays(null + others)["h"]
        hashes = self._hashes(text)
        hashes.sort()
        if (hashes[1:] == hashes[:-1]).any():
            return False
        places = np.minimum(np.searchsorted(hashes, unwanted), len(hashes) - 1)
        return not (hashes[places] == unwanted).any()

    def _hashes(self, text: str) -> NDArray[np.uint64]:
        hashes: NDArray[np.uint64] = self._database.arrays(f"SELECT hash({text}) AS h FROM records")["h"]
        return hashes

    def _grouped(self, text: str) -> str:
        return f"SELECT {text} AS t, count(*) AS n FROM records GROUP BY t"

    def count_matching(self, column: int, pattern: str) -> int:
        """Return the number of records whose text matches a regular expression of RE2 from end to end."""
        text = self._texts[column]
        # Matching each distinct text once is faster if there are few of them.
        if 2 * self._distinct.get(column, self._rows) <= self._rows:
            counted, text = f"coalesce(sum(n), 0) FROM ({self._grouped(text)})", "t"
        else:
            counted = "count(*) FROM records"
        query = f"SELECT {counted} WHERE regexp_full_match({text}, {quoted(pattern)})"
        return int(self._database.rows(query)[0][0])

    def mostly_distinct(self, columns: Sequence[int]) -> bool:
        """Return whether there are very many records, and most of the first are distinct in some columns."""
        if self._rows < MANY or not columns:
            return False
        texts = ", ".join(f"{self._texts[column]} AS t{place}" for place, column in enumerate(columns))
        first = f"SELECT DISTINCT * FROM (SELECT {texts} FROM records LIMIT {SAMPLE})"
        return 2 * int(self._database.rows(f"SELECT count(*) FROM ({first})")[0][0]) > SAMPLE

    @cached_property
    def _probed(self) -> list[int]:
        """About how many distinct texts each column has in the first records."""
        columns = ", ".join(f"{text} AS t{index}" for index, text in enumerate(self._texts))
        counts = ", ".join(f"approx_count_distinct(t{index})" for index in range(len(self._texts)))
        query = f"SELECT {counts} FROM (SELECT {columns} FROM records LIMIT {PROBED})"
        return [int(count) for count in self._database.rows(query)[0]]


def _ranks(distinct: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> IntArray:
    """Return the rank of each hash among the distinct ones, found in a table if they are few."""
    # The table for few hashes fits the cache, and is as empty as that for many.
    buckets = min(BUCKETS, 1 << (32 * len(distinct)).bit_length())
    mask = np.uint64(buckets - 1)
    table = np.zeros(buckets, dtype=np.int32)
    table[distinct & mask] = np.arange(len(distinct))
    found: IntArray = table[hashes & mask].astype(np.int64)
    others = np.flatnonzero(distinct[found] != hashes)
    found[others] = np.searchsorted(distinct, hashes[others])
    return found


SPAN = 1 << 20
"""Longest range of numbers whose codes are looked up in an array."""


@dataclass(frozen=True, eq=False)
class NumberCodes:
    """Codes of texts that are whole numbers in digits, no two of them the same number.

    Attributes
    ----------
    text: SQL for the number, ``lowest - 1`` for a null.
    lowest: the smallest number.
    codes: of smaller numbers, of a null, of each number from ``lowest`` on, and of larger numbers; -1 for
        unknown numbers.
    """

    text: str
    lowest: int
    codes: IntArray

    def of(self, numbers: NDArray[np.integer]) -> IntArray:
        """Return the code of each fetched number, -1 if it is unknown."""
        found: IntArray = self.codes.take(numbers - np.int32(self.lowest - 2), mode="clip")
        return found


def codes_of_digits(
    column: str, texts: Sequence[str], codes: CodeArray, null: int | None
) -> NumberCodes | None:
    """Return the codes of a column by its numbers; None for other texts or too long a range.

    Also None for few texts, for which SQL is as fast.

    Parameters
    ----------
    column: SQL for the number or the text of a record.
    texts: the distinct ones.
    codes: of each text, shape (texts,), int32.
    null: code of a null, None if the column has no nulls.
    """
    if len(texts) <= FEW_OF_PARQUET:
        return None
    # Up to nine digits fit four bytes.
    if not all(each.isascii() and each.isdigit() and len(each) < 10 for each in texts):
        return None
    numbers = np.array([int(each) for each in texts], dtype=np.int64)
    lowest, highest = int(numbers.min()), int(numbers.max())
    # Two spellings of one number need two codes.
    if highest - lowest >= SPAN or len(np.unique(numbers)) < len(numbers):
        return None
    table = np.full(highest - lowest + 4, -1, dtype=np.int64)
    table[numbers - lowest + 2] = codes
    number = f"CAST({column} AS INTEGER)"
    if null is not None:
        table[1] = null
        number = f"coalesce({number}, {lowest - 1})"
    return NumberCodes(number, lowest, table)


class PackedQuery:
    """A query for the key of each record: the weighted sum of the codes of its columns."""

    def __init__(self) -> None:
        self._terms: list[str] = []
        self._parameters: list[list[int] | list[str]] = []
        self._looked_up: list[tuple[NumberCodes, int]] = []

    def add(self, found: CodeSql | NumberCodes, weight: int) -> None:
        """Add a column, given what its codes are multiplied by."""
        if isinstance(found, NumberCodes):
            self._looked_up.append((found, weight))
            return
        self._terms.append(f"({found.text})::BIGINT * {weight}")
        self._parameters.extend(found.parameters)

    def keys(self, database: Database, source: str) -> IntArray:
        """Return the keys in the order of the records, shape (records,), int64.

        Parameters
        ----------
        source: name of the input in messages.

        Raises
        ------
        DataError: a record has a value that is not in the dictionary.
        """
        key = " + ".join(self._terms) or "0::BIGINT"
        numbers = (f", {each.text} AS n{place}" for place, (each, _) in enumerate(self._looked_up))
        fetched = database.arrays(f"SELECT {key} AS k{''.join(numbers)} FROM records", self._parameters)
        keys: IntArray = check_coded(source, fetched.pop("k")).astype(np.int64, copy=False)
        for place, (each, weight) in enumerate(self._looked_up):
            codes = each.of(check_coded(source, fetched.pop(f"n{place}")))
            check_coded(source, np.ma.masked_less(codes, 0) if (codes < 0).any() else codes)
            codes *= weight
            keys += codes
        return keys


Dictionary = list[tuple[str | None, int]]
"""Distinct texts with their records, sorted, a null last."""

CELLS_TOGETHER, COLUMNS_TOGETHER = 1 << 18, 1 << 10
"""Maximum number of cells and of columns that one query of a wide table counts."""


class ColumnValues:
    """Dictionaries and codes of the columns c0, c1, … of the table ``records``, given by their numbers.

    Parameters
    ----------
    database: stays the caller's.
    records: number of records.

    Attributes
    ----------
    texts: SQL for the text of each column.
    kinds: the type of each.
    holds_texts: whether the type of each column is text.
    whole: whether it is of whole numbers that the codes of integers hold.
    numbered: whether it is of whole numbers.
    """

    def __init__(self, database: Database, records: int) -> None:
        self._database, self._records = database, records
        self._with_nulls: dict[int, bool] = {}
        self._sizes: dict[int, int] = {}
        self._dictionaries: dict[int, Dictionary] = {}
        self._enumerations: dict[int, str] = {}
        self.kinds = kinds = [str(row[1]) for row in database.rows("DESCRIBE records")]
        self.holds_texts = [kind == "VARCHAR" for kind in kinds]
        self.whole = [kind in WHOLE for kind in kinds]
        self.numbered = [kind in WHOLE or kind == "UBIGINT" for kind in kinds]
        self.texts = [text_of(f"c{index}", kind) for index, kind in enumerate(kinds)]

    def known(self, index: int) -> bool:
        """Return whether the dictionary of a column is in memory."""
        return index in self._dictionaries

    def dictionary(self, index: int) -> Dictionary:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        if index not in self._sizes:
            neighbours = [each for each in self.neighbours(index) if each not in self._sizes]
            if len(neighbours) > 1:
                self._count_together(neighbours)
        if index not in self._dictionaries:
            counted = (
                f"SELECT {self.texts[index]} AS t, count(*) FROM records GROUP BY t ORDER BY t NULLS LAST"
            )
            rows = self._database.rows(counted)
            if not self.remember(index, rows):
                return rows
        return list(self._dictionaries[index])

    def neighbours(self, index: int, most: int = COLUMNS_TOGETHER) -> range:
        """Return the columns that one query reads together with a given one: at most so many, and itself."""
        if len(self.texts) < WIDE:
            return range(index, index + 1)
        number = max(1, min(most, CELLS_TOGETHER // max(1, self._records)))
        first = index - index % number
        return range(first, min(first + number, len(self.texts)))

    def _count_together(self, indices: Sequence[int]) -> None:
        """Read the dictionaries of columns with one query."""
        texts = ", ".join(self.texts[index] for index in indices)
        rows = self._database.rows(
            f"SELECT i, t, count(*) FROM (SELECT unnest(range({len(indices)})) AS i, unnest([{texts}]) AS t "
            "FROM records) GROUP BY i, t ORDER BY i, t NULLS LAST"
        )
        found: list[Dictionary] = [[] for _ in indices]
        for place, text, count in rows:
            found[place].append((text, count))
        for index, dictionary in zip(indices, found, strict=True):
            self.remember(index, dictionary)

    def remember(self, index: int, rows: Dictionary) -> bool:
        """Store the size of a dictionary, and itself unless it is large; return whether it is stored."""
        nulls = bool(rows) and rows[-1][0] is None
        self._with_nulls[index] = nulls
        self._sizes[index] = len(rows) - nulls
        if len(rows) > ENUM_VALUES:
            return False
        self._dictionaries[index] = rows
        return True

    def nullable(self, index: int) -> bool:
        """Return whether a column has nulls; counted unless its dictionary was read."""
        if index not in self._with_nulls:
            indices = [each for each in self.neighbours(index) if each not in self._with_nulls]
            counts = ", ".join(f"count(c{each})" for each in indices)
            present = self._database.rows(f"SELECT {counts} FROM records")[0]
            for each, number in zip(indices, present, strict=True):
                self._with_nulls[each] = int(number) < self._records
        return self._with_nulls[index]

    def many(self, index: int) -> bool:
        """Return whether a column has too many distinct texts for an enumeration."""
        return self._size(index) > ENUM_VALUES

    def _size(self, index: int) -> int:
        """Return the number of distinct texts of a column without the null."""
        if index not in self._sizes:
            self.dictionary(index)
        return self._sizes[index]

    def place(self, index: int, text: str) -> str:
        """Return SQL for the position of a text in a column's dictionary, given SQL for the text."""
        size = self._size(index)
        if size == 0:
            return "0"
        if self.many(index):
            return f"(dense_rank() OVER (ORDER BY {text} NULLS LAST) - 1)"
        return f"coalesce(enum_code({self._enumerated(index, text)})::INTEGER, {size})"

    def code(self, index: int, codes: CodeArray) -> CodeSql:
        """Return SQL for the code of a column, unless it has too ``many`` texts.

        Parameters
        ----------
        codes: of each position in its dictionary, shape (distinct texts,), int32.
        """
        texts = self._present(index)
        of_texts, found = codes[: len(texts)], None
        if not texts:
            return CodeSql(str(int(codes[0])))
        if self.whole[index]:
            found = code_of_number(f"c{index}", texts, of_texts)
        if found is None and len(texts) <= (FEW if self._database.source is None else FEW_OF_PARQUET):
            found = _code_at(CodeSql(f"list_position(?, {self.texts[index]})", (texts,)), of_texts)
        if found is None:
            enumerated = self._enumerated(index, self.texts[index])
            found = _code_at(CodeSql(f"(enum_code({enumerated})::INTEGER + 1)"), of_texts)
        if self.nullable(index):
            return CodeSql(f"coalesce({found.text}, {int(codes[-1])})", found.parameters)
        return found

    def positions(self, index: int) -> CodeSql:
        """Return SQL for the position of a column in its dictionary, unless it has too ``many`` texts."""
        return self.code(index, np.arange(len(self.dictionary(index)), dtype=np.int32))

    def number_codes(self, index: int, codes: CodeArray) -> NumberCodes | None:
        """Return the codes of a column of many numbers; None for any other column."""
        texts = self._present(index)
        column = f"c{index}" if self.whole[index] else self.texts[index]
        null = int(codes[-1]) if self.nullable(index) else None
        return codes_of_digits(column, texts, codes[: len(texts)], null)

    def _present(self, index: int) -> list[str]:
        """Return the distinct texts of a column without the null."""
        return [text for text, _ in self.dictionary(index) if text is not None]

    def _enumerated(self, index: int, text: str) -> str:
        """Return SQL for a text as a value of the column's enumeration, which is created when first used."""
        if index not in self._enumerations:
            known = map(quoted, self._present(index))
            self._enumerations[index] = new_name("e")
            self._database.run(f"CREATE TYPE {self._enumerations[index]} AS ENUM ({', '.join(known)})")
        return f"CAST({text} AS {self._enumerations[index]})"
