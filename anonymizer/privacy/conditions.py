"""Conditions on the counts of values that keep a class valid, and bounds in whole records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference, SensitiveCounts

Shares = tuple[Fraction, ...]
"""One share for each value code."""


@dataclass(frozen=True)
class Distinct:
    """A minimum number of distinct values.

    Attributes
    ----------
    missing: code of the missing value if it does not count, else None.
    """

    number: int
    missing: int | None = None


@dataclass(frozen=True)
class Dominance:
    """The most frequent value is below c times the rare ones: r_1 < c (r_l + r_{l+1} + ...)."""

    c: Fraction
    l: int  # noqa: E741


@dataclass(frozen=True, eq=False)
class Deviation:
    """A bound on how far the counts of nested groups of values are from the expected ones.

    The sum over groups of |y(group) - n expected(group) / total| is at most ``limit`` n. Any two groups are
    disjoint or one holds the other. All three earth mover's distances of t-closeness have this form.

    Attributes
    ----------
    group_of: smallest group of each value code, -1 for none, shape (values,), int64.
    parent: smallest group that holds each group, -1 for none, shape (groups,), int64; groups come before
        their parents.
    expected: records of the reference in each group, shape (groups,), int64.
    total: records of the reference.
    limit: maximum of the sum per record.
    span: the sum per record at a distance of 1.
    steady: whether the groups remain the same when the reference loses values.
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
        """Whether the groups are the single values."""
        return len(self.parent) == len(self.group_of) == len(np.unique(self.group_of)) and bool(
            (self.parent < 0).all() and (self.group_of >= 0).all()
        )


@dataclass(frozen=True, eq=False)
class CountConditions:
    """Conditions on the counts y of the n records that remain in a class; all must hold.

    The counts are of the values of one sensitive attribute; conditions with ``smallest`` only need none.
    Irrational bounds have 60 digits, more than counts can distinguish.

    Attributes
    ----------
    smallest: minimum of n.
    distinct: minimum numbers of distinct values.
    caps: y is at most cap n for each value; None without.
    floors: y is 0 or at least floor n for each value; None without.
    required: values that must remain, shape (values,), bool; None without.
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
        """Return the conjunction with other conditions on the same attribute."""
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
        """Return conditions that follow from these after the reference loses some of its records.

        If the reference p loses a share of at most f, the share of a value is at most p / (1 - f) and at
        least p - f. An earth mover's distance changes by at most f, the cost of moving a share f by 1.
        (1 + beta) p, (1 - ln p) p and p exp(delta) grow at most as fast as p.

        Parameters
        ----------
        share: f, below 1.
        passing: values that the reference may lose completely, shape (values,), bool.
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


SLACK = 1e-6
"""Records subtracted from a computed bound before rounding up; far above its rounding error."""


def largest_counts(counts: SensitiveCounts) -> IntArray:
    """Return the count of the most frequent value in each class, r_1, shape (classes,), int64."""
    largest: IntArray = np.maximum.reduceat(counts.counts, counts.starts[:-1])
    return largest


def distinct_values(view: ClassView) -> IntArray:
    """Return the number of distinct sensitive values that count in each class, shape (classes,), int64."""
    counts = view.counted
    distinct: IntArray = np.diff(counts.starts)
    if view.missing is not None:
        is_missing = (counts.values == view.missing).astype(np.int64)
        distinct = distinct - np.add.reduceat(is_missing, counts.starts[:-1])
    return distinct


def entry_shares(view: ClassView) -> FloatArray:
    """Return q of each entry, its share of the class, shape (entries,)."""
    counts = view.counted
    return counts.counts / view.sizes[counts.owners]


def exact_ratios(entries: list[tuple[int, int]], size: int, reference: Reference) -> list[Fraction]:
    """Return q / p of each value of one class; its values occur in the reference.

    Parameters
    ----------
    entries: (value code, count) pairs of the class.
    size: of the class.
    """
    return [Fraction(count * reference.size, size * int(reference.counts[value])) for value, count in entries]


def reference_shares(counts: SensitiveCounts, reference: Reference) -> FloatArray:
    """Return p of each entry's value, shape (entries,)."""
    shares: FloatArray = reference.shares[counts.values]
    return shares


def excess_over_caps(view: ClassView, caps: FloatArray) -> FloatArray:
    """Return a lower bound on the records that each class must lose to keep all caps, shape (classes,).

    Losing x records of value v leaves c_v - x of n - x, so x is at least (c_v - cap n) / (1 - cap).

    Parameters
    ----------
    caps: maximum share of each entry's value, shape (entries,); 1 or more never binds.
    """
    counts = view.counted
    sizes = view.sizes[counts.owners]
    room = np.where(caps < 1, 1 - caps, 1.0)
    excess = np.where(caps < 1, (counts.counts - caps * sizes) / room, 0.0)
    largest: FloatArray = np.maximum.reduceat(excess, counts.starts[:-1])
    return largest


def whole_records(
    bound: FloatArray, view: ClassView, holds: BoolArray, *, smallest: int = 1, least: int = 1
) -> IntArray:
    """Round a lower bound up to whole records, shape (classes,), int64.

    Parameters
    ----------
    bound: records that must be lost, shape (classes,), float64.
    holds: classes that lose no records, shape (classes,), bool.
    smallest: a class is lost completely if fewer records than this would remain.
    least: minimum number of records that a failing class loses.
    """
    records = np.ceil(np.clip(bound, 0, view.sizes) - SLACK).astype(np.int64)
    records = np.maximum(records, least)
    records = np.where(view.sizes - records < smallest, view.sizes, records)
    return np.where(holds, 0, np.minimum(records, view.sizes))
