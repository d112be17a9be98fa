"""The distribution of a quasi-identifier before and after, without small counts.

Values are counted over hierarchy nodes of one level, or, for numbers and dates published as intervals or
means, over round intervals. Counts are folded and rounded so that no count below the smallest one shown can
be inferred.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import floor, log10

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import Cells, value_labels
from anonymizer.model.table import MISSING, SUPPRESSED, Column, ValueType

OTHERS = "others"
"""Label of the entries that are too small to be named, in one entry."""

COARSER = "published coarser"
"""Label of the released records with a value coarser than the entries."""


@dataclass(frozen=True, eq=False)
class Draft:
    """An exact distribution; never shown without folding and rounding.

    Attributes
    ----------
    entries: description of the entries.
    labels: name of each entry.
    counts: records of the input and of the release, shape (entries, 2), int64.
    hidden: entries whose label must not be shown, shape (entries,), bool.
    coarser: released records in no entry.
    totals: records of the input and of the release, shape (2,), int64.
    """

    entries: str
    labels: tuple[str, ...]
    counts: IntArray
    hidden: BoolArray
    coarser: int
    totals: IntArray


BINS = 8
"""Target number of intervals."""

_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def binned(released: Released, position: int, smallest: int) -> Draft:
    """Count numbers by intervals with round ends; the outer two are open and reveal no extreme value.

    A published interval counts uniformly along its length.
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
    shares, known_cells = _interval_shares(cells, column, edges)
    released_counts = np.round(by_cell @ shares).astype(np.int64)
    counts = np.column_stack([before, released_counts])
    names = (*_names(edges, column.type), MISSING)
    rows = slice(None) if before[-1] > 0 else slice(0, -1)
    total = int(np.where(recoding.removed, 0, table.counts).sum())
    return Draft(
        "intervals with round ends",
        names[rows],
        counts[rows],
        np.zeros(len(names[rows]), dtype=bool),
        total - int(by_cell[known_cells].sum()),
        np.array([table.records, total]),
    )


def _round_edges(column: Column, smallest: int) -> FloatArray:
    """Return round numbers at equal steps, without the outer 5% of the records, shape (edges,)."""
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
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``step``; 1 for 0."""
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
    """Return the labels of the intervals below, between and above the edges."""
    if kind is ValueType.DATE:
        texts = [date.fromordinal(int(edge)).isoformat() for edge in edges]
        return (f"before {texts[0]}", *(f"from {text}" for text in texts))
    ends = [f"{edge:,.10g}" for edge in edges]
    between = [f"{low} to <{high}" for low, high in pairwise(ends)]
    return (f"under {ends[0]}", *between, f"{ends[-1]} or more")


def _interval_shares(cells: Cells, column: Column, edges: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the share of each published value in each interval, and the values with known shares.

    Returns
    -------
    Shares, shape (values, intervals + 1), the last column for missing; and the positions of rows with sum 1,
    the others have sum 0.
    """
    low, high = _ends(cells, column)
    missing = np.array([label == MISSING for label in cells.labels])
    known = ~np.isnan(low)
    start, stop = np.where(known, low, 0.0)[:, None], np.where(known, high, 0.0)[:, None]
    width = stop - start
    lower, upper = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])
    overlap = np.clip(np.minimum(stop, upper) - np.maximum(start, lower), 0.0, None)
    inside = ((start >= lower) & (start < upper)).astype(np.float64)
    part = np.where(width > 0, overlap / np.where(width > 0, width, 1.0), inside)
    shares = np.column_stack([np.where(known[:, None], part, 0.0), missing.astype(np.float64)])
    return shares, np.flatnonzero(known | missing)


