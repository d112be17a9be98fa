"""Distinct rows that DuckDB counts and stores, on disk if they exceed its memory, and their regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.distinct_rows import (
    DistinctRows,
    Histograms,
    Place,
    counts_by_values,
    names_of,
    of_some,
    packed,
    places_of,
    region_sums,
    traces_sql,
    unpacked,
)
from anonymizer.data.duckdb.columns import code_sql, packed_sql
from anonymizer.data.duckdb.database import Database
from anonymizer.data.relation import Coding
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.out_of_core import (
    CodedRows,
    FirstRegions,
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
)

BUNDLE = 1 << 10
"""Columns next to each other are looked up together while they have so few combinations of codes.

A look-up costs the same for up to about a thousand; beyond, DuckDB takes time for each element of a list.
"""

BITS = 62
"""Up to so many codes a set of them is the bits of a whole number, which takes half the time of a list."""

STRETCHES = 4
"""A set of more codes is compared with the ends of its stretches, if these are so few."""


@dataclass(frozen=True, eq=False)
class Sql:
    """SQL with what it needs.

    Attributes
    ----------
    parameters: in the text, in their order.
    joined: columns of small tables, by the position of the column whose code each is joined to; row i is of
        code i.
    """

    text: str
    parameters: tuple[Any, ...] = ()
    joined: tuple[tuple[int, str, NDArray[Any]], ...] = ()

    @classmethod
    def filled(cls, pattern: str, *several: Sql) -> Sql:
        """Fill the places ``{}`` of a pattern."""
        parameters = tuple(own for each in several for own in each.parameters)
        joined = tuple(own for each in several for own in each.joined)
        return cls(pattern.format(*(each.text for each in several)), parameters, joined)

    @classmethod
    def listed(cls, several: Sequence[Sql], between: str = ", ") -> Sql:
        """Put several one after the other."""
        return cls.filled(between.join("{}" for _ in several), *several)

    @property
    def tables(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The small tables by name, each with its codes as k."""
        found: dict[str, dict[str, NDArray[Any]]] = {}
        for position, name, values in self.joined:
            found.setdefault(f"look{position}", {"k": np.arange(len(values))})[name] = values
        return found

    def joins(self, places: Sequence[Place]) -> str:
        """Return SQL that follows the table of keys after FROM."""
        return "".join(
            f" JOIN {name} ON {name}.k = {code_sql(places[int(name.removeprefix('look'))])}"
            for name in self.tables
        )

    @contextmanager
    def holding(self, database: Database) -> Iterator[None]:
        """Let it find its small tables."""
        with ExitStack() as stack:
            for name, columns in self.tables.items():
                stack.enter_context(database.holding(name, columns))
            yield


def bundles(places: Sequence[Place], positions: Sequence[int], most: int) -> list[list[int]]:
    """Put columns together that are next to each other in one key and have few combinations of codes.

    Parameters
    ----------
    positions: of columns, ascending.
    most: combinations of codes of columns that are put together.
    """
    found: list[list[int]] = []
    for position in positions:
        if found and _few_together(places, [*found[-1], position], most):
            found[-1].append(position)
        else:
            found.append([position])
    return found


def _few_together(places: Sequence[Place], positions: Sequence[int], most: int) -> bool:
    first, last = positions[0], positions[-1]
    size = int(np.prod([places[position].size for position in positions], dtype=object))
    return last - first + 1 == len(positions) and places[first].word == places[last].word and size <= most


def word_sql(places: Sequence[Place], adds: Mapping[int, IntArray], name: str) -> Sql:
    """Return the number that a combination is written as.

    Parameters
    ----------
    adds: as a word of ``CodedRows``.
    name: of columns of small tables, which no other look-up has.
    """
    terms = []
    for positions in bundles(places, sorted(adds), BUNDLE):
        together = np.zeros(1, dtype=np.int64)
        for position in positions:
            together = (together[:, np.newaxis] + adds[position][np.newaxis]).ravel()
        terms.append(looked_up(places, positions, together, name))
    return Sql.listed(terms, " + ")


