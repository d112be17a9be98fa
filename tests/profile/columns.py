"""Columns for the tests of what they look like."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from anonymizer.data.table import detect
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import ColumnFacts, with_dates


def column(name: str, values: Sequence[object], kind: ValueType | None = None) -> ColumnFacts:
    """Return the facts of a column, an empty text missing."""
    texts = [str(value) for value in values]
    counts = Counter(text for text in texts if text)
    present = sum(counts.values())
    facts = ColumnFacts(
        name,
        kind or detect(name, counts),
        len(texts),
        len(texts) - present,
        len(counts),
        sum(count == 1 for count in counts.values()),
        max(counts.values(), default=0),
        -sum(count / present * math.log2(count / present) for count in counts.values()),
        tuple(sorted(counts.items())),
    )
    return with_dates(facts)