def _ends(cells: Cells, column: Column) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the range of each published value, NaN for ``*`` and missing ones."""
    unit = 0.0 if column.type is ValueType.NUMBER else 1.0
    points = np.array([_number(column, label) for label in cells.labels], dtype=np.float64)
    unread = np.array([label in (SUPPRESSED, MISSING) for label in cells.labels]) | cells.values.mixed
    single = ~np.isnan(points)
    low = np.where(single, points, np.where(unread, np.nan, cells.values.low))
    high = np.where(single, points, np.where(unread, np.nan, cells.values.high + unit))
    return low, high


def _number(column: Column, label: str) -> float:
    number = column.number(label)
    return np.nan if number is None else number


MOST_COARSER = 0.1
"""Maximum share of records above the drawn level of a local recoding."""

LOOKED_AT = 40
"""Number of the largest entries whose labels are checked; a chart shows a quarter of them."""


def by_nodes(released: Released, position: int, smallest: int) -> Draft:
    """Count the nodes of the published level, or of the lowest level that covers most records.

    Of values published as sets, without a hierarchy, only sets of one value are counted.
    """
    table, recoding = released.table, released.recoding
    attribute = table.quasi_identifiers[position]
    codes = table.quasi_identifier_codes(position)
    published = recoding.published()[position]
    kept_suppressed = np.array([label == SUPPRESSED for label in published.labels])[published.codes]
    after = np.where(recoding.removed, 0, table.counts)
    depth = np.where(kept_suppressed, attribute.hierarchy.height + 1, _levels(released, position))
    level = _level(released, position, depth, after)
    nodes, own_node = np.unique(attribute.nodes(level), return_inverse=True)
    fine = np.where(depth <= level, after, 0)
    before = np.bincount(own_node, attribute.column.counts, len(nodes))
    counts = np.column_stack([before, np.bincount(own_node[codes], fine, len(nodes))]).astype(np.int64)
    labels = attribute.hierarchy.labels if level else value_labels(attribute)
    names = tuple(labels[node] for node in nodes.tolist())
    # Only the largest nodes can be drawn; other labels are not checked.
    hidden = np.ones(len(names), dtype=bool)
    looked_at = np.argsort(-counts[:, 0], kind="stable")[:LOOKED_AT]
    own = [names[place] for place in looked_at.tolist()]
    hidden[looked_at] = _reveals_rare(own, set(published.labels), attribute.column, smallest)
    return Draft(
        _entries(released, level),
        names,
        counts,
        hidden,
        int(after.sum() - fine.sum()),
        np.array([table.records, after.sum()]),
    )


def _levels(released: Released, position: int) -> CodeArray:
    """Return the published level of each row; 0 for a set of one value."""
    cells = released.recoding.cells(position)
    if cells.values.levels is not None:
        return cells.values.levels[cells.codes]
    top = released.table.quasi_identifiers[position].hierarchy.height
    return np.where(cells.values.covered[cells.codes] == 1, 0, max(top, 1)).astype(np.int32)


def _level(released: Released, position: int, depth: CodeArray, after: IntArray) -> int:
    """Return the level of the nodes in the chart."""
    own = released.recoding.levels
    if own is not None:
        return own[position]
    top = released.table.quasi_identifiers[position].hierarchy.height
    if released.recoding.cells(position).values.levels is None:
        return 0
    most = MOST_COARSER * after.sum()
    return next((level for level in range(top) if after[depth > level].sum() <= most), max(top - 1, 0))


def _entries(released: Released, level: int) -> str:
    if level == 0:
        return "values"
    if released.recoding.levels is not None:
        return f"published nodes (level {level})"
    return f"nodes of level {level}"


def _reveals_rare(names: Sequence[str], published: set[str], column: Column, smallest: int) -> BoolArray:
    """Return which unpublished labels contain a value of fewer than ``smallest`` records, shape (names,)."""
    rare = [
        text for text, records in zip(column.texts, column.counts.tolist(), strict=True) if records < smallest
    ]
    words = {text for text in rare if re.fullmatch(r"\w+", text)}
    longer = [text for text in rare if text not in words]
    return np.array(
        [
            name not in published
            and (not words.isdisjoint(re.findall(r"\w+", name)) or any(text in name for text in longer))
            for name in names
        ],
        dtype=bool,
    )


SMALLEST_SHOWN = 3
"""Counts of records below this, or below k, are not shown."""

_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
FINEST = 0.001
"""Finest rounding of shares."""


def smallest_shown(k: int | None) -> int:
    """Return the smallest count of records that may be shown: the larger of k and 3."""
    return max(k or 0, SMALLEST_SHOWN)


def share_step(records: int, smallest: int) -> float | None:
    """Return the rounding step of shares of so many records; None if no step is coarse enough.

    A rounded share is consistent with at least 2 ``smallest`` counts, so neither a count nor its difference
    from a total can be inferred.

    >>> share_step(30_000, 5), share_step(100, 3), share_step(16, 3)
    (0.001, 0.1, None)
    """
    return next((step for step in _STEPS if step * records >= 2 * smallest), None)


def rounded(shares: FloatArray, step: float) -> FloatArray:
    """Return shares rounded to a step, shape as given."""
    steps: FloatArray = np.round(np.round(shares / step) * step, 4)
    return steps


def is_small_count(count: int, smallest: int) -> bool:
    """Return whether a count of records is too small to be shown; 0 is not.

    >>> is_small_count(0, 3), is_small_count(2, 3), is_small_count(3, 3)
    (False, True, False)
    """
    return 0 < count < smallest


def folded(counts: IntArray, smallest: int, hidden: BoolArray | None = None, most: int = 10) -> BoolArray:
    """Return which entries of a distribution are merged into "others".

    Parameters
    ----------
    counts: of records, shape (entries, columns), int64; an entry is kept with at least ``smallest`` in the
        first column, and in each other one as many or 0.
    hidden: entries that must not be named, shape (entries,), bool.
    most: maximum number of kept entries, the largest of the first column.

    Returns
    -------
    Shape (entries,), bool. Each sum over merged entries is 0 or at least ``smallest``, or all are merged.
    """
    small = (counts[:, 0] < smallest) | ((counts > 0) & (counts < smallest)).any(axis=1)
    out: BoolArray = small if hidden is None else small | hidden
    order = np.lexsort((np.arange(len(counts)), -counts[:, 0], out))
    out[order[most:]] = True
    while out.any() and not out.all() and (few_of(counts[out].sum(axis=0), smallest)):
        shown = np.flatnonzero(~out)
        out[shown[np.argmin(counts[shown, 0])]] = True
    return out


def few_of(sums: IntArray, smallest: int) -> bool:
    """Return whether any of several counts is too small to be shown."""
    return bool(((sums > 0) & (sums < smallest)).any())


@dataclass(frozen=True)
class Distribution:
    """Shares of the input's and of the release's records, rounded.

    Attributes
    ----------
    attribute: its name.
    entries: description of the entries, such as "published nodes (level 2)".
    labels, before, after: of each entry; empty if nothing may be shown.
    reason: the reason if nothing is shown, else empty.
    """

    attribute: str
    entries: str
    labels: tuple[str, ...] = ()
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    reason: str = ""

    @property
    def largest_change(self) -> float:
        """Largest difference between the two shares of an entry, 0 without entries."""
        pairs = zip(self.before, self.after, strict=True)
        return max((abs(before - after) for before, after in pairs), default=0.0)


def distributions(released: Released) -> tuple[Distribution, ...]:
    """Return the distribution of each quasi-identifier, in the order of the table."""
    return tuple(
        _distribution(released, position) for position in range(len(released.table.quasi_identifiers))
    )


def _distribution(released: Released, position: int) -> Distribution:
    attribute = released.table.quasi_identifiers[position]
    smallest = smallest_shown(released.k)
    step = share_step(released.records, smallest)
    after = int(released.class_sizes.sum()) + released.kept_suppressed
    if step is None or (share_step(after, smallest) or 1.0) > step:
        step = share_step(min(after, released.records), smallest)
    if step is None:
        return Distribution(
            attribute.name, "", reason="too few records to plot without revealing individuals"
        )
    levels, numbers = released.recoding.levels, attribute.column.numbers
    if levels is not None and levels[position] == attribute.hierarchy.height:
        return Distribution(
            attribute.name, "", reason="published as one value for all records: fully generalized"
        )
    cells = released.recoding.cells(position)
    if cells.values.levels is None and numbers is not None:
        draft = binned(released, position, smallest)
    else:
        draft = by_nodes(released, position, smallest)
    return _shown(attribute.name, draft, smallest, step)


def _shown(name: str, draft: Draft, smallest: int, step: float) -> Distribution:
    """Return the distribution with rare entries merged and shares rounded."""
    out = folded(draft.counts, smallest, draft.hidden)
    labels = [label for label, merged in zip(draft.labels, out, strict=True) if not merged]
    counts = draft.counts[~out]
    if out.any():
        labels.append(OTHERS)
        counts = np.vstack([counts, draft.counts[out].sum(axis=0)])
    counts = _with_coarser(labels, counts, draft.coarser, smallest)
    totals = np.maximum(draft.totals, 1)
    shares = rounded(counts / totals, step)
    return Distribution(
        name,
        draft.entries,
        tuple(labels),
        tuple(shares[:, 0].tolist()),
        tuple(shares[:, 1].tolist()),
    )


def _with_coarser(labels: list[str], counts: IntArray, coarser: int, smallest: int) -> IntArray:
    """Return the counts with an entry for coarser values, if they have enough records."""
    if coarser < smallest:
        return counts
    labels.append(COARSER)
    return np.vstack([counts, [0, coarser]])
