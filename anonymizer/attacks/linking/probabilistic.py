"""Probabilistic record linkage of Fellegi and Sunter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymizer.attacks.linking.base import Linked, Linking
from anonymizer.attacks.linking.nearest import nearest
from anonymizer.attacks.linking.rank import RankDistance
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.counting import count, group_keys

STEPS = (0.02, 0.05, 0.1, 0.2)
"""Gaps up to each are told apart: differences of ranks, or shares of the height of the hierarchy."""

OUTCOMES = ("agree", "within 2 %", "within 5 %", "within 10 %", "within 20 %", "differ")
ROUNDS = 30
CONVERGED = 1e-4
PRIOR = 1e-3
"""Pairs added to each outcome, so that no probability is 0 or 1."""


class ProbabilisticLinking(Linking):
    """Links each original with the record of the highest weight of evidence, sum of log(m / u).

    A pair agrees in an attribute, differs, or is more or less close. m and u, the probabilities of these
    among pairs of one person and of two, are learned from the pairs alone by expectation maximization,
    attributes independent; there is one true pair for each original that is held. Pairs are links, possible
    links or no links by two thresholds: the lowest weight from which on at most ``false_links`` of the pairs
    of two persons lie, and the highest below which at most ``missed_links`` of those of one person do.

    Sources: Fellegi, Sunter, "A theory for record linkage" (JASA 64, 1969,
    doi:10.1080/01621459.1969.10501049); the maximization: Jaro (JASA 84, 1989,
    doi:10.1080/01621459.1989.10478785).
    """

    name = "probabilistic"
    together = True

    def __init__(self, false_links: float, missed_links: float) -> None:
        self._false_links = false_links
        self._missed_links = missed_links

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared: each in order to learn, to count and to link."""
        return 4 * super().work(space)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Link by the weights, and classify all pairs."""
        evidence = Evidence(space)
        patterns = _count_patterns(evidence)
        share = min(space.records.sum(), space.sizes.sum()) / patterns.pairs.sum()
        estimate = _maximize(patterns, share, evidence.of_nearest())
        details = _probabilities(space, estimate) | self._classified(patterns, estimate)
        return Linked(nearest(Evidence(space, estimate.weights)), details)

    def _classified(self, patterns: _Patterns, estimate: _Estimate) -> dict[str, Any]:
        weights = patterns.evidence(estimate.weights)
        order = np.argsort(-weights, kind="stable")
        apart = np.cumsum(patterns.likelihood(estimate.u)[order])
        missed = np.cumsum(patterns.likelihood(estimate.m)[order][::-1])[::-1]
        link = apart <= self._false_links
        none = ~link & (missed <= self._missed_links)
        pairs = patterns.pairs[order]
        ordered = weights[order]
        return {
            "links": int(pairs[link].sum()),
            "possible_links": int(pairs[~link & ~none].sum()),
            "no_links": int(pairs[none].sum()),
            "upper_threshold": float(ordered[link][-1]) if link.any() else None,
            "lower_threshold": float(ordered[none][0]) if none.any() else None,
            "false_links": self._false_links,
            "missed_links": self._missed_links,
        }


class Evidence(RankDistance):
    """The weight against two records being of one person, by which of the outcomes each attribute has."""

    name = "evidence"
    # Agreement in all attributes may weigh less than something else.
    exact = False

    def __init__(self, space: ComparisonSpace, weights: FloatArray | None = None) -> None:
        super().__init__(space)
        self._weights = weights

    def outcomes(self, position: int, originals: IntArray) -> IntArray:
        """Return the outcome of one attribute, a position in ``OUTCOMES``, shape (originals, classes)."""
        return self.differences(position, originals, _as_numbers).astype(np.int64)

    def of_nearest(self) -> FloatArray:
        """Return how often each outcome is that of the nearest class, shape (attributes, outcomes)."""
        space = self.space
        distance, sums = RankDistance(space), np.zeros((len(space.meanings), len(OUTCOMES)))
        for block in self.blocks(np.arange(len(space.records))):
            own = distance.rows(block).argmin(axis=1)
            for position in range(len(space.meanings)):
                found = self.outcomes(position, block)[np.arange(len(block)), own]
                sums[position] += np.bincount(found, weights=space.records[block], minlength=len(OUTCOMES))
        return _frequencies(sums)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the weights with their sign turned."""
        assert self._weights is not None, "the weights are not known yet"
        total = np.zeros((len(originals), len(self.space.sizes)))
        for position, weights in enumerate(self._weights):
            total -= self.differences(position, originals, _Weighing(weights))
        return total


