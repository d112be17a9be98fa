"""A quasi-identifier as a direction in which regions of records may be cut."""

from __future__ import annotations

from abc import ABC, abstractmethod

from anonymizer.core.arrays import FloatArray, IntArray
from anonymizer.core.table import QuasiIdentifier, Table
from anonymizer.search.regions.segments import Segments


class Axis(ABC):
    """How one quasi-identifier is cut, and what it costs to publish what a region has of it.

    Attributes
    ----------
    attribute: the quasi-identifier.
    values: value of each combination of the table in the axis's own coding, shape (combinations,), int64.
    parts: how many parts there may be in all; a cut keeps each part whole.
    ordered: whether parts are cut in their own order; otherwise the most frequent of a region comes first.
    share: weight of the attribute divided by the sum of all weights.
    """

    attribute: QuasiIdentifier
    values: IntArray
    parts: int
    ordered: bool
    share: float

    @abstractmethod
    def parts_of(self, values: IntArray, regions: Segments) -> IntArray:
        """Return the part that each row of some regions lies in, shape (rows,), int64, in [0, parts)."""

    @abstractmethod
    def costs(self, values: IntArray, regions: Segments) -> FloatArray:
        """Return the cost of what is published for each region, shape (regions,), in [0, 1]."""


def weight_shares(table: Table) -> list[float]:
    """Return the weight of each quasi-identifier divided by the sum of all weights."""
    weights = [attribute.weight for attribute in table.quasi_identifiers]
    return [weight / sum(weights) for weight in weights]
