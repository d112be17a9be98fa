"""Apply a recoding to the input's records and write, or return, what is published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.data.relation import Projection, Relation, Replacement
from anonymizer.model.arrays import CodeArray, IntArray, ranks_of
from anonymizer.model.recoding import PublishedColumn, Recoding
from anonymizer.release.formats import release_format
from anonymizer.release.frame_dtype import only_used, published_series
from anonymizer.release.order import SORTED, RowOrder
from anonymizer.release.parts import rows_of_records

if TYPE_CHECKING:
    import pandas


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
