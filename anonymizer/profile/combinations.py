"""Combinations of columns: how many records are unique on them, and which columns depend on each other.

Pairs of columns are counted for their dependence: by the engine, or, if the records are in memory, by
bundles of columns. The table of two bundles contains the tables of all pairs between them, so the records are
counted once for many pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isqrt, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.relation import Relation
from anonymizer.model.arrays import IntArray, count_keys, group_keys
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.profile.spellings import EMPTY

CELLS = 1 << 22
"""Maximum number of cells in the table of a pair of columns."""

BUNDLED = 255
"""Maximum number of packed codes of a bundle: one bundle takes a byte a record, two take two."""

RECORDS_A_CELL = 8
"""Records per cell of the table of two bundles from which on summing it costs less than counting pairs."""

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Columns packed into one.

    Attributes
    ----------
    names: of the columns.
    widths: codes of each.
    codes: packed code of each record, shape (records,).
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    codes: Codes

    @property
    def width(self) -> int:
        """Number of packed codes."""
        return prod(self.widths)

    def single_columns(self) -> list[Bundle]:
        """Return a bundle for each column."""
        if len(self.names) == 1:
            return [self]
        found = []
        codes = self.codes
        for name, width in zip(self.names[::-1], self.widths[::-1], strict=True):
            codes, own = np.divmod(codes, codes.dtype.type(width))
            found.append(Bundle((name,), (width,), own))
        return found


def widest_bundle(records: int) -> int:
    """Return the maximum number of packed codes of a bundle of several columns.

    >>> widest_bundle(1_000_000), widest_bundle(800)
    (255, 10)
    """
    return min(BUNDLED, isqrt(records // RECORDS_A_CELL))


def bundles(widths: Mapping[str, int], most: int) -> list[tuple[str, ...]]:
    """Divide columns among few bundles of at most ``most`` packed codes; a wider column is a bundle alone.

    >>> bundles({"sex": 2, "age": 90, "race": 5, "region": 4}, 200)
    [('age', 'sex'), ('race', 'region')]
    """
    found: list[list[str]] = []
    sizes: list[int] = []
    for name in sorted(widths, key=lambda name: (-widths[name], name)):
        place = next((at for at, size in enumerate(sizes) if size * widths[name] <= most), len(sizes))
        if place == len(sizes):
            found.append([])
            sizes.append(1)
        found[place].append(name)
        sizes[place] *= widths[name]
    return [tuple(names) for names in found]


def pair_tables(
    widths: Mapping[str, int], codes_of: Callable[[str], Codes], most: int, cells: int = CELLS
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield every two columns with the table of their values, in no certain order of the pairs.

    Parameters
    ----------
    widths: number of codes of each column; the columns of a pair keep this order.
    codes_of: returns the code of each record in a column, shape (records,).
    most: maximum number of packed codes of a bundle of several columns.
    cells: maximum size of a table; larger pairs are left out. A table has shape (codes of the first column,
        codes of the second) and the number of records in each cell.
    """
    place = {name: number for number, name in enumerate(widths)}
    made = [_bundle(names, widths, codes_of) for names in bundles(widths, most)]
    for bundle in made:
        if len(bundle.names) > 1:
            counts = np.bincount(bundle.codes, minlength=bundle.width).reshape(bundle.widths)
            axes = range(len(bundle.names))
            for one, other in combinations(axes, 2):
                table = counts.sum(axis=tuple(axis for axis in axes if axis not in (one, other)))
                yield _in_order(place, bundle.names[one], bundle.names[other], table)
    for first, second in combinations(made, 2):
        fits = first.width * second.width <= min(most * most, cells)
        parts = (
            [(first, second)]
            if fits
            else [(a, b) for a in first.single_columns() for b in second.single_columns()]
        )
        for one_bundle, other_bundle in parts:
            if one_bundle.width * other_bundle.width <= cells:
                yield from _between(place, one_bundle, other_bundle)


def _bundle(names: Sequence[str], widths: Mapping[str, int], codes_of: Callable[[str], Codes]) -> Bundle:
    """Return columns packed into the narrowest integers that hold the codes."""
    own = tuple(widths[name] for name in names)
    codes = codes_of(names[0]).astype(np.min_scalar_type(prod(own)), copy=False)
    for name, width in zip(names[1:], own[1:], strict=True):
        codes = codes * codes.dtype.type(width) + codes_of(name).astype(codes.dtype, copy=False)
    return Bundle(tuple(names), own, codes)