@dataclass(frozen=True, eq=False)
class _Weighing:
    """Gives each gap the weight of its outcome."""

    weights: FloatArray

    def __call__(self, gaps: FloatArray) -> FloatArray:
        """Return the weights."""
        return self.weights[_outcomes(gaps)]


def _as_numbers(gaps: FloatArray) -> FloatArray:
    return _outcomes(gaps).astype(np.float64)


def _outcomes(gaps: FloatArray) -> IntArray:
    """Return the outcome of each gap."""
    sizes = np.abs(gaps)
    return (sizes > 0).astype(np.int64) + np.searchsorted(STEPS, sizes)


@dataclass(frozen=True, eq=False)
class _Patterns:
    """The distinct outcomes of pairs in all attributes, shape (attributes, patterns), and their pairs."""

    outcomes: IntArray
    pairs: IntArray

    def likelihood(self, probabilities: FloatArray) -> FloatArray:
        """Return the probability of each pattern when attributes are independent."""
        likelihood = np.ones(len(self.pairs))
        for own, outcomes in zip(probabilities, self.outcomes, strict=True):
            likelihood *= np.take(own, outcomes)
        return likelihood

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the patterns' weights by outcome, shape (attributes, outcomes)."""
        return np.stack([np.bincount(own, weights=weights, minlength=len(OUTCOMES)) for own in self.outcomes])

    def evidence(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights of each pattern's outcomes."""
        total = np.zeros(len(self.pairs))
        for own, outcomes in zip(weights, self.outcomes, strict=True):
            total += np.take(own, outcomes)
        return total


@dataclass(frozen=True, eq=False)
class _Estimate:
    """Probabilities of the outcomes among pairs of one person and of two, shape (attributes, outcomes)."""

    m: FloatArray
    u: FloatArray

    @property
    def weights(self) -> FloatArray:
        """The evidence for one person, log(m / u)."""
        return np.log(self.m / self.u)


def _count_patterns(evidence: Evidence) -> _Patterns:
    space = evidence.space
    number = len(OUTCOMES) ** len(space.meanings)
    keys, pairs = [], []
    for block in evidence.blocks(np.arange(len(space.records))):
        own = np.zeros((len(block), len(space.sizes)), dtype=np.int64)
        for position in range(len(space.meanings)):
            own = own * len(OUTCOMES) + evidence.outcomes(position, block)
        group_of, distinct = group_keys(own.ravel(), number)
        records = np.outer(space.records[block], space.sizes).ravel()
        keys.append(distinct)
        pairs.append(count(group_of, records, len(distinct)))
    group_of, distinct = group_keys(np.concatenate(keys), number)
    counts = count(group_of, np.concatenate(pairs), len(distinct))
    powers = len(OUTCOMES) ** np.arange(len(space.meanings))[::-1]
    return _Patterns(distinct // powers[:, None] % len(OUTCOMES), counts)


def _maximize(patterns: _Patterns, share: float, first: FloatArray) -> _Estimate:
    """Return the most likely probabilities when a given share of the pairs is of one person.

    Parameters
    ----------
    first: where m starts.
    """
    everything = patterns.sums(patterns.pairs.astype(np.float64))
    estimate = _Estimate(first, _frequencies(everything))
    for _ in range(ROUNDS):
        together = share * patterns.likelihood(estimate.m)
        apart = (1 - share) * patterns.likelihood(estimate.u)
        of_one = patterns.sums(patterns.pairs * (together / (together + apart)))
        better = _Estimate(_frequencies(of_one), _frequencies(np.maximum(everything - of_one, 0)))
        change = float(np.abs(better.m - estimate.m).max())
        estimate = better
        if change < CONVERGED:
            break
    return estimate


def _frequencies(sums: FloatArray) -> FloatArray:
    more = sums + PRIOR
    frequencies: FloatArray = more / more.sum(axis=1, keepdims=True)
    return frequencies


def _probabilities(space: ComparisonSpace, estimate: _Estimate) -> dict[str, Any]:
    """Return m and u by attribute and outcome."""
    return {
        letter: {
            name: dict(zip(OUTCOMES, row, strict=True))
            for name, row in zip(space.names, values.tolist(), strict=True)
        }
        for letter, values in (("m", estimate.m), ("u", estimate.u))
    }
