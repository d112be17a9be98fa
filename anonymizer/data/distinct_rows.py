"""The distinct rows of coded columns with their counts, in memory or in an engine.

Codes are packed into keys, in this process as in an engine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import SPACE, Packing, add_up, count_keys
from anonymizer.model.out_of_core import PIECE, RowPiece
from anonymizer.system import Closing


class DistinctRows(Closing):
    """The distinct combinations of the codes of some columns, each with the number of its records.

    A frequency table that need not be in memory; to be closed.

    Attributes
    ----------
    sizes: number of codes of each column.
    """

    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def number(self) -> int:
        """How many distinct combinations there are; counted exactly, at the first question."""

    @abstractmethod
    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return them into memory, in lexicographic order.

        Returns
        -------
        Codes, shape (combinations, columns), int32, and records of each, shape (combinations,), int64.
        """

    @abstractmethod
    def rolled_up(self, codes: Sequence[CodeArray | None]) -> DistinctRows:
        """Return the distinct combinations of coarser codes, counted anew.

        Parameters
        ----------
        codes: for each column the new code of each code, shape (size,), int32; in the same range as before;
            None for a column that stays as it is.
        """

    @abstractmethod
    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Count the records in groups of fewer than some number of records.

        Parameters
        ----------
        columns: how many columns, from the first on, tell the groups.
        least: records of a group that is not small.
        """

    @abstractmethod
    def pieces(self) -> Iterator[RowPiece]:
        """Return all of them, in any order, at most ``PIECE`` at a time, with keys as ``packed`` has them."""


class InMemoryRows(DistinctRows):
    """Combinations in memory.

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
        """How many distinct combinations there are."""
        return len(self._counts)

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return them."""
        return self._codes, self._counts

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> InMemoryRows:
        """Return the distinct combinations of coarser codes, counted anew."""
        packing = Packing(self.number)
        for place, (new, size) in enumerate(zip(codes, self.sizes, strict=True)):
            own = self._codes[:, place]
            packing.add(own if new is None else new[own], size)
        distinct, counts = add_up(packing.take_keys(), self._counts, packing.space)
        return InMemoryRows(packing.unpack(distinct), counts, self.sizes)

    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Count the records in groups of fewer than some number of records."""
        packing = Packing(self.number)
        for place, size in enumerate(self.sizes[:columns]):
            packing.add(self._codes[:, place], size)
        _, sizes = add_up(packing.take_keys(), self._counts, packing.space)
        return int(sizes[sizes < least].sum())

    def pieces(self) -> Iterator[RowPiece]:
        """Return all of them, some at a time."""
        places = places_of(self.sizes)
        for first in range(0, self.number, PIECE):
            rows = slice(first, first + PIECE)
            yield RowPiece(tuple(packed(places, self._codes[rows])), self._counts[rows])

    def close(self) -> None:
        """Nothing is to be given back."""


def counted_keys(packing: Packing, sizes: Sequence[int]) -> InMemoryRows:
    """Count the packed keys of records in memory; nothing can be added to them any more.

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
    word: which key.
    unit: what the code is multiplied by.
    size: number of codes.
    """

    word: int
    unit: int
    size: int


def places_of(sizes: Sequence[int]) -> tuple[Place, ...]:
    """Return places for columns of codes, so that keys sort as the rows of codes do."""
    words: list[list[int]] = [[]]
    space = 1
    for size in sizes:
        if space * max(size, 1) >= SPACE:
            words.append([])
            space = 1
        words[-1].append(max(size, 1))
        space *= max(size, 1)
    places = []
    for word, own in enumerate(words):
        units = [int(np.prod(own[place + 1 :], dtype=object)) for place in range(len(own))]
        places += [Place(word, unit, size) for unit, size in zip(units, own, strict=True)]
    return tuple(places)


def names_of(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the names of the keys in SQL: w0, w1, …"""
    return tuple(f"w{word}" for word in range(places[-1].word + 1))


def packed(places: Sequence[Place], codes: CodeArray) -> list[IntArray]:
    """Return the keys of rows of codes, each of shape (rows,), int64."""
    keys: list[IntArray] = [np.zeros(len(codes), dtype=np.int64) for _ in names_of(places)]
    for place, column in zip(places, codes.T, strict=True):
        keys[place.word] += column.astype(np.int64) * place.unit
    return keys


def unpacked(places: Sequence[Place], keys: Sequence[IntArray]) -> CodeArray:
    """Return the codes of some rows, shape (rows, columns), int32, each column in one piece of memory."""
    codes = np.empty((len(places), len(keys[0])), dtype=np.int32)
    for column, place in enumerate(places):
        codes[column] = keys[place.word] // place.unit % place.size
    return codes.T
