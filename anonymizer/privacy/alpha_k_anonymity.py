"""(alpha, k)-anonymity."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Settings, Threat
from anonymizer.privacy.base import (
    WHO,
    ClassModel,
    CountConditions,
    GroupSize,
    Measured,
    Merging,
    Threshold,
    largest_counts,
    resolve_near_ties,
    whole_records,
)


class AlphaKAnonymitySettings(Settings):
    """Parameters of (alpha, k)-anonymity."""

    alpha: Annotated[Exact, Field(gt=0, le=1, description="maximum share of one sensitive value")]
    k: GroupSize


class AlphaKAnonymity(ClassModel):
    """k-anonymity in which no sensitive value exceeds a share alpha of a class.

    n_E >= k and max q <= alpha. A missing sensitive value counts as a value of its own.

    Source: Wong, Li, Fu, Wang (KDD 2006, doi:10.1145/1150402.1150499), definitions 2 and 3, for every value.
    """

    name = "alpha-k-anonymity"
    sensitive = True
    Settings = AlphaKAnonymitySettings
    settings: AlphaKAnonymitySettings
    examples = (
        {"alpha": 1, "k": 1},
        {"alpha": 0.75, "k": 2},
        {"alpha": 0.6, "k": 1},
        {"alpha": 0.5, "k": 2},
        {"alpha": 0.3, "k": 3},
    )
    mitigates = WHO | {Threat.HOMOGENEITY}
    thresholds = (Threshold("alpha", 1), Threshold("k", 1, whole=True))
    measures = ("k", "alpha")
    merging = Merging.SATISFYING

    def __init__(self, settings: AlphaKAnonymitySettings) -> None:
        super().__init__(settings)
        if settings.alpha == 1:
            # It allows classes with a single value.
            self.mitigates = WHO

    @property
    def least_values(self) -> int:
        """At least 1 / alpha values, as their shares add up to 1 or more."""
        return ceil(1 / self.settings.alpha)

    @property
    def minimum_size(self) -> int:
        return max(self.settings.k, self.least_values)

    @property
    def minimum_units(self) -> int:
        return self.minimum_size

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return the maximum probabilities of finding a record and of guessing its value."""
        found = f"finds a {unit} with a probability of at most 1 in {self.settings.k}"
        return f"{found} and guesses {attribute} with a probability of at most {self.settings.alpha}"

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have at least k records and no value above alpha."""
        large: BoolArray = view.sizes >= self.settings.k
        alpha = Fraction(self.settings.alpha)
        if alpha == 1:
            # No share is larger; in a table of single records, all are as large.
            return large
        largest = largest_counts(view.counted)
        margins = largest / view.sizes - float(alpha)
        held = resolve_near_ties(
            margins <= 0,
            margins,
            1.0,
            lambda i: (int(largest[i]), int(view.sizes[i])),
            lambda i: Fraction(int(largest[i]), int(view.sizes[i])) <= alpha,
        )
        return held & large

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Cap every value at alpha."""
        assert attribute is not None
        caps = (Fraction(self.settings.alpha),) * attribute.column.size
        return CountConditions(smallest=self.settings.k, caps=caps)

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the smallest class size and the largest share of a value in a class."""
        return [int(view.sizes.min()), float(self._shares(view).max())]

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes are the smallest or have the largest share."""
        shares = self._shares(view)
        worst: BoolArray = (view.sizes == view.sizes.min()) | (shares == shares.max())
        return worst

    @staticmethod
    def _shares(view: ClassView) -> FloatArray:
        return largest_counts(view.counted) / view.sizes

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by the excess of the largest value: x >= (r_1 - alpha n) / (1 - alpha)."""
        alpha = float(self.settings.alpha)
        if alpha == 1:
            return np.where(holds, 0, view.sizes)
        excess = (largest_counts(view.counted) - alpha * view.sizes) / (1 - alpha)
        return whole_records(excess, view, holds, smallest=self.settings.k)
