"""Units of protection other than records: persons or households with several records.

Distinct units do not add up: a person in two distinct rows counts once in a class that has both. Units whose
records are all in one distinct row do, and are plain counts; only the others are kept as pairs of a row and
a unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from anonymizer.model.arrays import (
    BLOCK,
    DENSE_LIMIT,
    SPACE,
    BoolArray,
    IntArray,
    add_up,
    count,
    group_keys,
    number_lists,
    numbered,
    starts_of,
)

RECORD: Final = "record"
"""The unit of a constraint that counts records."""

PERSON: Final = "person"
"""The unit that constraints count by default where the config names its column."""

HOUSEHOLD: Final = "household"
"""The unit of the persons who live together."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units that have records in each of some items: distinct rows of a table, or records.

    Attributes
    ----------
    alone: units of each item whose records are all in it, shape (items,), int64.
    items: item of each pair of an item and another unit, shape (pairs,), int64, ascending;
        pairs are distinct.
    keys: unit of each pair, shape (pairs,), int64, each in [0, space).
    space: number of possible keys, at least 1.
    records: of the unit of each pair in its item, shape (pairs,), int64; None if nothing counts them. Where
        they are counted, units that are alone have one record each, and others stay pairs.
    """

    alone: IntArray
    items: IntArray
    keys: IntArray
    space: int
    records: IntArray | None = field(default=None, kw_only=True)

    @classmethod
    def of_items(
        cls,
        item_of: IntArray,
        unit_of: IntArray,
        items: int,
        counts: IntArray | None = None,
        *,
        recorded: bool = False,
    ) -> Units:
        """Return the units of records, or of groups of records of one item and unit.

        Parameters
        ----------
        item_of: item of each group, shape (groups,), int64; every item has one.
        unit_of: unit of each group, shape (groups,), int64; if negative, each record is a unit of its own.
        items: number of items.
        counts: records of each group, shape (groups,), int64; None for one each.
        recorded: whether to count the records of each unit in each item.
        """
        known = unit_of >= 0
        space = int(unit_of.max(initial=0)) + 1
        weights = np.ones(len(item_of), dtype=np.int64) if counts is None else counts
        records = weights[known] if recorded else None
        alone = count(item_of[~known], weights[~known], items)
        own, keys, records = _joined_pairs(item_of[known], unit_of[known], records, items, space)
        return cls(alone, own, keys, space, records=records).folded()

    @classmethod
    def of_parts(cls, unit_of: IntArray, counts: IntArray) -> Units:
        """Return the units of items whose records all belong to one unit, or each to one of its own.

        Items of one unit keep its key, also a single one, so that they can be divided.

        Parameters
        ----------
        unit_of: unit of each item, shape (items,), int64; if negative, each record is a unit of its own.
        counts: records of each item, shape (items,), int64.
        """
        known = unit_of >= 0
        space = int(unit_of.max(initial=0)) + 1
        return cls(np.where(known, 0, counts), np.flatnonzero(known), unit_of[known], space)

    def of_each(self, counts: IntArray) -> IntArray:
        """Return the unit of each item as ``of_parts`` takes it, shape (items,), int64.

        Parameters
        ----------
        counts: records of each item, shape (items,), int64.

        Raises
        ------
        ValueError: an item has the records of several units.
        """
        known = self.alone == 0
        if len(self.items) != np.count_nonzero(known) or (known | (self.alone == counts)).sum() < len(known):
            raise ValueError("rows are not divided by units")
        unit_of = np.full(len(known), -1, dtype=np.int64)
        unit_of[self.items] = self.keys
        return unit_of

    def with_records(self, counts: IntArray) -> Units:
        """Return the same with the records of each pair; in rows divided by units, those of its item.

        Parameters
        ----------
        counts: records of each item, shape (items,), int64.

        Raises
        ------
        ValueError: it is unknown how many records each unit has in an item.
        """
        if self.records is not None:
            return self
        self.of_each(counts)
        return replace(self, records=counts[self.items])

    @property
    def number(self) -> int:
        """Number of distinct units."""
        return int(self.alone.sum()) + len(np.unique(self.keys))

    def most_values(self, codes: IntArray) -> int:
        """Return the most distinct values that a unit has in its items.

        Parameters
        ----------
        codes: value of each item, shape (items,), int64.
        """
        size = int(codes.max(initial=0)) + 1
        values = _distinct_keys(self.keys.copy(), codes[self.items], self.space, size)
        return max(int(values.max(initial=0)), 1)

    def folded(self) -> Units:
        """Return the same units, each with a single pair among those that are alone."""
        keys, space = self.keys, self.space
        if space > max(DENSE_LIMIT, 4 * len(keys)):
            keys, distinct = group_keys(keys, space)
            space = len(distinct)
        pairs = np.bincount(keys, minlength=space)
        several = pairs > 1
        if self.records is not None:
            several[keys[self.records > 1]] = True
        stays = several[keys]
        alone = self.alone + np.bincount(self.items[~stays], minlength=len(self.alone)).astype(np.int64)
        numbers, keys = np.cumsum(several) - 1, keys[stays]
        # In blocks, so that all pairs are not held twice.
        for begin in range(0, len(keys), BLOCK):
            block = slice(begin, begin + BLOCK)
            keys[block] = numbers[keys[block]]
        records = _some(self.records, stays)
        return Units(alone, self.items[stays], keys, max(int(several.sum()), 1), records=records)

    def at(self, chosen: IntArray | BoolArray) -> Units:
        """Return the units of some items, renumbered in the order given; without other items nothing folds.

        Parameters
        ----------
        chosen: positions, shape (chosen,), or which items, shape (items,), bool.
        """
        if chosen.dtype == np.bool_:
            inside = chosen[self.items]
            numbers = np.cumsum(chosen) - 1
            items = numbers[self.items[inside]].astype(np.int64)
            records = _some(self.records, inside)
            return Units(self.alone[chosen], items, self.keys[inside], self.space, records=records)
        starts = np.searchsorted(self.items, np.arange(len(self.alone) + 1))
        lengths = np.diff(starts)[chosen]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(starts[chosen] - (ends - lengths), lengths)
        owners = np.repeat(np.arange(len(chosen)), lengths)
        records = _some(self.records, places)
        return Units(self.alone[chosen], owners, self.keys[places], self.space, records=records)

    def parts(self, chosen: IntArray, counts: IntArray, whole: IntArray) -> Units:
        """Return the units of parts of some items.

        Parameters
        ----------
        chosen: item of each part, shape (parts,), int64.
        counts: records of each part, shape (parts,), int64, positive.
        whole: records of each item, shape (items,), int64.

        Raises
        ------
        ValueError: whose records are in a part is unknown.
        """
        own, before = self.at(chosen), whole[chosen]
        partial = counts != before
        if not partial.any():
            return own
        single = own.alone == before
        of_one = (own.alone == 0) & (np.bincount(own.items, minlength=len(chosen)) == 1)
        if not (single | of_one)[partial].all():
            raise ValueError("whose records of a distinct row remain is unknown, so units cannot be counted")
        records = own.records
        if records is not None:
            records = np.where(partial[own.items], counts[own.items], records)
        return replace(own, alone=np.where(single, counts, own.alone), records=records)

    def merged(self, group_of: IntArray, groups: int) -> Units:
        """Return the units of groups of items.

        Parameters
        ----------
        group_of: group of each item, shape (items,), int64.
        """
        pairs = group_of[self.items], self.keys, self.records
        own, keys, records = _joined_pairs(*pairs, groups, self.space)
        alone = count(group_of, self.alone, groups)
        return Units(alone, own, keys, self.space, records=records).folded()

    def counted(self, group_of: IntArray, groups: int) -> IntArray:
        """Return the number of distinct units in each group of items, shape (groups,), int64.

        Parameters
        ----------
        group_of: group of each item, shape (items,), int64.
        """
        found = _distinct_keys(group_of[self.items], self.keys, groups, self.space)
        found += self._alone_in(group_of, groups)
        return found

    def counted_by_value(
        self, group_of: IntArray, groups: int, codes: IntArray, size: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Count distinct units in each group of items, and in each group and value; one sort does both.

        Parameters
        ----------
        group_of: group of each item, shape (items,), int64.
        codes: value of each item, shape (items,), int64, each in [0, size).

        Returns
        -------
        Units of each group, shape (groups,); the entries, group x size + value, that an item has, ascending,
        and the units of each, both of shape (entries,), all int64.
        """
        entries, space = group_of * size + codes, max(groups * size, 1)
        unit_bits, value_bits = (self.space - 1).bit_length(), (size - 1).bit_length()
        if space > max(DENSE_LIMIT, 4 * len(codes)) or max(groups, 1) << (unit_bits + value_bits) >= SPACE:
            entry_of, distinct = group_keys(entries, space)
            return self.counted(group_of, groups), distinct, self.counted(entry_of, len(distinct))
        packed = group_of[self.items]
        packed <<= unit_bits
        packed |= self.keys
        packed <<= value_bits
        packed |= codes[self.items]
        packed.sort()
        own = packed[starts_of(packed, value_bits)] >> (unit_bits + value_bits)
        sizes = np.bincount(own, minlength=groups) + self._alone_in(group_of, groups)
        packed = packed[starts_of(packed)]
        own = packed >> (unit_bits + value_bits)
        own *= size
        packed &= (1 << value_bits) - 1
        own += packed
        counts = np.bincount(own, minlength=space) + self._alone_in(entries, space)
        distinct = np.flatnonzero(counts)
        return sizes, distinct, counts[distinct]

    @cached_property
    def _lone(self) -> IntArray:
        """Items with units that are alone, shape (lone items,), int64."""
        return np.flatnonzero(self.alone)

    def _alone_in(self, group_of: IntArray, groups: int) -> IntArray:
        return count(group_of[self._lone], self.alone[self._lone], groups)

    @property
    def one_by_one(self) -> tuple[IntArray, IntArray, IntArray, IntArray | None]:
        """The item and the number of the unit of each pair, units of each number, and records of each pair.

        Units that are alone in an item share a number. The arrays have the shapes (pairs,), (pairs,),
        (numbers,) and (pairs,), int64. Records are those of one unit; None if they are not counted.
        """
        lone = self._lone
        keys, distinct = group_keys(self.keys, self.space)
        records = self.records
        return (
            np.concatenate([lone, self.items]),
            np.concatenate([np.arange(len(lone)), len(lone) + keys]),
            np.concatenate([self.alone[lone], np.ones(len(distinct), dtype=np.int64)]),
            None if records is None else np.concatenate([np.ones(len(lone), dtype=np.int64), records]),
        )

    def beside(self, other: Units) -> Units:
        """Return these followed by the units of other items of the same table."""
        known = self.records is not None and other.records is not None
        return Units(
            np.concatenate([self.alone, other.alone]),
            np.concatenate([self.items, other.items + len(self.alone)]),
            np.concatenate([self.keys, other.keys]),
            max(self.space, other.space),
            records=np.concatenate([self.records, other.records]) if known else None,
        )


