"""A release as it is counted: by its run when it is read back, and by an adversary who has it.

A release is one table, or the QIT and ST of Anatomy, which share the column ``group``. ``verify`` is the same
for all shapes. The adversary may have original records too, and a second release.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from anonymizer.attacks.adversary_view import (
    NOTHING,
    coverage_of_ranges,
    known_original,
    known_truth,
    largest_links,
    links_of_pairs,
    located,
    meaning_of,
    meanings_of,
    possible_links,
    published_ranges,
    same_values,
    set_members,
)
from anonymizer.attacks.three_questions import Answer, worst_answers
from anonymizer.audit.classes import (
    UnitColumns,
    classes_of,
    count_classes,
    count_reference,
    measure,
    measure_pair,
    read_pair,
    value_codes,
)
from anonymizer.audit.comparison import misassigned_records, mismatched_records
from anonymizer.config.search import EngineName
from anonymizer.data.frames import NAME as FRAME
from anonymizer.data.frames import FrameRelation
from anonymizer.data.labelled import ReadNumbers, labelled, renamed
from anonymizer.data.relation import EngineRelation, Groups, Relation, ReleaseQuery
from anonymizer.data.source import CSV_FILES, is_url
from anonymizer.data.table import Encoded, column_of, encode, notated_texts, read_columns, unite_spellings
from anonymizer.data.values import identity_of_keys, split_absent
from anonymizer.errors import AuditFailed, DataError, InputError, listed, plural, suggestion
from anonymizer.hierarchy.date import DateSource, period_days
from anonymizer.hierarchy.mask import MaskSource
from anonymizer.hierarchy.placement import source_as_of
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.adversary import (
    AdversaryView,
    Links,
    Original,
    Owners,
    PublishedTable,
    ReleasePair,
    Truth,
    ValueCoverage,
)
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, ascending, count, numbered
from anonymizer.model.classes import (
    Classes,
    Measurement,
    Reference,
    Released,
    SensitiveCodes,
    SensitiveCounts,
)
from anonymizer.model.dates import ISO
from anonymizer.model.identity import text_identity
from anonymizer.model.recoding import COUNT, GROUP, GroupRecoding, Outcome, Recoding
from anonymizer.model.table import (
    MISSING,
    SUPPRESSED,
    UNKNOWN,
    Column,
    NumberColumns,
    NumberLabels,
    QuasiIdentifier,
    Role,
    SensitiveAttribute,
    ValueType,
)
from anonymizer.model.units import PERSON
from anonymizer.privacy.base import CountedConstraint
from anonymizer.release.anatomy import pair_columns, pair_named, project_pair
from anonymizer.release.folder import PUBLIC_REPORT
from anonymizer.release.query import (
    counted_rows,
    project,
    recoded_rows,
    regions_rows,
    single_shuffled,
    with_pseudonyms,
)
from anonymizer.run.plan import Plan, PlannedColumn, check_weight_columns, check_weights
from anonymizer.run.prepare import (
    Prepared,
    check_held_out,
    countable_constraints,
    put_in_bands,
    units_of_records,
    with_people,
)
from anonymizer.run.units import (
    all_records,
    check_unit_limit,
    check_whole,
    released_records,
    with_owners,
)
from anonymizer.system import check_file


def adversary_from_files(
    plan: Plan,
    release: Relation,
    original: Relation | None = None,
    second: Relation | None = None,
    weights: Sequence[str] = (),
) -> AdversaryView:
    """Return the view of an adversary with a release, and optionally original records and a second release.

    Links are reconstructed: an original record may be linked to a released one that generalizes its
    quasi-identifiers and has its sensitive values.

    Parameters
    ----------
    plan: roles and hierarchies of the columns.
    weights: columns of the release with sampling weights.

    Raises
    ------
    InputError: the release has no quasi-identifier of the config, or shares none with the original, or is one
        of the two files of an Anatomy release.
    """
    release, original, second = by_config_names(plan, release, original, second)
    for each in (release, second):
        _refuse_half(plan, each)
    if original is not None:
        put_in_bands(plan, original)
    release = _as_published(plan, release)
    second = None if second is None else _as_published(plan, second)
    seen = scene_of_release(plan, release, weights)
    table, named = seen.release, seen.named
    own = None if original is None else original_of_files(plan, table, release, original)
    if second is None:
        return AdversaryView(table, None, own, named=named)
    other = read_release(plan, second)
    same = None if original is None else original_of_files(plan, other, second, original)
    pair = None
    if not plan.attacks or any(each.compares_releases for each in plan.attacks):
        pair = pair_of_releases(plan, (table, release), (other, second), links_by_originals(own, same))
    return AdversaryView(table, other, own, same, pair=pair, named=named)


CountedRelease = tuple[PublishedTable, Relation]
"""A release as its recipient counts it, and its records."""


def pair_of_releases(
    plan: Plan, first: CountedRelease, second: CountedRelease, links: Links
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
    read = [_read_together(plan, name, _labels(table, name), _labels(other, name)) for name in names]
    aligned = None
    ordered = relation.ordered and second_relation.ordered
    if ordered and (plan.key is not None or relation.rows == second_relation.rows):
        own, same = paired_records(plan, relation, second_relation)
        rows = rows_of_records(relation, table)[own], rows_of_records(second_relation, other)[same]
        aligned = links_of_pairs(*rows, np.ones(len(own), dtype=np.int64))
    truth = Truth.RECONSTRUCTED if links.records else Truth.UNKNOWN
    return ReleasePair(
        names, tuple(each[0] for each in read), tuple(each[1] for each in read), links, truth, aligned
    )


def _labels(table: PublishedTable, name: str) -> tuple[str | None, ...]:
    return table.labels[table.names.index(name)]


def _read_together(
    plan: Plan, name: str, first: Sequence[str | None], second: Sequence[str | None]
) -> tuple[ValueCoverage, ValueCoverage]:
    """Return what the texts of a column cover in either release."""
    planned = plan.columns[name]
    source = None if planned.hierarchy is None else planned.hierarchy.source
    first, second = (
        [None if each is None else text_identity(each) for each in labels] for labels in (first, second)
    )
    codes = {MISSING, "", *plan.missing, *plan.absent_among(name, {*first, *second})}
    absent = frozenset(each for each in codes if each is not None)
    texts = sorted({each for each in (*first, *second) if each is not None} - absent - {SUPPRESSED})
    listed_values = source is not None and not source.rule_built
    if not listed_values and not isinstance(source, MaskSource) and planned.type is not ValueType.TEXT:
        number = _number_of(plan, planned)
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
    if not listed_values and not isinstance(source, MaskSource):
        plan = plan.without_hierarchies([name])
    values = {member for each in texts for member in _members(each)}
    if source is not None and listed_values:
        # A text outside the hierarchy covers nothing.
        counts = np.ones(len(texts), dtype=np.int64)
        tree = source.build(Column(name, ValueType.TEXT, tuple(texts), counts, None, None), plan.folder)
        values = {label for level, label in tree if level == 0} - absent
    lacking = any(each is None or each in absent for each in (*first, *second))
    dictionary = [*((each, 1) for each in sorted(values)), *([(None, 1)] if lacking else [])]
    column = column_of(f"column '{name}'", dictionary, plan.request(name, ValueType.TEXT), absent).column
    (attribute,) = plan.quasi_identifiers({name: column})
    return meaning_of(attribute, first, absent), meaning_of(attribute, second, absent)


def _members(label: str) -> list[str]:
    return set_members(label) if label.startswith("{") and label.endswith("}") else [label]


def _number_of(plan: Plan, planned: PlannedColumn) -> Callable[[str], float | None]:
    """Return the function from texts of a column to numbers or the ordinals of dates."""

    def number(text: str) -> float | None:
        own = None if planned.type is ValueType.DATE else plan.numerals.number(text)
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
    return published_ranges(label, number) if days is None else [days]


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


def answers_of_files(
    plan: Plan, view: AdversaryView, release: Relation, original: Relation, control: Relation
) -> list[Answer]:
    """Return the answers to the three questions of European law, with records that were held out as control.

    Parameters
    ----------
    view: of the release and the original.
    control: records of other people, with the columns of the original.

    Raises
    ------
    InputError: the view is of an Anatomy release, a person is in both files, or they differ in columns.
    """
    if view.original is None or view.grouped is not None:
        raise InputError(
            f"{control.name}: records that were held out are compared with a release of one table, and with "
            "its original records; give both, or leave them out"
        )
    release, original, other = by_config_names(plan, release, original, control)  # type: ignore[assignment]
    assert other is not None
    check_held_out(plan, original, other)
    put_in_bands(plan, other)
    held_out = original_of_files(plan, view.release, with_labels(plan, release), other, first=original)
    scenarios = {each.scenario: each.knowledge for each in plan.planned if each.scenario and each.knowledge}
    return worst_answers(view.release, view.original, held_out, scenarios)


def by_config_names(
    plan: Plan, release: Relation, original: Relation | None, other: Relation | None
) -> tuple[Relation, Relation | None, Relation | None]:
    """Return files with the names that columns have in the config, by the option ``columns`` of attacks.

    Raises
    ------
    InputError: a name in ``columns`` is in none of the files.
    """
    names = plan.foreign_names
    known = [each for each in (release, original, other) if each is not None]
    every = [column for each in known for column in each.columns]
    for foreign in names:
        if foreign not in every:
            raise InputError(
                f"{plan.config}: attacks: columns: '{foreign}' is not a column of "
                f"{listed([each.name for each in known])}; {suggestion(foreign, every)}"
            )
    others = [None if each is None else as_in_config(plan, each) for each in (original, other)]
    return as_in_config(plan, release), others[0], others[1]


def as_in_config(plan: Plan, relation: Relation) -> Relation:
    """Return a file with the names that its columns have in the config."""
    return renamed(relation, plan.foreign_names)


def unite_published(plan: Plan, relation: Relation) -> None:
    """Write each value of the quasi-identifiers of a release in one way, in place."""
    names = plan.among(relation.columns, Role.QUASI_IDENTIFIER)
    unite_spellings(relation, plan.requests(names), plan.missing)


def _as_published(plan: Plan, relation: Relation) -> Relation:
    """Return a release with labels in place of numbers, and one spelling of each value."""
    unite_published(plan, relation)
    return with_labels(plan, relation)


def with_labels(plan: Plan, relation: Relation) -> Relation:
    """Return a release with labels in place of the numbers that a config asks for.

    An empty field is what the public report next to the release says; without one, it is any value. A column
    with a code of a missing value is not one of a release.
    """
    if relation.stored is not relation:
        return relation
    reported, numbers = _reported(relation, "release", "numbers"), {}
    for name, column in plan.columns.items():
        own = NumberColumns(name, column.labels)
        if column.labels is NumberLabels.RANGE or not set(own.columns) <= set(relation.columns):
            continue
        entry = reported.get(name)
        if entry or not any(_has_codes(plan, relation, each) for each in own.columns):
            empty = entry.get("empty") if isinstance(entry, Mapping) else None
            numbers[name] = ReadNumbers(own, empty if empty in UNKNOWN else SUPPRESSED)
    return labelled(relation, numbers, plan.numerals.decimal)


def _has_codes(plan: Plan, relation: Relation, name: str) -> bool:
    """Return whether a column has a text, not an empty one, that means a missing value."""
    texts = [text for text, _ in relation.dictionary(name) if text and text.strip()]
    return bool(split_absent(texts, plan.missing, plan.numerals)[0])


def _refuse_half(plan: Plan, relation: Relation | None) -> None:
    """Refuse a single file of an Anatomy release: it has the column ``group`` and lacks others."""
    if relation is None or GROUP in plan.columns or GROUP not in relation.columns:
        return
    lacking = [name for name in plan.with_role(Role.SENSITIVE) if name not in relation.columns]
    if lacking or COUNT in relation.columns:
        halved = f"the column '{GROUP}' and not '{lacking[0]}'" if lacking else f"'{GROUP}' and '{COUNT}'"
        raise InputError(
            f"{relation.name}: has {halved}, so it is one of the two tables of an Anatomy release; give "
            "both, in Python the records and sensitive_table="
        )


def scene_of_run(
    prepared: Prepared, recoding: Recoding, release: Relation, weights: Sequence[str] = ()
) -> AdversaryView:
    """Return the adversary's view of a finished run: the written release, and the input with its true links.

    The input is left out if its distinct rows do not fit in memory.

    Parameters
    ----------
    weights: columns of the release with sampling weights.

    Raises
    ------
    InputError: the release differs from the recoding of the input.
    """
    plan = prepared.plan
    table = read_release(plan, release, weights)
    if prepared.problem.source is not None:
        return AdversaryView(table)
    return AdversaryView(
        table,
        original=known_original(plan.input, prepared.problem.table, recoding, table, plan.missing),
    )


def read_release(plan: Plan, relation: Relation, weights: Sequence[str] = ()) -> PublishedTable:
    """Count a release by its quasi-identifiers and sensitive attributes.

    Parameters
    ----------
    weights: columns with sampling weights, which are summed.

    Raises
    ------
    InputError: it has no quasi-identifier of the config.
    """
    return scene_of_release(plan, relation, weights, linked=False).release


def scene_of_release(
    plan: Plan, relation: Relation, weights: Sequence[str] = (), *, linked: bool = True
) -> AdversaryView:
    """Return the view of somebody who has a release alone; parameters and errors as for ``read_release``.

    Parameters
    ----------
    linked: whether to read the pseudonyms of persons, if it has any.
    """
    names = plan.among(relation.columns, Role.QUASI_IDENTIFIER)
    if not names:
        wanted = ", ".join(plan.with_role(Role.QUASI_IDENTIFIER))
        raise InputError(f"{relation.name}: has no quasi-identifier of {plan.config}; expected {wanted}")
    attributes = plan.read_sensitive(relation, plan.among(relation.columns, Role.SENSITIVE))
    check_weight_columns(relation, weights)
    pseudonym = [plan.pseudonym] if linked and plan.pseudonym in relation.columns else []
    secret = [attribute.name for attribute in attributes]
    groups = relation.group_counts([*names, *secret, *weights, *pseudonym])
    codes = {}
    for position, attribute in enumerate(attributes, start=len(names)):
        texts = groups.values[position]
        values = value_codes(relation.name, attribute.column, texts)
        codes[attribute.name] = SensitiveCodes(attribute, values[groups.codes[:, position]])
    sums = {}
    for position, name in enumerate(weights, start=len(names) + len(attributes)):
        numerals = check_weights(plan, relation, name)
        each = np.array([numerals.number(str(text)) for text in groups.values[position]], dtype=np.float64)
        sums[name] = each[groups.codes[:, position]] * groups.counts
    table, row_of = _merged(relation.name, names, groups, codes, sums)
    if not pseudonym:
        return AdversaryView(table)
    absent = np.array([text is None or not text for text in groups.values[-1]], dtype=np.bool_)
    persons = groups.codes[:, -1].astype(np.int64)
    persons = np.repeat(np.where(absent[persons], -1, persons), groups.counts)
    rows = np.repeat(row_of, groups.counts)
    return AdversaryView(table, named=Owners.of(rows, rows, {PERSON: persons}, linked=True))


def _merged(
    source: str,
    names: Sequence[str],
    groups: Groups,
    sensitive: dict[str, SensitiveCodes],
    weights: dict[str, FloatArray],
) -> tuple[PublishedTable, IntArray]:
    """Return groups as a table, merged if they differ in other columns or spellings; and the row of each."""
    width = len(names)
    columns = [*groups.codes[:, :width].T, *(own.codes for own in sensitive.values())]
    if ascending(columns, len(groups.counts)):  # saves arrays of the size of a large release
        labels, codes = groups.values[:width], groups.codes[:, :width]
        table = PublishedTable(source, tuple(names), labels, codes, sensitive, groups.counts, weights)
        return table, np.arange(len(groups.counts))
    keys, first = numbered(columns, len(groups.counts))
    table = PublishedTable(
        source,
        tuple(names),
        groups.values[:width],
        groups.codes[first, :width],
        {name: own.at(first) for name, own in sensitive.items()},
        count(keys, groups.counts, len(first)),
        {name: np.bincount(keys, own, len(first)).astype(np.float64) for name, own in weights.items()},
    )
    return table, keys


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
    read = read_columns(relation, plan.requests((*names, *secret)), plan.missing)
    encoded = encode(relation, [read[name] for name in (*names, *secret)])
    attributes = plan.sensitive_attributes({name: read[name].column for name in secret})
    own = _sensitive_codes(attributes, encoded.codes[:, len(names) :])
    labels = [table.labels[table.names.index(name)] for name in names]
    columns = {name: read[name].column for name in names}
    levels = _reported(release, "recoding", "levels")
    if first is None:
        dependent = _dependent(plan, columns, levels)
        shared = _attributes_of_input(plan, table, release, relation, columns, dependent)
    else:
        shared = plan.quasi_identifiers(columns, _sources_of(plan, first, columns))
    known = [levels.get(each.name) for each in shared]
    heights = [each.hierarchy.height for each in shared]
    known = [
        level if type(level) is int and 0 <= level <= height else None
        for level, height in zip(known, heights, strict=True)
    ]
    meanings = meanings_of(shared, labels, plan.missing, known)
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
        _true_links(plan, encoded, relation, release, table),
        _unmatched_columns(release, relation),
        _owners(plan, relation, encoded, links if first is None else None, plan.pseudonym in release.columns),
    )


def _sources_of(
    plan: Plan, first: Relation, columns: Mapping[str, Column]
) -> dict[str, HierarchySource[Any]]:
    """Return the hierarchies that decide by the records, as other records of the config have them."""
    sources = {}
    for name, column in columns.items():
        planned = plan.columns[name].hierarchy
        if planned is not None and planned.source.rule_built and name in first.columns:
            before = read_columns(first, plan.requests([name]), plan.missing)[name].column
            sources[name] = source_as_of(planned.source, before, column)
    return sources


def _dependent(plan: Plan, columns: Mapping[str, Column], levels: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns whose published labels only a hierarchy built from the records explains.

    Parameters
    ----------
    levels: published level of each column, as far as the release tells.
    """
    planned = {name: plan.columns[name].hierarchy for name in columns}
    # At level 0 values are published, which no hierarchy explains.
    return {
        name: column
        for name, column in columns.items()
        if (own := planned[name]) is not None
        and own.source.depends_on_records(column)
        and levels.get(name) != 0
    }


