"""Measures of utility: originals and a release in, one number with two reference values out.

The number of original records of a kind is estimated from the release alone.
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
from anonymizer.plugins import Registry
from anonymizer.plugins import Settings as PlugInSettings


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


@dataclass(frozen=True, eq=False)
class Comparison:
    """Originals, and what a release says of them.

    Attributes
    ----------
    source: what messages call the release.
    columns: the original values of every attribute that originals and release share, quasi-identifiers first.
    quasi_identifiers, sensitive: names of these attributes.
    original: the original records, counted.
    release: what the recipient of the release works out.
    suppressed: what he would, were every quasi-identifier of every record ``*``.
    scene: which record became which, for measures that take records out; None where that is not known.
    """

    source: str
    columns: Mapping[str, Column]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    original: Estimate
    release: Estimate
    suppressed: Estimate
    scene: AdversaryView | None = None


@dataclass(frozen=True)
class UtilityFinding:
    """What one measure found.

    Attributes
    ----------
    measure: its name.
    attributes: that it looked at.
    value: of the release.
    untouched: what the originals themselves reach.
    suppressed: what a release with ``*`` in every quasi-identifier reaches.
    smaller_is_better: whether a small value is a useful release.
    records: originals that were compared.
    details: what else was found, in plain types.
    """

    measure: str
    attributes: tuple[str, ...]
    value: float
    untouched: float
    suppressed: float
    smaller_is_better: bool
    records: int
    details: dict[str, Any] = field(default_factory=dict)


class NoParameters(PlugInSettings):
    """The parameters of a measure that has none."""


class TimedSettings(PlugInSettings):
    """The parameters of a measure that may take long."""

    seconds: Annotated[
        float, Field(gt=0, description="time limit; the measures completed by then are reported")
    ] = 10.0


class Deadline:
    """When a measure has to end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._end


def total_variation(one: FloatArray, other: FloatArray, records: tuple[int, int]) -> float:
    """Return half the sum of |share - share|: the share of records that would have to change, in [0, 1].

    Parameters
    ----------
    one, other: records with each value, of the same shape.
    records: of both; what is missing in ``one`` or ``other`` has a value that the other has not.
    """
    if not records[0] or not records[1]:
        return float(records[0] != records[1])
    first, second = one / records[0], other / records[1]
    lost = abs((1 - first.sum()) - (1 - second.sum()))
    return float(min((np.abs(first - second).sum() + lost) / 2, 1.0))


class Measure(ABC):
    """One way in which analysts use microdata, tried on a release.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    needs_sensitive: whether it says nothing without a sensitive attribute.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoParameters
    needs_sensitive: ClassVar[bool] = False

    def __init__(self, settings: PlugInSettings | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()

    @abstractmethod
    def missing_requirement(self, comparison: Comparison) -> str | None:
        """Return what the measure would need and is not there, None when it applies."""

    @abstractmethod
    def measure(self, comparison: Comparison, random: np.random.Generator) -> Sequence[UtilityFinding]:
        """Measure, once for each sensitive attribute where there are several to look at.

        Parameters
        ----------
        random: the source of all randomness.
        """


UTILITY_MEASURES: Registry[Measure] = Registry(
    "utility measure", Measure, "anonymizer.utility", "anonymizer.utility_measures"
)
