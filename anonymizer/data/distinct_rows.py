"""The distinct rows of coded columns with their counts, in memory or in an engine.

Codes are packed into keys, in this process as in an engine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

import numpy as np

from anonymizer.errors import AuditFailed
from anonymizer.model.arrays import SPACE, CodeArray, IntArray, Packing, add_up, count_keys, numbered
from anonymizer.model.out_of_core import PIECE, RowPiece
from anonymizer.model.units import Units
from anonymizer.system import Closing


@dataclass(frozen=True, eq=False)
class RowUnits:
    """The units of distinct rows, which are given by their keys.

    Attributes
    ----------
    keys: of rows with units that are alone there, as in ``RowPiece``, each of shape (rows,), int64.
    alone: number of these units, shape (rows,), int64.
    paired: keys of the row of each pair of a row and another unit, each of shape (pairs,), int64.
    units: number of the unit of each pair, shape (pairs,), int64, from 0.
    """

    keys: tuple[IntArray, ...]
    alone: IntArray
    paired: tuple[IntArray, ...]
    units: IntArray

    def of_rows(self, codes: CodeArray, sizes: Sequence[int]) -> Units:
        """Return the units of distinct rows of codes, shape (rows, columns); every row with units is one."""
        known = KeyWords(sizes).pack(codes)
        alone = np.zeros(len(codes), dtype=np.int64)
        alone[_places(known, self.keys)] = self.alone
        items = _places(known, self.paired)
        order = np.argsort(items, kind="stable")
        return Units(alone, items[order], self.units[order], int(self.units.max(initial=-1)) + 1 or 1)


def _places(known: Sequence[IntArray], keys: Sequence[IntArray]) -> IntArray:
    """Return the place of keys among distinct ones, shape (keys,), int64.

    Raises
    ------
    AuditFailed: a key is not among them.
    """
    number = len(known[0])
    rows = number + len(keys[0])
    groups, first = numbered((np.concatenate(pair) for pair in zip(known, keys, strict=True)), rows)
    found: IntArray = first[groups[number:]]
    if (found >= number).any():
        raise AuditFailed("the engine returned units in distinct rows that are missing from its counts")
    return found


@dataclass(frozen=True)
class UnitFacts:
    """The units of all records.

    Attributes
    ----------
    units: number of units, without records that are units of their own.
    without: number of these records.
    most: records of the unit that has most.
    """

    units: int
    without: int
    most: int


class StoredUnits(Closing):
    """The units of distinct rows that an engine stores; to be closed."""

    @abstractmethod
    def fetch(self) -> RowUnits:
        """Return the units."""


class DistinctRows(Closing):
    """A frequency table that need not be in memory: distinct rows of codes with their records; to be closed.

    Attributes
    ----------
    sizes: number of codes of each column.
    units: of the rows, by name; empty where none are counted.
    """

    sizes: tuple[int, ...]
    units: Mapping[str, StoredUnits] = MappingProxyType({})

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of distinct rows, exact, counted when first used."""

    @abstractmethod
    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return the codes, sorted, shape (rows, columns), int32, and their records, shape (rows,), int64."""

    @abstractmethod
    def rolled_up(self, codes: Sequence[CodeArray | None]) -> DistinctRows:
        """Return the distinct rows of coarser codes.

        Parameters
        ----------
        codes: for each column the new code of each code, shape (size,), int32, in the same range; None for an
            unchanged column.
        """

    @abstractmethod
    def records_in_small_groups(self, columns: int, least: int, unit: str | None = None) -> int:
        """Return the number of records in small groups.

        Parameters
        ----------
        columns: number of the first columns, which define the groups.
        least: records, or units, of the smallest group that is not small.
        unit: what is counted; None for records.
        """

    @abstractmethod
    def pieces(self) -> Iterator[RowPiece]:
        """Yield all of them, in any order, at most ``PIECE`` at a time, with the keys of ``KeyWords``."""


class InMemoryRows(DistinctRows):
    """Distinct rows in memory.

    Parameters
    ----------
    codes, counts: as ``fetch`` returns them.
    """

    def __init__(self, codes: CodeArray, counts: IntArray, sizes: Sequence[int]) -> None:
        self._codes = codes
        self._counts = counts
        self.sizes = tuple(sizes)

    @property
    def number(self) -> int:
        """Number of distinct rows."""
        return len(self._counts)

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return the codes and their records."""
        return self._codes, self._counts

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> InMemoryRows:
        """Return the distinct rows of coarser codes."""
        packing = Packing(self.number)
        for place, (new, size) in enumerate(zip(codes, self.sizes, strict=True)):
            own = self._codes[:, place]
            packing.add(own if new is None else new[own], size)
        distinct, counts = add_up(packing.take_keys(), self._counts, packing.space)
        return InMemoryRows(packing.unpack(distinct), counts, self.sizes)

    def records_in_small_groups(self, columns: int, least: int, unit: str | None = None) -> int:
        """Return the number of records in small groups; units are not stored with rows in memory."""
        assert unit is None, "units of rows in memory are counted there"
        packing = Packing(self.number)
        for place, size in enumerate(self.sizes[:columns]):
            packing.add(self._codes[:, place], size)
        _, sizes = add_up(packing.take_keys(), self._counts, packing.space)
        return int(sizes[sizes < least].sum())

    def pieces(self) -> Iterator[RowPiece]:
        """Yield all of them."""
        keys = KeyWords(self.sizes)
        for first in range(0, self.number, PIECE):
            rows = slice(first, first + PIECE)
            yield RowPiece(tuple(keys.pack(self._codes[rows])), self._counts[rows])

    def close(self) -> None:
        """Do nothing."""


