"""The equivalence classes of written files, counted from the files alone, and their constraints.

The QIT and the ST of an Anatomy release are also checked against each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.data.relation import Groups, Relation
from anonymizer.data.values import absent_texts, key_of
from anonymizer.errors import DataError
from anonymizer.model.adversary import AnatomyRelease, PublishedTable
from anonymizer.model.arrays import CodeArray, IntArray, Packing, count, numbered, rank, starts_of
from anonymizer.model.classes import (
    Classes,
    ClassValues,
    Measurement,
    Reference,
    SensitiveCodes,
    SensitiveCounts,
    classes_of_rows,
)
from anonymizer.model.households import households_of_persons
from anonymizer.model.measure import Measure
from anonymizer.model.owners import Owners
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import Column, SensitiveAttribute
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.privacy.base import ClassConstraint, Constraint, CountedConstraint, TableConstraint


@dataclass(frozen=True)
class UnitColumns:
    """The columns of a file that say which records belong to one unit.

    Attributes
    ----------
    columns: by the name of the unit.
    absent: texts of records that are units of their own.
    linked: the unit whose records the file links, so that classes are of units with equal lists of rows; None
        if classes are of records.
    """

    columns: Mapping[str, str]
    absent: frozenset[str | None] = frozenset({None, ""})
    linked: str | None = None


NO_UNIT_COLUMNS = UnitColumns({})
"""Of a file of which only records are counted."""


def count_classes(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[SensitiveAttribute],
    units: UnitColumns = NO_UNIT_COLUMNS,
) -> Classes:
    """Return the classes of a file by its texts.

    Parameters
    ----------
    quasi_identifiers: names of the columns whose texts make a class.
    sensitive: the sensitive attributes; their columns must contain every sensitive value of the file.
    units: columns of units that are counted besides records.

    Raises
    ------
    DataError: the file lacks a column, or has a sensitive value that is not in the attribute's column.
    """
    named = [*quasi_identifiers, *(attribute.name for attribute in sensitive)]
    groups, width = relation.group_counts([*named, *units.columns.values()]), len(named)
    owners = _unit_codes(groups, width, units)
    measure = Measure.of_owners(owners, groups.counts, [*owners], units.linked)
    known = Groups(groups.values[:width], groups.codes[:, :width], groups.counts)
    return classes_of(relation.name, known, sensitive, quasi_identifiers, measure)


def _unit_codes(groups: Groups, width: int, units: UnitColumns) -> dict[str, IntArray]:
    """Return the unit of each group of records by its name, shape (groups,), int64; -1 for none.

    Parameters
    ----------
    groups: by the columns of units from position ``width`` on.
    """
    found: dict[str, IntArray] = {}
    for offset, unit in enumerate(units.columns, start=width):
        unknown = np.array([text in units.absent for text in groups.values[offset]], dtype=np.bool_)
        codes = groups.codes[:, offset].astype(np.int64)
        found[unit] = np.where(unknown[codes], -1, codes)
    if HOUSEHOLD in found and PERSON in found:
        found[HOUSEHOLD] = households_of_persons(found[HOUSEHOLD], found[PERSON])
    return found


def published_with_owners(
    relation: Relation, names: Sequence[str], units: UnitColumns
) -> tuple[PublishedTable, Owners | None]:
    """Return a file as its recipient counts it by some columns, and whose its records are.

    The owners are None without units.

    Parameters
    ----------
    names: of the quasi-identifiers; the sensitive values are left out.
    """
    own = tuple(name for name in relation.columns if name in names)
    groups, width = relation.group_counts([*own, *units.columns.values()]), len(own)
    rows, first = numbered(groups.codes[:, :width].T, len(groups.counts))
    records = count(rows, groups.counts, len(first))
    table = PublishedTable(
        relation.name, own, groups.values[:width], groups.codes[first, :width], {}, records
    )
    if not units.columns:
        return table, None
    each = np.repeat(np.arange(len(rows)), groups.counts)
    codes = {unit: found[each] for unit, found in _unit_codes(groups, width, units).items()}
    return table, Owners.of(rows[each], rows[each], codes)


def classes_of(
    source: str,
    groups: Groups,
    sensitive: Sequence[SensitiveAttribute],
    quasi_identifiers: Sequence[str],
    measure: Measure | None = None,
) -> Classes:
    """Return the classes of counted distinct rows.

    Parameters
    ----------
    source: name of the file in messages.
    groups: distinct rows of the quasi-identifiers and, last, the sensitive attributes.
    measure: what is counted of these rows; None for their records.

    Raises
    ------
    DataError: a sensitive value is not in the attribute's column.
    """
    width = len(groups.values) - len(sensitive)
    class_of, number = _number_rows(groups.codes[:, :width])
    codes = {}
    for offset, attribute in enumerate(sensitive, start=width):
        positions = value_codes(source, attribute.column, groups.values[offset])
        codes[attribute.name] = SensitiveCodes(attribute, positions[groups.codes[:, offset]])
    known = groups.codes[:, :width]
    values = ClassValues(
        quasi_identifiers,
        lambda: known[np.unique(class_of, return_index=True)[1]],
        lambda: groups.values[:width],
    )
    classes = classes_of_rows(class_of, Measure(groups.counts) if measure is None else measure, number, codes)
    classes.values = values
    return classes


def count_reference(relation: Relation, attribute: SensitiveAttribute) -> Reference:
    """Return the distribution of a sensitive attribute in a file.

    Raises
    ------
    DataError: as for ``count_classes``.
    """
    dictionary = relation.dictionary(attribute.name)
    codes = value_codes(relation.name, attribute.column, [text for text, _ in dictionary])
    counts = np.array([records for _, records in dictionary], dtype=np.int64)
    return Reference(count(codes, counts, attribute.column.size))


def _number_rows(codes: CodeArray) -> tuple[IntArray, int]:
    """Return the number of each row among the distinct rows in lexicographic order, and their count."""
    packing = Packing(len(codes))
    for column in codes.T:
        packing.add(column, int(column.max(initial=0)) + 1)
    keys = packing.take_keys()
    starts = starts_of(keys)
    # An engine that counts by sorting returns sorted rows.
    if (keys[1:] < keys[:-1]).any():
        ranks, distinct = rank(keys)
        return ranks.astype(np.int64), len(distinct)
    return np.cumsum(starts) - 1, int(np.count_nonzero(starts))


def value_codes(source: str, column: Column, texts: Sequence[str | None]) -> IntArray:
    """Return the code of each text, shape (texts,), int64, however its value is spelled.

    Raises
    ------
    DataError: a text is neither a value of the column, nor a missing value in a column that has some.
    """
    known = {text: code for code, text in enumerate(column.present)}
    codes = np.empty(len(texts), dtype=np.int64)
    others = [text for text in texts if text is not None and text not in known]
    if others:
        known |= _by_value(column, others)
    for position, text in enumerate(texts):
        code = column.missing if text is None else known.get(text)
        if code is None:
            raise DataError(
                f"{source}: column '{column.name}' has a value that is not in the input: '{text}'"
            )
        codes[position] = code
    return codes


def _by_value(column: Column, texts: Sequence[str]) -> dict[str, int]:
    """Return the code of each text that is another spelling of a value, or means a missing value."""
    key = key_of(column.type, column.numerals, column.dates)
    values = {key(text): code for code, text in enumerate(column.present)}
    values.pop(None, None)
    found = {text: values[own] for text in texts if (own := key(text)) in values}
    if column.missing is not None:
        absent = absent_texts(texts, column.absent, column.type, column.numerals, column.dates)
        found |= dict.fromkeys(absent.difference(found), column.missing)
    return found


def measure(
    classes: Classes,
    constraints: Sequence[CountedConstraint],
    references: Mapping[str, Reference] | None = None,
    grown: Collection[str] = (),
) -> list[Measurement]:
    """Measure every constraint on the classes of a file with at least one record.

    Parameters
    ----------
    references: distribution p of each sensitive attribute; None for the distribution in the file.
    grown: sensitive attributes whose hierarchy was built from other data.
    """
    return [_measured(classes, each, references, grown) for each in constraints]


def _measured(
    classes: Classes,
    constraint: CountedConstraint,
    references: Mapping[str, Reference] | None,
    grown: Collection[str],
) -> Measurement:
    model, name, worst = constraint.model, constraint.attribute, 0
    if isinstance(constraint, ClassConstraint):
        reference = None
        if name is not None:
            own = classes.reference(name) if references is None else references[name]
            reference = own.of(constraint.unit)
        measured = constraint.measured(classes, reference)
        satisfied = bool(constraint.holds(classes, reference).all())
        worst = constraint.worst_classes(classes, reference)
        alone = verifiable(classes, constraint, grown)
        alone = alone and (references is None or not constraint.model.uses_reference)
    else:
        measured, satisfied = constraint.measured(classes), constraint.holds(classes)
        alone = not model.needs_more and constraint.unit is None
    return Measurement(model.name, name, constraint.parameters(), measured, satisfied, worst, alone)


def verifiable(classes: Classes, constraint: CountedConstraint, grown: Collection[str] = ()) -> bool:
    """Return whether a file that is its own reference suffices to measure a constraint.

    It does not if distances are along a hierarchy that is missing or built from other data, or if units other
    than records are counted, which a release does not name, unless it has pseudonyms of persons.

    Parameters
    ----------
    classes: of the file, its sensitive attributes with the available hierarchies.
    grown: sensitive attributes whose hierarchy was built from other data.
    """
    named = constraint.unit == PERSON and classes.linked
    if constraint.model.needs_more or (constraint.unit is not None and not named):
        return False
    if constraint.attribute is None:
        return True
    attribute = classes.sensitive_counts(constraint.attribute, combined=constraint.combined)[0].attribute
    if not constraint.model.along_hierarchy(attribute):
        return True
    return attribute.hierarchy is not None and attribute.name not in grown


CHANGED = "the files are not of one release, or were changed"


def read_pair(
    records: Relation, values: Relation, quasi_identifiers: Sequence[str], attribute: SensitiveAttribute
) -> AnatomyRelease:
    """Count an Anatomy release.

    Parameters
    ----------
    records: the QIT, one row for each record.
    values: the ST, one row for each group and value.
    quasi_identifiers: names of columns of the QIT.
    attribute: the sensitive one; its column must contain every value of the ST.

    Raises
    ------
    DataError: a column is missing, or the tables do not belong together; names the group.
    """
    if sorted(values.columns) != sorted((GROUP, attribute.name, COUNT)):
        raise DataError(
            f"{values.name}: has columns {', '.join(values.columns)}; expected {GROUP}, {attribute.name}, "
            f"{COUNT}"
        )
    own = records.group_counts([*quasi_identifiers, GROUP])
    names, numbers = _group_names(records, own.values[-1])
    group = numbers[own.codes[:, -1]]
    sizes = count(group, own.counts, len(names))
    order = np.lexsort((*own.codes[:, :-1].T, group))
    return AnatomyRelease(
        records.name,
        tuple(quasi_identifiers),
        own.values[:-1],
        own.codes[order, :-1],
        names,
        group[order],
        own.counts[order],
        _values(records.name, values, names, sizes, attribute),
    )


def _group_names(records: Relation, texts: Sequence[str | None]) -> tuple[tuple[str, ...], IntArray]:
    """Return the names of the groups, numbers by size, and the place of each text among them."""
    if None in texts or "" in texts:
        raise DataError(f"{records.name}: a record has no group; every row needs a group of the other table")
    known = [text for text in texts if text is not None]
    order = sorted(range(len(known)), key=lambda each: (*_as_number(known[each]), known[each]))
    numbers = np.empty(len(known), dtype=np.int64)
    numbers[order] = np.arange(len(known))
    return tuple(known[each] for each in order), numbers


def _as_number(text: str) -> tuple[int, int]:
    return (0, int(text)) if text.isascii() and text.isdigit() else (1, 0)


def _values(
    source: str, values: Relation, names: Sequence[str], sizes: IntArray, attribute: SensitiveAttribute
) -> SensitiveCounts:
    """Return the values of each group, whose counts add up to its size."""
    rows = values.group_counts([GROUP, attribute.name, COUNT])
    group = _known_groups(source, values.name, rows.values[0], names)[rows.codes[:, 0]]
    value = value_codes(values.name, attribute.column, rows.values[1])[rows.codes[:, 1]]
    counts = np.array([_whole(text) for text in rows.values[2]], dtype=np.int64)[rows.codes[:, 2]]
    _refuse(values.name, names, group[counts < 1], "has a count that is not a whole number above 0")
    order = np.lexsort((value, group))
    group, value, counts, listed = (each[order] for each in (group, value, counts, rows.counts))
    again = np.r_[False, (np.diff(group) == 0) & (np.diff(value) == 0)] | (listed > 1)
    _refuse(values.name, names, group[again], "has a value twice")
    missing = np.setdiff1d(np.arange(len(names)), group)
    _refuse(values.name, names, missing, f"is missing, though {source} has records of it")
    sums = count(group, counts, len(names))
    wrong = np.flatnonzero(sums != sizes)
    if len(wrong):
        first = int(wrong[0])
        raise DataError(
            f"{values.name}: the counts of group {names[first]} add up to {sums[first]:,}, but {source} has "
            f"{sizes[first]:,} records of it; {CHANGED}"
        )
    starts = np.searchsorted(group, np.arange(len(names) + 1)).astype(np.int64)
    return SensitiveCounts(attribute, starts, value, counts)


def _known_groups(source: str, values: str, texts: Sequence[str | None], names: Sequence[str]) -> IntArray:
    place = {name: number for number, name in enumerate(names)}
    unknown = [text for text in texts if text not in place]
    if unknown:
        raise DataError(f"{values}: group {unknown[0] or '(none)'} has no record in {source}; {CHANGED}")
    return np.array([place[text] for text in texts if text is not None], dtype=np.int64)


def _refuse(source: str, names: Sequence[str], groups: IntArray, what: str) -> None:
    if len(groups):
        raise DataError(f"{source}: group {names[int(groups.min())]} {what}; {CHANGED}")


def _whole(text: str | None) -> int:
    digits = text is not None and text.isascii() and text.isdigit() and len(text) < 19
    return int(text) if text is not None and digits and text == str(int(text)) else 0


def measure_pair(
    grouped: AnatomyRelease,
    constraints: Sequence[CountedConstraint],
    references: Mapping[str, Reference] | None = None,
    grown: Collection[str] = (),
) -> list[Measurement]:
    """Measure every constraint on the buckets, those about re-identification on the exact rows.

    Parameters
    ----------
    references, grown: as for ``measure``.
    """
    return [
        measurement
        for each in constraints
        for measurement in measure(classes_for(grouped, each), [each], references, grown)
    ]


def classes_for(grouped: AnatomyRelease, constraint: Constraint) -> Classes:
    """Return the classes that a constraint judges: buckets, or records with equal quasi-identifiers."""
    if isinstance(constraint, TableConstraint) and constraint.model.singles_out:
        return grouped.tuples.classes()
    return grouped.values.classes()
