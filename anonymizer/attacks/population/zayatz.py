"""Zayatz: the sizes of the population's classes are distributed as those of the sample."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.population.base import SampleClasses, UniquesEstimator

ROUNDING = 1e-9
"""Relative error that a sum of weights may have."""


class ZayatzUniques(UniquesEstimator):
    """The sample's uniques times the chance that one of them is unique in the population.

    A class of i people leaves one record in a simple random sample with hypergeometric probability P(1 | i);
    with the sample's share of classes of each size standing for the population's, Bayes' theorem gives the
    chance that a class which left one record has one person. Of the weights only their sum, N, is used.

    Source: Zayatz, "Estimation of the percent of unique population elements on a microdata file using the
    sample" (US Bureau of the Census, SRD Report 91/08, 1991).
    """

    name = "zayatz"

    def uniques(self, sample: SampleClasses) -> float:
        """Weigh the sizes by how likely they leave one record."""
        sizes, classes = np.unique(sample.sizes, return_counts=True)
        if sizes[0] != 1:
            return 0.0
        chance = np.exp(_log_left_one(sizes.astype(np.float64), float(sample.records), sample.people))
        return float(sample.uniques * classes[0] * chance[0] / (classes @ chance))


def _log_left_one(sizes: np.ndarray, sample: float, people: float) -> np.ndarray:
    """Return ln(i C(N - i, n - 1) / C(N, n)) for class sizes i, -inf where it cannot be."""
    from scipy.special import gammaln  # noqa: PLC0415  quick start-up

    rest = people - sizes - sample + 1
    # The people are a sum of weights, which rounding may leave below the whole number that they are.
    possible = rest > -ROUNDING * people
    rest = np.maximum(rest, 0)
    choices = gammaln(people - sizes + 1) - gammaln(sample) - gammaln(rest + 1)
    whole = gammaln(people + 1) - gammaln(sample + 1) - gammaln(people - sample + 1)
    return np.where(possible, np.log(sizes) + choices - whole, -np.inf)
