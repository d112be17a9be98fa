"""A Gaussian copula fitted to a sample: how probable each combination of values is for a person.

The values of each attribute are ordered, and each is an interval of a standard normal variable whose
probability is the value's share of the people. The variables are correlated, so that the probability of a
combination is that of a box.

Source: Rocher, Hendrickx, de Montjoye, "Estimating the success of re-identifications in incomplete datasets
using generative models" (Nature Communications 10:3069, 2019), Methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
import scipy

from anonymizer.model.arrays import FloatArray, IntArray

POINTS = 512
"""Points of the integration; most relative errors are below one in a hundred."""
_BLOCK = 1024
_MOST_BINS = 20
"""Correlations are fitted to so many values of an attribute; neighbours beyond are put together."""
_STRONGEST = 0.99
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


@dataclass(frozen=True, eq=False)
class Copula:
    """A distribution of combinations of values.

    Attributes
    ----------
    edges: by attribute, the ends of the intervals of its values, shape (values + 1,), float64.
    correlation: of the normal variables, shape (attributes, attributes), float64, positive definite.
    """

    edges: tuple[FloatArray, ...]
    correlation: FloatArray

    @classmethod
    def fitted(cls, values: IntArray, people: FloatArray, records: int) -> Self:
        """Fit the distribution to classes of a sample.

        Shares are those of the people. A correlation is the one at which two attributes have as much mutual
        information as in the sample; its sign is that of the correlation of their normal scores.

        Parameters
        ----------
        values: position of each class's value in the order of the attribute, shape (classes, attributes).
        people: that each class stands for, shape (classes,), positive.
        records: of the sample.
        """
        edges = tuple(_edges(np.bincount(own, weights=people).astype(np.float64)) for own in values.T)
        coarse = [_coarse(own, people) for own in values.T]
        found = np.eye(len(edges))
        for one, two in combinations(range(len(edges)), 2):
            joint = np.zeros((int(coarse[one].max()) + 1, int(coarse[two].max()) + 1))
            np.add.at(joint, (coarse[one], coarse[two]), people)
            found[one, two] = found[two, one] = _correlation(joint / joint.sum(), records)
        return cls(edges, _positive_definite(found))

    def probability(self, values: IntArray) -> FloatArray:
        """Return the probability of combinations of values, shape (combinations,), float64.

        Parameters
        ----------
        values: as for ``fitted``, shape (combinations, attributes).
        """
        several = [place for place, own in enumerate(self.edges) if len(own) > 2]
        if not several:
            return np.ones(len(values))
        low = np.stack([self.edges[place][values[:, place]] for place in several], axis=1)
        high = np.stack([self.edges[place][values[:, place] + 1] for place in several], axis=1)
        own = self.correlation[np.ix_(several, several)]
        factor: FloatArray = np.linalg.cholesky(own).astype(np.float64)
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(values), _BLOCK)]
        return np.concatenate([_box(low[each], high[each], factor) for each in blocks])


def _edges(people: FloatArray) -> FloatArray:
    """Return the ends of the intervals whose probabilities are the shares, shape (values + 1,)."""
    inner = np.cumsum(people)[:-1] / people.sum()
    return np.concatenate([[-np.inf], scipy.special.ndtri(inner), [np.inf]])


def _coarse(values: IntArray, people: FloatArray) -> IntArray:
    """Put neighbouring values together until few are left, each with about as many people."""
    shares = np.bincount(values, weights=people) / people.sum()
    middle = np.cumsum(shares) - shares / 2
    bins = np.arange(len(shares)) if len(shares) <= _MOST_BINS else (middle * _MOST_BINS).astype(np.int64)
    ranks: IntArray = np.unique(bins, return_inverse=True)[1][values].astype(np.int64)
    return np.unique(ranks, return_inverse=True)[1].astype(np.int64)


def _correlation(joint: FloatArray, records: int) -> float:
    """Return the correlation at which a pair of attributes has the mutual information of the sample.

    Parameters
    ----------
    joint: shares of the pairs of values, shape (values, values of the other).
    records: of the sample, in which independent values have some information by chance (Miller and Madow).
    """
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    by_chance = (np.count_nonzero(joint) - len(rows) - len(columns) + 1) / (2 * records)
    asked = information(joint) - by_chance
    ends = _edges(rows), _edges(columns)

    def missing(correlation: float) -> float:
        return information(pair_probabilities(*ends, correlation)) - asked

    if asked <= 0 or min(joint.shape) == 1:
        return 0.0
    strength = (
        _STRONGEST
        if missing(_STRONGEST) <= 0
        else float(scipy.optimize.brentq(missing, 0, _STRONGEST, xtol=1e-6))
    )
    scores = [_scores(rows), _scores(columns)]
    return -strength if scores[0] @ joint @ scores[1] < 0 else strength


def _scores(shares: FloatArray) -> FloatArray:
    """Return the normal score of each value, with mean 0."""
    scores: FloatArray = scipy.special.ndtri(np.cumsum(shares) - shares / 2)
    return scores - shares @ scores


def information(joint: FloatArray) -> float:
    """Return the mutual information of two attributes, in nats; shares of shape (values, values)."""
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    filled = joint > 0
    return float((joint[filled] * np.log(joint[filled] / expected[filled])).sum())


_NODES = np.polynomial.legendre.leggauss(48)


def pair_probabilities(one: FloatArray, two: FloatArray, correlation: float) -> FloatArray:
    """Return the probability of each box between the ends of two normal variables.

    Shape (ends - 1, ends of the other - 1).

    Source: Drezner, Wesolowsky, "On the computation of the bivariate normal integral" (J. Statistical
    Computation and Simulation 35, 1990), by Plackett's identity.
    """
    below = np.outer(scipy.special.ndtr(one), scipy.special.ndtr(two))
    angle = np.arcsin(correlation) * (_NODES[0] + 1) / 2
    h, k = one[1:-1, None, None], two[None, 1:-1, None]
    power = (h * h + k * k - 2 * h * k * np.sin(angle)) / (2 * np.cos(angle) ** 2)
    inside = np.exp(-power) @ _NODES[1] * np.arcsin(correlation) / 2 / (2 * np.pi)
    below[1:-1, 1:-1] += inside
    return np.maximum(np.diff(np.diff(below, axis=0), axis=1), 0.0)


def _positive_definite(correlation: FloatArray) -> FloatArray:
    """Return the matrix with its eigenvalues raised to a small positive number, and ones on the diagonal."""
    values, vectors = np.linalg.eigh(correlation)
    raised = (vectors * np.maximum(values, 1e-4)) @ vectors.T
    scale = np.sqrt(np.diag(raised))
    found: FloatArray = raised / np.outer(scale, scale)
    return found


def _box(low: FloatArray, high: FloatArray, factor: FloatArray) -> FloatArray:
    """Return the probabilities of boxes of correlated normal variables, shape (boxes,).

    The points are those of Richtmyer, folded so that the integrand is periodic.

    Parameters
    ----------
    low, high: ends of each box, shape (boxes, variables).
    factor: lower triangle whose product with its transpose is the correlation.

    Source: Genz, "Numerical computation of multivariate normal probabilities" (J. Computational and Graphical
    Statistics 1, 1992).
    """
    width = low.shape[1]
    primes = np.sqrt(np.array(_PRIMES[: width - 1])) if width <= len(_PRIMES) else _irrational(width - 1)
    points = np.abs(2 * ((np.arange(1, POINTS + 1)[:, None] * primes) % 1) - 1)
    chosen = np.zeros((width, len(low), POINTS if width > 1 else 1))
    product = np.ones(chosen.shape[1:])
    for place in range(width):
        shift = np.tensordot(factor[place, :place], chosen[:place], axes=1)
        start = (low[:, place, None] - shift) / factor[place, place]
        stop = (high[:, place, None] - shift) / factor[place, place]
        # In the upper tail, differences of probabilities near 1 would lose their digits.
        upper = start > 0
        start, stop = np.where(upper, -stop, start), np.where(upper, -start, stop)
        least, most = scipy.special.ndtr(start), scipy.special.ndtr(stop)
        product *= most - least
        if place < width - 1:
            inside = np.clip(least + points[:, place] * (most - least), 1e-300, 1 - 1e-16)
            chosen[place] = np.where(upper, -1, 1) * scipy.special.ndtri(inside)
    return np.asarray(product.mean(axis=1), dtype=np.float64)


def _irrational(number: int) -> FloatArray:
    """Return that many irrational steps, for more variables than there are primes above."""
    return np.asarray(np.exp(np.log(2.0) * np.arange(1, number + 1) / (number + 1)), dtype=np.float64)


def unique_in(probability: FloatArray, people: float) -> FloatArray:
    """Return for each record the probability that nobody else of the population has its values.

    That is (1 - p)^(N - 1) for a population of N (equation 1 of the source).
    """
    if people <= 1:
        return np.ones(len(probability))
    with np.errstate(divide="ignore"):
        return np.exp((people - 1) * np.log1p(-np.minimum(probability, 1.0)))


def correct_in(probability: FloatArray, people: float) -> FloatArray:
    """Return for each record the probability that a match is correct: the mean of 1 / people with its values.

    The other N - 1 people have them independently, so it is (1 - (1 - p)^N) / (N p).
    """
    least = np.maximum(probability, 1e-300)
    with np.errstate(divide="ignore"):
        anyone = -np.expm1(people * np.log1p(-np.minimum(least, 1.0)))
    return np.minimum(anyone / (people * least), 1.0)
