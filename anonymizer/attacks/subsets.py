"""Equivalence classes and risk for every subset of known quasi-identifiers, by rolling up one count.

Each subset is counted from the table of a subset with one more attribute. If only numbers are needed, they
are counted from packed keys. Units with several records are rolled up as lists of rows, which become fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.pace import step
from anonymizer.model.arrays import (
    BLOCK,
    CodeArray,
    IntArray,
    Packing,
    add_up,
    add_up_packed,
    count,
    number_lists,
    numbered,
    starts_of,
)
from anonymizer.model.classes import UnitEntries

if TYPE_CHECKING:
    from anonymizer.model.adversary import PublishedTable
    from anonymizer.model.owners import OwnedRecords

T = TypeVar("T")


def iter_subsets(
    order: Sequence[int], most: int, full: T, only: Callable[[T, tuple[int, ...]], T]
) -> Iterator[tuple[tuple[int, ...], T]]:
    """Yield every non-empty set of at most ``most`` attributes once, with its table of counts.

    Only the largest sets are counted from the full table. Attributes are then left out one at a time in a
    fixed order, so each set is reached once from a table with one more attribute, and there are never more
    tables in memory than attributes.

    Parameters
    ----------
    order: the attributes; the one with the most values should be first, as half of all sets lack it.
    full: table by all attributes.
    only: returns the table by a subset of a table's attributes.
    """
    sizes = range(1, min(most, len(order)) + 1)
    total, done = sum(comb(len(order), size) for size in sizes), 0
    for own in combinations(order, min(most, len(order))):
        others = [place for place, position in enumerate(order) if position not in own]
        for each in _below(order, max(others, default=-1), own, only(full, own), only):
            step(order, done, total)
            yield each
            done += 1


def _below(
    order: Sequence[int],
    after: int,
    own: tuple[int, ...],
    table: T,
    only: Callable[[T, tuple[int, ...]], T],
) -> Iterator[tuple[tuple[int, ...], T]]:
    """Yield a set and all sets reached from it by leaving out attributes after a position."""
    yield own, table
    if len(own) == 1:
        return
    for place in range(after + 1, len(order)):
        left = tuple(position for position in own if position != order[place])
        yield from _below(order, place, left, only(table, left), only)


WORD = 63
"""Maximum number of bits of a key."""


@dataclass(frozen=True)
class SubsetRisk:
    """The risk from an adversary who knows a set of quasi-identifiers.

    Attributes
    ----------
    names: known quasi-identifiers.
    classes, uniques: number of classes, and of classes with one record.
    largest: records with the most frequent value of their class, by sensitive attribute.
    """

    names: tuple[str, ...]
    classes: int
    uniques: int
    largest: dict[str, int]


@dataclass(frozen=True, eq=False)
class _Keyed:
    """Distinct rows of some quasi-identifiers and one sensitive attribute as packed keys, ascending.

    Attributes
    ----------
    own: positions of the quasi-identifiers in a key, from the highest bits on.
    keys: packed codes, the sensitive value in the lowest bits, int64.
    counts: records, in the narrowest integer type.
    """

    own: tuple[int, ...]
    keys: IntArray
    counts: NDArray[np.integer]


def risk_by_subset(release: PublishedTable, most: int) -> Iterator[SubsetRisk] | None:
    """Return the risk by every non-empty set of quasi-identifiers; None if a row does not fit one integer.

    Parameters
    ----------
    most: maximum number of attributes in a set.
    """
    attributes = list(release.sensitive.values())
    bits = [_bits(len(labels)) for labels in release.labels]
    widest = max((_bits(each.attribute.column.size) for each in attributes), default=0)
    if sum(bits) + widest > WORD:
        return None
    if not attributes:
        return _Sweep(release, bits, None).risks(most)
    return _merged([_Sweep(release, bits, name).risks(most) for name in release.sensitive])


def order_of(release: PublishedTable) -> list[int]:
    """Return the positions of the quasi-identifiers by decreasing number of values."""
    return sorted(range(len(release.names)), key=lambda each: (-len(release.labels[each]), each))


def _merged(risks: Sequence[Iterator[SubsetRisk]]) -> Iterator[SubsetRisk]:
    """Yield the risks of all sensitive attributes; one is counted after another to limit memory."""
    found: list[SubsetRisk] = []
    for each in risks:
        own = list(each)
        found = [
            SubsetRisk(new.names, new.classes, new.uniques, before.largest | new.largest)
            for before, new in zip(found or own, own, strict=True)
        ]
    yield from found


class _Sweep:
    """All sets of quasi-identifiers with one sensitive attribute.

    Parameters
    ----------
    bits: of a code of each quasi-identifier.
    sensitive: name of the attribute, None without one.
    """

    def __init__(self, release: PublishedTable, bits: Sequence[int], sensitive: str | None) -> None:
        self._release = release
        self._bits = bits
        self._sensitive = sensitive
        column = None if sensitive is None else release.sensitive[sensitive].attribute.column
        self._value_bits = 0 if column is None else _bits(column.size)

    def risks(self, most: int) -> Iterator[SubsetRisk]:
        order = order_of(self._release)
        for own, table in iter_subsets(order, most, self._full(order), self._only):
            yield self._risk(own, table)

    def _full(self, order: Sequence[int]) -> _Keyed:
        """Pack all rows, and add up equal keys."""
        release = self._release
        keys = np.zeros(len(release.counts), dtype=np.int64)
        for position in order:
            keys <<= self._bits[position]
            keys |= release.codes[:, position]
        if self._sensitive is not None:
            keys <<= self._value_bits
            keys |= release.sensitive[self._sensitive].codes
        table = _Keyed(tuple(order), keys, _narrow(release.counts))
        ordered = bool((keys[1:] > keys[:-1]).all())
        return table if ordered else self._added_up(table, tuple(order))

    def _only(self, table: _Keyed, own: tuple[int, ...]) -> _Keyed:
        """Leave out the other quasi-identifiers, and add up equal keys."""
        return table if own == table.own else self._added_up(table, own)

    def _added_up(self, table: _Keyed, own: tuple[int, ...]) -> _Keyed:
        widths = [(self._bits[position], position in own) for position in reversed(table.own)]
        low = self._value_bits + sum(width for width, stays in widths if stays)
        bits = int(table.counts.max(initial=0)).bit_length()
        fits = low + bits <= WORD
        keys = np.empty(len(table.keys), dtype=np.int64)
        # Blocks keep intermediate keys in the processor's cache.
        for start in range(0, len(keys), BLOCK):
            block = slice(start, start + BLOCK)
            left = self._leave_out(table.keys[block], widths)
            keys[block] = left << bits | table.counts[block] if fits else left
        found = add_up_packed(keys, bits) if fits else add_up(keys, table.counts, 1 << low)
        return _Keyed(own, found[0], _narrow(found[1]))

    def _leave_out(self, keys: IntArray, widths: Sequence[tuple[int, bool]]) -> IntArray:
        """Remove codes from keys, given the bits of each code, lowest first, and whether it stays."""
        low = self._value_bits
        for width, stays in widths:
            if stays:
                low += width
            else:
                keys = keys >> (low + width) << low | keys & ((1 << low) - 1)
        return keys

    def _risk(self, own: tuple[int, ...], table: _Keyed) -> SubsetRisk:
        names = tuple(self._release.names[position] for position in sorted(own))
        if self._sensitive is None:
            return SubsetRisk(names, len(table.keys), int(np.count_nonzero(table.counts == 1)), {})
        starts = np.flatnonzero(starts_of(table.keys, self._value_bits))
        # A class of one record has one entry, with a count of 1.
        entries = np.diff(starts, append=len(table.keys))
        alone = int(np.count_nonzero((table.counts[starts] == 1) & (entries == 1)))
        largest = int(np.maximum.reduceat(table.counts, starts).sum(dtype=np.int64))
        return SubsetRisk(names, len(starts), alone, {self._sensitive: largest})


def _bits(codes: int) -> int:
    """Return the number of bits for so many codes."""
    return max(codes - 1, 0).bit_length()


def _narrow(counts: IntArray | CodeArray) -> NDArray[np.integer]:
    """Return counts in the narrowest unsigned type, int64 if 32 bits are not enough."""
    narrowest = np.min_scalar_type(int(counts.max(initial=0)))
    # Signed 64-bit keys and uint64 counts have no common integer type.
    return counts.astype(np.int64 if narrowest == np.uint64 else narrowest)


@dataclass(frozen=True, eq=False)
class KnownSubset:
    """The classes by a set of quasi-identifiers that an adversary knows.

    Attributes
    ----------
    names: known quasi-identifiers.
    sizes: records of each class, shape (classes,), int64.
    largest: records with the most frequent value of each class, shape (classes,), int64, by sensitive
        attribute.
    unique: positions of the released rows that are unique, shape (uniques,), int64.
    """

    names: tuple[str, ...]
    sizes: IntArray
    largest: dict[str, IntArray]
    unique: IntArray

    def risk(self) -> SubsetRisk:
        """Return the sums over the classes."""
        largest = {name: int(own.sum()) for name, own in self.largest.items()}
        return SubsetRisk(self.names, len(self.sizes), int((self.sizes == 1).sum()), largest)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Distinct rows of some quasi-identifiers and one sensitive attribute, ascending.

    Attributes
    ----------
    columns: codes of each known quasi-identifier, by its position, shape (rows,), int32.
    values: of the sensitive attribute, all 0 without one.
    counts: records.
    first: position of one of the released rows that were added up.
    """

    columns: dict[int, CodeArray]
    values: CodeArray
    counts: IntArray
    first: IntArray


