"""Relations in DuckDB: of files, by their formats, and of tables and queries of a DuckDB file.

Records can be appended to an earlier release out of core.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, chain
from math import prod
from operator import mul
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from anonymizer.data.duckdb.columns import (
    ColumnValues,
    HighCardinalityColumns,
    PackedQuery,
    check_coded,
)
from anonymizer.data.duckdb.database import (
    WIDE,
    Database,
    identity_sql,
    new_name,
    same_text,
    system_reason,
    text_of,
)
from anonymizer.data.duckdb.distinct_rows import (
    DuckCombinations,
    DuckUnits,
    RecordCode,
    by_text,
    keyed_records,
)
from anonymizer.data.duckdb.types import check_long_numbers
from anonymizer.data.duckdb.writers import (
    DuckCountedQuery,
    DuckQuery,
    DuckRecodedQuery,
    DuckRecordsQuery,
    RecordColumns,
    Selected,
    shuffled_by_secret,
    sum_of,
)
from anonymizer.data.relation import (
    Coding,
    ColumnStatistics,
    CountedRows,
    EngineRelation,
    Groups,
    KeyWords,
    Profiling,
    Projection,
    RecodedRows,
    Relation,
    ReleaseQuery,
    UnitFacts,
    check_alike,
    column_statistics,
)
from anonymizer.data.source import (
    FILE_FORMATS,
    CsvDialect,
    EngineOptions,
    FileSource,
    KeyColumns,
    MissingTexts,
    Naming,
    Query,
    QueryError,
    Selection,
    WholeTable,
    identifier,
    mixed_numbers,
    name_columns,
    quoted,
    reading,
    sha256_of,
)
from anonymizer.data.values import (
    WHOLE,
    absent_texts,
    identities_of_keys,
    number_key,
    split_absent,
    usual_number,
)
from anonymizer.errors import DataError, InputError
from anonymizer.model.arrays import BLOCK, DENSE_LIMIT, SPACE, CodeArray, IntArray, Packing
from anonymizer.model.dates import DAY_OR_TIME, days_of
from anonymizer.model.identity import WHITE_SPACE
from anonymizer.model.labels import MISSING
from anonymizer.model.table import BLANKS, CODE, POINT, Numerals, ValueType
from anonymizer.plugins import Registry
from anonymizer.system import check_file, real_path

FEW_RECORDS = 1 << 17
"""Number of records up to which the texts of units are read into memory, and keys are kept."""


class DuckProfiling(Profiling):
    """Statistics for ``init``; for columns of many texts by sums and hashes of the database.

    Parameters
    ----------
    relation: stays the caller's.
    values, many: of its columns.
    """

    def __init__(self, relation: Relation, values: ColumnValues, many: HighCardinalityColumns) -> None:
        super().__init__(relation)
        self._values = values
        self._many = many

    def keys(self, column: str) -> IntArray:
        """Return an integer for each record: by the hashes of the texts, if these are distinct."""
        index = self._relation.position(column)
        found = None if self._values.known(index) else self._many.keys(index)
        return super().keys(column) if found is None else found

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return the statistics of a column."""
        index = self._relation.position(column)
        together = len(self._values.neighbours(index)) > 1
        if not self._values.known(index) and not together:
            rows = self._many.fetched(index, limit + len(absent) + 1)
            if rows is None:
                return self._many.spread(index, limit, absent)
            self._values.remember(index, rows)
        return column_statistics(self._relation.dictionary(column), limit, absent)

    def count_matching(self, column: str, pattern: str) -> int:
        """Return the number of records whose text matches a regular expression from end to end."""
        return self._many.count_matching(self._relation.position(column), pattern)


