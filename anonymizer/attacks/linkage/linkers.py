"""Methods of linkage: nearest record, one-to-one assignment, and probabilistic (Fellegi and Sunter).

An assignment links each record of the release with at most one original.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anonymizer.attacks.adversary_view import CoveringJoin, spans
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Distancing,
    Linked,
    Linking,
    RankDistance,
)
from anonymizer.attacks.pace import step
from anonymizer.model.arrays import FloatArray, IntArray, count, group_keys

BLOCK = 2000
"""Maximum number of original records in one assignment."""

NEIGHBOURS = 50
"""Nearest classes of each original that a block considers."""

TIE = 1e-9
"""Weight of a class's breadth relative to the largest distance; it decides only equal distances."""


class AssignmentLinking(Linking):
    """The one-to-one assignment of originals to released records with the least sum of distances.

    An original that only one class covers is assigned to it. More than ``BLOCK`` other records are assigned
    in blocks, sorted by nearest class, each block to the remaining records.

    Sources: Domingo-Ferrer, Muralidhar, "New directions in anonymization: permutation paradigm, verifiability
    by subjects and intruders, transparency to users" (Information Sciences 2016,
    doi:10.1016/j.ins.2015.12.014); the solver: Crouse (IEEE Transactions on Aerospace and Electronic Systems
    2016, doi:10.1109/TAES.2016.140952).
    """

    name = "assignment"
    together = True

    def __init__(self, distance: Distancing) -> None:
        self._distance = distance

    def work(self, space: ComparisonSpace) -> int:
        """Return the number of compared values, for originals without a certain class."""
        exact = self._distance.exact and not space.in_other_units
        sure = _sure(space) if exact else _Assigned.none()
        return (len(space.originals) - len(sure.originals)) * space.cells

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Return the links of one of the best assignments, at random if there are several."""
        distance = self._distance(space)
        left, waiting = space.sizes.copy(), space.records.copy()
        exact = distance.exact and not space.in_other_units
        sure = _sure(space) if exact else _Assigned.none()
        taken = _per_link(space, sure, space.records[sure.originals])
        waiting[sure.originals] = 0
        left -= count(sure.classes, space.records[sure.originals], len(left))
        blocks = _blocks(distance, waiting)
        for number, block in enumerate(blocks):
            step(blocks, number, len(blocks))
            if not left.any():
                break
            assigned = _assign(distance, block, left, random)
            left -= np.bincount(assigned.classes, minlength=len(left))
            taken += _per_link(space, assigned, np.ones(len(assigned.classes), dtype=np.int64))
        truth = space.truth
        chance = taken / space.records[truth.original] / space.sizes[truth.release]
        return Linked(chance, {"blocks": len(blocks)}, ties_randomized=bool(blocks))


@dataclass(frozen=True, eq=False)
class _Assigned:
    """Pairs of an original and a class."""

    originals: IntArray
    classes: IntArray

    @classmethod
    def none(cls) -> _Assigned:
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing)


def _sure(space: ComparisonSpace) -> _Assigned:
    """Return the originals that only one class covers, if it has enough records for all of them.

    Their distance is 0, so no other assignment of them has a smaller sum.
    """
    originals, classes = [], []
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals.astype(np.int64)):
        lone = np.bincount(pairs.original, minlength=len(block))[pairs.original] == 1
        originals.append(block[pairs.original[lone]])
        classes.append(pairs.published[lone])
    own, given = np.concatenate(originals), np.concatenate(classes)
    wanted = count(given, space.records[own], len(space.sizes))
    fits = (wanted <= space.sizes)[given]
    return _Assigned(own[fits], given[fits])


def _per_link(space: ComparisonSpace, assigned: _Assigned, records: IntArray) -> FloatArray:
    """Return the number of records assigned along each true link, shape (links,), float64."""
    number = len(space.sizes)
    links = space.truth.original * number + space.truth.release
    keys = np.concatenate([links, assigned.originals * number + assigned.classes])
    group_of, distinct = group_keys(keys, number * len(space.originals))
    counts = count(group_of[len(links) :], records, len(distinct))
    return counts[group_of[: len(links)]].astype(np.float64)


def _blocks(distance: Distance, waiting: IntArray) -> list[IntArray]:
    """Return the original of each waiting record in blocks, sorted by nearest class.

    Parameters
    ----------
    waiting: records of each original, shape (originals,).
    """
    originals = np.flatnonzero(waiting)
    if not len(originals):
        return []
    if int(waiting.sum()) <= BLOCK:
        return [np.repeat(originals, waiting[originals])]
    nearest = np.concatenate([distance.rows(block).argmin(axis=1) for block in distance.blocks(originals)])
    order = originals[np.argsort(nearest, kind="stable")]
    records = np.repeat(order, waiting[order])
    return [records[start : start + BLOCK] for start in range(0, len(records), BLOCK)]


def _assign(distance: Distance, block: IntArray, left: IntArray, random: np.random.Generator) -> _Assigned:
    """Assign the originals of a block to the remaining records of the classes, shape (classes,)."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  quick start-up

    space = distance.space
    own, row_of = np.unique(block, return_inverse=True)
    parts = [distance.rows(part) for part in distance.blocks(own)]
    open_classes = np.flatnonzero(left)
    distances = np.concatenate([part[:, open_classes] for part in parts])
    if len(open_classes) > NEIGHBOURS and int(left.sum()) > 2 * BLOCK:
        near = np.unique(np.argpartition(distances, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS])
        open_classes, distances = open_classes[near], distances[:, near]
    costs = distances + TIE * max(float(distances.max()), 1.0) * _narrowness(space.breadth[open_classes])
    columns = np.repeat(np.arange(len(open_classes)), np.minimum(left[open_classes], len(block)))
    # Many costs are equal; in file order the solver could find the true links by position.
    rows, columns = random.permutation(row_of), random.permutation(columns)
    first, second = linear_sum_assignment(costs[np.ix_(rows, columns)])
    return _Assigned(own[rows[first]], open_classes[columns[second]])


