"""What the risks of re-identification have in common: a probability for each record, and where it is judged.

The highest risk is that of a class, which suppression removes; the mean, and the share of records above a
threshold, are of the whole release.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, WithJsonSchema

from anonymizer.model.arrays import BoolArray, IntArray, count
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.features import Feature, Limit
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Rule, Settings, Threat
from anonymizer.privacy.base import (
    WHO,
    ClassModel,
    Measured,
    Merging,
    PrivacyModel,
    ReleaseRisk,
    RiskSettings,
    Threshold,
)

_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_ABOVE = {
    "type": "object",
    "properties": {"share-above": _SHARE},
    "required": ["share-above"],
    "additionalProperties": False,
}
Place = Literal["highest", "mean"] | Annotated[dict[Literal["share-above"], Exact], WithJsonSchema(_ABOVE)]
"""Where a risk is judged."""


class RecordRiskSettings(RiskSettings):
    """Parameters of a risk of records."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum risk, or share of the records")]
    at: Annotated[
        Place,
        Field(
            description="highest (default): of every record; mean: over all records; {share-above: 0.2}: "
            "share of the records whose risk is above"
        ),
    ] = "highest"

    together = (
        Rule(
            lambda own: (
                isinstance(own.at, dict) and not (len(own.at) == 1 and 0 <= own.at["share-above"] <= 1)
            ),
            "accepted: highest, mean, or {{share-above: 0.2}} with a number from 0 to 1",
        ),
    )


class Risk(PrivacyModel):
    """A risk of 1 / m for a record that could be any of m records or people."""

    sensitive = False
    Settings = RecordRiskSettings
    settings: RecordRiskSettings
    mitigates = WHO
    thresholds = (Threshold("max", 1),)
    measured_by_default = False

    @property
    def allowed_success(self) -> Decimal | None:
        """The maximum of every record, or of the mean; of a share above a threshold, the mean it allows."""
        most = self.settings.max
        return (
            most + (1 - most) * self.settings.at["share-above"]
            if isinstance(self.settings.at, dict)
            else most
        )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters; the place is left out where it is the default."""
        shown = super().parameters()
        if isinstance(self.settings.at, dict):
            shown["at"] = {key: float(value) for key, value in self.settings.at.items()}
        return shown

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return a probe of the highest and of the mean risk."""
        return [cls.of(cls.Settings.model_validate({"max": 1, "at": at})) for at in ("highest", "mean")]

    @abstractmethod
    def confused(self, view: ClassView) -> tuple[IntArray, int]:
        """Return how many records or people each class has times a scale, shape (classes,), and the scale."""


class HighestRisk(Risk, ClassModel):
    """The risk of every record, at most ``max``.

    Class attributes
    ----------------
    of_release: the mean risk, or the share of records above a threshold.
    """

    merging = Merging.ANY
    merging_of_units = Merging.ANY
    of_release: ClassVar[type[TableRisk]]

    @classmethod
    def of(cls, settings: Settings) -> PrivacyModel:
        """Return the model of classes for the highest risk, else that of the release."""
        assert isinstance(settings, RecordRiskSettings), "the model's own settings"
        return cls(settings) if settings.at == "highest" else cls.of_release(settings)

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return the highest risk of a record."""
        return f"finds a {unit} with a probability of at most {self.settings.max}"

    @property
    def least(self) -> int | None:
        """How many records every record must be confused with; None: no number suffices."""
        return self._least(1)

    def _least(self, scale: int) -> int | None:
        """Return what suffices of records or people times a scale; rounded last, as weights have digits."""
        return ceil(scale / Fraction(self.settings.max)) if self.settings.max else None

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the highest risk."""
        numbers, scale = self.confused(view)
        return scale / int(numbers.min())

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have the highest risk."""
        numbers, _ = self.confused(view)
        worst: BoolArray = numbers == numbers.min()
        return worst

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return in which classes the risk is at most ``max``."""
        numbers, scale = self.confused(view)
        least = self._least(scale)
        if least is None:
            return np.zeros(len(numbers), dtype=bool)
        return numbers >= min(least, int(np.iinfo(np.int64).max))


class TableRisk(Risk, ReleaseRisk):
    """The mean risk, or the share of records whose risk is above a threshold, at most ``max``."""

    Settings = RecordRiskSettings
    settings: RecordRiskSettings
    mitigates = frozenset({Threat.RE_IDENTIFICATION})

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """The risk of each class counts persons; that of the release does not."""
        at = "{{share-above: ...}}" if isinstance(self.settings.at, dict) else self.settings.at
        what = f"{{model}} with at: {at} counts records only{{by_default}}"
        return {
            **super().limits,
            Feature.UNITS: Limit(what, "{add}, or use at: highest, which counts persons"),
        }

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return the mean risk, or the share of records at risk."""
        if not isinstance(self.settings.at, dict):
            return f"finds a {unit} with a probability of at most {self.settings.max} on average"
        share, above = f"{100 * self.settings.max:f}".rstrip("0").rstrip("."), self.settings.at["share-above"]
        return f"finds at most {share} % of the records with a probability above {above}"

    def risk(self, view: ClassView) -> Fraction:
        """Return the mean, or the share of the records at risk."""
        numbers, scale = self.confused(view)
        if not isinstance(self.settings.at, dict):
            return mean_risk(view.sizes, numbers, scale)
        threshold = Fraction(self.settings.at["share-above"])
        # 1 / m is above t if m is below 1 / t.
        above = np.ones(len(numbers), dtype=bool) if not threshold else numbers < ceil(scale / threshold)
        return Fraction(int(view.sizes[above].sum()), int(view.sizes.sum()))


def mean_risk(sizes: IntArray, numbers: IntArray, scale: int) -> Fraction:
    """Return the mean over all records of scale / numbers, exactly.

    Parameters
    ----------
    sizes: records of each class.
    numbers: records or people that each of them could be, times ``scale``.
    """
    distinct, group = np.unique(numbers, return_inverse=True)
    sums = count(group, sizes, len(distinct))
    terms = [Fraction(size, number) for size, number in zip(sums.tolist(), distinct.tolist(), strict=True)]
    while len(terms) > 1:  # in a tree, so that most sums have small denominators
        terms = [sum(terms[place : place + 2], Fraction(0)) for place in range(0, len(terms), 2)]
    return terms[0] * scale / int(sizes.sum())
