"""The whole attack on a pair of files: learn from all records, and tell what it is worth on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.fast import Fast
from anonymizer.attacks.learning.learner import Fit, Learner
from anonymizer.attacks.learning.pairs import Pairs, check, deviations
from anonymizer.model.arrays import FloatArray

BLOCK = 2_000_000
"""Numbers that are computed at once."""


@dataclass(frozen=True)
class HeldOut:
    """What weights reach on originals they were not learned from, among all masked records.

    Attributes
    ----------
    records: originals that were held out.
    right: of these, linked rightly with weights learned from the others.
    equal: linked rightly with equal weights.
    """

    records: int
    right: int
    equal: int


@dataclass(frozen=True, eq=False)
class Learned:
    """A distance that was learned from originals whose masked records are known.

    Attributes
    ----------
    family: of the distance.
    units: what one unit of each attribute is, shape (attributes,): the originals' standard deviation.
    fit: the weights and what they link of the records they were learned from: the worst case, which on other
        records is mostly not reached.
    records: originals.
    equal: of these, linked rightly with equal weights, which is the Euclidean distance.
    held_out: what the same learning is worth on others; None with fewer than two originals.
    """

    family: Family
    units: FloatArray
    fit: Fit
    records: int
    equal: int
    held_out: HeldOut | None

    @property
    def success(self) -> float:
        """Share of the originals that are linked rightly, in sample."""
        return self.fit.right / self.records

    @property
    def bound(self) -> float:
        """Share that no weights of the family exceed."""
        return self.fit.bound / self.records

    def parameters(self, names: Sequence[str]) -> dict[str, float]:
        """Return the weights by what they are about, given the names of the attributes."""
        labels = self.family.labels(names)
        return {label: float(weight) for label, weight in zip(labels, self.fit.weights, strict=True)}

    def importance(self, names: Sequence[str]) -> dict[str, float]:
        """Return how much each attribute gives people away, in shares of 1."""
        shares = self.family.importance(self.fit.weights)
        return {name: float(share) for name, share in zip(names, shares, strict=True)}

    def distances(self, original: FloatArray, masked: FloatArray) -> FloatArray:
        """Return the learned distance of each original to each masked record, shape (originals, masked).

        Parameters
        ----------
        original, masked: shape (records, attributes), in the units of the files.
        """
        left, right = original / self.units, masked / self.units
        distances = np.empty((len(left), len(right)))
        step = max(BLOCK // max(len(right) * len(self.fit.weights), 1), 1)
        for start in range(0, len(left), step):
            differences = left[start : start + step, None, :] - right
            distances[start : start + step] = self.family.features(differences) @ self.fit.weights
        return distances


def learn(
    original: FloatArray, masked: FloatArray, family: Family, learner: Learner, random: np.random.Generator
) -> Learned:
    """Learn the weights that link most originals rightly, and hold out half of them to see what they learn.

    The held-out figure comes from the fast learner, whichever learner is used in sample.

    Parameters
    ----------
    original: shape (records, attributes), float64, finite.
    masked: shape (at least as many records, attributes), first those of the originals in their order.
    family: of as many attributes.
    random: the source of all randomness, the split included.

    Raises
    ------
    InputError: the shapes do not fit together, or a number is missing or infinite.
    """
    check(original, masked)
    units = deviations(original)
    left, right = original / units, masked / units
    pairs = Pairs(left, right, family)
    fit = learner.fit(pairs, random)
    equal = int(pairs.right(family.equal()).sum())
    return Learned(family, units, fit, len(original), equal, _held_out(left, right, family, random))


def _held_out(
    original: FloatArray, masked: FloatArray, family: Family, random: np.random.Generator
) -> HeldOut | None:
    records = len(original)
    if records < 2:
        return None
    order = random.permutation(records)
    known, others = np.sort(order[: records // 2]), np.sort(order[records // 2 :])
    strangers = np.arange(records, len(masked))
    training = Pairs(original[known], masked[np.concatenate([known, others, strangers])], family)
    test = Pairs(original[others], masked[np.concatenate([others, known, strangers])], family)
    weights = Fast().fit(training, random).weights
    right, equal = test.right(weights), test.right(family.equal())
    return HeldOut(len(others), int(right.sum()), int(equal.sum()))
