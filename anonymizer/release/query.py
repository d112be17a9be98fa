"""The release as a query over the input: recoded records or counted rows, ready to be written.

If possible, a release follows from the frequency table alone; otherwise the engine joins the records to their
recoding. A distinct row that is published in several ways divides its records between them.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from anonymizer.data.csv import encode_file
from anonymizer.data.relation import (
    ByCodes,
    ByRegion,
    Coding,
    CountedRows,
    Groups,
    Projection,
    RecodedRows,
    Relation,
    ReleaseQuery,
    Replacement,
    shuffled,
)
from anonymizer.data.source import PARQUET_FILES, CsvDialect
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.counting import Packing, add_up, count, rank
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.model.recoding import PublishedColumn, Recoding, SharedRecoding
from anonymizer.model.table import MISSING


def copy_table(query: ReleaseQuery, path: Path, dialect: CsvDialect) -> None:
    """Write a table as Parquet or, by the suffix of the path, as text in a dialect.

    Raises
    ------
    OutputError: it cannot be written, or the encoding lacks a character.
    """
    if PARQUET_FILES.named(path.name):
        query.copy(path, None)
        return
    query.copy(path, dialect.separator)
    if codecs.lookup(dialect.encoding).name != "utf-8":
        encode_file(path, dialect.encoding)


def rows_of_records(
    relation: Relation, combination: CodeArray, recoding: Recoding, columns: Sequence[str]
) -> CodeArray:
    """Return the row of the recoding's table for each record, shape (records,), int32.

    Records of a distinct row differ at most in columns that are released unchanged. Sorted by these, they
    fill its parts one after another, so the order of the input has no effect.

    Parameters
    ----------
    combination: distinct row of each record in the searched table, shape (records,), int32.
    columns: that are released.
    """
    if recoding.owner is None:
        return combination
    recoded = {attribute.name for attribute in recoding.table.quasi_identifiers}
    unchanged = [relation.codes(name) for name in reversed(columns) if name not in recoded]
    order = np.lexsort((*unchanged, combination))
    rows = np.empty(len(combination), dtype=np.int32)
    rows[order] = np.repeat(np.arange(len(recoding.owner), dtype=np.int32), recoding.table.counts)
    return rows


def project(
    relation: Relation, combination: CodeArray, recoding: Recoding, columns: Sequence[str]
) -> Projection:
    """Return the projection of the input to a release, its columns in the order of the input.

    Parameters
    ----------
    combination: distinct row of each record in the searched table, shape (records,).
    columns: that are released, recoded or unchanged.
    """
    released = tuple(sorted(columns, key=relation.position))
    rows = rows_of_records(relation, combination, recoding, released)
    return project_rows(rows, recoding, released, relation.marker)


def project_rows(
    rows: CodeArray, recoding: Recoding, columns: Sequence[str], marker: str | None
) -> Projection:
    """Return the projection of the input to a release.

    Parameters
    ----------
    rows: row of the recoding's table for each record, shape (records,).
    columns: that are released, in the order of the input.
    marker: of the relation.
    """
    replacements = {
        published.name: _replacement(published, rows, marker)
        for published in recoding.published()
        if published.name in columns
    }
    return Projection(tuple(columns), replacements, ~recoding.removed[rows])


def _replacement(published: PublishedColumn, rows: CodeArray, marker: str | None) -> Replacement:
    """Return the label of each record; labels are sorted, so codes sort like labels."""
    labels, places = _sorted_labels(published, marker)
    return Replacement(labels, places[published.codes][rows])


def _sorted_labels(published: PublishedColumn, marker: str | None) -> tuple[tuple[str, ...], CodeArray]:
    """Return the labels sorted as they are written, and the place of each, shape (labels,), int32."""
    written = [_written(label, marker) for label in published.labels]
    order = sorted(range(len(written)), key=written.__getitem__)
    return tuple(published.labels[position] for position in order), ranks_of(order)


def _written(label: str, marker: str | None) -> str:
    """Return a label as it is written."""
    return marker if marker is not None and label == MISSING else label


def count_union(
    earlier: Relation, groups: Groups, names: Sequence[str], new: CountedRows
) -> CountedRows | None:
    """Return the distinct rows of an earlier release and of new records, sorted, with the counts of both.

    Parameters
    ----------
    groups: of the earlier release, by the columns ``names``.

    Returns
    -------
    The rows, their columns in the order of the earlier release; None if it has other columns or values that
    are not texts.
    """
    columns = earlier.columns
    if set(columns) != set(names) or not all(earlier.holds_texts(name) for name in columns):
        return None
    packing, labels = Packing(len(groups.counts) + len(new.counts)), []
    for name in columns:
        position, place = names.index(name), new.columns.index(name)
        before, own = groups.values[position], new.labels[place]
        both = sorted(
            {text or "" for text in before} | set(own), key=partial(_written, marker=earlier.marker)
        )
        codes = [_codes(before, both)[groups.codes[:, position]], _codes(own, both)[new.codes[place]]]
        packing.add(np.concatenate(codes), len(both))
        labels.append(tuple(both))
    records = np.concatenate([groups.counts, new.counts])
    distinct, counts = add_up(packing.take_keys(), records, packing.space)
    codes_of = packing.unpack(distinct)
    return CountedRows(
        columns, tuple(labels), tuple(codes_of[:, place] for place in range(len(columns))), counts
    )


def single_shuffled(rows: CountedRows) -> CountedRows:
    """Return one row for each record, in an order drawn from the randomness of the system."""
    number = int(rows.counts.sum())
    single = np.repeat(np.arange(len(rows.counts)), rows.counts)[shuffled(number)]
    codes = tuple(each[single] for each in rows.codes)
    return CountedRows(rows.columns, rows.labels, codes, np.ones(number, dtype=np.int64))


def _codes(texts: Sequence[str | None], labels: Sequence[str]) -> CodeArray:
    """Return the place of each text among sorted labels, shape (texts,), int32."""
    places = {label: place for place, label in enumerate(labels)}
    return np.array([places[text or ""] for text in texts], dtype=np.int32)


def counted_rows(
    relation: Relation, recoding: Recoding, positions: Mapping[str, CodeArray], columns: Sequence[str]
) -> CountedRows | None:
    """Return the distinct published rows, sorted, with their counts.

    Parameters
    ----------
    positions: codes of the texts in the dictionary of each sensitive attribute, shape (texts,).
    columns: that are released.

    Returns
    -------
    None if the release does not follow from the recoding's table: the table lacks a column, or a code means
    several texts or a value that is not a text.
    """
    released, recoding = sorted(columns, key=relation.position), recoding.merged
    known = {published.name: published for published in recoding.published()}
    for name in released:
        if name not in known:
            unchanged = _unchanged(relation, recoding, name, positions)
            if unchanged is None:
                return None
            known[name] = unchanged
    kept = ~recoding.removed
    packing, texts = Packing(int(kept.sum())), []
    for name in released:
        published = known[name]
        labels, places = _sorted_labels(published, relation.marker)
        texts.append(labels)
        packing.add(places[published.codes[kept]], len(labels))
    groups, distinct = rank(packing.take_keys())
    codes = packing.unpack(distinct)
    return CountedRows(
        tuple(released),
        tuple(texts),
        tuple(codes[:, place] for place in range(len(released))),
        count(groups.astype(np.int64), recoding.table.counts[kept], len(distinct)),
    )


def follows_from_codes(relation: Relation, name: str, positions: Mapping[str, CodeArray]) -> bool:
    """Return whether each code of a sensitive attribute means one text of the input.

    Parameters
    ----------
    positions: as for ``counted_rows``.
    """
    if name not in positions or not relation.holds_texts(name):
        return False
    return len(np.unique(positions[name])) == len(positions[name])


def _unchanged(
    relation: Relation, recoding: Recoding, name: str, positions: Mapping[str, CodeArray]
) -> PublishedColumn | None:
    """Return the texts of a sensitive attribute; None if a code means several."""
    if not follows_from_codes(relation, name, positions):
        return None
    of_texts = positions[name]
    texts = [text for text, _ in relation.dictionary(name) if text is not None]
    by_code = np.empty(len(of_texts), dtype=np.int32)
    by_code[of_texts] = np.arange(len(of_texts), dtype=np.int32)
    return PublishedColumn(name, tuple(texts), by_code[recoding.table.sensitive_codes(name)])


def recoded_rows(
    recoding: Recoding, codings: Sequence[Coding], columns: Sequence[str], marker: str | None
) -> RecodedRows:
    """Return the published labels of each row of a recoding's table.

    Parameters
    ----------
    codings: codes of the records, one for each column of that table.
    columns: released ones, in the order of the input.
    marker: of the relation.
    """
    table = recoding.table
    found = ByCodes(tuple(codings), table.codes)
    return _rows(recoding, found, columns, np.arange(len(table.counts)), table.counts, marker)


def regions_rows(
    recoding: Recoding,
    codings: Sequence[Coding],
    columns: Sequence[str],
    regions: PlacedRows | None,
    marker: str | None,
) -> RecodedRows:
    """Return the published labels of each region of a recoding.

    Parameters
    ----------
    codings: codes of the records, by which the engine finds their distinct rows.
    columns: released ones, in the order of the input.
    regions: of the distinct rows in the engine, numbered as in the recoding, which may have one more region
        of suppressed records.
    marker: of the relation.
    """
    assert isinstance(recoding, SharedRecoding), "an algorithm that cuts finds regions"
    region_of = recoding.region_of
    assert region_of is not None, "an algorithm that cuts finds regions"
    kept_suppressed = np.flatnonzero(recoding.suppressed & ~recoding.removed)
    rest = int(region_of[kept_suppressed[0]]) if len(kept_suppressed) else None
    _, first = np.unique(region_of, return_index=True)
    counts = count(region_of, recoding.table.counts, len(first))
    return _rows(recoding, ByRegion(tuple(codings), regions, rest), columns, first, counts, marker)


def _rows(
    recoding: Recoding,
    found: ByCodes | ByRegion,
    columns: Sequence[str],
    rows: IntArray,
    counts: IntArray,
    marker: str | None,
) -> RecodedRows:
    """Return the published labels of some rows of a recoding's table."""
    labels: dict[str, tuple[str, ...]] = {}
    places: dict[str, CodeArray] = {}
    for published in recoding.published():
        if published.name in columns:
            labels[published.name], own = _sorted_labels(published, marker)
            places[published.name] = own[published.codes[rows]]
    return RecodedRows(found, counts, ~recoding.removed[rows], tuple(columns), labels, places)
