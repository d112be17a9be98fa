"""Individual risk by the model of Benedetti and Franconi: F given f is negative binomial."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.population.base import SampleClasses, UniquesEstimator
from anonymizer.model.arrays import FloatArray


def individual_risk(sample: SampleClasses) -> FloatArray:
    """Return the chance to be re-identified of the records of each class, E(1/F | f), shape (classes,).

    With p = f / F estimated from the weights, and F - f negative binomial, this is
    (p/f) 2F1(1, 1; f + 1; 1 - p): p/(1-p) ln(1/p) for f = 1, p/(1-p)² (p ln p + 1 - p) for f = 2, and 1/f
    where the sample has all of the class. It is evaluated as such for every f, large ones included.

    Source: Benedetti, Franconi, "Statistical and technological solutions for controlled data dissemination"
    (NTTS 1998); Capobianchi, Polettini, Lucarelli, "Strategy for the implementation of individual risk
    methodology into mu-Argus" (2001), section 3; the hypergeometric form by Pfaff's transformation.
    """
    from scipy.special import hyp2f1  # noqa: PLC0415  quick start-up

    share = np.minimum(sample.sizes / sample.population, 1.0)
    risk: FloatArray = share / sample.sizes * hyp2f1(1, 1, sample.sizes + 1.0, 1 - share)
    return risk


class NegativeBinomialUniques(UniquesEstimator):
    """The sum over the sample's uniques of P(F = 1 | f = 1) = 1 / weight."""

    name = "negative-binomial"

    def uniques(self, sample: SampleClasses) -> float:
        """Add up the chances."""
        alone = sample.sizes == 1
        return float(np.minimum(1 / sample.population[alone], 1.0).sum())
