"""Interfaces to distinct rows that do not fit in memory: tables at generalization levels, and rows in pieces.

An engine counts the records at requested levels, or returns all distinct rows in pieces for a search to
store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.table import Table

PIECE = 1 << 18
"""Maximum number of distinct rows in a piece."""


@dataclass(frozen=True, eq=False)
class RowPiece:
    """A piece of the distinct rows.

    Attributes
    ----------
    keys: whole numbers that together identify a row, each of shape (rows,), int64.
    counts: records of each row, shape (rows,), int64, positive.
    """

    keys: tuple[IntArray, ...]
    counts: IntArray


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The region of distinct rows; may be on disk.

    Attributes
    ----------
    keys: as in ``RowPiece``, of region 0, then of region 1, and so on, each of shape (rows,), int64.
    rows: number of rows of each region, shape (regions,), int64.
    """

    keys: tuple[IntArray, ...]
    rows: IntArray

    def pieces(self) -> Iterator[tuple[tuple[IntArray, ...], IntArray]]:
        """Yield keys and regions of the rows in pieces."""
        ends = np.cumsum(self.rows)
        for first in range(0, len(self.keys[0]), PIECE):
            last = min(first + PIECE, len(self.keys[0]))
            region = np.searchsorted(ends, np.arange(first, last), side="right")
            yield tuple(np.array(own[first:last]) for own in self.keys), region


class TableSource(ABC):
    """Tables at generalization levels that an engine counts on demand.

    In such a table the lowest code of a node represents all values of the node. Values may only be published
    at these levels or above.

    Attributes
    ----------
    folder: for a search's files; None for the system's folder of temporary files.
    """

    folder: Path | None

    @abstractmethod
    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of distinct rows at generalization levels, which are its minimum levels.

        Parameters
        ----------
        levels: one for each quasi-identifier, between its minimum and maximum.
        most: maximum number of rows.

        Returns
        -------
        The table, None if it has more rows.
        """

    @abstractmethod
    def records_in_small_classes(self, levels: Sequence[int], least: int, unit: str | None = None) -> int:
        """Return the number of records in small equivalence classes.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        least: records, or units, of the smallest class that is not small.
        unit: what is counted; None for records.
        """

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of distinct rows at level 0."""

    @abstractmethod
    def pieces(self) -> Iterator[RowPiece]:
        """Return all distinct rows at level 0, in any order, in pieces of at most ``PIECE`` rows."""

    @abstractmethod
    def codes(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes of keys, shape (rows, columns), int32.

        Columns are the quasi-identifiers, then the sensitive attributes.
        """
