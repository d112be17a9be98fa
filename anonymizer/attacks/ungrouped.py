"""Records in groups as somebody sees them who knows how they came there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.attacks.meaning import meanings_of
from anonymizer.attacks.truth import codes_in_release, labels_in_release, links_of_pairs, located
from anonymizer.model.adversary import AnatomyRelease, AnatomyTruth, Original, PublishedTable
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.counting import count, numbered
from anonymizer.model.recoding import GroupRecoding
from anonymizer.model.table import Table


def known_truth(grouped: AnatomyRelease, recoding: GroupRecoding) -> AnatomyTruth:
    """Return which records of a release have which value, as its recoding tells.

    Parameters
    ----------
    grouped: what the recoding publishes, its groups named by their numbers from 1.
    """
    table, kept = recoding.table, ~recoding.removed
    columns = _tuples(grouped.labels, recoding)
    names = recoding.class_columns()[0].labels
    columns.append(labels_in_release(grouped.groups, names)[recoding.group_of[kept]])
    own = SensitiveCodes(table.sensitive[0], table.sensitive_codes(table.sensitive_names[0]).astype(np.int64))
    published = SensitiveCodes(grouped.sensitive.attribute, grouped.sensitive.values)
    values = codes_in_release(published, own)[own.codes[kept]]
    known = np.column_stack([grouped.codes.astype(np.int64), grouped.group])
    rows = located(np.column_stack(columns), known)
    links = links_of_pairs(rows, values, table.counts[kept])
    return AnatomyTruth(links.original, links.release, links.counts)


def adversary_from_anatomy(table: Table, recoding: GroupRecoding) -> AdversaryView:
    """Return the scene of a release in groups that was not written.

    Parameters
    ----------
    table: the searched one.
    recoding: of it; at least one record is released.
    """
    grouped = grouped_table("the candidate", recoding)
    release = grouped.tuples
    original = original_of_groups("the input", table, recoding, release)
    return AdversaryView(
        release, original=original, grouped=replace(grouped, truth=known_truth(grouped, recoding))
    )


def grouped_table(source: str, recoding: GroupRecoding) -> AnatomyRelease:
    """Return what a recoding publishes, counted.

    Parameters
    ----------
    source: what messages call it.
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


def original_of_groups(
    source: str,
    table: Table,
    recoding: GroupRecoding,
    release: PublishedTable,
    missing: Collection[str] = ("",),
) -> Original:
    """Return the input with what became of the quasi-identifiers of each record.

    Parameters
    ----------
    source: what messages call the input.
    table: the searched one.
    release: the exact tuples that are published.
    missing: texts that are read as missing.
    """
    kept, width = ~recoding.removed, len(table.quasi_identifiers)
    columns = _tuples(release.labels, recoding)
    found = located(np.column_stack(columns), release.codes.astype(np.int64))
    own = table.sensitive[0]
    values = SensitiveCodes(own, table.sensitive_codes(own.name).astype(np.int64))
    return Original(
        source,
        meanings_of(table.quasi_identifiers, release.labels, missing),
        table.codes[:, :width],
        {own.name: values},
        table.counts,
        links_of_pairs(recoding.owners[kept], found, recoding.table.counts[kept]),
        release.names,
    )


def truth_of_tuples(grouped: AnatomyRelease, original: Original, release: PublishedTable) -> AnatomyTruth:
    """Return which records have which value, as far as tuples of one group tell who has the originals.

    A tuple that is in several groups does not tell which of its records are in which; such rows are left out.

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
    values = codes_in_release(own, original.sensitive[name])[original.sensitive[name].codes[links.original]]
    whole = np.bincount(links.release, weights=links.counts, minlength=len(row)) == release.counts
    told = (row[links.release] >= 0) & whole[links.release] & (values >= 0)
    pairs = links_of_pairs(row[links.release[told]], values[told], links.counts[told])
    return AnatomyTruth(pairs.original, pairs.release, pairs.counts)


def _tuples(labels: Sequence[Sequence[str | None]], recoding: GroupRecoding) -> list[IntArray]:
    """Return the released rows by the position of what is published of them among a file's labels."""
    kept = ~recoding.removed
    return [
        labels_in_release(known, published.labels)[published.codes[kept]]
        for known, published in zip(labels, recoding.published(), strict=True)
    ]