class DuckRelation(EngineRelation):
    """An input in the table ``records`` of a database, whose columns are c0, c1, … in its order.

    For a file that can be read again, ``records`` is a view of it until records are needed in an order.

    Parameters
    ----------
    database: closed with the relation.
    name, sha256, separator: as for every relation.
    naming: of the columns, with the warnings about them.
    source: the file of the view; None if ``records`` is a table.
    watched: files and folders that must not change while the relation is open.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        naming: Naming,
        *,
        sha256: str | None = None,
        separator: str | None = None,
        source: FileSource | None = None,
        watched: Sequence[FileSource] = (),
    ) -> None:
        self._database = database
        self.watched = tuple(watched)
        database.source = source
        self.name = name
        naming = naming.spelled_as(database.spelling)
        self.columns, self.renamed, self.spelled = naming.columns, naming.warnings, naming.spelled
        self.sha256 = sha256
        self.separator = separator
        _mark_missing(database, self.columns)
        _rewrite_numbers(database, name, self.columns)
        self.marker = None if database.missing is None else database.missing.marker
        self.rows = int(database.rows("SELECT count(*) FROM records")[0][0])
        self._look()

    def _look(self) -> None:
        """Begin to read columns; forget those that were read."""
        self._values = ColumnValues(self._database, self.rows)
        self._codes_together: dict[int, Any] = {}
        self._packed: tuple[list[tuple[str, int, bytes]], IntArray] | None = None
        self._many = HighCardinalityColumns(self._database, self._values.texts, self.rows)

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        return self._values.dictionary(self.position(column))

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,), int32."""
        index = self.position(column)
        if self._values.many(index):
            # Ranking changes the order of records, unlike a look-up.
            self.load()
            ranked = f"dense_rank() OVER (ORDER BY {self._values.texts[index]} NULLS LAST) - 1"
            fetched = self._database.arrays(f"SELECT {ranked} AS k FROM records ORDER BY rowid")
            return self._whole_codes(fetched["k"])
        if index not in self._codes_together:
            # Columns of a short, wide table are read together: see ``ColumnValues``.
            indices = [each for each in self._values.neighbours(index, WIDE) if not self._values.many(each)]
            found = [self._values.positions(each) for each in indices]
            terms = ", ".join(f"{each.text} AS k{place}" for place, each in enumerate(found))
            parameters = [value for each in found for value in each.parameters]
            fetched = self._database.arrays(f"SELECT {terms} FROM records", parameters)
            self._codes_together = {each: fetched[f"k{place}"] for place, each in enumerate(indices)}
        return self._whole_codes(self._codes_together.pop(index))

    def _whole_codes(self, fetched: Any) -> CodeArray:
        return check_coded(self.name, fetched).astype(np.int32, copy=False)

    def packed(self, codings: Sequence[Coding]) -> Packing:
        """Return the codes of columns, packed by DuckDB as far as they fit one integer."""
        if any(self._values.many(self.position(coding.name)) for coding in codings):
            return super().packed(codings)
        spaces = accumulate((max(coding.size, 1) for coding in codings), mul)
        first = codings[: sum(space < SPACE for space in spaces)]
        packing = Packing.of(self._keys(first), [coding.size for coding in first])
        for coding in codings[len(first) :]:
            packing.add(coding.codes[self.codes(coding.name)], coding.size)
        return packing

    def _keys(self, codings: Sequence[Coding]) -> IntArray:
        """Return the key of each record by the codes of columns, shape (records,), int64, to be modified.

        Those of few records are kept: the search counts them, and the release is joined by them.
        """
        asked = [(each.name, each.size, each.codes.tobytes()) for each in codings]
        if self._packed is not None and self._packed[0] == asked:
            return self._packed[1].copy()
        query = PackedQuery()
        for place, coding in enumerate(codings):
            index = self.position(coding.name)
            found = self._values.number_codes(index, coding.codes) or self._values.code(index, coding.codes)
            query.add(found, prod(each.size for each in codings[place + 1 :]))
        keys = query.keys(self._database, self.name)
        if self.rows <= FEW_RECORDS:
            self._packed = asked, keys.copy()
        return keys

    @property
    def profiling(self) -> DuckProfiling:
        """Statistics for ``init``."""
        return DuckProfiling(self, self._values, self._many)

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct rows of texts: by GROUP BY, or by packed codes if there are very many."""
        if self._many.mostly_distinct([self.position(column) for column in columns]):
            return super().group_counts(columns)
        values = tuple(tuple(text for text, _ in self.dictionary(column)) for column in columns)
        indices = list(map(self.position, columns))
        texts = ", ".join(f"{self._values.texts[index]} AS c{index}" for index in indices)
        codes = ", ".join(f"{self._values.place(index, f'c{index}')} AS c{index}" for index in indices)
        grouped = self._database.arrays(
            f"SELECT {codes}, n FROM (SELECT {texts}, count(*) AS n FROM records GROUP BY ALL)"
        )
        matrix = np.column_stack([grouped[f"c{index}"] for index in indices]).astype(np.int32, copy=False)
        return Groups(values, matrix, grouped["n"].astype(np.int64, copy=False))

    def stored_distinct_rows(self, codings: Sequence[Coding]) -> DuckCombinations:
        """Return the distinct rows of the codes of columns, counted and stored by the database."""
        sizes = [coding.size for coding in codings]
        with keyed_records(self._database, codings, self._coded, ["1 AS n"]) as keyed:
            return DuckCombinations(self._database, sizes, keyed.query, keyed.parameters)

    def key_identities(self, column: str, keys: KeyColumns) -> dict[str, str]:
        """Return what identifies a unit; texts that are certainly in the usual form are not fetched."""
        index = self.position(column)
        text = self._values.texts[index]
        usual, listed = f"regexp_full_match({text}, {quoted(WHOLE)})", same_text(text, keys.codes)
        others = 0 if self._values.numbered[index] else self._count(f"NOT {usual}")
        number = f"regexp_full_match({text}, {quoted(keys.numerals.pattern)})"
        strange = f"CASE WHEN {usual} OR {number} OR {text} IS NULL THEN false ELSE NOT {listed} END"
        if others and self._count(strange):
            return self._identities_of_texts(text, listed, keys)
        texts = _listed(self._database, text, f"NOT {usual}") if others else []
        absent, numeric = split_absent(texts, keys.codes, keys.numerals)
        # Without any text in another form, all are whole numbers.
        if not numeric and len(absent) < len(texts):
            return self._identities_of_texts(text, listed, keys)
        codes = {usual_number(code) for code in keys.codes}.difference(keys.codes, [None])
        if codes:
            texts += _listed(
                self._database, text, same_text(text, [code for code in codes if code is not None])
            )
        return identities_of_keys(texts, keys.codes, keys.numerals, numeric=True)

    def similar_texts(self, column: str, most: int) -> list[str]:
        """Return distinct texts of a column of which some may look alike; of many texts found by SQL."""
        index = self.position(column)
        text = self._values.texts[index]
        if self._values.numbered[index]:
            return []
        if self.rows <= FEW_RECORDS:
            return super().similar_texts(column, most)
        if not self._count(f"NOT regexp_full_match({text}, {quoted(WHOLE)})"):
            return []
        forms = " OR ".join(
            f"count(*) FILTER (NOT regexp_full_match({text}, '{letters}*[0-9]+')) = 0"
            for letters in ("[A-Z]", "[a-z]")
        )
        query = f"SELECT ({forms}) AND min(length({text})) = max(length({text})) FROM records"
        if self._database.rows(query)[0][0]:
            return []
        distinct = f"SELECT DISTINCT {text} AS t FROM records WHERE {text} IS NOT NULL"
        found = self._database.rows(
            f"SELECT unnest(list(t)) FROM ({distinct}) GROUP BY {_outline('t')} HAVING count(*) > 1 "
            f"LIMIT {most}"
        )
        return [own for (own,) in found]

    def respell(self, texts: Mapping[str, Mapping[str, str | None]]) -> None:
        """Replace texts of columns in every record, in place, by joins with their new texts."""
        self.load()
        for name, new in texts.items():
            index = self.position(name)
            text = self._values.texts[index]
            values = [f"c{each}" for each in range(len(self.columns))]
            values[index] = f"CASE WHEN given IS NULL THEN {text} ELSE new END AS c{index}"
            known = {"given": np.array([*new], dtype=object), "new": np.array([*new.values()], dtype=object)}
            with self._database.holding("spellings", known):
                self._database.run(
                    f"CREATE TABLE respelled AS SELECT {', '.join(values)} FROM records LEFT JOIN spellings "
                    f"ON given = {text} ORDER BY records.rowid"
                )
            self._database.run("DROP TABLE records")
            self._database.run("ALTER TABLE respelled RENAME TO records")
            self._look()

    def _count(self, condition: str) -> int:
        """Return the number of records that fulfil a condition in SQL."""
        return int(self._database.rows(f"SELECT count(*) FROM records WHERE {condition}")[0][0])

    def _identities_of_texts(self, text: str, listed: str, keys: KeyColumns) -> dict[str, str]:
        """Return the same of a column that has other texts than numbers."""
        texts = _listed(self._database, text, f"{text} <> {identity_sql(text)} OR {listed}")
        return identities_of_keys(texts, keys.codes, keys.numerals, numeric=False)

    def stored_units(
        self,
        codings: Sequence[Coding],
        columns: Mapping[str, str],
        absent: Collection[str | None],
        recorded: Collection[str] = (),
    ) -> dict[str, DuckUnits]:
        """Return the units of the distinct rows of codes, counted and stored by the database."""
        words, found = KeyWords([coding.size for coding in codings]), {}
        for name, column in columns.items():
            unit, given = self._unit(column, absent)
            counted = [f"{unit} AS u", *(["1 AS n"] if name in recorded else [])]
            with keyed_records(self._database, codings, self._coded, counted) as keyed:
                parameters, counts = (*keyed.parameters, *given), name in recorded
                found[name] = DuckUnits(self._database, words, keyed.query, parameters, recorded=counts)
        return found

    def _unit(self, column: str, absent: Collection[str | None]) -> tuple[str, list[Any]]:
        """Return SQL for the unit of each record, null without one, and its parameters."""
        index, none = self.position(column), [text for text in absent if text is not None]
        text = self._values.texts[index]
        value = f"records.c{index}" if self._values.whole[index] else text
        return f"CASE WHEN list_contains(?::VARCHAR[], {text}) THEN NULL ELSE {value} END", [none]

    def unit_codes(self, column: str, absent: Collection[str | None]) -> IntArray:
        """Return the unit of each record; of many records without the texts of all units in memory.

        Nor are the records loaded into a table to rank them.
        """
        index, none = self.position(column), [text for text in absent if text is not None]
        if self.rows <= FEW_RECORDS:
            return super().unit_codes(column, absent)
        number = self._values.numbered[index]
        key = f"c{index}" if number else f"hash({self._values.texts[index]})"
        found = self._database.arrays(
            f"SELECT k, coalesce(list_contains(?::VARCHAR[], t), true) AS absent FROM (SELECT {key} AS k, "
            f"{self._values.texts[index]} AS t FROM records GROUP BY k, t) WHERE k IS NOT NULL ORDER BY t",
            [none],
        )
        keys, units = found["k"], np.cumsum(~found["absent"]) - 1
        units[found["absent"]] = -1
        if number:
            return self._by_number(key, keys, units)
        order = np.argsort(keys)
        keys, units = keys[order], units[order]
        if (keys[1:] == keys[:-1]).any():
            # Two texts have one hash.
            return super().unit_codes(column, absent)
        hashes = self._database.arrays(f"SELECT {key} AS k FROM records")["k"]
        return self._by_place(hashes, lambda own: units[np.searchsorted(keys, own)])

    def _by_number(self, column: str, numbers: IntArray, units: IntArray) -> IntArray:
        """Return the unit of each record, given those of distinct whole numbers; -1 of a null."""
        low, high = int(min(numbers, default=0)), int(max(numbers, default=0))
        if high - low < max(4 * self.rows, DENSE_LIMIT):
            # The last place is that of a null.
            places = np.full(high - low + 2, -1, dtype=np.int64)
            # Differences of wrapped numbers are right for every type.
            places[numbers.astype(np.uint64) - np.uint64(low % 2**64)] = units
            far = f"coalesce({column}::HUGEINT - ({low}), {high - low + 1})::BIGINT"
            found = self._database.arrays(f"SELECT {far} AS k FROM records")["k"]
            return self._by_place(found, lambda own: places[own])
        order = np.argsort(numbers)
        numbers, units = numbers[order], units[order]
        found = self._database.arrays(f"SELECT {column} AS k FROM records")["k"]
        units_of = self._by_place(
            np.ma.getdata(found), lambda own: units[np.searchsorted(numbers, own) % len(units)]
        )
        units_of[np.ma.getmaskarray(found)] = -1
        return units_of

    def _by_place(self, keys: NDArray[np.integer], units_of: Callable[[Any], IntArray]) -> IntArray:
        """Return the units of keys, in blocks that fit the processor's cache."""
        found = np.empty(self.rows, dtype=np.int64)
        for begin in range(0, self.rows, BLOCK):
            block = slice(begin, begin + BLOCK)
            found[block] = units_of(keys[block])
        return found

    def unit_facts(self, column: str, absent: Collection[str | None]) -> UnitFacts:
        """Return the number of units and of records without one."""
        unit, parameters = self._unit(column, absent)
        known = f"SELECT {unit} AS u FROM records"
        by_unit = f"SELECT u, count(*) AS n FROM ({known}) WHERE u IS NOT NULL GROUP BY u"
        ((units, records, most),) = self._database.rows(
            f"SELECT count(*), coalesce(sum(n), 0), coalesce(max(n), 0) FROM ({by_unit})", parameters
        )
        return UnitFacts(int(units), self.rows - int(records), int(most))

    def units_in_several(self, inner: str, outer: str, absent: Collection[str | None]) -> int:
        """Return the number of units of one column that have records in several units of another."""
        (one, first), (other, second) = self._unit(inner, absent), self._unit(outer, absent)
        known = f"SELECT {one} AS i, {other} AS o FROM records"
        several = f"SELECT i FROM ({known}) WHERE i IS NOT NULL GROUP BY i HAVING min(o) < max(o)"
        return int(self._database.rows(f"SELECT count(*) FROM ({several})", [*first, *second])[0][0])

    def estimated_combinations(self, columns: Sequence[str]) -> int:
        """Return an estimate of the number of distinct rows of columns, by a sketch of all records."""
        values = ", ".join(f"c{self.position(column)}" for column in columns)
        return int(self._database.rows(f"SELECT approx_count_distinct(hash({values})) FROM records")[0][0])

    def check_unchanged(self) -> None:
        """Check that the files are unchanged, so that the hash in the report is theirs."""
        for each in self.watched:
            each.check()

    def is_text(self, column: str) -> bool:
        """Return whether the values of a column are texts."""
        return self._values.holds_texts[self.position(column)]

    def stores_whole_numbers(self, column: str) -> bool:
        """Return whether the values of a column are stored as whole numbers."""
        return self._values.whole[self.position(column)]

    def check_storable(self, columns: Collection[str]) -> None:
        """Check that Parquet and PostgreSQL have all values of unchanged columns."""
        own = self.record_columns
        known = [(name, own.column(name), own.kinds[self.position(name)]) for name in columns]
        check_long_numbers(self._database, self.name, known)

    def holds_texts(self, column: str) -> bool:
        """Return whether the values of a column are texts in every record."""
        index = self.position(column)
        return self._values.holds_texts[index] and not self._values.nullable(index)

    def records_query(self, projection: Projection, *, shuffled: bool = False) -> DuckRecordsQuery:
        """Return a query for the released records, joined to the codes that replace their columns."""
        return DuckRecordsQuery(self._database, self.record_columns, projection, self.load, shuffled)

    def counted_query(self, rows: CountedRows) -> DuckCountedQuery:
        """Return a query for counted rows, whose labels the database looks up."""
        return DuckCountedQuery(self._database, rows)

    def recoded_query(self, rows: RecodedRows, *, shuffled: bool = False) -> DuckRecodedQuery:
        """Return a query for the records as recoded, by a join in the database."""
        return DuckRecodedQuery(self._database, self.record_columns, self._coded, rows, shuffled)

    def appended_query(
        self, new: ReleaseQuery, path: Path, scratch: Path, *, shuffled: bool = False
    ) -> DuckAppendedQuery:
        """Return a query for these records together with new ones, which the database reads from a file."""
        # Other formats than CSV are staged as Parquet.
        suffix = ".parquet" if self.separator is None else "".join(path.suffixes[-2:])
        further = scratch / f"new{suffix}"
        return DuckAppendedQuery(self._database, self, new, further, shuffled)

    def checksum(self, recoded: Collection[str]) -> int:
        """Return the sum of a hash of each record."""
        columns = self.record_columns
        others = [name for name in self.columns if name not in recoded]
        hashed = columns.hashed(columns.hashed("''", recoded), others)
        return sum_of(self._database, f"SELECT {hashed} AS h FROM records")

    @property
    def record_columns(self) -> RecordColumns:
        """The columns in SQL."""
        values = self._values
        return RecordColumns(
            self.columns,
            self.position,
            values.texts,
            values.kinds,
            values.nullable,
            values.holds_texts,
            self._database.missing,
        )

    def relabel(self, labels: Mapping[str, Sequence[str | float | None]]) -> None:
        """Replace the values of columns in every record, in place."""
        self.load()
        places = {f"r{self.position(name)}": self.codes(name) for name in labels}
        values, own = [f"c{index}" for index in range(len(self.columns))], []
        for index, name in enumerate(self.columns):
            if name in labels:
                kind = "DOUBLE" if any(isinstance(label, float) for label in labels[name]) else "VARCHAR"
                values[index] = f"list_extract(?::{kind}[], r{index} + 1) AS c{index}"
                own.append(list(labels[name]))
        with self._database.holding("labels", places):
            self._database.run(
                f"CREATE TABLE relabelled AS SELECT {', '.join(values)} FROM records POSITIONAL JOIN labels",
                own,
            )
        self._database.run("DROP TABLE records")
        self._database.run("ALTER TABLE relabelled RENAME TO records")
        self._look()

    def load(self) -> None:
        """Load the records into a table, if ``records`` is a view of their file."""
        if self._database.source is not None:
            self._database.run("CREATE TABLE loaded AS SELECT * FROM records")
            self._database.source = None
            self._database.run("DROP VIEW records")
            self._database.run("ALTER TABLE loaded RENAME TO records")

    def close(self) -> None:
        """Free memory and remove temporary files; a second call does nothing."""
        self._database.close()

    def _coded(self, coding: Coding) -> RecordCode:
        """Return SQL for the code of a column in each record."""
        index = self.position(coding.name)
        if self._values.many(index):
            return by_text(
                self._database, self._values.texts[index], self.dictionary(coding.name), coding.codes
            )
        found = self._values.code(index, coding.codes)
        return RecordCode(found.text, parameters=found.parameters)


