"""Methods of linkage record by record: nearest, and probabilistic (Fellegi and Sunter)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from anonymizer.attacks.joins import CoveringJoin, spans
from anonymizer.attacks.linkage.chances import steepness_of
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Distancing,
    Linked,
    Linking,
    RankDistance,
    uncovered,
)
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, group_keys

TIED = 1e-9
"""Relative difference below which distances are equal."""

UNLIKELY = 20.0
"""Surprise, beyond that at the nearest class, from which on a class adds no doubt."""

PAIR = 100
"""Cost of finding a covering pair, in compared values."""

PROBES = 64
"""Minimum number of originals from which the number of covering pairs is estimated."""


class NearestLinking(Linking):
    """Links each original record with the nearest record of the release.

    Of classes at the same distance, the one that covers the fewest vectors of values is taken: the narrower a
    class, the more likely it holds a given record. The remaining candidates are equal and equally likely.
    """

    name = "nearest"

    def __init__(self, distance: Distancing) -> None:
        self._distance = distance

    def work(self, space: ComparisonSpace) -> int:
        """Return the number of compared values; covering pairs are estimated on a few originals."""
        wanted = np.unique(space.truth.original)
        if not (self._distance.exact and space.by_covering):
            return len(wanted) * space.cells * self._distance.effort(space)
        return len(uncovered(space)) * space.cells + PAIR * _pairs(space, wanted)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Return the links; ties count by their expected value."""
        return nearest(self._distance(space))


def nearest(distance: Distance) -> Linked:
    """Return the links with the nearest record of the release; ties count by their expected value.

    The doubt about a link counts each record of the release by its chance, relative to the linked one: by its
    distance, and if that is no likelihood, by the number of vectors of values that its class covers.
    """
    space = distance.space
    wanted = np.unique(space.truth.original)
    found = _Nearest.nothing(space)
    if distance.exact and space.by_covering:
        wanted = _within_covering(space, wanted, found)
    steep = steepness_of(distance) if space.ranked and len(wanted) else 0.0
    for block in distance.blocks(wanted):
        distances = distance.rows(block)
        least = distances.min(axis=1, keepdims=True)
        tied = distances <= least + TIED * np.abs(least)
        if not space.ranked:
            rows, classes = np.nonzero(tied)
            found.enter(block, rows, classes)
            continue
        gaps = steep * (distances - least)
        rows, classes = np.nonzero(tied | (gaps <= UNLIKELY))
        chance = np.exp(-gaps[rows, classes])
        found.enter(block, rows, classes, tied[rows, classes], chance, by_breadth=not distance.surprise)
    doubt = found.doubt[space.truth.original] if space.ranked else None
    return Linked(found.right, distance.details, doubt=doubt)


@dataclass(frozen=True, eq=False)
class _Nearest:
    """What is known of the nearest records so far.

    Attributes
    ----------
    right: probability that a record of each true link is linked correctly, shape (links,), float64.
    doubt: of each original, see ``Linked.doubt``, shape (originals,), float64.
    """

    space: ComparisonSpace
    right: FloatArray
    doubt: FloatArray

    @classmethod
    def nothing(cls, space: ComparisonSpace) -> _Nearest:
        """Return that nothing is known."""
        return cls(space, np.zeros(len(space.truth.counts)), np.full(len(space.records), np.inf))

    def enter(
        self,
        block: IntArray,
        rows: IntArray,
        classes: IntArray,
        tied: BoolArray | None = None,
        chance: FloatArray | None = None,
        *,
        by_breadth: bool = True,
    ) -> None:
        """Enter the originals of a block whose likely classes are known.

        Parameters
        ----------
        block: originals, shape (originals,).
        rows, classes: pairs of a position in ``block`` and a class, shape (pairs,), sorted by row.
        tied: whether the class of each pair is one of the nearest, shape (pairs,); None for all.
        chance: of each, relative to the nearest ones, by distance, shape (pairs,); None for 1.
        by_breadth: whether a broader class is less likely at any distance.
        """
        if not len(rows):
            return
        space = self.space
        tied = np.ones(len(rows), dtype=bool) if tied is None else tied
        breadth, number = space.breadth[classes], len(block)
        narrowest = np.full(number, np.inf)
        np.minimum.at(narrowest, rows[tied], breadth[tied])
        chosen = tied & (breadth <= narrowest[rows] * (1 + TIED))
        alike = np.bincount(rows[chosen], weights=space.sizes[classes[chosen]], minlength=number)
        links, row = _links_of(space, block)
        wide = len(space.sizes)
        found = np.isin(row * wide + space.truth.release[links], (rows * wide + classes)[chosen])
        self.right[links[found]] = 1 / alike[row[found]]
        if space.ranked:
            likely = np.ones(len(rows)) if chance is None else chance
            likely = likely * (narrowest[rows] / breadth) if by_breadth else likely
            worth = np.where(chosen, 0.0, likely) * space.sizes[classes]
            self.doubt[block] = alike - 1 + np.bincount(rows, weights=worth, minlength=number)


