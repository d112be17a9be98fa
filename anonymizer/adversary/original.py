"""Originals of a release as an adversary holds them, and the true links to its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anonymizer.adversary.candidate import sensitive_by_name
from anonymizer.adversary.release import entry_beside
from anonymizer.attacks.coverage import meaning_of, meanings_of, same_values
from anonymizer.attacks.links import NOTHING, largest_links, links_of_pairs, located, possible_links
from anonymizer.data.relation import Relation
from anonymizer.data.source import FRAME
from anonymizer.data.table import Encoded, encode, notated_texts, read_columns
from anonymizer.data.values import identity_of_keys
from anonymizer.errors import InputError, plural
from anonymizer.hierarchy.placement import source_as_of
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.adversary import Links, Original, PublishedTable, Truth, ValueCoverage
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.labels import MISSING, SET
from anonymizer.model.owners import Owners
from anonymizer.model.table import Column, QuasiIdentifier
from anonymizer.people.units import units_of_records
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.columns import Columns
from anonymizer.plan.counting import Counting
from anonymizer.plan.plan import Plan
from anonymizer.release.classes import value_codes


def links_by_originals(first: Original | None, second: Original | None) -> Links:
    """Return the links between two releases by the original records that both are linked to.

    Original records that are equal in all columns of both are taken in the order of their rows. Without the
    same columns in both there are no links.
    """
    if first is None or second is None or set(first.names) != set(second.names):
        return NOTHING
    if set(first.sensitive) != set(second.sensitive):
        return NOTHING
    row_of = located(_in_order(second), _in_order(first))
    own, rows = _records_of(first.links.original, first.links, first.records)
    same, others = _records_of(row_of[second.links.original], second.links, first.records)
    keys, at, place = np.intersect1d(own, same, assume_unique=True, return_indices=True)
    return links_of_pairs(rows[at], others[place], np.ones(len(keys), dtype=np.int64))


def _in_order(original: Original) -> IntArray:
    """Return the codes of the distinct rows with columns in the order of their names."""
    columns = {name: original.codes[:, place] for place, name in enumerate(original.names)}
    columns |= {name: each.codes.astype(np.int32) for name, each in original.sensitive.items()}
    return np.column_stack([columns[name] for name in sorted(columns)]).astype(np.int64)


def _records_of(rows: IntArray, links: Links, most: int) -> tuple[IntArray, IntArray]:
    """Return a number for each linked record, distinct within an original row, and its released row."""
    order = np.argsort(rows, kind="stable")
    of_record = np.repeat(rows[order], links.counts[order])
    start = np.searchsorted(of_record, of_record)
    within = np.arange(len(of_record)) - start
    return of_record * most + within, np.repeat(links.release[order], links.counts[order])


def original_of_files(
    plan: Plan,
    table: PublishedTable,
    release: Relation,
    relation: Relation,
    sensitive: str | None = None,
    first: Relation | None = None,
) -> Original:
    """Return the records of a file by the columns that it shares with a release.

    Parameters
    ----------
    sensitive: another attribute to read, which the release does not publish record by record.
    first: the records that the hierarchies are built from; None if they are those of the file.

    Raises
    ------
    InputError: it shares no quasi-identifier, or the release is of a hierarchy that other records decided.
    HierarchyError: a value has no place in the hierarchy of ``first``.
    """
    names = _shared(table, relation)
    hidden = [] if sensitive is None else [sensitive]
    secret = [name for name in (*table.sensitive_names, *hidden) if name in relation.columns]
    read = read_columns(relation, plan.columns.requests((*names, *secret)), plan.columns.missing)
    encoded = encode(relation, [read[name] for name in (*names, *secret)])
    attributes = plan.columns.sensitive_attributes({name: read[name].column for name in secret})
    own = sensitive_by_name(attributes, encoded.codes[:, len(names) :])
    labels = [table.labels[table.names.index(name)] for name in names]
    columns = {name: read[name].column for name in names}
    levels = entry_beside(release, "recoding", "levels")
    if first is None:
        dependent = _dependent(plan.columns, columns, levels)
        shared = _attributes_of_input(plan.columns, table, release, relation, columns, dependent)
    else:
        shared = plan.columns.quasi_identifiers(columns, _sources_of(plan.columns, first, columns))
    known = [levels.get(each.name) for each in shared]
    heights = [each.hierarchy.height for each in shared]
    known = [
        level if type(level) is int and 0 <= level <= height else None
        for level, height in zip(known, heights, strict=True)
    ]
    meanings = meanings_of(shared, labels, plan.columns.missing, known)
    links = _reconstructed(table, encoded, meanings, own, names)
    truth = Truth.RECONSTRUCTED if links.records else Truth.UNKNOWN
    return Original(
        relation.name,
        meanings,
        encoded.codes[:, : len(names)],
        own,
        encoded.counts,
        links,
        names,
        truth,
        _true_links(plan.columns, plan.assessment, encoded, relation, release, table),
        _unmatched_columns(release, relation),
        _owners(
            plan.counting,
            relation,
            encoded,
            links if first is None else None,
            plan.counting.pseudonym in release.columns,
        ),
    )


def _sources_of(
    planned: Columns, first: Relation, columns: Mapping[str, Column]
) -> dict[str, HierarchySource[Any]]:
    """Return the hierarchies that decide by the records, as other records of the config have them."""
    sources = {}
    for name, column in columns.items():
        own = planned[name].hierarchy
        if own is not None and own.source.rule_built and name in first.columns:
            before = read_columns(first, planned.requests([name]), planned.missing)[name].column
            sources[name] = source_as_of(own.source, before, column)
    return sources


def _dependent(
    planned: Columns, columns: Mapping[str, Column], levels: Mapping[str, Any]
) -> dict[str, Column]:
    """Return the columns whose published labels only a hierarchy built from the records explains.

    Parameters
    ----------
    levels: published level of each column, as far as the release tells.
    """
    # At level 0 values are published, which no hierarchy explains.
    return {
        name: column
        for name, column in columns.items()
        if (own := planned[name].hierarchy) is not None
        and own.source.depends_on_records(column)
        and levels.get(name) != 0
    }


def _attributes_of_input(
    planned: Columns,
    table: PublishedTable,
    release: Relation,
    relation: Relation,
    columns: Mapping[str, Column],
    dependent: Mapping[str, Column],
) -> tuple[QuasiIdentifier, ...]:
    """Return the attributes of a file that should be the input of a release.

    Parameters
    ----------
    dependent: the columns whose labels depend on the records.

    Raises
    ------
    InputError: the release is of a hierarchy that other records decided.
    """
    if _is_other(release, relation, table):
        # Its own hierarchies may have the same labels by chance, so values alone count.
        bare = planned.without_hierarchies(dependent)
        _refuse_unread(planned, table, relation.name, bare.quasi_identifiers(dependent))
    attributes = planned.quasi_identifiers(columns)
    _refuse_unread(planned, table, relation.name, [each for each in attributes if each.name in dependent])
    return attributes


def _is_other(release: Relation, relation: Relation, table: PublishedTable) -> bool:
    """Return whether a file is known not to be the input of a release, by its number of records."""
    rows = entry_beside(release, "input").get("rows")
    return relation.rows != rows if type(rows) is int else relation.rows < table.records


def _refuse_unread(
    columns: Columns, table: PublishedTable, source: str, attributes: Sequence[QuasiIdentifier]
) -> None:
    """Refuse published labels that only a hierarchy built from other records would explain.

    Parameters
    ----------
    source: name of the file whose values ``attributes`` have.
    attributes: whose hierarchies depend on the records.

    Raises
    ------
    InputError: naming an attribute, a label and remedies.
    """
    for each in attributes:
        name, planned = each.name, columns[each.name].hierarchy
        assert planned is not None, "their hierarchies depend on the records"
        labels = table.labels[table.names.index(name)]
        meaning = meaning_of(each, labels, columns.missing)
        unread = np.flatnonzero((meaning.sizes == 0) & np.isnan(meaning.low))
        for text in (labels[place] or "" for place in unread.tolist()):
            if text not in {"", MISSING, *columns.missing} and SET.read(text) is None:
                raise InputError(
                    f"attributes.{name}.hierarchy: {planned.source.describe()} depends on the records, and "
                    f"'{text}' of {table.source} is a label of other records than those of {source}; give "
                    "the original of the release (--original, in Python original_df), or write the hierarchy "
                    "to a file with the command hierarchy build before the run and use it as hierarchy.file"
                )


def _owners(
    counting: Counting, relation: Relation, encoded: Encoded, links: Links | None, linked: bool
) -> Owners | None:
    """Return the owners of the released records by the units of the original ones.

    None where the config names no unit, the original lacks its column, or a released record may be of several
    persons, or of none, as several links fit: one of them would tell about other persons than are released.

    Parameters
    ----------
    links: None for a file that the release was not made of. The released row of each record is then 0, which
        has no meaning.
    linked: whether the release links the records of a person.
    """
    known = bool(counting.units) and set(counting.units.values()) <= set(relation.columns)
    if not known or not (links is None or links.forced):
        return None
    placed = np.zeros(len(encoded.counts), dtype=np.int64)
    if links is not None:
        placed[:] = -1
        placed[links.original] = links.release
    rows, linked = encoded.combination.astype(np.int64), linked and links is not None
    return Owners.of(rows, placed[rows], units_of_records(counting, relation), linked=linked)


def _shared(table: PublishedTable, relation: Relation) -> tuple[str, ...]:
    """Return the quasi-identifiers that a release shares with other records.

    Raises
    ------
    InputError: it shares none.
    """
    names = tuple(name for name in table.names if name in relation.columns)
    if not names:
        original = "the original DataFrame" if relation.name == FRAME else relation.name
        release = "the released DataFrame" if table.source == FRAME else table.source
        raise InputError(
            f"{original}: shares no quasi-identifier with {release}, which has "
            f"{', '.join(table.names)}; give the original of the release"
        )
    return names


def _reconstructed(
    table: PublishedTable,
    encoded: Encoded,
    meanings: tuple[ValueCoverage, ...],
    own: dict[str, SensitiveCodes],
    names: Sequence[str],
) -> Links:
    """Return the possible links, by the columns that the release publishes record by record."""
    compared = [name for name in own if name in table.sensitive]
    same = [same_values(own[name], table.sensitive[name]) for name in compared]
    published = [table.codes[:, table.names.index(name)] for name in names]
    published += [table.sensitive[name].codes.astype(np.int32) for name in compared]
    codes = encoded.codes[:, : len(names) + len(compared)]
    possible = possible_links((*meanings, *same), codes, np.column_stack(published))
    return largest_links(possible, encoded.counts, table.counts)


def _true_links(
    columns: Columns,
    assessment: Assessment,
    encoded: Encoded,
    original: Relation,
    release: Relation,
    table: PublishedTable,
) -> Links | None:
    """Return the links of equal keys, without a key those of row i to row i.

    None if the numbers of rows differ, or a file has no order.
    """
    if not (original.ordered and release.ordered) or (
        assessment.key is None and original.rows != release.rows
    ):
        return None
    own, other = paired_records(columns, assessment, original, release)
    rows = rows_of_records(release, table)
    return links_of_pairs(encoded.combination[own], rows[other], np.ones(len(own), dtype=np.int64))


def paired_records(
    columns: Columns, assessment: Assessment, first: Relation, second: Relation
) -> tuple[IntArray, IntArray]:
    """Return the record numbers of two files that belong together, shape (pairs,) each.

    Those with the same key; without a key, record i belongs to record i. Missing keys belong to no record.

    Raises
    ------
    DataError: a file lacks the column.
    InputError: a key is in several records.
    """
    key = assessment.key
    if key is None:
        every = np.arange(min(first.rows, second.rows))
        return every, every
    texts = [notated_texts(each, key, columns.numerals) for each in (first, second)]
    identity = identity_of_keys([*texts[0], *texts[1]], columns.numerals, (*columns.missing, MISSING))
    records: list[dict[str, int]] = []
    for each, own_texts in zip((first, second), texts, strict=True):
        keys, dictionary = [identity(text) for text in own_texts], each.dictionary(key)
        numbers = Counter[str]()
        for unit, (_, number) in zip(keys, dictionary, strict=True):
            numbers.update({} if unit is None else {unit: number})
        repeated = sum(number > 1 for number in numbers.values())
        if repeated:
            raise InputError(
                f"{each.name}: column '{key}' has {plural(repeated, 'value')} in several records; accepted "
                "as key: a column whose values differ"
            )
        record_of = np.zeros(len(dictionary), dtype=np.int64)
        record_of[each.codes(key)] = np.arange(each.rows)
        records.append(
            {unit: int(record) for unit, record in zip(keys, record_of, strict=True) if unit is not None}
        )
    common = [text for text in records[0] if text in records[1]]
    own, other = (np.array([each[text] for text in common], dtype=np.int64) for each in records)
    return own, other


def rows_of_records(release: Relation, table: PublishedTable) -> IntArray:
    """Return the row of a counted release that each of its records is in, shape (records,), int64."""
    columns = []
    for position, name in enumerate(table.names):
        place = {label: code for code, label in enumerate(table.labels[position])}
        codes = np.array([place[text] for text, _ in release.dictionary(name)], dtype=np.int64)
        columns.append(codes[release.codes(name)])
    for name, own in table.sensitive.items():
        texts = [text for text, _ in release.dictionary(name)]
        columns.append(value_codes(release.name, own.attribute.column, texts)[release.codes(name)])
    known = np.column_stack([*table.codes.T, *(own.codes for own in table.sensitive.values())])
    return located(np.column_stack(columns), known.astype(np.int64))


def _unmatched_columns(release: Relation, original: Relation) -> dict[str, list[str]]:
    """Return the columns that only one of two files has."""
    return {
        "release": [name for name in release.columns if name not in original.columns],
        "original": [name for name in original.columns if name not in release.columns],
    }
