"""Columns in DuckDB: dictionaries, column statistics, and SQL for their codes and packed keys.

The distinct texts of a high-cardinality column are not fetched. Most codes are found by the engine, those
of many numbers in an array. Distinct rows of texts are counted by sorting packed codes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.distinct_rows import Place, names_of
from anonymizer.data.duckdb.database import WIDE, Database, text_of
from anonymizer.data.relation import Coding, ColumnStatistics, Groups, Relation, entropy_bits
from anonymizer.data.source import quoted
from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import count_keys

FEW = 64
"""Up to this many texts a list is searched for each record."""

FEW_OF_PARQUET = 256
"""The same where records are read from Parquet, which takes one search for each text of its dictionary."""

ENUM_VALUES = 200_000
"""Up to this many distinct values an enumeration finds positions faster than ranking all records does."""

NARROW = 1 << 16
"""Whole numbers in a range up to this long are looked up by their distance from the smallest."""

WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})


@dataclass(frozen=True)
class CodeSql:
    """An expression that is never null.

    Attributes
    ----------
    text: SQL with a question mark for each parameter.
    parameters: in their order.
    """

    text: str
    parameters: tuple[list[int] | list[str], ...] = ()

    def else_code(self, code: int) -> CodeSql:
        """Return the expression with a code for nulls."""
        return CodeSql(f"coalesce({self.text}, {code})", self.parameters)


def code_of_number(column: str, texts: Sequence[str], codes: CodeArray) -> CodeSql | None:
    """Return the code of a column of whole numbers; None where they lie far apart.

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
    # Narrow types would overflow where the smallest is far below zero, or the largest is their last.
    return CodeSql(f"list_extract(?, {column}::BIGINT - ({lowest}) + 1)", (by_number.tolist(),))


def code_of_few(text: str, texts: Sequence[str], codes: CodeArray) -> CodeSql:
    """Return the code of one of few texts, given SQL for the text; the rest as for ``code_of_number``."""
    place = CodeSql(f"list_position(?, {text})", (list(texts),))
    return _code_at(place, codes)


def code_of_enumerated(enumerated: str, codes: CodeArray) -> CodeSql:
    """Return the code of a value of an enumeration, given SQL for it."""
    return _code_at(CodeSql(f"(enum_code({enumerated})::INTEGER + 1)"), codes)