UnitsByName = Mapping[str, Units]
"""Units of the same items by the name that constraints use."""


def numbered_by_content(content: IntArray, units: Mapping[str, IntArray]) -> dict[str, IntArray]:
    """Number units by what is released of their records, so that the spelling of their keys decides nothing.

    Units that this does not tell apart keep their order: exchanging them changes no release, as units are
    nested, or have the same records.

    Parameters
    ----------
    content: number of what is released of each record, shape (records,), int64.
    units: unit of each record by the name of the unit, shape (records,), int64; negative without one.
    """
    colour, colours = content, 0
    while (number := int(colour.max(initial=-1)) + 1) > colours:
        colours = number
        lists = (_content_of(own, colour)[np.where(own >= 0, own, -1)] for own in units.values())
        colour = numbered([colour, *lists], len(content))[0]
    found = {}
    # Those of a larger unit first, so that the units within it are together.
    for name, own in sorted(units.items(), key=lambda each: len(np.unique(each[1][each[1] >= 0]))):
        known = own >= 0
        place = np.argsort(_content_of(own, colour)[:-1], kind="stable")
        numbers = np.empty(len(place) + 1, dtype=np.int64)
        numbers[place], numbers[-1] = np.arange(len(place)), -1
        found[name] = _without_gaps(numbers[np.where(known, own, -1)])
        colour = numbered([colour, found[name] + 1], len(content))[0]
    return {name: found[name] for name in units}


