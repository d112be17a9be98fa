"""Linkage risk: the share of records that an adversary with the original records links correctly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from anonymizer.attacks.base import Attack
from anonymizer.attacks.linkage.attack import (
    KNOWLEDGE,
    DistanceName,
    Knowledge,
    KnownValues,
    Linkage,
    LinkageMethod,
    LinkageSettings,
    Standardisation,
)
from anonymizer.model.features import Feature, Limit
from anonymizer.model.units import RECORD
from anonymizer.plugins import Exact
from anonymizer.privacy.base import WHO, AttackModel, TailSettings


class LinkageRiskSettings(TailSettings):
    """Parameters of the linkage constraint."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of correct links")]
    linkage: Annotated[LinkageMethod, Field(description="method of linking records")] = LinkageMethod.NEAREST
    distance: Annotated[
        DistanceName | None, Field(description="distance between records; default: that of the attack")
    ] = None
    knowledge: Annotated[Knowledge | None, Field(description=KNOWLEDGE)] = None
    overlap: Annotated[
        Exact | None,
        Field(gt=0, le=1, description="share of the original records that the adversary holds; default: 1"),
    ] = None
    noise: Annotated[
        Exact | None,
        Field(gt=0, lt=1, description="share of the adversary's values that are wrong; default: none"),
    ] = None
    standardise: Annotated[
        Standardisation | None,
        Field(description="scale of numbers, as in the attack; default: each"),
    ] = None
    metric: Annotated[
        bool | None, Field(description="with learned and bilinear: restrict the forms to metrics")
    ] = None
    swap_range: Annotated[
        Exact | None,
        Field(gt=0, le=100, description="with rank: the swap range that the adversary knows, in percent"),
    ] = None

    @model_validator(mode="after")
    def _fit(self) -> Self:
        # The attack refuses combinations of parameters with its own message.
        self.attack()
        return self

    def attack(self) -> LinkageSettings:
        """Return the parameters of the attack."""
        return LinkageSettings(**self.model_dump(exclude={"max", "at"}, exclude_none=True))


class LinkageRisk(AttackModel):
    """The expected share of released records that are linked correctly.

    The adversary holds the quasi-identifiers of all original records, unless the parameters say otherwise,
    and links them by the attack ``linkage``; ties of n count 1/n. The upper end of the interval decides: of
    95 % if targets are sampled or errors are drawn, the most links of equally good assignments if there are
    several. Where units are counted, it is the expected share of units of whom a record is linked to one of
    their own. With ``at`` it is the share among the links of which the adversary is surest.
    """

    name = "linkage-risk"
    sensitive = False
    Settings = LinkageRiskSettings
    settings: LinkageRiskSettings
    examples = (
        {"max": 0.5, "linkage": "nearest"},
        {"max": 0.25, "linkage": "assignment", "distance": "weighted-mean"},
        {"max": 0.2, "linkage": "nearest"},
        {"max": 0.1, "linkage": "learned", "distance": "choquet"},
    )
    mitigates = WHO
    supports = AttackModel.supports | {Feature.UNITS}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters; shares of errors stand beside the known columns."""
        shown = super().parameters()
        if isinstance(self.settings.knowledge, KnownValues):
            names = shown.pop("knowledge").get("of")
            shown |= {} if names is None else {"knowledge": names}
            shown |= self.settings.knowledge.rates.given()
        return shown

    def concerns(self, knowledge: Mapping[str, Any]) -> bool:
        """Return whether the adversary knows no more than the parameters say, and errs as often."""
        own = self.settings.attack()
        known = own.names is None or set(knowledge.get("attributes", ())) <= set(own.names)
        rates = asdict(own.rates)
        same = rates == {name: float(knowledge.get(name, 0)) for name in rates}
        return known and same and float(knowledge.get("overlap", 1)) <= float(own.overlap)

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Records are drawn, or changed, one by one."""
        if not self.settings.attack().draws_or_matches:
            return super().limits
        what = "with overlap, or with rates of errors in knowledge, {model} counts records only"
        return {**super().limits, Feature.UNITS: Limit(what, f"set unit: {RECORD}")}

    def attack(self) -> Attack:
        """Return the linkage attack, without what only a report shows."""
        found = Linkage(self.settings.attack())
        # Which links are the surest, all of them tell.
        found.ranked = self.settings.at is not None
        found.at_most = 1.0 if found.ranked else float(self.settings.max)
        return found
