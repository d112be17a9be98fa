"""The classes of a sample with their weights, and what an estimator makes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.model.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SampleClasses:
    """The equivalence classes of a sample.

    Attributes
    ----------
    sizes: records of each class, f, shape (classes,), int64, positive.
    population: estimated records of the population with these values, F: the sum of the sampling weights, at
        least f, shape (classes,), float64.
    """

    sizes: IntArray
    population: FloatArray

    @property
    def records(self) -> int:
        """Records of the sample, n."""
        return int(self.sizes.sum())

    @property
    def people(self) -> float:
        """Estimated records of the population, N, at least n."""
        return float(self.population.sum())

    @property
    def uniques(self) -> int:
        """Records that are alone in the sample."""
        return int((self.sizes == 1).sum())


class UniquesEstimator(ABC):
    """Estimates how many records of a sample are unique in the population.

    Class attributes
    ----------------
    name: as in the report.
    """

    name: ClassVar[str]

    @abstractmethod
    def uniques(self, sample: SampleClasses) -> float:
        """Return the expected number of records of the sample that are unique in the population."""
