"""Privacy models proposed for what a file holds."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from anonymizer.model.table import ValueType
from anonymizer.profile.facts import NEARLY_ALL, ColumnFacts

K = 5
"""Records that look the same, at least: the usual least of statistics offices."""

LIMIT = Decimal("0.02")
"""Share of the records that may be left out."""

MANY, SOME = 20, 6
"""Distinct numbers from which on their spread is what matters; values from which on three are asked."""

SKEWED = Decimal("0.8")
"""Share of the most frequent value from which on diversity in every class costs more than it protects."""

CLOSENESS = Decimal("0.3")


def proposed_k(rows: int) -> int:
    """Return the k that is proposed for a number of records."""
    return min(K, rows)


def proposed_constraint(column: ColumnFacts) -> tuple[dict[str, Any], str] | None:
    """Return a model for a sensitive attribute with the reason, None for one that has one value only.

    A single class of all records satisfies each, so that there always is a release.
    """
    if column.distinct < 2:
        return None
    numbers = column.type is not ValueType.TEXT and column.distinct > MANY
    if numbers or column.largest > SKEWED * column.present:
        why = "its values are spread in every group nearly as in the whole file"
        return {"model": "t-closeness", "t": CLOSENESS, "attribute": column.name}, why
    diversity = 3 if column.distinct >= SOME else 2
    why = f"{diversity} different values in every group, so that it does not give one away"
    if column.distinctness >= NEARLY_ALL:
        why += (
            "; but nearly all of its values differ, so that every group satisfies this and next to nothing "
            "is protected: give it a hierarchy, and ask t-closeness with distance hierarchical"
        )
    return {"model": "l-diversity", "l": diversity, "attribute": column.name}, why


def constraints(rows: int, sensitive: Iterable[ColumnFacts]) -> list[tuple[dict[str, Any], str]]:
    """Return the models that are proposed for a file, each with its reason."""
    k = proposed_k(rows)
    first = ({"model": "k-anonymity", "k": k}, f"everybody looks like {k - 1} others at least")
    proposed = (proposed_constraint(column) for column in sensitive)
    return [first, *(each for each in proposed if each is not None)]
