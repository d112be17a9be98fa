"""What is counted of some items: their records, the units that have these, and which items go together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.model.arrays import (
    BoolArray,
    IntArray,
    Packing,
    add_up,
    count,
    group_keys,
    number_lists,
    numbered,
)
from anonymizer.model.households import MEMBERS, Households
from anonymizer.model.units import HOUSEHOLD, PERSON, Units, UnitsByName, distinct_pairs


@dataclass(frozen=True, eq=False)
class UnitKeys:
    """The unit of each of some items, none of which has the records of several, by the name of the unit.

    Attributes
    ----------
    by_name: shape (items,), int64; negative where each record is a unit of its own, see ``Units.of_each``.
    """

    by_name: Mapping[str, IntArray]

    def __iter__(self) -> Iterator[IntArray]:
        """Yield the units of each name as numbers from 0, the same for all that are units of their own."""
        return (own + 1 for own in self.by_name.values())

    def __bool__(self) -> bool:
        """Return whether any units are counted."""
        return bool(self.by_name)

    def at(self, chosen: IntArray | BoolArray) -> UnitKeys:
        """Return the units of some items."""
        return UnitKeys({name: own[chosen] for name, own in self.by_name.items()})

    def measure(self, chosen: IntArray, records: IntArray) -> Measure:
        """Return what is counted of some records of items, both of shape (chosen,)."""
        units = {name: Units.of_parts(own[chosen], records) for name, own in self.by_name.items()}
        return Measure(records, units)


@dataclass(frozen=True, eq=False)
class Measure:
    """What is counted of some items, such as the distinct rows of a table.

    Attributes
    ----------
    records: of each item, shape (items,), int64.
    units: that have these, by the names that constraints use; empty where only records are counted.
    ties: which items are suppressed together; None where each may be suppressed alone.
    row_of: distinct row of each item if rows are divided by units or weights, shape (items,), int64,
        ascending; None if they are distinct.
    """

    records: IntArray
    units: UnitsByName = field(default_factory=dict)
    ties: Ties | None = None
    row_of: IntArray | None = None

    @classmethod
    def of_owners(
        cls,
        owners: Mapping[str, IntArray],
        records: IntArray,
        recorded: Collection[str],
        linked: str | None = None,
    ) -> Measure:
        """Return the measure of items whose records are each of one unit, with the members of households.

        Parameters
        ----------
        owners: unit of each item by the name of the unit, shape (items,), int64; if negative, each record is
            a unit of its own.
        records: of each item, shape (items,), int64.
        recorded: names of units whose records in each item are counted.
        linked: the unit whose records a release links; None without.
        """
        items, size = np.arange(len(records)), len(records)
        units = {
            name: Units.of_items(items, own, size, records, recorded=name in recorded)
            for name, own in owners.items()
        }
        if HOUSEHOLD in owners:
            persons = owners.get(PERSON)
            units[MEMBERS] = Households.of_records(items, owners[HOUSEHOLD], size, records, persons)
        if linked is None:
            return cls(records, units)
        own = owners[linked]
        ties = Ties(own, int(own.max(initial=-1)) + 1, np.where(own < 0, 1, records))
        return cls(records, units, ties)

    @property
    def plain(self) -> bool:
        """Whether nothing but records is counted."""
        return not self.units

    @property
    def linked(self) -> bool:
        """Whether a release links the records of a unit."""
        return self.ties is not None and self.ties.records is not None

    @property
    def divided(self) -> bool:
        """Whether it is known whose the records of each item are, so that parts of it can be published."""
        try:
            return all(len(own) for own in self.keys().by_name.values())
        except ValueError:
            return False

    def keys(self, names: Iterable[str] | None = None) -> UnitKeys:
        """Return the unit of each item; of all names, or of some.

        Raises
        ------
        ValueError: an item has the records of several units.
        """
        chosen = self.units if names is None else names
        return UnitKeys({name: self.units[name].of_each(self.records) for name in chosen})

    def with_units(self, units: UnitsByName) -> Measure:
        """Return the measure with further units, or with others of the same names."""
        return replace(self, units={**self.units, **units})

    def counted(self, unit: str | None) -> IntArray:
        """Return the distinct units of each item, shape (items,), int64; None counts records."""
        if unit is None:
            return self.records
        return self.units[unit].counted(np.arange(len(self.records)), len(self.records))

    def number(self, unit: str, items: BoolArray) -> int:
        """Return the number of distinct units with records in some items, shape (items,), bool."""
        return self.units[unit].at(items).number

    def at(self, chosen: IntArray | BoolArray) -> Measure:
        """Return the measure of some whole items, without ties."""
        return Measure(self.records[chosen], {name: own.at(chosen) for name, own in self.units.items()})

    def parts(self, chosen: IntArray, records: IntArray) -> Measure:
        """Return the measure of parts of items, without ties.

        Parameters
        ----------
        chosen: item of each part, shape (parts,), int64.
        records: of each part, shape (parts,), int64, positive.

        Raises
        ------
        ValueError: whose records are in a part is unknown.
        """
        units = {name: own.parts(chosen, records, self.records) for name, own in self.units.items()}
        return Measure(records, units)

    def untied(self) -> Measure:
        """Return the measure of the same items, each of which may be suppressed alone."""
        return Measure(self.records, self.units)

    def beside(self, other: Measure) -> Measure:
        """Return these items followed by others, with the same names of units."""
        units = {name: own.beside(other.units[name]) for name, own in self.units.items()}
        return Measure(np.concatenate([self.records, other.records]), units)

    def merged(self, packing: Packing, *, divided: bool = False) -> tuple[IntArray, Measure]:
        """Add up items with equal keys, but for those that are tied to others.

        Parameters
        ----------
        packing: of the items; no column can be added afterwards.
        divided: whether items are divided by units, and only those of the same units are added up.

        Returns
        -------
        Key of each merged item, shape (merged items,), int64, ascending, distinct without ties; and what is
        counted of these.

        Raises
        ------
        ValueError: an item that should have one unit has several.
        """
        space = packing.space
        keys = packing.take_keys()
        if self.plain:
            keys, records = add_up(keys, self.records, space)
            return keys, Measure(records, ties=self.ties)
        groups, distinct = group_keys(keys, space)
        if divided:
            own = DividedRows.merged(groups, self)
            return distinct[own.row_of], replace(own.measure, ties=self.ties, row_of=None)
        ties = self.ties
        if ties is not None:
            groups, group_of, ties = ties.merged(groups, len(distinct))
            distinct = distinct[group_of]
        number = len(distinct)
        units = {name: own.merged(groups, number) for name, own in self.units.items()}
        return distinct, Measure(count(groups, self.records, number), units, ties)


@dataclass(frozen=True, eq=False)
class DividedRows:
    """Distinct rows divided by the units of their records, so that parts of a row have known units.

    Units with one record in all need no part of their own: any such record of a row can stand for another.

    Attributes
    ----------
    of_record: part of each record, or of each merged item, shape (records,), int64.
    row_of: distinct row of each part, shape (parts,), int64, ascending.
    measure: of the parts, none of which has the records of several units.
    """

    of_record: IntArray
    row_of: IntArray
    measure: Measure

    @classmethod
    def of(
        cls, row_of: IntArray, units: Mapping[str, IntArray], recorded: Collection[str] = ()
    ) -> DividedRows:
        """Divide rows.

        Parameters
        ----------
        row_of: distinct row of each record, shape (records,), int64.
        units: unit of each record by the name of the unit, shape (records,), int64; if negative, the record
            is a unit of its own.
        recorded: names of units whose records in each row are counted.
        """
        several = {}
        for name, own in units.items():
            known = own >= 0
            with_others = np.bincount(own[known])[np.where(known, own, 0)] > 1 if known.any() else known
            several[name] = np.where(known & with_others, own, -1)
        return cls._of(row_of, np.ones(len(row_of), dtype=np.int64), UnitKeys(several), recorded)

    @classmethod
    def merged(cls, group_of: IntArray, measure: Measure) -> DividedRows:
        """Merge the items of each group that have the same units.

        Parameters
        ----------
        group_of: group of each item, shape (items,), int64.
        measure: of the items.

        Raises
        ------
        ValueError: an item has the records of several units.
        """
        recorded = [name for name, own in measure.units.items() if own.records is not None]
        return cls._of(group_of, measure.records, measure.keys(), recorded)

    @classmethod
    def _of(
        cls, row_of: IntArray, records: IntArray, keys: UnitKeys, recorded: Collection[str] = ()
    ) -> DividedRows:
        part_of, first = numbered([row_of, *keys], len(row_of))
        merged = count(part_of, records, len(first))
        found = keys.measure(first, merged)
        found = found.with_units({name: found.units[name].with_records(merged) for name in recorded})
        rows = row_of[first]
        return cls(part_of, rows, replace(found, row_of=rows))


@dataclass(frozen=True, eq=False)
class Ties:
    """Which items are suppressed together, as their records are of one unit.

    An item has either all records that one unit has there, or only units whose records are all there.

    Attributes
    ----------
    of_item: number of the unit of each item, shape (items,), int64; -1 for units that have no other item.
    number: of units that have several items.
    records: records of each unit of an item, shape (items,), int64, equal for all its units, if a release
        links the records of a unit; else None.
    """

    of_item: IntArray
    number: int
    records: IntArray | None = None

    @classmethod
    def of_records(
        cls, row_of: IntArray, unit_of: IntArray, rows: int, *, linked: bool = False
    ) -> tuple[IntArray, IntArray, Ties]:
        """Divide the records of rows into items.

        Parameters
        ----------
        row_of: row of each record, shape (records,), int64; every row has one.
        unit_of: unit of each record, shape (records,), int64; if negative, it is a unit of its own.
        linked: whether a release links the records of a unit.

        Returns
        -------
        Item of each record, shape (records,), int64, and row of each item, shape (items,), int64, ascending.
        """
        records = np.ones(len(row_of), dtype=np.int64) if linked else None
        return cls(unit_of, int(unit_of.max(initial=-1)) + 1, records).merged(row_of, rows)

    def merged(self, group_of: IntArray, groups: int) -> tuple[IntArray, IntArray, Ties]:
        """Merge the items of each group, but for those of units that have items in other groups too.

        Parameters
        ----------
        group_of: group of each item, shape (items,), int64.

        Returns
        -------
        New item of each item, shape (items,), int64; group of each new item, ascending; and their ties.
        """
        tied = self.of_item >= 0
        _, keys = distinct_pairs(group_of[tied], self.of_item[tied], groups, max(self.number, 1))
        several = np.bincount(keys, minlength=self.number + 1) > 1
        numbers = np.where(several, np.cumsum(several) - 1, -1)
        own = numbers[self.of_item]
        number = int(several.sum())
        items, distinct = group_keys(group_of * (number + 1) + own + 1, groups * (number + 1))
        if self.records is None:
            return items, distinct // (number + 1), Ties(distinct % (number + 1) - 1, number)
        # Units that are alone are in one item only if they have equally many records there.
        totals = np.append(count(self.of_item[tied], self.records[tied], self.number), 0)
        alone = np.where(own >= 0, 0, np.where(tied, totals[self.of_item], self.records))
        most = int(alone.max(initial=0)) + 1
        items, pairs = group_keys(items * most + alone, len(distinct) * most)
        distinct = distinct[pairs // most]
        together = count(items, np.where(own >= 0, self.records, 0), len(pairs))
        ties = Ties(distinct % (number + 1) - 1, number, np.maximum(pairs % most, together))
        return items, distinct // (number + 1), ties

    def lists(self, row_of: IntArray, rows: int) -> IntArray:
        """Number the sorted lists of rows that units have; units with equal lists get equal numbers.

        Parameters
        ----------
        row_of: published row of each item, shape (items,), int64.

        Returns
        -------
        The number of the list of each item's units, shape (items,), int64.
        """
        assert self.records is not None, "only where a release links the records of a unit"
        loose = self.of_item < 0
        unit_of = np.where(loose, self.number + np.cumsum(loose) - 1, self.of_item)
        unit_of, present = group_keys(unit_of, self.number + int(loose.sum()))
        return lists_of_units(unit_of, len(present), row_of, rows, self.records)

    def at(self, items: BoolArray) -> Ties:
        """Return the ties among some items, shape (items,)."""
        return Ties(self.of_item[items], self.number, None if self.records is None else self.records[items])

    def joined(self, items: BoolArray) -> BoolArray:
        """Return some items with all others of their units, shape (items,).

        Parameters
        ----------
        items: which, shape (items,).
        """
        taken = np.zeros(self.number + 1, dtype=np.bool_)
        taken[self.of_item[items]] = True
        taken[-1] = False
        return items | taken[self.of_item]


def lists_of_units(unit_of: IntArray, units: int, row_of: IntArray, rows: int, records: IntArray) -> IntArray:
    """Number the sorted lists of rows that units have; units with equal lists get equal numbers.

    Parameters
    ----------
    unit_of: unit of each item, shape (items,), int64; every unit has one.
    row_of: row of each item, shape (items,), int64, each in [0, rows).
    records: of the unit in each item, shape (items,), int64, positive.

    Returns
    -------
    The number of the list of each item's unit, from 0, shape (items,), int64.
    """
    keys, records = add_up(unit_of * rows + row_of, records, units * rows)
    owner, most = keys // rows, int(records.max(initial=0)) + 1
    parts, distinct = group_keys(keys % rows * most + records, rows * most)
    return number_lists(owner, parts, len(distinct))[unit_of]
