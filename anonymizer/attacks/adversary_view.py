"""The adversary's view of a release whose recoding is known, as a search or a run has it.

Links from original to released records follow from the recoding, for Anatomy releases from its buckets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonymizer.attacks.generalized_values import CoveringJoin, meanings_of
from anonymizer.errors import InputError
from anonymizer.model.adversary import (
    AdversaryView,
    AnatomyRelease,
    AnatomyTruth,
    Links,
    Original,
    Owners,
    PublishedTable,
    ValueCoverage,
)
from anonymizer.model.arrays import CodeArray, IntArray, count, group_keys, numbered
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.recoding import GroupRecoding, Recoding
from anonymizer.model.table import SensitiveAttribute, Table

NOTHING = Links(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
"""No links."""


def links_of_pairs(original: IntArray | CodeArray, release: IntArray, counts: IntArray) -> Links:
    """Return links from pairs of distinct rows; equal pairs are added up.

    Parameters
    ----------
    original, release: positions of distinct rows, shape (pairs,).
    counts: records of each pair, shape (pairs,), int64.
    """
    some = counts > 0
    original, release, counts = original[some].astype(np.int64), release[some].astype(np.int64), counts[some]
    if not len(counts):
        return NOTHING
    width = int(release.max()) + 1
    group_of, keys = group_keys(original * width + release, (int(original.max()) + 1) * width)
    return Links(keys // width, keys % width, count(group_of, counts, len(keys)))


def located(wanted: IntArray, known: IntArray) -> IntArray:
    """Return the position of each wanted row among known ones, -1 for none.

    Parameters
    ----------
    wanted, known: codes, shape (rows, columns), int64; the known ones distinct, none negative.

    Returns
    -------
    Positions in ``known``, shape (wanted,), int64.
    """
    possible = (wanted >= 0).all(axis=1)
    both = np.concatenate([known, np.maximum(wanted, 0)])
    keys, first = numbered(both.T, len(both))
    place = np.full(len(first), -1, dtype=np.int64)
    place[keys[: len(known)]] = np.arange(len(known))
    found: IntArray = np.where(possible, place[keys[len(known) :]], -1)
    return found


def same_values(values: SensitiveCodes, published: SensitiveCodes) -> ValueCoverage:
    """Return the coverage of a released sensitive attribute: each value covers the equal original value.

    Parameters
    ----------
    values, published: of the original and of the release.
    """
    own, other = values.attribute.column, published.attribute.column
    code = {text: position for position, text in enumerate(own.present)}
    by_number = {}
    if own.numbers is not None:
        by_number = {number: position for position, number in enumerate(own.numbers[: len(own.present)])}
    found = []
    for position, text in enumerate(other.texts):
        if position == other.missing:
            found.append(own.missing)
        elif text in code or other.numbers is None:
            found.append(code.get(text))
        else:
            found.append(by_number.get(other.numbers[position]))
    exists = np.array([each is not None for each in found], dtype=np.int64)
    nothing = np.full(len(found), np.nan)
    codes = np.array([each for each in found if each is not None], dtype=np.int64)
    return ValueCoverage(own, np.concatenate([[0], np.cumsum(exists)]), codes, nothing, nothing)


def codes_in(other: SensitiveCodes, own: SensitiveCodes) -> IntArray:
    """Return the code in ``other`` of each value of ``own``, -1 for none, shape (values,), int64."""
    same = same_values(other, own)
    codes = np.full(own.attribute.column.size, -1, dtype=np.int64)
    codes[np.flatnonzero(same.sizes)] = same.values
    return codes


def labels_in_release(known: Sequence[str | None], published: Sequence[str]) -> IntArray:
    """Return the position of each published text among known ones, -1 for none, shape (texts,), int64."""
    place = {label: code for code, label in enumerate(known)}
    return np.array([place.get(label, -1) for label in published], dtype=np.int64)


def reconstructed(
    meanings: Sequence[ValueCoverage],
    original: tuple[CodeArray, IntArray],
    published: tuple[CodeArray, IntArray],
) -> Links:
    """Return a largest set of consistent links from original to released records.

    A record can be linked to one whose values all cover its own. After full-domain recoding there is only one
    such set; else this is one of several, a maximum flow.

    Parameters
    ----------
    meanings: coverage of the compared columns, including sensitive ones.
    original, published: codes of the distinct rows in these columns, shape (rows, columns), and their
        records.
    """
    (codes, records), (texts, released) = original, published
    return linked(possible_links(meanings, codes, texts), records, released)


def possible_links(
    meanings: Sequence[ValueCoverage], original: CodeArray, published: CodeArray
) -> tuple[IntArray, IntArray]:
    """Return all pairs of an original row and a published row that covers it, shape (pairs,) each.

    Parameters
    ----------
    meanings, original, published: as for ``reconstructed``, without the records.
    """
    left, right = [], []
    for block, pairs in CoveringJoin(meanings, published.astype(np.int64)).blocks(original.astype(np.int64)):
        left.append(block[pairs.original])
        right.append(pairs.published)
    return np.concatenate(left), np.concatenate(right)


def linked(possible: tuple[IntArray, IntArray], records: IntArray, released: IntArray) -> Links:
    """Return a largest set of links among possible pairs; see ``reconstructed``.

    Parameters
    ----------
    records, released: of each original and each published row, shape (rows,), int64.
    """
    sources, targets = possible
    lone = np.bincount(sources, minlength=len(records)) <= 1
    if lone.all() and np.array_equal(count(targets, records[sources], len(released)), released):
        return links_of_pairs(sources, targets, records[sources])
    return _flow(sources, targets, records, released)


def _flow(sources: IntArray, targets: IntArray, records: IntArray, released: IntArray) -> Links:
    """Return the links of a maximum flow from the original to the released records."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  quick start-up
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415  the same

    if not len(sources):
        return NOTHING
    left, right = len(records), len(released)
    source, sink = left + right, left + right + 1
    rows = np.concatenate([np.full(left, source), sources, left + np.arange(right)])
    columns = np.concatenate([np.arange(left), left + targets, np.full(right, sink)])
    room = np.concatenate([records, np.minimum(records[sources], released[targets]), released])
    graph = csr_matrix((room.astype(np.int32), (rows, columns)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow.tocoo()
    used = (flow.data > 0) & (flow.row < left) & (flow.col >= left) & (flow.col < source)
    return links_of_pairs(flow.row[used], flow.col[used] - left, flow.data[used].astype(np.int64))


def adversary_of(table: Table, recoding: Recoding) -> AdversaryView:
    """Return the view of a release that is not written, of one table or of two."""
    if isinstance(recoding, GroupRecoding):
        return adversary_from_anatomy(table, recoding)
    return adversary_from_recoding(table, recoding)


def adversary_from_recoding(table: Table, recoding: Recoding) -> AdversaryView:
    """Return the view of a release that is not written, with the table as original and links by the recoding.

    Parameters
    ----------
    table: the searched table.
    recoding: of the table; at least one record is released.
    """
    release = published_table("the candidate", recoding)
    return AdversaryView(release, original=known_original("the input", table, recoding, release))


def published_table(source: str, recoding: Recoding) -> PublishedTable:
    """Return the distinct released rows of a recoding, with their counts.

    Parameters
    ----------
    source: name of the release in messages.
    """
    table, kept = recoding.table, ~recoding.removed
    columns = recoding.published()
    labels = [column.codes for column in columns]
    rows = np.column_stack([*labels, *table.codes[:, len(columns) :].T]).astype(np.int64)[kept]
    keys, first = numbered(rows.T, len(rows))
    codes, width = rows[first], len(columns)
    return PublishedTable(
        source,
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        codes[:, :width].astype(np.int32),
        _sensitive(table.sensitive, codes[:, width:]),
        count(keys, table.counts[kept], len(first)),
    )


def known_original(
    source: str,
    table: Table,
    recoding: Recoding,
    release: PublishedTable,
    missing: Collection[str] = ("",),
) -> Original:
    """Return the original of a release whose recoding is known, with the links of the recoding.

    Parameters
    ----------
    source: name of the input in messages.
    table: the searched table.
    release: counted from the file, or by ``published_table``; of an Anatomy release the exact tuples.
    missing: texts that are read as missing.

    Raises
    ------
    InputError: the release differs from what the recoding publishes.
    """
    width, row_of = len(table.quasi_identifiers), table.row_of
    table = table.undivided
    sensitive = _sensitive(table.sensitive, table.codes[:, width:].astype(np.int64))
    return Original(
        source,
        meanings_of(table.quasi_identifiers, release.labels, missing, recoding.levels),
        table.codes[:, :width],
        sensitive,
        table.counts,
        _links(recoding, row_of, release, sensitive),
        release.names,
    )


def _links(
    recoding: Recoding,
    row_of: IntArray | None,
    release: PublishedTable,
    sensitive: dict[str, SensitiveCodes],
) -> Links:
    kept = ~recoding.removed
    found = _placed(recoding, release, sensitive)[kept]
    return links_of_pairs(_original_rows(recoding, row_of)[kept], found, recoding.table.counts[kept])


def _original_rows(recoding: Recoding, row_of: IntArray | None) -> IntArray:
    """Return the row of the original of each row of the recoding's table, shape (rows,), int64."""
    return recoding.owners if row_of is None else row_of[recoding.owners]


def owners_of_records(
    table: Table,
    recoding: Recoding,
    rows: IntArray | CodeArray,
    units: Mapping[str, IntArray],
    release: PublishedTable,
    original: Original,
) -> Owners:
    """Return the owners of released records, given the units of all records of the input.

    Parameters
    ----------
    table: the searched table.
    rows: row of the recoding's table of each record, shape (records,).
    units: of each record, shape (records,), int64; if negative, the record is a unit of its own.
    original: as ``known_original`` returns it.
    """
    placed = _placed(recoding, release, dict(original.sensitive))
    return Owners.of(_original_rows(recoding, table.row_of)[rows], placed[rows], units)


def _placed(recoding: Recoding, release: PublishedTable, sensitive: dict[str, SensitiveCodes]) -> IntArray:
    """Return the released row of each row of the recoding's table, -1 if it is removed, shape (rows,)."""
    kept = ~recoding.removed
    columns = _positions(release.labels, recoding)
    known = [release.codes.astype(np.int64)]
    for name, other in release.sensitive.items():
        own = recoding.table.sensitive_codes(name)[kept]
        columns.append(codes_in(other, sensitive[name])[own])
        known.append(other.codes[:, None].astype(np.int64))
    found = located(np.column_stack(columns), np.concatenate(known, axis=1))
    if (found < 0).any():
        raise InputError(f"{release.source}: is not what the recoding publishes")
    placed = np.full(len(kept), -1, dtype=np.int64)
    placed[kept] = found
    return placed


def _sensitive(attributes: tuple[SensitiveAttribute, ...], codes: IntArray) -> dict[str, SensitiveCodes]:
    return {
        attribute.name: SensitiveCodes(attribute, codes[:, position].astype(np.int64))
        for position, attribute in enumerate(attributes)
    }


def known_truth(grouped: AnatomyRelease, recoding: GroupRecoding) -> AnatomyTruth:
    """Return the true sensitive values of the released records of an Anatomy release, by its recoding.

    Parameters
    ----------
    grouped: the release of the recoding; its buckets are named by their numbers from 1.
    """
    table, kept = recoding.table, ~recoding.removed
    columns = _positions(grouped.labels, recoding)
    names = recoding.class_columns()[0].labels
    columns.append(labels_in_release(grouped.groups, names)[recoding.group_of[kept]])
    own = SensitiveCodes(table.sensitive[0], table.sensitive_codes(table.sensitive_names[0]).astype(np.int64))
    published = SensitiveCodes(grouped.sensitive.attribute, grouped.sensitive.values)
    values = codes_in(published, own)[own.codes[kept]]
    known = np.column_stack([grouped.codes.astype(np.int64), grouped.group])
    rows = located(np.column_stack(columns), known)
    links = links_of_pairs(rows, values, table.counts[kept])
    return AnatomyTruth(links.original, links.release, links.counts)


def adversary_from_anatomy(table: Table, recoding: GroupRecoding) -> AdversaryView:
    """Return the view of an Anatomy release that is not written.

    Parameters
    ----------
    table: the searched table.
    recoding: of the table; at least one record is released.
    """
    grouped = grouped_table("the candidate", recoding)
    release = grouped.tuples
    original = known_original("the input", table, recoding, release)
    return AdversaryView(
        release, original=original, grouped=replace(grouped, truth=known_truth(grouped, recoding))
    )


def grouped_table(source: str, recoding: GroupRecoding) -> AnatomyRelease:
    """Return the Anatomy release of a recoding.

    Parameters
    ----------
    source: name of the release in messages.
    """
    kept, table = ~recoding.removed, recoding.table
    columns, group = recoding.published(), recoding.group_of[kept]
    codes = np.column_stack([column.codes[kept] for column in columns])
    rows, first = numbered([group, *codes.T], len(group))
    own = table.sensitive[0]
    values = SensitiveCodes(own, table.sensitive_codes(own.name)[kept].astype(np.int64))
    held, _ = Classes(group, table.counts[kept], recoding.groups, {own.name: values}).sensitive_counts(
        own.name
    )
    return AnatomyRelease(
        source,
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        codes[first].astype(np.int32),
        recoding.class_columns()[0].labels,
        group[first],
        count(rows, table.counts[kept], len(first)),
        held,
    )


def truth_of_tuples(grouped: AnatomyRelease, original: Original, release: PublishedTable) -> AnatomyTruth:
    """Return the true sensitive values of released records, as far as the original records determine them.

    A tuple in several buckets is left out: its originals do not determine which record is in which bucket.

    Parameters
    ----------
    release: the exact tuples, as ``original`` is linked to them.
    """
    of_row = located(grouped.codes.astype(np.int64), release.codes.astype(np.int64))
    row = np.full(len(release.counts), -1, dtype=np.int64)
    row[of_row] = np.arange(len(of_row))
    row[np.bincount(of_row, minlength=len(row)) > 1] = -1
    links, (name,) = original.links, tuple(original.sensitive)
    own = SensitiveCodes(grouped.sensitive.attribute, grouped.sensitive.values)
    values = codes_in(own, original.sensitive[name])[original.sensitive[name].codes[links.original]]
    whole = np.bincount(links.release, weights=links.counts, minlength=len(row)) == release.counts
    known = (row[links.release] >= 0) & whole[links.release] & (values >= 0)
    pairs = links_of_pairs(row[links.release[known]], values[known], links.counts[known])
    return AnatomyTruth(pairs.original, pairs.release, pairs.counts)


def _positions(labels: Sequence[Sequence[str | None]], recoding: Recoding) -> list[IntArray]:
    """Return the positions of published values among a file's labels, shape (rows,) for each column."""
    kept = ~recoding.removed
    return [
        labels_in_release(known, published.labels)[published.codes[kept]]
        for known, published in zip(labels, recoding.published(), strict=True)
    ]
