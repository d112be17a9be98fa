"""Prosecutor risk."""

from __future__ import annotations

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import CountConditions
from anonymizer.privacy.risk import HighestRisk, Risk, TableRisk


class _Prosecutor(Risk):
    name = "prosecutor-risk"
    examples = (
        {"max": 0.5, "at": "mean"},
        {"max": 0.34, "at": {"share-above": 0.2}},
        {"max": 0.2, "at": "highest"},
        {"max": 0.1, "at": "highest"},
    )

    def confused(self, view: ClassView) -> tuple[IntArray, int]:
        """Return the records of each class."""
        return view.sizes, 1


class _OfRelease(_Prosecutor, TableRisk):
    """The mean prosecutor risk, or the share of records above a threshold."""


class ProsecutorRisk(_Prosecutor, HighestRisk):
    """The risk 1 / n_E of a record whose person is known to be in the data.

    Source: El Emam, Dankar, "Protecting privacy using k-anonymity" (JAMIA 15(5), 2008,
    doi:10.1197/jamia.M2716).
    """

    by_size = True
    of_release = _OfRelease

    @property
    def minimum_size(self) -> int:
        return self.least or 1

    @property
    def minimum_units(self) -> int:
        return self.minimum_size

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Require enough records."""
        return None if self.least is None else CountConditions(smallest=self.least)
