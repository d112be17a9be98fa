"""k-map."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.features import Feature
from anonymizer.plugins import Settings, WholeNumber
from anonymizer.privacy.base import PERSONS_OR_RECORDS, WHO, ClassModel, Measured, Merging, Threshold


class KMapSettings(Settings):
    """Parameters of k-map."""

    k: Annotated[WholeNumber, Field(ge=1, description="minimum number of people in the population")]


class KMap(ClassModel):
    """Every record could be any of k people of the population: N_E >= k.

    N_E is counted in ``input.population``, or else the sum of the sampling weights of the class, at least
    n_E.

    Source: Sweeney, "Computational disclosure control" (PhD thesis, MIT 2001), chapter 4.
    """

    name = "k-map"
    sensitive = False
    supports = ClassModel.supports - {Feature.APPLY, Feature.UNITS, Feature.PSEUDONYMS}
    people_units = PERSONS_OR_RECORDS
    needs_population = True
    measured_by_default = False
    Settings = KMapSettings
    settings: KMapSettings
    examples = tuple({"k": k} for k in (1, 2, 3, 5, 8))
    mitigates = WHO
    thresholds = (Threshold("k", 1, whole=True),)
    merging = Merging.ANY
    merging_of_units = Merging.ANY

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have at least k people."""
        return view.people.at_least(Fraction(self.settings.k))

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the smallest number of people of a class."""
        people = float(view.people.people.min())
        return int(people) if people.is_integer() else people

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have the fewest people."""
        scaled = view.people.scaled
        worst: BoolArray = scaled == scaled.min()
        return worst