def told_codes(source: str, codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return codes as they were fetched, of which none is null: every value of the dictionaries has one.

    Parameters
    ----------
    source: what messages call the input.

    Raises
    ------
    DataError: a record has a value that no dictionary has.
    """
    if np.ma.is_masked(codes):
        raise DataError(
            f"{source}: a record holds a value that was not there when the column was read; start again once "
            "the input is complete, or on a copy"
        )
    return np.asarray(codes)


def _code_at(place: CodeSql, codes: CodeArray) -> CodeSql:
    """Return the code of a place, which is counted from 1."""
    if np.array_equal(codes, np.arange(len(codes))):
        return CodeSql(f"({place.text} - 1)", place.parameters)
    return CodeSql(f"list_extract(?, {place.text})", ([int(code) for code in codes], *place.parameters))


BUCKETS = 1 << 21
"""Places of the table that finds hashes, a power of two, at most."""

PROBED = 20_000
"""Records that are looked at to guess which columns have many distinct texts."""


def distinct_among_first(database: Database, texts: Sequence[str]) -> list[int]:
    """Return about how many distinct texts of each column, given by SQL, the first records hold."""
    columns = ", ".join(f"{text} AS t{index}" for index, text in enumerate(texts))
    counts = ", ".join(f"approx_count_distinct(t{index})" for index in range(len(texts)))
    query = f"SELECT {counts} FROM (SELECT {columns} FROM records LIMIT {PROBED})"
    return [int(count) for count in database.rows(query)[0]]


def all_distinct_and_present(database: Database, text: str, absent: Collection[str]) -> bool:
    """Tell whether surely no two records have the same text, and none an absent one; False says nothing.

    Different hashes prove different texts, and take less time and memory than the texts.
    """
    listed = ", ".join(f"({quoted(each)})" for each in sorted(absent))
    null = "SELECT hash(NULL::VARCHAR) AS h"
    others = f" UNION ALL SELECT hash(t) FROM (VALUES {listed}) AS absent(t)" if absent else ""
    unwanted = database.arrays(null + others)["h"]
    hashes = database.arrays(f"SELECT hash({text}) AS h FROM records")["h"]
    hashes.sort()
    if (hashes[1:] == hashes[:-1]).any():
        return False
    places = np.minimum(np.searchsorted(hashes, unwanted), len(hashes) - 1)
    return not (hashes[places] == unwanted).any()


def spread_of_many(
    database: Database, text: str, limit: int, absent: Collection[str]
) -> tuple[ColumnStatistics, int]:
    """Return the spread of a column with more distinct texts than anyone wants to fetch, and their number.

    The number is of all texts, absent ones and a null included.

    Parameters
    ----------
    text: SQL for the column's text.
    limit: distinct texts up to which all would be fetched; the sample is between one and two times as large.
    absent: texts that count as nulls.
    """
    found, texts = _counts_of_many(database, text, absent)
    share = max(found.distinct // limit, 1)
    sample = database.rows(
        f"SELECT {text} AS t, count(*) FROM records WHERE hash({text}) % {share} = 0 AND {text} IS NOT NULL "
        "GROUP BY t ORDER BY t"
    )
    return replace(found, sample=tuple(entry for entry in sample if entry[0] not in absent)), texts


def spread_of_all_different(database: Database, text: str, limit: int, rows: int) -> ColumnStatistics:
    """Return the spread of a column without any null whose texts all differ; the parameters are as above."""
    share = max(rows // limit, 1)
    sample = database.rows(f"SELECT {text} AS t, 1 FROM records WHERE hash({text}) % {share} = 0 ORDER BY t")
    return ColumnStatistics(rows, rows, min(rows, 1), 0, entropy_bits(rows, 0.0), tuple(sample))


def _counts_of_many(database: Database, text: str, absent: Collection[str]) -> tuple[ColumnStatistics, int]:
    """Return a spread without its sample, and the number of all texts, absent ones and a null included."""
    # What counts as a null is told apart after grouping, when there are fewer texts to compare.
    present = "t IS NOT NULL"
    if absent:
        present += f" AND t NOT IN ({', '.join(map(quoted, sorted(absent)))})"
    grouped = f"SELECT {text} AS t, count(*) AS n FROM records GROUP BY t"
    sizes = database.rows(f"SELECT {present} AS p, n, count(*) FROM ({grouped}) GROUP BY ALL")
    texts = sum(count for _, _, count in sizes)
    nulls = sum(n * count for is_present, n, count in sizes if not is_present)
    counts = {n: count for is_present, n, count in sizes if is_present}
    records = sum(n * count for n, count in counts.items())
    scores = math.fsum(count * n * math.log2(n) for n, count in counts.items())
    entropy = entropy_bits(records, scores)
    found = ColumnStatistics(
        sum(counts.values()), counts.get(1, 0), max(counts, default=0), nulls, entropy, ()
    )
    return found, texts


def records_matching(database: Database, text: str, pattern: str) -> int:
    """Return the records whose text matches a regular expression of RE2 from end to end."""
    query = f"SELECT count(*) FROM records WHERE regexp_full_match({text}, {quoted(pattern)})"
    return int(database.rows(query)[0][0])


def texts_matching(database: Database, text: str, pattern: str) -> int:
    """Return the same by matching each distinct text, which costs less where they are few."""
    grouped = f"SELECT {text} AS t, count(*) AS n FROM records GROUP BY t"
    query = f"SELECT coalesce(sum(n), 0) FROM ({grouped}) WHERE regexp_full_match(t, {quoted(pattern)})"
    return int(database.rows(query)[0][0])


def keys_by_hash(database: Database, text: str, texts: int) -> IntArray | None:
    """Return an integer of each record, the same where the texts are; None where two texts have one hash.

    Parameters
    ----------
    texts: number of distinct ones, a null included.
    """
    hashes = database.arrays(f"SELECT hash({text}) AS h FROM records")["h"]
    ascending = np.sort(hashes)
    distinct = ascending[np.append(True, ascending[1:] != ascending[:-1])]
    return _ranks(distinct, hashes) if len(distinct) == texts else None


def _ranks(distinct: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> IntArray:
    """Return the place of each hash among the distinct ones, ascending; by a table where they allow it."""
    # Few hashes get a table that stays in the cache, and are spread in it as thinly as many.
    buckets = min(BUCKETS, 1 << (32 * len(distinct)).bit_length())
    mask = np.uint64(buckets - 1)
    table = np.zeros(buckets, dtype=np.int32)
    table[distinct & mask] = np.arange(len(distinct))
    found: IntArray = table[hashes & mask].astype(np.int64)
    others = np.flatnonzero(distinct[found] != hashes)
    found[others] = np.searchsorted(distinct, hashes[others])
    return found


HASHED = 1 << 26
"""Up to this many records the hashes of a column are held in memory, 8 bytes each."""

MANY, SAMPLE = 1 << 20, 1 << 16
"""Records from which on counting looks at so many first whether most are distinct."""


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
        """Return an integer of each record by the hashes of the texts; None where these do not tell."""
        if self._rows > HASHED:
            return None
        if column not in self._distinct:
            query = f"SELECT count(*) FROM (SELECT DISTINCT {self._texts[column]} FROM records)"
            self._distinct[column] = int(self._database.rows(query)[0][0])
        return keys_by_hash(self._database, self._texts[column], self._distinct[column])

    def fetched(self, column: int, most: int) -> list[tuple[str | None, int]] | None:
        """Return the dictionary of a column, sorted, a null last; None where it has more texts than most."""
        if self._probed[column] > most:
            return None
        # One more than enough tells that there are too many, and spares fetching all.
        grouped = f"SELECT {self._texts[column]} AS t, count(*) FROM records GROUP BY t LIMIT {most + 1}"
        rows = self._database.rows(grouped)
        return None if len(rows) > most else sorted(rows, key=lambda row: (row[0] is None, row[0] or ""))

    def spread(self, column: int, limit: int, absent: Collection[str]) -> ColumnStatistics:
        """Return the spread of a column of which not all texts are fetched."""
        text = self._texts[column]
        likely = 10 * self._probed[column] > 9 * min(self._rows, PROBED)
        if likely and self._rows <= HASHED and all_distinct_and_present(self._database, text, absent):
            self._distinct[column] = self._rows
            return spread_of_all_different(self._database, text, limit, self._rows)
        found, self._distinct[column] = spread_of_many(self._database, text, limit, absent)
        return found

    def count_matching(self, column: int, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        repeated = 2 * self._distinct.get(column, self._rows) <= self._rows
        count_matching = texts_matching if repeated else records_matching
        return count_matching(self._database, self._texts[column], pattern)

    def mostly_distinct(self, columns: Sequence[int]) -> bool:
        """Tell whether there are very many records, most of the first ones distinct in some columns."""
        if self._rows < MANY or not columns:
            return False
        texts = ", ".join(f"{self._texts[column]} AS t{place}" for place, column in enumerate(columns))
        first = f"SELECT DISTINCT * FROM (SELECT {texts} FROM records LIMIT {SAMPLE})"
        return 2 * int(self._database.rows(f"SELECT count(*) FROM ({first})")[0][0]) > SAMPLE

    @cached_property
    def _probed(self) -> list[int]:
        """About how many distinct texts each column has in the first records."""
        return distinct_among_first(self._database, self._texts)


SPAN = 1 << 20
"""Numbers in a range up to this long are looked up by their distance from the smallest."""


@dataclass(frozen=True, eq=False)
class NumberCodes:
    """Codes of texts that are whole numbers in digits, no two of them the same number.

    Attributes
    ----------
    text: SQL for the number, one below the smallest for a null.
    lowest: the smallest number.
    codes: of what is below, of a null, of each number from the smallest on, and of what is beyond; -1 where
        nothing is known.
    """

    text: str
    lowest: int
    codes: IntArray

    def of(self, numbers: NDArray[np.integer]) -> IntArray:
        """Return the code of each number that was fetched, -1 where it is no known one."""
        found: IntArray = self.codes.take(numbers - np.int32(self.lowest - 2), mode="clip")
        return found


def codes_of_digits(
    column: str, texts: Sequence[str], codes: CodeArray, null: int | None
) -> NumberCodes | None:
    """Return the codes of a column by its numbers; None where a text is no number, or they lie far apart.

    Also None where they are few: these the engine finds as fast by itself.

    Parameters
    ----------
    column: SQL for the number or the text of a record.
    texts: the distinct ones.
    codes: of each text, shape (texts,), int32.
    null: code of a null, None where there is none.
    """
    if len(texts) <= FEW_OF_PARQUET:
        return None
    # Up to nine digits fit four bytes.
    if not all(each.isascii() and each.isdigit() and len(each) < 10 for each in texts):
        return None
    numbers = np.array([int(each) for each in texts], dtype=np.int64)
    lowest, highest = int(numbers.min()), int(numbers.max())
    # The same number in two spellings would be two values with one key.
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
    """Asks for the key of each record, packed of the codes of columns with the weight of each."""

    def __init__(self) -> None:
        self._terms: list[str] = []
        self._parameters: list[list[int] | list[str]] = []
        self._looked_up: list[tuple[NumberCodes, int]] = []

    def add(self, found: CodeSql | NumberCodes, weight: int) -> None:
        """Add a column, whose codes are taken so many times."""
        if isinstance(found, NumberCodes):
            self._looked_up.append((found, weight))
            return
        self._terms.append(f"({found.text})::BIGINT * {weight}")
        self._parameters.extend(found.parameters)

    def keys(self, database: Database, source: str) -> IntArray:
        """Return the keys in the order of the records, shape (records,), int64.

        Parameters
        ----------
        source: what messages call the input.

        Raises
        ------
        DataError: a record has a value that was not there when the column was read.
        """
        key = " + ".join(self._terms) or "0::BIGINT"
        numbers = (f", {each.text} AS n{place}" for place, (each, _) in enumerate(self._looked_up))
        fetched = database.arrays(f"SELECT {key} AS k{''.join(numbers)} FROM records", self._parameters)
        keys: IntArray = told_codes(source, fetched.pop("k")).astype(np.int64, copy=False)
        for place, (each, weight) in enumerate(self._looked_up):
            codes = each.of(told_codes(source, fetched.pop(f"n{place}")))
            told_codes(source, np.ma.masked_less(codes, 0) if (codes < 0).any() else codes)
            codes *= weight
            keys += codes
        return keys


def code_sql(place: Place) -> str:
    """Return SQL for the code of a column, of the keys."""
    return f"((w{place.word} // {place.unit}) % {place.size})"


def packed_sql(places: Sequence[Place], codes: Sequence[str]) -> list[str]:
    """Return SQL for each key, given SQL for the code of each column."""
    words: list[list[str]] = [[] for _ in names_of(places)]
    for place, code in zip(places, codes, strict=True):
        words[place.word].append(f"{code}::BIGINT * {place.unit}")
    return [f"{' + '.join(terms)} AS w{word}" for word, terms in enumerate(words)]


Dictionary = list[tuple[str | None, int]]
"""Distinct texts with their records, sorted, a null last."""

CELLS_TOGETHER, COLUMNS_TOGETHER = 1 << 18, 1 << 10
"""Cells and columns that one query of a wide table counts at most."""


class ColumnValues:
    """What is known of the columns c0, c1, … of the table ``records``; each is meant by its number.

    Parameters
    ----------
    database: stays the caller's.
    records: number of them.

    Attributes
    ----------
    texts: SQL for the text of each column.
    holds_texts: whether the values of each are texts.
    """

    def __init__(self, database: Database, records: int) -> None:
        self._database, self._records = database, records
        self._with_nulls: dict[int, bool] = {}
        self._sizes: dict[int, int] = {}
        self._dictionaries: dict[int, Dictionary] = {}
        self._enumerations: set[int] = set()
        kinds = [str(row[1]) for row in database.rows("DESCRIBE records")]
        self.holds_texts = [kind == "VARCHAR" for kind in kinds]
        self._whole = [kind in WHOLE for kind in kinds]
        self.texts = [text_of(f"c{index}", kind) for index, kind in enumerate(kinds)]

    def known(self, index: int) -> bool:
        """Tell whether the distinct texts of a column are held."""
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

    def few_cells(self, index: int) -> bool:
        """Tell whether a column is one of so many, of so few records, that they are counted together."""
        return len(self.neighbours(index)) > 1

    def neighbours(self, index: int, most: int = COLUMNS_TOGETHER) -> range:
        """Return the columns, a given one among them and at most so many, that one query reads together."""
        if len(self.texts) < WIDE:
            return range(index, index + 1)
        number = max(1, min(most, CELLS_TOGETHER // max(1, self._records)))
        first = index - index % number
        return range(first, min(first + number, len(self.texts)))

    def _count_together(self, indices: Sequence[int]) -> None:
        """Read the dictionaries of some columns with one query."""
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
        """Note the size of a dictionary, and keep it unless it is large; say whether it was kept."""
        nulls = bool(rows) and rows[-1][0] is None
        self._with_nulls[index] = nulls
        self._sizes[index] = len(rows) - nulls
        if len(rows) > ENUM_VALUES:
            return False
        self._dictionaries[index] = rows
        return True

    def nullable(self, index: int) -> bool:
        """Tell whether a column has nulls; where its dictionary was read, that says so."""
        if index not in self._with_nulls:
            indices = [each for each in self.neighbours(index) if each not in self._with_nulls]
            counts = ", ".join(f"count(c{each})" for each in indices)
            present = self._database.rows(f"SELECT {counts} FROM records")[0]
            for each, number in zip(indices, present, strict=True):
                self._with_nulls[each] = int(number) < self._records
        return self._with_nulls[index]

    def many(self, index: int) -> bool:
        """Tell whether a column has too many distinct texts for an enumeration."""
        return self._size(index) > ENUM_VALUES

    def _size(self, index: int) -> int:
        """Return the number of distinct texts of a column, a null not counted."""
        if index not in self._sizes:
            self.dictionary(index)
        return self._sizes[index]

    def place(self, index: int, text: str) -> str:
        """Return SQL for the position in a column's dictionary of what the expression ``text`` gives."""
        size = self._size(index)
        if size == 0:
            return "0"
        if self.many(index):
            return f"(dense_rank() OVER (ORDER BY {text} NULLS LAST) - 1)"
        return f"coalesce(enum_code({self._enumerated(index, text)})::INTEGER, {size})"

    def code(self, index: int, codes: CodeArray) -> CodeSql:
        """Return SQL for the code of a column that has not too many texts.

        Parameters
        ----------
        codes: of each position in its dictionary, shape (distinct texts,), int32.
        """
        texts = self._present(index)
        of_texts, found = codes[: len(texts)], None
        if not texts:
            return CodeSql(str(int(codes[0])))
        if self._whole[index]:
            found = code_of_number(f"c{index}", texts, of_texts)
        if found is None and len(texts) <= (FEW if self._database.source is None else FEW_OF_PARQUET):
            found = code_of_few(self.texts[index], texts, of_texts)
        if found is None:
            found = code_of_enumerated(self._enumerated(index, self.texts[index]), of_texts)
        return found.else_code(int(codes[-1])) if self.nullable(index) else found

    def positions(self, index: int) -> CodeSql:
        """Return SQL for the position in its dictionary of a column that has not too many texts."""
        return self.code(index, np.arange(len(self.dictionary(index)), dtype=np.int32))

    def number_codes(self, index: int, codes: CodeArray) -> NumberCodes | None:
        """Return the codes of a column of many texts that are numbers; None of any other."""
        texts = self._present(index)
        column = f"c{index}" if self._whole[index] else self.texts[index]
        null = int(codes[-1]) if self.nullable(index) else None
        return codes_of_digits(column, texts, codes[: len(texts)], null)

    def _present(self, index: int) -> list[str]:
        """Return the distinct texts of a column without the null."""
        return [text for text, _ in self.dictionary(index) if text is not None]

    def _enumerated(self, index: int, text: str) -> str:
        """Return SQL for a text as a value of the column's enumeration, made when it is first asked for."""
        if index not in self._enumerations:
            known = map(quoted, self._present(index))
            self._database.run(f"CREATE TYPE e{index} AS ENUM ({', '.join(known)})")
            self._enumerations.add(index)
        return f"CAST({text} AS e{index})"


def packed_groups(relation: Relation, columns: Sequence[str]) -> Groups:
    """Return what ``group_counts`` does, in less memory where nearly all records are distinct.

    Raises
    ------
    DataError: no such column.
    """
    values = tuple(tuple(text for text, _ in relation.dictionary(column)) for column in columns)
    coded = [
        Coding(column, np.arange(len(own), dtype=np.int32), len(own))
        for column, own in zip(columns, values, strict=True)
    ]
    packing = relation.packed(coded)
    distinct, counts = count_keys(packing.take_keys())
    return Groups(values, packing.unpack(distinct), counts)
