"""How many original records there are of a kind, as whoever has only a release works it out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Query:
    """A conjunction: how many records have one of some values in each of some attributes?

    Attributes
    ----------
    wanted: by attribute, which of the original column's values satisfy, shape (values,), bool.
    """

    wanted: Mapping[str, BoolArray]


@dataclass(frozen=True, eq=False)
class Bins:
    """The values of an attribute put together to fewer.

    Attributes
    ----------
    attribute: its name.
    of_value: bin of each of the original column's values, shape (values,), int64.
    number: of bins.
    """

    attribute: str
    of_value: IntArray
    number: int


class Estimate(ABC):
    """Expected numbers of records by their original values.

    Of the originals these are the counts; of a release they are what its recipient can work out. Records
    that were removed are nowhere in it, and a published value that stands for no original one is nowhere in
    ``expected``, ``marginal`` and ``joint``, which may so add up to less than ``records``.
    """

    @property
    @abstractmethod
    def records(self) -> int:
        """Number of records there are."""

    @abstractmethod
    def expected(self, query: Query) -> float:
        """Return the expected number of records that satisfy a query."""

    @abstractmethod
    def marginal(self, attribute: str) -> FloatArray:
        """Return the expected number of records with each value, shape (values,), float64."""

    @abstractmethod
    def joint(self, one: Bins, other: Bins) -> FloatArray:
        """Return the expected number of records in each pair of bins, shape (one, other), float64."""
