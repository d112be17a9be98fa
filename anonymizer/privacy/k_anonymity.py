"""k-anonymity."""

from __future__ import annotations

from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Settings
from anonymizer.privacy.base import WHO, ClassModel, CountConditions, GroupSize, Measured, Merging, Threshold


class KAnonymitySettings(Settings):
    """Parameters of k-anonymity."""

    k: GroupSize


class KAnonymity(ClassModel):
    """Every record shares its quasi-identifiers with at least k - 1 others: n_E >= k.

    A missing quasi-identifier value is a value like any other.

    Source: Samarati (IEEE TKDE 2001, doi:10.1109/69.971193); Sweeney (IJUFKS 2002,
    doi:10.1142/S0218488502001648), definition 3.
    """

    name = "k-anonymity"
    examples = tuple({"k": k} for k in (1, 2, 3, 4))
    sensitive = False
    by_size = True

    Settings = KAnonymitySettings
    settings: KAnonymitySettings
    mitigates = WHO
    thresholds = (Threshold("k", 1, whole=True),)
    merging = Merging.ANY
    merging_of_units = Merging.ANY

    @property
    def minimum_size(self) -> int:
        return self.settings.k

    @property
    def minimum_units(self) -> int:
        return self.settings.k

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return that a record is found with a probability of at most 1 in k."""
        return f"finds a {unit} with a probability of at most 1 in {self.settings.k}"

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have at least k records."""
        return view.sizes >= self.settings.k

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Require k records."""
        return CountConditions(smallest=self.settings.k)

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the smallest class size."""
        return int(view.sizes.min())

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes are the smallest."""
        worst: BoolArray = view.sizes == view.sizes.min()
        return worst
