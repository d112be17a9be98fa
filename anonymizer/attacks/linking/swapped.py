"""What an intruder who knows the range of a rank swapping can rule out."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from anonymizer.attacks.linking.base import Distance
from anonymizer.attacks.linking.gaps import CategoryGaps, Gaps
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray


class SwappedDistance(Distance):
    """The number of attributes in which a rank moved further than the swapping moves any.

    It is 0 for a record's own masked one, whatever was drawn. Those at 0 are the candidates that are left
    when what each attribute allows is intersected; all are equally likely, as partners are drawn from the
    range alike. Equal numbers may have had each of their ranks. A category that is not published as it was
    counts as moved too far.

    Source: Nin, Herranz, Torra, "Rethinking rank swapping to decrease disclosure risk" (Data & Knowledge
    Engineering 64, 2008, doi:10.1016/j.datak.2007.07.006).

    Parameters
    ----------
    percent: of the records, by which a rank moves at most.
    """

    name = "swapped"
    # It is 0 for all candidates.
    exact = False

    def __init__(self, space: ComparisonSpace, percent: Decimal) -> None:
        self._percent = percent
        super().__init__(space)

    def gaps(self, meaning: ValueCoverage) -> Gaps:
        """Return 1 for what moved too far, else 0."""
        numbers = meaning.column.numbers
        if numbers is None or np.isnan(numbers).all():
            return _Changed(meaning)
        return _OutOfRange(meaning, self._percent)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the numbers of attributes."""
        total = self.differences(0, originals)
        for position in range(1, len(self.space.meanings)):
            total += self.differences(position, originals)
        return total


@dataclass(frozen=True)
class SwapRange:
    """Makes the distance of a range.

    Attributes
    ----------
    percent: of the records.
    """

    percent: Decimal
    exact: bool = SwappedDistance.exact

    def __call__(self, space: ComparisonSpace) -> Distance:
        """Return the distance."""
        return SwappedDistance(space, self.percent)


class _Changed(CategoryGaps):
    def rows(self, codes: IntArray) -> FloatArray:
        return (super().rows(codes) > 0).astype(np.float64)


class _OutOfRange(Gaps):
    """Whether the ranks of a number and of what a text stands for are further apart than the range."""

    def __init__(self, meaning: ValueCoverage, percent: Decimal) -> None:
        numbers = meaning.column.numbers
        assert numbers is not None, "text has no ranks"
        known = ~np.isnan(numbers)
        ordered = numbers[known]
        below = np.concatenate([[0], np.cumsum(meaning.column.counts[known])])
        # As many ranks as the swapping itself takes.
        self._reach = int(Fraction(percent) * int(below[-1]) / 100)
        self._first, self._last = _ranks(ordered, below, numbers, numbers)
        self._lowest, self._highest = _ranks(ordered, below, meaning.low, meaning.high)
        self._missing = meaning.column.missing
        self._without = np.isnan(meaning.low)
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        self._with_missing = np.zeros(len(meaning.sizes), dtype=bool)
        if self._missing is not None:
            self._with_missing[owners[meaning.values == self._missing]] = True

    def rows(self, codes: IntArray) -> FloatArray:
        """Return 1 or 0, shape (values, texts)."""
        first, last = self._first[codes][:, None], self._last[codes][:, None]
        out = (self._lowest - last > self._reach) | (first - self._highest > self._reach)
        out |= self._without
        if self._missing is not None:
            out[codes == self._missing] = ~self._with_missing
        return out.astype(np.float64)


def _ranks(
    ordered: FloatArray, below: IntArray, low: FloatArray, high: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the first rank that a record from low on has, and the last of one up to high."""
    return below[np.searchsorted(ordered, low, "left")], below[np.searchsorted(ordered, high, "right")] - 1
