"""Equivalence classes: their sizes, counts of sensitive values, and measured constraints.

Row statistics are mergeable: those of two sets of rows give those of their union.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from anonymizer.model.arrays import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    Packing,
    add_up,
    count,
    group_keys,
    numbered,
    starts_of,
)
from anonymizer.model.households import MEMBERS, HouseholdClasses, Households
from anonymizer.model.labels import begins_with_number, in_natural_order
from anonymizer.model.measure import Measure
from anonymizer.model.population import PopulationSizes
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SensitiveAttribute, Table


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference distribution of a sensitive attribute, which classes are compared with.

    Attributes
    ----------
    counts: records (or units) of the reference table with each sensitive value, shape (values,), int64, in
        the order of the column's codes; a missing value, if any, comes last.
    units: number of units, each of which may have several values; None if records are counted.
    by_unit: the distributions over units, by the name of the unit.
    """

    counts: IntArray
    units: int | None = None
    by_unit: Mapping[str, Reference] = field(default_factory=dict)

    def of(self, unit: str | None) -> Reference:
        """Return the distribution over a unit, None for records."""
        return self if unit is None else self.by_unit[unit]

    def equals(self, other: Reference) -> bool:
        """Return whether both are the same distributions, of records and of every unit."""
        return (
            self.units == other.units
            and np.array_equal(self.counts, other.counts)
            and all(own.equals(other.by_unit[name]) for name, own in self.by_unit.items())
        )

    @cached_property
    def total(self) -> int:
        """Sum of the counts: the number of records, or of pairs of a unit and one of its values."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """Number of records or units of the reference table."""
        return self.total if self.units is None else self.units

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each value in the records or units, at least one, shape (values,), float64."""
        return np.asarray(self.counts / self.size, dtype=np.float64)

    @cached_property
    def present(self) -> BoolArray:
        """Which values occur in the reference table, shape (values,)."""
        return self.counts > 0


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """The records (or units) with each sensitive value in each class: a sparse matrix with sorted rows.

    Attributes
    ----------
    attribute: the sensitive attribute.
    starts: entries of class i are ``starts[i]:starts[i + 1]``, shape (classes + 1,), int64; none is empty.
    values: value code of each entry, shape (entries,), int64, ascending within a class.
    counts: records or units of each entry, shape (entries,), int64, positive.
    """

    attribute: SensitiveAttribute
    starts: IntArray
    values: IntArray
    counts: IntArray

    @cached_property
    def owners(self) -> IntArray:
        """Class of each entry, shape (entries,), int64."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of_class(self, position: int) -> list[tuple[int, int]]:
        """Return the value codes and counts of a class as Python integers, for exact arithmetic."""
        span = slice(self.starts[position], self.starts[position + 1])
        return list(zip(self.values[span].tolist(), self.counts[span].tolist(), strict=True))

    def reference(self) -> Reference:
        """Return the distribution of records over all classes."""
        return Reference(count(self.values, self.counts, self.attribute.column.size))

    def keep(self, kept: BoolArray) -> SensitiveCounts:
        """Return the counts of some classes; ``kept`` has shape (classes,)."""
        entries = kept[self.owners]
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[kept])])
        return SensitiveCounts(self.attribute, starts, self.values[entries], self.counts[entries])


@dataclass(frozen=True, eq=False)
class UnitEntries:
    """In which classes, and with which values, units have records.

    Attributes
    ----------
    class_of, unit_of: class and number of the unit of each entry, shape (entries,), int64; entries may
        repeat, and every number has one.
    people: units that each number stands for, shape (numbers,), int64; several only if all of them have the
        same entries.
    values: code of the sensitive value of each entry, shape (entries,), int64; None without an attribute.
    records: of each entry, for each of the units that its number stands for, shape (entries,), int64; None if
        it is unknown how many records a unit has in a class.
    """

    class_of: IntArray
    unit_of: IntArray
    people: IntArray
    values: IntArray | None = None
    records: IntArray | None = None

    @cached_property
    def pairs(self) -> IntArray:
        """First entry of each number and class, by number, then by class, shape (pairs,), int64."""
        keys = self.unit_of * (int(self.class_of.max()) + 1) + self.class_of
        if (keys[1:] < keys[:-1]).any():
            return numbered([self.unit_of, self.class_of], len(keys))[1]
        return np.flatnonzero(starts_of(keys))

    @cached_property
    def sizes(self) -> IntArray:
        """Units of each class, shape (classes,), int64."""
        units = self.people[self.unit_of[self.pairs]]
        return count(self.class_of[self.pairs], units, int(self.class_of.max()) + 1)

    @property
    def shares(self) -> tuple[IntArray, IntArray] | None:
        """Own records of a unit of each pair, and all records of the class, both of shape (pairs,), int64.

        None if it is unknown how many records a unit has in a class.
        """
        if self.records is None:
            return None
        pair_of = numbered([self.unit_of, self.class_of], len(self.unit_of))[0]
        own = count(pair_of, self.records, len(self.pairs))
        whole = count(self.class_of, self.records * self.people[self.unit_of], len(self.sizes))
        return own, whole[self.class_of[self.pairs]]


@dataclass(frozen=True, eq=False)
class ClassView:
    """The classes with the sensitive attribute of one privacy model.

    Attributes
    ----------
    sizes: n_E, the records or units in each class, shape (classes,), int64, positive.
    sensitive: counts of the model's sensitive attribute, None for a model without one. A unit with several
        values is counted with each, so that the counts of a class may add up to more than its size.
    missing: code of the missing value if it does not count as a distinct value, else None.
    remembered: what models have computed of these classes, by model and reference.
    population: people of the population in each class, None if unknown.
    households: of the release by class, None unless the model needs them.
    entries: whose records are in which classes, None unless the model needs them and counts units.
    values: what the classes publish, None if unknown.
    """

    sizes: IntArray
    sensitive: SensitiveCounts | None = None
    missing: int | None = None
    remembered: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    population: PopulationSizes | None = None
    households: HouseholdClasses | None = None
    values: ClassValues | None = None
    entries: UnitEntries | None = None

    def keep(self, kept: BoolArray) -> ClassView:
        """Return some of the classes; ``kept`` has shape (classes,)."""
        sensitive = None if self.sensitive is None else self.sensitive.keep(kept)
        people = None if self.population is None else self.population.keep(kept)
        values = None if self.values is None else self.values.at(kept)
        return ClassView(self.sizes[kept], sensitive, self.missing, population=people, values=values)

    @property
    def people(self) -> PopulationSizes:
        """The people of the population in each class, at least those of the sample where estimated."""
        assert self.population is not None, "the model was given no population"
        return self.population.at_least_sample(self.sizes)

    @property
    def counted(self) -> SensitiveCounts:
        """The counts of the sensitive attribute, which the model must have."""
        assert self.sensitive is not None, "the model was bound to no sensitive attribute"
        return self.sensitive

    @classmethod
    def joined(cls, views: Sequence[ClassView]) -> ClassView:
        """Return the classes of several views of one model, one after the other."""
        first, sizes = views[0], np.concatenate([each.sizes for each in views])
        if first.sensitive is None:
            return cls(sizes)
        parts = [each.counted for each in views]
        before = np.cumsum([0, *(len(each.values) for each in parts)])
        starts = [each.starts[:-1] + start for each, start in zip(parts, before[:-1], strict=True)]
        counts = SensitiveCounts(
            first.sensitive.attribute,
            np.concatenate([*starts, before[-1:]]),
            np.concatenate([each.values for each in parts]),
            np.concatenate([each.counts for each in parts]),
        )
        return cls(sizes, counts, first.missing)

    @cached_property
    def totals(self) -> IntArray:
        """Sum of the counts of each class, by which they become a distribution, shape (classes,), int64."""
        totals: IntArray = np.add.reduceat(self.counted.counts, self.counted.starts[:-1])
        return totals


@dataclass(frozen=True, eq=False)
class CountedClasses:
    """The classes of a view with their sizes, before a model sees them.

    Attributes
    ----------
    sizes: records or units of each class, shape (classes,), int64.
    counts: of the sensitive attribute.
    owner: equivalence class of each class, shape (classes,), int64.
    """

    sizes: IntArray
    counts: SensitiveCounts
    owner: IntArray


@dataclass(frozen=True, eq=False)
class SensitiveCodes:
    """The values of a sensitive attribute for each item.

    Attributes
    ----------
    codes: value code of each item, shape (items,).
    """

    attribute: SensitiveAttribute
    codes: IntArray

    def at(self, items: IntArray | BoolArray) -> SensitiveCodes:
        """Return the values of some items."""
        return SensitiveCodes(self.attribute, self.codes[items])


Knowledge = tuple[frozenset[str], ...]
"""Sets of quasi-identifiers, one of which an adversary knows."""


@dataclass(frozen=True, eq=False)
class ClassValues:
    """What classes publish of each quasi-identifier.

    Attributes
    ----------
    names: of the quasi-identifiers.
    find: returns a code of each published value, none negative, shape (classes, quasi-identifiers); called
        once, and only if needed.
    label: returns the text of each code of each quasi-identifier, in the same way; None if unknown.
    """

    names: Sequence[str]
    find: Callable[[], CodeArray | IntArray]
    label: Callable[[], Sequence[Sequence[str | None]]] | None = None

    @cached_property
    def codes(self) -> CodeArray | IntArray:
        """Code of the published value of each quasi-identifier, shape (classes, quasi-identifiers)."""
        return self.find()

    def at(self, classes: IntArray | BoolArray) -> ClassValues:
        """Return the values of some classes."""
        return ClassValues(self.names, lambda: self.codes[classes], self.label)

    def positions(self, people: FloatArray) -> IntArray:
        """Return the position of each value in an order of its attribute, shape (classes, quasi-identifiers).

        Texts that begin with a number come first, in their natural order, then the others, the most frequent
        first. Positions are of the values that some class publishes, from 0 without gaps, whatever their
        codes.

        Parameters
        ----------
        people: in each class, shape (classes,).
        """
        assert self.label is not None, "the classes were counted without the texts of their values"
        found = np.empty(self.codes.shape, dtype=np.int64)
        for place, texts in enumerate(self.label()):
            present, own = np.unique(self.codes[:, place], return_inverse=True)
            # Rounded, so that values with equally many people are in natural order however they are added.
            frequent = np.bincount(own, weights=people).round(6).tolist()
            shown = [texts[code] or "" for code in present.tolist()]
            rank = {text: number for number, text in enumerate(in_natural_order(shown))}
            keys = [
                (not begins_with_number(text), 0.0 if begins_with_number(text) else -many, rank[text])
                for text, many in zip(shown, frequent, strict=True)
            ]
            found[:, place] = np.argsort(sorted(range(len(keys)), key=keys.__getitem__))[own]
        return found

    def grouped(self, known: Collection[str]) -> tuple[IntArray, IntArray]:
        """Group the classes that publish equal values of the known quasi-identifiers; others are ignored.

        Returns
        -------
        Group of each class, shape (classes,), and the first class of each group, shape (groups,), int64.
        """
        columns = (self.codes[:, place] for place, name in enumerate(self.names) if name in known)
        return numbered(columns, len(self.codes))


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """Classes as an adversary sees them who knows some of the quasi-identifiers.

    Attributes
    ----------
    classes: with equal published values of these.
    owner: of these the one with each class of all quasi-identifiers, shape (classes,), int64.
    """

    classes: Classes
    owner: IntArray


class Classes:
    """The partition of counted items (distinct rows of a table) into classes.

    Parameters
    ----------
    class_of: class of each item, shape (items,), int64; every class has an item.
    measure: what is counted of the items.
    number: number of classes.
    sensitive: the items' sensitive values by attribute name.
    population: people of the population in each class, None if unknown.
    """

    def __init__(
        self,
        class_of: IntArray,
        measure: Measure,
        number: int,
        sensitive: Mapping[str, SensitiveCodes],
        population: PopulationSizes | None = None,
    ) -> None:
        self.measure = measure
        self._class_of = class_of
        self.population = population
        self.number = number
        self._sensitive = sensitive
        self._counted: dict[tuple[str, bool, str | None], CountedClasses] = {}
        self._unit_sizes: dict[str, IntArray] = {}
        self.values: ClassValues | None = None
        """What the classes publish; None where no adversary knows only some of the quasi-identifiers."""
        self.weights: IntArray | None = None
        """Sampling weight of a record of each item, shape (items,), int64; None if unknown."""
        self.remembered: dict[Hashable, Any] = {}
        """What constraints have computed of these classes."""

    @property
    def class_of(self) -> IntArray:
        """Class of each item, shape (items,), int64."""
        return self._class_of

    @property
    def counts(self) -> IntArray:
        """Records of each item, shape (items,), int64."""
        return self.measure.records

    @cached_property
    def sizes(self) -> IntArray:
        """Records in each class, shape (classes,), int64."""
        return count(self.class_of, self.counts, self.number)

    @property
    def records(self) -> int:
        """Number of records in all classes."""
        return int(self.counts.sum())

    @property
    def households(self) -> HouseholdClasses | None:
        """The households by class, None if they are unknown."""
        own = self.measure.units.get(MEMBERS)
        return HouseholdClasses.of(own, self.class_of) if isinstance(own, Households) else None

    def sizes_in(self, unit: str | None) -> IntArray:
        """Return the number of distinct units in each class, shape (classes,), int64; None counts records."""
        if unit is None:
            return self.sizes
        if unit not in self._unit_sizes:
            self._unit_sizes[unit] = self.measure.units[unit].counted(self.class_of, self.number)
        return self._unit_sizes[unit]

    def sensitive_codes(self, name: str) -> IntArray:
        """Return the value code of each item, shape (items,), int64."""
        return self._sensitive[name].codes

    def sensitive_counts(self, name: str, *, combined: bool = False) -> tuple[SensitiveCounts, IntArray]:
        """Count the records of each value of a sensitive attribute in each class.

        Parameters
        ----------
        combined: whether the other sensitive attributes divide classes too, as quasi-identifiers do.

        Returns
        -------
        The counts, and the equivalence class of each of their classes, shape (classes,), int64.
        """
        found = self.counted(name, combined=combined)
        return found.counts, found.owner

    def counted(self, name: str, *, combined: bool = False, unit: str | None = None) -> CountedClasses:
        """Count the units with each value of a sensitive attribute in each class; None counts records."""
        key = (name, combined, unit)
        if key not in self._counted:
            self._counted[key] = self._count(name, combined=combined, unit=unit)
        return self._counted[key]

    def entries(self, unit: str, name: str | None, *, combined: bool = False) -> UnitEntries:
        """Return in which classes, and with which values of a sensitive attribute, units have records.

        Parameters
        ----------
        name: of the attribute, None for the classes alone, with the records that each unit has there.
        combined: as for ``sensitive_counts``.

        Raises
        ------
        ValueError: without an attribute, if it is unknown how many records a unit has in an item.
        """
        units = self.measure.units[unit]
        if name is None:
            items, numbers, people, records = units.with_records(self.counts).one_by_one
            return UnitEntries(self.class_of[items], numbers, people, records=records)
        items, numbers, people, _ = units.one_by_one
        groups = self._divided(name, combined=combined)[0]
        return UnitEntries(groups[items], numbers, people, self.sensitive_codes(name)[items])

    def _divided(self, name: str, *, combined: bool) -> tuple[IntArray, int, IntArray]:
        """Return the part of its class in which each item is, the number of parts, and the class of each.

        Parameters
        ----------
        combined: whether the sensitive attributes other than ``name`` divide classes.
        """
        groups, number, owner = self.class_of, self.number, np.arange(self.number)
        if combined:
            for other in self._sensitive.values():
                if other.attribute.name != name:
                    size = other.attribute.column.size
                    groups, distinct = group_keys(groups * size + other.codes, number * size)
                    owner, number = owner[distinct // size], len(distinct)
        return groups, number, owner

    def _count(self, name: str, *, combined: bool, unit: str | None) -> CountedClasses:
        groups, number, owner = self._divided(name, combined=combined)
        own = self._sensitive[name]
        size = own.attribute.column.size
        if unit is None:
            distinct, counts = add_up(groups * size + own.codes, self.counts, number * size)
        else:
            units = self.measure.units[unit]
            sizes, distinct, counts = units.counted_by_value(groups, number, own.codes, size)
            if not combined:
                self._unit_sizes[unit] = sizes
        owners = distinct // size
        # Adding up entries takes a third of the time of searching for starts.
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=number))])
        if unit is None:
            sizes = np.add.reduceat(counts, starts[:-1]) if combined else self.sizes
        return CountedClasses(
            sizes, SensitiveCounts(own.attribute, starts, distinct - owners * size, counts), owner
        )

    def reference(self, name: str) -> Reference:
        """Return the distribution of a sensitive attribute over all classes, of records and of units.

        A unit in several classes counts once.
        """
        records = self.counted(name).counts.reference()
        if self.measure.plain:
            return records
        whole, size = self.pooled(), self._sensitive[name].attribute.column.size
        by_unit = {}
        for unit in self.measure.units:
            own = whole.counted(name, unit=unit)
            by_unit[unit] = Reference(count(own.counts.values, own.counts.counts, size), int(own.sizes[0]))
        return Reference(records.counts, by_unit=by_unit)

    def with_population(self, population: PopulationSizes) -> Classes:
        """Return the same classes with their people in the population."""
        same = Classes(self.class_of, self.measure, self.number, self._sensitive, population)
        same.values = self.values
        return same

    @cached_property
    def rolled_up(self) -> Classes:
        """The same classes with one item for each class and its sensitive values."""
        packing = Packing(len(self.counts))
        packing.add(self.class_of, max(self.number, 1))
        for each in self._sensitive.values():
            packing.add(each.codes, each.attribute.column.size)
        keys, merged = self.measure.untied().merged(packing)
        codes = packing.unpack(keys).astype(np.int64)
        sensitive = {
            name: SensitiveCodes(each.attribute, codes[:, place])
            for place, (name, each) in enumerate(self._sensitive.items(), start=1)
        }
        return Classes(codes[:, 0], merged, self.number, sensitive)

    def known_by(self, knowledge: Knowledge) -> list[KnownClasses]:
        """Return the classes for each set of known quasi-identifiers; the same at every call.

        They are counted from these classes, and several sets from the classes of all known ones together.
        """
        if knowledge not in self.remembered:
            together = self._known(frozenset().union(*knowledge))
            found = [together]
            if len(knowledge) > 1:
                parts = (together.classes._known(each) for each in knowledge)
                found = [KnownClasses(each.classes, each.owner[together.owner]) for each in parts]
            self.remembered[knowledge] = found
        known: list[KnownClasses] = self.remembered[knowledge]
        return known

    def _known(self, known: frozenset[str]) -> KnownClasses:
        assert self.values is not None, "the classes were counted without their published values"
        owner, first = self.values.grouped(known)
        items = self.rolled_up
        own = Classes(owner[items.class_of], items.measure, len(first), items._sensitive)
        own.values = self.values.at(first)
        return KnownClasses(own, owner)

    def keep(self, kept: BoolArray) -> Classes:
        """Return some classes, renumbered; ``kept`` has shape (classes,)."""
        items = kept[self.class_of]
        part = self._of_items(items, kept, self.measure.at(items))
        numbers = np.cumsum(kept) - 1
        for key, found in self._counted.items():
            inside = kept[found.owner]
            part._counted[key] = CountedClasses(
                found.sizes[inside], found.counts.keep(inside), numbers[found.owner[inside]]
            )
        part._unit_sizes = {unit: sizes[kept] for unit, sizes in self._unit_sizes.items()}
        return part

    def part(self, counts: IntArray) -> tuple[Classes, IntArray]:
        """Return the classes with fewer records of each item, without empty items and classes.

        Parameters
        ----------
        counts: remaining records of each item, shape (items,), int64.

        Returns
        -------
        The classes, renumbered, and the positions of their items among these, shape (items left,), int64.

        Raises
        ------
        ValueError: whose records remain is unknown, as an item has records of several units.
        """
        items = np.flatnonzero(counts)
        present = np.zeros(self.number, dtype=bool)
        present[self.class_of[items]] = True
        return self._of_items(items, present, self.measure.parts(items, counts[items])), items

    def _of_items(self, items: IntArray | BoolArray, present: BoolArray, measure: Measure) -> Classes:
        """Return the classes of some items, without empty classes.

        Parameters
        ----------
        items: positions, shape (chosen,), or which items, shape (items,).
        present: which classes have one of them, shape (classes,).
        measure: of the chosen items.
        """
        numbers = np.cumsum(present) - 1
        sensitive = {name: own.at(items) for name, own in self._sensitive.items()}
        class_of, number = numbers[self.class_of[items]], int(present.sum())
        people = None if self.population is None else self.population.keep(present)
        part = Classes(class_of, measure, number, sensitive, people)
        part.values = None if self.values is None else self.values.at(present)
        return part

    @property
    def linked(self) -> bool:
        """Whether a release links the records of units: a class has units with equal lists of rows."""
        return False

    @property
    def published(self) -> Classes:
        """The classes of records with equal published rows."""
        return self

    @property
    def judged(self) -> Sequence[tuple[Classes, IntArray]]:
        """The partitions whose classes must satisfy every constraint, and the class of each of theirs."""
        return [(self, np.arange(self.number))]

    def pooled(self) -> Classes:
        """Return one class of all records, at least one."""
        people = None if self.population is None else self.population.pooled()
        own = np.zeros_like(self.class_of)
        return Classes(own, self.measure.untied(), 1, self._sensitive, people)

    def beside(self, other: Classes) -> Classes:
        """Return these classes followed by those of another partition with the same attributes and units."""
        sensitive = {
            name: SensitiveCodes(own.attribute, np.concatenate([own.codes, other.sensitive_codes(name)]))
            for name, own in self._sensitive.items()
        }
        return Classes(
            np.concatenate([self.class_of, other.class_of + self.number]),
            self.measure.beside(other.measure),
            self.number + other.number,
            sensitive,
        )


class LinkedClasses(Classes):
    """Classes of units whose records a release links, as by a pseudonym: those with equal lists of rows.

    Constraints are judged on these classes, and on the records of each published row in them: an adversary
    knows which row of a unit is which.

    Parameters
    ----------
    row_of: published row of each item, shape (items,), int64.
    """

    def __init__(
        self,
        class_of: IntArray,
        measure: Measure,
        number: int,
        sensitive: Mapping[str, SensitiveCodes],
        row_of: IntArray,
    ) -> None:
        super().__init__(class_of, measure, number, sensitive)
        self.row_of = row_of

    @property
    def linked(self) -> bool:
        """Whether a release links the records of units: it does."""
        return True

    @property
    def published(self) -> Classes:
        rows = int(self.row_of.max(initial=-1)) + 1
        return Classes(self.row_of, self.measure, rows, self._sensitive)

    @property
    def judged(self) -> Sequence[tuple[Classes, IntArray]]:
        """The classes, and the records of each row in them."""
        return [*super().judged, self._parts]

    @cached_property
    def _parts(self) -> tuple[Classes, IntArray]:
        rows = int(self.row_of.max(initial=0)) + 1
        part_of, distinct = group_keys(self.class_of * rows + self.row_of, max(self.number, 1) * rows)
        return Classes(part_of, self.measure.untied(), len(distinct), self._sensitive), distinct // rows

    def _of_items(self, items: IntArray | BoolArray, present: BoolArray, measure: Measure) -> Classes:
        """Return the linked classes of some items."""
        own = super()._of_items(items, present, measure)
        return LinkedClasses(own.class_of, measure, own.number, own._sensitive, self.row_of[items])


def classes_of_rows(
    row_of: IntArray, measure: Measure, rows: int, sensitive: Mapping[str, SensitiveCodes]
) -> Classes:
    """Return the classes of items: those of equal published rows, or of units whose records are linked.

    Parameters
    ----------
    row_of: published row of each item, shape (items,), int64.
    rows: number of published rows; every row has an item.
    measure, sensitive: as for ``Classes``.
    """
    if measure.ties is None or not measure.linked:
        return Classes(row_of, measure, rows, sensitive)
    class_of = measure.ties.lists(row_of, rows)
    number = int(class_of.max(initial=-1)) + 1
    return LinkedClasses(class_of, measure, number, sensitive, row_of)


@dataclass(frozen=True)
class Measurement:
    """One privacy model, measured.

    Attributes
    ----------
    model, attribute, parameters: as requested.
    measured: the worst measure, as defined for the model; None for a release without records.
    satisfied: whether the model is satisfied; None if unknown.
    worst_classes: number of classes with the worst measure, 0 for models of the whole table.
    verifiable_from_release: whether it can be measured from the release alone.
    """

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool | None
    worst_classes: int
    verifiable_from_release: bool


@dataclass(frozen=True, eq=False)
class Released:
    """A recoding with its equivalence classes.

    Attributes
    ----------
    class_sizes: records of each class that was not suppressed, shape (classes,), int64.
    kept_suppressed: suppressed records that stay in the release, with ``*`` in every quasi-identifier.
    suppressed: all suppressed records, including ``kept_suppressed``.
    k: of the config's k-anonymity, None without.
    """

    table: Table
    recoding: Recoding
    class_sizes: IntArray
    kept_suppressed: int
    suppressed: int
    k: int | None

    @property
    def records(self) -> int:
        """Number of input records, N."""
        return self.table.records

    @property
    def merged(self) -> Released:
        """The same with equally published rows merged."""
        merged = self.recoding.merged
        return replace(self, table=merged.table, recoding=merged)

    @property
    def classes(self) -> int:
        """Number of equivalence classes of the release; suppressed records that stay form one."""
        return len(self.class_sizes) + (1 if self.kept_suppressed else 0)


def released(recoding: Recoding, k: int | None) -> Released:
    """Return the recoding with its class sizes and suppressed records."""
    merged = recoding.merged
    counts = merged.table.counts
    kept_suppressed = int(counts[merged.suppressed & ~merged.removed].sum())
    suppressed = int(counts[merged.suppressed].sum())
    return Released(recoding.table, recoding, merged.class_sizes(), kept_suppressed, suppressed, k)


class Reduction(StrEnum):
    """An aggregate of the numbers of a group, by its name in SQL."""

    OR = "bit_or"
    AND = "bit_and"
    MIN = "min"
    MAX = "max"

    @property
    def ufunc(self) -> np.ufunc:
        """The function of two numbers."""
        return _UFUNCS[self]

    @property
    def identity(self) -> int:
        """The neutral number, which is the aggregate of an empty group."""
        return _IDENTITIES[self]


_UFUNCS = {
    Reduction.OR: np.bitwise_or,
    Reduction.AND: np.bitwise_and,
    Reduction.MIN: np.minimum,
    Reduction.MAX: np.maximum,
}
_IDENTITIES = {
    Reduction.OR: 0,
    Reduction.AND: -1,
    Reduction.MIN: int(np.iinfo(np.int64).max),
    Reduction.MAX: -1,
}


@dataclass(frozen=True)
class GroupStatistic:
    """An aggregate of one column in a group of rows.

    Attributes
    ----------
    column: position of the column in the coded rows.
    """

    column: int
    reduction: Reduction


Traces = list[IntArray]
"""Statistics of each group, an array of shape (groups,), int64 for each ``GroupStatistic`` of a coding."""