def _outline(text: str) -> str:
    """Return SQL for a text without capitals, zeros and signs, equal for most texts that look alike."""
    return f"translate(lower({text}), '0.,;:!?-_/ ', '')"


def _mark_missing(database: Database, columns: Sequence[str]) -> None:
    """Replace texts of missing values in the table ``records`` as ``MissingTexts`` describes."""
    missing = database.missing
    if missing is None:
        return
    label, values = quoted(MISSING), []
    for index, (name, kind) in enumerate(zip(columns, _types(database), strict=True)):
        value = f"c{index}"
        text = text_of(value, kind)
        read = [*missing.read, *_spelled_codes(database, text, missing, numeric=name not in missing.as_text)]
        if read:
            value = f"CASE WHEN {text} IN ({', '.join(map(quoted, read))}) THEN NULL ELSE {value} END"
        if name in missing.recoded:
            value = f"coalesce({text_of(f'({value})', kind)}, {label})"
        values.append(f"{value} AS c{index}")
    _replace(database, values)


def _spelled_codes(database: Database, text: str, missing: MissingTexts, *, numeric: bool) -> list[str]:
    """Return the texts of a column that are codes of missing values in some spelling.

    Parameters
    ----------
    text: of the column, in SQL.
    numeric: whether they are compared as numbers, or as dates, if the column has no others.
    """
    listed, numerals = same_text(text, missing.codes), missing.numerals
    values = [f"{float(own)!r}" for code in missing.codes if (own := number_key(code)) is not None]
    if values and numeric:
        number = f"regexp_full_match({text}, {quoted(numerals.pattern)})"
        plain = f"trim({_signed(text, numerals, POINT)}, {quoted(BLANKS)})"
        equal = f"({number} AND coalesce(TRY_CAST({plain} AS DOUBLE) IN ({', '.join(values)}), false))"
        other = f"(NOT {number} OR regexp_full_match({text}, {quoted(CODE.pattern)}))"
        strange = f"SELECT count(*) FROM records WHERE {other} AND NOT {listed}"
        if not database.rows(strange)[0][0]:
            texts = [own for (own,) in database.rows(f"SELECT DISTINCT {text} FROM records WHERE {equal}")]
            listed_texts = _listed(database, text, listed)
            return sorted(absent_texts([*texts, *listed_texts], missing.codes, ValueType.NUMBER, numerals))
    of_days = _on_days(database, text, missing.codes, listed) if numeric else None
    if of_days is not None:
        return sorted(absent_texts(_listed(database, text, of_days), missing.codes, ValueType.DATE))
    return _listed(database, text, listed)


