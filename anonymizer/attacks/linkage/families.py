"""Families of distances that are linear in weights, given features of a pair of records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import FloatArray


class Family(ABC):
    """A family of distances ``features(differences) @ weights`` for all allowed weights.

    Weights are allowed if ``cone @ weights`` is at least 0 and ``total @ weights`` is 1. Scaled weights link
    the same records, so the last condition excludes only zero.

    Class attributes
    ----------------
    name: as in the config.
    extends: whether the family is a proper superset of the weighted means.

    Attributes
    ----------
    attributes: number of compared attributes.
    members: positions of the attributes of each weight.
    cone: shape (conditions, weights), float64.
    total: shape (weights,), float64.
    """

    name: ClassVar[str]
    extends: ClassVar[bool] = True
    attributes: int
    members: tuple[tuple[int, ...], ...]
    cone: FloatArray
    total: FloatArray

    def __init__(self, attributes: int) -> None:
        self.attributes = attributes

    @abstractmethod
    def features(self, differences: FloatArray) -> FloatArray:
        """Return the features of pairs, shape (..., weights), from differences, shape (..., attributes)."""

    def equal(self) -> FloatArray:
        """Return equal weights for the attributes, the Euclidean distance, shape (weights,)."""
        return self.with_weighted_mean(np.full(self.attributes, 1 / self.attributes))

    def with_weighted_mean(self, shares: FloatArray) -> FloatArray:
        """Return the weights of a weighted mean; the weights of single attributes are first.

        Parameters
        ----------
        shares: of the attributes, shape (attributes,), at least 0, sum 1.
        """
        weights = np.zeros(len(self.members))
        weights[: self.attributes] = shares
        return weights

    @abstractmethod
    def labels(self, names: Sequence[str]) -> list[str]:
        """Return a label for each weight, given the names of the attributes."""

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the share of each attribute, shape (attributes,), sum 1.

        By default the Shapley value: a weight counts in equal parts for each of its attributes.
        """
        shapley = np.zeros(self.attributes)
        for members, weight in zip(self.members, weights, strict=True):
            shapley[list(members)] += weight / len(members)
        return shapley

    @abstractmethod
    def least(self, gaps: FloatArray) -> FloatArray:
        """Return a lower bound on ``gaps @ weights`` over all allowed weights, shape (gaps,)."""

    @abstractmethod
    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return random allowed weights, shape (number, weights)."""

    @abstractmethod
    def corners(self) -> FloatArray:
        """Return extreme weights as targets of a search, shape (corners, weights)."""

    def reach(self, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Return the smallest and the largest t for which ``weights + t * direction`` is allowed.

        Parameters
        ----------
        direction: shape (weights,), with ``total @ direction`` equal to 0.
        """
        slack, slope = np.maximum(self.cone @ weights, 0.0), self.cone @ direction
        up = slope < -SLOPE
        down = slope > SLOPE
        return -float((slack[down] / slope[down]).min(initial=FAR)), float(
            (slack[up] / -slope[up]).min(initial=FAR)
        )

    def cuts(self, weights: FloatArray) -> FloatArray:
        """Return further violated conditions row @ w >= 0, shape (conditions, weights); none by default."""
        return np.empty((0, len(weights)))

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights with rounding errors repaired, scaled to total 1."""
        return weights / float(self.total @ weights)


FAR = 1e6
"""Step along a direction without a limit."""
SLOPE = 1e-12
"""Slope of a condition up to which it limits no step."""


class Mixtures(Family):
    """A family of mixtures: weights of at least 0 with sum 1.

    Parameters
    ----------
    further: positions of the attributes of each weight besides those of single attributes.
    """

    def __init__(self, attributes: int, further: Sequence[tuple[int, ...]] = ()) -> None:
        super().__init__(attributes)
        self.members = (*((position,) for position in range(attributes)), *further)
        self.cone = np.eye(len(self.members))
        self.total = np.ones(len(self.members))

    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least entry of each row."""
        least: FloatArray = gaps.min(axis=1)
        return least

    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return weights from Dirichlet distributions, half of them sparse."""
        size = len(self.members)
        sparse = random.dirichlet(np.full(size, 0.3), number // 2)
        return np.concatenate([sparse, random.dirichlet(np.ones(size), number - number // 2)])

    def corners(self) -> FloatArray:
        """Return all extreme weights."""
        return np.eye(len(self.members))

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights with negative ones set to 0, scaled to sum 1."""
        kept = np.maximum(weights, 0.0)
        return kept / float(kept.sum())


