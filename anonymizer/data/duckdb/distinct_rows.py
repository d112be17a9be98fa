"""Distinct rows that DuckDB counts and stores, on disk if they exceed its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from anonymizer.data.distinct_rows import DistinctRows, KeyWords, Place
from anonymizer.data.duckdb.database import Database
from anonymizer.data.relation import Coding
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.out_of_core import PIECE, PlacedRows, RowPiece

LISTED = 1 << 10
"""Largest number of codes that are looked up in a list; DuckDB takes time for each of its elements."""

_TABLE_NUMBERS = count()
"""Numbers in the names of tables, each used once."""


class DuckCombinations(DistinctRows):
    """Distinct rows in a table of a database: packed keys w0, w1, … and the number of records, n.

    Parameters
    ----------
    database: stays the caller's.
    sizes: number of codes of each column.
    keyed: a query for keys and a number of records n, which may repeat keys.
    parameters: of that query.
    """

    def __init__(
        self, database: Database, sizes: Sequence[int], keyed: str, parameters: Sequence[Any] = ()
    ) -> None:
        self._database = database
        self.sizes = tuple(sizes)
        self._words = KeyWords(sizes)
        self._keys = ", ".join(self._words.names)
        self._table: str | None = f"combinations{next(_TABLE_NUMBERS)}"
        database.run(
            f"CREATE TABLE {self._table} AS SELECT {self._keys}, sum(n)::BIGINT AS n "
            f"FROM ({keyed}) GROUP BY {self._keys}",
            parameters,
        )
        self._number: int | None = None

    @property
    def number(self) -> int:
        """Number of distinct rows."""
        if self._number is None:
            ((self._number,),) = self._database.rows(f"SELECT count(*) FROM {self._table}")
        return self._number

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return the codes, sorted, and their records."""
        fetched = self._database.arrays(f"SELECT {self._keys}, n FROM {self._table} ORDER BY {self._keys}")
        codes = self._words.unpack([fetched[name] for name in self._words.names])
        return codes, fetched["n"].astype(np.int64, copy=False)

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> DuckCombinations:
        """Return the distinct rows of coarser codes."""
        words, joins, parameters = list(self._words.names), "", list[Any]()
        with ExitStack() as stack:
            for position, (place, coarser) in enumerate(zip(self._words.places, codes, strict=True)):
                if coarser is None:
                    continue
                # Only the difference is added to a key, so that other columns need not be unpacked.
                change = (coarser.astype(np.int64) - np.arange(place.size)) * place.unit
                code = self._words.code_sql(position)
                if place.size > LISTED:
                    table = {"k": np.arange(place.size), "change": change}
                    stack.enter_context(self._database.holding(f"look{position}", table))
                    joins += f" JOIN look{position} ON look{position}.k = {code}"
                    words[place.word] += f" + look{position}.change"
                else:
                    words[place.word] += f" + list_extract(?::BIGINT[], {code} + 1)"
                    parameters.append(change.tolist())
            keys = ", ".join(f"{own} AS {name}" for own, name in zip(words, self._words.names, strict=True))
            rows = f"SELECT {keys}, n FROM {self._table}{joins}"
            return DuckCombinations(self._database, self.sizes, rows, parameters)

    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Return the number of records in small groups by the first columns."""
        last: dict[int, Place] = {place.word: place for place in self._words.places[:columns]}
        keys = ", ".join(f"w{word} // {place.unit} AS g{word}" for word, place in last.items())
        names = ", ".join(f"g{word}" for word in last)
        groups = f"SELECT {keys}, sum(n) AS size FROM {self._table} GROUP BY {names}"
        ((records,),) = self._database.rows(
            f"SELECT coalesce(sum(size), 0)::BIGINT FROM ({groups}) WHERE size < {least}"
        )
        return int(records)

    def pieces(self) -> Iterator[RowPiece]:
        """Yield all of them."""
        for first in range(0, self.number, PIECE):
            within = f"rowid >= {first} AND rowid < {first + PIECE}"
            found = self._database.arrays(f"SELECT {self._keys}, n FROM {self._table} WHERE {within}")
            keys = tuple(found[name].astype(np.int64, copy=False) for name in self._words.names)
            yield RowPiece(keys, found["n"].astype(np.int64, copy=False))

    def close(self) -> None:
        """Drop the table; a second call does nothing."""
        if self._table is not None:
            self._database.run(f"DROP TABLE {self._table}")
            self._table = None


@dataclass(frozen=True)
class RecordCode:
    """SQL for the code of a column of the table ``records``.

    Attributes
    ----------
    code: SQL for it.
    join: SQL after FROM for the code, may be empty.
    parameters: of the code.
    tables: created for the join; the caller drops them.
    """

    code: str
    join: str = ""
    parameters: tuple[Any, ...] = ()
    tables: tuple[str, ...] = ()


def by_text(
    database: Database, text: str, dictionary: Sequence[tuple[str | None, int]], codes: CodeArray
) -> RecordCode:
    """Return the code of a text, looked up in a new table with the dictionary of its column.

    Parameters
    ----------
    text: SQL for the text.
    """
    name = f"dictionary{next(_TABLE_NUMBERS)}"
    texts = np.array([each for each, _ in dictionary], dtype=object)
    known = np.array([each is not None for each in texts])
    with database.holding("listed", {"t": texts[known], "code": codes[known]}):
        database.run(f"CREATE TABLE {name} AS SELECT t::VARCHAR AS t, code::INTEGER AS code FROM listed")
    null = int(codes[~known][0]) if not known.all() else 0
    join = f" LEFT JOIN {name} ON {name}.t = {text}"
    return RecordCode(f"coalesce({name}.code, {null})", join, tables=(name,))


def counted_records(
    database: Database, codings: Sequence[Coding], code_of: Callable[[Coding], RecordCode]
) -> DuckCombinations:
    """Return the distinct rows of the codes of the table ``records``."""
    with keyed_records(database, codings, code_of, ["1 AS n"]) as keyed:
        return DuckCombinations(database, [coding.size for coding in codings], keyed.query, keyed.parameters)


@dataclass(frozen=True)
class KeyedRecords:
    """A query for the keys of the records, with its parameters."""

    query: str
    parameters: tuple[Any, ...]


@contextmanager
def keyed_records(
    database: Database,
    codings: Sequence[Coding],
    code_of: Callable[[Coding], RecordCode],
    others: Sequence[str],
) -> Iterator[KeyedRecords]:
    """Yield a query for the keys of the table ``records`` by the codes of columns, and for other columns."""
    columns = [code_of(coding) for coding in codings]
    keys = KeyWords([coding.size for coding in codings]).packed_sql([each.code for each in columns])
    joins = "".join(each.join for each in columns)
    parameters = tuple(own for each in columns for own in each.parameters)
    try:
        yield KeyedRecords(f"SELECT {', '.join([*keys, *others])} FROM records{joins}", parameters)
    finally:
        for table in (own for each in columns for own in each.tables):
            database.run(f"DROP TABLE {table}")


@contextmanager
def placed_table(database: Database, sizes: Sequence[int], placed: PlacedRows) -> Iterator[str]:
    """Yield the name of a table with the keys w0, w1, … of rows, and their region.

    Parameters
    ----------
    sizes: number of codes of each column in the keys.
    """
    table, names = f"placed{next(_TABLE_NUMBERS)}", KeyWords(sizes).names
    database.run(f"CREATE TABLE {table} ({', '.join(f'{name} BIGINT' for name in names)}, region INTEGER)")
    try:
        for keys, region in placed.pieces():
            noted = {**dict(zip(names, keys, strict=True)), "region": region}
            with database.holding("noted", noted):
                database.run(f"INSERT INTO {table} SELECT {', '.join(names)}, region FROM noted")
        yield table
    finally:
        database.run(f"DROP TABLE {table}")
