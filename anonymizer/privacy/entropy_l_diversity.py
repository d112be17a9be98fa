"""Entropy l-diversity."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Settings
from anonymizer.privacy.base import (
    DIVERSE,
    CountConditions,
    Merging,
    ScoredClassModel,
    Threshold,
    excess_over_caps,
    has_entropy,
    largest_share,
    resolve_near_ties,
    stopped_by,
    whole_records,
)


class EntropyLDiversitySettings(Settings):
    """Parameters of entropy l-diversity."""

    l: Annotated[Exact, Field(ge=1, description="effective number of sensitive values; real")]  # noqa: E741


class EntropyLDiversity(ScoredClassModel):
    """The entropy of the sensitive values in every class is at least ln l.

    H(q) = -sum q ln q >= ln l, natural logarithm. A missing sensitive value counts in q. The measure is
    exp(H), the number of equally frequent values with the same entropy.

    Source: Machanavajjhala et al. (ACM TKDD 2007, doi:10.1145/1217299.1217302), definition 4.1.
    """

    name = "entropy-l-diversity"
    sensitive = True
    Settings = EntropyLDiversitySettings
    settings: EntropyLDiversitySettings
    examples = tuple({"l": each} for each in (1, 1.2, 1.5, 1.75, 2, 2.5, 3))
    mitigates = DIVERSE
    thresholds = (Threshold("l", 1),)
    merging = Merging.SATISFYING
    larger_is_better = True

    def __init__(self, settings: EntropyLDiversitySettings) -> None:
        super().__init__(settings)
        self.mitigates = stopped_by(self.least_values)

    @property
    def least_values(self) -> int:
        """At least l values, as the entropy of m values is at most ln m."""
        return ceil(self.settings.l)

    @property
    def minimum_size(self) -> int:
        return ceil(self.settings.l)

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return exp(H) of each class."""
        return np.exp(self._entropies(view))

    @staticmethod
    def _entropies(view: ClassView) -> FloatArray:
        shares = view.counted.counts / view.totals[view.counted.owners]
        terms = -shares * np.log(shares)
        return np.add.reduceat(terms, view.counted.starts[:-1])

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have entropy of at least ln l; three equal counts have exactly ln 3."""
        threshold = log(self.settings.l)
        margins = threshold - self._entropies(view)
        # A class of one value has no entropy, without rounding; single records form such classes.
        single = np.diff(view.counted.starts) == 1
        held = np.where(single, self.settings.l <= 1, margins <= 0)
        margins[single] = np.inf

        def signature(position: int) -> tuple[int, ...]:
            return tuple(sorted(count for _, count in view.counted.of_class(position)))

        return resolve_near_ties(
            held,
            margins,
            threshold,
            signature,
            lambda i: has_entropy(signature(i), Fraction(self.settings.l)),
        )

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Require the entropy."""
        return CountConditions(entropies=(Fraction(self.settings.l),))

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by the largest share that d distinct values allow at entropy ln l."""
        distinct = np.diff(view.counted.starts)
        l = float(self.settings.l)  # noqa: E741
        caps = np.array([largest_share(int(d), l) for d in range(int(distinct.max()) + 1)])[distinct]
        possible = caps > 0
        excess = excess_over_caps(view, caps[view.counted.owners])
        return whole_records(np.where(possible, excess, view.sizes), view, holds)
