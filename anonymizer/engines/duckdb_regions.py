"""Combinations that DuckDB keeps, in regions that are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.core.arrays import IntArray
from anonymizer.core.kept_regions import (
    CodedRows,
    FirstRegions,
    KeptRegions,
    RegionCut,
    RegionRows,
    RegionSums,
    SensitiveCounts,
)
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_places import code_sql, packed_sql
from anonymizer.engines.places import Place, names_of, packed, places_of, unpacked
from anonymizer.engines.region_answers import counts_by_values, region_sums, traces_sql

MOST_CUTS = 16
"""So many cuts are found anew with each question; more are written down for each combination."""

BUNDLE = 1 << 10
"""Columns next to each other are looked up together while they have so few combinations of codes.

A look-up costs the same for up to about a thousand; beyond, DuckDB takes time for each element of a list.
"""

_NUMBERS = count()
"""Names of tables, of which two share none."""


FEW = 64
"""So many regions are listed in a query; more are a table."""


@dataclass(frozen=True, eq=False)
class _Sql:
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
    def filled(cls, pattern: str, *several: _Sql) -> _Sql:
        """Fill the places ``{}`` of a pattern."""
        parameters = tuple(own for each in several for own in each.parameters)
        joined = tuple(own for each in several for own in each.joined)
        return cls(pattern.format(*(each.text for each in several)), parameters, joined)

    @property
    def tables(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The small tables by name, each with its codes as k."""
        found: dict[str, dict[str, NDArray[Any]]] = {}
        for position, name, values in self.joined:
            found.setdefault(f"look{position}", {"k": np.arange(len(values))})[name] = values
        return found


