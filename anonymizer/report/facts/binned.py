"""A distribution of numbers or dates that are published as intervals or means, over round intervals."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from math import floor, log10

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import Cells
from anonymizer.model.table import MISSING, SUPPRESSED, Column, ValueType
from anonymizer.report.facts.drafts import Draft

BINS = 8
"""Intervals that are aimed at."""

_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def binned(released: Released, position: int, smallest: int) -> Draft:
    """Count numbers by intervals with round ends, the outer two open, so that no extreme value is told.

    A published interval counts in equal parts along its length, as its reader has to take it; a published
    number counts where it stands.
    """
    table, recoding = released.table, released.recoding
    column = table.quasi_identifiers[position].column
    numbers = column.numbers
    assert numbers is not None, "only numbers and dates have intervals"
    edges = _round_edges(column, smallest)
    known = ~np.isnan(numbers)
    place = np.where(known, np.searchsorted(edges, np.where(known, numbers, 0), "right"), len(edges) + 1)
    before = np.bincount(place, column.counts, len(edges) + 2).astype(np.int64)
    cells = recoding.cells(position)
    after = np.where(recoding.suppressed, 0, table.counts)
    by_cell = np.bincount(cells.codes, after, len(cells.labels)).astype(np.int64)
    spread, told = _spread(cells, column, edges)
    released_counts = np.round(by_cell @ spread).astype(np.int64)
    counts = np.column_stack([before, released_counts])
    names = (*_names(edges, column.type), MISSING)
    rows = slice(None) if before[-1] > 0 else slice(0, -1)
    total = int(np.where(recoding.removed, 0, table.counts).sum())
    return Draft(
        "intervals with round ends",
        names[rows],
        counts[rows],
        np.zeros(len(names[rows]), dtype=bool),
        total - int(by_cell[told].sum()),
        np.array([table.records, total]),
    )


def _round_edges(column: Column, smallest: int) -> FloatArray:
    """Return round numbers at equal steps, none beyond the middle of the records, shape (edges,)."""
    numbers, counts = column.numbers, column.counts
    assert numbers is not None
    known = ~np.isnan(numbers)
    values, weights = numbers[known], counts[known]
    total = np.cumsum(weights)
    margin = max(0.05 * total[-1], smallest)
    low = values[min(np.searchsorted(total, margin), len(values) - 1)]
    high = values[min(np.searchsorted(total, total[-1] - margin), len(values) - 1)]
    if column.type is ValueType.DATE:
        return _month_edges(float(low), float(high))
    step = _nice((high - low) / BINS)
    first = floor(low / step) + 1
    edges = step * np.arange(first, max(floor(high / step), first) + 1, dtype=np.float64)
    return np.round(edges, 12)


def _nice(step: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least a step; 1 for none."""
    if step <= 0:
        return 1.0
    power = 10.0 ** floor(log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def _month_edges(low: float, high: float) -> FloatArray:
    first, last = date.fromordinal(int(low)), date.fromordinal(int(high))
    months = 12 * (last.year - first.year) + last.month - first.month
    step = next((each for each in _MONTHS if months / BINS <= each), _MONTHS[-1])
    start = (12 * first.year + first.month - 1) // step + 1
    stop = max((12 * last.year + last.month - 1) // step, start)
    ends = [divmod(step * place, 12) for place in range(start, stop + 1)]
    return np.array([date(year, month + 1, 1).toordinal() for year, month in ends], dtype=np.float64)


def _names(edges: FloatArray, kind: ValueType) -> tuple[str, ...]:
    """Name the intervals below the first edge, between the edges, and from the last one on."""
    if kind is ValueType.DATE:
        texts = [date.fromordinal(int(edge)).isoformat() for edge in edges]
        return (f"before {texts[0]}", *(f"from {text}" for text in texts))
    ends = [f"{edge:,.10g}" for edge in edges]
    between = [f"{low} to <{high}" for low, high in pairwise(ends)]
    return (f"under {ends[0]}", *between, f"{ends[-1]} or more")


def _spread(cells: Cells, column: Column, edges: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return which part of each published value lies in each interval, and which values say where at all.

    Returns
    -------
    Shape (values, intervals + 1), rows adding up to 1 or 0, the last column for missing; and the positions of
    those that add up to 1.
    """
    low, high = _ends(cells, column)
    missing = np.array([label == MISSING for label in cells.labels])
    told = ~np.isnan(low)
    start, stop = np.where(told, low, 0.0)[:, None], np.where(told, high, 0.0)[:, None]
    width = stop - start
    lower, upper = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])
    overlap = np.clip(np.minimum(stop, upper) - np.maximum(start, lower), 0.0, None)
    inside = ((start >= lower) & (start < upper)).astype(np.float64)
    part = np.where(width > 0, overlap / np.where(width > 0, width, 1.0), inside)
    spread = np.column_stack([np.where(told[:, None], part, 0.0), missing.astype(np.float64)])
    return spread, np.flatnonzero(told | missing)


def _ends(cells: Cells, column: Column) -> tuple[FloatArray, FloatArray]:
    """Return the range that each published value stands for to its reader, NaN for ``*`` and missing ones."""
    unit = 0.0 if column.type is ValueType.NUMBER else 1.0
    points = np.array([_number(column, label) for label in cells.labels], dtype=np.float64)
    unread = np.array([label in (SUPPRESSED, MISSING) for label in cells.labels]) | cells.values.mixed
    single = ~np.isnan(points)
    low = np.where(single, points, np.where(unread, np.nan, cells.values.low))
    high = np.where(single, points, np.where(unread, np.nan, cells.values.high + unit))
    return low, high


def _number(column: Column, label: str) -> float:
    if column.type is not ValueType.DATE:
        number = column.numerals.number(label)
        return np.nan if number is None else number
    try:
        return float(date.fromisoformat(label).toordinal())
    except ValueError:
        return np.nan
