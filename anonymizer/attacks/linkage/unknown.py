"""Cells of which the published text does not tell the value, such as numbers that were deleted after masking.

A blank is the value of its record where the original has as many missing values as the release: then it
differs from every number. Where the release has more of them, a blank may stand for any number. So may a
star among masked values: where texts cover original values, it covers all of them, but a masked number
covers none, and a star would be nearer than every number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

LEAST = 1e-4
"""Smallest mean square of the gaps of matches, as a share of that of all pairs: equal values are no proof."""


@dataclass(frozen=True, eq=False)
class Unknown:
    """Which pairs of an original value and a text of an attribute tell nothing.

    Attributes
    ----------
    texts: those that tell nothing about a value, shape (texts,), bool.
    covering: whether some of them cover all values.
    absent: code of the original's missing value if a published number tells nothing about it, else -1: the
        original has more missing values than the release.
    with_missing: texts that cover the missing value, shape (texts,), bool.
    missing: code of the missing value, -1 if there is none.
    """

    texts: BoolArray
    covering: bool
    absent: int
    with_missing: BoolArray
    missing: int

    @classmethod
    def of(cls, meaning: ValueCoverage, records: IntArray, *, stars: bool) -> Unknown:
        """Return what the texts of an attribute do not tell.

        Parameters
        ----------
        records: released records with each text, shape (texts,), int64.
        stars: whether the text that covers every value tells nothing.
        """
        column, blank = meaning.column, blank_texts(meaning)
        missing = -1 if column.missing is None else int(column.missing)
        # Shares over the product of both numbers of records.
        own = (0 if missing < 0 else int(column.counts[missing])) * int(records.sum())
        published = int(records[blank].sum()) * int(column.counts.sum())
        covering = covers_all(meaning) & (records > 0) if stars else np.zeros(len(records), dtype=bool)
        texts = covering | blank if published > own else covering
        absent = missing if published < own else -1
        return cls(texts, bool(covering.any()), absent, covers_missing(meaning), missing)

    @property
    def any(self) -> bool:
        """Whether a pair may tell nothing."""
        return bool(self.texts.any()) or self.absent >= 0

    def pairs(self, codes: IntArray, texts: IntArray) -> BoolArray:
        """Return which pairs of some original values and texts tell nothing, shape (codes, texts), bool."""
        blank = ((codes == self.missing) & (self.missing >= 0))[:, None]
        absent = ((codes == self.absent) & (self.absent >= 0))[:, None]
        untold: BoolArray = (self.texts[texts] | absent) & ~(blank & self.with_missing[texts])
        return untold


def blank_texts(meaning: ValueCoverage) -> BoolArray:
    """Return the texts without a value: unreadable, or for the missing value alone, shape (texts,), bool."""
    empty: BoolArray = (meaning.sizes == 0) & np.isnan(meaning.low)
    alone: BoolArray = (meaning.sizes == 1) & covers_missing(meaning)
    return empty | alone


def covers_all(meaning: ValueCoverage) -> BoolArray:
    """Return the texts that cover every value of several, shape (texts,), bool."""
    found: BoolArray = (meaning.sizes == meaning.column.size) & (meaning.column.size > 1)
    return found


def covers_missing(meaning: ValueCoverage) -> BoolArray:
    """Return the texts that cover the missing value, shape (texts,), bool."""
    owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
    covers = np.zeros(len(meaning.sizes), dtype=bool)
    if meaning.column.missing is not None:
        covers[owners[meaning.values == meaning.column.missing]] = True
    return covers


def neutral_square(matches: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return the squared gap that is as likely among matches as among all pairs, by attribute.

    With normal errors of variance v around normal values of variance w, the logarithm of the ratio of both
    densities is on average log(w / v) / 2 + 1 / 2 - gap² / 2v.

    Parameters
    ----------
    matches: mean square of the gaps of matches, v, shape (attributes,).
    pairs: that of all pairs, 2 w, shape (attributes,).
    """
    spread = np.where(pairs > 0, pairs / 2, 1.0)
    own = np.clip(matches, LEAST * spread, spread)
    level: FloatArray = own * (1 + np.log(spread / own))
    return level


def nearest_squares(squares: FloatArray, level: FloatArray) -> FloatArray:
    """Return the squared gaps of originals to their nearest class, shape (attributes, originals).

    Parameters
    ----------
    squares: of each original and class, shape (attributes, originals, classes); NaN where unknown.
    level: in place of the unknown ones, shape (attributes,).
    """
    total = np.where(np.isnan(squares), level[:, None, None], squares).sum(axis=0)
    found: FloatArray = squares[:, np.arange(squares.shape[1]), total.argmin(axis=1)]
    return found


def mean_known(squares: FloatArray) -> FloatArray:
    """Return the mean of the known squares, shape (attributes,); 0 where none is known."""
    known = ~np.isnan(squares)
    means: FloatArray = np.where(known, squares, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return means
