"""Encoded columns, compiled hierarchies, and the frequency table of distinct rows.

Numbers in texts have a decimal point or a decimal comma. A quasi-identifier is published as nodes, intervals,
sets or aggregates; loss metrics are functions of the values that these cover.

Distinct rows that do not fit in memory have interfaces here: an engine counts the records at requested levels
(``TableSource``), or returns all distinct rows in pieces for a search to store (``RowPiece``).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, count_exactly
from anonymizer.model.dates import ISO, DateFormat
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import MISSING, NumberColumns, exact
from anonymizer.model.measure import DividedRows, Measure
from anonymizer.model.population import LARGEST, Population

Code: TypeAlias = int | float | str
"""A stored value that people read by its label."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of values in preorder, so that every node covers a contiguous range of leaves.

    All leaves have the same depth (shallower ones are padded by repeating their label), hence every leaf has
    one ancestor at each generalization level: itself at level 0, the root at level ``height``.

    Attributes
    ----------
    labels: published text of each node, shape (nodes,); the root is node 0.
    parent: node of each node's parent, shape (nodes,), int32, -1 for the root.
    level: generalization level of each node, shape (nodes,), int32, 0 for leaves.
    first_leaf, last_leaf: the half-open range of leaf positions that each node covers, shape (nodes,), int32.
    ancestors: node of each leaf position at each level, shape (height + 1, leaves), int32.
    """

    labels: tuple[str, ...]
    parent: CodeArray
    level: CodeArray
    first_leaf: CodeArray
    last_leaf: CodeArray
    ancestors: CodeArray

    @property
    def height(self) -> int:
        """Level of the root; 0 for a tree of one node."""
        return len(self.ancestors) - 1

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(self.ancestors.shape[1])

    def leaf_counts(self) -> IntArray:
        """Number of leaves under each node, shape (nodes,), int64."""
        counts: IntArray = (self.last_leaf - self.first_leaf).astype("int64")
        return counts


POINT_SIGN, COMMA_SIGN = ".", ","

BLANKS = " \t"
"""Characters around a number that are not part of it; some files have one after each separator."""

CODE = re.compile(r"[ \t]*(?:[+-]?0[0-9]+(?:[.,][0-9]*)?|\+[0-9]+|0[0-9]*[eE][0-9]+)[ \t]*")
"""A code rather than a number, such as 01234 or the 01.11 of NACE; a column that has one is text."""

_COMMA = re.compile(
    "[+-]?(?:"
    "[0-9]+,?[0-9]*(?:[eE][+-]?[0-9]+)?|,[0-9]+(?:[eE][+-]?[0-9]+)?"
    # A leading zero has no thousands after it: ``0.500`` has a decimal point.
    "|[1-9][0-9]{0,2}(?:(?:[.][0-9]{3})+|(?:[ \u00a0\u202f][0-9]{3})+)(?:,[0-9]*)?)"
)
_POINT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_BETWEEN_THOUSANDS = str.maketrans({".": None, " ": None, "\u00a0": None, "\u202f": None, ",": "."})


class Numerals(NamedTuple):
    """The decimal sign of numbers in texts.

    With a decimal comma, points or spaces may separate thousands: ``1.234,5`` and ``1 234,5``.

    Attributes
    ----------
    decimal: the sign before the fraction, ``.`` or ``,``.
    """

    decimal: str = POINT_SIGN

    def plain(self, text: str) -> str | None:
        """Return a number with a decimal point and without separators; None if the text is not a number.

        With a decimal point the text is not checked, but loses the blanks around it as well.

        >>> COMMA.plain("1.234,5"), COMMA.plain(" 2254,25"), POINT.plain(" 7"), COMMA.plain("1.5")
        ('1234.5', '2254.25', '7', None)
        """
        text = text.strip(BLANKS)
        if self.decimal == POINT_SIGN:
            return text
        return text.translate(_BETWEEN_THOUSANDS) if _COMMA.fullmatch(text) else None

    @property
    def pattern(self) -> str:
        """A regular expression for a number from end to end, the same in Python's ``re`` and RE2."""
        own = _POINT if self.decimal == POINT_SIGN else _COMMA.pattern
        return f"[{BLANKS}]*(?:{own})[{BLANKS}]*"

    def written(self, plain: str) -> str:
        """Return a number that has a decimal point with this decimal sign.

        >>> COMMA.written("39.5"), POINT.written("39.5")
        ('39,5', '39.5')
        """
        return plain.replace(POINT_SIGN, self.decimal)

    def number(self, text: str) -> float | None:
        """Return the number of a text; None if it is not a number."""
        plain = self.plain(text)
        try:
            return None if plain is None else float(plain)
        except ValueError:
            return None