def _on_days(database: Database, text: str, codes: Sequence[str], listed: str) -> str | None:
    """Return SQL for the texts on the days of codes; None without such, or in a column of other texts."""
    days, plain = days_of(codes), f"trim({text}, {quoted(WHITE_SPACE)})"
    moment = f"regexp_full_match({plain}, {quoted(DAY_OR_TIME)}) AND TRY_CAST({plain}[:10] AS DATE) NOTNULL"
    if not days or database.rows(f"SELECT 1 FROM records WHERE NOT ({moment} OR {listed}) LIMIT 1"):
        return None
    return f"{listed} OR {plain}[:10] IN ({', '.join(map(quoted, days))})"


def _listed(database: Database, text: str, condition: str) -> list[str]:
    """Return the distinct texts that fulfil a condition in SQL."""
    if condition == "false":
        return []
    return [own for (own,) in database.rows(f"SELECT DISTINCT {text} FROM records WHERE {condition}")]


def _replace(database: Database, values: Sequence[str]) -> None:
    """Replace the columns of ``records``."""
    before, kind = new_name("unmarked"), _kind(database)
    database.run(f"ALTER {kind} records RENAME TO {before}")
    database.run(f"CREATE {kind} records AS SELECT {', '.join(values)} FROM {before}")
    if kind == "TABLE":
        database.run(f"DROP TABLE {before}")


_FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL")
"""Types whose texts may have a decimal sign."""


def _rewrite_numbers(database: Database, source: str, columns: Sequence[str]) -> None:
    """Replace texts of numbers in ``records`` as ``RewrittenNumbers`` describes.

    Raises
    ------
    DataError: a column of other texts has numbers to be rewritten.
    """
    numbers = database.numbers
    if numbers is None:
        return
    values = [f"c{index}" for index in range(len(columns))]
    code = quoted(CODE.pattern)
    for index, (name, kind) in enumerate(zip(columns, _types(database), strict=True)):
        value = values[index]
        if kind.startswith(_FRACTIONS) and name in numbers.stored:
            values[index] = _signed(text_of(value, kind), POINT, numbers.released)
        if kind != "VARCHAR" or numbers.given == numbers.released:
            continue
        matches = f"coalesce(regexp_full_match({value}, {quoted(numbers.given.pattern)}), false)"
        changed = _signed(value, numbers.given, numbers.released)
        if name in numbers.judged:
            absent = same_text(value, (*numbers.absent, MISSING))
            ((found, others),) = database.rows(
                f"SELECT count(*) FILTER ({matches} AND {changed} <> {value}), count(*) FILTER "
                f"(NOT {absent} AND (NOT {matches} OR regexp_full_match({value}, {code}))) "
                f"FROM records WHERE {value} NOTNULL"
            )
            if found and others:
                raise mixed_numbers(source, name)
        if name in numbers.judged | numbers.columns:
            values[index] = f"CASE WHEN {matches} THEN {changed} ELSE {value} END"
    _replace(database, [f"{value} AS c{index}" for index, value in enumerate(values)])


