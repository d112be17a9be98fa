"""What adversaries have of a recoding that is known from within, as a search or a run has it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.attacks.meaning import meanings_of
from anonymizer.attacks.truth import codes_in_release, labels_in_release, links_of_pairs, located
from anonymizer.errors import InputError
from anonymizer.model.adversary import Links, Original, PublishedTable
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.counting import count, numbered
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SensitiveAttribute, Table


def scene_of_recoding(table: Table, recoding: Recoding) -> AdversaryView:
    """Return the scene of a release that was not written: the recoding, the table, and which became which.

    Parameters
    ----------
    table: the searched one.
    recoding: of it; at least one record is released.
    """
    release = published_table("the candidate", recoding)
    return AdversaryView(release, original=known_original("the input", table, recoding, release))


def published_table(source: str, recoding: Recoding) -> PublishedTable:
    """Return what a recoding publishes, counted.

    Parameters
    ----------
    source: what messages call it.
    """
    kept = ~recoding.removed
    columns = recoding.published()
    rows = _published_rows(recoding)[kept]
    keys, first = numbered(rows.T, len(rows))
    counts = count(keys, recoding.table.counts[kept], len(first))
    codes = rows[first]
    width = len(columns)
    return PublishedTable(
        source,
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        codes[:, :width].astype(np.int32),
        _sensitive(recoding.table.sensitive, codes[:, width:]),
        counts,
    )


def known_original(
    source: str,
    table: Table,
    recoding: Recoding,
    release: PublishedTable,
    missing: Collection[str] = ("",),
) -> Original:
    """Return the original of a release whose recoding is known, with the links that the recoding tells.

    Parameters
    ----------
    source: what messages call the input.
    table: the searched one.
    release: counted from the file, or by ``published_table``.
    missing: texts that are read as missing.

    Raises
    ------
    InputError: the release is not what the recoding publishes.
    """
    width = len(table.quasi_identifiers)
    sensitive = _sensitive(table.sensitive, table.codes[:, width:].astype(np.int64))
    return Original(
        source,
        meanings_of(table.quasi_identifiers, release.labels, missing),
        table.codes[:, :width],
        sensitive,
        table.counts,
        _links(recoding, release, sensitive),
        release.names,
    )


def _links(recoding: Recoding, release: PublishedTable, sensitive: dict[str, SensitiveCodes]) -> Links:
    kept = ~recoding.removed
    rows = _published_rows(recoding)[kept]
    known = [release.codes.astype(np.int64)]
    for position, published in enumerate(recoding.published()):
        codes = labels_in_release(release.labels[position], published.labels)
        rows[:, position] = codes[rows[:, position]]
    for position, name in enumerate(sensitive, start=len(release.names)):
        other = release.sensitive[name]
        rows[:, position] = codes_in_release(other, sensitive[name])[rows[:, position]]
        known.append(other.codes[:, None].astype(np.int64))
    found = located(rows, np.concatenate(known, axis=1))
    if (found < 0).any():
        raise InputError(f"{release.source}: is not what the recoding publishes")
    return links_of_pairs(recoding.owners[kept], found, recoding.table.counts[kept])


def _published_rows(recoding: Recoding) -> IntArray:
    """Return the published label and the sensitive codes of each row, shape (rows, columns), int64."""
    table = recoding.table
    width = len(table.quasi_identifiers)
    labels = [column.codes for column in recoding.published()]
    return np.column_stack([*labels, *table.codes[:, width:].T]).astype(np.int64)


def _sensitive(attributes: tuple[SensitiveAttribute, ...], codes: IntArray) -> dict[str, SensitiveCodes]:
    return {
        attribute.name: SensitiveCodes(attribute, codes[:, position].astype(np.int64))
        for position, attribute in enumerate(attributes)
    }