POINT = Numerals()
COMMA = Numerals(COMMA_SIGN)


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """Values that a quasi-identifier may be published as, with what they cover, as loss metrics need it.

    Attributes
    ----------
    leaves: number of leaves of the hierarchy that each covers, shape (values,), int64; None if the loss is by
        the range of numbers: numbers without a hierarchy, and aggregated values.
    covered: number of distinct values of the input that each covers, shape (values,), int64.
    records: of the input with one of those, shape (values,), int64.
    low, high: smallest and largest number among those, shape (values,), float64; NaN without numbers.
    mixed: whether it covers a missing value and others, shape (values,), bool.
    levels: generalization level of each value, shape (values,), int32; None unless all are nodes.
    """

    leaves: IntArray | None
    covered: IntArray
    records: IntArray
    low: FloatArray
    high: FloatArray
    mixed: BoolArray
    levels: CodeArray | None

    def take(self, positions: IntArray) -> PublishedValues:
        """Return the values at some positions, shape (positions,)."""
        return PublishedValues(
            None if self.leaves is None else self.leaves[positions],
            self.covered[positions],
            self.records[positions],
            self.low[positions],
            self.high[positions],
            self.mixed[positions],
            None if self.levels is None else self.levels[positions],
        )

    def joined(self, other: PublishedValues) -> PublishedValues:
        """Return these values followed by others; ``leaves`` or ``levels`` are None if either has none."""
        return PublishedValues(
            _both(self.leaves, other.leaves),
            np.concatenate([self.covered, other.covered]),
            np.concatenate([self.records, other.records]),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
            np.concatenate([self.mixed, other.mixed]),
            None
            if self.levels is None or other.levels is None
            else np.concatenate([self.levels, other.levels]),
        )

    def range_costs(self, column: Column) -> FloatArray:
        """Return (high - low) / (max - min) over the numbers of a column, shape (values,), in [0, 1].

        1 if a missing value and others are covered; 0 for a single number, if max = min, and for missing.
        """
        numbers = column.numbers
        if numbers is None or np.isnan(numbers).all():
            return np.where(self.mixed, 1.0, 0.0)
        lowest, highest = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        # The difference of two numbers may be too large for a float, but not that of their halves.
        unit = 1.0 if isfinite(highest - lowest) else 0.5
        span = unit * highest - unit * lowest
        width = np.where(np.isnan(self.high), 0.0, unit * self.high - unit * self.low)
        costs = width / span if span > 0 else np.zeros(len(width))
        return np.where(self.mixed, 1.0, costs)


def _both(one: IntArray | None, other: IntArray | None) -> IntArray | None:
    return None if one is None or other is None else np.concatenate([one, other])


def values_of_nodes(
    column: Column, hierarchy: Hierarchy, leaf: CodeArray, *, by_range: bool
) -> PublishedValues:
    """Return the nodes of a hierarchy as published values, in their order.

    Parameters
    ----------
    leaf: leaf position of each of the column's codes, shape (values,), int32.
    by_range: whether the loss of the attribute is by the range of its numbers.
    """
    nodes = len(hierarchy.labels)
    covered, records = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    low, high = np.full(nodes, np.inf), np.full(nodes, -np.inf)
    missing = np.zeros(nodes, dtype=bool)
    numbers = np.full(column.size, np.nan) if column.numbers is None else column.numbers
    known = ~np.isnan(numbers)
    for level in range(hierarchy.height + 1):
        own = hierarchy.ancestors[level, leaf]
        covered += np.bincount(own, minlength=nodes)
        records += np.bincount(own, weights=column.counts, minlength=nodes).astype(np.int64)
        np.minimum.at(low, own[known], numbers[known])
        np.maximum.at(high, own[known], numbers[known])
        if column.missing is not None:
            missing[own[column.missing]] = True
    some = high >= low
    return PublishedValues(
        None if by_range else hierarchy.leaf_counts(),
        covered,
        records,
        np.where(some, low, np.nan),
        np.where(some, high, np.nan),
        missing & (covered > 1),
        hierarchy.level,
    )


