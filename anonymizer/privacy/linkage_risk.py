"""Linkage risk: the share of records that an adversary with the original records links correctly."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from anonymizer.attacks.base import Attack
from anonymizer.attacks.linkage.attack import DistanceName, Linkage, LinkageMethod, LinkageSettings
from anonymizer.plugins import Exact
from anonymizer.privacy.base import WHO, AttackModel, RiskSettings


class LinkageRiskSettings(RiskSettings):
    """Parameters of the linkage constraint."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of correct links")]
    linkage: Annotated[LinkageMethod, Field(description="method of linking records")] = LinkageMethod.NEAREST
    distance: Annotated[
        DistanceName | None, Field(description="distance between records; default: that of the attack")
    ] = None

    @model_validator(mode="after")
    def _fit(self) -> Self:
        # The attack refuses combinations of parameters with its own message.
        self.attack()
        return self

    def attack(self) -> LinkageSettings:
        """Return the parameters of the attack; the adversary holds all original records."""
        return LinkageSettings(linkage=self.linkage, distance=self.distance)


class LinkageRisk(AttackModel):
    """The expected share of released records that are linked correctly.

    The adversary holds the quasi-identifiers of all original records and links them by the attack
    ``linkage``; ties of n count 1/n. If targets are sampled or ties resolved at random, the upper end of the
    95% interval decides.
    """

    name = "linkage-risk"
    sensitive = False
    Settings = LinkageRiskSettings
    settings: LinkageRiskSettings
    mitigates = WHO

    def attack(self) -> Attack:
        """Return the linkage attack."""
        return Linkage(self.settings.attack())
