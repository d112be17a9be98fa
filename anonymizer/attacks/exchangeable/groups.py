"""People in groups, with the sensitive values of each group but not who has which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import count, numbered

UNKNOWN = -1
"""Feature of a person of whom nothing is known but the group."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The kinds of people in each group, and the sensitive values that belong to them.

    A kind is the people of one group with the same features. An entry is a kind together with one of the
    values of its group; the entries of a kind are neighbours, in the order of the values.

    Attributes
    ----------
    codes: features of each kind, shape (kinds, attributes), int64; -1 where a feature is not known.
    group: of each kind, shape (kinds,), int64, ascending; each group has a kind.
    counts: people of each kind, shape (kinds,), int64, positive.
    starts: values of group i are ``values[starts[i]:starts[i + 1]]``, shape (groups + 1,), int64.
    values, value_counts: sensitive values and how often the group has each, shape (all values,), int64; they
        add up to the people of the group.
    size: number of sensitive values there are.
    """

    codes: IntArray
    group: IntArray
    counts: IntArray
    starts: IntArray
    values: IntArray
    value_counts: IntArray
    size: int

    @property
    def people(self) -> int:
        """Number of people in all groups."""
        return int(self.counts.sum())

    @property
    def number(self) -> int:
        """Number of groups."""
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> IntArray:
        """People of each group, shape (groups,), int64."""
        return count(self.group, self.counts, self.number)

    @cached_property
    def first(self) -> IntArray:
        """First entry of each kind, and behind the last one their number, shape (kinds + 1,), int64."""
        return np.concatenate([[0], np.cumsum(np.diff(self.starts)[self.group])]).astype(np.int64)

    @cached_property
    def kind(self) -> IntArray:
        """Kind of each entry, shape (entries,), int64."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.first))

    @cached_property
    def _place(self) -> IntArray:
        """Position in ``values`` of each entry's value, shape (entries,), int64."""
        within = np.arange(self.first[-1]) - self.first[self.kind]
        place: IntArray = self.starts[self.group[self.kind]] + within
        return place

    @cached_property
    def entry_values(self) -> IntArray:
        """Sensitive value of each entry, shape (entries,), int64."""
        return self.values[self._place]

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each entry's value in its group, shape (entries,): its chance under random worlds."""
        chances: FloatArray = self.value_counts[self._place] / self.sizes[self.group[self.kind]]
        return chances

    @cached_property
    def open(self) -> BoolArray:
        """Which groups leave something to learn, shape (groups,): several kinds and several values."""
        kinds = np.bincount(self.group, minlength=self.number)
        several: BoolArray = (kinds > 1) & (np.diff(self.starts) > 1)
        return several

    def entries_of(self, kinds: IntArray, values: IntArray) -> IntArray:
        """Return the entry of each pair of a kind and a value, shape (pairs,), int64; -1 for none."""
        keys = self.kind * self.size + self.entry_values
        wanted = kinds * self.size + values
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found: IntArray = np.where(keys[place] == wanted, place, -1)
        return found


def groups_of(
    codes: IntArray, group: IntArray, counts: IntArray, values: tuple[IntArray, IntArray, IntArray], size: int
) -> tuple[Groups, IntArray]:
    """Return people in groups; those whom a group has more values than known people for are of an unknown
    kind.

    Parameters
    ----------
    codes: features, shape (items, attributes), int64, at least -1.
    group: of each item, shape (items,), int64.
    counts: people of each item, shape (items,), int64.
    values: group, value and count of each sensitive value of a group, shape (entries,), int64 each; distinct
        pairs.
    size: number of sensitive values there are.

    Returns
    -------
    The groups, and the kind that each item became, shape (items,), int64.
    """
    owner, value, number = values
    order = np.lexsort((value, owner))
    owner, value, number = owner[order], value[order], number[order]
    groups = int(owner.max(initial=-1)) + 1
    short = count(owner, number, groups) - count(group, counts, groups)
    hidden = np.flatnonzero(short)
    blank = np.full((len(hidden), codes.shape[1]), UNKNOWN, dtype=np.int64)
    every = np.concatenate([group, hidden]), np.concatenate([codes, blank])
    people = np.concatenate([counts, short[hidden]])
    kinds, first = numbered([every[0], *(every[1].T + 1)], len(people))
    made = Groups(
        every[1][first],
        every[0][first],
        count(kinds, people, len(first)),
        np.searchsorted(owner, np.arange(groups + 1)),
        value,
        number,
        size,
    )
    return made, kinds[: len(counts)]