def counted_keys(packing: Packing, sizes: Sequence[int]) -> InMemoryRows:
    """Return the distinct rows of packed records in memory; the packing cannot be used any more.

    Parameters
    ----------
    sizes: number of codes of each column that was packed.
    """
    distinct, counts = count_keys(packing.take_keys())
    return InMemoryRows(packing.unpack(distinct), counts, sizes)


@dataclass(frozen=True)
class Place:
    """Where the code of a column is in the packed keys.

    Attributes
    ----------
    word: number of the key.
    unit: what the code is multiplied by.
    size: number of codes.
    """

    word: int
    unit: int
    size: int


class KeyWords:
    """Columns of codes packed into one or more keys of 63 bits, which sort as the rows of codes do.

    Parameters
    ----------
    sizes: number of codes of each column.

    Attributes
    ----------
    places: of each column in the keys.
    names: of the keys in SQL: w0, w1, …
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        words: list[list[int]] = [[]]
        for size in sizes:
            if prod(words[-1]) * max(size, 1) >= SPACE:
                words.append([])
            words[-1].append(max(size, 1))
        self.places = tuple(
            Place(word, prod(own[place + 1 :]), size)
            for word, own in enumerate(words)
            for place, size in enumerate(own)
        )
        self.names = tuple(f"w{word}" for word in range(len(words)))

    def pack(self, codes: CodeArray) -> list[IntArray]:
        """Return the keys of rows of codes, each of shape (rows,), int64."""
        keys: list[IntArray] = [np.zeros(len(codes), dtype=np.int64) for _ in self.names]
        for place, column in zip(self.places, codes.T, strict=True):
            keys[place.word] += column.astype(np.int64) * place.unit
        return keys

    def unpack(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes of rows, shape (rows, columns), int32, each column in one piece of memory."""
        codes = np.empty((len(self.places), len(keys[0])), dtype=np.int32)
        for column, place in enumerate(self.places):
            codes[column] = keys[place.word] // place.unit % place.size
        return codes.T

    def packed_sql(self, codes: Sequence[str]) -> list[str]:
        """Return SQL for each key, given SQL for the code of each column."""
        terms: list[list[str]] = [[] for _ in self.names]
        for place, code in zip(self.places, codes, strict=True):
            terms[place.word].append(f"CAST({code} AS BIGINT) * {place.unit}")
        return [f"{' + '.join(own)} AS {name}" for own, name in zip(terms, self.names, strict=True)]

    def code_sql(self, column: int, division: str = "//") -> str:
        """Return SQL for the code of a column, given how the engine writes the division of whole numbers."""
        place = self.places[column]
        return f"(({self.names[place.word]} {division} {place.unit}) % {place.size})"
