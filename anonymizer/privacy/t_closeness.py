"""t-closeness."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Settings
from anonymizer.privacy.base import Merging, PrivacyModel, ScoredClassModel, Threshold
from anonymizer.privacy.exact import resolve_near_ties
from anonymizer.privacy.ground_distance import GROUND_DISTANCES, GroundDistance
from anonymizer.privacy.retention import CountConditions
from anonymizer.privacy.shares import whole_records
from anonymizer.privacy.threats import Threat

DistanceName = Literal["equal", "ordered", "hierarchical"]


class TClosenessSettings(Settings):
    """Parameters of t-closeness."""

    t: Annotated[Exact, Field(ge=0, le=1, description="largest allowed distance from the reference")]
    distance: Annotated[
        DistanceName | None,
        Field(description="ground distance; default: the attribute's, else ordered for numbers and dates"),
    ] = None


class TCloseness(ScoredClassModel):
    """The distribution of the sensitive attribute in every class is close to the reference.

    EMD(q, p) <= t, the earth mover's distance over the values' ground distance. A missing sensitive value
    counts in q and p; it is the last of the ordered values and, unless placed, a child of the root.

    Source: Li, Li, Venkatasubramanian (ICDE 2007, doi:10.1109/ICDE.2007.367856), definition 2, section 4.
    """

    name = "t-closeness"
    sensitive = True
    uses_reference = True
    Settings = TClosenessSettings
    settings: TClosenessSettings
    mitigates = frozenset({Threat.SKEWNESS, Threat.SIMILARITY})
    thresholds = (Threshold("t", 1),)
    merging = Merging.SATISFYING

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return the ground distances that the attribute has."""
        names: list[DistanceName] = ["equal"]
        if attribute is not None and attribute.column.type.ordered:
            names.append("ordered")
        if attribute is not None and attribute.hierarchy is not None:
            names.append("hierarchical")
        return [cls(TClosenessSettings(t=Decimal(1), distance=name)) for name in names]

    def along_hierarchy(self, attribute: SensitiveAttribute) -> bool:
        """Tell whether the ground distance is the hierarchical one."""
        return self.distance(attribute) is GROUND_DISTANCES["hierarchical"]

    def distance(self, attribute: SensitiveAttribute) -> GroundDistance:
        """Return the ground distance: the constraint's own, else the attribute's, else by its type."""
        default = "ordered" if attribute.column.type.ordered else "equal"
        return GROUND_DISTANCES[self.settings.distance or attribute.distance or default]

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return EMD(q, p) of each class."""
        assert reference is not None
        counts = view.counted
        return self.distance(counts.attribute).scores(counts, view.sizes, reference)

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Tell which classes are within t."""
        assert reference is not None
        counts, t = view.counted, Fraction(self.settings.t)
        distance = self.distance(counts.attribute)
        margins = distance.scores(counts, view.sizes, reference) - float(t)
        return resolve_near_ties(
            margins <= 0,
            margins,
            1.0,
            lambda i: tuple(counts.of_class(i)),
            lambda i: distance.exactly(counts.of_class(i), counts.attribute, reference) <= t,
        )

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Bound the distance; values that the reference lacks cannot stay."""
        assert attribute is not None
        assert reference is not None
        deviation = self.distance(attribute).deviation(attribute, reference, Fraction(self.settings.t))
        caps = tuple(Fraction(int(present)) for present in reference.present.tolist())
        return CountConditions(caps=None if all(caps) else caps, deviations=(deviation,))

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by convexity: EMD <= (1 - f) t + f where a share f is lost."""
        t = float(self.settings.t)
        if t == 1:
            return np.zeros(len(view.sizes), dtype=np.int64)
        return whole_records(view.sizes * (self.scores(view, reference) - t) / (1 - t), view, holds)