def _pairs(space: ComparisonSpace, wanted: IntArray) -> int:
    """Return an estimate of the number of pairs of an original and a class that covers it."""
    probe = wanted[:: max(len(wanted) // PROBES, 1)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    found = sum(len(pairs.original) for _, pairs in join.blocks(space.originals[probe].astype(np.int64)))
    return found * len(wanted) // len(probe)


def _within_covering(space: ComparisonSpace, wanted: IntArray, found: _Nearest) -> IntArray:
    """Enter the originals that a class covers, at distance 0; return the others."""
    without: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals[wanted].astype(np.int64)):
        covered = np.zeros(len(block), dtype=bool)
        covered[pairs.original] = True
        without.append(wanted[block[~covered]])
        found.enter(wanted[block], pairs.original, pairs.published)
    return np.concatenate(without)


def _links_of(space: ComparisonSpace, block: IntArray) -> tuple[IntArray, IntArray]:
    """Return the true links of the originals of a block, and the position in the block for each."""
    first, last = (np.searchsorted(space.truth.original, block, side) for side in ("left", "right"))
    return spans(first, last - first)


STEPS = (0.02, 0.05, 0.1, 0.2)
"""Limits of the outcomes, in differences of ranks or shares of the height of the hierarchy."""

OUTCOMES = ("agree", "within 2 %", "within 5 %", "within 10 %", "within 20 %", "differ")
UNKNOWN = len(OUTCOMES)
"""Outcome of a value that the adversary does not know; it has no weight."""
ROUNDS = 30
CONVERGED = 1e-4
TAUGHT = 1 << 28
"""Maximum number of compared values from which probabilities are estimated."""
PRIOR = 1e-3
"""Pairs added to each outcome; no probability is 0 or 1."""


class ProbabilisticLinking(Linking):
    """Links each original with the record of the highest weight of evidence, the sum of log(m / u).

    The outcome of an attribute is agreement, one of several degrees of closeness, or difference. m and u are
    the probabilities of the outcomes among matching and non-matching pairs. Expectation maximization
    estimates them from the pairs alone, for independent attributes and one match per held original; a closer
    value never counts against a match. Two
    thresholds classify pairs as links, possible links or non-links: the lowest weight above which at most
    ``false_links`` of the non-matching pairs lie, and the highest below which at most ``missed_links`` of the
    matching ones do.

    Sources: Fellegi, Sunter, "A theory for record linkage" (JASA 64, 1969,
    doi:10.1080/01621459.1969.10501049); the maximization: Jaro (JASA 84, 1989,
    doi:10.1080/01621459.1989.10478785); constraints on the probabilities in it: Winkler, "Improved decision
    rules in the Fellegi-Sunter model of record linkage" (ASA Proceedings, Survey Research Methods 1993).
    """

    name = "probabilistic"
    # All pairs are counted for each draw, however few the targets.
    draws = 2

    def __init__(self, false_links: float, missed_links: float) -> None:
        self._false_links = false_links
        self._missed_links = missed_links

    def work(self, space: ComparisonSpace) -> int:
        """Return the number of compared values; each is compared to learn, to count and to link."""
        return 4 * super().work(space)

    def _taught(self, space: ComparisonSpace) -> IntArray:
        """Return the originals whose pairs teach the probabilities: all, or evenly spread ones of many."""
        return np.arange(len(space.records))[:: -(-len(space.records) * space.cells // TAUGHT)]

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Return the links by weight, and the classification of all pairs in the details."""
        evidence = Evidence(space)
        taught = self._taught(space)
        patterns = _count_patterns(evidence, taught)
        share = min(space.records[taught].sum(), space.sizes.sum()) / patterns.pairs.sum()
        estimate = _maximize(patterns, share, evidence.of_nearest(taught))
        details = _probabilities(space, estimate) | self._classified(patterns, estimate)
        return replace(nearest(Evidence(space, estimate.weights)), details=details)

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
    """The negative weight of evidence that two records match, by the outcome of each attribute."""

    name = "evidence"
    # Agreement in all attributes need not have the highest weight.
    exact = False
    surprise = True

    def __init__(self, space: ComparisonSpace, weights: FloatArray | None = None) -> None:
        super().__init__(space)
        self._weights = weights

    def outcomes(self, position: int, originals: IntArray) -> IntArray:
        """Return the outcome of one attribute, in ``OUTCOMES`` or ``UNKNOWN``, for each class."""
        return self.differences(position, originals, _as_numbers, UNKNOWN).astype(np.int64)

    def neutral(self, position: int, codes: IntArray) -> FloatArray:  # noqa: ARG002 - the same for all
        """Return that an unknown value has no outcome."""
        return np.full(len(codes), np.nan)

    def of_nearest(self, originals: IntArray) -> FloatArray:
        """Return how often some originals have each outcome with their nearest class.

        Returns
        -------
        Frequencies, shape (attributes, outcomes).
        """
        space = self.space
        distance, sums = RankDistance(space), np.zeros((len(space.meanings), len(OUTCOMES)))
        for block in self.blocks(originals):
            own = distance.rows(block).argmin(axis=1)
            for position in range(len(space.meanings)):
                found = self.outcomes(position, block)[np.arange(len(block)), own]
                sums[position] += _by_outcome(found, space.records[block])
        return _frequencies(sums)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the negative weights of evidence."""
        assert self._weights is not None, "link() estimates the weights first"
        total = np.zeros((len(originals), len(self.space.sizes)))
        for position, weights in enumerate(self._weights):
            total -= self.differences(position, originals, partial(_weighed, weights))
        return total


def _weighed(weights: FloatArray, gaps: FloatArray) -> FloatArray:
    """Return the weight of the outcome of each gap."""
    return np.append(weights, 0.0)[_outcomes(gaps)]


def _as_numbers(gaps: FloatArray) -> FloatArray:
    return _outcomes(gaps).astype(np.float64)


def _outcomes(gaps: FloatArray) -> IntArray:
    """Return the outcome of each gap, a position in ``OUTCOMES`` or ``UNKNOWN``."""
    sizes = np.abs(gaps)
    found = (sizes > 0).astype(np.int64) + np.searchsorted(STEPS, sizes)
    return np.where(np.isnan(gaps), UNKNOWN, found)


@dataclass(frozen=True, eq=False)
class _Patterns:
    """The distinct vectors of outcomes, shape (attributes, patterns), and the pairs with each."""

    outcomes: IntArray
    pairs: IntArray

    def likelihood(self, probabilities: FloatArray) -> FloatArray:
        """Return the probability of each pattern for independent attributes, shape (patterns,)."""
        return self._joined(probabilities, np.multiply, 1.0)

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the patterns' weights by outcome, shape (attributes, outcomes)."""
        return np.stack([_by_outcome(own, weights) for own in self.outcomes])

    def evidence(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights of each pattern's outcomes."""
        return self._joined(weights, np.add, 0.0)

    def _joined(self, numbers: FloatArray, join: np.ufunc, unknown: float) -> FloatArray:
        """Join the numbers of each pattern's outcomes, shape (patterns,); unknown values change nothing."""
        found = np.full(len(self.pairs), unknown)
        for own, outcomes in zip(numbers, self.outcomes, strict=True):
            join(found, np.take(np.append(own, unknown), outcomes), out=found)
        return found


@dataclass(frozen=True, eq=False)
class _Estimate:
    """Probabilities of the outcomes among matching and other pairs, shape (attributes, outcomes)."""

    m: FloatArray
    u: FloatArray

    @property
    def weights(self) -> FloatArray:
        """The weights of evidence for a match, log(m / u)."""
        return np.log(self.m / self.u)


def _count_patterns(evidence: Evidence, originals: IntArray) -> _Patterns:
    space = evidence.space
    base = len(OUTCOMES) + int((space.originals < 0).any() or any(each.any for each in space.unknown))
    number = base ** len(space.meanings)
    keys, pairs = [], []
    for block in evidence.blocks(originals):
        own = np.zeros((len(block), len(space.sizes)), dtype=np.int64)
        for position in range(len(space.meanings)):
            own = own * base + evidence.outcomes(position, block)
        group_of, distinct = group_keys(own.ravel(), number)
        records = np.outer(space.records[block], space.sizes).ravel()
        keys.append(distinct)
        pairs.append(count(group_of, records, len(distinct)))
    group_of, distinct = group_keys(np.concatenate(keys), number)
    counts = count(group_of, np.concatenate(pairs), len(distinct))
    powers = base ** np.arange(len(space.meanings))[::-1]
    return _Patterns(distinct // powers[:, None] % base, counts)


def _maximize(patterns: _Patterns, share: float, first: FloatArray) -> _Estimate:
    """Return the most likely probabilities for a given share of matching pairs.

    Parameters
    ----------
    first: initial m.
    """
    everything = patterns.sums(patterns.pairs.astype(np.float64))
    estimate = _Estimate(first, _frequencies(everything))
    for _ in range(ROUNDS):
        together = share * patterns.likelihood(estimate.m)
        apart = (1 - share) * patterns.likelihood(estimate.u)
        of_one = patterns.sums(patterns.pairs * (together / (together + apart)))
        u = _frequencies(np.maximum(everything - of_one, 0))
        better = _Estimate(ordered_m(_frequencies(of_one), u), u)
        change = float(np.abs(better.m - estimate.m).max())
        estimate = better
        if change < CONVERGED:
            break
    return estimate


def ordered_m(m: FloatArray, u: FloatArray) -> FloatArray:
    """Return the most likely m for which m / u does not increase from agreement to difference.

    Neighbouring outcomes whose ratios are in the wrong order are pooled, and divided among them as u is.

    Source: the pool-adjacent-violators algorithm, Robertson, Wright, Dykstra, "Order Restricted Statistical
    Inference" (Wiley 1988), section 1.2.

    Parameters
    ----------
    m, u: probabilities, shape (attributes, outcomes), positive.
    """
    found = np.empty_like(m)
    for own, matching, other in zip(found, m.tolist(), u.tolist(), strict=True):
        pools: list[tuple[float, float, int]] = []
        for pool in zip(matching, other, [1] * len(matching), strict=True):
            while pools and pools[-1][0] * pool[1] < pool[0] * pools[-1][1]:
                last = pools.pop()
                pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])  # noqa: PLW2901
            pools.append(pool)
        ratios = np.array([one / two for one, two, _ in pools])
        own[:] = np.repeat(ratios, [number for _, _, number in pools]) * other
    return found


def _by_outcome(outcomes: IntArray, weights: FloatArray | IntArray) -> FloatArray:
    """Return the sum of weights by outcome, without unknown ones, shape (outcomes,)."""
    sums = np.bincount(outcomes, weights=weights, minlength=len(OUTCOMES)).astype(np.float64)
    return sums[: len(OUTCOMES)]


def _frequencies(sums: FloatArray) -> FloatArray:
    more = sums + PRIOR
    frequencies: FloatArray = more / more.sum(axis=1, keepdims=True)
    return frequencies


def _probabilities(space: ComparisonSpace, estimate: _Estimate) -> dict[str, Any]:
    """Return m and u by attribute and outcome, for the report."""
    return {
        letter: {
            name: dict(zip(OUTCOMES, row, strict=True))
            for name, row in zip(space.names, values.tolist(), strict=True)
        }
        for letter, values in (("m", estimate.m), ("u", estimate.u))
    }
