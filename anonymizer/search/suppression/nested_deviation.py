"""Counts of a given sum that are closest to what is expected in nested groups of values.

The least deviation within a group, as a function of how many records stay in it, is convex and linear between
a few points: segments of records that each add the same. Putting the groups inside it side by side merges
their segments by what they add; the deviation of the group itself takes 1 from each record below what is
expected and adds 1 to each above. From the innermost groups outward this gives the segments of the whole
class, of which those that add least stay. It is dynamic programming over the tree of groups with functions
instead of tables, so that the number of records does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.privacy.conditions import Deviation


@dataclass(frozen=True, eq=False)
class _Segments:
    """The segments of some rows, those that add less first.

    Attributes
    ----------
    value: value code of each segment, shape (rows, segments), int64.
    length: its records, shape (rows, segments), float64; whole numbers below 2**53 where records are whole.
    added: what each of them adds to the deviation, in 1 / total, shape (rows, segments), float64.
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
        """Return the segments without the empty ones that all rows can do without."""
        used = self.length > 0
        width = int(used.sum(axis=1).max(initial=0))
        order = np.argsort(~used, axis=1, kind="stable")[:, :width]
        return self._in(order)

    def sorted(self) -> _Segments:
        """Return the segments in the order of what they add."""
        return self._in(np.argsort(self.added, axis=1, kind="stable"))

    def _in(self, order: IntArray) -> _Segments:
        return _Segments(
            np.take_along_axis(self.value, order, axis=1),
            np.take_along_axis(self.length, order, axis=1),
            np.take_along_axis(self.added, order, axis=1),
        )

    def cheapest(self, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how much of each segment stays, shape (rows, segments), and what it adds, shape (rows,)."""
        start = np.cumsum(self.length, axis=1) - self.length
        taken: FloatArray = np.clip(sizes[:, None] - start, 0, self.length)
        return taken, (taken * self.added).sum(axis=1)


class NestedDeviation:
    """A deviation of groups, any two of which are disjoint or one holds the other."""

    def __init__(self, deviation: Deviation) -> None:
        self._expected = deviation.expected.astype(np.float64)
        self._total = float(deviation.total)
        self._limit = float(deviation.limit)
        self._group_of = deviation.group_of
        groups = range(len(deviation.parent))
        self._inside = [np.flatnonzero(deviation.parent == group).tolist() for group in groups]
        self._outermost = np.flatnonzero(deviation.parent < 0).tolist()

    def bound(self, counts: IntArray, sizes: FloatArray) -> FloatArray:
        """Bound the sizes at which fractions of records would be within the limit, by secants from above.

        By how much the least deviation exceeds the limit is convex in the size: to the left of two points,
        it is above the line through them.

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
        """Return the counts between bounds that deviate least, and by how much, in 1 / total."""
        wanted = sizes[:, None] * self._expected
        whole = np.floor_divide(wanted, self._total)
        last = self._total - 2 * (wanted - whole * self._total)
        # What stays in any case is there before the first record is chosen.
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
        """Return by how much the least deviation is above the limit where records may be cut in parts."""
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
    """Merge the segments of groups with those of values that no smaller group holds."""
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
