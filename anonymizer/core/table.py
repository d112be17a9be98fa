"""Dictionary-encoded columns and the frequency table of their distinct combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from anonymizer.core.arrays import CodeArray, FloatArray, IntArray
from anonymizer.core.hierarchy import Hierarchy
from anonymizer.core.numerals import POINT, Numerals
from anonymizer.core.values import PublishedValues, values_of_nodes

MISSING = "<missing>"
"""How a missing quasi-identifier value is published."""

SUPPRESSED = "*"
"""How a quasi-identifier of a suppressed record that stays in the release is published."""


class ValueType(StrEnum):
    """What the texts of a column stand for; it decides their order and which hierarchies fit."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"

    @property
    def ordered(self) -> bool:
        """Whether distances between values have a meaning beyond equal or not."""
        return self is not ValueType.TEXT


@dataclass(frozen=True, eq=False)
class Column:
    """The distinct values of a column, in their natural order; a record's code is a position in it.

    Attributes
    ----------
    name: as in the file.
    type: decides the order: by number, by date, or by code point for text.
    texts: published text of each distinct value, shape (values,); a missing one comes last, ``<missing>``.
    counts: records with each value, shape (values,), int64.
    numbers: each value as a number (dates as proleptic ordinals), shape (values,), float64; NaN for a missing
        value; None for text.
    missing: code of the missing value, None when no record misses it.
    numerals: how its texts write numbers.
    absent: texts that stand for a missing value.
    """

    name: str
    type: ValueType
    texts: tuple[str, ...]
    counts: IntArray
    numbers: FloatArray | None
    missing: int | None
    numerals: Numerals = POINT
    absent: frozenset[str] = frozenset({"", MISSING})

    @property
    def size(self) -> int:
        """Number of distinct values, a missing one included."""
        return len(self.texts)

    @property
    def present(self) -> tuple[str, ...]:
        """The texts of the values that are not missing, in order."""
        return self.texts if self.missing is None else self.texts[: self.missing]


@dataclass(frozen=True, eq=False)
class QuasiIdentifier:
    """A column with the hierarchy that generalizes it.

    Attributes
    ----------
    leaf: leaf position of each of the column's codes, shape (values,), int32.
    weight: of the attribute in aggregates of loss, at least 0.
    minimum, maximum: the generalization levels that a search may use, both included.
    by_range: whether the loss of a published value goes by the range of numbers it stands for: a numeric
        column that was given no hierarchy.
    """

    column: Column
    hierarchy: Hierarchy
    leaf: CodeArray
    weight: float = 1.0
    minimum: int = 0
    maximum: int = 0
    by_range: bool = False

    @cached_property
    def node_values(self) -> PublishedValues:
        """What each node of the hierarchy stands for."""
        return values_of_nodes(self.column, self.hierarchy, self.leaf, by_range=self.by_range)

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name

    def nodes(self, level: int) -> CodeArray:
        """Node of each of the column's codes at a generalization level, shape (values,), int32."""
        nodes: CodeArray = self.hierarchy.ancestors[level][self.leaf]
        return nodes


@dataclass(frozen=True, eq=False)
class SensitiveAttribute:
    """A sensitive column, with the hierarchy of its values if one was given.

    Attributes
    ----------
    hierarchy, leaf: as for a quasi-identifier; None without one.
    distance: name of the ground distance for t-closeness that the config gave, None for the default.
    """

    column: Column
    hierarchy: Hierarchy | None = None
    leaf: CodeArray | None = None
    distance: str | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name


@dataclass(frozen=True, eq=False)
class Table:
    """The frequency table: distinct combinations of quasi-identifier and sensitive values with their counts.

    Attributes
    ----------
    quasi_identifiers, sensitive: the attributes, in the order of the file.
    codes: value codes of each combination, shape (combinations, quasi-identifiers + sensitive), int32; quasi-
        identifiers first. Combinations are distinct and sorted, but for those of a table that was split.
    counts: records of each combination, shape (combinations,), int64.
    coarse: whether a code may stand for other values of its node too, so that combinations of single values
        cannot be told.
    """

    quasi_identifiers: tuple[QuasiIdentifier, ...]
    sensitive: tuple[SensitiveAttribute, ...]
    codes: CodeArray
    counts: IntArray
    coarse: bool = False

    @cached_property
    def records(self) -> int:
        """Number of records, N."""
        return int(self.counts.sum())

    @property
    def combinations(self) -> int:
        """Number of distinct combinations."""
        return len(self.counts)

    def quasi_identifier_codes(self, position: int) -> CodeArray:
        """Codes of one quasi-identifier, shape (combinations,), int32."""
        return self.codes[:, position]

    def sensitive_codes(self, name: str) -> CodeArray:
        """Codes of one sensitive attribute, shape (combinations,), int32."""
        return self.codes[:, len(self.quasi_identifiers) + self.sensitive_names.index(name)]

    def split(self, owner: IntArray, counts: IntArray) -> Table:
        """Return the same records with combinations in parts, each of which may be published in its own way.

        Parameters
        ----------
        owner: combination of each part, shape (parts,), ascending, every combination with a part.
        counts: records of each part, shape (parts,), int64; they add up to those of the combination.
        """
        return replace(self, codes=self.codes[owner], counts=counts)

    @property
    def sensitive_names(self) -> list[str]:
        """Names of the sensitive attributes, in order."""
        return [attribute.name for attribute in self.sensitive]


def pack(codes: Sequence[CodeArray], sizes: Sequence[int]) -> IntArray | None:
    """Pack several code columns into one int64 key whose order is the lexicographic order of the codes.

    Parameters
    ----------
    codes: columns of equal length, int32.
    sizes: number of possible codes of each column.

    Returns
    -------
    Keys, shape (records,), int64, or None when they would not fit 63 bits.
    """
    total = 1
    for size in sizes:
        total *= max(size, 1)
    if total >= 2**63:
        return None
    keys = np.zeros(len(codes[0]) if codes else 0, dtype=np.int64)
    for column, size in zip(codes, sizes, strict=True):
        keys *= size
        keys += column
    return keys
