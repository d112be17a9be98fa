"""Releases written by DuckDB: counted rows, or records joined to their recoding.

The table ``plan`` holds what replaces the columns of the table ``records``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.data.distinct_rows import names_of, packed, places_of
from anonymizer.data.duckdb.database import Database, copy_csv, copy_parquet
from anonymizer.data.duckdb.distinct_rows import RecordCode, keyed_records, placed_table
from anonymizer.data.relation import (
    ByCodes,
    ByRegion,
    Coding,
    CountedRows,
    CountedWriter,
    Projection,
    RecodedRows,
    RecodedWriter,
)

SPARE = 384 << 20
"""Bytes that writing may take; a row group of many columns has to fit."""


class DuckWriter(CountedWriter):
    """Writes with a database, which looks the labels up on their way to the file.

    Parameters
    ----------
    database: stays the caller's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def write_csv(self, rows: CountedRows, path: Path, separator: str) -> None:
        """Write CSV: quotes where needed, nothing at all for an empty text."""
        values = ["CAST(" + each + " AS VARCHAR)" for each in _labels(rows)]
        self._copy(rows, copy_csv(rows.columns, values, path, separator, "plan"), path)

    def write_parquet(self, rows: CountedRows, path: Path) -> None:
        """Write Parquet, all columns as texts."""
        self._copy(rows, copy_parquet(rows.columns, _labels(rows), path, "plan"), path)

    def _copy(self, rows: CountedRows, statement: str, path: Path) -> None:
        plan = {f"r{place}": _places(rows, place) for place in range(len(rows.columns))}
        with self._database.sparing(SPARE), self._database.holding("plan", plan):
            self._database.copy(statement, [list(labels) for labels in rows.labels], path)


def _labels(rows: CountedRows) -> list[str]:
    """Return SQL for the label of each column, an element of a parameter."""
    return [f"list_extract(?, r{place})" for place in range(len(rows.columns))]


def _places(rows: CountedRows, column: int) -> Any:
    """Return the place of each label from 1, for each row that is written, in as few bytes as hold it.

    Repeating them here takes half the time and two thirds of the memory of doing it in the query.
    """
    narrow = np.min_scalar_type(len(rows.labels[column]))
    return np.repeat((rows.codes[column] + 1).astype(narrow), rows.counts)


def plan(projection: Projection, **arrays: Any) -> dict[str, Any]:
    """Return per-record arrays together with the codes of replaced columns as r0, r1, …"""
    codes = {f"r{projection.columns.index(name)}": new.codes for name, new in projection.replacements.items()}
    return {**arrays, **codes}


def sources(projection: Projection, unchanged: Callable[[str], str], label: str) -> list[str]:
    """Return SQL for each released column.

    Parameters
    ----------
    unchanged: SQL for a column that is released as it is.
    label: for a replaced one, with a place for its code: an element of a parameter.
    """
    return [
        label.format(f"r{place}") if column in projection.replacements else unchanged(column)
        for place, column in enumerate(projection.columns)
    ]


_NUMBERS = count()
"""Names of tables, of which two share none."""


@dataclass(frozen=True)
class RecordColumns:
    """The columns of the table ``records``, which are called c0, c1, … there.

    Attributes
    ----------
    names: in the order of the input.
    texts: SQL for the text of each.
    nullable: tells of a column by its position whether some record has a null.
    """

    names: Sequence[str]
    texts: Sequence[str]
    nullable: Callable[[int], bool]

    def column(self, name: str) -> str:
        """Return a column as it is called in the database."""
        return f"c{self.names.index(name)}"

    def text(self, name: str) -> str:
        """Return SQL for the text of a column, that of a null being the empty one."""
        return f"coalesce({self.texts[self.names.index(name)]}, '')"

    def null(self, name: str) -> list[str]:
        """Return SQL that tells nulls from empty texts, if a column has any."""
        return [f"{self.column(name)} IS NULL"] if self.nullable(self.names.index(name)) else []

    def hashed(self, first: str, columns: Collection[str]) -> str:
        """Return SQL for a hash of an expression and the texts of columns."""
        return f"hash({', '.join([first, *(self.text(name) for name in self.names if name in columns)])})"


