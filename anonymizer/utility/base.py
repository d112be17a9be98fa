"""Measures of utility: originals and a release in, one number with two reference values out.

The reference values are those of the originals and of a release with ``*`` in every quasi-identifier.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.table import Column
from anonymizer.plugins import Applicable, PlugInSettings, Registry


@dataclass(frozen=True, eq=False)
class Query:
    """A count query: how many records have one of the wanted values in each of some attributes?

    Attributes
    ----------
    wanted: by attribute, which values of the original column match, shape (values,), bool.
    """

    wanted: Mapping[str, BoolArray]


@dataclass(frozen=True, eq=False)
class Bins:
    """The values of an attribute merged into bins.

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
    """Expected numbers of records by original value.

    For the originals these are counts, for a release what its recipient can estimate. Removed records are not
    included. A published value that covers no original value is missing from ``expected``, ``marginal`` and
    ``joint``, which may sum to less than ``records``.
    """

    @property
    @abstractmethod
    def records(self) -> int:
        """Number of records."""

    @abstractmethod
    def expected(self, query: Query) -> float:
        """Return the expected number of records that match a query."""

    @abstractmethod
    def marginal(self, attribute: str) -> FloatArray:
        """Return the expected number of records with each value, shape (values,), float64."""

    @abstractmethod
    def joint(self, one: Bins, other: Bins) -> FloatArray:
        """Return the expected number of records in each pair of bins, shape (one, other), float64."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Originals, a release and the release with everything suppressed.

    Attributes
    ----------
    source: name of the release in messages.
    columns: the original values of every attribute that originals and release share, quasi-identifiers first.
    quasi_identifiers, sensitive: names of these attributes.
    original: counts of the original records.
    release: estimates by a recipient of the release.
    suppressed: the same if every quasi-identifier of every record were ``*``.
    adversary: links from original to released records, for measures that hold records out; None if unknown.
    """

    source: str
    columns: Mapping[str, Column]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    original: Estimate
    release: Estimate
    suppressed: Estimate
    adversary: AdversaryView | None = None


@dataclass(frozen=True)
class UtilityFinding:
    """The result of one measure.

    Attributes
    ----------
    measure: its name.
    attributes: names of the compared attributes.
    value: of the release.
    untouched: of the originals.
    suppressed: of a release with ``*`` in every quasi-identifier.
    smaller_is_better: whether a small value means a useful release.
    records: number of compared originals.
    details: further results, in plain types.
    """

    measure: str
    attributes: tuple[str, ...]
    value: float
    untouched: float
    suppressed: float
    smaller_is_better: bool
    records: int
    details: dict[str, Any] = field(default_factory=dict)


class TimedSettings(PlugInSettings):
    """The parameters of a measure with a time limit."""

    seconds: Annotated[
        float, Field(gt=0, description="time limit; the measures completed by then are reported")
    ] = 10.0


class Deadline:
    """The time at which a measure must end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether the time limit is reached."""
        return time.monotonic() >= self._end


def total_variation(one: FloatArray, other: FloatArray, records: tuple[int, int]) -> float:
    """Return half the sum of |share - share|, in [0, 1]: the smallest share of records to change.

    Parameters
    ----------
    one, other: records with each value, of the same shape.
    records: totals of both; records without a value in ``one`` or ``other`` count as different.
    """
    if not records[0] or not records[1]:
        return float(records[0] != records[1])
    first, second = one / records[0], other / records[1]
    lost = abs((1 - first.sum()) - (1 - second.sum()))
    return float(min((np.abs(first - second).sum() + lost) / 2, 1.0))


class Measure(Applicable):
    """An analysis of microdata, run on originals and release.

    Class attributes
    ----------------
    needs_sensitive: whether the measure needs a sensitive attribute.
    """

    needs_sensitive: ClassVar[bool] = False

    @abstractmethod
    def measure(self, comparison: Comparison, random: np.random.Generator) -> Sequence[UtilityFinding]:
        """Return the results, one for each sensitive attribute if the measure concerns one at a time.

        Parameters
        ----------
        random: the source of all randomness.
        """

    def error(
        self, comparison: Comparison, value: float, suppressed: float, details: dict[str, Any]
    ) -> list[UtilityFinding]:
        """Return the result of a measure over all attributes that is 0 for the originals."""
        names, records = tuple(comparison.columns), comparison.original.records
        return [UtilityFinding(self.name, names, value, 0.0, suppressed, True, records, details)]


UTILITY_MEASURES: Registry[Measure] = Registry(
    "utility measure", Measure, "anonymizer.utility", "anonymizer.utility_measures"
)