class Bilinear(Family):
    """Distances d'Sd with a symmetric matrix S, nonnegative if one attribute differs or two differ equally.

    No diagonal entry is negative, and no other entry exceeds in absolute value the mean of its two diagonal
    entries. All positive semidefinite matrices are included. The trace is 1.

    Source: Abril, Torra and Navarro-Arribas, Supervised learning using a symmetric bilinear form for record
    linkage (Information Fusion 26, 2015).
    """

    name = "bilinear"

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes)
        self._first, self._second = np.triu_indices(attributes, 1)
        singles = [(position,) for position in range(attributes)]
        self.members = (*singles, *combinations(range(attributes), 2))
        own = np.eye(len(self.members))
        sums = (own[self._first] + own[self._second]) / 2
        entries = own[attributes:]
        self.cone = np.concatenate([own[:attributes], sums + entries, sums - entries])
        self.total = np.zeros(len(self.members))
        self.total[:attributes] = 1.0

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences, then twice the products of the differences of two attributes."""
        products = 2 * differences[..., self._first] * differences[..., self._second]
        return np.concatenate([differences * differences, products], axis=-1)

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names, then a label for each product."""
        products = [f"{one} × {other}" for one, other in combinations(names, 2)]
        return [*names, *products]

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal."""
        return weights[: self.attributes].copy()

    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least values: off-diagonal entries at their limits, the diagonal on one attribute."""
        extra = np.abs(gaps[:, self.attributes :]) / 2
        corners = gaps[:, : self.attributes].copy()
        for position in range(self.attributes):
            products = (self._first == position) | (self._second == position)
            corners[:, position] -= extra[:, products].sum(axis=1)
        least: FloatArray = corners.min(axis=1)
        return least

    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return random semidefinite matrices, half of them diagonal."""
        size = self.attributes
        diagonal = random.dirichlet(np.ones(size), number // 2)
        factors = random.standard_normal((number - number // 2, size, size))
        full = self.weights_of(factors @ factors.transpose(0, 2, 1))
        full /= full[:, :size].sum(axis=1, keepdims=True)
        return np.concatenate([np.stack([self.with_weighted_mean(row) for row in diagonal]), full])

    def corners(self) -> FloatArray:
        """Return the forms of a single attribute, and of the sum and the difference of two."""
        own = np.eye(len(self.members))
        sums = (own[self._first] + own[self._second]) / 2
        entries = own[self.attributes :] / 2
        return np.concatenate([own[: self.attributes], sums + entries, sums - entries])

    def matrix(self, weights: FloatArray) -> FloatArray:
        """Return the matrix of weights, shape (attributes, attributes)."""
        matrix = np.diag(weights[: self.attributes])
        matrix[self._first, self._second] = matrix[self._second, self._first] = weights[self.attributes :]
        return matrix

    def weights_of(self, matrices: FloatArray) -> FloatArray:
        """Return the weights of matrices, shape (..., weights)."""
        diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
        return np.concatenate([diagonal, matrices[..., self._first, self._second]], axis=-1)


FEW = 4
"""Maximum number of attributes for general fuzzy measures; with more they are 2-additive."""


def choquet(attributes: int) -> Family:
    """Return all Choquet integrals of up to ``FEW`` attributes, the 2-additive ones of more."""
    return Choquet(attributes) if attributes <= FEW else TwoAdditiveChoquet(attributes)


class TwoAdditiveChoquet(Mixtures):
    """Choquet integrals of 2-additive measures: mixtures of single attributes, and minima and maxima of two.

    These are the extreme 2-additive measures, so their mixtures are all 2-additive measures.

    Sources: Abril, Navarro-Arribas and Torra, Choquet integral for record linkage (Annals of Operations
    Research 195, 2012); the extreme measures: Miranda, Combarro and Gil, Extreme points of some families of
    non-additive measures (European Journal of Operational Research 174, 2006).
    """

    name = "choquet"

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes, 2 * tuple(combinations(range(attributes), 2)))
        self._first, self._second = np.triu_indices(attributes, 1)

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences, the smaller of each two, then the larger of each two."""
        squares = differences * differences
        first, second = squares[..., self._first], squares[..., self._second]
        return np.concatenate([squares, np.minimum(first, second), np.maximum(first, second)], axis=-1)

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names, then the minima and the maxima of two."""
        pairs = list(combinations(names, 2))
        minima = [f"min({one}, {other})" for one, other in pairs]
        return [*names, *minima, *(f"max({one}, {other})" for one, other in pairs)]


class Choquet(Family):
    """Choquet integrals of all fuzzy measures, by Möbius transform: a weight for each set of attributes.

    The measure is monotone, and 1 for the set of all attributes.

    Source: Abril, Navarro-Arribas and Torra, Choquet integral for record linkage (Annals of Operations
    Research 195, 2012).

    Parameters
    ----------
    attributes: up to ``FEW``.
    """

    name = "choquet"

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes)
        everyone = range(attributes)
        self.members = tuple(chain(*(combinations(everyone, size + 1) for size in everyone)))
        sets = [frozenset(members) for members in self.members]
        self.cone = np.array(
            [[float(one in inner and inner <= outer) for inner in sets] for outer in sets for one in outer]
        )
        self.total = np.ones(len(sets))
        self._inside = np.array([[float(inner <= outer) for inner in sets] for outer in sets])
        self._corners = self._extremes(sets)

    def _extremes(self, sets: list[frozenset[int]]) -> FloatArray:
        """Return the extreme measures, those with values 0 and 1, as weights."""
        choices = (np.arange(2 ** len(sets))[:, None] >> np.arange(len(sets))) & 1
        monotone = choices[:, -1] == 1
        for small, below in enumerate(sets):
            for large, above in enumerate(sets):
                if below < above:
                    monotone &= choices[:, small] <= choices[:, large]
        return np.rint(np.linalg.solve(self._inside, choices[monotone].T.astype(np.float64)).T)

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the least squared difference of every set."""
        squares = differences * differences
        return np.stack([squares[..., list(members)].min(axis=-1) for members in self.members], axis=-1)

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names, then the minima of larger sets."""
        sets = [", ".join(names[position] for position in members) for members in self.members]
        return [*sets[: self.attributes], *(f"min({text})" for text in sets[self.attributes :])]

    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least value over the extreme measures."""
        least: FloatArray = (gaps @ self._corners.T).min(axis=1)
        return least

    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return mixtures of extreme measures."""
        return random.dirichlet(np.full(len(self._corners), 0.1), number) @ self._corners

    def corners(self) -> FloatArray:
        """Return the extreme measures."""
        return self._corners


class Owa(Mixtures):
    """Ordered weighted averages: weights by the rank of the squared differences, for all attributes.

    Sources: Yager (IEEE Transactions on Systems, Man, and Cybernetics 18, 1988, doi:10.1109/21.87068); for
    record linkage Torra, Navarro-Arribas and Abril (Control and Cybernetics 39, 2010).
    """

    name = "owa"
    extends = False

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences in descending order."""
        return np.sort(differences * differences, axis=-1)[..., ::-1]

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the places in the order, the largest difference first."""
        return [f"difference {place + 1}" for place in range(len(names))]

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the same for every attribute."""
        return np.full_like(weights, 1 / self.attributes)


