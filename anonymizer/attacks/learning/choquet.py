"""Choquet integrals of squared differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np

from anonymizer.attacks.learning.family import Family, Mixtures
from anonymizer.model.arrays import FloatArray

FEW = 4
"""Up to so many attributes the fuzzy measure is free; 2-additive beyond, where 2**attributes are too many."""


def choquet(attributes: int) -> Family:
    """Return all Choquet integrals of up to ``FEW`` attributes, the 2-additive ones of more."""
    return Choquet(attributes) if attributes <= FEW else TwoAdditiveChoquet(attributes)


class TwoAdditiveChoquet(Mixtures):
    """Choquet integrals of 2-additive measures: mixtures of single attributes, and minima and maxima of two.

    The extreme 2-additive measures are those of a single attribute, of the minimum and of the maximum of two,
    so that their mixtures are all of them.

    Sources: Abril, Navarro-Arribas and Torra, Choquet integral for record linkage (Annals of Operations
    Research 195, 2012); the extreme measures: Miranda, Combarro and Gil, Extreme points of some families of
    non-additive measures (European Journal of Operational Research 174, 2006).
    """

    name = "choquet"

    def __init__(self, attributes: int) -> None:
        super().__init__(attributes)
        self._first, self._second = np.triu_indices(attributes, 1)
        pairs = tuple(combinations(range(attributes), 2))
        self._of((*((position,) for position in range(attributes)), *pairs, *pairs))

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

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the Shapley values: a pair's weight counts half for each of the two."""
        return _shapley(self, weights)


class Choquet(Family):
    """Choquet integrals of any fuzzy measure, by its Möbius transform: a weight for every set of attributes.

    The measure must not fall when an attribute joins a set, and that of all attributes is 1.

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
        """Return the measures of zeros and ones, which are the extreme ones, as weights."""
        choices = (np.arange(2 ** len(sets))[:, None] >> np.arange(len(sets))) & 1
        monotone = choices[:, -1] == 1
        for small, below in enumerate(sets):
            for large, above in enumerate(sets):
                if below < above:
                    monotone &= choices[:, small] <= choices[:, large]
        extremes: FloatArray = np.rint(
            np.linalg.solve(self._inside, choices[monotone].T.astype(np.float64)).T
        )
        return extremes

    def features(self, differences: FloatArray) -> FloatArray:
        """Return the least squared difference of every set."""
        squares = differences * differences
        return np.stack([squares[..., list(members)].min(axis=-1) for members in self.members], axis=-1)

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the names, then the minima of larger sets."""
        sets = [", ".join(names[position] for position in members) for members in self.members]
        return [*sets[: self.attributes], *(f"min({text})" for text in sets[self.attributes :])]

    def importance(self, weights: FloatArray) -> FloatArray:
        """Return the Shapley values: a set's weight counts in equal parts for its attributes."""
        return _shapley(self, weights)

    def least(self, gaps: FloatArray) -> FloatArray:
        """Return the least value over the extreme measures."""
        least: FloatArray = (gaps @ self._corners.T).min(axis=1)
        return least

    def samples(self, number: int, random: np.random.Generator) -> FloatArray:
        """Return mixtures of extreme measures."""
        mixed: FloatArray = random.dirichlet(np.full(len(self._corners), 0.1), number) @ self._corners
        return mixed

    def corners(self) -> FloatArray:
        """Return the extreme measures."""
        return self._corners


def _shapley(family: Family, weights: FloatArray) -> FloatArray:
    shapley = np.zeros(family.attributes)
    for members, weight in zip(family.members, weights, strict=True):
        shapley[list(members)] += weight / len(members)
    return shapley
