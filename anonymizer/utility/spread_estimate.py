"""Records by their original values, every published one in equal parts what it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.attacks.spreading import UniformExpansion
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.utility.estimate import Bins, Estimate, Query

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    """An attribute as published.

    Attributes
    ----------
    codes: text of each combination, shape (combinations,).
    texts: number of distinct texts.
    values: number of original values.
    parts: of each text.
    """

    codes: IntArray
    texts: int
    values: int
    parts: UniformExpansion

    @classmethod
    def as_it_is(cls, codes: IntArray, values: int) -> SpreadColumn:
        """Return an attribute that is published unchanged."""
        every = np.arange(values)
        return cls(codes, values, values, UniformExpansion(every, every, np.ones(values)))

    @classmethod
    def kept_suppressed(cls, combinations: int, values: int) -> SpreadColumn:
        """Return an attribute published as ``*`` in every record."""
        parts = UniformExpansion(
            np.zeros(values, dtype=np.int64), np.arange(values), np.full(values, 1 / values)
        )
        return cls(np.zeros(combinations, dtype=np.int64), 1, values, parts)

    def sums(self, of_values: FloatArray) -> FloatArray:
        """Return the sum of a number over the parts of each text, shape (texts,)."""
        weights = self.parts.shares * of_values[self.parts.values]
        return np.bincount(self.parts.texts, weights=weights, minlength=self.texts).astype(np.float64)

    def in_bins(self, bins: Bins) -> csr_matrix:
        """Return the part of each text in each bin, shape (texts, bins)."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up

        where = (self.parts.texts, bins.of_value[self.parts.values])
        return csr_matrix((self.parts.shares, where), shape=(self.texts, bins.number))


class SpreadEstimate(Estimate):
    """A table of combinations whose published values are spread, each attribute by itself.

    Within a combination the attributes are taken for independent: nothing published tells otherwise.

    Parameters
    ----------
    columns: the attributes by name.
    counts: records of each combination, shape (combinations,), int64.
    """

    def __init__(self, columns: Mapping[str, SpreadColumn], counts: IntArray) -> None:
        self._columns = columns
        self._counts = counts

    @property
    def records(self) -> int:
        """Number of records there are."""
        return int(self._counts.sum())

    def expected(self, query: Query) -> float:
        """Return the sum over all combinations of records times the parts that satisfy the query."""
        records = self._counts.astype(np.float64)
        for name, wanted in query.wanted.items():
            column = self._columns[name]
            records *= column.sums(wanted.astype(np.float64))[column.codes]
        return float(records.sum())

    def marginal(self, attribute: str) -> FloatArray:
        """Return the expected number of records with each value."""
        column = self._columns[attribute]
        by_text = np.bincount(column.codes, weights=self._counts, minlength=column.texts)
        parts = column.parts
        weights = by_text[parts.texts] * parts.shares
        return np.bincount(parts.values, weights=weights, minlength=column.values).astype(np.float64)

    def joint(self, one: Bins, other: Bins) -> FloatArray:
        """Return the expected number of records in each pair of bins."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up

        first, second = self._columns[one.attribute], self._columns[other.attribute]
        shape = (first.texts, second.texts)
        together = csr_matrix((self._counts.astype(np.float64), (first.codes, second.codes)), shape=shape)
        joint = first.in_bins(one).T @ (together @ second.in_bins(other))
        return np.asarray(joint.toarray(), dtype=np.float64)
