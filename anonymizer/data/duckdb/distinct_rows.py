"""Distinct rows that DuckDB counts and stores, on disk if they exceed its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from anonymizer.data.duckdb.database import Database, new_name
from anonymizer.data.relation import Coding, DistinctRows, KeyWords, Place, RowUnits, StoredUnits
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.table import PIECE, PlacedRows, RowPiece

LISTED = 1 << 10
"""Largest number of codes that are looked up in a list; DuckDB takes time for each of its elements."""


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
        self._table: str | None = new_name("combinations")
        database.run(
            f"CREATE TABLE {self._table} AS SELECT {self._keys}, sum(n)::BIGINT AS n "
            f"FROM ({keyed}) GROUP BY {self._keys}",
            parameters,
        )
        self._number: int | None = None
        self.units: dict[str, DuckUnits] = {}

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
        with self._coarser(codes) as coarser:
            keyed = f"SELECT {coarser.keys}, n FROM {self._table}{coarser.joins}"
            rolled = DuckCombinations(self._database, self.sizes, keyed, coarser.parameters)
            rolled.units = {name: own.rolled_up(coarser) for name, own in self.units.items()}
            return rolled

    @contextmanager
    def _coarser(self, codes: Sequence[CodeArray | None]) -> Iterator[_CoarserKeys]:
        """Yield the keys of coarser codes in SQL, for any table with the keys."""
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
            yield _CoarserKeys(keys, joins, tuple(parameters))

    def records_in_small_groups(self, columns: int, least: int, unit: str | None = None) -> int:
        """Return the number of records in small groups by the first columns."""
        last: dict[int, Place] = {place.word: place for place in self._words.places[:columns]}
        keys = ", ".join(f"w{word} // {place.unit} AS g{word}" for word, place in last.items())
        names = ", ".join(f"g{word}" for word in last)
        groups = f"SELECT {keys}, sum(n) AS records, sum(n) AS size FROM {self._table} GROUP BY {names}"
        if unit is not None:
            counted = self.units[unit].counted_by(keys, names)
            groups = f"SELECT records, units AS size FROM ({groups}) JOIN ({counted}) USING ({names})"
        ((records,),) = self._database.rows(
            f"SELECT coalesce(sum(records), 0)::BIGINT FROM ({groups}) WHERE size < {least}"
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
        for own in self.units.values():
            own.close()


class _CoarserKeys(NamedTuple):
    """The keys of coarser codes in SQL.

    Attributes
    ----------
    keys: columns of a query, named as the keys.
    joins: after FROM and a table with the keys; may be empty.
    parameters: of the keys.
    """

    keys: str
    joins: str
    parameters: tuple[Any, ...]


class DuckUnits(StoredUnits):
    """The units of distinct rows in two tables: numbers of units alone in a row, and pairs of others.

    Parameters
    ----------
    database: stays the caller's.
    words: the keys.
    given: a query for keys and a unit u, which may repeat rows and is null for records of their own.
    parameters: of each query.
    alone: a query for keys and a number a of units that are alone; None without any.
    recorded: whether ``given`` also has a number of records n, and pairs have their sum; units with several
        records then stay pairs.
    """

    def __init__(
        self,
        database: Database,
        words: KeyWords,
        given: str,
        parameters: Sequence[Any] = (),
        alone: str | None = None,
        *,
        recorded: bool = False,
    ) -> None:
        self._database, self._words, self._recorded = database, words, recorded
        self._keys = keys = ", ".join(words.names)
        given_table, by_unit = new_name("given"), new_name("units")
        self._alone, self._pairs = new_name("alone"), new_name("pairs")
        database.run(f"CREATE TABLE {given_table} AS {given}", parameters)
        least = ", ".join(f"min({name}) AS {name}" for name in words.names)
        several = [f"min({name}) < max({name})" for name in words.names]
        spread = " OR ".join([*several, "sum(n) > 1"] if recorded else several)
        database.run(
            f"CREATE TABLE {by_unit} AS SELECT u, {least}, ({spread}) AS spread FROM {given_table} "
            "WHERE u IS NOT NULL GROUP BY u"
        )
        parts = [
            f"SELECT {keys}, 1 AS a FROM {by_unit} WHERE NOT spread",
            f"SELECT {keys}, 1 AS a FROM {given_table} WHERE u IS NULL",
            *([] if alone is None else [alone]),
        ]
        database.run(
            f"CREATE TABLE {self._alone} AS SELECT {keys}, sum(a)::BIGINT AS a "
            f"FROM ({' UNION ALL '.join(parts)}) GROUP BY {keys}",
            () if alone is None else parameters,
        )
        own = ", ".join(f"{given_table}.{name}" for name in words.names)
        numbers = f"SELECT u, row_number() OVER () - 1 AS k FROM {by_unit} WHERE spread"
        joined = f"FROM {given_table} JOIN ({numbers}) AS numbers ON {given_table}.u = numbers.u"
        pairs = f"SELECT DISTINCT {own}, k AS u {joined}"
        if recorded:
            pairs = f"SELECT {own}, k AS u, sum(n)::BIGINT AS n {joined} GROUP BY {own}, k"
        database.run(f"CREATE TABLE {self._pairs} AS {pairs}")
        for table in (given_table, by_unit):
            database.run(f"DROP TABLE {table}")

    def rolled_up(self, coarser: _CoarserKeys) -> DuckUnits:
        """Return the units of distinct rows of coarser codes."""
        return DuckUnits(
            self._database,
            self._words,
            f"SELECT {coarser.keys}, {self._counted} FROM {self._pairs}{coarser.joins}",
            coarser.parameters,
            f"SELECT {coarser.keys}, a FROM {self._alone}{coarser.joins}",
            recorded=self._recorded,
        )

    @property
    def _counted(self) -> str:
        """The columns of the pairs besides the keys."""
        return "u, n" if self._recorded else "u"

    def counted_by(self, keys: str, names: str) -> str:
        """Return a query for the distinct units of groups of rows.

        Parameters
        ----------
        keys: of the groups in SQL.
        names: of these.
        """
        parts = (
            f"SELECT {keys}, a AS units FROM {self._alone} UNION ALL "
            f"SELECT {keys}, count(DISTINCT u) AS units FROM {self._pairs} GROUP BY {names}"
        )
        return f"SELECT {names}, sum(units) AS units FROM ({parts}) GROUP BY {names}"

    def fetch(self) -> RowUnits:
        """Return the units."""
        alone = self._database.arrays(f"SELECT {self._keys}, a FROM {self._alone}")
        pairs = self._database.arrays(f"SELECT {self._keys}, {self._counted} FROM {self._pairs}")
        return RowUnits(
            tuple(alone[name].astype(np.int64, copy=False) for name in self._words.names),
            alone["a"].astype(np.int64, copy=False),
            tuple(pairs[name].astype(np.int64, copy=False) for name in self._words.names),
            pairs["u"].astype(np.int64, copy=False),
            pairs["n"].astype(np.int64, copy=False) if self._recorded else None,
        )

    def close(self) -> None:
        """Drop the tables; a second call does nothing."""
        for table in (self._alone, self._pairs):
            self._database.run(f"DROP TABLE IF EXISTS {table}")


class RecordCode(NamedTuple):
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
    name = new_name("dictionary")
    texts = np.array([each for each, _ in dictionary], dtype=object)
    known = np.array([each is not None for each in texts])
    with database.holding("listed", {"t": texts[known], "code": codes[known]}):
        database.run(f"CREATE TABLE {name} AS SELECT t::VARCHAR AS t, code::INTEGER AS code FROM listed")
    null = int(codes[~known][0]) if not known.all() else 0
    join = f" LEFT JOIN {name} ON {name}.t = {text}"
    return RecordCode(f"coalesce({name}.code, {null})", join, tables=(name,))


class KeyedRecords(NamedTuple):
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
    table, names = new_name("placed"), KeyWords(sizes).names
    database.run(f"CREATE TABLE {table} ({', '.join(f'{name} BIGINT' for name in names)}, region INTEGER)")
    try:
        for keys, region in placed.pieces():
            noted = {**dict(zip(names, keys, strict=True)), "region": region}
            with database.holding("noted", noted):
                database.run(f"INSERT INTO {table} SELECT {', '.join(names)}, region FROM noted")
        yield table
    finally:
        database.run(f"DROP TABLE {table}")