def _signed(text: str, given: Numerals, released: Numerals) -> str:
    """Return SQL for a number in another notation, without separators of thousands."""
    if given == released:
        return text
    dropped = "" if given == POINT else ". \u00a0\u202f"
    return f"translate({text}, {quoted(given.decimal + dropped)}, {quoted(released.decimal)})"


class InputFormat(ABC):
    """A format of input files, whose records are loaded into a database.

    Class attributes
    ----------------
    name: of the format; no other has it.
    kind: of a file, for messages, such as "a Parquet file".
    suffixes: of the names of files, in lower case.

    Parameters
    ----------
    dialect: separator and encoding of text.
    options: ``strict_header`` and ``named`` are about columns.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    def __init__(self, dialect: CsvDialect, options: EngineOptions) -> None:
        self.dialect, self.options = dialect, options

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Return whether a file has the format, by its name in capitals or not."""
        return path.name.lower().endswith(cls.suffixes)

    @abstractmethod
    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        """Create the table ``records`` with columns c0, c1, … and return it with the names of its columns.

        A column without a type is text, letter by letter as in the file; an absent value is a null if the
        format has nulls. ``open`` does what all formats need: it explains errors of DuckDB and of reading,
        computes the hash unless the format did, and refuses a file that changed while it was read.

        Parameters
        ----------
        source: the file; ``source.damaged(error)`` is the error for content that is not of the format.
        folder: for temporary files.

        Raises
        ------
        DataError: the file is empty, not of this format, damaged, or as for ``name_columns``.
        """

    def open(self, database: Database, path: Path, folder: Path) -> DuckRelation:
        """Load a file, which must not change while it is read, and later while the relation is open.

        Raises
        ------
        DataError: it is missing, cannot be read, or changed; or as for ``load``.
        """
        with reading(path):
            source = FileSource.of(path, self.kind)
            with source.explaining():
                try:
                    relation = self.load(database, source, folder)
                except duckdb.Error as error:
                    raise source.damaged(error) from None
                relation.sha256 = relation.sha256 or sha256_of(path)
        relation.watched = (source, *relation.watched)
        relation.check_unchanged()
        return relation


