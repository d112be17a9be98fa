"""Basic beta-likeness, and the relative gains (q - p) / p that both beta-likeness models bound."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Settings, Threat
from anonymizer.privacy.base import (
    CLOSE,
    CountConditions,
    Merging,
    ScoredClassModel,
    Threshold,
    entry_shares,
    exact_ratios,
    excess_over_caps,
    reference_shares,
    resolve_near_ties,
    whole_records,
)


def entry_gains(view: ClassView, reference: Reference) -> FloatArray:
    """Return the relative gain of each entry, shape (entries,), infinite where p = 0."""
    with np.errstate(divide="ignore"):
        gains: FloatArray = entry_shares(view) / reference_shares(view.counted, reference)
    gains -= 1
    return gains


def largest_gains(view: ClassView, gains: FloatArray) -> FloatArray:
    """Return the largest positive gain in each class, 0 if none, shape (classes,)."""
    largest: FloatArray = np.maximum.reduceat(gains, view.counted.starts[:-1])
    return np.maximum(largest, 0.0)


class BetaSettings(Settings):
    """Parameters of beta-likeness."""

    beta: Annotated[Exact, Field(gt=0, description="bound on the relative gain (q - p) / p of any value")]


class BasicBetaLikeness(ScoredClassModel):
    """No sensitive value gains more than beta in any class: (q - p) / p <= beta wherever q > p.

    A missing sensitive value counts in q and p.

    Source: Cao, Karras (PVLDB 2012, doi:10.14778/2350229.2350255), definition 2.
    """

    name = "basic-beta-likeness"
    sensitive = True
    uses_reference = True
    Settings = BetaSettings
    settings: BetaSettings
    examples = tuple({"beta": beta} for beta in (3, 2, 1.5, 1, 0.5, 0.2))
    mitigates = frozenset({Threat.SKEWNESS})
    thresholds = (Threshold("beta", inf),)
    merging = Merging.SATISFYING

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return the largest relative gain in each class, 0 if none."""
        assert reference is not None
        return largest_gains(view, entry_gains(view, reference))

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have every gain within its bound."""
        assert reference is not None
        counts, beta = view.counted, float(self.settings.beta)
        with np.errstate(divide="ignore"):
            bounds = self.bounds(reference.shares)
        excess = entry_gains(view, reference)
        excess -= bounds.take(counts.values)
        # Gains far below their bounds, as most are, need no comparison with those of the same class.
        decisive = np.flatnonzero(excess >= -CLOSE * max(1.0, beta))
        margins = np.full(len(view.sizes), -np.inf)
        np.maximum.at(margins, counts.owners[decisive], excess[decisive])
        return resolve_near_ties(
            margins <= 0,
            margins,
            beta,
            lambda i: (int(view.sizes[i]), *counts.of_class(i)),
            lambda i: self._holds_exactly(counts.of_class(i), int(view.sizes[i]), reference),
        )

    def bounds(self, shares: FloatArray) -> FloatArray:
        """Return the maximum gain of values with shares p, shape as ``shares``."""
        return np.full_like(shares, float(self.settings.beta))

    def bound(self, share: Fraction) -> Fraction:
        """Return the maximum gain of one value with a positive share, exactly."""
        return Fraction(self.settings.beta)

    def _holds_exactly(self, entries: list[tuple[int, int]], size: int, reference: Reference) -> bool:
        return all(
            ratio <= 1 or ratio - 1 <= self.bound(Fraction(int(reference.counts[value]), reference.size))
            for (value, _), ratio in zip(entries, exact_ratios(entries, size, reference), strict=True)
        )

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Cap the share of each value at (1 + its bound) p."""
        assert reference is not None
        shares = (Fraction(count, reference.size) for count in reference.counts.tolist())
        return CountConditions(
            caps=tuple((1 + self.bound(share)) * share if share else share for share in shares)
        )

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by the values whose share exceeds (1 + their bound) p."""
        assert reference is not None
        shares = reference_shares(view.counted, reference)
        return whole_records(excess_over_caps(view, (1 + self.bounds(shares)) * shares), view, holds)
