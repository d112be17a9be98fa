"""Persons, households and other units of an input: whose each record is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.relation import Coding, Relation, StoredUnits
from anonymizer.data.table import Encoded
from anonymizer.errors import DataError, plural
from anonymizer.model.arrays import IntArray, freeze, numbered
from anonymizer.model.households import households_of_persons
from anonymizer.model.measure import DividedRows, Measure, Ties
from anonymizer.model.table import Table
from anonymizer.model.units import (
    HOUSEHOLD,
    PERSON,
    Units,
    UnitsByName,
    numbered_by_content,
)
from anonymizer.plan.columns import Columns
from anonymizer.plan.counting import Counting
from anonymizer.search.base import UnitLimit


def stored_units(
    counting: Counting, relation: Relation, codings: Sequence[Coding], recorded: Collection[str] = ()
) -> Mapping[str, StoredUnits]:
    """Return the units that constraints count in distinct rows of codes, stored by the engine.

    Parameters
    ----------
    recorded: names of units whose records in each row are counted, besides those that constraints need.

    Raises
    ------
    InputError: the engine counts records only.
    DataError: as for ``units_of_records``.
    """
    asked = counting.counted_units
    if not asked:
        return {}
    absent = counting.absent
    for name, column in counting.units.items():
        if counting.required and (missing := relation.unit_facts(column, absent).without):
            raise DataError(without_unit(relation, name, column, missing))
    if PERSON in counting.units and HOUSEHOLD in counting.units:
        nested = counting.units[PERSON], counting.units[HOUSEHOLD]
        _check_households(counting, relation, relation.units_in_several(*nested, absent))
        without = relation.unit_facts(counting.units[HOUSEHOLD], absent).without if HOUSEHOLD in asked else 0
        if without:
            raise DataError(
                f"{relation.name}: column '{nested[1]}' is empty in {plural(without, 'record')}, and "
                "only a run in memory looks up a household in other records of the person; fill it in, "
                "or set engine.name to memory"
            )
    columns = {name: counting.units[name] for name in asked}
    return relation.stored_units(codings, columns, absent, counting.recorded_units.union(recorded))


def unit_limit_of(
    counting: Counting,
    limit: Callable[[int], int],
    relation: Relation,
    unit: str,
    units: Mapping[str, IntArray],
) -> UnitLimit:
    """Return how many units may lose a record.

    Parameters
    ----------
    limit: returns how many of a number of units may.
    units: of each record, as ``units_of_records`` returns them; none where the engine stores them.
    """
    if unit in units:
        return UnitLimit.of_records(unit, limit, units[unit])
    own = relation.unit_facts(counting.units[unit], counting.absent)
    number, most = own.units + own.without, max(own.most, 1)
    return UnitLimit(unit, limit(number), number, lambda lost: min(lost * most, relation.rows))


def with_units(
    counting: Counting, table: Table, encoded: Encoded, units: Mapping[str, IntArray]
) -> tuple[Table, Encoded]:
    """Return a table that counts units; divided by these where parts of a row may be published differently.

    Parameters
    ----------
    units: that constraints count, as ``units_of_records`` returns them.
    """
    rows, most = encoded.combination.astype(np.int64), counting.most_parts
    if most and counting.whole is None:
        divided = DividedRows.of(rows, units, counting.recorded_units)
        if len(divided.row_of) <= most:
            table, row_of = table.divided(divided), divided.of_record.astype(np.int32)
            for array in (table.codes, table.counts, row_of):
                freeze(array)
            return table, replace(encoded, codes=table.codes, counts=table.counts, rows=row_of)
    found = units_of_rows(units, rows, table.combinations, counting.recorded_units)
    return replace(table, measure=table.measure.with_units(found)), encoded


def with_ties(table: Table, encoded: Encoded, units: IntArray, *, linked: bool) -> tuple[Table, Encoded]:
    """Return a table with rows of their own for units that have records in several distinct rows.

    Parameters
    ----------
    units: that are suppressed as a whole, of each record, shape (records,).
    linked: whether the release links the records of a unit.
    """
    own = encoded.combination.astype(np.int64)
    items, rows, ties = Ties.of_records(own, units, table.combinations, linked=linked)
    codes, counts = table.codes[rows], np.bincount(items, minlength=len(rows))
    row_of = items.astype(np.int32)
    for array in (codes, counts, row_of):
        freeze(array)
    table = replace(table, codes=codes, measure=Measure(counts, ties=ties))
    return table, replace(encoded, codes=codes, counts=counts, rows=row_of)


def units_of_records(counting: Counting, relation: Relation) -> dict[str, IntArray]:
    """Return the unit of each record by the name of the unit, shape (records,), int64; -1 without one.

    A person is in one household, also in records that do not name it.

    Raises
    ------
    DataError: a record lacks a unit that it must have, or a person is in two households.
    """
    found = {name: _units(counting, relation, name, column) for name, column in counting.units.items()}
    if PERSON in found and HOUSEHOLD in found:
        _check_households(counting, relation, _in_several(found[PERSON], found[HOUSEHOLD]))
        found[HOUSEHOLD] = households_of_persons(found[HOUSEHOLD], found[PERSON])
    return found


def by_content(
    planned: Columns, counting: Counting, encoded: Encoded, units: dict[str, IntArray]
) -> dict[str, IntArray]:
    """Number units by what is released of their records, where rows are divided by them."""
    if not units or not (counting.most_parts or counting.whole):
        return units
    relation, keys = encoded.relation, set(counting.units.values())
    table = {each.column.name for each in encoded.columns}
    unchanged = [name for name in planned.released(relation.columns) if name not in table | keys]
    columns = [encoded.combination, *map(relation.codes, unchanged)]
    return numbered_by_content(numbered(columns, relation.rows)[0], units)


def _units(counting: Counting, relation: Relation, name: str, column: str) -> IntArray:
    units = relation.unit_codes(column, counting.absent)
    if counting.required and (missing := int((units < 0).sum())):
        raise DataError(without_unit(relation, name, column, missing))
    return units


def without_unit(relation: Relation, name: str, column: str, records: int) -> str:
    """Return the message about records without a unit that they must have."""
    return (
        f"{relation.name}: column '{column}' is empty in {plural(records, 'record')}; fill it in, or set "
        f"input.missing_person: own, which counts each of them as a {name} of its own"
    )


def _in_several(inner: IntArray, outer: IntArray) -> int:
    """Return the number of units that have records in several units of another kind, by record."""
    known = (inner >= 0) & (outer >= 0)
    pairs = np.unique(np.stack([inner[known], outer[known]]), axis=1)
    return len(np.unique(pairs[0, 1:][pairs[0, 1:] == pairs[0, :-1]]))


def _check_households(counting: Counting, relation: Relation, persons: int) -> None:
    """Refuse persons in two households, given their number."""
    if persons:
        person, household = counting.units[PERSON], counting.units[HOUSEHOLD]
        raise DataError(
            f"{relation.name}: {plural(persons, 'person')} of column '{person}' belong to two "
            f"households of column '{household}'; a person must have only one household; if persons moved, "
            f"name the column in input.units (units: {{home: {household}}}) and not in input.household"
        )


def units_of_rows(
    units: Mapping[str, IntArray],
    row_of: NDArray[np.integer],
    rows: int,
    recorded: Collection[str] = (),
) -> UnitsByName:
    """Return the units of the distinct rows of a table.

    Parameters
    ----------
    units: of each record, as ``units_of_records`` returns them.
    row_of: distinct row of each record, shape (records,).
    recorded: names of units whose records in each row are counted.
    """
    items = row_of.astype(np.int64, copy=False)
    return {name: Units.of_items(items, own, rows, recorded=name in recorded) for name, own in units.items()}
