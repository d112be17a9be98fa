"""Enhanced beta-likeness."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import ClassView, Reference
from anonymizer.privacy.base import log_of, reference_shares
from anonymizer.privacy.basic_beta_likeness import BasicBetaLikeness, entry_gains, largest_gains


class EnhancedBetaLikeness(BasicBetaLikeness):
    """No gain exceeds beta or, for frequent values, -ln p: (q - p) / p <= min(beta, -ln p) wherever q > p.

    The logarithm is natural. A missing sensitive value counts in q and p.

    Source: Cao, Karras (PVLDB 2012, doi:10.14778/2350229.2350255), definition 3.
    """

    name = "enhanced-beta-likeness"
    examples = tuple({"beta": beta} for beta in (2, 1, 0.5, 0.2))

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return the largest gain in each class, infinite if some gain exceeds -ln p, 0 if none."""
        assert reference is not None
        gains = entry_gains(view, reference)
        with np.errstate(divide="ignore"):
            beyond = gains > np.maximum(-np.log(reference_shares(view.counted, reference)), 0)
        # A gain equals -ln p only if both are 0 (p = 1); a tiny excess there is rounding.
        return largest_gains(view, np.where(beyond & (gains > 1e-12), np.inf, gains))

    def bounds(self, shares: FloatArray) -> FloatArray:
        """Return min(beta, -ln p)."""
        with np.errstate(divide="ignore"):
            return np.minimum(float(self.settings.beta), -np.log(shares))

    def bound(self, share: Fraction) -> Fraction:
        """Return min(beta, -ln p) of one value, the logarithm to 60 digits."""
        return min(Fraction(self.settings.beta), Fraction(log_of(share).copy_negate()))
