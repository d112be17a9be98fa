"""Releases as queries of DuckDB: records with their replacements, counted rows, records joined to a recoding.

The table ``plan`` has the codes that replace columns of the table ``records``.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.data.duckdb.database import (
    RELEASED,
    Database,
    as_few_keys,
    copy_csv,
    copy_parquet,
    new_name,
    select_values,
)
from anonymizer.data.duckdb.distinct_rows import RecordCode, keyed_records, placed_table
from anonymizer.data.duckdb.types import Storage, stored_value
from anonymizer.data.relation import (
    ByCodes,
    ByRegion,
    Coding,
    CountedRows,
    KeyWords,
    Projection,
    RecodedRows,
    ReleaseQuery,
    SummedQuery,
    shuffled_rows,
)
from anonymizer.data.source import MissingTexts, quoted
from anonymizer.model.arrays import IntArray
from anonymizer.model.labels import MISSING

SPARE = 384 << 20
"""Bytes for writing; a row group of many columns has to fit."""


class Selected(NamedTuple):
    """The rows of a query of a release.

    Attributes
    ----------
    columns: their names.
    texts, parquet, values: SQL over the rows for each column: its text, and its value as Parquet and as a
        table of DuckDB keep it.
    source: SQL for the rows in their order.
    parameters: of the whole statement.
    """

    columns: Sequence[str]
    texts: Sequence[str]
    parquet: Sequence[str]
    values: Sequence[str]
    source: str
    parameters: Sequence[Any] = ()


@dataclass(frozen=True, eq=False)
class DuckQuery(ReleaseQuery):
    """Rows that a database copies to a file.

    Attributes
    ----------
    database: stays the caller's.
    """

    database: Database

    def copy(self, path: Path, separator: str | None) -> None:
        """Write the rows in one statement."""
        with self._selected() as rows:
            if separator is None:
                statement = copy_parquet(rows.columns, rows.parquet, path, rows.source)
            else:
                marker = self.database.missing.marker if self.database.missing is not None else ""
                statement = copy_csv(rows.columns, rows.texts, path, separator, rows.source, marker)
            self.database.copy(statement, rows.parameters, path)

    def stage(self, folder: Path) -> Path:
        """Write the rows into a DuckDB file, which has all types."""
        path = folder / "release.duckdb"
        with self._selected() as rows:
            self.database.copy(f"ATTACH {quoted(path)} AS staged (STORAGE_VERSION 'latest')", [], path)
            try:
                selected = select_values(rows.columns, rows.values, path, rows.source)
                self.database.copy(f"CREATE TABLE staged.main.release AS {selected}", rows.parameters, path)
            finally:
                # It is written to the end only now.
                self.database.copy("DETACH staged", [], path)
        return path

    @abstractmethod
    def _selected(self) -> AbstractContextManager[Selected]:
        """Yield the rows; their tables exist in the block only."""


def shuffled_by_secret(source: str) -> str:
    """Return SQL for rows in an order that depends on a random secret."""
    drawn = f"md5_number(concat('{os.urandom(16).hex()}', row_number() OVER ()))"
    return f"(SELECT * FROM (SELECT *, {drawn} AS drawn FROM {source}) ORDER BY drawn)"


@dataclass(frozen=True, eq=False)
class DuckCountedQuery(DuckQuery):
    """Counted rows, whose labels DuckDB looks up while it writes."""

    rows: CountedRows

    @contextmanager
    def _selected(self) -> Iterator[Selected]:
        rows, places = self.rows, range(len(self.rows.columns))
        plan = {f"r{place}": _places(rows, place) for place in places}
        labels = [f"list_extract(?, r{place})" for place in places]
        # A list of nulls alone has no type, and a released column of missing values is a text.
        texts = [f"CAST({each} AS VARCHAR)" for each in labels]
        values = _as_numbers(rows.columns, texts, rows.numbers)
        with self.database.sparing(SPARE), self.database.holding("plan", plan):
            lists = [_shown(each, self.database) for each in rows.labels]
            yield Selected(rows.columns, texts, values, values, "plan", lists)


def _shown(labels: Sequence[str] | Sequence[int], database: Database) -> list[Any]:
    """Return labels as they are written: that of a missing value is a null if the release has a marker."""
    return [None if label == MISSING and database.missing is not None else label for label in labels]


def _places(rows: CountedRows, column: int) -> Any:
    """Return the place of the label from 1 for each written row, in the smallest type.

    Repeating rows here takes half the time and two thirds of the memory of a query that does.
    """
    narrow = np.min_scalar_type(len(rows.labels[column]))
    return np.repeat((rows.codes[column] + 1).astype(narrow), rows.counts)


class RecordColumns(NamedTuple):
    """The columns of the table ``records``, which are called c0, c1, … there.

    Attributes
    ----------
    names: in the order of the input.
    position: returns the position of a name.
    texts: SQL for the text of each.
    kinds: the type of each.
    nullable: returns whether the column at a position has nulls.
    holds_texts: whether the type of each is text.
    missing: how missing values are written.
    """

    names: Sequence[str]
    position: Callable[[str], int]
    texts: Sequence[str]
    kinds: Sequence[str]
    nullable: Callable[[int], bool]
    holds_texts: Sequence[bool]
    missing: MissingTexts | None

    def column(self, name: str) -> str:
        """Return the name of a column in the database."""
        return f"c{self.position(name)}"

    def value(self, name: str) -> str:
        """Return SQL for the released value of a column as a table of DuckDB keeps it."""
        return self._stored(name, Storage.DUCKDB)

    def parquet(self, name: str) -> str:
        """Return SQL for the released value of a column as Parquet keeps it."""
        return self._stored(name, Storage.PARQUET)

    def _stored(self, name: str, storage: Storage) -> str:
        kind = self.kinds[self.position(name)]
        return self._shown(name, stored_value(self.column(name), kind, storage))

    def bare(self, name: str) -> str:
        """Return SQL for the released text of a column, null for a null."""
        return self._shown(name, self.texts[self.position(name)])

    def key(self, name: str) -> str:
        """Return SQL for the text of a column by which records are sorted."""
        return f"coalesce({self.bare(name)}, {quoted(self.missing.marker if self.missing else '')})"

    def _shown(self, name: str, value: str) -> str:
        marked = self.missing is not None and self.holds_texts[self.position(name)]
        return f"nullif({value}, {quoted(MISSING)})" if marked else value

    def text(self, name: str) -> str:
        """Return SQL for the text of a column as it was read, empty for a null."""
        return f"coalesce({self.texts[self.position(name)]}, '')"

    def null(self, name: str) -> list[str]:
        """Return SQL that is true for nulls; nothing for a column without nulls."""
        return [f"{self.column(name)} IS NULL"] if self.nullable(self.position(name)) else []

    def hashed(self, first: str, columns: Collection[str]) -> str:
        """Return SQL for a hash of an expression and the texts of columns."""
        return f"hash({', '.join([first, *(self.text(name) for name in self.names if name in columns)])})"


def sum_of(database: Database, query: str, parameters: Sequence[Any] = ()) -> int:
    """Return the sum of the numbers h of a query."""
    ((found,),) = database.rows(f"SELECT coalesce(sum(h), 0) FROM ({query})", parameters)
    return int(found)


@dataclass(frozen=True, eq=False)
class DuckRecordsQuery(DuckQuery):
    """Records whose columns are replaced by codes from this process.

    Attributes
    ----------
    columns: of the records.
    projection: to the released ones.
    load: stores the records in a table, if ``records`` is a view of a file.
    shuffled: whether their order is random.
    """

    columns: RecordColumns
    projection: Projection
    load: Callable[[], None]
    shuffled: bool

    def _sorted(self) -> IntArray:
        """Return the numbers of the released records, sorted by what is released, shape (released,)."""
        projection = self.projection
        # Nulls and empty texts have the same text: without a key for nulls, they would keep their order.
        unchanged = [name for name in projection.columns if name not in projection.replacements]
        nulls = [null for name in unchanged for null in self.columns.null(name)]
        self.load()
        with self.database.holding("plan", self._plan(kept=projection.kept)):
            fetched = self.database.arrays(
                "SELECT r FROM (SELECT *, records.rowid AS r FROM records POSITIONAL JOIN plan) "
                f"WHERE kept ORDER BY {', '.join(self._sort_keys() + as_few_keys(nulls))}"
            )
        rows: IntArray = fetched["r"].astype(np.int64, copy=False)
        return rows

    def _sort_keys(self) -> list[str]:
        """Return SQL for the sort keys of the released columns, left to right."""
        keys: list[str] = []
        replacements = self.projection.replacements
        for replaced, run in groupby(
            enumerate(self.projection.columns), lambda each: each[1] in replacements
        ):
            if replaced:
                keys += [f"r{place}" for place, _ in run]
            else:
                keys += as_few_keys([self.columns.key(column) for _, column in run])
        return keys

    @contextmanager
    def _selected(self) -> Iterator[Selected]:
        projection = self.projection
        rows = shuffled_rows(projection) if self.shuffled else self._sorted()
        self.load()
        place = np.full(len(projection.kept), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows), dtype=np.int64)
        replaced = [column for column in projection.columns if column in projection.replacements]
        labels = [_shown(projection.replacements[column].labels, self.database) for column in replaced]
        label = "list_extract(?, {} + 1)"
        text = f"CAST({label} AS VARCHAR)"
        texts, *typed = (
            _values(projection.columns, replaced, text, each)
            for each in (self.columns.bare, self.columns.parquet, self.columns.value)
        )
        for at, name in enumerate(projection.columns):
            if name in replaced and isinstance(projection.replacements[name].labels[0], int):
                for values in typed:
                    values[at] = label.format(f"r{at}")
        parquet, own = (_as_numbers(projection.columns, each, projection.numbers) for each in typed)
        with self.database.holding("plan", self._plan(place=place)):
            yield Selected(projection.columns, texts, parquet, own, RELEASED, labels)

    def _plan(self, **arrays: Any) -> dict[str, Any]:
        """Return per-record arrays together with the codes of replaced columns as r0, r1, …"""
        columns = self.projection.columns
        codes = {f"r{columns.index(name)}": new.codes for name, new in self.projection.replacements.items()}
        return {**arrays, **codes}


@dataclass(frozen=True, eq=False)
class DuckRecodedQuery(SummedQuery, DuckQuery):
    """Records joined to their rows and sorted in the database, out of core if necessary.

    Each vector of codes has one row.

    Attributes
    ----------
    columns: of the records.
    coded: returns SQL for the code of a column in each record.
    rows: of the recoding.
    shuffled: whether the order of the records is random.
    """

    columns: RecordColumns
    coded: Callable[[Coding], RecordCode]
    rows: RecodedRows
    shuffled: bool

    @contextmanager
    def _selected(self) -> Iterator[Selected]:
        rows = self.rows
        label = "CAST(list_extract(?, {}) AS VARCHAR)"
        texts, *typed = (
            _values(rows.columns, rows.labels, label, each)
            for each in (self.columns.bare, self.columns.parquet, self.columns.value)
        )
        parquet, own = (_as_numbers(rows.columns, each, rows.numbers) for each in typed)
        with self._joined() as (joined, parameters):
            source = shuffled_by_secret(f"({joined})") if self.shuffled else self._sorted(joined)
            lists = [_shown(each, self.database) for each in _lists(rows)]
            yield Selected(rows.columns, texts, parquet, own, source, [*lists, *parameters])

    def checksum(self) -> int:
        """Return the sum of a hash of each record as recoded; its labels are hashed once per row."""
        hashed = self.columns.hashed("labels", _unchanged(self.rows))
        with self._joined() as (joined, parameters):
            return sum_of(self.database, f"SELECT {hashed} AS h FROM ({joined})", parameters)

    def _sorted(self, joined: str) -> str:
        """Return SQL for the records in the order of ``Relation.records_query``."""
        rows, keys, nulls = self.rows, [], []
        for place, name in enumerate(rows.columns):
            if name in rows.labels:
                keys.append(f"r{place}")
            else:
                keys.append(self.columns.key(name))
                nulls += self.columns.null(name)
        return f"(SELECT * FROM ({joined}) ORDER BY {', '.join(keys + nulls)})"

    @contextmanager
    def _joined(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield SQL, with parameters, for released records: unchanged columns, and labels of their rows."""
        rows = self.rows
        unchanged = [self.columns.column(name) for name in _unchanged(rows)]
        labels = [f"r{place}" for place in _replaced(rows)]
        wanted = ", ".join([*unchanged, *labels, "labels"])
        with (
            keyed_records(self.database, rows.found.codings, self.coded, unchanged) as keyed,
            self._recoded() as table,
            self._rows_of(rows.found, f"({keyed.query})", table) as found,
        ):
            yield f"SELECT {wanted} FROM {found}", keyed.parameters

    @contextmanager
    def _recoded(self) -> Iterator[str]:
        """Yield the name of a table of the released rows: their keys, places of labels, and a hash."""
        rows, kept = self.rows, self.rows.kept
        columns: dict[str, Any] = {}
        if isinstance(rows.found, ByCodes):
            keys = KeyWords([coding.size for coding in rows.found.codings])
            columns |= dict(zip(keys.names, keys.pack(rows.found.codes[kept]), strict=True))
        else:
            columns["region"] = np.flatnonzero(kept).astype(np.int32)
        for place in _replaced(rows):
            # Elements of lists count from 1; the smallest type sorts fastest.
            own = rows.places[rows.columns[place]][kept] + 1
            columns[f"r{place}"] = own.astype(np.min_scalar_type(int(own.max(initial=0))))
        labels = ", ".join(["''", *(f"list_extract(?, r{place})" for place in _replaced(rows))])
        table = new_name("recoded")
        with self.database.holding("own", columns):
            made = f"CREATE TABLE {table} AS SELECT *, hash({labels}) AS labels FROM own"
            self.database.run(made, _lists(rows))
        try:
            yield table
        finally:
            self.database.run(f"DROP TABLE {table}")

    @contextmanager
    def _rows_of(self, found: ByCodes | ByRegion, records: str, table: str) -> Iterator[str]:
        """Yield SQL for records joined to the table of released rows.

        Parameters
        ----------
        records: SQL for the records with their keys.
        """
        sizes = [coding.size for coding in found.codings]
        using = f"USING ({', '.join(KeyWords(sizes).names)})"
        if isinstance(found, ByCodes):
            yield f"{records} JOIN {table} {using}"
            return
        rest = "NULL" if found.rest is None else str(found.rest)
        if found.regions is None:
            yield f"{records} JOIN {table} ON region = {rest}"
            return
        with placed_table(self.database, sizes, found.regions) as placed:
            if found.rest is None:
                yield f"{records} JOIN {placed} {using} JOIN {table} USING (region)"
                return
            region = f"* REPLACE (coalesce(region, {rest}) AS region)"
            every = f"SELECT {region} FROM {records} LEFT JOIN {placed} {using}"
            yield f"({every}) JOIN {table} USING (region)"


def _as_numbers(columns: Sequence[str], values: Sequence[str], numbers: Collection[str]) -> list[str]:
    """Return SQL for the value of each column, given SQL for its value or label; an empty label is a null."""
    return [
        f"CAST(nullif({value}, '') AS DOUBLE)" if name in numbers else value
        for name, value in zip(columns, values, strict=True)
    ]


def _replaced(rows: RecodedRows) -> list[int]:
    """Return the places of the columns that are replaced."""
    return [place for place, name in enumerate(rows.columns) if name in rows.labels]


def _unchanged(rows: RecodedRows) -> list[str]:
    return [name for name in rows.columns if name not in rows.labels]


def _lists(rows: RecodedRows) -> list[list[str]]:
    """Return the labels of the replaced columns, in their order."""
    return [list(rows.labels[rows.columns[place]]) for place in _replaced(rows)]


def _values(
    columns: Sequence[str], replaced: Collection[str], label: str, unchanged: Callable[[str], str]
) -> list[str]:
    """Return SQL for each released column, given SQL for a label by its code and for unchanged columns."""
    return [
        label.format(f"r{place}") if name in replaced else unchanged(name)
        for place, name in enumerate(columns)
    ]
