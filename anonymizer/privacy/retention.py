"""What the records that stay in a class must satisfy, as conditions on the counts of their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray

Shares = tuple[Fraction, ...]
"""One share for each value code."""


@dataclass(frozen=True)
class Distinct:
    """At least so many distinct values stay.

    Attributes
    ----------
    missing: code of the missing value that does not count, None when all count.
    """

    number: int
    missing: int | None = None


@dataclass(frozen=True)
class Dominance:
    """The most frequent value stays below c times the rare ones: r_1 < c (r_l + r_{l+1} + ...)."""

    c: Fraction
    l: int  # noqa: E741


@dataclass(frozen=True, eq=False)
class Deviation:
    """The counts of some nested groups of values stay close to what is expected.

    The sum over groups of |y(group) - n expected(group) / total| is at most ``limit`` n. Any two groups are
    disjoint or one holds the other. All three earth mover's distances of t-closeness have this form.

    Attributes
    ----------
    group_of: smallest group of each value code, -1 for none, shape (values,), int64.
    parent: smallest group that holds each group, -1 for none, shape (groups,), int64; groups come before
        their parents.
    expected: records of the reference in each group, shape (groups,), int64.
    total: records of the reference.
    limit: what the sum may be for each record.
    span: the sum of |.| for each record that stands for a distance of 1.
    steady: whether the groups stay the same when the reference loses values.
    """

    group_of: IntArray
    parent: IntArray
    expected: IntArray
    total: int
    limit: Fraction
    span: int
    steady: bool = True

    @property
    def separate(self) -> bool:
        """Whether every value is a group of its own and there are no others."""
        return len(self.parent) == len(self.group_of) == len(np.unique(self.group_of)) and bool(
            (self.parent < 0).all() and (self.group_of >= 0).all()
        )


@dataclass(frozen=True, eq=False)
class CountConditions:
    """Conditions on the counts y of the n records that stay in a class, all to be met at once.

    The counts are those of the values of one sensitive attribute; a rule with nothing but ``smallest`` needs
    none. Bounds that are irrational by their definition are given to 60 digits, more than counts can tell.

    Attributes
    ----------
    smallest: n is at least this.
    distinct: numbers of values that stay.
    caps: y is at most cap n for every value; None without.
    floors: y is 0 or at least floor n for every value; None without.
    required: values that must stay, shape (values,), bool; None without.
    dominances: bounds on the most frequent value.
    entropies: H(y / n) is at least ln l for each of these l.
    deviations: bounds on the distance from the reference.
    """

    smallest: int = 1
    distinct: tuple[Distinct, ...] = ()
    caps: Shares | None = None
    floors: Shares | None = None
    required: BoolArray | None = None
    dominances: tuple[Dominance, ...] = ()
    entropies: tuple[Fraction, ...] = ()
    deviations: tuple[Deviation, ...] = ()

    def joined(self, other: CountConditions) -> CountConditions:
        """Return the conditions of both on the same attribute."""
        required = self.required if other.required is None else other.required
        if self.required is not None and other.required is not None:
            required = self.required | other.required
        return CountConditions(
            max(self.smallest, other.smallest),
            self.distinct + other.distinct,
            _tighter(self.caps, other.caps, min),
            _tighter(self.floors, other.floors, max),
            required,
            self.dominances + other.dominances,
            self.entropies + other.entropies,
            self.deviations + other.deviations,
        )

    def drifted(self, share: Fraction, passing: BoolArray) -> CountConditions:
        """Return conditions that hold whenever these hold under the reference less some of its records.

        Of the reference p at most a share f goes: the share of a value is then at most p / (1 - f) and at
        least p - f, and an earth mover's distance changes by f at most, as that far q is from p at most when
        a share f moves by 1. (1 + beta) p, (1 - ln p) p and p exp(delta) grow at most as fast as p.

        Parameters
        ----------
        share: f, below 1.
        passing: values that the reference may lose, shape (values,), bool.
        """
        required = None if self.required is None else self.required & ~passing
        steady = [each for each in self.deviations if each.steady or not passing.any()]
        return CountConditions(
            self.smallest,
            self.distinct,
            None if self.caps is None else tuple(cap / (1 - share) for cap in self.caps),
            None if self.floors is None else tuple(max(floor - share, Fraction(0)) for floor in self.floors),
            required,
            self.dominances,
            self.entropies,
            tuple(replace(each, limit=each.limit + each.span * share) for each in steady),
        )


def _tighter(
    own: Shares | None, other: Shares | None, choose: Callable[[Fraction, Fraction], Fraction]
) -> Shares | None:
    if own is None or other is None:
        return other if own is None else own
    return tuple(map(choose, own, other))
