"""How good guesses of sensitive values are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymizer.attacks.exchangeable.groups import Groups
from anonymizer.model.arrays import FloatArray, IntArray

SURE = 0.8
"""A guess with this chance counts as sure."""


@dataclass(frozen=True)
class Score:
    """What chances of sensitive values are worth beside the truth.

    Attributes
    ----------
    accuracy: ACC, share of people whose most likely value is theirs, a tie of n counting 1/n.
    absolute: ABS, mean over people of the sum over the values of the difference between the chance and 1 for
        the true value, 0 for others.
    squared: SSQ, the same with squares of the differences.
    sure: share of people with a value of chance ``SURE`` or more.
    sure_right: share of those for whom it is the true one, None without any.
    """

    accuracy: Fraction
    absolute: float
    squared: float
    sure: float
    sure_right: float | None

    @classmethod
    def of(cls, groups: Groups, chances: FloatArray, true: IntArray) -> Score:
        """Score chances.

        Parameters
        ----------
        chances: of each entry, shape (entries,).
        true: people of each entry's kind who have its value, shape (entries,), int64; at least one in all.
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
    """Return the accuracy that whoever believes in these chances expects, the truth being unknown."""
    best = np.maximum.reduceat(chances, groups.first[:-1])
    return float(best @ groups.counts) / groups.people


def _right(groups: Groups, chances: FloatArray, true: IntArray) -> Fraction:
    """Return the expected number of people whose most likely value is theirs."""
    starts = groups.first[:-1]
    best = chances == np.maximum.reduceat(chances, starts)[groups.kind]
    ties = np.add.reduceat(best.astype(np.int64), starts)[groups.kind]
    people = np.bincount(ties[best], weights=true[best]).astype(np.int64).tolist()
    return sum((Fraction(number, tied) for tied, number in enumerate(people) if number), Fraction(0))
