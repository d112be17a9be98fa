"""The fewest records to suppress so that all models are satisfied.

With a fixed reference distribution, classes are solved one by one. If the reference is the distribution of
the remaining records, all classes are solved jointly by trying references: the numbers of suppressed records
by value of the referring attributes determine one, and the remaining records must add up to it.

If no single rule decides which records of a class stay, an integer programme does, solved by HiGHS through
OR-Tools. An entropy condition is enforced by cuts: linear conditions that every class of enough entropy
satisfies and a given one violates.

The class constraints of a problem become rules for the remaining counts, solved exactly. The largest class is
found by trying sizes from a bound downward. With the size n of the rest given, caps and floors are whole
numbers, and the conditions of one attribute part into sums of convex functions of single counts, which are
minimized exactly without a solver.

Some conditions are closed under the maximum: a cap on the share of a value, a bound on the most frequent
value by the rare ones, a number of distinct values and a number of records. If y and z satisfy them, so does
max(y, z), value by value. So there is a greatest solution below the counts of a class, and lowering every
count to its bound by the others until nothing changes ends there (Knaster and Tarski).

The counts of a given sum with the least deviation from the expected ones (per value, or in nested groups of
values) follow from convexity. The least deviation within a group, as a function of how many records stay in
it, is convex and linear between a few points: segments of records that each add the same. Joining the groups
inside it merges their segments by what they add; the deviation of the group itself takes 1 from each record
below what is expected and adds 1 to each above. From the innermost groups outward this gives the segments of
the whole class, and those that add least stay. It is dynamic programming over the tree of groups with
functions instead of tables, so that the number of records does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, isfinite
from typing import Any

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, from_the_first, numbered
from anonymizer.model.classes import Classes, Reference
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.model.units import Units
from anonymizer.privacy.base import (
    SLACK,
    ClassConstraint,
    CountConditions,
    Deviation,
    Dominance,
    Merging,
    Shares,
    has_entropy,
    resolve_near_ties,
)
from anonymizer.search.base import SearchProblem, judged_attributes
from anonymizer.search.suppression.cell_models import SensitiveCells, sensitive_cells
from anonymizer.search.suppression.suppressor import (
    References,
    Suppressed,
    Suppressor,
    WholeClasses,
    certain_losses,
    holding,
    reference_for,
    references_of,
    suppressed_items,
)
from anonymizer.system import quiet_output


def levelled(least: IntArray, most: IntArray, sizes: IntArray) -> IntArray:
    """Return the most even counts between bounds with a given sum.

    They have the largest entropy of all such counts: -y ln y is concave, so it never pays to raise a count
    while a smaller one can be raised.

    Parameters
    ----------
    least, most: shape (rows, values), int64, least <= most.
    sizes: sum of each row, between the sums of its bounds, shape (rows,), int64.

    Returns
    -------
    Counts, shape (rows, values), int64.
    """
    low = np.zeros(len(sizes), dtype=np.int64)
    high = most.max(axis=1, initial=0)
    while (low < high).any():
        middle = (low + high + 1) // 2
        fits = np.clip(middle[:, None], least, most).sum(axis=1) <= sizes
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    counts = np.clip(low[:, None], least, most)
    missing = sizes - counts.sum(axis=1)
    raisable = (counts == low[:, None]) & (counts < most)
    raised = raisable & (np.cumsum(raisable, axis=1) <= missing[:, None])
    counts += raised
    return counts


SMALL = 2**31
"""Products of two numbers below it fit int64."""


class Multiples:
    """Shares of one value each, to be multiplied by class sizes.

    Attributes
    ----------
    floats: the shares, shape (values,), float64.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self.floats: FloatArray = np.array([float(share) for share in shares])
        ratios = [share.as_integer_ratio() for share in shares]
        self._whole = all(max(ratio) < SMALL for ratio in ratios)
        if self._whole:
            self._ratios = np.array(ratios, dtype=np.int64).reshape(-1, 2).T

    def floor(self, sizes: IntArray) -> IntArray:
        """Return the largest whole numbers up to share * size, shape (sizes, values), int64."""
        return self._rounded(sizes, up=False)

    def ceil(self, sizes: IntArray) -> IntArray:
        """Return the smallest whole numbers from share * size up, shape (sizes, values), int64."""
        return self._rounded(sizes, up=True)

    def _rounded(self, sizes: IntArray, *, up: bool) -> IntArray:
        if self._whole and sizes.max(initial=0) < SMALL:
            numerators, denominators = self._ratios
            multiples = sizes[:, None] * numerators
            return -(-multiples // denominators) if up else multiples // denominators
        products = sizes[:, None] * self.floats
        result = (np.ceil(products) if up else np.floor(products)).astype(np.int64)
        close = np.abs(products - np.rint(products)) <= 1e-9 * np.maximum(products, 1)
        for row, value in np.argwhere(close & (self.floats > 0)).tolist():
            exact = self._shares[value] * int(sizes[row])
            result[row, value] = ceil(exact) if up else floor(exact)
        return result


def below(limit: Fraction, counts: IntArray) -> IntArray:
    """Return the largest whole numbers strictly below limit * count, shape as ``counts``, int64."""
    return Multiples((limit,)).ceil(counts)[:, 0] - 1


class Monotone:
    """The monotone conditions of a rule, prepared for rows of counts."""

    def __init__(self, rule: CountConditions) -> None:
        self._rule = rule
        self._caps = None if rule.caps is None else Multiples(rule.caps)

    @property
    def whole(self) -> bool:
        """Whether the rule has only these conditions."""
        rule = self._rule
        return rule.floors is None and not rule.entropies and not rule.deviations

    def greatest(self, counts: IntArray) -> IntArray:
        """Return the largest counts that satisfy the conditions; all 0 if none do.

        Parameters
        ----------
        counts: shape (classes, values), int64.
        """
        result = counts.copy()
        active = np.arange(len(counts))
        if self._caps is not None:
            result = np.minimum(result, self._caps.floor(self._sizes_within_caps(counts)))
        while len(active):
            rows = result[active]
            lowered = self._lowered(rows)
            result[active] = lowered
            active = active[(lowered != rows).any(axis=1)]
        return result

    def _lowered(self, rows: IntArray) -> IntArray:
        sizes = rows.sum(axis=1)
        lowered = rows
        if self._caps is not None:
            lowered = np.minimum(lowered, self._caps.floor(sizes))
        for dominance in self._rule.dominances:
            lowered = np.minimum(lowered, _most(rows, dominance)[:, None])
        return np.where(self._enough(rows)[:, None], lowered, 0)

    def _enough(self, rows: IntArray) -> BoolArray:
        """Return which rows have the required records and values."""
        enough: BoolArray = rows.sum(axis=1) >= self._rule.smallest
        for distinct in self._rule.distinct:
            enough &= distinct_counts(rows, distinct.missing) >= distinct.number
        if self._rule.required is not None:
            enough &= (rows[:, self._rule.required] > 0).all(axis=1)
        return enough

    def _sizes_within_caps(self, counts: IntArray) -> IntArray:
        """Bound the remaining records under caps: Newton's method on sum(min(c, cap n)) = n from above."""
        assert self._caps is not None
        caps, own = self._caps.floats, counts.astype(np.float64)
        sizes = own.sum(axis=1)
        for _ in range(counts.shape[1] + 1):
            capped = own > sizes[:, None] * caps
            room = 1 - capped @ caps
            free = np.where(capped, 0, own).sum(axis=1)
            allowed = np.where(room > 1e-9, free / np.maximum(room, 1e-9), sizes)
            if (allowed >= sizes - 1e-9).all():
                break
            sizes = np.minimum(sizes, allowed)
        bounds: IntArray = np.minimum(np.floor(sizes + 1e-6), own.sum(axis=1)).astype(np.int64)
        return bounds


def distinct_counts(rows: IntArray, missing: int | None) -> IntArray:
    """Return the number of values of each row without the missing one, shape (rows,), int64."""
    present = rows > 0
    distinct: IntArray = present.sum(axis=1)
    return distinct if missing is None else distinct - present[:, missing]


def _most(rows: IntArray, dominance: Dominance) -> IntArray:
    """Return the largest count that the rare values of each row allow, shape (rows,), int64."""
    rare = max(rows.shape[1] - dominance.l + 1, 0)
    tails: IntArray = np.sort(rows, axis=1)[:, :rare].sum(axis=1)
    return np.maximum(below(dominance.c, tails), 0)


@dataclass(frozen=True, eq=False)
class _Segments:
    """The segments of some rows, those with the least additions first.

    Attributes
    ----------
    value: value code of each segment, shape (rows, segments), int64.
    length: its records, shape (rows, segments), float64; whole numbers below 2**53 where records are whole.
    added: addition of each record to the deviation, in 1 / total, shape (rows, segments), float64.
    """

    value: IntArray
    length: FloatArray
    added: FloatArray

    def cut(self, low: FloatArray, high: FloatArray, between: FloatArray, total: float) -> _Segments:
        """Add a group's own deviation: -1 up to ``low`` records, ``between`` up to ``high``, 1 beyond."""
        start = np.cumsum(self.length, axis=1) - self.length
        below = np.clip(low[:, None] - start, 0, self.length)
        middle = np.clip(high[:, None] - start, 0, self.length) - below
        pieces = np.stack([below, middle, self.length - below - middle], axis=2)
        steps = np.stack([np.full(len(low), -total), between, np.full(len(low), total)], axis=1)
        rows = len(low)
        return _Segments(
            np.repeat(self.value, 3, axis=1),
            pieces.reshape(rows, -1),
            (self.added[:, :, None] + steps[:, None, :]).reshape(rows, -1),
        ).packed()

    def packed(self) -> _Segments:
        """Return the segments without empty ones, as few as the longest row needs."""
        used = self.length > 0
        width = int(used.sum(axis=1).max(initial=0))
        order = np.argsort(~used, axis=1, kind="stable")[:, :width]
        return self._in(order)

    def sorted(self) -> _Segments:
        """Return the segments by rising addition."""
        return self._in(np.argsort(self.added, axis=1, kind="stable"))

    def _in(self, order: IntArray) -> _Segments:
        return _Segments(
            np.take_along_axis(self.value, order, axis=1),
            np.take_along_axis(self.length, order, axis=1),
            np.take_along_axis(self.added, order, axis=1),
        )

    def cheapest(self, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the remaining records of each segment, shape (rows, segments), and their total addition."""
        start = np.cumsum(self.length, axis=1) - self.length
        taken: FloatArray = np.clip(sizes[:, None] - start, 0, self.length)
        return taken, (taken * self.added).sum(axis=1)


class NestedDeviation:
    """A deviation of nested groups: any two are disjoint, or one contains the other."""

    def __init__(self, deviation: Deviation) -> None:
        self._expected = deviation.expected.astype(np.float64)
        self._total = float(deviation.total)
        self._limit = float(deviation.limit)
        self._group_of = deviation.group_of
        groups = range(len(deviation.parent))
        self._inside = [np.flatnonzero(deviation.parent == group).tolist() for group in groups]
        self._outermost = np.flatnonzero(deviation.parent < 0).tolist()

    def bound(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Bound the sizes at which fractional records would be within the limit, by secants from above.

        The excess of the least deviation over the limit is convex in the size: left of two points, it is
        above the line through them.

        Parameters
        ----------
        counts: records that could stay, shape (rows, values), int64.
        sizes: bounds known before, shape (rows,), float64.
        """
        bounds, width = sizes.copy(), np.full(len(sizes), 1 / 16)
        active = np.arange(len(sizes))
        for _ in range(40):
            own = bounds[active]
            above = self._excess(counts[active], own)
            beyond = (above > 1e-9 * own) & (own > 1) & (width[active] * own > 0.5)
            active, own, above = active[beyond], own[beyond], above[beyond]
            if not len(active):
                break
            left = own * (1 - width[active])
            left_above = self._excess(counts[active], left)
            crossed = left_above <= 0
            slope = np.maximum((above - left_above) / (own - left), 1e-300)
            bounds[active] = np.where(crossed, own, np.maximum(left - left_above / slope, 0))
            width[active] = np.where(crossed, width[active] / 8, width[active])
        return bounds

    def closest(self, least: IntArray, most: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the counts of least deviation between bounds, and the deviation, in 1 / total."""
        wanted = sizes[:, None] * self._expected
        whole = np.floor_divide(wanted, self._total)
        last = self._total - 2 * (wanted - whole * self._total)
        # The lower bounds are there before the first record is chosen.
        there = self._sums(least)
        segments = self._segments(most - least, whole - there, whole + 1 - there, last)
        taken, added = segments.cheapest((sizes - least.sum(axis=1)).astype(np.float64))
        values = most.shape[1]
        keys = np.arange(len(sizes))[:, None] * values + segments.value
        counts = np.bincount(keys.ravel(), weights=taken.ravel(), minlength=len(sizes) * values)
        before = np.abs(wanted - there * self._total).sum(axis=1)
        own = counts.astype(np.int64).reshape(-1, values) + least
        return own, np.rint(before + added).astype(np.int64)

    def _sums(self, counts: IntArray) -> FloatArray:
        """Return the records in each group, shape (rows, groups), float64."""
        sums = np.zeros((len(counts), len(self._inside)))
        for group, inside in enumerate(self._inside):
            own = counts[:, self._group_of == group].sum(axis=1)
            sums[:, group] = own + sums[:, inside].sum(axis=1)
        return sums

    def _excess(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Return the excess of the least deviation of fractional records over the limit."""
        expected = sizes[:, None] * self._expected / self._total
        segments = self._segments(counts, expected, expected, np.zeros_like(expected))
        _, added = segments.cheapest(sizes)
        excess: FloatArray = expected.sum(axis=1) + added / self._total - self._limit * sizes
        return excess

    def _segments(
        self, counts: IntArray, low: FloatArray, high: FloatArray, between: FloatArray
    ) -> _Segments:
        """Return the segments of whole classes.

        Parameters
        ----------
        low, high, between: of each group, see ``cut``, shape (rows, groups).
        """
        found: list[_Segments] = []
        for group, inside in enumerate(self._inside):
            values = np.flatnonzero(self._group_of == group)
            merged = _side_by_side(counts, values, [found[each] for each in inside])
            found.append(merged.cut(low[:, group], high[:, group], between[:, group], self._total))
        free = np.flatnonzero(self._group_of < 0)
        return _side_by_side(counts, free, [found[each] for each in self._outermost])


def _side_by_side(counts: IntArray, values: IntArray, parts: Sequence[_Segments]) -> _Segments:
    """Merge the segments of groups with those of values outside of smaller groups."""
    rows = len(counts)
    own = _Segments(
        np.broadcast_to(values, (rows, len(values))),
        counts[:, values].astype(np.float64),
        np.zeros((rows, len(values))),
    )
    every = [own, *parts]
    return _Segments(
        np.concatenate([each.value for each in every], axis=1),
        np.concatenate([each.length for each in every], axis=1),
        np.concatenate([each.added for each in every], axis=1),
    ).sorted()


class SeparateDeviation:
    """A deviation of single values: the excess of some is the lack of others."""

    def __init__(self, deviation: Deviation) -> None:
        self._expected = deviation.expected[deviation.group_of]
        self._total = deviation.total
        self._limit = float(deviation.limit) / 2

    def bound(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Bound the sizes at which the lack is within the limit: Newton's method from above.

        Parameters
        ----------
        counts: records that could stay, shape (rows, values), int64.
        sizes: bounds known before, shape (rows,), float64.
        """
        shares = self._expected / self._total
        for _ in range(counts.shape[1] + 1):
            short = sizes[:, None] * shares > counts
            slope = short @ shares - self._limit
            there = np.where(short, counts, 0).sum(axis=1)
            beyond = (slope * sizes - there > 1e-9) & (slope > 0)
            if not beyond.any():
                break
            allowed = there / np.where(beyond, slope, 1.0)
            sizes = np.where(beyond, np.minimum(allowed, sizes), sizes)
        return sizes

    def closest(self, least: IntArray, most: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the counts of least lack between bounds, and twice the lack, in 1 / total.

        One more record of a value reduces the lack by a whole one below the expected count, by a fraction at
        the last one, then by nothing: the largest gains come first.
        """
        wanted = sizes[:, None] * self._expected
        whole = wanted // self._total
        counts = np.clip(whole, least, most)
        spare = counts.sum(axis=1) - sizes
        # Too many records: remove any above its lower bound, each adds one to the lack.
        room = counts - least
        counts -= _first(room, spare)
        gains = np.where((counts == whole) & (counts < most), wanted - whole * self._total, -1)
        order = np.argsort(-gains, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None, :], axis=1)
        counts += (rank < -spare[:, None]) & (gains >= 0)
        counts += _first(most - counts, sizes - counts.sum(axis=1))
        return counts, 2 * np.maximum(wanted - counts * self._total, 0).sum(axis=1)


def _first(room: IntArray, number: IntArray) -> IntArray:
    """Return the records of each value if the first values take all they can of a number."""
    before = np.cumsum(room, axis=1) - room
    return np.clip(number[:, None] - before, 0, room)


COUNTED_ENTRIES = 1 << 18
"""Most counts that are tried together for several sizes."""


@dataclass(frozen=True, eq=False)
class Retained:
    """What stays of some classes.

    Attributes
    ----------
    counts: remaining records of each value, shape (classes, values), int64.
    most: upper bound of the remaining records, shape (classes,), int64.
    settled: whether as many records satisfy the conditions, shape (classes,), bool.
    """

    counts: IntArray
    most: IntArray
    settled: BoolArray


@dataclass(frozen=True, eq=False)
class _Try:
    """The result of trying some sizes: whether each is impossible, and counts that may satisfy the rule."""

    impossible: BoolArray
    counts: IntArray
    met: BoolArray


class BySize:
    """A rule for the counts of one attribute, prepared for rows of counts."""

    def __init__(self, rule: CountConditions) -> None:
        self._rule = rule
        self._monotone = Monotone(rule)
        self._caps = None if rule.caps is None else Multiples(rule.caps)
        self._floors = None if rule.floors is None else Multiples(rule.floors)
        # If a value with a floor may be absent, the tried counts are not all possible ones.
        self._always_firm = self._floors is None or not (self._floors.floats[~_required(rule)] > 0).any()
        # Where no group contains another, the faster one serves.
        self._deviations = [
            (each, SeparateDeviation(each) if each.separate else NestedDeviation(each))
            for each in rule.deviations
        ]
        self._least = max([rule.smallest, 1, *(each.number for each in rule.distinct)])

    def retain(self, counts: IntArray) -> Retained:
        """Return the most remaining records of each class, shape (classes, values), int64."""
        largest = self._monotone.greatest(counts)
        sizes = largest.sum(axis=1)
        if self._monotone.whole:
            return Retained(largest, sizes, np.ones(len(counts), dtype=bool))
        return self._descend(largest, self._bounds(largest, sizes))

    def _bounds(self, counts: IntArray, sizes: IntArray) -> IntArray:
        """Bound the number of remaining records by fractional solutions."""
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
        """Try sizes downward from a bound until one is possible."""
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
            # Most classes lose few records, so each round tries twice as many sizes.
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
        """Search counts with the given sums."""
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
        # If the floors exceed the size, some value must go; the solver chooses it.
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
        """Return the sizes at which no optional value need be absent, shape (sizes,).

        With only distances from p, records of a value below its floor, if that is at most the expected count,
        can replace records of a value above the expected count without violating caps, floors or the
        distance.
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
        """Return which counts have too little entropy, exactly, shape (rows,)."""
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
    """Return the remaining sum of each row with its largest values cut to one level, by bisection."""
    low, high = np.zeros(len(counts)), counts.max(axis=1, initial=0).astype(np.float64)
    for _ in range(60):
        middle = (low + high) / 2
        cut = np.minimum(counts, middle[:, None])
        even = _entropies(cut) >= np.log(l) - 1e-10
        low, high = np.where(even, middle, low), np.where(even, high, middle)
    sums: FloatArray = np.minimum(counts, high[:, None]).sum(axis=1)
    return np.where(_entropies(counts.astype(np.float64)) >= np.log(l) - 1e-10, counts.sum(axis=1), sums)


@dataclass(frozen=True, eq=False)
class View:
    """The cells of a class for one rule.

    Attributes
    ----------
    part: part of the class for each cell, shape (cells,), int64; each part satisfies the rule or is empty.
    value: value code of each cell, shape (cells,), int64.
    unit: unit of each cell, negative where each step of records is one, shape (cells,), int64; None counts
        records.
    steps: records of a step of each cell, shape (cells,), int64; None for single ones.
    """

    rule: CountConditions
    part: IntArray
    value: IntArray
    unit: IntArray | None = None
    steps: IntArray | None = None

    @cached_property
    def signature(self) -> tuple[bytes, ...]:
        """The parts of a view that differ between classes."""
        unit = b"" if self.unit is None else self.unit.tobytes()
        return self.part.tobytes(), self.value.tobytes(), unit

    @cached_property
    def _entries(self) -> tuple[IntArray, IntArray]:
        """The entry of each cell, and the first cell of each entry."""
        return numbered([self.part, self.value], len(self.part))

    @property
    def entry_of(self) -> IntArray:
        """Number of the part and value of each cell, by part, then by value, shape (cells,), int64."""
        return self._entries[0]

    @cached_property
    def part_of(self) -> IntArray:
        """Part of each entry, shape (entries,), int64."""
        return self.part[self._entries[1]]

    @cached_property
    def values(self) -> IntArray:
        """Value code of each entry, shape (entries,), int64."""
        return self.value[self._entries[1]]

    def records_of_units(self, counts: IntArray, number: IntArray) -> IntArray:
        """Return the least records of some of the units of each entry, shape (entries,), int64.

        Parameters
        ----------
        counts: records of each cell, shape (cells,), int64.
        number: units of each entry, at most all, shape (entries,), int64.
        """
        assert self.unit is not None, "records are their own units"
        single = self.unit < 0
        known = np.flatnonzero(~single)
        pairs, first = numbered([self.entry_of[known], self.unit[known]], len(known))
        entries = np.concatenate([self.entry_of[single], self.entry_of[known[first]]])
        units = np.concatenate([counts[single], np.ones(len(first), dtype=np.int64)])
        each = np.concatenate([np.ones_like(counts[single]), count(pairs, counts[known], len(first))])
        smallest = np.lexsort((each, entries))
        return count(entries, from_the_first(entries, units, number, smallest) * each, len(number))

    def counted(self, kept: IntArray) -> IntArray:
        """Return the records or units of each entry, shape (entries,), int64.

        Parameters
        ----------
        kept: remaining records of each cell, shape (cells,), int64.
        """
        number = len(self.part_of)
        if self.unit is None:
            return count(self.entry_of, kept, number)
        amounts = kept if self.steps is None else kept // self.steps
        own = Units.of_parts(self.unit[kept > 0], amounts[kept > 0])
        return own.counted(self.entry_of[kept > 0], number)


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """Which records of a class may stay.

    Attributes
    ----------
    counts: records of each cell (combination of sensitive values), shape (cells,), int64.
    views: all must be satisfied.
    smallest: the fewest records that may stay, unless none do.
    most: no more can stay.
    sums: positions of cells, and the exact number of their remaining records.
    steps: records of each cell that stay or go together, shape (cells,), int64; None for single ones.
    """

    counts: IntArray
    views: tuple[View, ...]
    smallest: int
    most: int
    sums: tuple[tuple[IntArray, int], ...] = ()
    steps: IntArray | None = None

    @property
    def together(self) -> IntArray:
        """Records of each cell that stay or go together, shape (cells,), int64."""
        return np.ones_like(self.counts) if self.steps is None else self.steps


@dataclass(frozen=True, eq=False)
class ClassSolution:
    """What stays of a class.

    Attributes
    ----------
    kept: remaining records of each cell, shape (cells,), int64.
    most: no more records can stay.
    """

    kept: IntArray
    most: int


ENTRIES = 1 << 22
"""Most counts of a dense matrix of classes and values; more classes are taken in blocks."""


@dataclass(frozen=True, eq=False)
class Rule:
    """The joined conditions of constraints on the same attribute and parts.

    Attributes
    ----------
    attribute: whose values are counted.
    combined: whether the other sensitive attributes split the class.
    unit: what is counted, None for records.
    """

    attribute: SensitiveAttribute
    combined: bool
    retention: CountConditions
    unit: str | None = None

    @cached_property
    def _by_size(self) -> BySize:
        return BySize(self.retention)

    def values(self, cells: SensitiveCells) -> IntArray:
        """Return the value of each cell, shape (cells,), int64."""
        return cells.sensitive[self.attribute.name].codes

    def retain(self, cells: SensitiveCells) -> Retained:
        """Return the remaining records of each cell, and a bound for each class, under this rule alone.

        ``counts`` are of cells, ``most`` and ``settled`` of classes. Cells have one value and one part each.
        """
        parts, number = cells.parts(self.attribute.name, combined=self.combined)
        values, size = self.values(cells), self.attribute.column.size
        kept = np.zeros_like(cells.counts)
        most, settled = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=bool)
        step = max(ENTRIES // size, 1)
        for low in range(0, number, step):
            high = min(low + step, number)
            own = np.flatnonzero((parts >= low) & (parts < high))
            keys = (parts[own] - low) * size + values[own]
            matrix = count(keys, cells.counts[own], (high - low) * size).reshape(-1, size)
            retained = self._by_size.retain(matrix)
            kept[own] = retained.counts[parts[own] - low, values[own]]
            most[low:high], settled[low:high] = retained.most, retained.settled
        return Retained(kept, *_of_classes(cells, parts, number, most, settled))

    def most(self, cells: SensitiveCells) -> IntArray:
        """Bound the remaining records of each class by this rule alone, shape (own classes,), int64."""
        if self.unit is not None:
            return self._most_of_units(cells, cells.keys.by_name[self.unit])
        return self.retain(cells).most

    def view(self, cells: SensitiveCells, chosen: IntArray | slice) -> View:
        """Return some of the cells for this rule."""
        parts = cells.parts(self.attribute.name, combined=self.combined)[0][chosen]
        own = np.unique(parts, return_inverse=True)[1].astype(np.int64)
        unit = None if self.unit is None else cells.keys.by_name[self.unit][chosen]
        return View(self.retention, own, self.values(cells)[chosen], unit)

    def _most_of_units(self, cells: SensitiveCells, unit_of: IntArray) -> IntArray:
        """Bound the remaining records of each class by the caps and the required values of units.

        A record less lowers the excess of a value over its cap, c - cap n, by at most one, and only if its
        unit has no other with that value: the units with the fewest records are the first to go.
        """
        parts, number = cells.parts(self.attribute.name, combined=self.combined)
        view = View(self.retention, parts, self.values(cells), unit_of)
        sizes = View(self.retention, parts, np.zeros_like(parts), unit_of).counted(cells.counts)
        counts, values = view.counted(cells.counts), view.values
        fewest = np.zeros(number, dtype=np.int64)
        if self.retention.caps is not None:
            caps = np.array([float(cap) for cap in self.retention.caps])[values]
            above = np.ceil(counts - caps * sizes[view.part_of] - SLACK).astype(np.int64)
            np.maximum.at(fewest, view.part_of, view.records_of_units(cells.counts, np.maximum(above, 0)))
        if self.retention.required is not None:
            there = count(view.part_of, self.retention.required[values].astype(np.int64), number)
            lost = there < np.count_nonzero(self.retention.required)
            fewest = np.where(lost, count(parts, cells.counts, number), fewest)
        own, records = len(cells.chosen), cells.counts
        class_of = np.empty(number, dtype=np.int64)
        class_of[parts] = cells.class_of
        return count(cells.class_of, records, own) - count(class_of, fewest, own)


def _of_classes(
    cells: SensitiveCells,
    parts: IntArray,
    number: int,
    most: IntArray,
    settled: BoolArray,
) -> tuple[IntArray, BoolArray]:
    """Add up the bounds of parts by class; a class is settled if all its parts are."""
    owner = np.empty(number, dtype=np.int64)
    owner[parts] = cells.class_of
    sums = np.bincount(owner, weights=most, minlength=len(cells.chosen)).astype(np.int64)
    whole = np.ones(len(cells.chosen), dtype=bool)
    whole[owner[~settled]] = False
    return sums, whole


@dataclass(frozen=True, eq=False)
class Rules:
    """All class constraints under one reference, as rules.

    Attributes
    ----------
    smallest: the fewest records of a class.
    rules: one for each attribute, kind of parts and unit.
    units: the fewest units of a class, by the name of the unit.
    single: whether the conditions are on the numbers of records, so that any of equal ones may go alone.
    """

    smallest: int
    rules: tuple[Rule, ...]
    units: Mapping[str, int]
    single: bool


def rules_of(
    table: Table,
    constraints: Sequence[ClassConstraint],
    references: References,
    drift: int | None = None,
) -> Rules:
    """Read the constraints as rules.

    Parameters
    ----------
    drift: records that may be suppressed; the rules then hold for the reference after any such suppression.
        None for a fixed reference.
    """
    attributes = {each.name: each for each in table.sensitive}
    joined: dict[tuple[str, bool, str | None], CountConditions] = {}
    smallest: dict[str | None, int] = {None: 1}
    single = False
    for constraint in constraints:
        attribute = None if constraint.attribute is None else attributes[constraint.attribute]
        reference = reference_for(constraint, references)
        retention = constraint.retention(attribute, reference)
        single |= constraint.unit is None and (retention is None or _on_shares(retention))
        if retention is not None and drift is not None and constraint.model.uses_reference:
            assert reference is not None
            retention = _drifted(retention, reference, drift)
        if retention is None:
            continue
        if attribute is None:
            smallest[constraint.unit] = max(smallest.get(constraint.unit, 1), retention.smallest)
            continue
        key = (attribute.name, constraint.combined, constraint.unit)
        joined[key] = joined[key].joined(retention) if key in joined else retention
    rules = (Rule(attributes[name], combined, own, unit) for (name, combined, unit), own in joined.items())
    units = {unit: least for unit, least in smallest.items() if unit is not None}
    return Rules(smallest[None], tuple(rules), units, single)


def _on_shares(retention: CountConditions) -> bool:
    """Return whether a class that satisfies the conditions may fail with more of its records."""
    shares = retention.caps is not None or retention.floors is not None
    return shares or bool(retention.dominances or retention.entropies or retention.deviations)


def _drifted(retention: CountConditions, reference: Reference, records: int) -> CountConditions | None:
    """Return the conditions under any reference that results from one by losing some records.

    Each has at most one unit, and a unit at most one value, more to lose. None if nothing need remain.
    """
    if records >= reference.size:
        return None
    passing = reference.present & (reference.counts <= records)
    return retention.drifted(Fraction(records, reference.size), passing)


FLAT = 0.01
"""Slope of the entropy up to which it counts as 0."""


@dataclass(frozen=True, eq=False)
class Cut:
    """The weighted counts of some entries of a view add up to 0 or more.

    Attributes
    ----------
    view: position of the view.
    entries: positions, shape (entries of the cut,), int64.
    weights: shape (entries of the cut,), float64.
    """

    view: int
    entries: IntArray
    weights: FloatArray


def cut_off(number: int, view: View, counted: IntArray) -> Iterator[Cut]:
    """Yield a cut for every part of a class with too little entropy.

    n (H(y / n) - ln l) is concave in the counts y and grows in proportion to them, so its gradient at any
    point, as weights, bounds it from above: a sum below 0 means too little entropy. At counts of 0 the
    gradient is infinite; a little is added there, too little to satisfy the cut at the given counts.

    Parameters
    ----------
    number: position of the view.
    counted: what remains of each entry, shape (entries,), int64.
    """
    for l in view.rule.entropies:  # noqa: E741
        for own in np.unique(view.part_of[counted > 0]).tolist():
            entries = np.flatnonzero(view.part_of == own)
            counts = counted[entries].astype(np.float64)
            if not has_entropy([int(count) for count in counts if count], l):
                yield Cut(number, entries, _gradient(counts, l))


def tangents(number: int, view: View, counted: FloatArray) -> Iterator[Cut]:
    """Yield the same for fractional counts with clearly too little entropy.

    The gradient is taken where the way from these to even counts reaches the threshold: that cut is tight, so
    that fewer are needed.
    """
    for l in view.rule.entropies:  # noqa: E741
        for own in np.unique(view.part_of[counted > 0]).tolist():
            entries = np.flatnonzero(view.part_of == own)
            counts = counted[entries]
            if _lacking(counts, l) > 1e-7 * counts.sum():
                weights = _gradient(_border(counts, l), l)
                # Around even counts the entropy is flat, and its gradient mostly rounding error.
                clear = np.abs(weights).max() > FLAT
                yield Cut(number, entries, weights if clear else _gradient(counts, l))


def _lacking(counts: FloatArray, l: Fraction) -> float:  # noqa: E741
    """Return n (ln l - H)."""
    positive = counts[counts > 0]
    size = counts.sum()
    return float(size * np.log(float(l)) - positive @ np.log(size / positive))


def _border(counts: FloatArray, l: Fraction) -> FloatArray:  # noqa: E741
    """Return the counts nearest to the given ones, on the way to even ones, that have enough entropy."""
    even = np.full_like(counts, counts.mean())
    if _lacking(even, l) > 0:
        return counts
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        lacking = _lacking(counts + middle * (even - counts), l) > 0
        low, high = (middle, high) if lacking else (low, middle)
    return counts + high * (even - counts)


def _gradient(counts: FloatArray, l: Fraction) -> FloatArray:  # noqa: E741
    lacking = _lacking(counts, l)
    added = np.where(counts > 0, 0.0, min(0.5, max(lacking, 1e-9) / (4 * len(counts))))
    smooth = counts + added
    gradient: FloatArray = np.log(smooth.sum() / (float(l) * smooth))
    return gradient


Expression = Any
"""A linear expression; OR-Tools has no common type for variables and sums."""

TOLERANCE = 1e-9
"""Tolerance of the solver for a condition; its solutions are verified exactly."""


class Programme:
    """Variables for the records of each cell; conditions of every part of every view.

    A unit is counted with a value if any of its records with the value stay, and once if any of its records
    do: a number between the largest of the 0 or 1 that it is counted with, and their sum.
    """

    def __init__(self, problem: ClassProblem, cuts: Sequence[Cut], margin: float) -> None:
        # Importing it is slow, and most searches do not need it.
        from ortools.math_opt.python import mathopt  # noqa: PLC0415

        self._mathopt = mathopt
        self._problem = problem
        self._margin = margin
        self._model = mathopt.Model()
        steps = problem.together
        self._most = (problem.counts // steps).tolist()
        self._amounts = [self._model.add_integer_variable(lb=0, ub=most) for most in self._most]
        self._kept = [
            step * amount if step > 1 else amount
            for step, amount in zip(steps.tolist(), self._amounts, strict=True)
        ]
        self._presence: dict[int, Expression] = {}
        size = self._sum(self._kept)
        self._model.add_linear_constraint(size >= max(problem.smallest, 1))
        self._model.add_linear_constraint(size <= problem.most)
        for cells, number in problem.sums:
            self._model.add_linear_constraint(self._sum([self._kept[cell] for cell in cells]) == number)
        self._entries = [self._add_view(view) for view in problem.views]
        for cut in cuts:
            terms = zip(cut.entries.tolist(), cut.weights.tolist(), strict=True)
            own = self._entries[cut.view]
            self._model.add_linear_constraint(
                self._sum([weight * own[entry] for entry, weight in terms]) >= margin
            )
        self._model.maximize(size)

    def solve(self, nodes: int) -> tuple[IntArray | None, int, int]:
        """Return kept counts or None, a bound on their sum, and the branch and bound nodes."""
        mathopt = self._mathopt
        parameters = mathopt.SolveParameters(relative_gap_tolerance=0.0, node_limit=nodes)
        if any(view.unit is not None for view in self._problem.views):
            # The presolve of HiGHS loses optima where a continuous variable follows from whole ones.
            parameters.presolve = mathopt.Emphasis.OFF
        options = parameters.highs.double_options
        for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
            options[name] = TOLERANCE
        try:
            with quiet_output():
                result = mathopt.solve(self._model, mathopt.SolverType.HIGHS, params=parameters)
        except (AttributeError, RuntimeError):
            # HiGHS ended with an internal error, for which OR-Tools looks up an attribute that there is not.
            return None, self._problem.most, nodes
        if result.termination.reason is mathopt.TerminationReason.INFEASIBLE:
            return None, 0, 0
        bound = result.termination.objective_bounds.dual_bound
        most = int(np.floor(bound + 1e-6)) if isfinite(bound) else self._problem.most
        if not result.has_primal_feasible_solution():
            return None, most, nodes
        amounts = np.rint(result.variable_values(self._amounts)).astype(np.int64)
        return amounts * self._problem.together, most, result.solve_stats.node_count

    def relaxed(self) -> tuple[FloatArray | None, list[FloatArray], int]:
        """Solve for fractional counts.

        Returns
        -------
        Records of each cell, shape (cells,), float64, None without a solution; what remains of the entries of
        each view, shape (entries,) each, float64; and a bound on the sum of the records.
        """
        mathopt = self._mathopt
        for variable in self._model.variables():
            variable.integer = False
        result = mathopt.solve(self._model, mathopt.SolverType.GLOP)
        if result.termination.reason is not mathopt.TerminationReason.OPTIMAL:
            return None, [], self._problem.most
        # The bound allows for the solver's tolerance.
        bound = result.objective_value() * (1 + 1e-6) + 1e-3
        values = result.variable_values()
        entries = [
            np.array([max(mathopt.evaluate_expression(each, values), 0.0) for each in own])
            for own in self._entries
        ]
        kept = np.maximum(result.variable_values(self._amounts), 0.0) * self._problem.together
        return kept, entries, int(bound)

    def _add_view(self, view: View) -> list[Expression]:
        """Add the conditions of a view; return what remains of each of its entries."""
        terms: list[list[Expression]] = [[] for _ in view.part_of]
        sizes: dict[int, list[Expression]] = {part: [] for part in view.part_of.tolist()}
        by_unit: dict[tuple[int, int], dict[int, list[int]]] = {}
        parts, entries = view.part.tolist(), view.entry_of.tolist()
        units = [-1] * len(parts) if view.unit is None else view.unit.tolist()
        for cell, (part, entry, unit) in enumerate(zip(parts, entries, units, strict=True)):
            if unit < 0:
                own = self._kept if view.unit is None else self._amounts
                terms[entry].append(own[cell])
                sizes[part].append(own[cell])
            else:
                by_unit.setdefault((part, unit), {}).setdefault(entry, []).append(cell)
        for (part, _), by_entry in by_unit.items():
            with_values = []
            for entry, cells in by_entry.items():
                with_values.append(self._any([self._present(cell) for cell in cells]))
                terms[entry].append(with_values[-1])
            sizes[part].append(self._any(with_values))
        found = [self._added(own, named=bool(by_unit)) for own in terms]
        everything = replace(view, value=np.zeros_like(view.value))
        most = everything.counted(self._problem.counts).tolist()
        for place, part in enumerate(sorted(sizes)):
            inside = np.flatnonzero(view.part_of == part).tolist()
            counts = {int(view.values[entry]): found[entry] for entry in inside}
            size = self._added(sizes[part], named=bool(by_unit))
            self._add_part(view.rule, counts, size, most[place], whole=len(sizes) == 1)
        return found

    def _present(self, cell: int) -> Expression:
        """Return whether any records of a cell of one unit stay, as 0 or 1."""
        if cell not in self._presence:
            amount, most = self._amounts[cell], self._most[cell]
            present: Expression = amount
            if most > 1:
                present = self._model.add_binary_variable()
                self._model.add_linear_constraint(amount <= most * present)
                self._model.add_linear_constraint(amount >= present)
            self._presence[cell] = present
        return self._presence[cell]

    def _any(self, present: Sequence[Expression]) -> Expression:
        """Return whether any of some expressions that are 0 or 1 is 1."""
        if len(present) == 1:
            return present[0]
        # Whole, though the others imply it: see ``_added``.
        found = self._model.add_binary_variable()
        for each in present:
            self._model.add_linear_constraint(found >= each)
        self._model.add_linear_constraint(found <= self._sum(present))
        return found

    def _add_part(
        self,
        rule: CountConditions,
        counts: dict[int, Expression],
        size: Expression,
        most: int,
        *,
        whole: bool,
    ) -> None:
        """Add the conditions of a part.

        Parameters
        ----------
        counts: records or units of each value that stay, by its code.
        size: records or units of the part that stay.
        most: no more can stay.
        whole: whether it is the only part; others may stay without this one.
        """
        stays: Expression = 1 if whole else self._model.add_binary_variable()
        if not whole:
            self._model.add_linear_constraint(size <= most * stays)
        self._model.add_linear_constraint(size >= max(rule.smallest, 1) * stays)
        self._add_shares(rule, counts, size, most)
        self._add_values(rule, counts, stays)
        total = self._sum(list(counts.values()))
        for dominance in rule.dominances:
            self._add_dominance(dominance, list(counts.values()), total, stays)
        for deviation in rule.deviations:
            self._add_deviation(deviation, counts, total)

    def _added(self, terms: Sequence[Expression], *, named: bool) -> Expression:
        """Return a sum of whole numbers, as a variable if asked: of many units, it is in many conditions.

        HiGHS lost optima where such variables were continuous.
        """
        found = self._sum(terms)
        if not named or len(terms) == 1:
            return found
        name = self._model.add_integer_variable(lb=0)
        self._model.add_linear_constraint(name == found)
        return name

    def _sum(self, terms: Sequence[Expression]) -> Expression:
        return self._mathopt.fast_sum(terms)

    def _add_shares(
        self, rule: CountConditions, counts: dict[int, Expression], size: Expression, records: int
    ) -> None:
        for value, kept in counts.items():
            if rule.caps is not None and rule.caps[value] < 1:
                cap = float(rule.caps[value])
                self._model.add_linear_constraint(kept <= cap * size - self._margin * (cap > 0))
            if rule.floors is not None and rule.floors[value] > 0:
                floor = float(rule.floors[value])
                present = self._model.add_binary_variable()
                self._model.add_linear_constraint(kept <= records * present)
                self._model.add_linear_constraint(kept >= present)
                self._model.add_linear_constraint(
                    kept >= floor * size + self._margin - ceil(floor * records + 1) * (1 - present)
                )

    def _add_values(self, rule: CountConditions, counts: dict[int, Expression], stays: Expression) -> None:
        if rule.required is not None:
            for value in np.flatnonzero(rule.required).tolist():
                self._model.add_linear_constraint(counts.get(value, 0) - stays >= 0)
        for distinct in rule.distinct:
            present = []
            for value, kept in counts.items():
                if value != distinct.missing:
                    present.append(self._model.add_binary_variable())
                    self._model.add_linear_constraint(present[-1] <= kept)
            self._model.add_linear_constraint(self._sum(present) - distinct.number * stays >= 0)

    def _add_dominance(
        self, dominance: Dominance, counts: list[Expression], size: Expression, stays: Expression
    ) -> None:
        """Bound r_1 + c (r_1 + ... + r_{l-1}) by c n.

        The sum of the l - 1 largest counts is the least (l - 1) level + sum max(count - level, 0).
        """
        numerator, denominator = dominance.c.as_integer_ratio()
        scale = max(numerator, denominator)
        largest, level = self._model.add_variable(lb=0), self._model.add_variable(lb=0)
        above = [self._model.add_variable(lb=0) for _ in counts]
        for kept, excess in zip(counts, above, strict=True):
            self._model.add_linear_constraint(largest >= kept)
            self._model.add_linear_constraint(excess >= kept - level)
        top = (dominance.l - 1) * level + self._sum(above)
        self._model.add_linear_constraint(
            denominator / scale * largest + numerator / scale * (top - size) + stays / scale <= -self._margin
        )

    def _add_deviation(self, deviation: Deviation, counts: dict[int, Expression], size: Expression) -> None:
        """Bound the sum of |count of a group - expected count|, groups adding up from the inside."""
        own: dict[int, list[Expression]] = {}
        for value, kept in counts.items():
            own.setdefault(int(deviation.group_of[value]), []).append(kept)
        far = []
        for group, parent in enumerate(deviation.parent.tolist()):
            kept = self._model.add_variable(lb=0)
            self._model.add_linear_constraint(kept == self._sum(own.get(group, [])))
            own.setdefault(parent, []).append(kept)
            expected = int(deviation.expected[group]) / deviation.total * size
            far.append(self._model.add_variable(lb=0))
            self._model.add_linear_constraint(far[-1] >= kept - expected)
            self._model.add_linear_constraint(far[-1] >= expected - kept)
        self._model.add_linear_constraint(self._sum(far) <= float(deviation.limit) * size - self._margin)


MARGIN = 1e-5
"""Amount by which conditions are tightened after a solution failed the exact verification."""

NODES = 10_000
"""Branch and bound nodes times cells for one class; a count, so that runs are repeatable."""

ROUND = 20
"""Fewest nodes that one more programme counts as."""

TANGENTS = 60
"""Rounds of cuts on the entropy of fractional counts."""

ROOM = Fraction(101, 100)
"""Factor on the required effective number of values before counts are rounded."""


def solve(problem: ClassProblem, verify: Callable[[IntArray], bool]) -> ClassSolution:
    """Keep as many records of a class as the rules allow.

    Parameters
    ----------
    verify: the exact check of kept counts, shape (cells,); failing ones are not returned.
    """
    nothing = np.zeros_like(problem.counts)
    cuts: list[Cut] = []
    most, margin = problem.most, 0.0
    if any(view.rule.entropies for view in problem.views):
        _, cuts, most = _relaxed(problem, 0.0)
    nodes = max(NODES // len(problem.counts), 1)
    while nodes > 0:
        if most < problem.smallest:
            return ClassSolution(nothing, 0)
        found, bound, taken = Programme(problem, cuts, margin).solve(nodes)
        nodes -= max(taken, ROUND)
        if not margin:
            most = min(most, bound)
        if found is None:
            break
        if verify(found):
            return ClassSolution(found, most)
        new = [
            cut
            for number, view in enumerate(problem.views)
            for cut in cut_off(number, view, view.counted(found))
        ]
        cuts += new
        if not new:
            if margin:
                break
            margin = MARGIN
    found = nothing if problem.sums else _rounded(problem)
    return ClassSolution(found if found.any() and verify(found) else nothing, most)


def _rounded(problem: ClassProblem) -> IntArray:
    """Round a fractional solution with enough room for the rounding; 0 without one.

    Running sums are rounded, so that sums over consecutive values are at most one record off.
    """
    views = [
        replace(view, rule=replace(view.rule, entropies=tuple(map(ROOM.__mul__, view.rule.entropies))))
        for view in problem.views
    ]
    kept, _, _ = _relaxed(replace(problem, views=tuple(views)), float(len(problem.counts)))
    steps = problem.together
    amounts = np.diff(np.rint(np.cumsum(kept / steps)), prepend=0).astype(np.int64)
    return np.clip(amounts, 0, problem.counts // steps) * steps


def _relaxed(problem: ClassProblem, margin: float) -> tuple[FloatArray, list[Cut], int]:
    """Cut the relaxed programme until its solution nearly has the required entropy.

    Returns
    -------
    Records of each cell in a fractional solution, shape (cells,), float64, 0 without one; the cuts; and the
    most records that can stay, if the margin is 0.
    """
    cuts: list[Cut] = []
    kept, most = np.zeros(len(problem.counts)), problem.most
    for _ in range(TANGENTS):
        found, entries, bound = Programme(problem, cuts, margin).relaxed()
        if found is None:
            return np.zeros_like(kept), cuts, most
        kept, most = found, min(most, bound)
        new = [
            cut
            for number, (view, counts) in enumerate(zip(problem.views, entries, strict=True))
            for cut in tangents(number, view, counts)
        ]
        if not new:
            break
        cuts += new
    return kept, cuts, most


class FixedReference:
    """The fewest records of each class under one reference.

    Solutions of the integer programme are remembered by the counts of the class.

    Parameters
    ----------
    worthwhile: if certain losses exceed this, violating classes are suppressed as a whole, unsolved.
    """

    def __init__(
        self, table: Table, constraints: Sequence[ClassConstraint], references: References, worthwhile: int
    ) -> None:
        self._table = table
        self._constraints = tuple(constraints)
        self._references = references
        self._rules: Rules = rules_of(table, constraints, references)
        self._attributes = judged_attributes(table, constraints)
        self._units = tuple(dict.fromkeys(each.unit for each in constraints if each.unit is not None))
        self._worthwhile = worthwhile
        self._solved: dict[tuple[object, ...], ClassSolution] = {}

    def suppress(self, classes: Classes) -> Suppressed:
        """Return the fewest records of each class; ``certain`` bounds any split of it too."""
        held = holding(self._constraints, classes, self._references)
        certain = certain_losses(self._constraints, classes, self._references)
        gone = np.where(held[classes.class_of], 0, classes.counts)
        least = np.where(held, 0, classes.sizes)
        chosen = ~held & (certain < classes.sizes)
        if chosen.any() and certain.sum() <= self._worthwhile:
            cells = sensitive_cells(classes, chosen, self._attributes, self._units)
            kept, most = self._retain(cells, self._worthwhile - int(certain[~chosen].sum()))
            gone[cells.items] = cells.gone(cells.counts - kept)
            least[cells.chosen] = np.maximum(classes.sizes[cells.chosen] - most, certain[cells.chosen])
            open_classes = count(classes.class_of, gone, classes.number) > least
            # Each turn takes programmes where units are counted.
            hopeless = bool(self._units) and least.sum() > self._worthwhile
            if open_classes.any() and len(self._constraints) > 1 and not hopeless:
                gone = self._in_turns(classes, gone, open_classes)
        else:
            least = certain
        if all(each.merging is not Merging.NONE for each in self._constraints):
            certain = least
        return suppressed_items(classes, gone, least, certain, int(least.sum()))

    def _in_turns(self, classes: Classes, gone: IntArray, chosen: BoolArray) -> IntArray:
        """Satisfy one constraint after the other; keep that for classes of which more records stay."""
        kept = np.where(chosen[classes.class_of], classes.counts, 0)
        while True:
            left, items = classes.part(kept)
            if not left.number or holding(self._constraints, left, self._references).all():
                break
            for constraint in self._constraints:
                left, items = classes.part(kept)
                if not left.number:
                    break
                own = FixedReference(self._table, [constraint], self._references, left.records)
                kept[items] -= own.suppress(left).gone
        more = count(classes.class_of, kept, classes.number) > count(
            classes.class_of, classes.counts - gone, classes.number
        )
        return np.where(more[classes.class_of], classes.counts - kept, gone)

    def _retain(self, cells: SensitiveCells, worthwhile: int) -> tuple[IntArray, IntArray]:
        """Return the remaining records of each cell, and a bound for each of the own classes."""
        found = self._by_rules(cells)
        kept, most, settled = found.counts.copy(), found.most.copy(), found.settled.copy()
        small = most < self._rules.smallest
        most[small] = 0
        kept[small[cells.class_of]] = 0
        settled |= small
        kept[~settled[cells.class_of]] = 0
        verified = settled & self._verified(cells, kept)
        spare = worthwhile - (int(cells.counts.sum()) - int(most.sum()))
        for position in np.flatnonzero(~verified).tolist():
            if spare < 0:
                break
            before = int(most[position])
            span = slice(cells.starts[position], cells.starts[position + 1])
            solution = self._solution(cells, position, int(most[position]))
            kept[span], most[position] = solution.kept, solution.most
            spare -= before - solution.most
        return kept, most

    def _by_rules(self, cells: SensitiveCells) -> Retained:
        """Solve classes with one rule; bound the others."""
        rules = self._rules.rules
        if len(rules) == 1 and not cells.keys:
            return rules[0].retain(cells)
        sizes, nothing = count(cells.class_of, cells.counts, len(cells.chosen)), np.zeros_like(cells.counts)
        if not rules:
            # Models without rules for records suppress classes as a whole.
            return Retained(nothing, sizes, np.ones(len(sizes), dtype=bool))
        # Some records of a violating class go.
        most = np.min([sizes - bool(cells.keys), *(rule.most(cells) for rule in rules)], axis=0)
        return Retained(nothing, most, most == 0)

    def _verified(self, cells: SensitiveCells, kept: IntArray) -> BoolArray:
        """Return which classes are valid with their remaining records, or empty."""
        verified = np.ones(len(cells.chosen), dtype=bool)
        classes, left = cells.classes(kept)
        if len(left):
            verified[left] = holding(self._constraints, classes, self._references)
        return verified

    def _solution(self, cells: SensitiveCells, position: int, most: int) -> ClassSolution:
        """Solve one class by integer programming; equal classes share the solution."""
        groups = _Groups.of(cells, position, apart=self._rules.single)
        views = [groups.view(rule) for rule in self._rules.rules]
        for unit, smallest in self._rules.units.items():
            whole = np.zeros_like(groups.counts)
            own = View(CountConditions(smallest=smallest), whole, whole, groups.units[unit], groups.steps)
            views.append(own)
        key = (groups.counts.tobytes(), *(view.signature for view in views))
        if groups.steps is not None:
            key = (groups.steps.tobytes(), *key)
        if key not in self._solved:

            def verify(kept: IntArray) -> bool:
                one = cells.one_class(position, groups.kept(kept))
                return bool(holding(self._constraints, one, self._references)[0])

            smallest = self._rules.smallest
            problem = ClassProblem(groups.counts, tuple(views), smallest, most, steps=groups.steps)
            self._solved[key] = solve(problem, verify)
        found = self._solved[key]
        return replace(found, kept=groups.kept(found.kept))


@dataclass(frozen=True, eq=False)
class _Groups:
    """The cells of a class, those of interchangeable units as one.

    If conditions are on units, no count that they compare changes before the last record of a cell of one
    unit is gone, so that these go together. A unit with no other cell can stand for any with as many records.

    Attributes
    ----------
    cells: of all classes.
    first: a cell of each group, shape (groups,), int64.
    of_cell: group of each cell of the class, shape (own cells,), int64.
    counts: records of each group, shape (groups,), int64.
    own: records of each cell of the class, shape (own cells,), int64.
    units: unit of each group by the name of the unit, numbered in the class, negative where each step of
        records is one, shape (groups,), int64.
    steps: records of each group that stay or go together, shape (groups,), int64; None for single ones.
    """

    cells: SensitiveCells
    first: IntArray
    of_cell: IntArray
    counts: IntArray
    own: IntArray
    units: Mapping[str, IntArray]
    steps: IntArray | None

    @classmethod
    def of(cls, cells: SensitiveCells, position: int, *, apart: bool) -> _Groups:
        """Return the groups of a class.

        Parameters
        ----------
        apart: whether some records of a cell may go alone, so that each is a group.
        """
        span = np.arange(cells.starts[position], cells.starts[position + 1])
        counts, order = cells.counts[span], np.arange(len(span))
        units = {
            name: np.where(own[span] < 0, -1, np.unique(own[span], return_inverse=True)[1])
            for name, own in cells.keys.by_name.items()
        }
        if apart or not units:
            return cls(cells, span, order, counts, counts, units, None)
        codes = np.stack(list(units.values()))
        single = (codes < 0).all(axis=0)
        lone = single | np.logical_and.reduce([np.bincount(own + 1)[own + 1] == 1 for own in codes])
        lone &= single | (codes >= 0).all(axis=0)
        steps = np.where((codes >= 0).all(axis=0), counts, 1)
        values = [each.codes[span] for each in cells.sensitive.values()]
        of_cell, first = numbered(
            [*values, np.where(lone, steps, 0), np.where(lone, 0, order + 1)], len(span)
        )
        units = {name: np.where(lone, -1, own)[first] for name, own in units.items()}
        return cls(
            cells, span[first], of_cell, count(of_cell, counts, len(first)), counts, units, steps[first]
        )

    def view(self, rule: Rule) -> View:
        """Return the groups for a rule."""
        unit = None if rule.unit is None else self.units[rule.unit]
        return replace(rule.view(self.cells, self.first), unit=unit, steps=self.steps)

    def kept(self, counts: IntArray) -> IntArray:
        """Return the remaining records of each cell of the class from those of groups, in whole steps."""
        return from_the_first(self.of_cell, self.own, counts)


FEW = 8
"""Records up to which every combination of losses may be tried."""

TRIED = 50
"""Most references that are tried for one candidate."""

CELLS = 40
"""Most cells of a candidate for trying references, as each may take an integer programme."""


class MovingReference:
    """The fewest suppressed records of all classes under the reference of the remaining ones.

    Parameters
    ----------
    references: of every attribute; only those in constraints change.
    """

    def __init__(self, table: Table, constraints: Sequence[ClassConstraint], references: References) -> None:
        self._table = table
        self._standing = references
        self._constraints = tuple(constraints)
        referring = {each.attribute for each in constraints if each.model.uses_reference}
        self._referring = [each for each in table.sensitive if each.name in referring]

    def suppress(self, classes: Classes, fewest: int, below: int) -> tuple[IntArray | None, int]:
        """Return the fewest records to suppress if they are below a number.

        Parameters
        ----------
        fewest: no fewer records can be suppressed.

        Returns
        -------
        Records of each item, shape (items,), int64, None if nothing better was found; and how many must be
        suppressed at least.
        """
        if not self._table.measure.plain:
            # The records of each value do not say how many units have it.
            return None, fewest
        cells = sensitive_cells(classes, np.ones(classes.number, dtype=bool), self._table.sensitive)
        if len(cells.counts) > CELLS:
            return None, fewest
        kinds = _Kinds.of(cells, self._referring)
        tried = 0
        for gone in range(fewest, min(below, classes.records)):
            for lost in kinds.losses(gone):
                tried += 1
                if tried > TRIED and classes.records > FEW:
                    return None, gone
                kept, possible = self._with_losses(cells, kinds, lost)
                if kept is not None:
                    found = np.zeros_like(classes.counts)
                    found[cells.items] = cells.gone(cells.counts - kept)
                    return found, gone
                if possible:
                    return None, gone
        return None, max(fewest, below)

    def _with_losses(
        self, cells: SensitiveCells, kinds: _Kinds, lost: IntArray
    ) -> tuple[IntArray | None, bool]:
        """Return the remaining records of each cell, None without any; and whether some may exist."""
        left = kinds.totals - lost
        references = {**self._standing, **kinds.references(left)}
        # No class may have values that the reference has lost.
        allowed = np.where(left[kinds.of_cell] > 0, cells.counts, 0)
        classes, own = cells.classes(allowed)
        fixed = FixedReference(self._table, self._constraints, references, int(lost.sum()))
        spared = classes.sizes - fixed.suppress(classes).least
        if spared.sum() < left.sum():
            return None, False
        held = np.flatnonzero(allowed)
        numbers = np.zeros(len(cells.chosen), dtype=np.int64)
        numbers[own] = np.arange(len(own))
        kept = np.zeros_like(cells.counts)
        problem = self._programme(cells, references, held, numbers, kinds.of_cell[held], left)

        def verify(counts: IntArray) -> bool:
            kept[held] = counts
            staying, _ = cells.classes(kept)
            return bool(holding(self._constraints, staying, references).all())

        solution = solve(problem, verify)
        if solution.kept.any():
            kept[held] = solution.kept
            return kept, True
        return None, solution.most >= problem.most

    def _programme(
        self,
        cells: SensitiveCells,
        references: References,
        held: IntArray,
        numbers: IntArray,
        kinds: IntArray,
        left: IntArray,
    ) -> ClassProblem:
        """Return the problem of all classes with the cells that may stay."""
        rules = rules_of(self._table, self._constraints, references)
        class_of = numbers[cells.class_of[held]]
        views = [View(CountConditions(smallest=rules.smallest), class_of, np.zeros_like(class_of))]
        views += [rule.view(cells, held) for rule in rules.rules]
        sums = tuple((np.flatnonzero(kinds == kind), int(left[kind])) for kind in np.unique(kinds).tolist())
        return ClassProblem(cells.counts[held], tuple(views), 1, int(left.sum()), sums)


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The combinations of values of the referring attributes.

    Attributes
    ----------
    attributes: the referring ones.
    codes: of each kind, shape (kinds, attributes), int64.
    totals: records of each kind, shape (kinds,), int64.
    of_cell: kind of each cell, shape (cells,), int64.
    """

    attributes: Sequence[SensitiveAttribute]
    codes: IntArray
    totals: IntArray
    of_cell: IntArray

    @classmethod
    def of(cls, cells: SensitiveCells, attributes: Sequence[SensitiveAttribute]) -> _Kinds:
        """Return the kinds of some cells."""
        codes = np.stack([cells.sensitive[each.name].codes for each in attributes], axis=1)
        kinds, of_cell = np.unique(codes, axis=0, return_inverse=True)
        of_cell = of_cell.reshape(-1).astype(np.int64)
        return cls(attributes, kinds, count(of_cell, cells.counts, len(kinds)), of_cell)

    def references(self, left: IntArray) -> References:
        """Return the distribution of each referring attribute for remaining records of each kind."""
        return {
            each.name: Reference(count(self.codes[:, position], left, each.column.size))
            for position, each in enumerate(self.attributes)
        }

    def losses(self, number: int) -> Iterator[IntArray]:
        """Yield every way to take a number of records from the kinds, shape (kinds,), int64."""
        totals = self.totals.tolist()
        yield from (np.array(own, dtype=np.int64) for own in _ways(totals, number))


def _ways(totals: Sequence[int], number: int) -> Iterator[tuple[int, ...]]:
    if not totals:
        if not number:
            yield ()
        return
    first, *rest = totals
    for own in range(max(0, number - sum(rest)), min(first, number) + 1):
        for others in _ways(rest, number - own):
            yield (own, *others)


ROUNDS = 12
"""Rounds in which the reference of the remaining records replaces the one before."""


class OptimalRecords(Suppressor):
    """Suppresses the fewest records of each violating class.

    With p of the remaining records, the records of one class move the reference of all.

    Solving is repeated with the reference of the remaining records until that agrees with itself, or no class
    violates a constraint; then everything is verified under it. Conditions under any reference within the
    limit give the bound.
    """

    chooses = True

    def __init__(self, problem: SearchProblem) -> None:
        super().__init__(problem)
        self._moved = problem.moving_reference
        # With a moving reference, suppression under p of the input is not a bound.
        self._worthwhile = self.table.records if problem.moving_reference else problem.limit
        self._fixed = self._under(self.input)
        self._names = self.table.sensitive_names
        self._whole = WholeClasses(problem)
        self._rules: dict[int, Rules] = {}
        self._moving = MovingReference(self.table, self.constraints, self.input)

    def under_input(self, classes: Classes) -> Suppressed:
        """Suppress the fewest records of each class."""
        return self._hopeless(classes) or self._fixed.suppress(classes)

    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Return the best result of repeated solving; optimal only if it equals the bound."""
        hopeless = self._hopeless(classes)
        if hopeless is not None:
            return hopeless
        found = [gone for gone in (self._repeated(classes, first.gone),) if gone is not None]
        found.append(self._descended(classes, first.gone))
        found.append(self._by_classes(classes))
        best = self._improved(classes, min(found, key=_records))
        least = self._least(classes, self.limit)
        fewest, below = _records(least), min(_records(best), self.limit + 1)
        if 0 < below <= self.limit:
            # A better solution moves p less than the best so far.
            fewest = max(fewest, min(_records(self._least(classes, below - 1)), below))
        joint, fewest = self._moving.suppress(classes, fewest, below)
        gone = best if joint is None else joint
        return suppressed_items(classes, gone, least, self._certain(classes, least), fewest)

    def _hopeless(self, classes: Classes) -> Suppressed | None:
        """Return violating classes whole if any p within the limit suppresses more than that; else None.

        Each class in which units are counted takes a programme, under several p.
        """
        if not self._moved or self.table.measure.plain:
            return None
        least = self._least(classes, self.limit)
        if _records(least) <= self.limit:
            return None
        gone = np.where(holding(self.constraints, classes, self.input)[classes.class_of], 0, classes.counts)
        return suppressed_items(classes, gone, least, self._certain(classes, least), _records(least))

    def _certain(self, classes: Classes, least: IntArray) -> IntArray:
        """Return the bound for any split of the classes, from the bound without a split.

        If merging can violate a model, the parts of a class may lose less than the class.
        """
        if all(each.merging is not Merging.NONE for each in self.constraints):
            return least
        fixed = [each for each in self.constraints if not each.model.uses_reference]
        return certain_losses(fixed, classes, self.input)

    def _by_classes(self, classes: Classes) -> IntArray:
        """Suppress whole classes, which is a solution too."""
        return self._whole.under_release(classes, self._whole.under_input(classes)).gone

    def _improved(self, classes: Classes, gone: IntArray) -> IntArray:
        """Solve again under the reference of the best while that suppresses fewer records."""
        while True:
            left, _ = classes.part(classes.counts - gone)
            if not left.number:
                return gone
            anew = self._under(references_of(left, self._names)).suppress(classes).gone
            anew = self._descended(classes, anew)
            if _records(anew) >= _records(gone):
                return gone
            gone = anew

    def _repeated(self, classes: Classes, gone: IntArray) -> IntArray | None:
        """Solve again under the reference of the remaining records until it verifies itself, or None."""
        seen: set[bytes] = set()
        for _ in range(ROUNDS):
            left, _ = classes.part(classes.counts - gone)
            references = references_of(left, self._names)
            if not left.number or holding(self.constraints, left, references).all():
                return gone
            key = b"".join(references[name].counts.tobytes() for name in self._names)
            if key in seen:
                return None
            seen.add(key)
            gone = self._under(references).suppress(classes).gone
        return None

    def _descended(self, classes: Classes, gone: IntArray) -> IntArray:
        """Suppress more records until the rest is valid under its own reference."""
        while True:
            left, items = classes.part(classes.counts - gone)
            references = references_of(left, self._names)
            if not left.number or holding(self.constraints, left, references).all():
                return gone
            gone = gone.copy()
            gone[items] += self._under(references).suppress(left).gone

    def _drifted(self, number: int) -> Rules:
        """Return the rules under any reference that results from the input's by losing so many records."""
        if number not in self._rules:
            self._rules[number] = rules_of(self.table, self.constraints, self.input, number)
        return self._rules[number]

    def _under(self, references: References) -> FixedReference:
        return FixedReference(self.table, self.constraints, references, self._worthwhile)

    def _least(self, classes: Classes, number: int) -> IntArray:
        """Return a lower bound for each class under any p if at most a number of records are suppressed."""
        fixed = [each for each in self.constraints if not each.model.uses_reference]
        least = certain_losses(fixed, classes, self.input)
        chosen = least < classes.sizes
        if number >= self.table.records or not chosen.any():
            return least
        cells = sensitive_cells(classes, chosen, self.table.sensitive, self.table.measure.units)
        for rule in self._drifted(number).rules:
            own = classes.sizes[cells.chosen] - rule.most(cells)
            least[cells.chosen] = np.maximum(least[cells.chosen], own)
        return least


def _records(counts: IntArray) -> int:
    return int(counts.sum())