def looked_up(places: Sequence[Place], positions: Sequence[int], values: NDArray[Any], name: str) -> Sql:
    """Return the value of the codes of some columns: of a parameter, or of a table where it is long.

    Parameters
    ----------
    positions: of columns next to each other in one key.
    values: of all combinations of their codes, shape (combinations,), int64 or bool.
    name: of a column of that table.
    """
    last = places[positions[-1]]
    if len(values) > BUNDLE and len(positions) == 1:
        return Sql(f"look{positions[0]}.{name}", (), ((positions[0], name, values),))
    kind = "BOOLEAN" if values.dtype == np.bool_ else "BIGINT"
    code = code_sql(Place(last.word, last.unit, len(values)))
    return Sql(f"list_extract(?::{kind}[], {code} + 1)", (values.tolist(),))


def among_sql(places: Sequence[Place], position: int, chosen: BoolArray, name: str) -> Sql:
    """Return whether the code of a column is among some.

    Parameters
    ----------
    chosen: of each code, shape (codes,), bool.
    name: of a column of a small table.
    """
    code = code_sql(places[position])
    firsts = np.flatnonzero(chosen & ~np.concatenate([[False], chosen[:-1]])).tolist()
    lasts = np.flatnonzero(chosen & ~np.concatenate([chosen[1:], [False]])).tolist()
    if len(firsts) == 1 and firsts[0] == 0:
        return Sql(f"({code} <= {lasts[0]})")
    if len(firsts) == 1 and lasts[0] == len(chosen) - 1:
        return Sql(f"({code} >= {firsts[0]})")
    if len(chosen) <= BITS:
        bits = sum(1 << own for own in np.flatnonzero(chosen).tolist())
        return Sql(f"(({bits}::BIGINT >> {code}) & 1 = 1)")
    if len(firsts) <= STRETCHES:
        each = (f"{code} BETWEEN {first} AND {last}" for first, last in zip(firsts, lasts, strict=True))
        return Sql(f"({' OR '.join(each) or 'false'})")
    return looked_up(places, [position], chosen, name)


MOST_CUTS = 16
"""So many cuts are found anew with each question; more are written down for each combination."""

SUMMED = 1 << 14
"""Quasi-identifiers next to each other are summed up together while they have so few combinations of codes.

Grouping takes hardly longer for as many groups, and each question reads all combinations.
"""

COUNTS = {2**8: "UTINYINT", 2**16: "USMALLINT", 2**32: "UINTEGER"}
"""Types for numbers of records below a bound; a whole table of these takes room."""

FEW = 64
"""So many regions are listed in a query; more are a table."""

NOTHING = Sql("")

_REGION_NUMBERS = count()
"""Names of tables, of which two share none."""