def _between(
    place: Mapping[str, int], first: Bundle, second: Bundle
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield the tables of the pairs between two bundles."""
    cells = first.width * second.width
    keys = first.codes.astype(np.min_scalar_type(cells))
    keys *= keys.dtype.type(second.width)
    keys += second.codes.astype(keys.dtype, copy=False)
    counts = np.bincount(keys, minlength=cells).reshape(*first.widths, second.width)
    for axis, name in enumerate(first.names):
        others = tuple(each for each in range(len(first.names)) if each != axis)
        of_one = counts.sum(axis=others).reshape(-1, *second.widths)
        for number, other in enumerate(second.names):
            rest = tuple(each + 1 for each in range(len(second.names)) if each != number)
            yield _in_order(place, name, other, of_one.sum(axis=rest))


def _in_order(
    place: Mapping[str, int], one: str, other: str, table: IntArray
) -> tuple[tuple[str, str], IntArray]:
    """Return two columns in the order of ``place``, with the table transposed if needed."""
    return ((one, other), table) if place[one] < place[other] else ((other, one), table.T)


WIDEST = 20_000
"""Maximum number of distinct texts of a column that is paired with others; more identify records alone."""

RECORDS_A_COMBINED_CELL = 5
"""Minimum number of records per cell at which a measured dependence is more than chance."""

A_PAIR = 2_000
"""Cost of a pair of columns of any size, in records or cells that take as long to count."""

WORK = 150_000_000
"""Maximum cost of all pairs: records, cells and ``A_PAIR`` of each. Beyond it, columns are left out; it is
enough for all pairs of several hundred columns."""

A_STEP = 7
"""Cost of a record in the count of unique records on one more column, in the units of ``WORK``."""

KEPT = 1 << 28
"""Maximum number of bytes of the keys that are kept for the next count."""

FIRST = 1_000
"""Records that show for most pairs of columns that they are not in a one-to-one relation."""


class Pair(NamedTuple):
    """The dependence of two columns.

    Attributes
    ----------
    columns: their names.
    unique: records with a pair of values of their own.
    determined: Theil's uncertainty coefficient of the second column given the first, and of the first given
        the second: the share of its entropy that the other determines, 0 to 1. None if there are too few
        records to tell it from chance.
    """

    columns: tuple[str, str]
    unique: int
    determined: tuple[float, float] | None


class JointUniqueness(NamedTuple):
    """The uniqueness of records on several columns.

    Attributes
    ----------
    columns: number of columns.
    records: number of all records.
    unique: records with a combination of values of their own.
    in_small_classes: records in classes of fewer than ``k``.
    """

    columns: int
    records: int
    k: int
    unique: int
    in_small_classes: int


class UniquenessProfile:
    """Uniqueness and dependence of columns; the codes of each column are fetched once.

    Parameters
    ----------
    relation: open while this is in use.
    work: maximum cost of all pairs, as for ``WORK``.
    """

    def __init__(self, relation: Relation, work: int = WORK) -> None:
        self._relation = relation
        self._work = work
        self._codes: dict[str, NDArray[np.integer]] = {}
        self._kept: dict[str, NDArray[np.integer]] = {}
        self._widths: dict[str, int] = {}

    def pairs(self, columns: Sequence[ColumnFacts]) -> list[Pair]:
        """Return every two columns whose table has at most ``CELLS`` cells.

        Parameters
        ----------
        columns: none wider than ``WIDEST``; columns of the lowest entropy are left out if all cost too much.
        """
        ranked = sorted(columns, key=lambda column: (-column.entropy, column.name))
        names = {column.name for column in ranked[: self._affordable(ranked)]}
        kept = [name for name in self._relation.columns if name in names]
        found = {names: self._pair(names, cells) for names, cells in self._tables(kept)}
        return [found[names] for names in combinations(kept, 2) if names in found]

    def _affordable(self, ranked: Sequence[ColumnFacts]) -> int:
        """Return how many of the first columns can all be paired within the maximum cost."""
        most = isqrt(2 * self._work // A_PAIR) + 2
        sizes = np.array([column.distinct + 1 for column in ranked[:most]], dtype=np.float64)
        cells = np.outer(sizes, sizes)
        of_pairs = np.where(cells > CELLS, 0.0, cells + self._relation.rows) + A_PAIR
        work = np.tril(of_pairs, -1).sum(axis=1).cumsum()
        return int(np.searchsorted(work, self._work, side="right"))

    def joint(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return the uniqueness of the records on all of some columns."""
        counts = _sizes(*self._keys(names))
        unique = int(np.count_nonzero(counts == 1))
        return JointUniqueness(len(names), self._relation.rows, k, unique, int(counts[counts < k].sum()))

    def _keys(self, names: Sequence[str]) -> tuple[IntArray, int]:
        """Return a key for each record, equal for equal texts in some columns, and a limit of the keys."""
        keys = np.zeros(self._relation.rows, dtype=np.int64)
        size = 1
        for name in names:
            codes = self._keys_of(name)
            width = self._widths.get(name) or int(codes.max()) + 1
            if size * width >= 2**62:
                keys, distinct = group_keys(keys, size)
                size = len(distinct)
            keys *= width
            keys += codes
            size *= width
        return keys, size

    def with_each(self, names: Sequence[str], others: Sequence[str]) -> dict[str, int]:
        """Return for each of other columns the number of unique records on ``names`` and that column.

        Columns are left out if all cost too much.
        """
        if not names or self._relation.rows * len(others) > self._work // A_STEP:
            return {}
        keys, distinct = group_keys(*self._keys(names))
        found = {}
        for name in others:
            codes = self._keys_of(name)
            width = int(codes.max()) + 1
            sizes = _sizes(keys.astype(np.int64) * width + codes, len(distinct) * width)
            found[name] = int(np.count_nonzero(sizes == 1))
        return found

    def fetch(self, names: Collection[str]) -> None:
        """Read the keys of columns in the order of the input, in which reading them takes fewest queries."""
        for name in self._relation.columns:
            if name in names:
                self._keys_of(name)

    def one_to_one(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another with as many values."""
        return self._each_with_one(one.name, other.name)

    def determines(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another, and not by chance."""
        differing = 1 - other.largest / max(other.present, 1)
        enough = (one.present - one.distinct) * differing >= COINCIDENCES
        return enough and one.distinct > other.distinct > 1 and self._each_with_one(one.name, other.name)

    def tells(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another as a key does.

        Neither by chance among the values that repeat, nor because the other one has bands of its values, as
        tax classes are of incomes.
        """
        if not self.determines(one, other):
            return False
        first, second = self._relation.codes(one.name), self._keys_of(other.name)
        own = second[np.bincount(first)[first] > 1]
        coinciding = len(own) - (one.distinct - one.singles)
        if not len(own) or coinciding * (1 - np.bincount(own).max() / len(own)) < COINCIDENCES:
            return False
        texts = [text for text, _ in self._relation.dictionary(one.name)]
        place = np.empty(len(texts), dtype=np.int64)
        place[sorted(range(len(texts)), key=lambda code: _by_size(one, texts[code]))] = np.arange(len(texts))
        ordered = second[np.argsort(place[first], kind="stable")]
        runs = 1 + np.count_nonzero(ordered[1:] != ordered[:-1])
        return bool(runs > RUNS * other.distinct)

    def _each_with_one(self, one: str, other: str) -> bool:
        first, second = self._keys_of(one), self._keys_of(other)
        for part in (slice(FIRST), slice(None)):
            partner = np.zeros(int(first.max()) + 1, dtype=second.dtype)
            partner[first[part]] = second[part]
            if not np.array_equal(partner[first[part]], second[part]):
                return False
        return True

    def equal(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether two columns have the same text in every record."""
        if one.values != other.values:
            return False
        return bool(np.array_equal(self._keys_of(one.name), self._keys_of(other.name)))

    def _keys_of(self, name: str) -> NDArray[np.integer]:
        """Return an integer for each record, equal for equal texts."""
        found = self._codes.get(name, self._kept.get(name))
        if found is not None:
            return found
        keys = self._relation.profiling.keys(name)
        narrow = np.min_scalar_type(int(keys.max()))
        if sum(each.nbytes for each in self._kept.values()) + len(keys) * narrow.itemsize <= KEPT:
            keys = self._kept[name] = keys.astype(narrow, copy=False)
        return keys

    def _of(self, name: str) -> NDArray[np.integer]:
        if name not in self._codes:
            codes = self._relation.codes(name) if name not in self._kept else self._kept.pop(name)
            self._widths[name] = int(codes.max()) + 1
            self._codes[name] = codes.astype(np.min_scalar_type(self._widths[name]), copy=False)
        return self._codes[name]

    def _pair(self, names: tuple[str, str], cells: IntArray) -> Pair:
        enough = self._relation.rows >= RECORDS_A_COMBINED_CELL * cells.size
        return Pair(names, int(np.count_nonzero(cells == 1)), _uncertainty(cells) if enough else None)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with their table, if it has at most ``CELLS`` cells."""
        for name in names:
            self._of(name)
        widths = {name: self._widths[name] for name in names}
        return pair_tables(widths, self._of, widest_bundle(self._relation.rows))


def _by_size(column: ColumnFacts, text: str | None) -> tuple[float, str]:
    number = column.numerals.number(text) if text and column.type.numeric else None
    return (-np.inf if number is None else number, text or EMPTY)


def _uncertainty(cells: IntArray) -> tuple[float, float]:
    """Return the uncertainty coefficients of columns given rows and of rows given columns of a table."""
    of_first, of_second = _entropy(cells.sum(axis=1)), _entropy(cells.sum(axis=0))
    shared = max(of_first + of_second - _entropy(cells.ravel()), 0.0)
    return _share(shared, of_second), _share(shared, of_first)


def _sizes(keys: IntArray, size: int) -> IntArray:
    """Return the sizes of the classes of equal keys, all positive, in no certain order; uses up the keys."""
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
    """Return a share of an entropy, at most 1 despite rounding; 0 of no entropy."""
    return min(part / whole, 1.0) if whole > 1e-12 else 0.0


class CountedCombinations(UniquenessProfile):
    """Uniqueness and dependence of columns, counted by an engine.

    Parameters
    ----------
    relation, work: as for ``UniquenessProfile``.
    """

    def joint(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return the uniqueness of the records on all of some columns."""
        counted = self._relation.profiling.in_small_classes(names, k)
        return JointUniqueness(len(names), self._relation.rows, k, *counted)

    def fetch(self, names: Collection[str]) -> None:
        """Read nothing: the engine counts every pair."""

    def determines(self, one: ColumnFacts, other: ColumnFacts) -> bool:  # noqa: ARG002
        """Return False: each pair would be a query over all records."""
        return False

    def with_each(self, names: Sequence[str], others: Sequence[str]) -> dict[str, int]:  # noqa: ARG002
        """Return nothing: each column would be a query over all records."""
        return {}

    def one_to_one(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another with as many values."""
        groups = self._relation.group_counts((one.name, other.name))
        return all(len(np.unique(groups.codes[:, column])) == len(groups.codes) for column in (0, 1))

    def equal(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether two columns have the same text in every record."""
        if one.values != other.values:
            return False
        groups = self._relation.group_counts((one.name, other.name))
        return groups.texts(0) == groups.texts(1)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with their table, if it has at most ``CELLS`` cells."""
        widths = {name: len(self._relation.dictionary(name)) for name in names}
        for one, other in combinations(names, 2):
            if widths[one] * widths[other] <= CELLS:
                found = self._relation.group_counts((one, other))
                cells: IntArray = np.zeros((widths[one], widths[other]), dtype=np.int64)
                cells[found.codes[:, 0], found.codes[:, 1]] = found.counts
                yield (one, other), cells


def combinations_of(relation: Relation) -> UniquenessProfile:
    """Return the profile of a relation; an ordered one is counted fastest by its codes."""
    return UniquenessProfile(relation) if relation.ordered else CountedCombinations(relation)


RUNS = 2
"""A column with more runs than this for each of its values, along another sorted column, is no band of it."""

COINCIDENCES = 20
"""Minimum number of records that share their value with others, for a one-to-one relation to be no chance."""
