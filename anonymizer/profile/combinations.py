"""How far columns single people out together, and what they tell about each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.relation import Relation
from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count_keys, group_keys
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.pair_tables import CELLS, pair_tables, widest_bundle

WIDEST = 20_000
"""Distinct texts of a column up to which it is paired with others; more of them tell people apart alone."""

RECORDS_A_COMBINED_CELL = 5
"""Records per pair of values from which on their dependence is more than chance."""

A_PAIR = 2_000
"""Records or cells that take as long to count as one more pair of columns does, however few it has."""

WORK = 150_000_000
"""Records, cells and ``A_PAIR``, summed over pairs of columns, that are counted; beyond it, columns are left
out: pairs of several hundred columns at most."""


@dataclass(frozen=True)
class Pair:
    """Two columns together.

    Attributes
    ----------
    columns: their names.
    alone: records that no other has the same two values as.
    told: of the second given the first, and of the first given the second: the share of its entropy that
        the other column tells (Theil's uncertainty coefficient), 0 to 1; None where there are so few records
        that chance would look like it.
    """

    columns: tuple[str, str]
    alone: int
    told: tuple[float, float] | None


@dataclass(frozen=True)
class JointUniqueness:
    """Some columns at once.

    Attributes
    ----------
    columns: how many.
    records: all of them.
    alone: records that no other has the same values as.
    below: records in classes of fewer than ``k``.
    """

    columns: int
    records: int
    k: int
    alone: int
    below: int


class UniquenessProfile:
    """Counts of combinations of columns; each column's codes of all records are fetched once.

    Parameters
    ----------
    relation: open as long as this is in use.
    work: records, cells and ``A_PAIR``, summed over pairs of columns, that are counted at most.
    """

    def __init__(self, relation: Relation, work: int = WORK) -> None:
        self._relation = relation
        self._work = work
        self._codes: dict[str, NDArray[np.integer]] = {}
        self._widths: dict[str, int] = {}

    def pairs(self, columns: Sequence[ColumnFacts]) -> list[Pair]:
        """Return what every two of some columns show, for those that can be tabulated.

        Parameters
        ----------
        columns: none wider than ``WIDEST``; those of the lowest entropy are left out where there is too much
            to count.
        """
        ranked = sorted(columns, key=lambda column: (-column.entropy, column.name))
        names = {column.name for column in ranked[: self._affordable(ranked)]}
        kept = [name for name in self._relation.columns if name in names]
        found = {names: self._pair(names, cells) for names, cells in self._tables(kept)}
        return [found[names] for names in combinations(kept, 2) if names in found]

    def _affordable(self, ranked: Sequence[ColumnFacts]) -> int:
        """Return how many of some columns, from the first on, can be paired with each other."""
        most = isqrt(2 * self._work // A_PAIR) + 2
        sizes = np.array([column.distinct + 1 for column in ranked[:most]], dtype=np.float64)
        cells = np.outer(sizes, sizes)
        of_pairs = np.where(cells > CELLS, 0.0, cells + self._relation.rows) + A_PAIR
        work = np.tril(of_pairs, -1).sum(axis=1).cumsum()
        return int(np.searchsorted(work, self._work, side="right"))

    def together(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return how many records some columns single out together."""
        keys = np.zeros(self._relation.rows, dtype=np.int64)
        size = 1
        for name in names:
            codes = self._codes[name] if name in self._codes else self._relation.keys(name)
            width = self._widths.get(name) or int(codes.max()) + 1
            if size * width >= 2**62:
                keys, distinct = group_keys(keys, size)
                size = len(distinct)
            keys *= width
            keys += codes
            size *= width
        counts = _sizes(keys, size)
        alone = int(np.count_nonzero(counts == 1))
        return JointUniqueness(len(names), len(keys), k, alone, int(counts[counts < k].sum()))

    def _of(self, name: str) -> NDArray[np.integer]:
        if name not in self._codes:
            codes = self._relation.codes(name)
            self._widths[name] = int(codes.max()) + 1
            self._codes[name] = codes.astype(np.min_scalar_type(self._widths[name]), copy=False)
        return self._codes[name]

    def _pair(self, names: tuple[str, str], cells: IntArray) -> Pair:
        enough = self._relation.rows >= RECORDS_A_COMBINED_CELL * cells.size
        return Pair(names, int(np.count_nonzero(cells == 1)), _told(cells) if enough else None)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with the records of each pair of values, unless these are too many."""
        for name in names:
            self._of(name)
        widths = {name: self._widths[name] for name in names}
        return pair_tables(widths, self._of, widest_bundle(self._relation.rows))


def _told(cells: IntArray) -> tuple[float, float]:
    """Return what rows tell of columns and columns of rows, counts given as a table."""
    of_first, of_second = _entropy(cells.sum(axis=1)), _entropy(cells.sum(axis=0))
    shared = max(of_first + of_second - _entropy(cells.ravel()), 0.0)
    return _share(shared, of_second), _share(shared, of_first)


def _sizes(keys: IntArray, size: int) -> IntArray:
    """Return the sizes of the classes of equal keys, none 0, in no certain order; uses up the keys."""
    if size <= CELLS:
        counts = np.bincount(keys)
        return counts[counts > 0].astype(np.int64, copy=False)
    return count_keys(keys)[1]


def _entropy(counts: IntArray) -> float:
    """Return the entropy of counts in bits."""
    present = counts[counts > 0].astype(np.float64)
    total = float(present.sum())
    return float(np.log2(total) - (present @ np.log2(present)) / total)


def _share(part: float, whole: float) -> float:
    """Return a share of an entropy, 0 of none; rounding makes no more than all of it."""
    return min(part / whole, 1.0) if whole > 1e-12 else 0.0