def known_subset(release: PublishedTable, names: Sequence[str] | None) -> KnownSubset:
    """Return the classes by some quasi-identifiers, by all for None.

    Raises
    ------
    InputError: a name is not a quasi-identifier.
    """
    classes = release.classes(names)
    largest = {}
    for name in release.sensitive_names:
        counts, _ = classes.sensitive_counts(name)
        largest[name] = np.maximum.reduceat(counts.counts, counts.starts[:-1])
    alone = np.flatnonzero(classes.sizes[classes.class_of] == 1)
    return KnownSubset(release.known(names), classes.sizes, largest, alone)


def by_size(subsets: Iterable[tuple[tuple[str, ...], float, float]]) -> dict[str, Any]:
    """Return the success with each set, and the worst and the mean of each size, as tables for the report.

    ``by_size`` has a row for each number of known attributes, ``subsets`` one for each set.

    Parameters
    ----------
    subsets: known columns, share of targets for which the attack succeeds, and of those that are unique.
    """
    rows: list[dict[str, Any]] = [
        {"attributes": list(names), "success": success, "uniques": uniques}
        for names, success, uniques in subsets
    ]
    rows.sort(key=lambda each: (len(each["attributes"]), each["attributes"]))
    sizes = []
    for size in sorted({len(each["attributes"]) for each in rows}):
        own = [each for each in rows if len(each["attributes"]) == size]
        worst = max(own, key=lambda each: each["success"])
        mean = sum(each["success"] for each in own) / len(own)
        sizes.append({"size": size, "worst": worst["success"], "of": worst["attributes"], "mean": mean})
    return {"by_size": sizes, "subsets": rows}