class DuckRegions(KeptRegions):
    """Regions of the combinations in a table of a database.

    The region of a combination follows from its codes by the cuts. While these are few it is not written
    down: that would take a table of its own.

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
        self._table, self._own = table, False
        self._places = places_of(sizes)
        self._names = names_of(self._places)
        self._keys = ", ".join(self._names)
        self._width = len(first.of_code)
        self._traces = coded.traces
        self._words = [_word(self._places, word, f"a{place}") for place, word in enumerate(coded.words)]
        self._cuts: list[RegionCut] = []
        if len(first.codes) > 1 or not first.every:
            self._begin(first)

    def _begin(self, first: FirstRegions) -> None:
        """Write down the region of each combination that is in one."""
        own = places_of([place.size for place in self._places[: self._width]])
        codes = [code_sql(place) for place in self._places[: self._width]]
        asked = packed_sql(own, [f"list_extract(?::INTEGER[], {code} + 1)" for code in codes])
        listed = {f"f{word}": keys for word, keys in enumerate(packed(own, first.codes))}
        equal = " AND ".join(f"a{word} = f{word}" for word in range(len(listed)))
        listed["region"] = np.arange(len(first.codes))
        told = f"SELECT {self._keys}, n, {', '.join(each.replace(' AS w', ' AS a') for each in asked)}"
        query = f"SELECT {self._keys}, n, region::INTEGER AS region FROM ({told} FROM {self._table})"
        with self._database.holding("listed", listed):
            self._write(_Sql(f"{query} JOIN listed ON {equal}", tuple(own.tolist() for own in first.of_code)))

    def _write(self, query: _Sql) -> None:
        """Make a table of a query that tells regions, and ask that one from now on."""
        name = f"regions{next(_NUMBERS)}"
        with self._holding(query):
            self._database.run(f"CREATE TABLE {name} AS {query.text}", query.parameters)
        self.close()
        self._table, self._own, self._cuts = name, True, []

    def sums(self, regions: IntArray) -> RegionSums:
        """Sum up whole regions."""
        return self._summed(regions, "0")

    def histogram(self, regions: IntArray, position: int) -> RegionSums:
        """Sum up the combinations with each code of a quasi-identifier in each of some regions."""
        return self._summed(regions, code_sql(self._places[position]))

    def _summed(self, regions: IntArray, code: str) -> RegionSums:
        words = [_Sql.filled(f"{{}} AS c{place}", word) for place, word in enumerate(self._words)]
        rows = self._numbered(self._cuts, regions, [_Sql("n"), _Sql(f"{code} AS code"), *words])
        query = _Sql.filled(
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
        return self._sensitive([*self._cuts, *cuts], regions)

    def _sensitive(self, cuts: Sequence[RegionCut], regions: IntArray) -> SensitiveCounts:
        places = self._places[self._width :]
        codes = [_Sql(f"{code_sql(place)} AS s{position}") for position, place in enumerate(places)]
        keys = ", ".join(["region", *(f"s{position}" for position in range(len(places)))])
        rows = self._numbered(cuts, regions, [_Sql("n"), *codes])
        found = self._arrays(
            _Sql.filled(
                f"SELECT {keys}, sum(n)::BIGINT AS records FROM ({{}}) GROUP BY {keys} ORDER BY {keys}", rows
            ),
            regions,
        )
        return counts_by_values(found, len(places))

    def cut(self, cuts: Sequence[RegionCut]) -> None:
        """Cut regions in two."""
        self._cuts += cuts
        if len(self._cuts) > MOST_CUTS:
            self._write(self._regions(self._cuts, [_Sql(self._keys), _Sql("n")]))

    def fetch(self, regions: IntArray) -> RegionRows:
        """Return the combinations of some regions."""
        found = self._arrays(self._numbered(self._cuts, regions, [_Sql(self._keys), _Sql("n")]), regions)
        codes = unpacked(self._places, [found[name] for name in self._names])
        return RegionRows(codes, found["n"], found["region"])

    def close(self) -> None:
        """Drop the table with regions, if there is one; a second call does nothing."""
        if self._own:
            self._database.run(f"DROP TABLE {self._table}")
            self._own = False

    def _numbered(self, cuts: Sequence[RegionCut], regions: IntArray, told: Sequence[_Sql]) -> _Sql:
        """Return a query for what is told of the combinations of some regions, and for their region."""
        few = ", ".join(map(str, regions.tolist())) if len(regions) <= FEW else "SELECT number FROM asked"
        return _Sql.filled(f"SELECT * FROM ({{}}) WHERE region IN ({few})", self._regions(cuts, told))

    def _regions(self, cuts: Sequence[RegionCut], told: Sequence[_Sql]) -> _Sql:
        """Return a query for what is told of all combinations, and for their region after cuts."""
        columns = _Sql.filled(", ".join("{}" for _ in told), *told)
        region = self._region({own.region: own for own in cuts})
        found = _Sql.filled("SELECT {}, ({})::INTEGER AS region", columns, region)
        joins = "".join(
            f" JOIN {name} ON {name}.k = {code_sql(self._places[int(name.removeprefix('look'))])}"
            for name in found.tables
        )
        return _Sql.filled(f"{{}} FROM {self._table}{joins}", found)

    def _region(self, cuts: Mapping[int, RegionCut]) -> _Sql:
        """Return the region of a combination."""
        if not self._own:
            return self._side(0, cuts)
        sides = {side for own in cuts.values() for side in (own.left, own.left + 1)}
        roots = [number for number in cuts if number not in sides]
        if not roots:
            return _Sql("region")
        cases = (_Sql.filled(f"WHEN {number} THEN {{}}", self._side(number, cuts)) for number in roots)
        return _Sql.filled("CASE region " + "{} " * len(roots) + "ELSE region END", *cases)

    def _side(self, number: int, cuts: Mapping[int, RegionCut]) -> _Sql:
        """Return where a combination of a region comes to lie."""
        if number not in cuts:
            return _Sql(str(number))
        own = cuts[number]
        left = _looked_up(self._places, [own.position], own.goes_left, f"g{own.left}")
        sides = (self._side(side, cuts) for side in (own.left, own.left + 1))
        return _Sql.filled("CASE WHEN {} THEN {} ELSE {} END", left, *sides)

    def _holding(self, query: _Sql) -> ExitStack:
        """Let a query find its small tables."""
        stack = ExitStack()
        for name, columns in query.tables.items():
            stack.enter_context(self._database.holding(name, columns))
        return stack

    def _arrays(self, query: _Sql, regions: IntArray) -> dict[str, IntArray]:
        """Return what a query finds that is asked about some regions."""
        with self._holding(query), self._database.holding("asked", {"number": regions}):
            found = self._database.arrays(query.text, query.parameters)
        return {name: np.asarray(own).astype(np.int64, copy=False) for name, own in found.items()}


def _word(places: Sequence[Place], adds: Mapping[int, IntArray], name: str) -> _Sql:
    """Return the number that a combination is written as."""
    bundles: list[list[int]] = []
    for position in sorted(adds):
        if bundles and _few_together(places, [*bundles[-1], position]):
            bundles[-1].append(position)
        else:
            bundles.append([position])
    terms = []
    for positions in bundles:
        together = np.zeros(1, dtype=np.int64)
        for position in positions:
            together = (together[:, np.newaxis] + adds[position][np.newaxis]).ravel()
        terms.append(_looked_up(places, positions, together, name))
    return _Sql.filled(" + ".join("{}" for _ in terms), *terms)


def _few_together(places: Sequence[Place], positions: Sequence[int]) -> bool:
    """Tell whether columns are next to each other in one key, and have few combinations of codes."""
    first, last = positions[0], positions[-1]
    size = int(np.prod([places[position].size for position in positions], dtype=object))
    return last - first + 1 == len(positions) and places[first].word == places[last].word and size <= BUNDLE


def _looked_up(places: Sequence[Place], positions: Sequence[int], values: NDArray[Any], name: str) -> _Sql:
    """Return the value of the codes of some columns: of a parameter, or of a table where it is long.

    Parameters
    ----------
    values: of all combinations of their codes, shape (combinations,), int64 or bool.
    name: of a column of that table.
    """
    last = places[positions[-1]]
    if len(values) > BUNDLE and len(positions) == 1:
        return _Sql(f"look{positions[0]}.{name}", (), ((positions[0], name, values),))
    kind = "BOOLEAN" if values.dtype == np.bool_ else "BIGINT"
    code = f"((w{last.word} // {last.unit}) % {len(values)})"
    return _Sql(f"list_extract(?::{kind}[], {code} + 1)", (values.tolist(),))
