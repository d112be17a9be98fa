"""The release as a query over the input: recoded records or counted rows, ready to be written.

If possible, a release follows from the frequency table alone; otherwise the engine joins the records to their
recoding. A distinct row that is published in several ways divides its records between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

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
from anonymizer.model.arrays import CodeArray, IntArray, Packing, add_up, count, rank, ranks_of
from anonymizer.model.labels import MISSING
from anonymizer.model.recoding import PublishedColumn, Recoding, SharedRecoding
from anonymizer.model.table import POINT_SIGN, PlacedRows


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


@dataclass(frozen=True, eq=False)
class _Written:
    """The recoded columns as they are written: labels, or numbers in their place.

    Attributes
    ----------
    columns: all columns of the release, in their order.
    recoded: by name.
    numbers: columns that are stored as numbers.
    """

    columns: tuple[str, ...]
    recoded: Mapping[str, PublishedColumn]
    numbers: frozenset[str]

    @classmethod
    def of(cls, recoding: Recoding, columns: Sequence[str], decimal: str | None) -> _Written:
        """Return some columns of a recoding; parameters are as for ``project``."""
        known = {each.name: each for each in recoding.published() if each.name in columns}
        parts = {name: _in_numbers(each, decimal or POINT_SIGN) for name, each in known.items()}
        recoded = {each.name: each for own in parts.values() for each in own}
        numbers = [each.name for name, own in parts.items() if known[name].numbers for each in own]
        written = [[each.name for each in parts[name]] if name in parts else [name] for name in columns]
        return cls(tuple(chain(*written)), recoded, frozenset(numbers if decimal is None else ()))


def _in_numbers(published: PublishedColumn, decimal: str) -> list[PublishedColumn]:
    """Return the columns of numbers that are released in place of labels; else the column itself."""
    own = published.numbers
    if own is None:
        return [published]
    texts = [own.written(label, decimal) for label in published.labels]
    columns = []
    for name, labels in zip(own.columns, zip(*texts, strict=True), strict=True):
        places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
        place = np.array([places[label] for label in labels], dtype=np.int32)
        columns.append(PublishedColumn(name, tuple(places), place[published.codes]))
    return columns


def project(
    relation: Relation,
    combination: CodeArray,
    recoding: Recoding,
    columns: Sequence[str],
    decimal: str | None = None,
) -> Projection:
    """Return the projection of the input to a release, its columns in the order of the input.

    Parameters
    ----------
    combination: distinct row of each record in the searched table, shape (records,).
    columns: that are released, recoded or unchanged.
    decimal: sign of numbers in texts; None for a release that stores numbers as such.
    """
    released = tuple(sorted(columns, key=relation.position))
    rows = rows_of_records(relation, combination, recoding, released)
    return project_rows(rows, recoding, released, relation.marker, decimal)


def project_rows(
    rows: CodeArray,
    recoding: Recoding,
    columns: Sequence[str],
    marker: str | None,
    decimal: str | None = None,
) -> Projection:
    """Return the projection of the input to a release.

    Parameters
    ----------
    rows: row of the recoding's table for each record, shape (records,).
    columns: that are released, in the order of the input.
    marker: of the relation.
    decimal: as for ``project``.
    """
    written, replacements = _Written.of(recoding, columns, decimal), {}
    for name, published in written.recoded.items():
        # Labels are sorted, so codes sort like labels.
        labels, places = _sorted_labels(published, marker)
        replacements[name] = Replacement(labels, places[published.codes][rows])
    return Projection(written.columns, replacements, ~recoding.removed[rows], written.numbers)


def with_pseudonyms(projection: Projection, column: str, units: IntArray) -> Projection:
    """Return a projection with a number for each released unit in place of its key, drawn at random.

    The randomness is that of the system, so a number discloses nothing but which records are of one unit.

    Parameters
    ----------
    column: of the keys.
    units: of each record, shape (records,); if negative, it is a unit of its own.
    """
    own = np.where(units < 0, units.max(initial=-1) + 1 + np.arange(len(units)), units)
    kept, codes = projection.kept, np.zeros(len(units), dtype=np.int32)
    present, number = np.unique(own[kept], return_inverse=True)
    codes[kept] = shuffled(len(present))[number.reshape(-1)]
    numbers = Replacement(tuple(range(1, len(present) + 1)), codes)
    return replace(projection, replacements={**projection.replacements, column: numbers})


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
    return CountedRows(columns, tuple(labels), tuple(packing.unpack(distinct).T), counts)


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
    relation: Relation,
    recoding: Recoding,
    positions: Mapping[str, CodeArray],
    columns: Sequence[str],
    decimal: str | None = None,
) -> CountedRows | None:
    """Return the distinct published rows, sorted, with their counts.

    Parameters
    ----------
    positions: codes of the texts in the dictionary of each sensitive attribute, shape (texts,).
    columns: that are released.
    decimal: as for ``project``.

    Returns
    -------
    None if the release does not follow from the recoding's table: the table lacks a column, or a code means
    several texts or a value that is not a text.
    """
    recoding = recoding.merged
    written = _Written.of(recoding, sorted(columns, key=relation.position), decimal)
    known = dict(written.recoded)
    for name in written.columns:
        if name not in known:
            unchanged = _unchanged(relation, recoding, name, positions)
            if unchanged is None:
                return None
            known[name] = unchanged
    kept = ~recoding.removed
    packing, texts = Packing(int(kept.sum())), []
    for name in written.columns:
        published = known[name]
        labels, places = _sorted_labels(published, relation.marker)
        texts.append(labels)
        packing.add(places[published.codes[kept]], len(labels))
    groups, distinct = rank(packing.take_keys())
    codes = tuple(packing.unpack(distinct).T)
    counts = count(groups.astype(np.int64), recoding.table.counts[kept], len(distinct))
    return CountedRows(written.columns, tuple(texts), codes, counts, written.numbers)


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
    recoding: Recoding,
    codings: Sequence[Coding],
    columns: Sequence[str],
    marker: str | None,
    decimal: str | None = None,
) -> RecodedRows:
    """Return the published labels of each row of a recoding's table.

    Parameters
    ----------
    codings: codes of the records, one for each column of that table.
    columns: released ones, in the order of the input.
    marker: of the relation.
    decimal: as for ``project``.
    """
    table = recoding.table
    found = ByCodes(tuple(codings), table.codes)
    written = _Written.of(recoding, columns, decimal)
    return _rows(recoding, found, written, np.arange(len(table.counts)), table.counts, marker)


def regions_rows(
    recoding: Recoding,
    codings: Sequence[Coding],
    columns: Sequence[str],
    regions: PlacedRows | None,
    marker: str | None,
    decimal: str | None = None,
) -> RecodedRows:
    """Return the published labels of each region of a recoding.

    Parameters
    ----------
    codings: codes of the records, by which the engine finds their distinct rows.
    columns: released ones, in the order of the input.
    regions: of the distinct rows in the engine, numbered as in the recoding, which may have one more region
        of suppressed records.
    marker: of the relation.
    decimal: as for ``project``.
    """
    assert isinstance(recoding, SharedRecoding), "an algorithm that cuts finds regions"
    region_of = recoding.region_of
    assert region_of is not None, "an algorithm that cuts finds regions"
    kept_suppressed = np.flatnonzero(recoding.suppressed & ~recoding.removed)
    rest = int(region_of[kept_suppressed[0]]) if len(kept_suppressed) else None
    _, first = np.unique(region_of, return_index=True)
    counts = count(region_of, recoding.table.counts, len(first))
    found, written = ByRegion(tuple(codings), regions, rest), _Written.of(recoding, columns, decimal)
    return _rows(recoding, found, written, first, counts, marker)


def _rows(
    recoding: Recoding,
    found: ByCodes | ByRegion,
    written: _Written,
    rows: IntArray,
    counts: IntArray,
    marker: str | None,
) -> RecodedRows:
    """Return the published labels of some rows of a recoding's table."""
    labels: dict[str, tuple[str, ...]] = {}
    places: dict[str, CodeArray] = {}
    for name, published in written.recoded.items():
        labels[name], own = _sorted_labels(published, marker)
        places[name] = own[published.codes[rows]]
    kept = ~recoding.removed[rows]
    return RecodedRows(found, counts, kept, written.columns, labels, places, written.numbers)
