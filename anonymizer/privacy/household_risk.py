"""Household risk."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anonymizer.attacks.uniqueness import SampleClasses, individual_risk
from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import ClassView
from anonymizer.model.features import Feature
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Threat
from anonymizer.privacy.base import PERSONS, PrivacyModel, ReleaseRisk, RiskSettings, as_shown
from anonymizer.privacy.marketer_risk import Against


class HouseholdRiskSettings(RiskSettings):
    """Parameters of household risk."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum probability that a member is found")]
    at: Annotated[
        Literal["highest", "mean"],
        Field(description="highest (default): of every household; mean: over all members"),
    ] = "highest"
    against: Annotated[
        Against,
        Field(
            description="records (default): a member is one of the records of a class; population: one of "
            "its people, with weights the individual risk"
        ),
    ] = Against.RECORDS


class HouseholdRisk(ReleaseRisk):
    """The probability that at least one member of a household is found: 1 - the product of (1 - risk).

    The risk of a member is 1/n_E, with a table of the population 1/N_E, and with sampling weights the
    individual risk E(1/F | f). Only released members count. A member is found no more often than the
    household.

    Source: Hundepool and others, "Statistical disclosure control" (Wiley 2012), section 3.6, household risk.
    """

    name = "household-risk"
    supports = ReleaseRisk.supports - {Feature.APPLY}
    sensitive = False
    Settings = HouseholdRiskSettings
    settings: HouseholdRiskSettings
    examples = (
        {"max": 0.9, "at": "mean", "against": "records"},
        {"max": 0.5, "at": "highest", "against": "population"},
        {"max": 0.1, "at": "highest", "against": "records"},
    )
    mitigates = frozenset({Threat.RE_IDENTIFICATION})
    measured_by_default = False
    needs_households = True
    people_units = PERSONS

    def __init__(self, settings: HouseholdRiskSettings) -> None:
        super().__init__(settings)
        self.needs_population = settings.against is Against.POPULATION

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return a probe for each place, against records and people."""
        places = [(at, against) for against in Against for at in ("highest", "mean")]
        given = [{"max": 1, "at": at, "against": against} for at, against in places]
        return [cls(HouseholdRiskSettings.model_validate(each)) for each in given]

    def _risks(self, view: ClassView) -> FloatArray:
        """Return the risk of a record of each class, shape (classes,)."""
        if self.settings.against is Against.RECORDS:
            return 1 / view.sizes
        people = view.people
        if people.estimated:
            return individual_risk(SampleClasses(view.sizes, people.people))
        return np.minimum(1 / people.people, 1.0)

    def risk(self, view: ClassView) -> Fraction:
        """Return the highest risk of a household, or the mean over the records."""
        assert view.households is not None, "the config names the column of households"
        risks, sizes = view.households.risks(self._risks(view)), view.households.sizes
        # Rounding in a product must not decide whether the risk is at the threshold.
        found = risks.max() if self.settings.at == "highest" else risks @ sizes / sizes.sum()
        return as_shown(round(float(found), 12))
