"""Combinations that DuckDB keeps, in regions that are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

import numpy as np

from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_lookup import Sql, among_sql, bundles, looked_up, word_sql
from anonymizer.engines.duckdb_places import code_sql, packed_sql
from anonymizer.engines.places import names_of, packed, places_of, unpacked
from anonymizer.engines.region_answers import counts_by_values, region_sums, traces_sql
from anonymizer.engines.region_histograms import Histograms, of_some
from anonymizer.model.arrays import IntArray
from anonymizer.model.out_of_core import (
    CodedRows,
    FirstRegions,
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
)

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