INPUT_FORMATS: Registry[InputFormat] = Registry(
    "input format", InputFormat, "anonymizer.data.duckdb", "anonymizer.input_formats"
)
"""Every ``InputFormat`` with a name."""


def input_format(path: Path) -> type[InputFormat] | None:
    """Return the format of a file, None if no format recognizes it.

    Raises
    ------
    InputError: several formats do.
    """
    own = next((each.name for each in FILE_FORMATS if each.named(path.name)), None)
    if own is not None and INPUT_FORMATS.of_room_only and not path.is_dir():
        # The other formats need not be loaded.
        return INPUT_FORMATS[own]
    found = [each for each in INPUT_FORMATS.values() if each.recognizes(path)]
    if len(found) > 1:
        names = " and ".join(f"'{each.name}'" for each in found)
        raise InputError(f"{path}: the input formats {names} read such files; uninstall all but one")
    return found[0] if found else None


FIRST, FURTHER = "first_records", "further_records"


@dataclass(frozen=True, eq=False)
class DuckAppendedQuery(DuckQuery):
    """An earlier release with new records, sorted in a database, out of core if necessary.

    Attributes
    ----------
    database: of the relation.
    relation: the earlier release; stays the caller's.
    new: the new records.
    further: a temporary file for these.
    shuffled: as for ``EngineRelation.appended_query``.
    """

    relation: DuckRelation
    new: ReleaseQuery
    further: Path
    shuffled: bool

    def copy(self, path: Path, separator: str | None) -> None:
        """Write the new records to a temporary file first."""
        self.new.copy(self.further, self.relation.separator)
        super().copy(path, separator)
        self.further.unlink()

    @contextmanager
    def _selected(self) -> Iterator[Selected]:
        """Yield both in one database; if that fails, the relation must not be used again."""
        database, source = self.database, self.database.source
        types, kind = _types(database), _kind(database)
        database.run(f"ALTER {kind} records RENAME TO {FIRST}")
        database.source = None
        form = input_format(self.further)
        assert form is not None
        dialect = CsvDialect(self.relation.separator)
        other = form(dialect, EngineOptions()).open(database, self.further, self.further.parent)
        self.new.check(other)
        other_kind = _kind(database)
        database.source = source
        database.run(f"ALTER {other_kind} records RENAME TO {FURTHER}")
        one = self.relation
        if set(one.columns) != set(other.columns):
            raise DataError(
                f"{other.name}: has columns {', '.join(other.columns)}; {one.name} has "
                f"{', '.join(one.columns)}"
            )
        found = dict(zip(other.columns, _types(database, FURTHER), strict=True))
        known = dict(zip(one.columns, types, strict=True))
        check_alike((one.name, known), (other.name, found), ", or as .csv")
        columns, own = self.relation.columns, self.relation.record_columns
        texts, parquet, values = (list(map(each, columns)) for each in (own.bare, own.parquet, own.value))
        places = ", ".join(f"c{other.position(name)}" for name in columns)
        union = f"(SELECT * FROM {FIRST} UNION ALL SELECT {places} FROM {FURTHER})"
        try:
            yield Selected(columns, texts, parquet, values, self._ordered(union))
        finally:
            # A changed file may be the cause of a failure, or in what was written.
            if source is not None:
                source.check()
        database.run(f"DROP {other_kind} {FURTHER}")
        database.run(f"ALTER {kind} {FIRST} RENAME TO records")

    def _ordered(self, union: str) -> str:
        """Return SQL for the records of both in the order that ``Relation.records_query`` describes."""
        if self.shuffled:
            return shuffled_by_secret(union)
        # Records that differ only in a null against an empty text must not stay as they came.
        keys = map(self.relation.record_columns.key, self.relation.columns)
        nulls = (f"c{index} IS NULL" for index in range(len(self.relation.columns)))
        return f"(SELECT * FROM {union} ORDER BY {', '.join(chain(keys, nulls))})"


def _types(database: Database, table: str = "records") -> list[str]:
    return [str(row[1]) for row in database.rows(f"DESCRIBE {table}")]


def _kind(database: Database) -> str:
    """Return whether ``records`` is a table, or a view of a file."""
    return "TABLE" if database.source is None else "VIEW"


_FILE = re.compile(r'"([^"]+)"')


