"""Masking record by record, as the papers tell it."""

from __future__ import annotations

from collections.abc import Sequence


def individual_ranking(values: Sequence[float], k: int) -> list[float]:
    """Return the mean of each value's group of k consecutive ones; the last group has up to 2k - 1."""
    order = sorted(range(len(values)), key=lambda record: (values[record], record))
    masked = [0.0] * len(values)
    while order:
        size = k if len(order) >= 2 * k else len(order)
        group, order = order[:size], order[size:]
        for record in group:
            masked[record] = sum(values[own] for own in group) / len(group)
    return masked