class WeightedMean(Mixtures):
    """Weighted means of the squared differences.

    Source: Torra, Navarro-Arribas and Abril, Supervised learning for record linkage through weighted means
    and OWA operators (Control and Cybernetics 39, 2010).
    """

    name = "weighted-mean"
    extends = False

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the squared differences."""
        return differences * differences

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names."""
        return list(names)


FAMILIES: dict[str, Callable[[int], Family]] = {
    WeightedMean.name: WeightedMean,
    Owa.name: Owa,
    Bilinear.name: Bilinear,
    "choquet": choquet,
}
"""The families by name, from the number of attributes."""

FLOOR = 1e-9
"""Smallest eigenvalue for the reach of a direction."""
BROKEN = 1e-7
"""An eigenvalue below minus this violates the condition."""


class Metric(Bilinear):
    """Squared metrics: S is positive semidefinite with trace 1.

    Source: as ``Bilinear``. The condition is linear for each vector; violated ones are added as cuts.
    """

    def reach(self, weights: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Return the smallest and the largest step with a semidefinite matrix."""
        values, vectors = np.linalg.eigh(self.matrix(weights))
        root = vectors / np.sqrt(np.maximum(values, FLOOR))
        slopes = np.linalg.eigvalsh(root.T @ self.matrix(direction) @ root)
        low, high = float(slopes[0]), float(slopes[-1])
        limit = 1 / FLOOR
        return -1 / max(high, 1 / limit), 1 / max(-low, 1 / limit)

    def cuts(self, weights: FloatArray) -> FloatArray:
        """Return a condition for each negative eigenvalue: the form is nonnegative along its vector."""
        values, vectors = np.linalg.eigh(self.matrix(weights))
        broken = vectors[:, values < -BROKEN].T
        cuts = self.weights_of(broken[:, :, None] * broken[:, None, :])
        cuts[:, self.attributes :] *= 2
        return cuts

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return the nearest semidefinite matrix with its trace scaled to 1."""
        values, vectors = np.linalg.eigh(self.matrix(weights))
        kept = self.weights_of((vectors * np.maximum(values, 0.0)) @ vectors.T)
        return kept / float(self.total @ kept)
