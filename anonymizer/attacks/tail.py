"""The most exposed: what an attack reaches among the targets of whom the adversary is surest.

An adversary need not attack everybody. The targets are ranked by what the adversary sees, never by the truth;
of those who are equally sure at the end of a share, each is as likely in it, which counts by its expectation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.base import (
    ROUNDING,
    TAILS,
    AttackResult,
    MostExposed,
    Share,
    clopper_pearson,
    exact_sum,
)
from anonymizer.model.arrays import FloatArray, IntArray

DIGITS = 12
"""Significant digits of a confidence; what differs by less is equal, as sums are rounded."""


PROMISED = 1e-6
"""Difference up to which a share of right guesses is the promised one."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Targets by the confidence of the adversary, those of one kind together.

    Attributes
    ----------
    confidence: in the guess about each kind, higher for the surer ones, shape (kinds,), float64.
    counts: targets of each kind, shape (kinds,), int64.
    hits, among: the guess about a target of the kind is right with the probability hits / among, shape
        (kinds,); int64 if it is counted, else float64 with 1 in ``among``.
    promise: the probability by the adversary, shape (kinds,); None: the confidence is.
    """

    confidence: FloatArray
    counts: IntArray
    hits: NDArray[np.integer[Any] | np.floating[Any]]
    among: IntArray
    promise: FloatArray | None = None

    @classmethod
    def promised(cls, chance: FloatArray, counts: IntArray) -> Self:
        """Return a ranking by the chances themselves, which the adversary knows."""
        return cls.of(chance, chance, counts)

    @classmethod
    def of(
        cls,
        confidence: FloatArray,
        chance: FloatArray,
        counts: IntArray | None = None,
        promise: FloatArray | None = None,
    ) -> Self:
        """Return a ranking by probabilities in floating point; without ``counts``, of single targets."""
        ones = np.ones(len(confidence), dtype=np.int64)
        return cls(confidence, ones if counts is None else counts, chance, ones, promise)

    @cached_property
    def targets(self) -> int:
        """Number of targets."""
        return int(self.counts.sum())

    @property
    def chances(self) -> FloatArray:
        """Probability that the guess about a target of each kind is right, shape (kinds,)."""
        found: FloatArray = self.hits / self.among
        return found

    @cached_property
    def _levels(self) -> tuple[IntArray, IntArray, IntArray]:
        """The kinds from the surest on, where levels of confidence begin, and the targets to their ends."""
        order = np.argsort(-self.confidence, kind="stable")
        rounded = rounded_digits(self.confidence[order])
        starts = np.flatnonzero(np.concatenate([[True], rounded[1:] != rounded[:-1]]))
        upto = np.cumsum(np.add.reduceat(self.counts[order], starts))
        return order, starts, upto

    def taken(self, number: Share) -> FloatArray:
        """Return which share of each kind is among so many of the surest targets, shape (kinds,)."""
        order, starts, upto = self._levels
        sizes = np.diff(upto, prepend=0)
        part = np.clip((float(number) - (upto - sizes)) / np.maximum(sizes, 1), 0.0, 1.0)
        found = np.empty(len(order))
        found[order] = np.repeat(part, np.diff(starts, append=len(order)))
        return found

    def right(self, number: int) -> Share:
        """Return the expected number of right guesses about so many of the surest targets."""
        order, starts, upto = self._levels
        level = int(np.searchsorted(upto, number))
        begin, end = int(starts[level]), int(np.append(starts, len(order))[level + 1])
        before = int(upto[level - 1]) if level else 0
        at_cut = int(upto[level]) - before
        return self._sum(order[:begin]) + self._sum(order[begin:end]) * Fraction(number - before, at_cut)

    def _sum(self, kinds: IntArray) -> Share:
        if self.hits.dtype.kind == "f":
            return float(self.hits[kinds] @ self.counts[kinds])
        hits = self.hits[kinds].astype(np.int64)
        return exact_sum(hits * self.counts[kinds], self.among[kinds])

    def as_promised(self, number: int) -> bool:
        """Return whether each guess about the surest targets is right as often as the adversary expects."""
        some = (self.counts > 0) & (self.taken(number) > 0)
        promise = self.confidence if self.promise is None else self.promise
        return bool(np.allclose(self.chances[some], promise[some], rtol=0, atol=PROMISED))

    def success(self, share: Fraction) -> Share:
        """Return the success among a share of the targets; 1 for all of them."""
        number = number_of(share, self.targets)
        return self.right(number) / number


def simplest(rights: FloatArray, counts: IntArray) -> int:
    """Return the first attacker that does not reach fewer targets than the best by more than chance.

    Parameters
    ----------
    rights: chance that each guess is right, shape (attackers, kinds).
    counts: targets of each kind by which is chosen, shape (kinds,).
    """
    behind = rights[(rights @ counts).argmax()] - rights
    return int(np.argmax(behind @ counts <= np.sqrt(np.square(behind) @ counts) + ROUNDING))


def composed(attackers: Sequence[Ranking], fold: IntArray, share: Fraction) -> Ranking:
    """Return the ranking of the attackers that are chosen for each fold by the most exposed of the others.

    It is the simplest one that reaches, within a standard error, as many of these as the best. Confidences of
    several attackers do not compare: where folds have different ones, a target's is its place in its fold.

    Parameters
    ----------
    attackers: of the same kinds, the simplest first.
    fold: of each kind, shape (kinds,), int64.
    """
    counts, kinds = attackers[0].counts, np.arange(len(fold))
    chances = np.stack([each.chances for each in attackers])
    confidences = np.stack([each.confidence for each in attackers])
    taken = np.zeros_like(chances)
    members = [np.flatnonzero(fold == own) for own in range(int(fold.max()) + 1)]
    for place in range(len(attackers)):
        for own in members:
            ranking = Ranking.of(confidences[place, own], chances[place, own], counts[own])
            taken[place, own] = ranking.taken(share * ranking.targets) if len(own) else 0.0
    taken *= chances
    best = np.array([simplest(taken, counts * (fold != own)) for own in range(len(members))])
    confidence, chance = confidences[best[fold], kinds], chances[best[fold], kinds]
    if len(np.unique(best[fold])) > 1:
        for own in members:
            confidence[own] = -np.unique(-confidence[own], return_inverse=True)[1] / max(len(own), 1)
    return Ranking.of(confidence, chance, counts)


def number_of(share: Fraction, targets: int) -> int:
    """Return how many targets a share is, at least one.

    >>> number_of(Fraction(1, 100), 30), number_of(Fraction(1, 20), 30), number_of(Fraction(1), 30)
    (1, 2, 30)
    """
    return min(max(ceil(share * targets), 1), targets)


def rounded_digits(numbers: FloatArray) -> FloatArray:
    """Return numbers with ``DIGITS`` significant digits."""
    with np.errstate(divide="ignore"):
        size = np.where(numbers == 0, 0, np.floor(np.log10(np.abs(numbers))))
    scale = 10.0 ** np.clip(DIGITS - 1 - size, -300, 300)
    found: FloatArray = np.where(np.isfinite(numbers), np.round(numbers * scale) / scale, numbers)
    return found


def exposing(
    result: AttackResult,
    ranking: Ranking,
    blind: Ranking | None = None,
    *,
    further: Sequence[Ranking] = (),
    estimated: bool | None = None,
) -> AttackResult:
    """Return a result with the success among the most exposed.

    The interval is that of Clopper and Pearson, also where all records are attacked, as a percent of them are
    few, of whom some are found by luck; not where guesses are right as often as the adversary expects.

    Parameters
    ----------
    blind: the guesses of an adversary without the release; None: equally sure guesses about all targets, by
        the baseline or the most frequent value.
    further: rankings between whose successes the interval reaches, too.
    estimated: whether the result is an estimate; None: if it has an interval.
    """
    estimated = result.low < result.high if estimated is None else estimated
    tail = {}
    for key, share in TAILS.items():
        success, number = ranking.success(share), number_of(share, ranking.targets)
        baseline = _guess(result) if blind is None else max(_guess(result), blind.success(share))
        every = [float(success), *(float(each.success(share)) for each in further)]
        ends = min(every), max(every)
        low, high = ends
        if estimated or not ranking.as_promised(number):
            low, high = clopper_pearson(low * number, number)[0], clopper_pearson(high * number, number)[1]
        ends = (low, high) if estimated else ends
        tail[key] = MostExposed(success, baseline, low, high, ends, number)
    return replace(result, tail=tail)


def _guess(result: AttackResult) -> Share:
    """Return the success of equally sure guesses about all targets: of the most frequent value, if better."""
    return max(result.baseline, float(result.details.get("base_rate") or 0.0))


def exposing_best(
    result: AttackResult, rankings: Sequence[Ranking], blind: Ranking | None = None
) -> AttackResult:
    """Return a result with the success among the most exposed by the best of several ways to guess."""
    every = [exposing(result, each, blind).tail for each in rankings]
    tail = {share: max((own[share] for own in every), key=lambda own: own.success) for share in TAILS}
    return replace(result, tail=tail)


def exposing_each(
    result: AttackResult, attackers: Sequence[Ranking], fold: IntArray, blind: Ranking | None = None
) -> AttackResult:
    """Return a result with the success among the most exposed by attackers that other folds choose.

    Parameters
    ----------
    attackers, fold: as for ``composed``.
    """
    tail = {}
    for key, share in TAILS.items():
        tail[key] = exposing(result, composed(attackers, fold, share), blind).tail[key]
    return replace(result, tail=tail)


def exposing_certain(result: AttackResult) -> AttackResult:
    """Return a result with its most exposed, where an adversary knows of whom the attack succeeds.

    Then those are attacked first: a tenth of the targets, of whom a fiftieth is found, has a success of 0.2.
    """
    found = {}
    for key, share in TAILS.items():
        number = number_of(share, result.records)
        times = Fraction(result.records, number)
        success = min(result.success * times, Fraction(1))
        least, most = (min(end * float(times), 1.0) for end in (result.low, result.high))
        found[key] = MostExposed(success, _guess(result), least, most, (least, most), number)
    return replace(result, tail=found)
