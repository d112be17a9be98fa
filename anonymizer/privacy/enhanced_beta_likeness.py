"""Enhanced beta-likeness."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf

import numpy as np

from anonymizer.model.adversary import Threat
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Settings
from anonymizer.privacy.base import Merging, PrivacyModel, ScoredClassModel, Threshold
from anonymizer.privacy.basic_beta_likeness import Beta, entry_gains, exact_gains, largest_gains
from anonymizer.privacy.conditions import CountConditions, excess_over_caps, reference_shares, whole_records
from anonymizer.privacy.exact import log_of, resolve_near_ties


class EnhancedBetaLikenessSettings(Settings):
    """Parameters of enhanced beta-likeness."""

    beta: Beta


class EnhancedBetaLikeness(ScoredClassModel):
    """Gains are bounded by beta and, for frequent values, by -ln p: (q - p) / p <= min(beta, -ln p).

    Wherever q > p; natural logarithm. A missing sensitive value counts in q and p.

    Source: Cao, Karras (PVLDB 2012, doi:10.14778/2350229.2350255), definition 3.
    """

    name = "enhanced-beta-likeness"
    sensitive = True
    uses_reference = True
    Settings = EnhancedBetaLikenessSettings
    settings: EnhancedBetaLikenessSettings
    mitigates = frozenset({Threat.SKEWNESS})
    thresholds = (Threshold("beta", inf),)
    merging = Merging.SATISFYING

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return one probe."""
        return [cls(EnhancedBetaLikenessSettings(beta=Decimal(1)))]

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return the largest gain in each class, infinite if some gain exceeds -ln p, 0 if none."""
        assert reference is not None
        gains = entry_gains(view, reference)
        with np.errstate(divide="ignore"):
            beyond = gains > np.maximum(-np.log(reference_shares(view.counted, reference)), 0)
        # A gain can only equal -ln p where both are 0, so rounding there means p = 1 and no gain.
        return largest_gains(view, np.where(beyond & (gains > 1e-12), np.inf, gains))

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Tell in which classes every gain stays within its bound."""
        assert reference is not None
        counts = view.counted
        excess = entry_gains(view, reference) - self._bounds(view, reference)
        margins: FloatArray = np.maximum.reduceat(excess, counts.starts[:-1])
        return resolve_near_ties(
            margins <= 0,
            margins,
            float(self.settings.beta),
            lambda i: tuple(counts.of_class(i)),
            lambda i: self._holds_exactly(counts.of_class(i), reference),
        )

    def _bounds(self, view: ClassView, reference: Reference) -> FloatArray:
        shares = reference_shares(view.counted, reference)
        with np.errstate(divide="ignore"):
            return np.minimum(float(self.settings.beta), -np.log(shares))

    def _holds_exactly(self, entries: list[tuple[int, int]], reference: Reference) -> bool:
        for (value, _), gain in zip(entries, exact_gains(entries, reference), strict=True):
            share = Fraction(int(reference.counts[value]), reference.total)
            if gain > 0 and (
                gain > Fraction(self.settings.beta) or gain > Fraction(log_of(share).copy_negate())
            ):
                return False
        return True

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Cap every value at (1 + min(beta, -ln p)) p."""
        assert reference is not None
        shares = (Fraction(count, reference.total) for count in reference.counts.tolist())
        return CountConditions(caps=tuple(self._cap(share) if share else share for share in shares))

    def _cap(self, share: Fraction) -> Fraction:
        beyond = Fraction(log_of(share).copy_negate())
        return (1 + min(Fraction(self.settings.beta), beyond)) * share

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by the values whose share exceeds (1 + min(beta, -ln p)) p."""
        assert reference is not None
        caps = (1 + self._bounds(view, reference)) * reference_shares(view.counted, reference)
        return whole_records(excess_over_caps(view, caps), view, holds)
