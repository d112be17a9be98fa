"""The adversary's view of a release whose recoding is known.

Links from original to released records follow from the recoding, for Anatomy releases from its buckets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.attacks.coverage import codes_in, labels_in_release, meanings_of
from anonymizer.attacks.links import links_of_pairs, located
from anonymizer.data.table import Encoded
from anonymizer.errors import InputError
from anonymizer.model.adversary import (
    AdversaryView,
    AnatomyRelease,
    AnatomyTruth,
    Original,
    PublishedTable,
)
from anonymizer.model.arrays import CodeArray, IntArray, count, numbered
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.measure import Measure
from anonymizer.model.owners import Owners
from anonymizer.model.recoding import GroupRecoding, Recoding
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Prepared
from anonymizer.release.query import rows_of_records


def adversary_of(table: Table, recoding: Recoding) -> AdversaryView:
    """Return the view of a release that is not written, with the table as original and links by the recoding.

    Parameters
    ----------
    table: the searched table.
    recoding: of the table; at least one record is released.
    """
    grouped = None
    if isinstance(recoding, GroupRecoding):
        grouped = grouped_table("the candidate", recoding)
        grouped = replace(grouped, truth=known_truth(grouped, recoding))
    release = published_table("the candidate", recoding) if grouped is None else grouped.tuples
    original = known_original("the input", table, recoding, release)
    return AdversaryView(release, original=original, grouped=grouped)


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
        sensitive_by_name(table.sensitive, codes[:, width : width + len(table.sensitive)]),
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
    width, row_of = len(table.quasi_identifiers), table.measure.row_of
    table = table.undivided
    sensitive = sensitive_by_name(table.sensitive, table.codes[:, width : width + len(table.sensitive)])
    kept, placed = ~recoding.removed, _placed(recoding, release, sensitive)
    return Original(
        source,
        meanings_of(table.quasi_identifiers, release.labels, missing, recoding.levels),
        table.codes[:, :width],
        sensitive,
        table.counts,
        links_of_pairs(_original_rows(recoding, row_of)[kept], placed[kept], recoding.table.counts[kept]),
        release.names,
    )


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
    return Owners.of(_original_rows(recoding, table.measure.row_of)[rows], placed[rows], units)


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


def sensitive_by_name(
    attributes: Sequence[SensitiveAttribute], codes: CodeArray | IntArray
) -> dict[str, SensitiveCodes]:
    """Return the values of sensitive attributes by name, from one column of codes for each."""
    return {
        each.name: SensitiveCodes(each, own.astype(np.int64))
        for each, own in zip(attributes, codes.T, strict=True)
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
    classes = Classes(group, Measure(table.counts[kept]), recoding.groups, {own.name: values})
    held, _ = classes.sensitive_counts(own.name)
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


def with_owners(prepared: Prepared, recoding: Recoding, view: AdversaryView) -> AdversaryView:
    """Return the view of a run's release with the owners of its records, if the config names units."""
    if not prepared.units or view.original is None:
        return view
    known = KnownOwners.of(prepared.plan, prepared.encoded, prepared.units)
    return known.view(prepared.problem.table, recoding, view)


@dataclass(frozen=True, eq=False)
class KnownOwners:
    """Whose the records of an input are, for views of what may be its release.

    Attributes
    ----------
    released: names of the released columns of the input.
    linked: whether a pseudonym links the records of a person.
    encoded: the records; their distinct rows are those of the searched table.
    units: of each record, as ``units_of_records`` returns them.
    """

    released: tuple[str, ...]
    linked: bool
    encoded: Encoded
    units: Mapping[str, IntArray]

    @classmethod
    def of(cls, plan: Plan, encoded: Encoded, units: Mapping[str, IntArray]) -> KnownOwners:
        """Return the owners of a run's records."""
        released = tuple(plan.columns.released(encoded.relation.columns))
        return cls(released, plan.counting.pseudonym is not None, encoded, units)

    def candidate(self, table: Table, recoding: Recoding) -> AdversaryView:
        """Return what ``adversary_of`` does, with the owners of the records."""
        return self.view(table, recoding, adversary_of(table, recoding))

    def view(self, table: Table, recoding: Recoding, view: AdversaryView) -> AdversaryView:
        """Return a view that has the original, with the owners of the records."""
        assert view.original is not None, "whose records are owned"
        rows = rows_of_records(self.encoded.relation, self.encoded.combination, recoding, self.released)
        owners = owners_of_records(table, recoding, rows, self.units, view.release, view.original)
        owners = replace(owners, linked=self.linked)
        return replace(view, original=replace(view.original, owners=owners))
