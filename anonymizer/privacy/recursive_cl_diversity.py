"""Recursive (c, l)-diversity."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Settings, WholeNumber
from anonymizer.privacy.base import (
    DIVERSE,
    CountConditions,
    Distinct,
    Dominance,
    Merging,
    PrivacyModel,
    ScoredClassModel,
    Threshold,
    distinct_values,
    largest_counts,
    rare_counts,
    resolve_near_ties,
    stopped_by,
    whole_records,
)


class RecursiveCLDiversitySettings(Settings):
    """Parameters of recursive (c, l)-diversity."""

    c: Annotated[Exact, Field(gt=0, description="factor by which the first value may exceed the rare ones")]
    l: Annotated[WholeNumber, Field(ge=1, description="rank from which values count as rare")]  # noqa: E741


class RecursiveCLDiversity(ScoredClassModel):
    """The most frequent sensitive value is not too frequent: r_1 < c (r_l + r_{l+1} + ... + r_m).

    r_1 >= r_2 >= ... are the counts of the sensitive values in a class, including a missing value. A class
    with fewer than l distinct values fails; a missing value counts as one only with ``missing_sensitive:
    value``.

    Source: Machanavajjhala et al. (ACM TKDD 2007, doi:10.1145/1217299.1217302), definition 4.2.
    """

    name = "recursive-cl-diversity"
    sensitive = True
    Settings = RecursiveCLDiversitySettings
    settings: RecursiveCLDiversitySettings
    examples = (
        {"c": 3, "l": 1},
        {"c": 2, "l": 2},
        {"c": 1.5, "l": 3},
        {"c": 1, "l": 2},
        {"c": 0.5, "l": 3},
    )
    mitigates = DIVERSE
    thresholds = (Threshold("c", inf), Threshold("l", 1, whole=True))
    merging = Merging.SATISFYING

    def __init__(self, settings: RecursiveCLDiversitySettings) -> None:
        super().__init__(settings)
        self.mitigates = stopped_by(self.least_values)

    @property
    def least_values(self) -> int:
        """At least l + 1 / c, rounded down: m values satisfy r_1 < c (m - l + 1) r_1."""
        return self.settings.l + int(1 / Fraction(self.settings.c))

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return probes with l = 2 and l = 3; the measure is the smallest c, exclusive."""
        return [cls(RecursiveCLDiversitySettings(c=Decimal(1), l=rank)) for rank in (2, 3)]

    @property
    def minimum_size(self) -> int:
        return self.settings.l

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return r_1 / (r_l + ...) of each class, infinite with fewer than l distinct values."""
        largest, tail = largest_counts(view.counted), rare_counts(view.counted, self.settings.l)
        return np.where(
            (tail > 0) & (distinct_values(view) >= self.settings.l), largest / np.maximum(tail, 1), np.inf
        )

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes satisfy the strict inequality and have at least l distinct values."""
        largest, tail = largest_counts(view.counted), rare_counts(view.counted, self.settings.l)
        c = Fraction(self.settings.c)
        margins = largest - float(c) * tail
        held = resolve_near_ties(
            margins < 0,
            margins / np.maximum(largest, 1),
            1.0,
            lambda i: (int(largest[i]), int(tail[i])),
            lambda i: int(largest[i]) < c * int(tail[i]),
        )
        diverse: BoolArray = distinct_values(view) >= self.settings.l
        return held & diverse

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Bound the most frequent value by the rare ones."""
        diverse = Distinct(self.settings.l, missing)
        return CountConditions(
            distinct=(diverse,), dominances=(Dominance(Fraction(self.settings.c), self.settings.l),)
        )

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss: without x records the top count is at least r_1 - x, the tail no larger."""
        tail = rare_counts(view.counted, self.settings.l)
        excess = largest_counts(view.counted) - float(self.settings.c) * tail
        impossible = (tail == 0) | (distinct_values(view) < self.settings.l)
        return whole_records(np.where(impossible, view.sizes, excess), view, holds, smallest=self.settings.l)
