"""Marketer risk."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from anonymizer.model.classes import ClassView
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Threat
from anonymizer.privacy.base import PrivacyModel, ReleaseRisk, RiskSettings
from anonymizer.privacy.risk import mean_risk


class Against(StrEnum):
    """Whom records are linked with."""

    RECORDS = "records"
    POPULATION = "population"


class MarketerRiskSettings(RiskSettings):
    """Parameters of marketer risk."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of records that are re-identified")]
    against: Annotated[
        Against,
        Field(description="records (default): an adversary with these people; population: with everybody"),
    ] = Against.RECORDS


class MarketerRisk(ReleaseRisk):
    """The share of records that an adversary who links them all re-identifies: the mean of 1/n_E or 1/N_E.

    Source: Dankar, El Emam, "A method for evaluating marketer re-identification risk" (PAIS 2010,
    doi:10.1145/1754239.1754271).
    """

    name = "marketer-risk"
    sensitive = False
    Settings = MarketerRiskSettings
    settings: MarketerRiskSettings
    examples = (
        {"max": 0.5, "against": "records"},
        {"max": 0.25, "against": "population"},
        {"max": 0.1, "against": "records"},
        {"max": 0.05, "against": "population"},
    )
    mitigates = frozenset({Threat.RE_IDENTIFICATION})
    measured_by_default = False

    def __init__(self, settings: MarketerRiskSettings) -> None:
        super().__init__(settings)
        self.needs_population = settings.against is Against.POPULATION

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return a probe against the records, and one against the population."""
        return [cls(MarketerRiskSettings.model_validate({"max": 1, "against": each})) for each in Against]

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return the share of re-identified records."""
        return f"finds a {unit} with a probability of at most {self.settings.max} on average"

    def most_classes(self, records: int) -> int | None:
        """Return how many classes re-identify so many records as rarely as asked."""
        return None if self.needs_population else int(Fraction(self.settings.max) * records)

    def risk(self, view: ClassView) -> Fraction:
        """Return the mean over the records."""
        if self.settings.against is Against.RECORDS:
            return mean_risk(view.sizes, view.sizes, 1)
        return mean_risk(view.sizes, view.people.scaled, view.people.scale)
