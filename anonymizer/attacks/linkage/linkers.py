"""The ways of linking: to the nearest record, all at once by assignment, or by Fellegi and Sunter's
probabilities.

An assignment links each record of the release with at most one original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymizer.attacks.generalized_values import CoveringJoin, spans
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Distancing,
    Linked,
    Linking,
    RankDistance,
)
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.counting import count, group_keys

BLOCK = 2000
"""Most original records that are assigned together."""

NEIGHBOURS = 50
"""Nearest classes of each original that are at hand in a block."""

TIE = 1e-9
"""Weight of the breadth of a class beside the largest distance: it decides between equal distances only."""


class AssignmentLinking(Linking):
    """The one-to-one assignment of originals to released records with the least sum of distances.

    An original that one class alone stands for is given to it. More than ``BLOCK`` other records are assigned
    block by block, originals with the same nearest class in one block, each block to what is left.

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
        """Return how many values are compared for originals that more than one class may be given to."""
        sure = _sure(space) if self._distance.exact else _Assigned.none()
        return (len(space.originals) - len(sure.originals)) * space.cells

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Link; which of several best assignments is found is left to chance."""
        distance = self._distance(space)
        left, waiting = space.sizes.copy(), space.records.copy()
        sure = _sure(space) if distance.exact else _Assigned.none()
        taken = _per_link(space, sure, space.records[sure.originals])
        waiting[sure.originals] = 0
        left -= count(sure.classes, space.records[sure.originals], len(left))
        blocks = _blocks(distance, waiting)
        for block in blocks:
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
    """Return the originals that one class alone stands for, where it has room for all of them.

    They are at distance 0 from it. When that is so for all, no other assignment has as small a sum.
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
    """Return how many records were assigned along each link of the truth."""
    number = len(space.sizes)
    links = space.truth.original * number + space.truth.release
    keys = np.concatenate([links, assigned.originals * number + assigned.classes])
    group_of, distinct = group_keys(keys, number * len(space.originals))
    counts = count(group_of[len(links) :], records, len(distinct))
    return counts[group_of[: len(links)]].astype(np.float64)


def _blocks(distance: Distance, waiting: IntArray) -> list[IntArray]:
    """Return the original of each record that waits, in blocks, alike ones in the same block.

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
    """Assign the originals of some records to records that are left, shape (classes,)."""
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
    # Equal costs are many; in the files' order the solver would find the truth by its position.
    rows, columns = random.permutation(row_of), random.permutation(columns)
    first, second = linear_sum_assignment(costs[np.ix_(rows, columns)])
    return _Assigned(own[rows[first]], open_classes[columns[second]])


def _narrowness(breadth: FloatArray) -> FloatArray:
    """Return the logarithm of the breadth, from 0 to 1."""
    logarithm = np.log(breadth)
    widest = float(logarithm.max())
    return logarithm / widest if widest > 0 else logarithm


TIED = 1e-9
"""Distances that differ by less than this share are equal."""

PAIR = 100
"""Finding a pair that covers takes as long as comparing so many values."""

PROBES = 64
"""Originals on which the number of such pairs is estimated, at least."""


class NearestLinking(Linking):
    """Each original record is linked with the nearest record of the release.

    Among classes at the same distance the one that stands for the fewest combinations of values is taken: of
    two that may hold a record, its own is the likelier the narrower it is. What is left are records that
    look alike, any of which may be the one.
    """

    name = "nearest"

    def __init__(self, distance: Distancing) -> None:
        self._distance = distance

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared, for what classes may cover estimated on a few originals."""
        wanted = np.unique(space.truth.original)
        if not self._distance.exact:
            return len(wanted) * space.cells
        return len(uncovered(space)) * space.cells + PAIR * _pairs(space, wanted)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:  # noqa: ARG002 - it counts
        """Link; nothing is left to chance, ties count by their expected value."""
        distance = self._distance(space)
        return Linked(nearest(distance))


def nearest(distance: Distance) -> FloatArray:
    """Return the chance that nearest linkage is right for a record of each link, shape (links,)."""
    space = distance.space
    truth = space.truth
    right = np.zeros(len(truth.counts))
    wanted = np.unique(truth.original)
    if distance.exact:
        wanted = _within_covering(space, wanted, right)
    for block in distance.blocks(wanted):
        distances = distance.rows(block)
        least = distances.min(axis=1, keepdims=True)
        rows, classes = np.nonzero(distances <= least + TIED * np.abs(least))
        _settle(space, right, block, rows, classes)
    return right


def uncovered(space: ComparisonSpace) -> IntArray:
    """Return the originals to be linked whose own classes do not stand for them, as masked numbers do not."""
    truth = space.truth
    covered = np.ones(len(truth.counts), dtype=bool)
    for position, meaning in enumerate(space.meanings):
        covered &= meaning.covers(
            space.originals[truth.original, position], space.classes[truth.release, position]
        )
    return np.setdiff1d(truth.original, truth.original[covered])


def _pairs(space: ComparisonSpace, wanted: IntArray) -> int:
    """Return about how many pairs of an original and a class that covers it there are."""
    probe = wanted[:: max(len(wanted) // PROBES, 1)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    found = sum(len(pairs.original) for _, pairs in join.blocks(space.originals[probe].astype(np.int64)))
    return found * len(wanted) // len(probe)


def _within_covering(space: ComparisonSpace, wanted: IntArray, right: FloatArray) -> IntArray:
    """Settle the originals that some class stands for, which are at distance 0; return the others."""
    without: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    join = CoveringJoin(space.meanings, space.classes.astype(np.int64))
    for block, pairs in join.blocks(space.originals[wanted].astype(np.int64)):
        covered = np.zeros(len(block), dtype=bool)
        covered[pairs.original] = True
        without.append(wanted[block[~covered]])
        _settle(space, right, wanted[block], pairs.original, pairs.published)
    return np.concatenate(without)


def _settle(
    space: ComparisonSpace, right: FloatArray, block: IntArray, rows: IntArray, classes: IntArray
) -> None:
    """Enter the chances of a block whose nearest classes are known.

    Parameters
    ----------
    right: of the space's truth, changed.
    block: originals, shape (originals,).
    rows, classes: pairs of a position in ``block`` and a nearest class, shape (pairs,); by row.
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
    """Return the links of some originals, and the position in the block of which each is."""
    first, last = (np.searchsorted(space.truth.original, block, side) for side in ("left", "right"))
    return spans(first, last - first)


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