def iter_subset_risks(release: PublishedTable, most: int) -> Iterator[SubsetRisk]:
    """Yield the risk by every non-empty set of at most ``most`` quasi-identifiers, each once."""
    found = risk_by_subset(release, most)
    return (each.risk() for each in known_subsets(release, most)) if found is None else found


def known_subsets(release: PublishedTable, most: int) -> Iterator[KnownSubset]:
    """Yield the classes by every non-empty set of at most ``most`` quasi-identifiers, each once."""

    def only(tables: dict[str | None, _Counted], own: tuple[int, ...]) -> dict[str | None, _Counted]:
        return {name: _grouped(release, own, each) for name, each in tables.items()}

    for own, tables in iter_subsets(order_of(release), most, _tables(release), only):
        yield _seen(release, own, tables)


def _tables(release: PublishedTable) -> dict[str | None, _Counted]:
    """Return the released rows with each sensitive attribute, or without one."""
    columns = dict(enumerate(np.ascontiguousarray(release.codes.T)))
    items = np.arange(len(release.counts))
    nothing = np.zeros(len(items), dtype=np.int32)
    every: dict[str | None, CodeArray] = {
        name: own.codes.astype(np.int32) for name, own in release.sensitive.items()
    }
    return {
        name: _Counted(columns, values, release.counts, items)
        for name, values in (every or {None: nothing}).items()
    }


