"""Delta-presence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.features import Feature
from anonymizer.plugins import Exact, Settings, Threat, ordered
from anonymizer.privacy.base import PERSONS, ClassModel, Measured, Merging, Threshold, whole_records


class DeltaPresenceSettings(Settings):
    """Parameters of delta-presence."""

    min: Annotated[Exact, Field(ge=0, le=1, description="minimum share of a class that is in the data")] = (
        Decimal(0)
    )
    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of a class that is in the data")]

    together = (ordered("min", "max"),)


class DeltaPresence(ClassModel):
    """Nobody learns who is in the data: min <= n_E / N_E <= max for every class of the population.

    With min above 0, no class of the population may be without a record; suppression cannot repair that, so
    that the recoding is rejected. A class that was suppressed is not judged again.

    Source: Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases" (SIGMOD 2007,
    doi:10.1145/1247480.1247554), definition 3.
    """

    name = "delta-presence"
    sensitive = False
    supports = ClassModel.supports - {Feature.APPLY, Feature.UNITS, Feature.PSEUDONYMS}
    people_units = PERSONS
    needs_population = True
    measured_by_default = False
    Settings = DeltaPresenceSettings
    settings: DeltaPresenceSettings
    examples = (
        {"min": 0, "max": 1},
        {"min": 0, "max": 0.9},
        {"min": 0.1, "max": 0.75},
        {"min": 0, "max": 0.5},
        {"min": 0.25, "max": 0.3},
    )
    mitigates = frozenset({Threat.LINKAGE})
    thresholds = (Threshold("max", 1), Threshold("min", 0))
    merging = Merging.SATISFYING

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have a share within the bounds; none if the population has further classes."""
        low, high = Fraction(self.settings.min), Fraction(self.settings.max)
        people = view.people
        if people.absent and low > 0:
            return np.zeros(len(view.sizes), dtype=bool)
        return people.at_most_share(view.sizes, high) & people.at_least_share(view.sizes, low)

    @staticmethod
    def _shares(view: ClassView) -> FloatArray:
        return view.sizes / view.people.people

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the smallest and the largest share."""
        shares = self._shares(view)
        least = 0.0 if view.people.absent else float(shares.min())
        return [round(least, 12), round(float(shares.max()), 12)]

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have the largest share."""
        shares = self._shares(view)
        worst: BoolArray = np.isclose(shares, shares.max(), rtol=1e-12, atol=0)
        return worst

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Return the records above max N_E, which some part of the class has too many of.

        A class of the population without a record stays one in every finer partition, or has such parts.
        """
        if view.people.absent and self.settings.min > 0:
            return view.sizes
        excess = view.sizes - float(self.settings.max) * view.people.people
        return whole_records(excess, view, holds)
