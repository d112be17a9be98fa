"""Probabilities of sensitive values against the truth, or against each other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy

from anonymizer.attacks.base import CONFIDENCE
from anonymizer.attacks.definetti.groups import Groups
from anonymizer.attacks.tail import Ranking
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

SURE = 0.8
"""Probability from which a guess counts as sure."""


@dataclass(frozen=True)
class Score:
    """The score of probabilities of sensitive values against the truth.

    Attributes
    ----------
    accuracy: ACC, share of records whose most likely value is the true one; a tie of n counts 1/n.
    absolute: ABS, mean over records of the sum over values of |probability - 1 for the true value, 0 for
        others|.
    squared: SSQ, the same with squared differences.
    sure: share of records with a value of probability ``SURE`` or more.
    sure_right: share of those records for which that value is the true one, None without any.
    """

    accuracy: Fraction
    absolute: float
    squared: float
    sure: float
    sure_right: float | None

    @classmethod
    def of(cls, groups: Groups, chances: FloatArray, true: IntArray) -> Score:
        """Return the score.

        Parameters
        ----------
        chances: probability of each entry, shape (entries,).
        true: records of each entry's kind with its value, shape (entries,), int64; at least one in sum.
        """
        total = int(true.sum())
        kind, starts = groups.kind, groups.first[:-1]
        squares = np.add.reduceat(chances**2, starts)[kind]
        sure = chances >= SURE
        known = int(np.add.reduceat(true, starts)[np.add.reduceat(sure, starts) > 0].sum())
        return cls(
            _right(groups, chances, true) / total,
            float((2 * (1 - chances)) @ true) / total,
            float((1 - 2 * chances + squares) @ true) / total,
            known / total,
            int(true[sure].sum()) / known if known else None,
        )


def expected_accuracy(groups: Groups, chances: FloatArray) -> float:
    """Return the expected accuracy if the probabilities are correct."""
    best = np.maximum.reduceat(chances, groups.first[:-1])
    return float(best @ groups.counts) / groups.people


def likeliest(groups: Groups, chances: FloatArray) -> tuple[BoolArray, IntArray]:
    """Return which entries are most likely in their kind, shape (entries,), and their number in each kind."""
    starts = groups.first[:-1]
    best = chances == np.maximum.reduceat(chances, starts)[groups.kind]
    return best, np.add.reduceat(best.astype(np.int64), starts)


def best_chance(groups: Groups, chances: FloatArray) -> FloatArray:
    """Return the probability of the most likely value of each kind, shape (kinds,)."""
    found: FloatArray = np.maximum.reduceat(chances, groups.first[:-1])
    return found


def ranked(groups: Groups, chances: FloatArray, true: IntArray) -> Ranking:
    """Return the records by the probability of their most likely value; ``true`` as in ``Score.of``."""
    best, ties = likeliest(groups, chances)
    starts = groups.first[:-1]
    right, counts = np.add.reduceat(np.where(best, true, 0), starts), np.add.reduceat(true, starts)
    return Ranking(best_chance(groups, chances), counts, right, ties * np.maximum(counts, 1))


def attainable(groups: Groups, true: IntArray) -> float:
    """Return the accuracy of the best guess about each kind, which nobody who sees only these exceeds."""
    return int(np.maximum.reduceat(true, groups.first[:-1]).sum()) / int(true.sum())


def _right(groups: Groups, chances: FloatArray, true: IntArray) -> Fraction:
    """Return the expected number of records whose most likely value is the true one."""
    best, ties = likeliest(groups, chances)
    people = np.bincount(ties[groups.kind][best], weights=true[best]).astype(np.int64).tolist()
    return sum((Fraction(number, tied) for tied, number in enumerate(people) if number), Fraction(0))


PRECISION = 0.01
"""Width of the expected share of correct guesses below which it is settled, without known true values."""

BATCHES = 8
"""Maximum number of sets of chains that guess for each other."""


@dataclass(frozen=True)
class Expected:
    """The share of records that are guessed correctly, if the probabilities are correct.

    The largest of several noisy probabilities is too large on average, so the guesses of some chains count by
    the probabilities of another: independent noise cancels. This errs downwards where chains guess different
    values; the largest mean over all chains errs upwards. The truth is between their expectations, and not
    below the baseline, which is certain in every assignment.

    Attributes
    ----------
    success: mean over the chains of what each finds of the others' guesses, at least the baseline.
    low, high: interval of 95% by the jackknife over chains, with the largest mean inside.
    by_chain: what each set of chains finds of the others' guesses.
    """

    success: float
    low: float
    high: float
    by_chain: list[float]

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    @classmethod
    def of(cls, groups: Groups, by_chain: FloatArray) -> Expected:
        """Return the expectation from the chances of each chain, shape (chains, entries); one is exact."""
        baseline = expected_accuracy(groups, groups.shares)
        if len(by_chain) == 1:
            exact = expected_accuracy(groups, by_chain[0])
            return cls(exact, exact, exact, [exact])
        sets = np.array_split(by_chain, min(len(by_chain), BATCHES))
        sums, sizes = np.stack([own.sum(axis=0) for own in sets]), np.array([len(own) for own in sets])
        found = _guessed_by_others(groups, sums, sizes)
        success = float(np.mean(found))
        largest = expected_accuracy(groups, by_chain.mean(axis=0))
        low, high = baseline, max(success, largest)
        if len(sets) > 2:
            without = [
                np.mean(_guessed_by_others(groups, np.delete(sums, i, axis=0), np.delete(sizes, i)))
                for i in range(len(sets))
            ]
            error = np.sqrt((len(sets) - 1) * np.var(without))

            reach = float(scipy.special.stdtrit(len(sets) - 1, (1 + CONFIDENCE) / 2) * error)
            low, high = max(success - reach, baseline), max(success + reach, largest)
        return cls(max(success, baseline), low, min(max(high, baseline), 1.0), found)


def _guessed_by_others(groups: Groups, sums: FloatArray, sizes: IntArray) -> list[float]:
    """Return the probability by each set of chains of the values that all others find most likely.

    Parameters
    ----------
    sums: of the probabilities of each set, shape (sets, entries).
    sizes: chains of each set, shape (sets,), int64.
    """
    starts, total, found = groups.first[:-1], sums.sum(axis=0), []
    for own, size in zip(sums, sizes.tolist(), strict=True):
        others = total - own
        best = np.isclose(others, np.maximum.reduceat(others, starts)[groups.kind], rtol=1e-12, atol=0)
        chance = np.add.reduceat(best * own / size, starts) / np.add.reduceat(best, starts)
        found.append(float(chance @ groups.counts) / groups.people)
    return found


def ranked_by_others(groups: Groups, by_chain: FloatArray) -> list[Ranking]:
    """Return for each chain the records as all others rank and guess them, right as often as it finds.

    A single chain, which is exact, ranks and guesses for itself.
    """
    starts, total, found = groups.first[:-1], by_chain.sum(axis=0), []
    for own in by_chain:
        others = total - own if len(by_chain) > 1 else own
        best = np.isclose(others, np.maximum.reduceat(others, starts)[groups.kind], rtol=1e-12, atol=0)
        chance = np.add.reduceat(best * own, starts) / np.add.reduceat(best, starts)
        found.append(Ranking.of(best_chance(groups, others), chance, groups.counts))
    return found