def _attributes_of_input(
    plan: Plan,
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
        bare = plan.without_hierarchies(dependent)
        _refuse_unread(plan, table, relation.name, bare.quasi_identifiers(dependent))
    attributes = plan.quasi_identifiers(columns)
    _refuse_unread(plan, table, relation.name, [each for each in attributes if each.name in dependent])
    return attributes


def _is_other(release: Relation, relation: Relation, table: PublishedTable) -> bool:
    """Return whether a file is known not to be the input of a release, by its number of records."""
    rows = _reported(release, "input").get("rows")
    return relation.rows != rows if type(rows) is int else relation.rows < table.records


def _refuse_unread(
    plan: Plan, table: PublishedTable, source: str, attributes: Sequence[QuasiIdentifier]
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
        name, planned = each.name, plan.columns[each.name].hierarchy
        assert planned is not None, "their hierarchies depend on the records"
        labels = table.labels[table.names.index(name)]
        meaning = meaning_of(each, labels, plan.missing)
        unread = np.flatnonzero((meaning.sizes == 0) & np.isnan(meaning.low))
        for text in (labels[place] or "" for place in unread.tolist()):
            if text not in {"", MISSING, *plan.missing} and not text.startswith("{"):
                raise InputError(
                    f"attributes.{name}.hierarchy: {planned.source.describe()} depends on the records, and "
                    f"'{text}' of {table.source} is a label of other records than those of {source}; give "
                    "the original of the release (--original, in Python original_df), or write the hierarchy "
                    "to a file with the command hierarchy build before the run and use it as hierarchy.file"
                )


def _owners(
    plan: Plan, relation: Relation, encoded: Encoded, links: Links | None, linked: bool
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
    known = bool(plan.units) and set(plan.units.values()) <= set(relation.columns)
    if not known or not (links is None or links.forced):
        return None
    placed = np.zeros(len(encoded.counts), dtype=np.int64)
    if links is not None:
        placed[:] = -1
        placed[links.original] = links.release
    rows, linked = encoded.combination.astype(np.int64), linked and links is not None
    return Owners.of(rows, placed[rows], units_of_records(plan, relation), linked=linked)


def _reported(release: Relation, section: str, key: str | None = None) -> Mapping[str, Any]:
    """Return an entry of the public report next to a released file; empty if it is of another file."""
    path = Path(release.name).with_name(PUBLIC_REPORT)
    if release.sha256 is None or is_url(release.name) or not path.is_file():
        return {}
    try:
        report = json.loads(check_file(path).read_bytes())
        own = report["release"]["sha256"] == release.sha256
        found = report[section] if own else None
        found = found if key is None or found is None else found[key]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return found if isinstance(found, Mapping) else {}


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


def _sensitive_codes(attributes: Sequence[SensitiveAttribute], codes: CodeArray) -> dict[str, SensitiveCodes]:
    """Return the values of sensitive attributes by name, from one column of codes for each."""
    return {
        each.name: SensitiveCodes(each, own.astype(np.int64))
        for each, own in zip(attributes, codes.T, strict=True)
    }


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
    plan: Plan, encoded: Encoded, original: Relation, release: Relation, table: PublishedTable
) -> Links | None:
    """Return the links of equal keys, without a key those of row i to row i.

    None if the numbers of rows differ, or a file has no order.
    """
    if not (original.ordered and release.ordered) or (plan.key is None and original.rows != release.rows):
        return None
    own, other = paired_records(plan, original, release)
    rows = rows_of_records(release, table)
    return links_of_pairs(encoded.combination[own], rows[other], np.ones(len(own), dtype=np.int64))


def paired_records(plan: Plan, first: Relation, second: Relation) -> tuple[IntArray, IntArray]:
    """Return the record numbers of two files that belong together, shape (pairs,) each.

    Those with the same key; without a key, record i belongs to record i. Missing keys belong to no record.

    Raises
    ------
    DataError: a file lacks the column.
    InputError: a key is in several records.
    """
    key = plan.key
    if key is None:
        every = np.arange(min(first.rows, second.rows))
        return every, every
    texts = [notated_texts(each, key, plan.numerals) for each in (first, second)]
    identity = identity_of_keys([*texts[0], *texts[1]], plan.numerals, (*plan.missing, MISSING))
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


Tables = Sequence[Relation]
"""A release that was read back: one table, or the QIT and ST."""

RelationPair = tuple[Relation, Relation]
"""The QIT and the ST."""


@dataclass(frozen=True, eq=False)
class Found:
    """A release that a search found.

    Attributes
    ----------
    prepared: the records and the table of the recoding.
    outcome: with a recoding.
    promised: the recoding with its classes.
    """

    prepared: Prepared
    outcome: Outcome
    promised: Released

    @property
    def recoding(self) -> Recoding:
        """The recoding of the table."""
        return self.promised.recoding


@dataclass(frozen=True)
class SecondTable:
    """The sensitive table of an Anatomy release.

    Attributes
    ----------
    sha256: of the file; None for a DataFrame.
    rows: one for each bucket and value.
    """

    sha256: str | None
    rows: int


@dataclass(frozen=True, eq=False)
class Audited:
    """A release as it was measured.

    Attributes
    ----------
    sha256: of the file that was read back, for Anatomy the QIT; None for a DataFrame.
    rows: counted in the release.
    sizes: of its classes, shape (classes,), int64.
    measurements: every constraint, measured on the release; from ``verify`` only the countable ones.
    second: the ST of an Anatomy release.
    """

    sha256: str | None
    rows: int
    sizes: IntArray
    measurements: list[Measurement]
    second: SecondTable | None = None


@dataclass(frozen=True, eq=False)
class ReadBack:
    """A release as it was counted.

    Attributes
    ----------
    measurements: of the countable constraints.
    wrong: counts the records that differ from the recoding.
    """

    classes: Classes
    measurements: list[Measurement]
    wrong: Callable[[], int]


class Shape(ABC):
    """The tables of a release.

    Attributes
    ----------
    fault: end of the message "records that ..." about those that differ from the recoding.
    whole: whether one search covered all records, so that rejected candidates are informative about them.
    columns: of each table, in their order.
    """

    fault: ClassVar[str]
    whole: ClassVar[bool] = True
    columns: Sequence[Sequence[str]]

    @abstractmethod
    def queries(self, found: Found, scratch: Path | None) -> tuple[ReleaseQuery, ...]:
        """Return the tables, ready to be copied.

        Parameters
        ----------
        scratch: a folder for temporary files; None in memory.
        """

    @abstractmethod
    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count tables that were read back.

        Raises
        ------
        DataError: a value is not in the input, or the tables do not belong together.
        """

    def read(self, table: Relation, found: Found) -> Relation:  # noqa: ARG002 - of any release
        """Return a table that was read back with labels in place of the numbers that were written for them.

        Raises
        ------
        DataError: it lacks a column of numbers.
        """
        return table

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:
        """Check that the classes have the sizes that the search counted.

        Raises
        ------
        AuditFailed: they have not.
        """
        kept = found.promised.kept_suppressed
        expected = np.sort([*found.promised.class_sizes, *([kept] if kept else [])])
        if not np.array_equal(np.sort(classes.sizes), expected):
            raise AuditFailed(
                f"{release.name}: {classes.number} classes of {classes.records} records, but the search "
                f"counted {len(expected)} classes of {int(expected.sum())} records"
            )

    @abstractmethod
    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that the columns released unchanged lost the values of suppressed records and nothing else.

        Raises
        ------
        AuditFailed: a value was added, changed or lost.
        """

    @abstractmethod
    def view(self, tables: Tables, found: Found) -> AdversaryView:
        """Return the adversary's view of tables that were read back."""


class TableShape(Shape):
    """All columns of a record in one row."""

    fault = "differ from the recoding of the input"

    def __init__(self, plan: Plan, relation: Relation) -> None:
        self._plan = plan
        self.columns = [
            [name for name in relation.columns if name == plan.pseudonym or plan.released([name])]
        ]
        as_text = not isinstance(relation, FrameRelation) and CSV_FILES.named(plan.output or "")
        self._decimal = plan.numerals.decimal if as_text else None

    def read(self, table: Relation, found: Found) -> Relation:
        """Return the table with labels in place of numbers."""
        return labelled(table, numbers_of(found.recoding), self._decimal)

    def queries(
        self,
        found: Found,
        scratch: Path | None,  # noqa: ARG002 - the input's engine needs none
    ) -> tuple[ReleaseQuery, ...]:
        """Return the table, from the frequency table alone if the release follows from it."""
        pseudonym, shuffled = self._plan.pseudonym, self._plan.shuffled
        if pseudonym is None:
            return (released_query(found, self.columns[0], self._decimal, shuffled=shuffled),)
        prepared = found.prepared
        relation, rows = prepared.encoded.relation, prepared.rows(found.recoding)
        projection = project(relation, rows, found.recoding, self.columns[0], self._decimal)
        projection = with_pseudonyms(projection, pseudonym, prepared.units[PERSON])
        return (relation.records_query(projection, shuffled=shuffled),)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the table by quasi-identifiers and sensitive attributes."""
        prepared, (release,) = found.prepared, tables
        table = prepared.problem.table
        names = _names(prepared)
        groups = release.group_counts([*names, *table.sensitive_names])
        classes = classes_of(release.name, groups, table.sensitive, names)
        if table.population is not None:
            classes = with_people(classes, groups, table, found.recoding)
        asked = countable_constraints(prepared.constraints)
        judged, references = classes, references_of(prepared)
        at_hand: set[str | None] = {None}
        if self._plan.pseudonym is not None:
            judged, at_hand = self._linked(release, found), {None, PERSON}
            references = None if references is None else _unit_references(found)
        here = [each.unit in at_hand and not each.model.needs_households for each in asked]
        own = iter(measure(judged, [*compress(asked, here)], references, self._plan.grown))
        others = [each for each, known in zip(asked, here, strict=True) if not known]
        units = iter(self._measured_units(others, found))
        measured = [next(own if known else units) for known in here]
        return ReadBack(classes, measured, lambda: mismatched_records(release.name, groups, found.recoding))

    def _linked(self, release: Relation, found: Found) -> Classes:
        """Return the classes of persons with equal lists of rows, by the pseudonyms of the release.

        Raises
        ------
        AuditFailed: the pseudonyms link other records than those of one person.
        """
        table, column = found.prepared.problem.table, str(self._plan.pseudonym)
        units = UnitColumns({PERSON: column}, frozenset({None, ""}), PERSON)
        classes = count_classes(release, _names(found.prepared), table.sensitive, units)
        expected = released_records(found.prepared, found.recoding)
        sizes, own = (np.sort(each.sizes_in(PERSON)) for each in (classes, expected))
        if not np.array_equal(sizes, own):
            raise AuditFailed(
                f"{release.name}: column '{column}' links other records than those of one person"
            )
        return classes

    def _measured_units(self, asked: Sequence[CountedConstraint], found: Found) -> list[Measurement]:
        """Measure constraints that count units, which the release does not name, record by record."""
        if not asked:
            return []
        references = None if found.prepared.problem.moving_reference else _unit_references(found)
        classes = released_records(found.prepared, found.recoding)
        return measure(classes, asked, references, self._plan.grown)

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Compare every column that is not recoded."""
        own = [] if self._plan.pseudonym is None else [self._plan.pseudonym]
        check_untouched(release, found, [*_names(found.prepared), *own])
        check_whole(found.prepared, found.recoding)
        check_unit_limit(found.prepared, found.recoding)

    def view(self, tables: Tables, found: Found) -> AdversaryView:
        """Return the table, and the input with the published row of each record."""
        plan, prepared, recoding = self._plan, found.prepared, found.recoding
        view = scene_of_run(prepared, recoding, tables[0], plan.weights)
        return with_owners(prepared, recoding, view)


def _unit_references(found: Found) -> dict[str, Reference]:
    """Return the distribution p of each sensitive attribute in the input, of records and of units."""
    whole = all_records(found.prepared, found.recoding)
    return {name: whole.reference(name) for name in found.prepared.problem.table.sensitive_names}


def numbers_of(recoding: Recoding) -> dict[str, ReadNumbers]:
    """Return how the numbers are read that a recoding releases in place of labels, by quasi-identifier.

    Values of removed records have no effect.
    """
    if all(attribute.number_columns is None for attribute in recoding.table.quasi_identifiers):
        return {}
    numbers, kept = {}, ~recoding.removed
    for published in recoding.published():
        own = published.numbers
        if own is not None:
            labels = {published.labels[code] for code in np.unique(published.codes[kept])}
            empty = MISSING if MISSING in labels else SUPPRESSED
            numbers[published.name] = ReadNumbers(own, empty, not labels.isdisjoint(own.excluded))
    return numbers


def numbers_entry(read: ReadNumbers) -> dict[str, Any]:
    """Return the entry of a quasi-identifier in ``release.numbers`` of the report."""
    high = None
    if read.own.form is NumberLabels.LOW_HIGH:
        high = "excluded" if read.excluded else "included"
    return {"columns": list(read.own.columns), "empty": read.empty, "high": high}


def released_query(
    found: Found, columns: Sequence[str], decimal: str | None = None, *, shuffled: bool
) -> ReleaseQuery:
    """Return the release of an input in one table.

    Parameters
    ----------
    decimal: sign of numbers in texts; None for a release that stores numbers as such.
    """
    prepared, recoding = found.prepared, found.recoding
    relation = prepared.encoded.relation
    if isinstance(relation, EngineRelation):
        rows = counted_rows(relation, recoding, prepared.positions, columns, decimal)
        if rows is not None:
            return relation.counted_query(single_shuffled(rows) if shuffled else rows)
    # The records of a distinct row are divided between its parts in memory, where they have an order.
    table = prepared.problem.table
    divided = recoding.owner is not None or table.ties is not None or table.row_of is not None
    in_memory = prepared.engine == EngineName.MEMORY or divided
    if isinstance(relation, EngineRelation) and not (relation.ordered and in_memory):
        return joined_query(relation, found, columns, decimal, shuffled=shuffled)
    projection = project(relation, prepared.rows(recoding), recoding, columns, decimal)
    return relation.records_query(projection, shuffled=shuffled)


def joined_query(
    relation: EngineRelation,
    found: Found,
    columns: Sequence[str],
    decimal: str | None = None,
    *,
    shuffled: bool,
) -> ReleaseQuery:
    """Return the release as a join of the records to their recoding in the engine.

    Parameters
    ----------
    decimal: as for ``released_query``.
    """
    prepared, recoding = found.prepared, found.recoding
    if prepared.problem.placing:
        codings = [read.coding for read in prepared.encoded.columns]
        rows = regions_rows(recoding, codings, columns, found.outcome.ends, relation.marker, decimal)
    else:
        rows = recoded_rows(recoding, prepared.codings(recoding), columns, relation.marker, decimal)
    return relation.recoded_query(rows, shuffled=shuffled)


class AnatomyShape(Shape):
    """Quasi-identifiers and buckets in the QIT, the sensitive values of each bucket in the ST.

    Raises
    ------
    InputError: there is not exactly one sensitive attribute, or a column has a reserved name.
    """

    fault = "are in other buckets than in the recoding"

    def __init__(self, plan: Plan, relation: Relation) -> None:
        self._plan = plan
        self._released = plan.released(relation.columns)
        self._attribute = attribute_in_groups(plan)
        self.columns = pair_columns(self._released, self._attribute)

    def queries(
        self,
        found: Found,
        scratch: Path | None,  # noqa: ARG002 - the input's engine needs none
    ) -> tuple[ReleaseQuery, ...]:
        """Return both tables."""
        relation = found.prepared.encoded.relation
        rows, groups = found.prepared.rows(found.recoding), groups_of_run(found)
        projections = project_pair(relation, rows, groups, self._released)
        return tuple(relation.records_query(each, shuffled=self._plan.shuffled) for each in projections)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the buckets."""
        prepared, (records, values) = found.prepared, tables
        recoding, names = groups_of_run(found), _names(prepared)
        grouped = read_pair(records, values, names, prepared.problem.table.sensitive[0])
        asked = countable_constraints(prepared.constraints)
        measured = measure_pair(grouped, asked, references_of(prepared), self._plan.grown)

        def wrong() -> int:
            misassigned = misassigned_records(records.group_counts([*names, GROUP]), recoding)
            return misassigned + _misplaced(grouped.groups, grouped.sensitive, recoding)

        return ReadBack(grouped.values.classes(), measured, wrong)

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Compare every column except quasi-identifiers, buckets and the sensitive attribute."""
        check_untouched(release, found, [*_names(found.prepared), self._attribute, GROUP])

    def view(self, tables: Tables, found: Found) -> AdversaryView:
        """Return the tables, and the input with the bucket of each record."""
        records, values = tables
        table, recoding = found.prepared.problem.table, groups_of_run(found)
        grouped = read_pair(records, values, _names(found.prepared), table.sensitive[0])
        grouped = replace(grouped, truth=known_truth(grouped, recoding))
        release = read_release(self._plan, records, self._plan.weights)
        original = known_original(self._plan.input, table, recoding, release, self._plan.missing)
        return AdversaryView(release, original=original, grouped=grouped)


def shape_of(plan: Plan, relation: Relation) -> Shape:
    """Return the shape of the releases of a plan's algorithm.

    Raises
    ------
    InputError: as for ``AnatomyShape``.
    """
    return AnatomyShape(plan, relation) if plan.algorithm.in_groups else TableShape(plan, relation)


def release_names(plan: Plan, path: str) -> tuple[str, ...]:
    """Return the file names of a release, given the path in the config."""
    return pair_named(Path(path)).names if plan.algorithm.in_groups else (path,)


def verify(shape: Shape, tables: Tables, found: Found) -> Audited:
    """Measure a release that was read back, and compare it with the one that was found.

    Raises
    ------
    AuditFailed: it differs, or violates a constraint.
    DataError: it has a column or value that is not in the input; see ``auditing``.
    """
    release = tables[0]
    for table, columns in zip(tables, shape.columns, strict=True):
        check_columns(table, columns)
    counted = shape.count(tables, found)
    violated = next((each for each in counted.measurements if not each.satisfied), None)
    if violated is not None:
        raise AuditFailed(f"{release.name}: violates {violated.model}, measured {violated.measured}")
    shape.check_sizes(release, counted.classes, found)
    wrong = counted.wrong()
    if wrong:
        raise AuditFailed(f"{release.name}: records that {shape.fault}: {wrong:,}")
    shape.check_untouched(release, found)
    second = SecondTable(tables[1].sha256, tables[1].rows) if len(tables) > 1 else None
    return Audited(release.sha256, release.rows, counted.classes.sizes, counted.measurements, second)


@contextmanager
def auditing(named: Callable[[str], str]) -> Iterator[None]:
    """Treat a release that cannot be read back as a failed verification.

    Parameters
    ----------
    named: returns a message with the final names of the files in place of temporary ones.

    Raises
    ------
    AuditFailed: in place of a DataError.
    """
    try:
        yield
    except (AuditFailed, DataError) as error:
        raise AuditFailed(named(str(error.args[0]))) from error


def check_columns(release: Relation, expected: Sequence[str]) -> None:
    """Check the columns of a release and their order.

    Raises
    ------
    AuditFailed: the release has others.
    """
    if tuple(expected) != release.columns:
        raise AuditFailed(
            f"{release.name}: has the columns {listed(release.columns)}; expected: {listed(expected)}"
        )


def check_untouched(release: Relation, found: Found, recoded: Sequence[str]) -> None:
    """Check that the columns of a release that are not recoded have the values of the input.

    Raises
    ------
    AuditFailed: a column has others.
    """
    source = found.prepared.encoded.relation
    for name in release.columns:
        if name not in recoded and source.changed_records(name, release) != (0, source.rows - release.rows):
            raise AuditFailed(f"{release.name}: column '{name}' does not contain the values of the input")


def references_of(prepared: Prepared) -> dict[str, Reference] | None:
    """Return the distribution p of each sensitive attribute in the input; None if p is the release's."""
    if prepared.problem.moving_reference:
        return None
    relation = prepared.encoded.relation
    return {each.name: count_reference(relation, each) for each in prepared.problem.table.sensitive}


def _names(prepared: Prepared) -> list[str]:
    return [each.name for each in prepared.problem.table.quasi_identifiers]


def attribute_in_groups(plan: Plan) -> str:
    """Return the sensitive attribute that Anatomy publishes in buckets.

    Raises
    ------
    InputError: the config has none, or several.
    """
    names = plan.with_role(Role.SENSITIVE)
    if len(names) != 1:
        found = f"{len(names)} ({', '.join(names)})" if names else "none"
        raise InputError(
            f"{plan.config}: attributes: an Anatomy release has one sensitive attribute; found {found}; "
            "give exactly one column role: sensitive, or use another algorithm, such as local"
        )
    return names[0]


def groups_of_run(found: Found) -> GroupRecoding:
    """Return the recoding of an algorithm that declares ``in_groups``.

    Raises
    ------
    TypeError: it is another kind of recoding.
    """
    if not isinstance(found.recoding, GroupRecoding):
        raise TypeError(f"an algorithm with in_groups returned {type(found.recoding).__name__}")
    return found.recoding


def _misplaced(names: Sequence[str], found: SensitiveCounts, recoding: GroupRecoding) -> int:
    """Count the records whose value is in another bucket than in the recoding."""
    table, kept, size = recoding.table, ~recoding.removed, found.attribute.column.size
    number = np.array([int(name) - 1 if name.isdigit() else -1 for name in names], dtype=np.int64)
    known = (number >= 0) & (number < recoding.groups)
    strange = int(found.counts[~known[found.owners]].sum())
    inside = known[found.owners]
    own = number[found.owners[inside]] * size + found.values[inside]
    value = table.sensitive_codes(found.attribute.name)[kept].astype(np.int64)
    promised = recoding.group_of[kept] * size + value
    distinct, inverse = np.unique(np.concatenate([own, promised]), return_inverse=True)
    keys = inverse.astype(np.int64)
    surplus = count(keys[: len(own)], found.counts[inside], len(distinct))
    surplus -= count(keys[len(own) :], table.counts[kept], len(distinct))
    return strange + int(surplus.clip(min=0).sum())
