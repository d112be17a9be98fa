"""The release as a query over the input: recoded records or counted rows, ready to be written.

A release follows from the frequency table alone if it can; otherwise the engine joins its records to their
recoding. A distinct row that is published in several ways divides its records between them. Published
columns of a DataFrame keep the original's type if they hold its values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.data.relation import (
    AppendedFile,
    AppendWriter,
    ByCodes,
    ByRegion,
    Coding,
    CountedRows,
    CountedWriter,
    Groups,
    Projection,
    RecodedRows,
    RecodedWriter,
    Relation,
    Replacement,
)
from anonymizer.errors import AuditFailed
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.counting import Packing, add_up, count, rank
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.model.recoding import PublishedColumn, Recoding, SharedRecoding
from anonymizer.release.formats import SORTED, RowOrder, release_format

if TYPE_CHECKING:
    import pandas


def published_series(
    relation: Relation, replacement: Replacement, rows: IntArray, original: pandas.Series[Any]
) -> pandas.Series[Any]:
    """Return what is published instead of a column, with a new index.

    Parameters
    ----------
    relation: that was opened from the DataFrame.
    rows: numbers of the published records in their order, shape (released,).
    original: the column.

    Returns
    -------
    Of the original's dtype when every published text is that of one of its values; else text, or categories
    of texts where the original has categories. A text that only looks like a number stays a text: ``3`` for
    30 to 39 is no age.
    """
    import pandas as pd  # noqa: PLC0415 - reading and writing files does without it

    used, places = np.unique(replacement.codes[rows], return_inverse=True)
    texts = [replacement.labels[code] for code in used]
    dictionary = [text for text, _ in relation.dictionary(str(original.name))]
    if set(texts) <= set(dictionary):
        place = {text: number for number, text in enumerate(dictionary)}
        known = _first_records(relation.codes(str(original.name)), len(dictionary))
        positions = known[[place[text] for text in texts]]
        return only_used(original.iloc[positions[places]].reset_index(drop=True))
    if isinstance(original.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical.from_codes(places, categories=pd.Index(texts, dtype="str")))
    # A text type of its own, such as Arrow's, holds other texts too.
    dtype = original.dtype if _is_text(original.dtype) else "str"
    return pd.Series(pd.Series(texts, dtype=dtype).array.take(places))


def only_used(series: pandas.Series[Any]) -> pandas.Series[Any]:
    """Return a column without the categories that none of its records has."""
    import pandas as pd  # noqa: PLC0415

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.remove_unused_categories()
    arrow: Any = getattr(series.dtype, "pyarrow_dtype", None)
    if hasattr(arrow, "index_type"):
        # What Arrow takes from a dictionary keeps all of it, so a new one is made.
        return series.astype(pd.ArrowDtype(arrow.value_type)).astype(series.dtype)
    return series


def _first_records(codes: CodeArray, size: int) -> IntArray:
    """Return the number of one record of each code, shape (size,)."""
    first = np.zeros(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int64)[::-1]
    return first


def _is_text(dtype: Any) -> bool:
    from pandas.api.types import is_string_dtype  # noqa: PLC0415 - reading and writing files does without it

    return dtype.name != "object" and is_string_dtype(dtype)


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


def write_release(
    relation: Relation,
    projection: Projection,
    path: Path,
    order: RowOrder = SORTED,
) -> int:
    """Write a release as the suffix of the path says.

    Returns
    -------
    Number of records written.

    Raises
    ------
    OutputError: the suffix is unknown, or the file cannot be written.
    """
    target = release_format(path)
    rows = order.rows(relation, projection)
    target.write(relation, projection, rows, path)
    return len(rows)


def release_frame(
    relation: Relation,
    projection: Projection,
    frame: pandas.DataFrame,
    order: RowOrder = SORTED,
) -> pandas.DataFrame:
    """Return a release as a DataFrame with a new index, for a relation that was opened from ``frame``.

    Recoded columns keep their type where all that is published are values of theirs, else they are text; the
    others keep theirs. Of categories those that are still used stay.
    """
    import pandas as pd  # noqa: PLC0415  reading and writing files does without it

    rows = order.rows(relation, projection)
    released = {}
    for column in projection.columns:
        replacement = projection.replacements.get(column)
        if replacement is not None:
            released[column] = _published(relation, replacement, rows, frame, column)
        else:
            kept = frame.iloc[rows, relation.position(column)]
            released[column] = only_used(kept.reset_index(drop=True))
    return pd.DataFrame(released, columns=list(projection.columns))


def _published(
    relation: Relation, replacement: Replacement, rows: IntArray, frame: pandas.DataFrame, column: str
) -> pandas.Series[Any]:
    import pandas as pd  # noqa: PLC0415

    if column in relation.columns:
        return published_series(relation, replacement, rows, frame.iloc[:, relation.position(column)])
    labels: pandas.Series[Any] = pd.Series(
        replacement.labels, dtype="int64" if _whole(replacement) else "str"
    )
    return labels.take(replacement.codes[rows]).reset_index(drop=True)


def _whole(replacement: Replacement) -> bool:
    """Tell whether whole numbers are published, and not texts."""
    return isinstance(replacement.labels[0], int)


def _replacement(published: PublishedColumn, rows: CodeArray) -> Replacement:
    """Give each record its label, labels sorted so that their positions sort as they do."""
    order = sorted(range(len(published.labels)), key=published.labels.__getitem__)
    labels = tuple(published.labels[position] for position in order)
    return Replacement(labels, ranks_of(order)[published.codes][rows])


class Publishable(ABC):
    """One table of a release."""

    @abstractmethod
    def write(self, path: Path, order: RowOrder) -> None:
        """Write it as the suffix of the path says.

        Raises
        ------
        OutputError: the suffix is unknown, or the file cannot be written.
        """

    def compare(self, release: Relation) -> None:  # noqa: B027 - most need nothing more than the audit
        """Compare what was written, and read back, with what was to be written, beyond what the audit does.

        Raises
        ------
        AuditFailed: it is something else.
        """


@dataclass(frozen=True, eq=False)
class FromRecords(Publishable):
    """Found by looking at every record once more."""

    relation: Relation
    projection: Projection

    def write(self, path: Path, order: RowOrder) -> None:
        """Write the records."""
        write_release(self.relation, self.projection, path, order)


@dataclass(frozen=True, eq=False)
class FromTable(Publishable):
    """Found from the frequency table, which tells all that is published."""

    writer: CountedWriter
    rows: CountedRows

    def write(self, path: Path, order: RowOrder) -> None:
        """Write the rows as often as they count."""
        release_format(path).write_counted(self.writer, order.normalize_input(self.rows), path)


@dataclass(frozen=True, eq=False)
class FromEngine(Publishable):
    """Found by the engine, which joins the records to what becomes of them."""

    writer: RecodedWriter
    rows: RecodedRows

    def write(self, path: Path, order: RowOrder) -> None:
        """Write the records."""
        release_format(path).write_recoded(self.writer, self.rows, path, order.secret())

    def compare(self, release: Relation) -> None:
        """Compare whole records: the audit does not see what stands beside the columns that it counts."""
        reader = release.recoded_writer
        if reader is None or not isinstance(self.writer, type(reader)):
            raise AuditFailed(f"{release.name}: was read back by another engine than it was written by")
        if reader.own_checksum(self.rows.labels) != self.writer.checksum(self.rows):
            raise AuditFailed(f"{release.name}: some record is not one of the input as recoded")


@dataclass(frozen=True, eq=False)
class FileAppend(Publishable):
    """Records that are written to a file of their own first, which an engine reads beside the earlier ones.

    Attributes
    ----------
    earlier: path of the earlier release, whose kind of file it is, so that both have the same types.
    writer: of the earlier records.
    new: what is published of the new ones.
    scratch: a folder for the file.
    """

    earlier: Path
    writer: AppendWriter
    new: Publishable
    scratch: Path

    def write(self, path: Path, order: RowOrder) -> None:
        """Write all records.

        Raises
        ------
        OutputError: the file cannot be written.
        DataError: a column holds another type in the new records, or the earlier file has changed.
        AuditFailed: the new records were not written as they should be.
        """
        new = self.scratch / f"new{''.join(self.earlier.suffixes[-2:])}"
        self.new.write(new, SORTED)
        further = AppendedFile(new, self.new.compare)
        release_format(path).write_beside(self.writer, further, path, order.secret())
        new.unlink()


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
