"""Households with the number of their members in each class, for the risk that one of them is found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, group_keys
from anonymizer.model.units import Units

MEMBERS: Final = "members of households"
"""Name of the households among the units of items; no constraint counts it."""


def households_of_persons(household_of: IntArray, person_of: IntArray) -> IntArray:
    """Return the household of each record, or group of records, shape (records,), int64.

    A person is in the household of any of their records, and without one in a household of their own.

    Parameters
    ----------
    household_of: household of each, shape (records,), int64; negative if it has none.
    person_of: person of each, shape (records,), int64; if negative, each record is a person.
    """
    own = np.full(int(person_of.max(initial=-1)) + 1, -1, dtype=np.int64)
    known = person_of >= 0
    np.maximum.at(own, person_of[known], household_of[known])
    alone = own < 0
    own[alone] = int(household_of.max(initial=-1)) + np.cumsum(alone)[alone]
    found = household_of.astype(np.int64)
    found[known] = own[person_of[known]]
    return found


@dataclass(frozen=True, eq=False)
class Households(Units):
    """The households that have members in each item, with the number of these.

    Members are records, or persons where these are known. Members with records in one item only add up,
    unlike households, so that merging items adds them. The others are pairs of their own.

    Attributes
    ----------
    members: of each pair of an item and a household, shape (pairs,), int64, positive.
    persons: the member of each pair who has others, -1 for members who have none, shape (pairs,), int64.
    """

    members: IntArray
    persons: IntArray

    @classmethod
    def of_records(
        cls,
        item_of: IntArray,
        household_of: IntArray,
        items: int,
        counts: IntArray | None = None,
        person_of: IntArray | None = None,
    ) -> Households:
        """Return the households of records, or of groups of records of one item, household and person.

        Parameters
        ----------
        item_of: item of each group, shape (groups,), int64.
        household_of: household of each group, shape (groups,), int64; if negative, each record is one.
        items: number of items.
        counts: records of each group, shape (groups,), int64; None for one each.
        person_of: person of each group, shape (groups,), int64, the same household in all groups; if
            negative, each record is a member. None: each record is.
        """
        persons = np.full(len(item_of), -1, dtype=np.int64) if person_of is None else person_of
        records = np.ones(len(item_of), dtype=np.int64) if counts is None else counts
        known = household_of >= 0
        single = np.repeat(item_of[~known], records[~known])
        first = int(household_of.max(initial=-1)) + 1
        alone = np.ones(len(single), dtype=np.int64)
        found = cls(
            np.zeros(items, dtype=np.int64),
            np.concatenate([item_of[known], single]),
            np.concatenate([household_of[known], first + np.arange(len(single))]),
            max(first + len(single), 1),
            np.concatenate([records[known], alone]),
            np.concatenate([persons[known], -alone]),
        )
        return found.merged(np.arange(items), items)

    def folded(self) -> Households:
        """Return the same: households are not counts."""
        return self

    def at(self, chosen: IntArray | BoolArray) -> Households:
        pairs = Units(self.alone, self.items, np.arange(len(self.items)), max(len(self.items), 1)).at(chosen)
        own = pairs.keys
        return Households(
            pairs.alone, pairs.items, self.keys[own], self.space, self.members[own], self.persons[own]
        )

    def parts(self, chosen: IntArray, counts: IntArray, whole: IntArray) -> Households:
        """Return the households of some items.

        Raises
        ------
        ValueError: some records of an item are missing, so that its members are unknown.
        """
        if not np.array_equal(counts, whole[chosen]):
            raise ValueError("which members of a household remain in a distinct row is unknown")
        return self.at(chosen)

    def merged(self, group_of: IntArray, groups: int) -> Households:
        """Return the households of groups of items; ``group_of`` has shape (items,)."""
        tied, own = self.persons >= 0, group_of[self.items]
        space = int(self.persons.max(initial=0)) + 1
        numbers, names = group_keys(self.persons[tied], space)
        people = max(len(names), 1)
        pair_of, pairs = group_keys(own[tied] * people + numbers, groups * people)
        first = np.zeros(len(pairs), dtype=np.int64)
        first[pair_of] = np.flatnonzero(tied)
        # Persons who are in one group only now add up with its other members.
        several = np.bincount(pairs % people, minlength=people)[pairs % people] > 1
        added = np.concatenate([np.flatnonzero(~tied), first[~several]])
        members = self.members.copy()
        members[first] = 1
        numbers, keys = group_keys(self.keys[added], self.space)
        size = max(len(keys), 1)
        sums, distinct = group_keys(own[added] * size + numbers, groups * size)
        rest = first[several]
        items = np.concatenate([distinct // size, own[rest]])
        order = np.argsort(items, kind="stable")
        return Households(
            np.zeros(groups, dtype=np.int64),
            items[order],
            np.concatenate([keys[distinct % size], self.keys[rest]])[order],
            self.space,
            np.concatenate([count(sums, members[added], len(distinct)), members[rest]])[order],
            np.concatenate([np.full(len(distinct), -1, dtype=np.int64), self.persons[rest]])[order],
        )

    def beside(self, other: Units) -> Households:
        assert isinstance(other, Households), "both have members"
        both = super().beside(other)
        members = np.concatenate([self.members, other.members])
        persons = np.concatenate([self.persons, other.persons])
        return Households(both.alone, both.items, both.keys, both.space, members, persons)


@dataclass(frozen=True, eq=False)
class HouseholdClasses:
    """The households of a release by class.

    Attributes
    ----------
    class_of: class of each pair of a household and a class, shape (pairs,), int64.
    household: number of the household of each pair, from 0, shape (pairs,), int64.
    members: of each pair, shape (pairs,), int64.
    persons: the member of each pair who has others, -1 for members who have none, shape (pairs,), int64.
    number: of households.
    """

    class_of: IntArray
    household: IntArray
    members: IntArray
    persons: IntArray
    number: int

    @classmethod
    def of(cls, households: Households, class_of: IntArray) -> HouseholdClasses:
        """Return the households of items by the class of each, shape (items,)."""
        numbers, distinct = group_keys(households.keys, households.space)
        own = class_of[households.items]
        return cls(own, numbers, households.members, households.persons, len(distinct))

    @cached_property
    def _tied(self) -> tuple[BoolArray, IntArray, IntArray]:
        """Which pairs are of members who have others, the number of each member, and their households."""
        tied = self.persons >= 0
        numbers, distinct = group_keys(self.persons[tied], int(self.persons.max(initial=0)) + 1)
        household = np.zeros(len(distinct), dtype=np.int64)
        household[numbers] = self.household[tied]
        return tied, numbers, household

    @property
    def sizes(self) -> IntArray:
        """Members of each household, shape (households,), int64."""
        tied, _, household = self._tied
        alone = count(self.household[~tied], self.members[~tied], self.number)
        return alone + np.bincount(household, minlength=self.number)

    def risks(self, risks: FloatArray) -> FloatArray:
        """Return the probability that a member of each household is found, shape (households,).

        A member with records in several classes has the highest of their risks.

        Parameters
        ----------
        risks: of the members in each class, shape (classes,).
        """
        tied, numbers, household = self._tied
        highest = np.zeros(len(household))
        np.maximum.at(highest, numbers, risks[self.class_of[tied]])
        with np.errstate(divide="ignore"):
            missed, lasting = np.log1p(-risks), np.log1p(-highest)
        weights = self.members[~tied] * missed[self.class_of[~tied]]
        summed = np.bincount(self.household[~tied], weights=weights, minlength=self.number)
        shared = np.bincount(household, weights=lasting, minlength=self.number)
        found: FloatArray = -np.expm1(summed + shared)
        return found
