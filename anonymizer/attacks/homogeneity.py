"""Homogeneity: all records of a class have one sensitive value."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.attribute_disclosure import ClassDisclosure
from anonymizer.model.adversary import Threat
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts


class Homogeneity(ClassDisclosure):
    """Share of records in classes that have a single sensitive value.

    A missing value counts like any other: a class of missing values discloses that the value is missing.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity" (ACM TKDD 1(1), 2007,
    doi:10.1145/1217299.1217302), section 2.1.
    """

    name = "homogeneity"
    threat = Threat.HOMOGENEITY

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Return which classes have a single value."""
        single: BoolArray = np.diff(counts.starts) == 1
        return single
