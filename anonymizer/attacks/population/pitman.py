"""Pitman's model: the population is a random partition with two parameters, fitted to the sample."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.population.base import SampleClasses, UniquesEstimator
from anonymizer.model.arrays import FloatArray

_EDGE = 1e-6
"""How close alpha may come to 0 and 1."""


class PitmanUniques(UniquesEstimator):
    """The uniques expected in a population of N by Pitman's sampling formula, times n / N.

    The parameters alpha and theta are those of largest likelihood for the class sizes of the sample. Of the
    weights only their sum, N, is used.

    Source: Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment" (Journal of
    Official Statistics 17(4), 2001).
    """

    name = "pitman"

    def uniques(self, sample: SampleClasses) -> float:
        """Fit the model to the sample and read it at N."""
        if sample.uniques in (0, sample.records):
            return float(sample.uniques)  # no finite estimate: alpha would be at its end
        alpha, theta = fitted(sample)
        rising = _log_rising(theta + alpha, sample.people) - _log_rising(theta + 1, sample.people)
        return min(sample.records * float(np.exp(rising)), float(sample.uniques))


def log_likelihood(sample: SampleClasses, alpha: float, theta: float) -> float:
    """Return the logarithm of the probability of the sample's class sizes, without what is constant."""
    from scipy.special import gammaln  # noqa: PLC0415  quick start-up

    sizes, classes = np.unique(sample.sizes, return_counts=True)
    number = int(classes.sum())
    opened = (number - 1) * np.log(alpha) + gammaln(theta / alpha + number) - gammaln(theta / alpha + 1)
    joined = classes @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
    return float(opened + joined - gammaln(theta + sample.records) + gammaln(theta + 1))


def fitted(sample: SampleClasses) -> tuple[float, float]:
    """Return alpha and theta of largest likelihood, 0 < alpha < 1 and theta > -alpha."""
    from scipy.optimize import minimize  # noqa: PLC0415  quick start-up

    def parameters(point: FloatArray) -> tuple[float, float]:
        alpha = _EDGE + (1 - 2 * _EDGE) / (1 + float(np.exp(-np.clip(point[0], -50, 50))))
        return alpha, float(np.exp(np.clip(point[1], -50, 50))) - alpha

    start = np.array([0.0, np.log(1 + sample.uniques)])
    best = minimize(
        lambda point: -log_likelihood(sample, *parameters(point)),
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000},
    )
    return parameters(best.x)


def _log_rising(start: float, number: float) -> float:
    """Return the logarithm of start (start + 1) … (start + number - 2)."""
    from scipy.special import gammaln  # noqa: PLC0415  quick start-up

    return float(gammaln(start + number - 1) - gammaln(start))
