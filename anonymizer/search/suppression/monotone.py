"""The largest counts within conditions that the larger of two solutions meets too.

A cap on the share of a value, a bound on the most frequent value by the rare ones, a number of distinct
values and a number of records are such conditions: if y and z meet them, so does max(y, z), value by value.
So there is a greatest solution below the counts of a class, and lowering every count to what the others allow
until nothing changes ends there (Knaster and Tarski).
"""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.privacy.conditions import CountConditions, Dominance
from anonymizer.search.suppression.multiples import Multiples, below


class Monotone:
    """The monotone conditions of a rule, prepared for rows of counts."""

    def __init__(self, rule: CountConditions) -> None:
        self._rule = rule
        self._caps = None if rule.caps is None else Multiples(rule.caps)

    @property
    def whole(self) -> bool:
        """Whether the rule has no other conditions."""
        rule = self._rule
        return rule.floors is None and not rule.entropies and not rule.deviations

    def greatest(self, counts: IntArray) -> IntArray:
        """Return the largest counts that meet the conditions, 0 throughout where none do.

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
        """Tell which rows have the records and values that a rule asks for."""
        enough: BoolArray = rows.sum(axis=1) >= self._rule.smallest
        for distinct in self._rule.distinct:
            enough &= distinct_counts(rows, distinct.missing) >= distinct.number
        if self._rule.required is not None:
            enough &= (rows[:, self._rule.required] > 0).all(axis=1)
        return enough

    def _sizes_within_caps(self, counts: IntArray) -> IntArray:
        """Bound the records that caps allow to stay: Newton's method on sum(min(c, cap n)) = n from above."""
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
    """Return the number of values that each row has, the missing one not counted, shape (rows,), int64."""
    present = rows > 0
    distinct: IntArray = present.sum(axis=1)
    return distinct if missing is None else distinct - present[:, missing]


def _most(rows: IntArray, dominance: Dominance) -> IntArray:
    """Return the largest count that the rare values of each row allow, shape (rows,), int64."""
    rare = max(rows.shape[1] - dominance.l + 1, 0)
    tails: IntArray = np.sort(rows, axis=1)[:, :rare].sum(axis=1)
    allowed: IntArray = np.maximum(below(dominance.c, tails), 0)
    return allowed
