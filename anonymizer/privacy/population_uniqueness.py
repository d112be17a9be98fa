"""Population uniqueness."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from anonymizer.attacks.uniqueness import ESTIMATORS, SampleClasses
from anonymizer.model.classes import ClassView
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Settings
from anonymizer.privacy.base import WHO, Measured, PrivacyModel, TableModel, Threshold


class EstimatorName(StrEnum):
    """How population uniques are found."""

    COUNT = "count"
    NEGATIVE_BINOMIAL = "negative-binomial"
    ZAYATZ = "zayatz"
    PITMAN = "pitman"


class PopulationUniquenessSettings(Settings):
    """Parameters of population uniqueness."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of records that are unique")]
    estimator: Annotated[
        EstimatorName,
        Field(
            description="pitman (default), zayatz, negative-binomial: from class sizes and the number of "
            "people; count: classes of one person in the population"
        ),
    ] = EstimatorName.PITMAN


class PopulationUniqueness(TableModel):
    """The expected share of records whose person is the only one in the population with their values.

    ``count`` counts classes with N_E = 1, which is exact with a table of the population. The estimators are
    those of the attack ``uniqueness``.
    """

    name = "population-uniqueness"
    sensitive = False
    Settings = PopulationUniquenessSettings
    settings: PopulationUniquenessSettings
    mitigates = WHO
    thresholds = (Threshold("max", 1),)
    needs_population = True
    measured_by_default = False

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return a probe for each estimator."""
        given = [{"max": 1, "estimator": each} for each in EstimatorName]
        return [cls(PopulationUniquenessSettings.model_validate(each)) for each in given]

    @property
    def singles_out(self) -> bool:
        """True: it concerns linking records."""
        return True

    def measured(self, view: ClassView) -> Measured:
        """Return the share of the records."""
        people, records = view.people, int(view.sizes.sum())
        if self.settings.estimator is EstimatorName.COUNT:
            alone = int(view.sizes[people.scaled <= people.scale].sum())
            return alone / records
        (estimator,) = (each for each in ESTIMATORS if each.name == self.settings.estimator)
        return round(estimator.uniques(SampleClasses(view.sizes, people.people)) / records, 12)

    def holds(self, view: ClassView) -> bool:
        """Return whether the share is at most ``max``."""
        found = self.measured(view)
        return Fraction(repr(found)) <= Fraction(self.settings.max)
