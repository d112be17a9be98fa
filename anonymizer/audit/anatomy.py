"""An Anatomy release: the QIT and the ST, read, checked against each other, and measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from anonymizer.audit.classes import measure, value_codes
from anonymizer.data.relation import Relation
from anonymizer.errors import DataError
from anonymizer.model.adversary import AnatomyRelease
from anonymizer.model.arrays import IntArray, count
from anonymizer.model.classes import Classes, Measurement, Reference, SensitiveCounts
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import Constraint, CountedConstraint, TableConstraint

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
