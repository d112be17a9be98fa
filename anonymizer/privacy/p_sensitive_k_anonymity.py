"""p-sensitive k-anonymity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Rule, Settings, Threat, WholeNumber
from anonymizer.privacy.base import (
    WHO,
    ClassModel,
    CountConditions,
    Distinct,
    GroupSize,
    Measured,
    Merging,
    Threshold,
    distinct_values,
)


class PSensitiveKAnonymitySettings(Settings):
    """Parameters of p-sensitive k-anonymity."""

    p: Annotated[WholeNumber, Field(ge=1, description="distinct sensitive values in every class; at most k")]
    k: GroupSize

    together = (
        Rule(lambda own: own.p > own.k, "p = {own.p}; accepted: a whole number from 1 to k = {own.k}"),
    )


class PSensitiveKAnonymity(ClassModel):
    """k-anonymity with at least p distinct sensitive values in every class.

    A missing sensitive value counts in the class size, but as a distinct value only with ``missing_sensitive:
    value``.

    Source: Truta, Vinay (ICDE Workshops 2006, doi:10.1109/ICDEW.2006.116), definition 2.
    """

    name = "p-sensitive-k-anonymity"
    sensitive = True
    Settings = PSensitiveKAnonymitySettings
    settings: PSensitiveKAnonymitySettings
    examples = ({"p": 1, "k": 3}, {"p": 2, "k": 3}, {"p": 3, "k": 4})
    mitigates = WHO | {Threat.HOMOGENEITY}
    thresholds = (Threshold("p", 1, whole=True), Threshold("k", 1, whole=True))
    measures = ("k", "p")
    merging = Merging.ANY
    merging_of_units = Merging.ANY

    def __init__(self, settings: PSensitiveKAnonymitySettings) -> None:
        super().__init__(settings)
        if settings.p == 1:
            # It allows classes with a single value.
            self.mitigates = WHO

    @property
    def least_values(self) -> int:
        """At least p values."""
        return self.settings.p

    @property
    def minimum_size(self) -> int:
        return max(self.settings.k, self.settings.p)

    @property
    def minimum_units(self) -> int:
        return self.settings.k

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return the maximum probability of finding a record, and the minimum number of remaining values."""
        found = f"finds a {unit} with a probability of at most 1 in {self.settings.k}"
        return f"{found} and is left with at least {self.settings.p} values of {attribute}"

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have at least k records and p distinct values."""
        return (view.sizes >= self.settings.k) & (distinct_values(view) >= self.settings.p)

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Require k records and p distinct values."""
        return CountConditions(smallest=self.settings.k, distinct=(Distinct(self.settings.p, missing),))

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the smallest class size and the smallest number of distinct values."""
        return [int(view.sizes.min()), int(distinct_values(view).min())]

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes are the smallest or have the fewest distinct values."""
        distinct = distinct_values(view)
        worst: BoolArray = (view.sizes == view.sizes.min()) | (distinct == distinct.min())
        return worst
