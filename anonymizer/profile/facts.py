"""What is measured of each column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.hierarchy.ready import normalized
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import POINT, Numerals, ValueType
from anonymizer.profile.words import words_of

NEARLY_ALL = 0.8
"""Distinct values per record from which on nearly all of them differ."""

SAMPLE = 5_000
"""Distinct values up to which all are looked at; of more, about so many."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column, measured.

    Attributes
    ----------
    name: as in the file.
    type: that all its values have.
    rows: records of the file.
    missing: records without a value.
    distinct: number of distinct values, a missing one not counted.
    singles: values that one record alone has.
    largest: records with the most frequent value.
    entropy: of the values that are not missing, in bits.
    values: distinct values with their records, sorted by code point: all of them or a sample.
    numerals: how they write numbers.
    """

    name: str
    type: ValueType
    rows: int
    missing: int
    distinct: int
    singles: int
    largest: int
    entropy: float
    values: tuple[tuple[str, int], ...]
    numerals: Numerals = POINT

    @property
    def present(self) -> int:
        """Records with a value."""
        return self.rows - self.missing

    @property
    def whole(self) -> bool:
        """Whether all distinct values are at hand."""
        return len(self.values) == self.distinct

    @property
    def distinctness(self) -> float:
        """Distinct values per record that has one: 1 where all differ."""
        return self.distinct / self.present if self.present else 0.0

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values at hand."""
        return tuple(text for text, _ in self.values)

    @cached_property
    def spellings(self) -> tuple[tuple[str, str], ...]:
        """The values at hand, each with its text as ready-made hierarchies compare it."""
        return tuple((text, normalized(text)) for text in self.texts)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words_of(self.name)

    @cached_property
    def numbers(self) -> FloatArray:
        """The values at hand as numbers, ascending, shape (values,); empty for a column of another type."""
        return self._ascending[0]

    @cached_property
    def weights(self) -> IntArray:
        """Records of each of ``numbers``, shape (values,), int64."""
        return self._ascending[1]

    @cached_property
    def _ascending(self) -> tuple[FloatArray, IntArray]:
        if self.type not in (ValueType.INTEGER, ValueType.NUMBER):
            return np.empty(0), np.empty(0, dtype=np.int64)
        numbers = np.array([self.numerals.number(text) for text, _ in self.values], dtype=np.float64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], np.array([count for _, count in self.values], dtype=np.int64)[order]
