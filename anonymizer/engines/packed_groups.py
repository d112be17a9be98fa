"""Distinct combinations of texts, counted by sorting packed codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.engines.base import Relation
from anonymizer.engines.coding import Coding
from anonymizer.engines.rows import Groups
from anonymizer.model.counting import count_keys


def packed_groups(relation: Relation, columns: Sequence[str]) -> Groups:
    """Return what ``group_counts`` does, in less memory where nearly all records are distinct.

    Raises
    ------
    DataError: no such column.
    """
    values = tuple(tuple(text for text, _ in relation.dictionary(column)) for column in columns)
    coded = [
        Coding(column, np.arange(len(own), dtype=np.int32), len(own))
        for column, own in zip(columns, values, strict=True)
    ]
    packing = relation.packed(coded)
    distinct, counts = count_keys(packing.take_keys())
    return Groups(values, packing.unpack(distinct), counts)
