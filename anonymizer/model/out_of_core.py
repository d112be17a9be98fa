"""Interfaces to distinct rows that do not fit in memory: tables at generalization levels, and rows in pieces.

An engine counts the records at the levels that are requested, or returns every distinct row, some at a time,
for a search to store on disk.
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
"""Distinct rows that are returned at a time."""


@dataclass(frozen=True, eq=False)
class RowPiece:
    """Some distinct rows.

    Attributes
    ----------
    keys: whole numbers that together tell a row from all others, each of shape (rows,), int64.
    counts: records of each row, shape (rows,), int64, positive.
    """

    keys: tuple[IntArray, ...]
    counts: IntArray


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The region that each of some distinct rows is in; may lie on disk.

    Attributes
    ----------
    keys: as ``RowPiece`` has them, of region 0, then of region 1, and so on, each of shape (rows,), int64.
    rows: of each region, shape (regions,), int64.
    """

    keys: tuple[IntArray, ...]
    rows: IntArray

    def pieces(self) -> Iterator[tuple[tuple[IntArray, ...], IntArray]]:
        """Return keys and regions of the rows, a limited number at a time."""
        ends = np.cumsum(self.rows)
        for first in range(0, len(self.keys[0]), PIECE):
            last = min(first + PIECE, len(self.keys[0]))
            region = np.searchsorted(ends, np.arange(first, last), side="right")
            yield tuple(np.array(own[first:last]) for own in self.keys), region


class TableSource(ABC):
    """What an engine counts when it is asked.

    A value that is generalized stands in a table as the lowest code of its node: generalized further, it is
    published as all values of the node are, and only then may it be published.

    Attributes
    ----------
    folder: where a search may store what does not fit in memory; None for the system's folder of temporary
        files.
    """

    folder: Path | None

    @abstractmethod
    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of records told apart by their nodes at generalization levels.

        Its quasi-identifiers may be used from these levels on.

        Parameters
        ----------
        levels: one for each quasi-identifier, within what it allows.
        most: combinations that are wanted at most.

        Returns
        -------
        None where there are more.
        """

    @abstractmethod
    def records_in_small_classes(self, levels: Sequence[int], least: int) -> int:
        """Count the records in equivalence classes of fewer than some number of records.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        least: records of a class that is not small.
        """

    @property
    @abstractmethod
    def number(self) -> int:
        """How many distinct rows there are, told apart by their values."""

    @abstractmethod
    def pieces(self) -> Iterator[RowPiece]:
        """Return all distinct rows, told apart by their values, in any order, at most ``PIECE`` at a time."""

    @abstractmethod
    def codes(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes that keys stand for, shape (rows, columns), int32.

        Columns are the quasi-identifiers, then the sensitive attributes.
        """
