"""The release as a query over the input: recoded records or counted rows, ready to be written.

A release follows from the frequency table alone if it can; otherwise the engine joins its records to their
recoding. A distinct row that is published in several ways divides its records between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anonymizer.data.relation import (
    ByCodes,
    ByRegion,
    Coding,
    CountedRows,
    Groups,
    Projection,
    RecodedRows,
    Relation,
    Replacement,
    shuffled,
)
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.counting import Packing, add_up, count, rank
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.model.recoding import PublishedColumn, Recoding, SharedRecoding


def rows_of_records(
    relation: Relation, combination: CodeArray, recoding: Recoding, columns: Sequence[str]
) -> CodeArray:
    """Return the row of the recoding's table for each record, shape (records,), int32.

    Records of a combination differ at most in columns that are released unchanged. In the order of these
    they fill its parts one after another, so that the order of the input changes nothing.

    Parameters
    ----------
    combination: of each record, a position in the searched table, shape (records,), int32.
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
    """Say what of each record is published.

    Parameters
    ----------
    combination: of each record, a position in the searched table, shape (records,).
    columns: the released ones; those that the recoding publishes are replaced, the others stay as they are.

    Returns
    -------
    The projection, its columns in the order of the input.
    """
    released = tuple(sorted(columns, key=relation.position))
    return project_rows(rows_of_records(relation, combination, recoding, released), recoding, released)


def project_rows(rows: CodeArray, recoding: Recoding, columns: Sequence[str]) -> Projection:
    """Say what of each record is published, given the row of the recoding's table that it is of.

    Parameters
    ----------
    rows: of the records, shape (records,).
    columns: the released ones, in the order of the input.
    """
    replacements = {
        published.name: _replacement(published, rows)
        for published in recoding.published()
        if published.name in columns
    }
    return Projection(tuple(columns), replacements, ~recoding.removed[rows])


def _replacement(published: PublishedColumn, rows: CodeArray) -> Replacement:
    """Give each record its label, labels sorted so that their positions sort as they do."""
    order = sorted(range(len(published.labels)), key=published.labels.__getitem__)
    labels = tuple(published.labels[position] for position in order)
    return Replacement(labels, ranks_of(order)[published.codes][rows])


def count_union(
    earlier: Relation, groups: Groups, names: Sequence[str], new: CountedRows
) -> CountedRows | None:
    """Return the distinct rows of an earlier release and of new records, sorted, with the records of both.

    Parameters
    ----------
    groups: of the earlier release, by the columns ``names``.

    Returns
    -------
    None where the groups do not tell the earlier release: a column is not among theirs, or has values that
    are no texts. The columns are in its order.
    """
    columns = earlier.columns
    if set(columns) != set(names) or not all(earlier.holds_texts(name) for name in columns):
        return None
    packing, labels = Packing(len(groups.counts) + len(new.counts)), []
    for name in columns:
        position, place = names.index(name), new.columns.index(name)
        before, own = groups.values[position], new.labels[place]
        both = sorted({text or "" for text in before} | set(own))
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
    """Return every single row once, in an order by randomness of the system."""
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
    """Return the distinct published rows, sorted by what is published, with their records.

    Parameters
    ----------
    positions: for each sensitive attribute the code of each text in the dictionary, shape (texts,).
    columns: that are released.

    Returns
    -------
    None where the table does not tell what is released: a column is not in it, or its code stands for more
    than one text or for a value that is no text.
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
    packing = Packing(int(kept.sum()))
    for name in released:
        published = known[name]
        packing.add(_places(published)[published.codes[kept]], len(published.labels))
    groups, distinct = rank(packing.take_keys())
    codes = packing.unpack(distinct)
    return CountedRows(
        tuple(released),
        tuple(tuple(sorted(known[name].labels)) for name in released),
        tuple(codes[:, place] for place in range(len(released))),
        count(groups.astype(np.int64), recoding.table.counts[kept], len(distinct)),
    )


def told(relation: Relation, name: str, positions: Mapping[str, CodeArray]) -> bool:
    """Tell whether the codes of a sensitive attribute tell what stands in the input.

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
    """Return a sensitive attribute as it stands in the input, None where its codes do not tell."""
    if not told(relation, name, positions):
        return None
    of_texts = positions[name]
    texts = [text for text, _ in relation.dictionary(name) if text is not None]
    by_code = np.empty(len(of_texts), dtype=np.int32)
    by_code[of_texts] = np.arange(len(of_texts), dtype=np.int32)
    return PublishedColumn(name, tuple(texts), by_code[recoding.table.sensitive_codes(name)])


def _places(published: PublishedColumn) -> CodeArray:
    """Return the place of each label among the sorted ones, shape (labels,), int32."""
    return ranks_of(sorted(range(len(published.labels)), key=published.labels.__getitem__))


def recoded_rows(recoding: Recoding, codings: Sequence[Coding], columns: Sequence[str]) -> RecodedRows:
    """Return what becomes of each row of a recoding's table.

    Parameters
    ----------
    codings: how records become rows of that table, a column of which each is.
    columns: released ones, in the order of the input.
    """
    table = recoding.table
    found = ByCodes(tuple(codings), table.codes)
    return _rows(recoding, found, columns, np.arange(len(table.counts)), table.counts)


def regions_rows(
    recoding: Recoding, codings: Sequence[Coding], columns: Sequence[str], regions: PlacedRows | None
) -> RecodedRows:
    """Return what becomes of each region of a recoding.

    Parameters
    ----------
    codings: how records become combinations that the engine keeps in regions.
    columns: released ones, in the order of the input.
    regions: numbered as those of the recoding, which may have one more of suppressed records.
    """
    assert isinstance(recoding, SharedRecoding), "what was cut are regions"
    region_of = recoding.region_of
    assert region_of is not None, "what was cut are regions"
    kept_suppressed = np.flatnonzero(recoding.suppressed & ~recoding.removed)
    rest = int(region_of[kept_suppressed[0]]) if len(kept_suppressed) else None
    _, first = np.unique(region_of, return_index=True)
    counts = count(region_of, recoding.table.counts, len(first))
    return _rows(recoding, ByRegion(tuple(codings), regions, rest), columns, first, counts)


def _rows(
    recoding: Recoding, found: ByCodes | ByRegion, columns: Sequence[str], rows: IntArray, counts: IntArray
) -> RecodedRows:
    """Return what becomes of some rows of a recoding's table."""
    labels: dict[str, tuple[str, ...]] = {}
    places: dict[str, CodeArray] = {}
    for published in recoding.published():
        if published.name in columns:
            order = sorted(range(len(published.labels)), key=published.labels.__getitem__)
            labels[published.name] = tuple(published.labels[position] for position in order)
            places[published.name] = ranks_of(order)[published.codes[rows]]
    return RecodedRows(found, counts, ~recoding.removed[rows], tuple(columns), labels, places)
