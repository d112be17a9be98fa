"""The class constraints of a problem as rules for the remaining counts, solved exactly.

The largest class is found by trying sizes from a bound downward. With the size n of the rest given, caps
and floors are whole numbers, and the conditions of one attribute part into sums of convex functions of
single counts, which are minimized exactly without a solver.

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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint
from anonymizer.privacy.conditions import CountConditions, Deviation, Dominance, Shares
from anonymizer.privacy.exact import has_entropy, resolve_near_ties
from anonymizer.search.suppression.cell_models import SensitiveCells
from anonymizer.search.suppression.suppressor import References, reference_for


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
        if self._whole and sizes.max(initial=0) < SMALL:
            numerators, denominators = self._ratios
            exact: IntArray = sizes[:, None] * numerators // denominators
            return exact
        products = sizes[:, None] * self.floats
        result = np.floor(products).astype(np.int64)
        close = np.abs(products - np.rint(products)) <= 1e-9 * np.maximum(products, 1)
        for row, value in np.argwhere(close & (self.floats > 0)).tolist():
            result[row, value] = self._shares[value] * int(sizes[row]) // 1
        return result

    def ceil(self, sizes: IntArray) -> IntArray:
        """Return the smallest whole numbers from share * size up, shape (sizes, values), int64."""
        floors = self.floor(sizes)
        if self._whole and sizes.max(initial=0) < SMALL:
            numerators, denominators = self._ratios
            exact: IntArray = floors + (sizes[:, None] * numerators != floors * denominators)
            return exact
        products = sizes[:, None] * self.floats
        result = floors + (products > floors)
        close = np.abs(products - np.rint(products)) <= 1e-9 * np.maximum(products, 1)
        for row, value in np.argwhere(close & (self.floats > 0)).tolist():
            result[row, value] = -(-self._shares[value] * int(sizes[row]) // 1)
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
    allowed: IntArray = np.maximum(below(dominance.c, tails), 0)
    return allowed


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
    taken: IntArray = np.clip(number[:, None] - before, 0, room)
    return taken


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


class DeviationSolver(Protocol):
    """Keeps counts close to the expected ones."""

    def bound(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Bound the sizes within the limit from the counts, shape (rows, values), and earlier bounds."""

    def closest(self, least: IntArray, most: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the closest counts between bounds with given sums, and their deviation in 1 / total."""


def deviation_solver(deviation: Deviation) -> DeviationSolver:
    """Return the solver; the faster one if no group contains another."""
    return SeparateDeviation(deviation) if deviation.separate else NestedDeviation(deviation)


class BySize:
    """A rule for the counts of one attribute, prepared for rows of counts."""

    def __init__(self, rule: CountConditions) -> None:
        self._rule = rule
        self._monotone = Monotone(rule)
        self._caps = None if rule.caps is None else Multiples(rule.caps)
        self._floors = None if rule.floors is None else Multiples(rule.floors)
        # If a value with a floor may be absent, the tried counts are not all possible ones.
        self._always_firm = self._floors is None or not (self._floors.floats[~_required(rule)] > 0).any()
        self._deviations = [(each, deviation_solver(each)) for each in rule.deviations]
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
    """

    rule: CountConditions
    part: IntArray
    value: IntArray

    @cached_property
    def signature(self) -> tuple[bytes, bytes]:
        """The parts of a view that differ between classes."""
        return self.part.tobytes(), self.value.tobytes()


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
    """

    counts: IntArray
    views: tuple[View, ...]
    smallest: int
    most: int
    sums: tuple[tuple[IntArray, int], ...] = ()


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
    """

    attribute: SensitiveAttribute
    combined: bool
    retention: CountConditions

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
        values = self.values(cells)
        kept = np.zeros_like(cells.counts)
        most, settled = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=bool)
        for low, high, own in self._blocks(parts, number):
            retained = self._by_size.retain(self._matrix(cells, parts, values, low, high, own))
            kept[own] = retained.counts[parts[own] - low, values[own]]
            most[low:high], settled[low:high] = retained.most, retained.settled
        return Retained(kept, *_of_classes(cells, parts, number, most, settled))

    def most(self, cells: SensitiveCells) -> IntArray:
        """Bound the remaining records of each class by this rule alone, shape (own classes,), int64."""
        parts, number = cells.parts(self.attribute.name, combined=self.combined)
        values = self.values(cells)
        most = np.zeros(number, dtype=np.int64)
        for low, high, own in self._blocks(parts, number):
            matrix = self._matrix(cells, parts, values, low, high, own)
            most[low:high] = self._by_size.retain(matrix).most
        return _of_classes(cells, parts, number, most, np.ones(number, dtype=bool))[0]

    def _blocks(self, parts: IntArray, number: int) -> list[tuple[int, int, IntArray]]:
        """Return ranges of parts that fit a matrix, each with its cells."""
        step = max(ENTRIES // self.attribute.column.size, 1)
        ranges = [(low, min(low + step, number)) for low in range(0, number, step)]
        return [(low, high, np.flatnonzero((parts >= low) & (parts < high))) for low, high in ranges]

    def _matrix(
        self, cells: SensitiveCells, parts: IntArray, values: IntArray, low: int, high: int, own: IntArray
    ) -> IntArray:
        size = self.attribute.column.size
        keys = (parts[own] - low) * size + values[own]
        sums = np.bincount(keys, weights=cells.counts[own], minlength=(high - low) * size)
        return sums.astype(np.int64).reshape(-1, size)


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
    rules: one for each attribute and kind of parts.
    """

    smallest: int
    rules: tuple[Rule, ...]


def rules_of(
    table: Table,
    constraints: Sequence[ClassConstraint],
    references: References,
    drift: Fraction | None = None,
) -> Rules:
    """Read the constraints as rules.

    Parameters
    ----------
    drift: share of the reference that may be suppressed; the rules then hold for any such suppression. None
        for a fixed reference.
    """
    attributes = {each.name: each for each in table.sensitive}
    joined: dict[tuple[str, bool], CountConditions] = {}
    smallest = 1
    for constraint in constraints:
        attribute = None if constraint.attribute is None else attributes[constraint.attribute]
        reference = reference_for(constraint, references)
        retention = constraint.retention(attribute, reference)
        if retention is None:
            continue
        if drift is not None and constraint.model.uses_reference:
            assert reference is not None
            passing = reference.present & (reference.counts <= int(drift * reference.total))
            retention = retention.drifted(drift, passing)
        if attribute is None:
            smallest = max(smallest, retention.smallest)
            continue
        key = (attribute.name, constraint.combined)
        joined[key] = joined[key].joined(retention) if key in joined else retention
    rules = (Rule(attributes[name], combined, own) for (name, combined), own in joined.items())
    return Rules(smallest, tuple(rules))
