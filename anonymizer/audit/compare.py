"""A counted file against what a recoding publishes of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.audit.count import value_codes
from anonymizer.core.arrays import IntArray
from anonymizer.core.grouping import count, group_keys
from anonymizer.core.recoding import Recoding
from anonymizer.engines.base import Groups


def unpromised_records(source: str, groups: Groups, recoding: Recoding) -> int:
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
    table, kept = recoding.table, ~recoding.removed
    columns = [
        (_positions(groups.values[position], published.labels), published.codes, len(published.labels) + 1)
        for position, published in enumerate(recoding.published())
    ]
    for position, attribute in enumerate(table.sensitive, start=len(columns)):
        known = value_codes(source, attribute.column, groups.values[position])
        columns.append((known, table.codes[:, position], attribute.column.size))
    found = len(groups.counts)
    keys, number = np.zeros(found + int(kept.sum()), dtype=np.int64), 1
    for position, (file_codes, table_codes, size) in enumerate(columns):
        both = np.concatenate([file_codes[groups.codes[:, position]], table_codes[kept]])
        keys, distinct = group_keys(keys * size + both, number * size)
        number = len(distinct)
    surplus = count(keys[:found], groups.counts, number) - count(keys[found:], table.counts[kept], number)
    return int(surplus.clip(min=0).sum())


def _positions(texts: Sequence[str | None], labels: Sequence[str]) -> IntArray:
    """Return the position of each text among the labels, one past their end for what is none of them."""
    known = {label: position for position, label in enumerate(labels)}
    return np.array([known.get(text or "", len(labels)) for text in texts], dtype=np.int64)
