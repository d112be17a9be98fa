"""SQL that looks up what the codes in packed keys stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_places import code_sql
from anonymizer.engines.places import Place
from anonymizer.model.arrays import BoolArray, IntArray

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
