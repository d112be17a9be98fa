"""The order of released records, which tells nothing of the input's."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from anonymizer.data.relation import CountedRows, Projection, Relation
from anonymizer.model.arrays import IntArray


class RowOrder(ABC):
    """Puts the published records in an order."""

    name: ClassVar[str]

    @abstractmethod
    def rows(self, relation: Relation, projection: Projection) -> IntArray:
        """Return the numbers of the published records in their new order, shape (released,), int64."""

    @abstractmethod
    def normalize_input(self, rows: CountedRows) -> CountedRows:
        """Return counted rows, which are sorted, in their new order."""

    @abstractmethod
    def secret(self) -> bytes | None:
        """Return random bytes by which an engine puts records in an order; None for sorted ones."""


class SortedOrder(RowOrder):
    """By the published values, all columns left to right, texts by code point: a function of these alone."""

    name = "sorted"

    def rows(self, relation: Relation, projection: Projection) -> IntArray:
        """Return the records sorted; what is not told apart by published values is the same row."""
        return relation.sorted_rows(projection)

    def normalize_input(self, rows: CountedRows) -> CountedRows:
        """Return the rows."""
        return rows

    def secret(self) -> None:
        """Return that there is none."""


class ShuffledOrder(RowOrder):
    """By randomness of the system, which no seed repeats: a known seed would undo the shuffle."""

    name = "shuffled"

    def rows(self, relation: Relation, projection: Projection) -> IntArray:
        """Return the records by a random 64-bit number each."""
        keys = np.frombuffer(os.urandom(8 * relation.rows), dtype=np.uint64)
        rows: IntArray = np.argsort(keys)
        return rows[projection.kept[rows]]

    def normalize_input(self, rows: CountedRows) -> CountedRows:
        """Return every single row by a random 64-bit number."""
        number = int(rows.counts.sum())
        order = np.argsort(np.frombuffer(os.urandom(8 * number), dtype=np.uint64))
        single = np.repeat(np.arange(len(rows.counts)), rows.counts)[order]
        codes = tuple(each[single] for each in rows.codes)
        return CountedRows(rows.columns, rows.labels, codes, np.ones(number, dtype=np.int64))

    def secret(self) -> bytes:
        """Return 128 bits."""
        return os.urandom(16)


SORTED = SortedOrder()
ROW_ORDERS: Mapping[str, RowOrder] = {order.name: order for order in (SORTED, ShuffledOrder())}
"""The orders by the name that the config gives them."""
