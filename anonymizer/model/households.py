"""Households with the number of their members in each class, for the risk that one of them is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, group_keys
from anonymizer.model.units import Units

MEMBERS: Final = "members of households"
"""Name of the households among the units of items; no constraint counts it."""


@dataclass(frozen=True, eq=False)
class Households(Units):
    """The households that have records in each item, with the number of these.

    Members add up, unlike households, so that merging items adds them and folds nothing.

    Attributes
    ----------
    members: records of each pair of an item and a household, shape (pairs,), int64, positive.
    """

    members: IntArray

    @classmethod
    def of_records(
        cls, item_of: IntArray, household_of: IntArray, items: int, counts: IntArray | None = None
    ) -> Households:
        """Return the households of records, or of groups of records of one item and household.

        Parameters
        ----------
        item_of: item of each group, shape (groups,), int64.
        household_of: household of each group, shape (groups,), int64; if negative, each record is one.
        items: number of items.
        counts: records of each group, shape (groups,), int64; None for one each.
        """
        records = np.ones(len(item_of), dtype=np.int64) if counts is None else counts
        known = household_of >= 0
        single = np.repeat(item_of[~known], records[~known])
        first = int(household_of.max(initial=-1)) + 1
        found = cls(
            np.zeros(items, dtype=np.int64),
            np.concatenate([item_of[known], single]),
            np.concatenate([household_of[known], first + np.arange(len(single))]),
            max(first + len(single), 1),
            np.concatenate([records[known], np.ones(len(single), dtype=np.int64)]),
        )
        return found.merged(np.arange(items), items)

    def folded(self) -> Households:
        """Return the same: households are not counts."""
        return self

    def at(self, chosen: IntArray | BoolArray) -> Households:
        """Return the households of some items, renumbered in the order given."""
        pairs = Units(self.alone, self.items, np.arange(len(self.items)), max(len(self.items), 1)).at(chosen)
        keys, members = self.keys[pairs.keys], self.members[pairs.keys]
        return Households(pairs.alone, pairs.items, keys, self.space, members)

    def merged(self, group_of: IntArray, groups: int) -> Households:
        """Return the households of groups of items; ``group_of`` has shape (items,)."""
        numbers, keys = group_keys(self.keys, self.space)
        space = max(len(keys), 1)
        pairs, distinct = group_keys(group_of[self.items] * space + numbers, groups * space)
        return Households(
            np.zeros(groups, dtype=np.int64),
            distinct // space,
            keys[distinct % space],
            self.space,
            count(pairs, self.members, len(distinct)),
        )

    def beside(self, other: Units) -> Households:
        """Return these followed by the households of other items of the same table."""
        assert isinstance(other, Households), "both have members"
        both = super().beside(other)
        members = np.concatenate([self.members, other.members])
        return Households(both.alone, both.items, both.keys, both.space, members)


@dataclass(frozen=True, eq=False)
class HouseholdClasses:
    """The households of a release by class.

    Attributes
    ----------
    class_of: class of each pair of a household and a class, shape (pairs,), int64.
    household: number of the household of each pair, from 0, shape (pairs,), int64.
    members: records of each pair, shape (pairs,), int64.
    number: of households.
    """

    class_of: IntArray
    household: IntArray
    members: IntArray
    number: int

    @classmethod
    def of(cls, households: Households, class_of: IntArray) -> HouseholdClasses:
        """Return the households of items by the class of each, shape (items,)."""
        numbers, distinct = group_keys(households.keys, households.space)
        return cls(class_of[households.items], numbers, households.members, len(distinct))

    @property
    def sizes(self) -> IntArray:
        """Members of each household, shape (households,), int64."""
        return count(self.household, self.members, self.number)

    def risks(self, risks: FloatArray) -> FloatArray:
        """Return the probability that a member of each household is found, shape (households,).

        Parameters
        ----------
        risks: of the records of each class, shape (classes,).
        """
        with np.errstate(divide="ignore"):
            missed = np.log1p(-risks)
        summed = np.bincount(
            self.household, weights=self.members * missed[self.class_of], minlength=self.number
        )
        return -np.expm1(summed)
