"""Comparison of a counted file with a recoding and with an earlier release.

The fingerprint of the published rows of a recoding distinguishes recodings without sorting rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.relation import Groups
from anonymizer.model.arrays import BLOCK, BoolArray, CodeArray, IntArray, Packing, add_up
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import PublishedColumn, Recoding
from anonymizer.model.table import SensitiveAttribute
from anonymizer.release.classes import value_codes

Words = NDArray[np.uint64]


def fingerprint(recoding: Recoding) -> int:
    """Return the sum of a hash of published and sensitive values over all released records.

    Recodings that publish the same have equal fingerprints, whatever their tables; others with probability
    2**-64. It needs a look-up for each value and eight bytes for each row.
    """
    table = recoding.table
    kept_suppressed = recoding.suppressed & ~recoding.removed
    rows = np.zeros(table.combinations, dtype=np.uint64)
    for position in range(len(table.quasi_identifiers)):
        cells = recoding.cells(position)
        own = _words(position, cells.labels)[cells.codes]
        own[kept_suppressed] = _words(position, [SUPPRESSED])[0]
        rows += own
    for position, attribute in enumerate(table.sensitive, start=len(table.quasi_identifiers)):
        codes = table.sensitive_codes(attribute.name)
        rows += _words(position, map(str, range(attribute.column.size)))[codes]
    found = 0
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        records = np.where(recoding.removed[block], 0, table.counts[block]).astype(np.uint64)
        found += int((_mixed(rows[block]) * records).sum())
    return found % 2**64


def _words(position: int, texts: Iterable[str]) -> Words:
    """Return a hash for each text of a column."""
    key = position.to_bytes(4, "little")
    digests = (
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest() for text in texts
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _mixed(words: Words) -> Words:
    """Return words in which every bit depends on all given bits, so their sums rarely collide.

    Source: Steele, Lea, Flood (OOPSLA 2014, doi:10.1145/2660193.2660195), the finalizer of SplitMix64.
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def mismatched_records(source: str, groups: Groups, recoding: Recoding) -> int:
    """Count the records of a file that differ from the recoding.

    Whole rows are compared, because a sensitive value in the wrong class changes no single column.

    Parameters
    ----------
    source: name of the file in messages.
    groups: of the file, by the quasi-identifiers and, last, the sensitive attributes of the recoding's table.

    Returns
    -------
    Sum of the excess records over all distinct rows.

    Raises
    ------
    DataError: the file has a sensitive value that is not in the table.
    """
    recoding = _fewest_rows(recoding)
    table, kept = recoding.table, ~recoding.removed
    columns = _published(groups, recoding.published())
    for position, attribute in enumerate(table.sensitive, start=len(columns)):
        known = value_codes(source, attribute.column, groups.values[position])
        columns.append(Compared(known, table.codes[:, position], attribute.column.size))
    return surplus(groups, columns, kept, table.counts)


def misassigned_records(groups: Groups, recoding: Recoding) -> int:
    """Count the records of a file that are in other classes than in the recoding.

    Parameters
    ----------
    groups: of the file, by the quasi-identifiers and, last, the columns that identify the classes.
    """
    recoding = _fewest_rows(recoding)
    columns = _published(groups, (*recoding.published(), *recoding.class_columns()))
    return surplus(groups, columns, ~recoding.removed, recoding.table.counts)


def _fewest_rows(recoding: Recoding) -> Recoding:
    """Return the recoding with merged rows if these publish the same, else the recoding itself.

    The release was written from merged rows, so a mistake in merging would otherwise be on both sides.
    """
    merged = recoding.merged
    if merged is recoding or fingerprint(merged) == fingerprint(recoding):
        return merged
    return recoding


@dataclass(frozen=True, eq=False)
class Compared:
    """A column of a file and of a recoding, in common codes.

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
    """Return the excess records of a file over the promised counts, summed over all distinct rows."""
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
    """Return the position of each text among the labels; unknown texts get the number of labels."""
    known = {label: position for position, label in enumerate(labels)}
    return np.array([known.get(text or "", len(labels)) for text in texts], dtype=np.int64)


def common_codes(*several: Sequence[str | None]) -> tuple[list[IntArray], int]:
    """Return common codes for the texts of several lists, a null as the empty text.

    Returns
    -------
    The codes of each list, int64, and the number of distinct texts.
    """
    known: dict[str, int] = {}
    codes = [
        np.array([known.setdefault(text or "", len(known)) for text in texts], dtype=np.int64)
        for texts in several
    ]
    return codes, len(known)


def mismatched_append(
    source: str,
    groups: Groups,
    earlier: Groups,
    recoding: Recoding,
    attributes: Sequence[SensitiveAttribute],
) -> int:
    """Count the records of a file that are neither in an earlier release nor in a recoding.

    Parameters
    ----------
    source: name of the file in messages.
    groups, earlier: of the file and of the earlier release, by the quasi-identifiers and, last, the sensitive
        attributes of the recoding's table.
    attributes: the sensitive ones, over the values of all records.

    Returns
    -------
    Sum of the excess records over all distinct rows.

    Raises
    ------
    DataError: a sensitive value is not in the attribute's column.
    """
    table, columns = recoding.table, []
    for position, own in enumerate(recoding.published()):
        texts = (groups.values[position], earlier.values[position], own.labels)
        (found, before, now), number = common_codes(*texts)
        promised = np.concatenate([before[earlier.codes[:, position]], now[own.codes]])
        columns.append(Compared(found, promised, number))
    for place, attribute in enumerate(attributes):
        position = len(table.quasi_identifiers) + place
        texts = (groups.values[position], earlier.values[position], table.sensitive[place].column.texts)
        found, before, now = (value_codes(source, attribute.column, each) for each in texts)
        promised = np.concatenate([before[earlier.codes[:, position]], now[table.codes[:, position]]])
        columns.append(Compared(found, promised, attribute.column.size))
    kept = np.concatenate([np.ones(len(earlier.counts), dtype=np.bool_), ~recoding.removed])
    return surplus(groups, columns, kept, np.concatenate([earlier.counts, table.counts]))
