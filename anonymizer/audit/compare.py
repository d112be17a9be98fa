"""A counted file against what a recoding publishes of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.audit.count import value_codes
from anonymizer.audit.fingerprint import fingerprint
from anonymizer.data.relation import Groups
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.counting import Packing, add_up
from anonymizer.model.recoding import PublishedColumn, Recoding


def mismatched_records(source: str, groups: Groups, recoding: Recoding) -> int:
    """Count the records of a file that are not as the recoding publishes them.

    Labels and sensitive values are compared together: neither a wrong label nor a sensitive value that
    stands with the wrong class goes unnoticed, though no column's values need change for it.

    Parameters
    ----------
    source: what messages call the file.
    groups: of the file, by the quasi-identifiers and, last, the sensitive attributes of the recoding's table.

    Returns
    -------
    Records that the file has too many of some kind.

    Raises
    ------
    DataError: the file has a sensitive value that the table has not.
    """
    recoding = _fewest_rows(recoding)
    table, kept = recoding.table, ~recoding.removed
    columns = _published(groups, recoding.published())
    for position, attribute in enumerate(table.sensitive, start=len(columns)):
        known = value_codes(source, attribute.column, groups.values[position])
        columns.append(Compared(known, table.codes[:, position], attribute.column.size))
    return surplus(groups, columns, kept, table.counts)


def misassigned_records(groups: Groups, recoding: Recoding) -> int:
    """Count the records of a file that are not in a class in which the recoding publishes them.

    Parameters
    ----------
    groups: of the file, by the quasi-identifiers and, last, the columns that tell the classes.
    """
    recoding = _fewest_rows(recoding)
    columns = _published(groups, (*recoding.published(), *recoding.class_columns()))
    return surplus(groups, columns, ~recoding.removed, recoding.table.counts)


def _fewest_rows(recoding: Recoding) -> Recoding:
    """Return the recoding with its rows merged if it publishes the same then, else the recoding itself.

    The release was written from merged rows, so a mistake in merging them would be on both sides.
    """
    merged = recoding.merged
    if merged is recoding or fingerprint(merged) == fingerprint(recoding):
        return merged
    return recoding


@dataclass(frozen=True, eq=False)
class Compared:
    """A column of a file and of a recoding, in codes of one kind.

    Attributes
    ----------
    found: code of each text of the file, shape (texts,), int64.
    promised: code of each promised row, such as those of a recoding's table, shape (rows,).
    size: number of codes.
    """

    found: IntArray
    promised: CodeArray
    size: int


def _published(groups: Groups, columns: Sequence[PublishedColumn]) -> list[Compared]:
    return [
        Compared(_positions(groups.values[position], own.labels), own.codes, len(own.labels) + 1)
        for position, own in enumerate(columns)
    ]


def surplus(groups: Groups, columns: Sequence[Compared], kept: BoolArray, counts: IntArray) -> int:
    """Count the records that a file has more of than were promised, over all combinations of the columns."""
    found = len(groups.counts)
    packing = Packing(found + int(kept.sum()))
    for position, each in enumerate(columns):
        codes = each.found[groups.codes[:, position]].astype(np.int32)
        packing.add(np.concatenate([codes, each.promised[kept]]), each.size)
    keys = packing.take_keys()
    has, records = add_up(keys[:found], groups.counts, packing.space)
    promised, most = add_up(keys[found:], counts[kept], packing.space)
    place = np.searchsorted(promised, has)
    known = promised[np.minimum(place, len(promised) - 1)] == has if len(promised) else place < 0
    records[known] -= most[place[known]]
    return int(records.clip(min=0).sum())


def _positions(texts: Sequence[str | None], labels: Sequence[str]) -> IntArray:
    """Return the position of each text among the labels, one past their end for what is none of them."""
    known = {label: position for position, label in enumerate(labels)}
    return np.array([known.get(text or "", len(labels)) for text in texts], dtype=np.int64)