class DuckTableReader:
    """Reads rows of a DuckDB file with their own types; the file is opened for reading only.

    A stored table is copied. A query or a view could read any file and change settings, so it runs in a
    database of its own, with locked settings and access to this file only, and its rows are copied through a
    temporary file. The engine's own database cannot be locked, as it writes the release.

    Parameters
    ----------
    path: of the file.
    selection: the rows.
    options: limits of the database for a query.
    allow_files: whether a query may read other files.
    """

    def __init__(
        self, path: Path, selection: Selection, options: EngineOptions, *, allow_files: bool
    ) -> None:
        self._path, self._selection = path, selection
        self._options, self._allow_files = options, allow_files
        self._name = f"{path}: {selection.title}"

    def load(self, database: Database, folder: Path) -> DuckRelation:
        """Load the rows; ``folder`` is for the temporary file.

        Raises
        ------
        DataError, QueryError: as for ``open_duckdb``.
        """
        with reading(self._path), check_file(self._path).open("rb"):
            source = FileSource.of(self._path, "a DuckDB database")
        if isinstance(self._selection, Query):
            self._check_one_select(self._selection)
        # The texts of timestamps depend on it.
        database.run("SET TimeZone = 'UTC'")
        naming = self._copied_table(database)
        if naming is None:
            rows = folder / "rows.duckdb"
            naming = self._queried(rows)
            database.run(f"ATTACH {quoted(rows)} AS handed_over (READ_ONLY, TYPE duckdb)")
            database.run("CREATE TABLE records AS FROM handed_over.main.records")
            database.run("DETACH handed_over")
        # DuckDB locks the file against writers, but it can be replaced.
        source.check()
        return DuckRelation(database, self._name, naming)

    def _copied_table(self, database: Database) -> Naming | None:
        """Load the rows of a stored table and return its columns; None for anything else."""
        if not isinstance(self._selection, WholeTable):
            return None
        table = self._selection.table
        with self._attached(database):
            stored = database.rows(
                "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'source' "
                "AND lower(schema_name) = lower(?) AND lower(table_name) = lower(?)",
                [table.schema or "main", table.name],
            )
            return self._copied(database, "memory.main.records") if stored[0][0] else None

    def _queried(self, rows: Path) -> Naming:
        """Write the rows of a query into a DuckDB file and return its columns."""
        with Database(self._options) as database:
            database.run("SET TimeZone = 'UTC'")
            database.run(f"ATTACH {quoted(rows)} AS handed_over (STORAGE_VERSION 'latest')")
            with self._attached(database):
                if not self._allow_files:
                    database.run("SET enable_external_access = false")
                database.run("SET lock_configuration = true")
                return self._copied(database, "handed_over.main.records")

    @contextmanager
    def _attached(self, database: Database) -> Iterator[None]:
        """Attach the file, and use its tables by default."""
        try:
            database.run(f"ATTACH {quoted(real_path(self._path))} AS source (READ_ONLY, TYPE duckdb)")
        except duckdb.Error as error:
            raise DataError(
                f"{self._path}: cannot be opened as a DuckDB database: {reason_of(error)}; table and query "
                "are for databases: remove them, or name a DuckDB file"
            ) from None
        database.run("USE source")
        try:
            yield
        finally:
            database.run("USE memory")
            database.run("DETACH source")

    def _copied(self, database: Database, target: str) -> Naming:
        """Create a table of the rows with columns c0, c1, …; return their names."""
        try:
            described = database.rows(f"DESCRIBE {self._selection.statement}")
            names = [str(row[0]) for row in described]
            strict, place = self._options.strict_header, "the table or query"
            naming = name_columns(self._name, names, strict=strict, place=place)
            numbered = ", ".join(f"c{index}" for index in range(len(names)))
            values = ", ".join(_plain(f"c{index}", str(row[1])) for index, row in enumerate(described))
            database.run(
                f"CREATE TABLE {target} AS SELECT {values} FROM {self._selection.sql} AS selected({numbered})"
            )
        except duckdb.PermissionException as error:
            found = _FILE.search(str(error))
            what = f"the file '{found[1]}'" if found else "files"
            raise self._failure(
                f"reads {what}, which only input.allow_files permits; remove it, or set "
                "input.allow_files: true if you trust the query"
            ) from None
        except duckdb.Error as error:
            raise self._failure(f"cannot be read: {reason_of(error)}; {_tables(database)}") from None
        return naming

    def _check_one_select(self, query: Query) -> None:
        """Check that a query is one SELECT, without parentheses around it.

        Raises
        ------
        QueryError: it is not.
        """
        try:
            statements = duckdb.extract_statements(query.alone)
        except duckdb.Error as error:
            raise self._failure(f"cannot be read: {reason_of(error)}; accepted: one SELECT") from None
        kinds = [statement.type.name for statement in statements]
        if kinds != ["SELECT"]:
            found = ", ".join(kinds) if kinds else "no statement"
            raise self._failure(
                f"cannot be read: found {found}; accepted: one SELECT, or a PIVOT that lists values with IN"
            )

    def _failure(self, what: str) -> DataError:
        kind = QueryError if isinstance(self._selection, Query) else DataError
        return kind(f"{self._name} {what}")


DuckError = duckdb.Error
"""The exception of DuckDB, for modules that do not import DuckDB."""


def reason_of(error: DuckError) -> str:
    """Return why DuckDB failed: the reason of the system, or the first line without the kind of error."""
    found = system_reason(error)
    if found is not None:
        return found
    first = str(error).split("\n", 1)[0]
    return (first.partition(": ")[2] or first).rstrip(".! ")


def _plain(column: str, kind: str) -> str:
    """Return a column without its collation, which might ignore case and merge values."""
    return f"{column} COLLATE {identifier('C')} AS {column}" if kind == "VARCHAR" else column


def _tables(database: Database) -> str:
    rows = database.rows(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' "
        "UNION SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source' "
        "AND NOT internal ORDER BY ALL LIMIT 20"
    )
    names = [name if schema == "main" else f"{schema}.{name}" for schema, name in rows]
    return f"tables of the database: {', '.join(names)}" if names else "the database has no tables"
