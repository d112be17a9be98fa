"""How far original values are from published texts, one attribute at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from anonymizer.attacks.covering import spans
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column

Scaling = Callable[[FloatArray], FloatArray]
"""Puts numbers of a column on the scale in which distances are measured."""

Scale = Callable[[Column], Scaling]
"""From a numeric column to how its numbers are scaled."""


Change = Callable[[FloatArray], FloatArray]
"""What is done to every gap."""


class Gaps(ABC):
    """The least distance from an original value to what a text stands for; 0 iff it stands for the value."""

    @abstractmethod
    def rows(self, codes: IntArray) -> FloatArray:
        """Return the gap between some original values and every text, shape (values, texts), float64.

        Numbers have signs: negative when the value is below what the text stands for.
        """


def gaps_of(meaning: ValueCoverage, scale: Scale) -> Gaps:
    """Return the gaps of an attribute: of numbers on a scale, of other values along the hierarchy."""
    numbers = meaning.column.numbers
    if numbers is None or np.isnan(numbers).all():
        return CategoryGaps(meaning)
    return NumberGaps(meaning, scale(meaning.column))


def standard_scale(column: Column) -> Scaling:
    """Return numbers in standard deviations of the column; as they are where the column is constant."""
    numbers, counts = _present(column)
    deviation = float(
        np.sqrt(np.average((numbers - np.average(numbers, weights=counts)) ** 2, weights=counts))
    )
    unit = deviation if deviation > 0 else 1.0
    return lambda given: given / unit


def rank_scale(column: Column) -> Scaling:
    """Return the share of the column's records below each number, half of those that have it included."""
    numbers, counts = _present(column)
    below = np.concatenate([[0], np.cumsum(counts)]) / counts.sum()

    def ranks(given: FloatArray) -> FloatArray:
        under, upto = np.searchsorted(numbers, given, "left"), np.searchsorted(numbers, given, "right")
        return np.where(np.isnan(given), np.nan, (below[under] + below[upto]) / 2)

    return ranks


def _present(column: Column) -> tuple[FloatArray, IntArray]:
    assert column.numbers is not None, "only numbers are scaled"
    known = ~np.isnan(column.numbers)
    return column.numbers[known], column.counts[known]


class NumberGaps(Gaps):
    """Gaps of numbers: to the nearest number that a text stands for.

    A missing value is as far from every number as the column is wide.
    """

    def __init__(self, meaning: ValueCoverage, scale: Scaling) -> None:
        numbers = meaning.column.numbers
        assert numbers is not None, "text has no numbers"
        self._values = scale(numbers)
        self._low, self._high = scale(meaning.low), scale(meaning.high)
        ends = np.concatenate([self._values, self._low, self._high])
        span = float(np.nanmax(ends) - np.nanmin(ends))
        self._widest = span if span > 0 else 1.0
        self._missing = meaning.column.missing
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        self._with_missing = np.zeros(len(meaning.sizes), dtype=bool)
        if self._missing is not None:
            self._with_missing[owners[meaning.values == self._missing]] = True
        self._broken = self._with_holes(meaning, numbers)

    def _with_holes(self, meaning: ValueCoverage, numbers: FloatArray) -> list[tuple[int, FloatArray]]:
        """Return the texts between whose ends lie original numbers that they do not stand for."""
        present = numbers[~np.isnan(numbers)]
        between = np.searchsorted(present, meaning.high, "right") - np.searchsorted(
            present, meaning.low, "left"
        )
        covered = meaning.sizes - self._with_missing
        some = np.flatnonzero((covered > 0) & (covered < between) & ~np.isnan(meaning.low))
        found = []
        for text in some.tolist():
            own = self._values[meaning.values[meaning.starts[text] : meaning.starts[text + 1]]]
            found.append((text, own[~np.isnan(own)]))
        return found

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the signed gaps to the nearest number."""
        values = self._values[codes][:, None]
        gaps: FloatArray = np.minimum(values - self._low, 0) + np.maximum(values - self._high, 0)
        for text, numbers in self._broken:
            gaps[:, text] = _to_nearest(values[:, 0], numbers)
        gaps[np.isnan(gaps)] = self._widest
        if self._missing is not None:
            gaps[np.ix_(codes == self._missing, self._with_missing)] = 0
        return gaps


def _to_nearest(values: FloatArray, numbers: FloatArray) -> FloatArray:
    above = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    to_above, to_below = values - numbers[above], values - numbers[below]
    return np.where(np.abs(to_below) < np.abs(to_above), to_below, to_above)


class CategoryGaps(Gaps):
    """Gaps of categories: the level of the lowest common ancestor by the height of the hierarchy.

    Without a hierarchy 0 for a value that the text stands for, else 1.
    """

    def __init__(self, meaning: ValueCoverage) -> None:
        owners = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        self._texts = len(meaning.sizes)
        if meaning.hierarchy is None or meaning.leaf is None:
            chains = np.arange(meaning.column.size)[None, :]
        else:
            height = meaning.hierarchy.height
            chains = meaning.hierarchy.ancestors[: max(height, 1), meaning.leaf].astype(np.int64)
        self._chains = chains
        self._levels = [_Members(chain, owners, meaning.values, self._texts) for chain in chains]

    def rows(self, codes: IntArray) -> FloatArray:
        """Return the shares of the height, shape (values, texts)."""
        gaps = np.ones((len(codes), self._texts))
        for level in reversed(range(len(self._levels))):
            texts, of_value = self._levels[level].of(self._chains[level][codes])
            gaps[of_value, texts] = level / len(self._levels)
        return gaps


class _Members:
    """The texts that stand for something under each node of one level."""

    def __init__(self, chain: IntArray, owners: IntArray, values: IntArray, texts: int) -> None:
        keys = np.unique(chain[values] * texts + owners)
        self._entries = keys % max(texts, 1)
        nodes = keys // max(texts, 1)
        self._starts = np.searchsorted(nodes, np.arange(int(chain.max(initial=-1)) + 2))

    def of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the texts of some nodes, and of which each is."""
        places, of_node = spans(self._starts[nodes], self._starts[nodes + 1] - self._starts[nodes])
        return self._entries[places], of_node


class Differences:
    """The gaps between originals and classes of a comparison space, attribute by attribute."""

    def __init__(self, gaps: list[Gaps]) -> None:
        self._gaps = gaps

    def of(self, position: int, codes: IntArray, texts: IntArray, change: Change) -> FloatArray:
        """Return the gaps of one attribute, each changed.

        Parameters
        ----------
        codes: of original combinations, shape (rows,).
        texts: of classes, shape (classes,).
        change: of each gap, made once for equal pairs of a value and a text.

        Returns
        -------
        Gaps, shape (rows, classes), float64.
        """
        distinct, row_of = np.unique(codes, return_inverse=True)
        table = change(self._gaps[position].rows(distinct))
        return np.take(np.take(table, texts, axis=1), row_of, axis=0)
