"""Two releases of one input, counted together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonymizer.adversary.original import paired_records, rows_of_records
from anonymizer.attacks.coverage import coverage_of_ranges, meaning_of
from anonymizer.attacks.links import links_of_pairs
from anonymizer.data.relation import Relation
from anonymizer.data.table import column_of, declared_codes
from anonymizer.hierarchy.coded import tree_of
from anonymizer.hierarchy.date import DateSource
from anonymizer.hierarchy.mask import MaskSource
from anonymizer.model.adversary import Links, PublishedTable, ReleasePair, Truth, ValueCoverage
from anonymizer.model.dates import ISO
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import MISSING, SET, SUPPRESSED, period_days, ranges_of
from anonymizer.model.table import Code, Column, ValueType
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.columns import Columns, PlannedColumn

CountedRelease = tuple[PublishedTable, Relation]
"""A release as its recipient counts it, and its records."""


def pair_of_releases(
    columns: Columns, assessment: Assessment, first: CountedRelease, second: CountedRelease, links: Links
) -> ReleasePair | None:
    """Return two releases in one domain of values; None if they share no quasi-identifier.

    Without original records, the domain is what the texts mention: the leaves of a hierarchy that the config
    lists, else the ends of intervals, members of sets and single values.

    Parameters
    ----------
    links: by common original records.

    Raises
    ------
    InputError: the key of the config repeats in a release.
    """
    (table, relation), (other, second_relation) = first, second
    names = tuple(name for name in table.names if name in other.names)
    if not names:
        return None
    read = [
        _read_together(
            columns,
            name,
            _labels(table, name),
            _labels(other, name),
            {**declared_codes(second_relation, name), **declared_codes(relation, name)},
        )
        for name in names
    ]
    aligned = None
    ordered = relation.ordered and second_relation.ordered
    if ordered and (assessment.key is not None or relation.rows == second_relation.rows):
        own, same = paired_records(columns, assessment, relation, second_relation)
        rows = rows_of_records(relation, table)[own], rows_of_records(second_relation, other)[same]
        aligned = links_of_pairs(*rows, np.ones(len(own), dtype=np.int64))
    truth = Truth.RECONSTRUCTED if links.records else Truth.UNKNOWN
    return ReleasePair(
        names, tuple(each[0] for each in read), tuple(each[1] for each in read), links, truth, aligned
    )


def _labels(table: PublishedTable, name: str) -> tuple[str | None, ...]:
    return table.labels[table.names.index(name)]


def _read_together(
    columns: Columns,
    name: str,
    first: Sequence[str | None],
    second: Sequence[str | None],
    declared: Mapping[str, Code],
) -> tuple[ValueCoverage, ValueCoverage]:
    """Return what the texts of a column cover in either release.

    Parameters
    ----------
    declared: codes of its labels.
    """
    planned = columns[name]
    source = None if planned.hierarchy is None else planned.hierarchy.source
    first, second = (
        [None if each is None else text_identity(each) for each in labels] for labels in (first, second)
    )
    codes = {MISSING, "", *columns.missing, *columns.absent_among(name, {*first, *second})}
    absent = frozenset(each for each in codes if each is not None)
    texts = sorted({each for each in (*first, *second) if each is not None} - absent - {SUPPRESSED})
    listed_values = source is not None and not source.rule_built
    if not listed_values and not isinstance(source, MaskSource) and planned.type is not ValueType.TEXT:
        number = _number_of(columns, planned)
        ranges = {each: _ranges(each, number, isinstance(source, DateSource)) for each in texts}
        if all(each is not None for each in ranges.values()):
            everything = [(-np.inf, np.inf)]
            readings = [
                [
                    None if each is None or each in absent else ranges.get(each) or everything
                    for each in labels
                ]
                for labels in (first, second)
            ]
            one, other = coverage_of_ranges(name, readings)
            return one, other
    bare = not listed_values and not isinstance(source, MaskSource)
    own = columns.without_hierarchies([name]) if bare else columns
    values = {member for each in texts for member in SET.read(each) or [each]}
    if source is not None and listed_values:
        # A text outside the hierarchy covers nothing.
        counts = np.ones(len(texts), dtype=np.int64)
        shown = Column(name, ValueType.TEXT, tuple(texts), counts, None, None, codes=declared)
        tree = tree_of(source, shown, columns.folder, f"column '{name}': {source.describe()}")
        values = {label for level, label in tree if level == 0} - absent
    lacking = any(each is None or each in absent for each in (*first, *second))
    dictionary = [*((each, 1) for each in sorted(values)), *([(None, 1)] if lacking else [])]
    column = column_of(f"column '{name}'", dictionary, columns.request(name, ValueType.TEXT), absent).column
    (attribute,) = own.quasi_identifiers({name: replace(column, codes=declared)})
    return meaning_of(attribute, first, absent), meaning_of(attribute, second, absent)


def _number_of(columns: Columns, planned: PlannedColumn) -> Callable[[str], float | None]:
    """Return the function from texts of a column to numbers or the ordinals of dates."""

    def number(text: str) -> float | None:
        own = None if planned.type is ValueType.DATE else columns.numerals.number(text)
        if own is not None:
            return own if np.isfinite(own) else None
        found = planned.dates.number(text)
        return ISO.number(text) if found is None else found

    return number


def _ranges(
    label: str, number: Callable[[str], float | None], dated: bool
) -> list[tuple[float, float]] | None:
    """Return the ranges of numbers or dates that a text names; with ``dated``, also periods."""
    days = period_days(label) if dated else None
    return ranges_of(label, number) if days is None else [days]