class DuckRegions(RegionStore):
    """Regions of the combinations in a table of a database.

    A table of its own has the numbers that combinations are written as, which each question asks for. The
    region of a combination follows from its codes by the cuts. While these are few it is not written down:
    that would take a table again.

    Parameters
    ----------
    database: stays the caller's.
    table: packed keys w0, w1, … and the number of records, n; stays the caller's.
    sizes: number of codes of each column, quasi-identifiers first.
    first: the regions that cuts begin with.
    coded: what is summed up.
    """

    def __init__(
        self, database: Database, table: str, sizes: Sequence[int], first: FirstRegions, coded: CodedRows
    ) -> None:
        self._database = database
        self._table, self._own, self._told = table, False, False
        self._places = places_of(sizes)
        self._names = names_of(self._places)
        self._keys = ", ".join(self._names)
        self._width = len(first.of_code)
        self._traces = coded.traces
        self._words = [Sql(f"c{place}") for place in range(len(coded.words))]
        self._cuts: list[RegionCut] = []
        self._numbers: IntArray = np.arange(len(first.codes))
        self._found = Histograms(self._numbers[:0], self._traces, {})
        self._sides: tuple[IntArray, RegionSums] | None = None
        self._begin(first, coded)

    def _begin(self, first: FirstRegions, coded: CodedRows) -> None:
        """Write down the numbers of each combination that is in a region, and which that is."""
        told = [Sql(self._keys), Sql(f"n::{self._kind_of_counts()} AS n")]
        for place, word in enumerate(coded.words):
            told.append(Sql.filled(f"{{}} AS c{place}", word_sql(self._places, word, f"a{place}")))
        if first.every and len(first.codes) == 1:
            self._write(self._selected(told), {}, told=False)
            return
        own = places_of([place.size for place in self._places[: self._width]])
        listed = {f"f{word}": keys for word, keys in enumerate(packed(own, first.codes))}
        codes = [
            looked_up(self._places, [place], new.astype(np.int64), "f")
            for place, new in enumerate(first.of_code)
        ]
        keys = [each.rpartition(" AS ")[0] for each in packed_sql(own, ["{}" for _ in codes])]
        equal = " AND ".join(f"f{word} = {each}" for word, each in enumerate(keys))
        query = self._selected(
            [*told, Sql("number::INTEGER AS region")], Sql.filled(f" JOIN listed ON {equal}", *codes)
        )
        self._write(query, {"listed": {**listed, "number": self._numbers}}, told=True)

    def _kind_of_counts(self) -> str:
        """Return the narrowest type of the numbers of records."""
        ((most,),) = self._database.rows(f"SELECT coalesce(max(n), 0) FROM {self._table}")
        return next((kind for bound, kind in COUNTS.items() if int(most) < bound), "BIGINT")

    def _write(self, query: Sql, listed: Mapping[str, Mapping[str, IntArray]], *, told: bool) -> None:
        """Make a table of a query, and ask that one from now on.

        Parameters
        ----------
        listed: small tables that it needs beside its own.
        told: whether it tells regions.
        """
        name = f"regions{next(_REGION_NUMBERS)}"
        with ExitStack() as stack:
            stack.enter_context(query.holding(self._database))
            for each, columns in listed.items():
                stack.enter_context(self._database.holding(each, columns))
            self._database.run(f"CREATE TABLE {name} AS {query.text}", query.parameters)
        self.close()
        self._table, self._own, self._told, self._cuts = name, True, told, []

    def sums(self, regions: IntArray) -> RegionSums:
        """Sum up whole regions; sides of cuts follow from what was found along the axis of each."""
        if self._sides is not None and np.isin(regions, self._sides[0]).all():
            return of_some(self._sides[1], regions)
        return self._summed(regions, "0")

    def histogram(self, regions: IntArray, position: int) -> RegionSums:
        """Sum up the combinations with each code of a quasi-identifier in each of some regions.

        Quasi-identifiers next to each other are summed up together, as each is asked about.
        """
        if not np.array_equal(self._found.regions, regions):
            self._found = Histograms(regions.copy(), self._traces, {})
        if position not in self._found.of_position:
            positions = next(
                own for own in bundles(self._places, range(self._width), SUMMED) if position in own
            )
            last = self._places[positions[-1]]
            size = int(np.prod([self._places[own].size for own in positions], dtype=object))
            found = self._summed(regions, code_sql(replace(last, size=size)))
            for own in positions:
                place = self._places[own]
                self._found.of_position[own] = (found, place.unit // last.unit, place.size)
        return self._found.along(position)

    def _summed(self, regions: IntArray, code: str) -> RegionSums:
        rows = self._numbered(self._cuts, regions, [Sql("n"), Sql(f"{code} AS code"), *self._words])
        query = Sql.filled(
            f"SELECT region, code, count(*) AS combinations, sum(n)::BIGINT AS records, "
            f"{', '.join(traces_sql(self._traces))} "
            "FROM ({}) GROUP BY region, code ORDER BY region, code",
            rows,
        )
        return region_sums(self._arrays(query, regions), self._traces)

    def sensitive_counts(self, regions: IntArray) -> SensitiveCounts:
        """Count the records of each combination of sensitive values in each of some regions."""
        return self._sensitive(self._cuts, regions)

    def sides(self, cuts: Sequence[RegionCut]) -> SensitiveCounts:
        """Return the same for the sides that cuts of different regions would have."""
        regions = np.sort(np.array([(own.left, own.left + 1) for own in cuts], dtype=np.int64).ravel())
        return self._sensitive([*self._cuts, *map(self._found.in_stretches, cuts)], regions)

    def _sensitive(self, cuts: Sequence[RegionCut], regions: IntArray) -> SensitiveCounts:
        places = self._places[self._width :]
        codes = [Sql(f"{code_sql(place)} AS s{position}") for position, place in enumerate(places)]
        keys = ", ".join(["region", *(f"s{position}" for position in range(len(places)))])
        rows = self._numbered(cuts, regions, [Sql("n"), *codes])
        found = self._arrays(
            Sql.filled(
                f"SELECT {keys}, sum(n)::BIGINT AS records FROM ({{}}) GROUP BY {keys} ORDER BY {keys}", rows
            ),
            regions,
        )
        return counts_by_values(found, len(places))

    def cut(self, cuts: Sequence[RegionCut]) -> None:
        """Cut regions in two."""
        sides = np.array([(own.left, own.left + 1) for own in cuts], dtype=np.int64).ravel()
        found = self._found.sides(cuts)
        self._sides = None if found is None else (sides, found)
        self._cuts += map(self._found.in_stretches, cuts)
        self._found = Histograms(sides[:0], self._traces, {})
        stay = ~np.isin(self._numbers, [own.region for own in cuts])
        self._numbers = np.concatenate([self._numbers[stay], sides])
        if len(self._cuts) > MOST_CUTS:
            kept = [Sql(self._keys), Sql("n"), *self._words]
            self._write(self._regions(self._cuts, kept), {}, told=True)

    def fetch(self, regions: IntArray) -> RegionRows:
        """Return the combinations of some regions."""
        found = self._arrays(self._whole(regions), regions)
        codes = unpacked(self._places, [found[name] for name in self._names])
        return RegionRows(codes, found["n"], found["region"])

    def _whole(self, regions: IntArray) -> Sql:
        """Return a query for all that is known of the combinations of some regions."""
        return self._numbered(self._cuts, regions, [Sql(self._keys), Sql("n")])

    def close(self) -> None:
        """Drop the own table; a second call does nothing."""
        if self._own:
            self._database.run(f"DROP TABLE {self._table}")
            self._database.give_back()
            self._own = False

    def _numbered(self, cuts: Sequence[RegionCut], regions: IntArray, told: Sequence[Sql]) -> Sql:
        """Return a query for what is told of the combinations of some regions, and for their region."""
        rows = self._regions(cuts, told)
        if cuts is self._cuts and np.isin(self._numbers, regions).all():
            # A condition would find the region of each combination twice.
            return rows
        few = ", ".join(map(str, regions.tolist())) if len(regions) <= FEW else "SELECT number FROM asked"
        return Sql.filled(f"SELECT * FROM ({{}}) WHERE region IN ({few})", rows)

    def _regions(self, cuts: Sequence[RegionCut], told: Sequence[Sql]) -> Sql:
        """Return a query for what is told of all combinations, and for their region after cuts."""
        region = self._region({own.region: own for own in cuts})
        return self._selected([*told, Sql.filled("({})::INTEGER AS region", region)])

    def _selected(self, told: Sequence[Sql], further: Sql = NOTHING) -> Sql:
        """Return a query for what is told of all combinations, and for what is joined to them further."""
        both = Sql.filled("{}{}", Sql.listed(told), further)
        return Sql.filled(
            f"SELECT {{}} FROM {self._table}{both.joins(self._places)}{{}}", Sql.listed(told), further
        )

    def _region(self, cuts: Mapping[int, RegionCut]) -> Sql:
        """Return the region of a combination."""
        if not self._told:
            return self._side(0, cuts)
        sides = {side for own in cuts.values() for side in (own.left, own.left + 1)}
        roots = [number for number in cuts if number not in sides]
        if not roots:
            return Sql("region")
        cases = (Sql.filled(f"WHEN {number} THEN {{}}", self._side(number, cuts)) for number in roots)
        return Sql.filled("CASE region " + "{} " * len(roots) + "ELSE region END", *cases)

    def _side(self, number: int, cuts: Mapping[int, RegionCut]) -> Sql:
        """Return where a combination of a region comes to lie."""
        if number not in cuts:
            return Sql(str(number))
        own = cuts[number]
        left = among_sql(self._places, own.position, own.goes_left, f"g{own.left}")
        sides = (self._side(side, cuts) for side in (own.left, own.left + 1))
        return Sql.filled("CASE WHEN {} THEN {} ELSE {} END", left, *sides)

    def _arrays(self, query: Sql, regions: IntArray) -> dict[str, IntArray]:
        """Return what a query finds that is asked about some regions."""
        with query.holding(self._database), self._database.holding("asked", {"number": regions}):
            found = self._database.arrays(query.text, query.parameters)
        return {name: np.asarray(own).astype(np.int64, copy=False) for name, own in found.items()}


_END_NUMBERS = count()
"""Names of tables, of which two share none."""


class EndingRegions(DuckRegions):
    """Regions whose combinations are written down once more, with the region at the end.

    Parameters
    ----------
    database, table, sizes, first, coded: as for ``DuckRegions``.
    """

    def __init__(
        self, database: Database, table: str, sizes: Sequence[int], first: FirstRegions, coded: CodedRows
    ) -> None:
        super().__init__(database, table, sizes, first, coded)
        self._words_of_codes = [
            Sql.filled(f"{{}} AS c{place}", word_sql(self._places, word, f"a{place}"))
            for place, word in enumerate(coded.words)
        ]
        self._ends: EndingRegions | None = None
        self._known = 0

    @property
    def keyed(self) -> tuple[str, tuple[str, ...]]:
        """The table with a region for each combination, and the names of its keys; asked of ends."""
        return self._table, self._names

    def ends(self, ended: IntArray) -> EndingRegions:
        """Return the regions at the end, which have a table of their own."""
        ends = copy(self)
        ends._table, ends._own, ends._told = f"ends{next(_END_NUMBERS)}", True, True
        ends._cuts, ends._sides, ends._numbers = [], None, np.arange(len(ended))
        ends._words = self._words_of_codes
        columns = ", ".join(f"{name} BIGINT" for name in (*self._names, "n"))
        self._database.run(f"CREATE TABLE {ends._table} ({columns}, region INTEGER)")
        self._ends, self._known = ends, len(ended)
        if len(ended):
            rows = self._whole(ended)
            told = f"INSERT INTO {ends._table} SELECT {self._keys}, n, own.new FROM ({rows.text}) AS rows"
            numbers = {"old": ended, "new": np.arange(len(ended))}
            with (
                rows.holding(self._database),
                self._database.holding("asked", {"number": ended}),
                self._database.holding("own", numbers),
            ):
                self._database.run(f"{told} JOIN own ON rows.region = own.old", rows.parameters)
        return ends

    def note(self, rows: RegionRows, region: IntArray) -> None:
        """Write down the region of each of some rows."""
        if self._ends is None:
            return
        keys = packed(self._places, rows.codes)
        noted = dict(zip(self._names, keys, strict=True)) | {"n": rows.counts, "region": region + self._known}
        with self._database.holding("noted", noted):
            self._database.run(f"INSERT INTO {self._ends._table} SELECT {self._keys}, n, region FROM noted")
        self._known += int(region.max()) + 1
        self._ends._numbers = np.arange(self._known)


_TABLE_NUMBERS = count()
"""Names of tables, of which two combinations share none."""


class DuckCombinations(DistinctRows):
    """Combinations in a table of a database: packed keys w0, w1, … and the number of records, n.

    Parameters
    ----------
    database: stays the caller's.
    sizes: number of codes of each column.
    keyed: a query for the keys, and for a number of records as n.
    parameters: of that query.
    """

    def __init__(
        self, database: Database, sizes: Sequence[int], keyed: str, parameters: Sequence[Any] = ()
    ) -> None:
        self._database = database
        self.sizes = tuple(sizes)
        self._places = places_of(sizes)
        self._names = names_of(self._places)
        self._keys = ", ".join(self._names)
        self._table: str | None = f"combinations{next(_TABLE_NUMBERS)}"
        database.run(
            f"CREATE TABLE {self._table} AS SELECT {self._keys}, sum(n)::BIGINT AS n "
            f"FROM ({keyed}) GROUP BY {self._keys}",
            parameters,
        )
        self._number: int | None = None

    @property
    def number(self) -> int:
        """How many distinct combinations there are."""
        if self._number is None:
            ((self._number,),) = self._database.rows(f"SELECT count(*) FROM {self._table}")
        return self._number

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return them into memory, in lexicographic order."""
        fetched = self._database.arrays(f"SELECT {self._keys}, n FROM {self._table} ORDER BY {self._keys}")
        codes = unpacked(self._places, [fetched[name] for name in self._names])
        return codes, fetched["n"].astype(np.int64, copy=False)

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> DuckCombinations:
        """Return the distinct combinations of coarser codes, counted anew."""
        words = [[Sql(name)] for name in self._names]
        for position, (place, coarser) in enumerate(zip(self._places, codes, strict=True)):
            if coarser is not None:
                # What a key changes by, so that columns that stay need not be taken apart.
                change = (coarser.astype(np.int64) - np.arange(place.size)) * place.unit
                words[place.word].append(looked_up(self._places, [position], change, "change"))
        keys = [Sql.filled(f"{{}} AS w{word}", Sql.listed(own, " + ")) for word, own in enumerate(words)]
        query = Sql.listed(keys)
        rows = f"SELECT {query.text}, n FROM {self._table}{query.joins(self._places)}"
        with query.holding(self._database):
            return DuckCombinations(self._database, self.sizes, rows, query.parameters)

    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Count the records in groups of fewer than some number of records."""
        own = self._places[:columns]
        last: dict[int, Place] = {place.word: place for place in own}
        keys = ", ".join(f"w{word} // {place.unit} AS g{word}" for word, place in last.items())
        names = ", ".join(f"g{word}" for word in last)
        groups = f"SELECT {keys}, sum(n) AS size FROM {self._table} GROUP BY {names}"
        ((records,),) = self._database.rows(
            f"SELECT coalesce(sum(size), 0)::BIGINT FROM ({groups}) WHERE size < {least}"
        )
        return int(records)

    def in_regions(self, first: FirstRegions, coded: CodedRows) -> EndingRegions:
        """Return the combinations in regions that can be cut."""
        return EndingRegions(self._database, str(self._table), self.sizes, first, coded)

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
    join: SQL after FROM that it needs, or nothing.
    parameters: of the code.
    tables: that were made for the join, the caller's to drop.
    """

    code: str
    join: str = ""
    parameters: tuple[Any, ...] = ()
    tables: tuple[str, ...] = ()


def by_text(
    database: Database, text: str, dictionary: Sequence[tuple[str | None, int]], codes: CodeArray
) -> RecordCode:
    """Return the code of a text, looked up in a table that is made of the dictionary of a column.

    Parameters
    ----------
    text: SQL for it.
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
    """Count the combinations of the codes of the table ``records``."""
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
    """Yield the keys of the table ``records`` by the codes of columns, and other columns of it."""
    columns = [code_of(coding) for coding in codings]
    keys = packed_sql(places_of([coding.size for coding in codings]), [each.code for each in columns])
    joins = "".join(each.join for each in columns)
    parameters = tuple(own for each in columns for own in each.parameters)
    try:
        yield KeyedRecords(f"SELECT {', '.join([*keys, *others])} FROM records{joins}", parameters)
    finally:
        for table in (own for each in columns for own in each.tables):
            database.run(f"DROP TABLE {table}")
