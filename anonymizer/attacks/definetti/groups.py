"""Records in groups: their kinds, and the sensitive values of each group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, numbered

UNKNOWN = -1
"""Feature of a record whose group alone is known."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The kinds of records in each group, and the sensitive values of the group.

    A kind is the set of records of one group with equal features. An entry is a pair of a kind and a value of
    its group; the entries of a kind are consecutive, in the order of the values.

    Attributes
    ----------
    codes: features of each kind, shape (kinds, attributes), int64; -1 where a feature is not known.
    group: of each kind, shape (kinds,), int64, ascending; each group has a kind.
    counts: records of each kind, shape (kinds,), int64, positive.
    starts: values of group i are ``values[starts[i]:starts[i + 1]]``, shape (groups + 1,), int64.
    values, value_counts: sensitive values and the number of each in the group, shape (all values,), int64;
        the numbers of a group sum to its records.
    size: number of sensitive values.
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
        """Number of records in all groups."""
        return int(self.counts.sum())

    @property
    def number(self) -> int:
        """Number of groups."""
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each group, shape (groups,), int64."""
        return count(self.group, self.counts, self.number)

    @cached_property
    def first(self) -> IntArray:
        """First entry of each kind, then the number of entries, shape (kinds + 1,), int64."""
        return np.concatenate([[0], np.cumsum(np.diff(self.starts)[self.group])]).astype(np.int64)

    @cached_property
    def kind(self) -> IntArray:
        """Kind of each entry, shape (entries,), int64."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.first))

    @cached_property
    def _place(self) -> IntArray:
        """Position in ``values`` of each entry's value, shape (entries,), int64."""
        within = np.arange(self.first[-1]) - self.first[self.kind]
        return self.starts[self.group[self.kind]] + within

    @cached_property
    def entry_values(self) -> IntArray:
        """Sensitive value of each entry, shape (entries,), int64."""
        return self.values[self._place]

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each entry's value in its group, shape (entries,): its probability under random worlds."""
        return self.value_counts[self._place] / self.sizes[self.group[self.kind]]

    @cached_property
    def open(self) -> BoolArray:
        """Which groups have several kinds and several values, shape (groups,), bool."""
        kinds = np.bincount(self.group, minlength=self.number)
        return (kinds > 1) & (np.diff(self.starts) > 1)

    def entries_of(self, kinds: IntArray, values: IntArray) -> IntArray:
        """Return the entry of each pair of a kind and a value, shape (pairs,), int64; -1 for none."""
        keys = self.kind * self.size + self.entry_values
        wanted = kinds * self.size + values
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(keys[place] == wanted, place, -1)


def groups_of(
    codes: IntArray, group: IntArray, counts: IntArray, values: tuple[IntArray, IntArray, IntArray], size: int
) -> tuple[Groups, IntArray]:
    """Return records in groups; sensitive values without a known record get a kind of unknown features.

    Parameters
    ----------
    codes: features, shape (items, attributes), int64, at least -1.
    group: of each item, shape (items,), int64.
    counts: records of each item, shape (items,), int64.
    values: group, value and count of each sensitive value of a group, shape (entries,), int64 each; distinct
        pairs.
    size: number of sensitive values.

    Returns
    -------
    The groups, and the kind of each item, shape (items,), int64.
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
