"""Interval risk: the share of true numbers that lie in an interval around the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from anonymizer.attacks.base import Attack, AttackResult
from anonymizer.attacks.interval import Interval, IntervalOptions, IntervalSettings
from anonymizer.errors import listed, suggestion
from anonymizer.model.features import Feature
from anonymizer.model.table import QuasiIdentifier
from anonymizer.plugins import Exact
from anonymizer.privacy.base import AttackModel, TailSettings


class IntervalRiskSettings(IntervalOptions, TailSettings):
    """Parameters of the interval constraint."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of true numbers in the interval")]


class IntervalRisk(AttackModel):
    """The largest share, over attributes and measures, of true numbers near the published ones.

    Measured by the attack ``interval`` on every released record whose true number is known and present. The
    share itself counts, not the end of its interval: generalizing draws nothing. Where units are counted, it
    is the share of those with a true number in the interval. With ``at`` it is the share among those whose
    published values are the narrowest.

    Source: Domingo-Ferrer, Torra, "A quantitative comparison of disclosure control methods for microdata" (in
    Confidentiality, Disclosure and Data Access, North-Holland 2001).
    """

    name = "interval-risk"
    sensitive = False
    Settings = IntervalRiskSettings
    settings: IntervalRiskSettings
    mitigates = frozenset()
    examples = (
        {"max": 0.5, "width": 0.05, "deviation": "original"},
        {"max": 0.25, "width": 0.1, "measure": "rid", "deviation": "original"},
        {"max": 0.1, "width": 0.1, "measure": "sdid", "deviation": "original"},
        {"max": 0, "width": 0.25, "measure": "sdid", "deviation": "published"},
    )
    supports = AttackModel.supports | {Feature.UNITS}

    def attack(self) -> Attack:
        return Interval(
            IntervalSettings(**self.settings.model_dump(exclude={"max", "at"}, exclude_none=True))
        )

    def worst(self, found: Sequence[AttackResult]) -> float:
        """Return the largest share; 0 if no released record has a number."""
        return round(max((float(each.success) for each in found), default=0.0), 12)

    def fault(self, attributes: Sequence[QuasiIdentifier]) -> str | None:
        """Return which attributes are texts."""
        every = [each.name for each in attributes]
        numeric = [each.name for each in attributes if each.column.numbers is not None]
        if not numeric:
            what = f"measures numbers and dates; no quasi-identifier has any ({listed(every)})"
            return f"{what}; remove the constraint, or declare a column's type"
        for name in self.settings.attributes or ():
            if name not in numeric:
                what = f"'{name}' is not a quasi-identifier with numbers or dates"
                return f"{what}; {suggestion(name, numeric)}"
        return None
