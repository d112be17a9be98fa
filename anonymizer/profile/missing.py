"""Texts that stand for a missing value."""

from __future__ import annotations

import re
from collections.abc import Collection

from anonymizer.data.relation import ColumnStatistics, Relation
from anonymizer.model.table import MISSING, SUPPRESSED

EMPTY = ""

CLEAR = (EMPTY, "?", "#N/A", "N/A", "n/a", "NULL", "null", "NaN", "nan", "<NA>", "\\N", SUPPRESSED)
"""Texts that are taken for missing wherever they occur."""

BESIDE_NUMBERS = ("NA", "na", "None", "none", "-", "--", ".", "unknown", "Unknown", "missing", "Missing")
"""Texts that are taken for missing where all the others of a column are numbers or dates."""

ABSENT = (*CLEAR, MISSING)
"""Texts that are never counted as values."""


def clear_texts(relation: Relation, column: str, spread: ColumnStatistics) -> set[str]:
    """Return which of the texts that are taken for missing wherever they occur a column holds."""
    if not spread.nulls:
        return set()
    if spread.whole:
        return {text for text, _ in relation.dictionary(column) if text is not None}.intersection(CLEAR)
    return texts_among(relation, column, CLEAR)


def texts_among(relation: Relation, column: str, texts: Collection[str]) -> set[str]:
    """Return which of some texts a column holds."""
    if not relation.count_matching(column, "|".join(map(re.escape, texts))):
        return set()
    return {text for text in texts if relation.count_matching(column, re.escape(text))}


def as_setting(found: Collection[str]) -> tuple[str, ...]:
    """Return what ``input.missing`` should be: the empty text and what else was found, in a fixed order."""
    return tuple(text for text in (*CLEAR, *BESIDE_NUMBERS) if text == EMPTY or text in found)
