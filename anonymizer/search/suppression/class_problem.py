"""Which records of a class may stay, as a problem for a solver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from anonymizer.model.arrays import IntArray
from anonymizer.privacy.conditions import CountConditions


@dataclass(frozen=True, eq=False)
class View:
    """The cells of a class as one rule sees them.

    Attributes
    ----------
    part: part of the class that each cell lies in, shape (cells,), int64; it meets the rule or is empty.
    value: value code of each cell, shape (cells,), int64.
    """

    rule: CountConditions
    part: IntArray
    value: IntArray

    @cached_property
    def signature(self) -> tuple[bytes, bytes]:
        """What of a view may differ from class to class."""
        return self.part.tobytes(), self.value.tobytes()


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """Which records of a class may stay.

    Attributes
    ----------
    counts: records of each cell (distinct combination of sensitive values), shape (cells,), int64.
    views: all must be satisfied.
    smallest: the fewest records that may stay, unless none do.
    most: no more can stay.
    sums: cells, as positions, of which exactly so many records stay.
    """

    counts: IntArray
    views: tuple[View, ...]
    smallest: int
    most: int
    sums: tuple[tuple[IntArray, int], ...] = ()


@dataclass(frozen=True, eq=False)
class ClassSolution:
    """What stays of a class.

    Attributes
    ----------
    kept: records of each cell that stay, shape (cells,), int64.
    most: no more records can stay.
    """

    kept: IntArray
    most: int
