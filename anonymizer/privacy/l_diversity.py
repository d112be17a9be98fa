"""Distinct l-diversity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Settings, WholeNumber
from anonymizer.privacy.base import (
    DIVERSE,
    ClassModel,
    CountConditions,
    Distinct,
    Measured,
    Merging,
    Threshold,
    distinct_values,
    stopped_by,
)


class LDiversitySettings(Settings):
    """Parameters of distinct l-diversity."""

    l: Annotated[WholeNumber, Field(ge=1, description="distinct sensitive values in every class")]  # noqa: E741


class LDiversity(ClassModel):
    """At least l distinct sensitive values in every class.

    A missing sensitive value is not a distinct value, unless ``missing_sensitive: value`` is set.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (ACM TKDD 2007, doi:10.1145/1217299.1217302),
    section 4, the weakest reading of "l well-represented values".
    """

    name = "l-diversity"
    sensitive = True
    Settings = LDiversitySettings
    settings: LDiversitySettings
    examples = tuple({"l": each} for each in (1, 2, 3))
    mitigates = DIVERSE
    thresholds = (Threshold("l", 1, whole=True),)
    merging = Merging.ANY
    merging_of_units = Merging.ANY

    def __init__(self, settings: LDiversitySettings) -> None:
        super().__init__(settings)
        self.mitigates = stopped_by(settings.l)

    @property
    def least_values(self) -> int:
        """At least l values."""
        return self.settings.l

    @property
    def minimum_size(self) -> int:
        return self.settings.l

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return that at least l values remain possible."""
        return f"is left with at least {self.settings.l} values of {attribute}"

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have at least l distinct values."""
        return distinct_values(view) >= self.settings.l

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Require l distinct values."""
        return CountConditions(distinct=(Distinct(self.settings.l, missing),))

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the smallest number of distinct values."""
        return int(distinct_values(view).min())

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have the fewest distinct values."""
        distinct = distinct_values(view)
        worst: BoolArray = distinct == distinct.min()
        return worst
