"""Journalist risk."""

from __future__ import annotations

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import ClassView
from anonymizer.model.features import Feature
from anonymizer.privacy.base import PERSONS_OR_RECORDS
from anonymizer.privacy.risk import HighestRisk, Risk, TableRisk


class _Journalist(Risk):
    name = "journalist-risk"
    examples = (
        {"max": 0.5, "at": "mean"},
        {"max": 0.25, "at": {"share-above": 0.1}},
        {"max": 0.2, "at": "highest"},
        {"max": 0.1, "at": "highest"},
    )
    needs_population = True

    def confused(self, view: ClassView) -> tuple[IntArray, int]:
        """Return the people of each class, scaled."""
        return view.people.scaled, view.people.scale


class _OfRelease(_Journalist, TableRisk):
    """The mean journalist risk, or the share of records above a threshold."""


class JournalistRisk(_Journalist, HighestRisk):
    """The risk 1 / N_E of a record whose person may or may not be in the data.

    N_E is the number of people of the population with the values of the class, as in k-map.

    Source: El Emam, Dankar, "Protecting privacy using k-anonymity" (JAMIA 15(5), 2008,
    doi:10.1197/jamia.M2716).
    """

    supports = HighestRisk.supports - {Feature.APPLY, Feature.UNITS, Feature.PSEUDONYMS}
    people_units = PERSONS_OR_RECORDS
    of_release = _OfRelease