class DuckRecodedWriter(RecodedWriter):
    """Joins the records to their rows, and sorts them, in the database: on disk where its limit asks for it.

    No combination of what it is given has several rows.

    Parameters
    ----------
    database: stays the caller's.
    columns: of the records.
    coded: gives SQL for the code of a column in each record.
    """

    def __init__(
        self, database: Database, columns: RecordColumns, coded: Callable[[Coding], RecordCode]
    ) -> None:
        self._database = database
        self._columns = columns
        self._coded = coded

    def write_csv(self, rows: RecodedRows, path: Path, separator: str, secret: bytes | None) -> None:
        """Write CSV: quotes where needed, nothing at all for a null or an empty text."""
        values = _values(rows, "CAST(list_extract(?, {}) AS VARCHAR)", self._columns.text)
        with self._joined(rows) as (joined, parameters):
            ordered = self._ordered(rows, joined, secret)
            statement = copy_csv(rows.columns, values, path, separator, ordered)
            self._database.copy(statement, [*_lists(rows), *parameters], path)

    def write_parquet(self, rows: RecodedRows, path: Path, secret: bytes | None) -> None:
        """Write Parquet; replaced columns are text, others have their own type and nulls."""
        values = _values(rows, "list_extract(?, {})", self._columns.column)
        with self._joined(rows) as (joined, parameters):
            ordered = self._ordered(rows, joined, secret)
            statement = copy_parquet(rows.columns, values, path, ordered)
            self._database.copy(statement, [*_lists(rows), *parameters], path)

    def checksum(self, rows: RecodedRows) -> int:
        """Sum up a hash of each record as recoded; that of its labels is found once for each row."""
        hashed = self._columns.hashed("labels", _unchanged(rows))
        with self._joined(rows) as (joined, parameters):
            return self._sum(f"SELECT {hashed} AS h FROM ({joined})", parameters)

    def own_checksum(self, recoded: Collection[str]) -> int:
        """Return the same of the records as they are."""
        labels = self._columns.hashed("''", recoded)
        others = [name for name in self._columns.names if name not in recoded]
        return self._sum(f"SELECT {self._columns.hashed(labels, others)} AS h FROM records", ())

    def _sum(self, query: str, parameters: Sequence[Any]) -> int:
        ((found,),) = self._database.rows(f"SELECT coalesce(sum(h), 0) FROM ({query})", parameters)
        return int(found)

    def _ordered(self, rows: RecodedRows, joined: str, secret: bytes | None) -> str:
        """Return SQL for the records in their order, as ``DuckRelation.sorted_rows`` has it."""
        if secret is not None:
            drawn = f"md5_number(concat('{secret.hex()}', row_number() OVER ()))"
            return f"(SELECT * FROM (SELECT *, {drawn} AS drawn FROM ({joined})) ORDER BY drawn)"
        keys, nulls = [], []
        for place, name in enumerate(rows.columns):
            if name in rows.labels:
                keys.append(f"r{place}")
            else:
                keys.append(self._columns.text(name))
                nulls += self._columns.null(name)
        return f"(SELECT * FROM ({joined}) ORDER BY {', '.join(keys + nulls)})"

    @contextmanager
    def _joined(self, rows: RecodedRows) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield SQL, with parameters, for released records: columns that stay, and what their row tells."""
        unchanged = [self._columns.column(name) for name in _unchanged(rows)]
        told = [f"r{place}" for place in _replaced(rows)]
        wanted = ", ".join([*unchanged, *told, "labels"])
        with (
            keyed_records(self._database, rows.found.codings, self._coded, unchanged) as keyed,
            self._told(rows) as table,
            self._rows_of(rows.found, f"({keyed.query})", table) as found,
        ):
            yield f"SELECT {wanted} FROM {found}", keyed.parameters

    @contextmanager
    def _told(self, rows: RecodedRows) -> Iterator[str]:
        """Make a table of the rows that are released: what finds them, places of labels, and a hash."""
        kept = rows.kept
        told: dict[str, Any] = {}
        if isinstance(rows.found, ByCodes):
            places = places_of([coding.size for coding in rows.found.codings])
            told |= dict(zip(names_of(places), packed(places, rows.found.codes[kept]), strict=True))
        else:
            told["region"] = np.flatnonzero(kept).astype(np.int32)
        for place in _replaced(rows):
            # Elements of lists are counted from 1; in as few bytes as hold them they are sorted as fast.
            own = rows.places[rows.columns[place]][kept] + 1
            told[f"r{place}"] = own.astype(np.min_scalar_type(int(own.max(initial=0))))
        labels = ", ".join(["''", *(f"list_extract(?, r{place})" for place in _replaced(rows))])
        table = f"told{next(_NUMBERS)}"
        with self._database.holding("own", told):
            made = f"CREATE TABLE {table} AS SELECT *, hash({labels}) AS labels FROM own"
            self._database.run(made, _lists(rows))
        try:
            yield table
        finally:
            self._database.run(f"DROP TABLE {table}")

    @contextmanager
    def _rows_of(self, found: ByCodes | ByRegion, records: str, table: str) -> Iterator[str]:
        """Yield SQL for records with what a table tells of the rows that they are found by.

        Parameters
        ----------
        records: SQL for the records with their keys.
        """
        sizes = [coding.size for coding in found.codings]
        using = f"USING ({', '.join(names_of(places_of(sizes)))})"
        if isinstance(found, ByCodes):
            yield f"{records} JOIN {table} {using}"
            return
        rest = "NULL" if found.rest is None else str(found.rest)
        if found.regions is None:
            yield f"{records} JOIN {table} ON region = {rest}"
            return
        with placed_table(self._database, sizes, found.regions) as placed:
            if found.rest is None:
                yield f"{records} JOIN {placed} {using} JOIN {table} USING (region)"
                return
            region = f"* REPLACE (coalesce(region, {rest}) AS region)"
            every = f"SELECT {region} FROM {records} LEFT JOIN {placed} {using}"
            yield f"({every}) JOIN {table} USING (region)"


def _replaced(rows: RecodedRows) -> list[int]:
    """Return the places of the columns that are replaced."""
    return [place for place, name in enumerate(rows.columns) if name in rows.labels]


def _unchanged(rows: RecodedRows) -> list[str]:
    return [name for name in rows.columns if name not in rows.labels]


def _lists(rows: RecodedRows) -> list[list[str]]:
    """Return the labels of the replaced columns, in their order."""
    return [list(rows.labels[rows.columns[place]]) for place in _replaced(rows)]


def _values(rows: RecodedRows, label: str, unchanged: Callable[[str], str]) -> list[str]:
    """Return SQL for each released column, given that for a label and for a column that stays."""
    return [
        label.format(f"r{place}") if name in rows.labels else unchanged(name)
        for place, name in enumerate(rows.columns)
    ]
