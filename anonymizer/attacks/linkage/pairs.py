"""Pairs of original and masked records, and their gaps to the true match.

Only the pairs are kept whose masked record is near the original under some weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.linkage.families import Family
from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

KEPT = 12_000_000
"""Maximum number of gap values in memory; if there are more, they are computed at each use."""
BLOCK = 2_000_000
"""Numbers in one block."""
TIE = 1e-12
"""Squared distances that differ by at most this are equal."""


class Pairs:
    """Original record i belongs to masked record i; further masked records have no original.

    A *gap* of original i and masked j holds the features of the pair (i, j) less those of (i, i): with
    weights w, record i is linked correctly iff ``gap @ w`` is above ``TIE`` for every j other than i.

    Parameters
    ----------
    original: shape (records, attributes), finite, in the units of the comparison.
    masked: shape (at least as many records, attributes), in the same units.
    family: of the distances.

    Raises
    ------
    InputError: the shapes do not fit together, or a number is missing or infinite.
    """

    def __init__(self, original: FloatArray, masked: FloatArray, family: Family) -> None:
        check(original, masked)
        self.original, self.masked, self.family = original, masked, family
        self.records = len(original)
        size = len(masked) * len(family.members)
        step = max(BLOCK // size, 1)
        self._slices = [slice(start, start + step) for start in range(0, self.records, step)]
        self._kept: list[FloatArray] | None = None
        if size * self.records <= KEPT:
            self._kept = [self._gaps(rows) for rows in self._slices]

    def _gaps(self, rows: slice) -> FloatArray:
        """Return the gaps of some originals with all masked records, shape (rows, masked, weights)."""
        own = self.family.features(self.original[rows] - self.masked[: self.records][rows])
        all_pairs = self.family.features(self.original[rows, None, :] - self.masked[None, :, :])
        gaps: FloatArray = all_pairs - own[:, None, :]
        return gaps

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the originals in blocks with their gaps, shape (rows, masked, weights)."""
        for number, rows in enumerate(self._slices):
            yield rows, self._gaps(rows) if self._kept is None else self._kept[number]

    def margins(self, weights: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield blocks of originals with their margins: gaps by weights, infinite for the true match.

        Parameters
        ----------
        weights: shape (weights,).
        """
        for rows, gaps in self.blocks():
            margins = gaps @ weights
            margins[np.arange(len(margins)), np.arange(self.records)[rows]] = np.inf
            yield rows, margins

    def right(self, weights: FloatArray) -> BoolArray:
        """Return which originals are nearest to their true match alone, shape (records,), bool."""
        right = np.empty(self.records, dtype=np.bool_)
        for rows, margins in self.margins(weights):
            right[rows] = margins.min(axis=1) > TIE
        return right

    def gaps_of(self, record: IntArray, masked: IntArray) -> FloatArray:
        """Return the gaps of some pairs, shape (pairs, weights)."""
        features = self.family.features
        found: FloatArray = features(self.original[record] - self.masked[masked]) - features(
            self.original[record] - self.masked[record]
        )
        return found

    def never_linkable(self) -> BoolArray:
        """Return which originals no weights link correctly, shape (records,), bool.

        Under all weights another masked record is at least as near, such as a duplicate of the true match.
        """
        never = np.empty(self.records, dtype=np.bool_)
        for rows, gaps in self.blocks():
            most = -self.family.least(-gaps.reshape(-1, gaps.shape[2])).reshape(gaps.shape[:2])
            most[np.arange(len(most)), np.arange(self.records)[rows]] = np.inf
            never[rows] = (most <= TIE).any(axis=1)
        return never


def check(original: FloatArray, masked: FloatArray) -> None:
    """Raise an error for arrays that cannot be compared.

    Raises
    ------
    InputError: their shapes do not fit together, or a number is missing or infinite.
    """
    shapes = f"{original.shape} and {masked.shape}"
    if original.ndim != 2 or masked.ndim != 2 or original.shape[1] != masked.shape[1]:
        raise InputError(
            f"linkage: arrays of shape {shapes}; accepted: two "
            "arrays of two dimensions with the same number of columns"
        )
    if not original.size or len(masked) < len(original):
        raise InputError(f"linkage: arrays of shape {shapes}; accepted: a masked record for each original")
    if not (np.isfinite(original).all() and np.isfinite(masked).all()):
        raise InputError("linkage: a value is missing or infinite; accepted: finite numbers")


def deviations(original: FloatArray) -> FloatArray:
    """Return the standard deviation of each attribute, 1 if it is constant, shape (attributes,)."""
    # Rounding can make the deviation of equal numbers nonzero.
    varies = original.max(axis=0) > original.min(axis=0)
    return np.where(varies, original.std(axis=0), 1.0)


@dataclass(frozen=True, eq=False)
class Rows:
    """A selection of gaps with at least one per original, in the order of the originals.

    Attributes
    ----------
    record: the original of each row, shape (rows,), int64, ascending.
    masked: the masked record of each row, shape (rows,), int64.
    gaps: shape (rows, weights), float64.
    starts: first row of each original, shape (records,), int64.
    """

    record: IntArray
    masked: IntArray
    gaps: FloatArray
    starts: IntArray

    @staticmethod
    def of(pairs: Pairs, chosen: BoolArray) -> Rows:
        """Return the rows of the chosen pairs, shape (records, masked records)."""
        record, masked = np.nonzero(chosen)
        starts = np.searchsorted(record, np.arange(pairs.records))
        return Rows(record, masked, pairs.gaps_of(record, masked), starts)

    def worst(self, weights: FloatArray) -> FloatArray:
        """Return the least margin of each original, shape (records,)."""
        worst: FloatArray = np.minimum.reduceat(self.gaps @ weights, self.starts)
        return worst

    def right(self, weights: FloatArray) -> BoolArray:
        """Return which originals have positive margins in all rows, shape (records,), bool."""
        return self.worst(weights) > TIE


class Chosen:
    """A growing set of selected pairs.

    Attributes
    ----------
    mask: shape (records, masked records), bool.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self.mask = np.zeros((pairs.records, len(pairs.masked)), dtype=np.bool_)

    def add_nearest(self, weights: FloatArray, number: int) -> None:
        """Add the nearest masked records of each original, without the true match.

        Parameters
        ----------
        weights: of several distances, shape (distances, weights).
        number: of masked records for each original and distance.
        """
        others = self.mask.shape[1] - 1
        for rows, gaps in self._pairs.blocks():
            size = len(gaps)
            margins = gaps @ weights.T
            local = np.arange(size)
            margins[local, local + rows.start] = np.inf
            nearest = np.argpartition(margins, min(number, others) - 1, axis=1)[:, : min(number, others)]
            self.mask[(local + rows.start)[:, None, None], nearest] = True
        own = np.arange(self._pairs.records)
        self.mask[own, own] = False

    def rows(self) -> Rows:
        """Return the rows of all chosen pairs."""
        return Rows.of(self._pairs, self.mask)
