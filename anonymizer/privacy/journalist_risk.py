"""Journalist risk."""

from __future__ import annotations

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import ClassView
from anonymizer.plugins import Settings
from anonymizer.privacy.base import PERSONS_OR_RECORDS, PrivacyModel
from anonymizer.privacy.risk import HighestRisk, RiskSettings, TableRisk


class JournalistRisk(HighestRisk):
    """The risk 1 / N_E of a record whose person may or may not be in the data.

    N_E is the number of people of the population with the values of the class, as in k-map.

    Source: El Emam, Dankar, "Protecting privacy using k-anonymity" (JAMIA 15(5), 2008,
    doi:10.1197/jamia.M2716).
    """

    name = "journalist-risk"
    needs_population = True
    counts_units = False
    people_units = PERSONS_OR_RECORDS

    @classmethod
    def of(cls, settings: Settings) -> PrivacyModel:
        """Return the model of classes for the highest risk, else that of the release."""
        assert isinstance(settings, RiskSettings), "the model's own settings"
        return cls(settings) if settings.at == "highest" else _OfRelease(settings)

    def confused(self, view: ClassView) -> tuple[IntArray, int]:
        """Return the people of each class, scaled."""
        return view.people.scaled, view.people.scale


class _OfRelease(TableRisk):
    """The mean journalist risk, or the share of records above a threshold."""

    name = JournalistRisk.name
    needs_population = True

    def confused(self, view: ClassView) -> tuple[IntArray, int]:
        """Return the people of each class, scaled."""
        return view.people.scaled, view.people.scale