class Role(StrEnum):
    """What an adversary is assumed to know or to infer about a column."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    WEIGHT = "weight"
    DROP = "drop"


LEFT_OUT = (Role.IDENTIFIER, Role.DROP)
"""Roles of columns that a release lacks."""


class ValueType(StrEnum):
    """The type of a column, which decides the order of its values and which hierarchies fit."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"

    @property
    def ordered(self) -> bool:
        """Whether values have distances."""
        return self is not ValueType.TEXT

    @property
    def numeric(self) -> bool:
        """Whether values are numbers."""
        return self in (ValueType.INTEGER, ValueType.NUMBER)


@dataclass(frozen=True, eq=False)
class Column:
    """The distinct values of a column, in their order; a record's code is a position in it.

    Attributes
    ----------
    name: as in the file.
    type: decides the order: by number, by date, or for text by code point, of a quasi-identifier as in
        ``in_natural_order``.
    texts: published text of each distinct value, shape (values,); a missing one comes last, ``<missing>``.
    counts: records with each value, shape (values,), int64.
    numbers: each value as a number (dates as proleptic ordinals, times as their fractions), shape (values,),
        float64; NaN for a missing value; None for text.
    missing: code of the missing value, None without missing values.
    numerals: decimal sign of its numbers.
    absent: texts of missing values.
    padded: whether texts had blanks around them, which are no part of the values.
    dates: format of its dates.
    codes: of the labels by which the file declares its values and kinds of missing, by label; empty if the
        values are read as they are stored.
    """

    name: str
    type: ValueType
    texts: tuple[str, ...]
    counts: IntArray
    numbers: FloatArray | None
    missing: int | None
    numerals: Numerals = POINT
    absent: frozenset[str] = frozenset({"", MISSING})
    padded: bool = False
    dates: DateFormat = ISO
    codes: Mapping[str, Code] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of distinct values, a missing one included."""
        return len(self.texts)

    def number(self, text: str) -> float | None:
        """Return the number that a text stands for, the ordinal of a date; None for other texts."""
        return self.dates.number(text) if self.type is ValueType.DATE else self.numerals.number(text)

    def code_of(self, text: str) -> int | None:
        """Return the code of the value that a text means, however it is spelled; None if it means none."""
        identity = text_identity(text)
        for code, own in enumerate(self.texts):
            if text_identity(own) == identity:
                return code
        value = None if self.numbers is None else self._value(text)
        if value is None:
            return None
        return next((code for code, own in enumerate(self.present) if self._value(own) == value), None)

    def _value(self, text: str) -> Fraction | float | None:
        """Return the exact value of a number or date; None for other texts, and codes among whole numbers."""
        if self.type is ValueType.DATE:
            return self.dates.number(text)
        code = self.type is ValueType.INTEGER and CODE.fullmatch(text)
        plain = None if code else self.numerals.plain(text)
        return None if plain is None else exact(plain)

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
    minimum, maximum: generalization levels of a search, both included.
    by_range: whether the loss of a published value is by the range of numbers that it covers: a numeric
        column without a hierarchy in the config.
    number_columns: the numbers that are released in place of its labels; None to release the labels.
    """

    column: Column
    hierarchy: Hierarchy
    leaf: CodeArray
    weight: float = 1.0
    minimum: int = 0
    maximum: int = 0
    by_range: bool = False
    number_columns: NumberColumns | None = None

    @cached_property
    def node_values(self) -> PublishedValues:
        """The nodes of the hierarchy as published values."""
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
    """A sensitive column, with the hierarchy of its values if the config has one.

    Attributes
    ----------
    hierarchy, leaf: as for a quasi-identifier; None without one.
    distance: name of the ground distance for t-closeness in the config, None for the default.
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
class SamplingWeights:
    """How much each record counts in a mean: the people that it represents, or its share of a unit.

    Attributes
    ----------
    name: of the column.
    values: of each of its codes, times ``scale``, shape (codes,), int64, positive and ascending. Their sum
        over all records is below 2**63.
    scale: makes them whole.
    unit: whose records have equal shares of 1; None for people of a population.
    """

    name: str
    values: IntArray
    scale: int = 1
    unit: str | None = None

    @classmethod
    def of_units(
        cls, unit: str, column: str, sizes: IntArray, numbers: IntArray
    ) -> tuple[SamplingWeights, CodeArray]:
        """Return the weights 1 / n of the n records of a unit, and the code of each group of units.

        They are exact, times a common multiple of the n, if that fits. Else those of the most frequent n are,
        and the others are rounded: by less than n x units / 2**62 of themselves.

        Parameters
        ----------
        sizes: n of the units of each group, shape (groups,), int64, positive.
        numbers: of units in each group, shape (groups,), int64.
        """
        descending, codes = np.unique(-sizes, return_inverse=True)
        distinct, units = -descending, count_exactly(codes, numbers, len(descending))
        total, records = int(units.sum()), int(distinct @ units)
        scale, whole = 1, True
        for size in distinct[np.argsort(-units, kind="stable")].tolist():
            common = lcm(scale, size)
            fits = common * total + records <= LARGEST
            scale, whole = common if fits else scale, whole and fits
        if not whole:
            scale *= (LARGEST - records) // (total * scale)
        # Half a unit more than below, so that the quotient is rounded to the nearest.
        values = [(2 * scale + size) // (2 * size) for size in distinct.tolist()]
        return cls(column, np.array(values, dtype=np.int64), scale, unit), codes.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Table:
    """The frequency table: distinct rows of quasi-identifier and sensitive values with their records.

    Attributes
    ----------
    quasi_identifiers, sensitive: the attributes, in the order of the file.
    codes: value codes of each row, shape (combinations, quasi-identifiers + sensitive), int32; quasi-
        identifiers first, and last the sampling weight, if there are weights. Rows are sorted, and distinct
        without ties, except after ``split``.
    measure: what is counted of each row.
    coarse: whether a code may represent all values of its node, so that distinct rows of values are unknown.
    population: that the records are a sample of; None if no constraint refers to it.
    sampling: weights by which losses are averaged; all records of a row have one weight. None if every record
        counts alike.
    """

    quasi_identifiers: tuple[QuasiIdentifier, ...]
    sensitive: tuple[SensitiveAttribute, ...]
    codes: CodeArray
    measure: Measure
    coarse: bool = False
    population: Population | None = None
    sampling: SamplingWeights | None = None

    @property
    def counts(self) -> IntArray:
        """Records of each row, shape (combinations,), int64."""
        return self.measure.records

    @cached_property
    def records(self) -> int:
        """Number of records, N."""
        return int(self.counts.sum())

    @cached_property
    def row_weights(self) -> IntArray:
        """Sampling weight of a record of each row, shape (combinations,), int64; 1 without weights."""
        if self.sampling is None:
            return np.ones(self.combinations, dtype=np.int64)
        return self.sampling.values[self.codes[:, -1]]

    @cached_property
    def row_people(self) -> IntArray:
        """Sum of the sampling weights of the records of each row, shape (combinations,), int64."""
        return self.row_weights * self.counts

    @cached_property
    def people(self) -> int:
        """Sum of the sampling weights of all records; their number without weights."""
        return int(self.row_people.sum())

    def people_of_values(self, position: int) -> IntArray:
        """Return the sum of the weights of the records with each value of a quasi-identifier, (values,)."""
        size = self.quasi_identifiers[position].column.size
        return count_exactly(self.quasi_identifier_codes(position), self.row_people, size)

    @property
    def others(self) -> list[tuple[CodeArray, int]]:
        """Codes and number of codes of every column after the quasi-identifiers."""
        sizes = [each.column.size for each in self.sensitive]
        sizes += [] if self.sampling is None else [len(self.sampling.values)]
        width = len(self.quasi_identifiers)
        return [(self.codes[:, width + place], size) for place, size in enumerate(sizes)]

    @property
    def combinations(self) -> int:
        """Number of distinct rows."""
        return len(self.counts)

    def quasi_identifier_codes(self, position: int) -> CodeArray:
        """Codes of one quasi-identifier, shape (combinations,), int32."""
        return self.codes[:, position]

    def sensitive_codes(self, name: str) -> CodeArray:
        """Codes of one sensitive attribute, shape (combinations,), int32."""
        return self.codes[:, len(self.quasi_identifiers) + self.sensitive_names.index(name)]

    def split(self, owner: IntArray, counts: IntArray) -> Table:
        """Return the same records with rows in parts, which can be published differently.

        Which units have records in a part is unknown.

        Parameters
        ----------
        owner: row of each part, shape (parts,), ascending; every row has a part.
        counts: records of each part, shape (parts,), int64; they sum to those of the row.
        """
        return self.with_rows(self.codes[owner], counts)

    def divided(self, rows: DividedRows) -> Table:
        """Return the same records with their rows divided by units, which parts of rows then have."""
        return replace(self, codes=self.codes[rows.row_of], measure=rows.measure)

    @property
    def undivided(self) -> Table:
        """The same records by distinct rows, of which only records are counted; itself if not divided."""
        if self.measure.row_of is None:
            return self
        first = np.flatnonzero(np.diff(self.measure.row_of, prepend=-1))
        plain = self.unweighted
        return plain.with_rows(plain.codes[first], np.add.reduceat(self.counts, first))

    @property
    def unweighted(self) -> Table:
        """The same rows without their weights, so that several may be equal; itself if it has none."""
        return self if self.sampling is None else replace(self, codes=self.codes[:, :-1], sampling=None)

    def by_weight(self) -> Table:
        """Return the same rows, known to be divided by their weights; itself without weights."""
        if self.sampling is None:
            return self
        same = (self.codes[1:, :-1] == self.codes[:-1, :-1]).all(axis=1)
        row_of = np.concatenate([[0], np.cumsum(~same)])[: self.combinations]
        return replace(self, measure=replace(self.measure, row_of=row_of))

    def with_rows(self, codes: CodeArray, counts: IntArray) -> Table:
        """Return a table with other rows, whose units are unknown; ``codes`` have all columns."""
        return replace(self, codes=codes, measure=Measure(counts))

    @property
    def sensitive_names(self) -> list[str]:
        """Names of the sensitive attributes, in order."""
        return [attribute.name for attribute in self.sensitive]


PIECE = 1 << 18
"""Maximum number of distinct rows in a piece."""


@dataclass(frozen=True, eq=False)
class RowPiece:
    """A piece of the distinct rows.

    Attributes
    ----------
    keys: whole numbers that together identify a row, each of shape (rows,), int64.
    counts: records of each row, shape (rows,), int64, positive.
    """

    keys: tuple[IntArray, ...]
    counts: IntArray


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The region of distinct rows; may be on disk.

    Attributes
    ----------
    keys: as in ``RowPiece``, of region 0, then of region 1, and so on, each of shape (rows,), int64.
    rows: number of rows of each region, shape (regions,), int64.
    """

    keys: tuple[IntArray, ...]
    rows: IntArray

    def pieces(self) -> Iterator[tuple[tuple[IntArray, ...], IntArray]]:
        """Yield keys and regions of the rows in pieces."""
        ends = np.cumsum(self.rows)
        for first in range(0, len(self.keys[0]), PIECE):
            last = min(first + PIECE, len(self.keys[0]))
            region = np.searchsorted(ends, np.arange(first, last), side="right")
            yield tuple(np.array(own[first:last]) for own in self.keys), region


class TableSource(ABC):
    """Tables at generalization levels that an engine counts on demand.

    In such a table the lowest code of a node represents all values of the node. Values may only be published
    at these levels or above.

    Attributes
    ----------
    folder: for a search's files; None for the system's folder of temporary files.
    """

    folder: Path | None

    @abstractmethod
    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of distinct rows at generalization levels, which are its minimum levels.

        Parameters
        ----------
        levels: one for each quasi-identifier, between its minimum and maximum.
        most: maximum number of rows.

        Returns
        -------
        The table, None if it has more rows.
        """

    @abstractmethod
    def records_in_small_classes(self, levels: Sequence[int], least: int, unit: str | None = None) -> int:
        """Return the number of records in small equivalence classes.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        least: records, or units, of the smallest class that is not small.
        unit: what is counted; None for records.
        """

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of distinct rows at level 0."""

    @abstractmethod
    def pieces(self) -> Iterator[RowPiece]:
        """Return all distinct rows at level 0, in any order, in pieces of at most ``PIECE`` rows."""

    @abstractmethod
    def codes(self, keys: Sequence[IntArray]) -> CodeArray:
        """Return the codes of keys, shape (rows, columns), int32.

        Columns are the quasi-identifiers, then the sensitive attributes.
        """