def _content_of(unit_of: IntArray, colour: IntArray) -> IntArray:
    """Return the number of each unit's list of colours, from 1; 0 of one without records, and at the end."""
    order = np.lexsort((colour, unit_of))
    order = order[unit_of[order] >= 0]
    found = np.zeros(int(unit_of.max(initial=-1)) + 2, dtype=np.int64)
    if len(order):
        owner = unit_of[order]
        lists = number_lists(owner, colour[order], int(colour.max()) + 1)
        found[owner[starts_of(owner)]] = lists + 1
    return found


def _without_gaps(unit_of: IntArray) -> IntArray:
    """Number units without gaps, in their order; negative without one."""
    known = unit_of >= 0
    numbers = np.full(len(unit_of), -1, dtype=np.int64)
    numbers[known] = np.unique(unit_of[known], return_inverse=True)[1].reshape(-1)
    return numbers


def distinct_pairs(groups: IntArray, keys: IntArray, number: int, space: int) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of group and key, sorted by group; overwrites ``groups``."""
    bits = (space - 1).bit_length()
    if max(number, 1) << bits >= SPACE:
        keys, distinct = group_keys(keys, space)
        own, found = distinct_pairs(groups, keys, number, len(distinct))
        return own, distinct[found]
    packed = _packed_pairs(groups, keys, bits)
    del groups, keys
    starts, pairs = starts_of(packed), 0
    # The distinct ones move to the front, in blocks, so that the array is not copied.
    for begin in range(0, len(packed), BLOCK):
        block = slice(begin, begin + BLOCK)
        chosen = packed[block][starts[block]]
        packed[pairs : pairs + len(chosen)] = chosen
        pairs += len(chosen)
    del starts
    own = packed[:pairs] >> bits
    found = packed if pairs == len(packed) else packed[:pairs].copy()
    found &= (1 << bits) - 1
    return own, found


def _joined_pairs(
    groups: IntArray, keys: IntArray, records: IntArray | None, number: int, space: int
) -> tuple[IntArray, IntArray, IntArray | None]:
    """Return the distinct pairs of group and key, sorted by group, and their records; overwrites ``groups``.

    Parameters
    ----------
    records: of each given pair, positive; None if nothing counts them.
    """
    if records is None:
        return *distinct_pairs(groups, keys, number, space), None
    if max(number, 1) * space >= SPACE:
        keys, distinct = group_keys(keys, space)
        own, found, records = _joined_pairs(groups, keys, records, number, len(distinct))
        return own, distinct[found], records
    pairs, records = add_up(groups * space + keys, records, max(number, 1) * space)
    return pairs // space, pairs % space, records


def _some(records: IntArray | None, pairs: IntArray | BoolArray) -> IntArray | None:
    return None if records is None else records[pairs]


def _packed_pairs(groups: IntArray, keys: IntArray, bits: int) -> IntArray:
    """Return the sorted pairs of group and key, which has so many bits; overwrites ``groups``."""
    groups <<= bits
    groups |= keys
    groups.sort()
    return groups


def _distinct_keys(groups: IntArray, keys: IntArray, number: int, space: int) -> IntArray:
    """Return the number of distinct keys of each group, shape (number,), int64; overwrites ``groups``."""
    bits = (space - 1).bit_length()
    if max(number, 1) << bits >= SPACE:
        keys, distinct = group_keys(keys, space)
        return _distinct_keys(groups, keys, number, len(distinct))
    packed = _packed_pairs(groups, keys, bits)
    firsts = np.flatnonzero(starts_of(packed, bits))
    found = np.zeros(number, dtype=np.int64)
    if len(firsts):
        found[packed[firsts] >> bits] = np.add.reduceat(starts_of(packed), firsts, dtype=np.int64)
    return found