def _grouped(release: PublishedTable, own: Sequence[int], table: _Counted) -> _Counted:
    """Add up equal rows; the result is sorted by quasi-identifiers, then by value."""
    columns = [*(table.columns[position] for position in own), table.values]
    sizes = [*(len(release.labels[position]) for position in own), int(table.values.max()) + 1]
    order, starts = _sorted_groups(columns, sizes)
    first = order[starts]
    return _Counted(
        {position: table.columns[position][first] for position in own},
        table.values[first],
        np.add.reduceat(table.counts[order], starts),
        table.first[first],
    )


def _sorted_groups(columns: Sequence[CodeArray], sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return an ascending order of the rows, and the start of each group of equal rows in it."""
    packing = Packing(len(columns[0]))
    for column, size in zip(columns, sizes, strict=True):
        packing.add(column, size)
    keys = packing.take_keys()
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    changed = np.ones(len(keys), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changed[1:])
    return order, np.flatnonzero(changed)


def _seen(release: PublishedTable, own: Sequence[int], tables: dict[str | None, _Counted]) -> KnownSubset:
    largest = {}
    for name, table in tables.items():
        changed = np.zeros(len(table.counts), dtype=bool)
        changed[0] = True
        for position in own:
            changed[1:] |= table.columns[position][1:] != table.columns[position][:-1]
        starts = np.flatnonzero(changed)
        sizes = np.add.reduceat(table.counts, starts)
        unique = table.first[starts[sizes == 1]]
        if name is not None:
            largest[name] = np.maximum.reduceat(table.counts, starts)
    names = tuple(release.names[position] for position in sorted(own))
    return KnownSubset(names, sizes, largest, unique)


@dataclass(frozen=True, eq=False)
class _Lists:
    """The distinct rows of some quasi-identifiers and values, and the rows in which units have records.

    Attributes
    ----------
    columns: codes of each quasi-identifier, by its position, shape (rows,), int32.
    values: sensitive value of each row, shape (rows,), int32; None without an attribute. After ``only``, rows
        are in the order of the columns, then of the values.
    list_of: number of the list of rows of each unit, shape (units,), int64.
    people: that each unit stands for, shape (units,), int64.
    owner, row: list and row of each entry, shape (entries,), int64; ascending, without repetition.
    records: of each entry, shape (entries,), int64; None if only distinct rows are known.
    """

    columns: dict[int, CodeArray]
    values: CodeArray | None
    list_of: IntArray
    people: IntArray
    owner: IntArray
    row: IntArray
    records: IntArray | None = None

    def only(self, own: tuple[int, ...]) -> _Lists:
        """Leave out the other quasi-identifiers, and join equal rows and lists."""
        columns = {position: self.columns[position] for position in own}
        rows = [*columns.values(), *([] if self.values is None else [self.values])]
        group_of, first = numbered(rows, len(rows[0]))
        entry_of, entry = numbered([self.owner, group_of[self.row]], len(self.owner))
        owner, row = self.owner[entry], group_of[self.row[entry]]
        records = None if self.records is None else count(entry_of, self.records, len(entry))
        # Lists are equal if each row has as many records in both.
        alike, of_entry = (row, first) if records is None else numbered([row, records], len(row))
        number, kept = numbered([number_lists(owner, alike, len(of_entry))], int(owner[-1]) + 1)
        stays = np.zeros(len(number), dtype=bool)
        stays[kept] = True
        stays = stays[owner]
        order = np.argsort(number[owner[stays]], kind="stable")
        return _Lists(
            {position: codes[first] for position, codes in columns.items()},
            None if self.values is None else self.values[first],
            number[self.list_of],
            self.people,
            number[owner[stays]][order],
            row[stays][order],
            None if records is None else records[stays][order],
        )

    def entries(self) -> UnitEntries:
        """Return in which classes the units have records; each list is one number."""
        # The rows are in the order of their quasi-identifiers, then of their values.
        changed = np.zeros(len(next(iter(self.columns.values()))), dtype=np.int64)
        for codes in self.columns.values():
            changed[1:] |= codes[1:] != codes[:-1]
        class_of = np.cumsum(changed)
        people = count(self.list_of, self.people, int(self.owner[-1]) + 1)
        values = None if self.values is None else self.values[self.row].astype(np.int64)
        return UnitEntries(class_of[self.row], self.owner, people, values, self.records)


@dataclass(frozen=True, eq=False)
class UnitsOfSubset:
    """Where units have records, to an adversary who knows a set of quasi-identifiers of every record.

    Attributes
    ----------
    names: known quasi-identifiers.
    entries: classes and values of the units, by number, then by class; equal units share a number.
    number_of: number of each unit, shape (units,), int64.
    """

    names: tuple[str, ...]
    entries: UnitEntries
    number_of: IntArray

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which units are the only ones in a class of one of their records, shape (units,), bool."""
        own = self.entries
        found = np.zeros(len(own.people), dtype=bool)
        found[own.unit_of[own.pairs][own.sizes[own.class_of[own.pairs]] == 1]] = True
        return found[self.number_of]


def unit_subsets(
    release: PublishedTable,
    row_of: IntArray,
    unit_of: IntArray,
    sensitive: str | None,
    most: int,
    people: IntArray | None = None,
    records: IntArray | None = None,
) -> Iterator[UnitsOfSubset]:
    """Yield the classes of units by every non-empty set of at most ``most`` quasi-identifiers, each once.

    Parameters
    ----------
    row_of, unit_of: row of the release and unit of each record, or of each pair of both, shape (pairs,),
        int64; units from 0.
    sensitive: attribute whose values the entries have; None for classes alone.
    people: that each unit stands for, all with records in these rows, shape (units,), int64; None for one.
    records: of each pair, shape (pairs,), int64, which the entries then have; None if they are unknown.
    """
    entry_of, entry = numbered([unit_of, row_of], len(row_of))
    own_records = None if records is None else count(entry_of, records, len(entry))
    values = None if sensitive is None else release.sensitive[sensitive].codes.astype(np.int32)
    columns = dict(enumerate(np.ascontiguousarray(release.codes.T)))
    units = np.arange(int(unit_of.max()) + 1)
    people = np.ones_like(units) if people is None else people
    full = _Lists(columns, values, units, people, unit_of[entry], row_of[entry], own_records)
    for own, lists in iter_subsets(order_of(release), most, full, _Lists.only):
        names = tuple(release.names[position] for position in sorted(own))
        yield UnitsOfSubset(names, lists.entries(), lists.list_of)


def owned_subsets(
    release: PublishedTable,
    owned: OwnedRecords,
    who: IntArray,
    sensitive: str | None,
    most: int,
    *,
    records: bool = False,
) -> Iterator[UnitsOfSubset]:
    """Yield what ``unit_subsets`` does, by the classes of persons where the release links their records.

    Parameters
    ----------
    who: is looked for by each record, shape (records,), int64, from 0 without gaps.
    sensitive, most: as for ``unit_subsets``.
    records: whether the entries have the records of each unit.
    """
    if not owned.linked:
        ones = np.ones_like(who) if records else None
        yield from unit_subsets(release, owned.release, who, sensitive, most, records=ones)
        return
    values = None if sensitive is None else release.sensitive[sensitive].codes[owned.release]
    units = np.arange(int(who.max()) + 1)
    # A list that lacks a column may have a row twice, so that nothing is rolled up.
    for own, _ in iter_subsets(order_of(release), most, None, lambda *_: None):
        names = tuple(release.names[position] for position in sorted(own))
        class_of = owned.class_of(release.class_of(names))
        entries = UnitEntries(class_of, who, np.ones_like(units), values, np.ones_like(who))
        yield UnitsOfSubset(names, entries, units)