def _narrowness(breadth: FloatArray) -> FloatArray:
    """Return the logarithm of the breadth, scaled to [0, 1]."""
    logarithm = np.log(breadth)
    widest = float(logarithm.max())
    return logarithm / widest if widest > 0 else logarithm


TIED = 1e-9
"""Relative difference below which distances are equal."""

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
        if not self._distance.exact or space.in_other_units:
            return len(wanted) * space.cells
        return len(uncovered(space)) * space.cells + PAIR * _pairs(space, wanted)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Return the links; ties count by their expected value."""
        return Linked(nearest(self._distance(space)))


def nearest(distance: Distance) -> FloatArray:
    """Return the probability that nearest linkage is correct for a record of each link, shape (links,)."""
    space = distance.space
    truth = space.truth
    right = np.zeros(len(truth.counts))
    wanted = np.unique(truth.original)
    if distance.exact and not space.in_other_units:
        wanted = _within_covering(space, wanted, right)
    for block in distance.blocks(wanted):
        distances = distance.rows(block)
        least = distances.min(axis=1, keepdims=True)
        rows, classes = np.nonzero(distances <= least + TIED * np.abs(least))
        _enter(space, right, block, rows, classes)
    return right


def uncovered(space: ComparisonSpace) -> IntArray:
    """Return the targets whose true classes do not cover them, such as masked numbers, shape (originals,).

    A number in other units covers nothing.
    """
    truth = space.truth
    if space.in_other_units:
        return np.unique(truth.original)
    covered = np.ones(len(truth.counts), dtype=bool)
    for position, meaning in enumerate(space.meanings):
        covered &= meaning.covers(
            space.originals[truth.original, position], space.classes[truth.release, position]
        )
    return np.setdiff1d(truth.original, truth.original[covered])


def _pairs(space: ComparisonSpace, wanted: IntArray) -> int:
    """Return an estimate of the number of pairs of an original and a class that covers it."""
    probe = wanted[:: max(len(wanted) // PROBES, 1)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    found = sum(len(pairs.original) for _, pairs in join.blocks(space.originals[probe].astype(np.int64)))
    return found * len(wanted) // len(probe)


def _within_covering(space: ComparisonSpace, wanted: IntArray, right: FloatArray) -> IntArray:
    """Enter the probabilities of originals that a class covers, at distance 0; return the others."""
    without: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals[wanted].astype(np.int64)):
        covered = np.zeros(len(block), dtype=bool)
        covered[pairs.original] = True
        without.append(wanted[block[~covered]])
        _enter(space, right, wanted[block], pairs.original, pairs.published)
    return np.concatenate(without)


def _enter(
    space: ComparisonSpace, right: FloatArray, block: IntArray, rows: IntArray, classes: IntArray
) -> None:
    """Enter the probabilities of a block whose nearest classes are known.

    Parameters
    ----------
    right: probabilities of the true links; changed in place.
    block: originals, shape (originals,).
    rows, classes: pairs of a position in ``block`` and a nearest class, shape (pairs,), sorted by row.
    """
    if not len(rows):
        return
    breadth = space.breadth[classes]
    narrowest = np.full(len(block), np.inf)
    np.minimum.at(narrowest, rows, breadth)
    chosen = breadth <= narrowest[rows] * (1 + TIED)
    rows, classes = rows[chosen], classes[chosen]
    alike = np.bincount(rows, weights=space.sizes[classes], minlength=len(block))
    links, row = _links_of(space, block)
    found = np.isin(row * len(space.sizes) + space.truth.release[links], rows * len(space.sizes) + classes)
    right[links[found]] = 1 / alike[row[found]]


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
    together = True

    def __init__(self, false_links: float, missed_links: float) -> None:
        self._false_links = false_links
        self._missed_links = missed_links

    def work(self, space: ComparisonSpace) -> int:
        """Return the number of compared values; each is compared to learn, to count and to link."""
        return 4 * super().work(space)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Return the links by weight, and the classification of all pairs in the details."""
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
    """The negative weight of evidence that two records match, by the outcome of each attribute."""

    name = "evidence"
    # Agreement in all attributes need not have the highest weight.
    exact = False

    def __init__(self, space: ComparisonSpace, weights: FloatArray | None = None) -> None:
        super().__init__(space)
        self._weights = weights

    def outcomes(self, position: int, originals: IntArray) -> IntArray:
        """Return the outcome of one attribute, in ``OUTCOMES`` or ``UNKNOWN``, for each class."""
        return self.differences(position, originals, _as_numbers, UNKNOWN).astype(np.int64)

    def of_nearest(self) -> FloatArray:
        """Return the frequency of each outcome with the nearest class, shape (attributes, outcomes)."""
        space = self.space
        distance, sums = RankDistance(space), np.zeros((len(space.meanings), len(OUTCOMES)))
        for block in self.blocks(np.arange(len(space.records))):
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
    return weights[_outcomes(gaps)]


def _as_numbers(gaps: FloatArray) -> FloatArray:
    return _outcomes(gaps).astype(np.float64)


def _outcomes(gaps: FloatArray) -> IntArray:
    """Return the outcome of each gap, a position in ``OUTCOMES``."""
    sizes = np.abs(gaps)
    return (sizes > 0).astype(np.int64) + np.searchsorted(STEPS, sizes)


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


def _count_patterns(evidence: Evidence) -> _Patterns:
    space = evidence.space
    base = len(OUTCOMES) + int((space.originals < 0).any())
    number = base ** len(space.meanings)
    keys, pairs = [], []
    for block in evidence.blocks(np.arange(len(space.records))):
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
