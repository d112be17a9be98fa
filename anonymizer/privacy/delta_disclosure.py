"""delta-disclosure privacy."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
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
    CountConditions,
    Merging,
    PrivacyModel,
    ScoredClassModel,
    Threshold,
    entry_shares,
    exact_ratios,
    excess_over_caps,
    exponential_of,
    log_of,
    reference_shares,
    resolve_near_ties,
    whole_records,
)


class Absent(StrEnum):
    """Verdict on a class that lacks a value of the reference."""

    VIOLATES = "violates"
    IGNORED = "ignored"


class DeltaDisclosureSettings(Settings):
    """Parameters of delta-disclosure privacy."""

    delta: Annotated[Exact, Field(gt=0, description="bound on |ln(q/p)|, exclusive; natural logarithm")]
    absent: Annotated[Absent, Field(description="whether a value absent from a class violates")] = (
        Absent.VIOLATES
    )


class DeltaDisclosure(ScoredClassModel):
    """No class changes the share of a sensitive value by a factor of exp(delta) or more: |ln(q/p)| < delta.

    This holds for every value of the reference. A class that lacks a value (q = 0) fails, unless absent
    values are ignored. A missing sensitive value counts in q and p.

    Source: Brickell, Shmatikov (KDD 2008, doi:10.1145/1401890.1401904), definition 1.
    """

    name = "delta-disclosure"
    sensitive = True
    uses_reference = True
    Settings = DeltaDisclosureSettings
    settings: DeltaDisclosureSettings
    examples = (
        {"delta": 2, "absent": "ignored"},
        {"delta": 1.5, "absent": "violates"},
        *({"delta": delta, "absent": "ignored"} for delta in (1, 0.7, 0.5)),
        {"delta": 0.2, "absent": "violates"},
    )
    mitigates = frozenset({Threat.SKEWNESS, Threat.INFERENCE})
    thresholds = (Threshold("delta", inf),)

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return one probe for each treatment of absent values."""
        return [cls(DeltaDisclosureSettings(delta=Decimal(1), absent=absent)) for absent in Absent]

    @property
    def merging(self) -> Merging:  # type: ignore[override]
        """Merging averages q; a value that was absent and ignored may get a share below the bound."""
        return Merging.SATISFYING if self.settings.absent is Absent.VIOLATES else Merging.NONE

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return max |ln(q/p)| of each class, infinite if an absent value violates."""
        assert reference is not None
        shares = reference_shares(view.counted, reference)
        with np.errstate(divide="ignore"):
            logs = np.abs(np.log(entry_shares(view)) - np.log(shares))
        scores: FloatArray = np.maximum.reduceat(logs, view.counted.starts[:-1])
        return np.where(self._lacking(view, reference), np.inf, scores)

    def _lacking(self, view: ClassView, reference: Reference) -> BoolArray:
        """Return which classes lack a value that they must have, shape (classes,), bool."""
        counts = view.counted
        if self.settings.absent is Absent.IGNORED:
            return np.zeros(len(view.sizes), dtype=bool)
        known = reference.present[counts.values].astype(np.int64)
        return np.add.reduceat(known, counts.starts[:-1]) < int(reference.present.sum())

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes are strictly within the bound."""
        assert reference is not None
        delta = float(self.settings.delta)
        margins = self.scored(view, reference) - delta
        return resolve_near_ties(
            margins < 0,
            margins,
            delta,
            lambda i: (int(view.sizes[i]), *view.counted.of_class(i)),
            lambda i: self._holds_exactly(view.counted.of_class(i), int(view.sizes[i]), reference),
        )

    def _holds_exactly(self, entries: list[tuple[int, int]], size: int, reference: Reference) -> bool:
        ratios = exact_ratios(entries, size, reference)
        return all(log_of(ratio).copy_abs() < self.settings.delta for ratio in ratios)

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Keep every share within a factor of exp(delta) of p."""
        assert reference is not None
        factor = exponential_of(self.settings.delta)
        shares = [Fraction(count, reference.size) for count in reference.counts.tolist()]
        violates = self.settings.absent is Absent.VIOLATES
        return CountConditions(
            caps=tuple(min(share * factor, Fraction(1)) for share in shares),
            floors=tuple(share / factor for share in shares),
            required=reference.present if violates else None,
        )

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by the values that are too frequent, too rare, or lacking."""
        assert reference is not None
        counts, delta = view.counted, float(self.settings.delta)
        shares = reference_shares(counts, reference)
        # No bound beyond exp(700) binds, and float64 overflows soon after.
        factor = np.exp(min(delta, 700.0))
        bound = excess_over_caps(view, shares * factor)
        if self.merging is Merging.NONE:
            return whole_records(bound, view, holds, least=0)
        with np.errstate(divide="ignore", over="ignore"):
            allowed = counts.counts / (shares / factor)
        too_rare = view.sizes - np.minimum.reduceat(allowed, counts.starts[:-1])
        lacking = np.where(self._lacking(view, reference), np.inf, 0.0)
        return whole_records(np.maximum(np.maximum(bound, too_rare), lacking), view, holds)
