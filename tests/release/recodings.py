"""Recodings made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, encode, read_columns
from anonymizer.model.arrays import CodeArray
from anonymizer.model.recoding import Cells, PublishedColumn, Recoding
from anonymizer.model.table import ValueType


class Given(Recoding):
    """Publishes what it is given."""

    def __init__(self, columns: Sequence[PublishedColumn], removed: Sequence[bool]) -> None:
        self.suppressed = self.removed = np.array(removed)
        self._columns = tuple(columns)

    def published(self) -> tuple[PublishedColumn, ...]:
        return self._columns

    def cells(self, position: int) -> Cells:
        raise AssertionError("only what is published is asked")


def first_letters(relation: Relation, names: Sequence[str], drop: str = "\0") -> tuple[CodeArray, Given]:
    """Recode text columns to their first character; remove combinations with a text that starts so.

    Parameters
    ----------
    drop: the start of the texts that remove.

    Returns
    -------
    The combination of each record, and the recoding.
    """
    requests = [ColumnRequest(name, ValueType.TEXT) for name in names]
    columns = list(read_columns(relation, requests, missing=()).values())
    encoded = encode(relation, columns)
    removed = np.zeros(len(encoded.counts), dtype=bool)
    published = []
    for position, read in enumerate(columns):
        codes = encoded.codes[:, position]
        letters = [text[:1] or "nothing" for text in read.column.texts]
        labels = sorted(set(letters), reverse=True)
        by_value = np.array([labels.index(letter) for letter in letters], dtype=np.int32)
        published.append(PublishedColumn(read.column.name, tuple(labels), by_value[codes]))
        removed |= np.array([text.startswith(drop) for text in read.column.texts])[codes]
    return encoded.combination, Given(published, removed)
