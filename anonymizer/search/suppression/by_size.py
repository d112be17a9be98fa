"""The largest class that can stay, by trying sizes from a bound downward.

With the size n of the rest given, caps and floors are whole numbers, and the conditions of one attribute part
into sums of convex functions of single counts, which are minimised exactly without a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.privacy.conditions import CountConditions, Deviation
from anonymizer.privacy.exact import has_entropy, resolve_near_ties
from anonymizer.search.suppression.levelling import levelled
from anonymizer.search.suppression.monotone import Monotone, distinct_counts
from anonymizer.search.suppression.multiples import Multiples
from anonymizer.search.suppression.nested_deviation import NestedDeviation
from anonymizer.search.suppression.separate_deviation import SeparateDeviation

COUNTED_ENTRIES = 1 << 18
"""Counts that are looked at together when several sizes are tried at once."""


@dataclass(frozen=True, eq=False)
class Retained:
    """What stays of some classes.

    Attributes
    ----------
    counts: records of each value that stay, shape (classes, values), int64.
    most: no more records can stay, shape (classes,), int64.
    settled: whether the conditions were met by as many, shape (classes,), bool.
    """

    counts: IntArray
    most: IntArray
    settled: BoolArray


@dataclass(frozen=True, eq=False)
class _Try:
    """What trying some sizes showed: whether one is impossible, and else counts that may do."""

    impossible: BoolArray
    counts: IntArray
    met: BoolArray


class DeviationSolver(Protocol):
    """Keeps counts close to what is expected."""

    def bound(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Bound the sizes within the limit from the counts, shape (rows, values), and bounds before."""

    def closest(self, least: IntArray, most: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the closest counts between bounds with given sums, and their deviation in 1 / total."""


def deviation_solver(deviation: Deviation) -> DeviationSolver:
    """Return the faster solver where no group holds another."""
    return SeparateDeviation(deviation) if deviation.separate else NestedDeviation(deviation)


class BySize:
    """A rule for the counts of one attribute, prepared for rows of counts."""

    def __init__(self, rule: CountConditions) -> None:
        self._rule = rule
        self._monotone = Monotone(rule)
        self._caps = None if rule.caps is None else Multiples(rule.caps)
        self._floors = None if rule.floors is None else Multiples(rule.floors)
        # Where a value may be absent though it has a floor, what is tried here is not all there is.
        self._always_firm = self._floors is None or not (self._floors.floats[~_required(rule)] > 0).any()
        self._deviations = [(each, deviation_solver(each)) for each in rule.deviations]
        self._least = max([rule.smallest, 1, *(each.number for each in rule.distinct)])

    def retain(self, counts: IntArray) -> Retained:
        """Return the most that can stay of each class, shape (classes, values), int64."""
        largest = self._monotone.greatest(counts)
        sizes = largest.sum(axis=1)
        if self._monotone.whole:
            return Retained(largest, sizes, np.ones(len(counts), dtype=bool))
        return self._descend(largest, self._bounds(largest, sizes))

    def _bounds(self, counts: IntArray, sizes: IntArray) -> IntArray:
        """Bound the size of what stays by what fractions of records would allow."""
        bounds = sizes.astype(np.float64)
        for _, solver in self._deviations:
            bounds = solver.bound(counts, bounds)
        for l in self._rule.entropies:  # noqa: E741
            bounds = np.minimum(bounds, _within_entropy(counts, float(l)))
        if self._floors is not None and self._rule.required is not None:
            shares = self._floors.floats[self._rule.required]
            allowed = counts[:, self._rule.required] / np.maximum(shares, 1e-300)
            bounds = np.minimum(bounds, allowed.min(axis=1, initial=np.inf))
        return np.minimum(np.floor(bounds + 1e-6).astype(np.int64), sizes)

    def _descend(self, counts: IntArray, sizes: IntArray) -> Retained:
        """Try sizes downward from a bound until one is not impossible."""
        kept, most = np.zeros_like(counts), sizes.copy()
        settled = np.zeros(len(counts), dtype=bool)
        active, block = np.arange(len(counts)), 1
        while len(active):
            gone = most[active] < self._least
            most[active[gone]] = 0
            settled[active[gone]] = True
            active = active[~gone]
            if not len(active):
                break
            # Most classes lose few records: look at twice as many sizes each time.
            widest = max(1, COUNTED_ENTRIES // max(len(active) * counts.shape[1], 1))
            block = min(2 * block, widest, int((most[active] - self._least).max()) + 1)
            tried = (most[active][:, None] - np.arange(block)).ravel()
            found = self._try(np.repeat(counts[active], block, axis=0), np.maximum(tried, 0))
            stop = (~found.impossible & (tried >= self._least)).reshape(len(active), block)
            first = stop.argmax(axis=1)
            ended = stop.any(axis=1)
            rows = (np.arange(len(active)) * block + first)[ended]
            most[active] -= np.where(ended, first, block)
            kept[active[ended]] = found.counts[rows]
            settled[active[ended]] = found.met[rows]
            active = active[~ended]
        return Retained(kept, most, settled)

    def _try(self, counts: IntArray, sizes: IntArray) -> _Try:
        """Look for counts with the given sums."""
        most = counts if self._caps is None else np.minimum(counts, self._caps.floor(sizes))
        least = np.zeros_like(most)
        impossible = np.zeros(len(sizes), dtype=bool)
        if self._floors is not None:
            floors = self._floors.ceil(sizes)
            most = np.where(floors <= most, most, 0)
            least = np.where(most > 0, floors, 0)
        if self._rule.required is not None:
            impossible |= (most[:, self._rule.required] == 0).any(axis=1)
            impossible |= least[:, self._rule.required].sum(axis=1) > sizes
            least = np.where(self._rule.required & (most > 0), np.maximum(least, 1), least)
        impossible |= most.sum(axis=1) < sizes
        for distinct in self._rule.distinct:
            impossible |= distinct_counts(most, distinct.missing) < distinct.number
        result, met = np.zeros_like(most), np.zeros(len(sizes), dtype=bool)
        # Where floors alone are too much, some value must go: the solver's to say which.
        open_rows = np.flatnonzero(~impossible & (least.sum(axis=1) <= sizes))
        if len(open_rows):
            found = self._between(least[open_rows], most[open_rows], sizes[open_rows])
            impossible[open_rows] = found.impossible
            result[open_rows], met[open_rows] = found.counts, found.met
        return _Try(impossible, result, met)

    def _between(self, least: IntArray, most: IntArray, sizes: IntArray) -> _Try:
        """Choose counts between bounds whose sums allow the sizes."""
        result = levelled(least, most, sizes)
        impossible = self._too_uneven(result)
        for deviation, solver in self._deviations:
            result, distance = solver.closest(least, most, sizes)
            impossible |= distance > Multiples((deviation.limit,)).floor(sizes * deviation.total)[:, 0]
        met = ~impossible & ~self._too_uneven(result)
        if len(self._deviations) + len(self._rule.entropies) > 1:
            met[:] = False
        for distinct in self._rule.distinct:
            met &= distinct_counts(result, distinct.missing) >= distinct.number
        return _Try(impossible & self._firm(sizes), result, met)

    def _firm(self, sizes: IntArray) -> BoolArray:
        """Tell at which sizes no value that may be absent need be, shape (sizes,).

        With distances from p alone, records of a value that lacks some of its floor, where that is no more
        than expected, can take the place of records of a value that exceeds what is expected: neither caps
        nor floors nor the distance suffer.
        """
        if self._always_firm:
            return np.ones(len(sizes), dtype=bool)
        firm = np.zeros(len(sizes), dtype=bool)
        if self._floors is None or self._rule.entropies or self._rule.dominances or self._rule.distinct:
            return firm
        if self._rule.deviations and all(each.separate for each in self._rule.deviations):
            firm[:] = True
            floors = self._floors.ceil(sizes)
            for each in self._rule.deviations:
                firm &= (floors * each.total <= sizes[:, None] * each.expected[each.group_of]).all(axis=1)
        return firm

    def _too_uneven(self, counts: IntArray) -> BoolArray:
        """Tell which counts have too little entropy, exactly, shape (rows,)."""
        uneven = np.zeros(len(counts), dtype=bool)
        for l in self._rule.entropies:  # noqa: E741
            uneven |= ~_diverse(counts, l)
        return uneven


def _required(rule: CountConditions) -> BoolArray:
    """Return the values that must stay, where a rule has floors, shape (values,)."""
    if rule.required is not None:
        return rule.required
    return np.zeros(len(rule.floors or ()), dtype=bool)


def _diverse(counts: IntArray, l: Fraction) -> BoolArray:  # noqa: E741
    margins = np.log(float(l)) - _entropies(counts.astype(np.float64))
    margins[~counts.any(axis=1)] = -1.0

    def signature(row: int) -> tuple[int, ...]:
        return tuple(sorted(count for count in counts[row].tolist() if count))

    return resolve_near_ties(
        margins <= 0, margins, 1.0, signature, lambda row: has_entropy(signature(row), l)
    )


def _entropies(counts: FloatArray) -> FloatArray:
    sizes = np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    shares = counts / sizes
    entropies: FloatArray = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return entropies


def _within_entropy(counts: IntArray, l: float) -> FloatArray:  # noqa: E741
    """Return how much can stay of each row when the largest values are cut to one level, by bisection."""
    low, high = np.zeros(len(counts)), counts.max(axis=1, initial=0).astype(np.float64)
    for _ in range(60):
        middle = (low + high) / 2
        cut = np.minimum(counts, middle[:, None])
        even = _entropies(cut) >= np.log(l) - 1e-10
        low, high = np.where(even, middle, low), np.where(even, high, middle)
    sums: FloatArray = np.minimum(counts, high[:, None]).sum(axis=1)
    return np.where(_entropies(counts.astype(np.float64)) >= np.log(l) - 1e-10, counts.sum(axis=1), sums)
