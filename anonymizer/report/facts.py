"""The facts of a report page: loss by attribute, class sizes, worst classes, risk by known attributes.

Class sizes are a histogram that starts at k. Worst classes are shown by number and sizes, never by values.

Distributions before and after are counted over hierarchy nodes of one level, or, for numbers and dates
published as intervals or means, over round intervals. Counts are folded and rounded so that no count below
the smallest one shown can be inferred.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import chain, combinations, pairwise
from math import floor, log10
from typing import NamedTuple

import numpy as np

from anonymizer.attacks.subsets import iter_subset_risks, unit_subsets
from anonymizer.attacks.vulnerability import found_share
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, count, numbered
from anonymizer.model.classes import Classes, Reference, Released, SensitiveCodes
from anonymizer.model.labels import MISSING, SUPPRESSED
from anonymizer.model.measure import Measure, Ties
from anonymizer.model.recoding import Cells, value_labels
from anonymizer.model.table import Column, Table, ValueType
from anonymizer.model.units import PERSON, RECORD, Units
from anonymizer.privacy.base import ClassConstraint, Constraint
from anonymizer.report.small_counts import is_small_count, smallest_shown

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
    published = recoding.published_column(position)
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


_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
FINEST = 0.001
"""Finest rounding of shares."""


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


class Distribution(NamedTuple):
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


class SizeBin(NamedTuple):
    """Classes of similar size.

    Attributes
    ----------
    low, high: smallest and largest size; ``high`` is None for the open last bin.
    classes: number of classes, 0 or large enough to be shown.
    share: share of the released records in them, rounded.
    of: what the sizes count.
    """

    low: int
    high: int | None
    classes: int
    share: float
    of: str = "records"

    @property
    def label(self) -> str:
        """The sizes as a label of an axis."""
        if self.high is None:
            return f"{self.low:,} or more"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


def group_sizes(released: Released) -> tuple[SizeBin, ...]:
    """Return the histogram of class sizes, each bin twice as wide as the one before it.

    Bins with few classes or records are joined with their neighbours; empty without enough classes for one.
    """
    smallest = smallest_shown(released.k)
    records, sizes = _sizes(released)
    if len(sizes) < smallest or records.sum() < smallest:
        return ()
    # Classes may be smaller than k where it counts people of a population.
    edges = [1 if sizes.min() < (released.k or 1) else released.k or 1]
    while edges[-1] <= sizes.max():
        edges.append(2 * edges[-1])
    edges = _joined(sizes, edges, smallest)
    total, of = int(records.sum()), f"{released_unit(released)}s"
    step = share_step(total, smallest) or 0.1
    bins = []
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        own = records[(sizes >= low) & ((high is None) | (sizes < (high or 0)))]
        share = rounded(np.array([own.sum() / total]), max(step, FINEST))[0]
        bins.append(SizeBin(low, None if high is None else high - 1, len(own), float(share), of))
    return tuple(bins)


def released_unit(released: Released) -> str:
    """Return what facts count: persons where it is known whose the records of each row are, else records."""
    return PERSON if PERSON in released.table.measure.units else RECORD


def _persons(released: Released) -> Units:
    """Return the persons of the released rows, of those that are not removed."""
    return released.table.measure.units[PERSON].at(~released.recoding.removed)


def _sizes(released: Released) -> tuple[IntArray, IntArray]:
    """Return the records of each class, suppressed ones that stay included, and its persons or records."""
    if released_unit(released) == RECORD:
        stays = [released.kept_suppressed] if released.kept_suppressed else []
        records = np.concatenate([released.class_sizes, np.array(stays, dtype=np.int64)])
        return records, records
    kept = ~released.recoding.removed
    columns = [column.codes[kept] for column in released.recoding.class_columns()]
    class_of, first = numbered(columns, int(kept.sum()))
    number, ties = len(first), _linking(released.table, kept)
    if ties is not None:
        class_of = ties.lists(class_of, number)
        number = int(class_of.max()) + 1
    records = count(class_of, released.table.counts[kept], number)
    return records, _persons(released).counted(class_of, number)


def _linking(table: Table, items: BoolArray) -> Ties | None:
    """Return whose some items are if the release links the records of a person, else None."""
    return table.measure.ties.at(items) if table.measure.ties is not None and table.measure.linked else None


def _joined(sizes: IntArray, edges: Sequence[int], smallest: int) -> list[int]:
    """Return the lower edges after joining bins with too few classes."""
    kept = list(edges[:-1])
    position = len(kept) - 1
    # From the top: a bin with too few is joined with the one below.
    while position > 0:
        upper = kept[position + 1] if position + 1 < len(kept) else np.inf
        own = sizes[(sizes >= kept[position]) & (sizes < upper)]
        last = position == len(kept) - 1
        if 0 < len(own) < smallest or (last and len(own) == 0):
            del kept[position]
        position -= 1
    if len(kept) > 1 and 0 < int((sizes < kept[1]).sum()) < smallest:
        del kept[1]
    return kept


MOST_WORK = 20_000_000
"""Maximum number of sets of attributes times rows; takes about two seconds."""


class RiskByKnowledge(NamedTuple):
    """Posterior Bayes vulnerability (re-identification) by number of known attributes.

    Attributes
    ----------
    known: number of quasi-identifiers.
    worst, mean: over all sets of that size, in the release.
    of: the worst set.
    before: the worst over all sets of that size in the input, None if not counted.
    """

    known: int
    worst: float
    mean: float
    of: tuple[str, ...]
    before: float | None


def knowing(released: Released) -> tuple[RiskByKnowledge, ...]:
    """Return the risk for each number of known attributes, of persons or records; empty for many sets.

    It is also empty if it is unknown how many records each person has in a row.
    """
    table = released.table
    width = len(table.quasi_identifiers)
    by_person = released_unit(released) == PERSON
    if by_person and table.measure.units[PERSON].records is None:
        return ()
    # A person is rolled up with a list of rows, which takes several times as long as the number of a row.
    rows = table.combinations
    if by_person:
        rows = 4 * (len(table.measure.units[PERSON].items) + rows)
    if width == 0 or (2**width) * rows > MOST_WORK:
        return ()
    kept, every = ~released.recoding.removed, np.ones(table.combinations, dtype=np.bool_)
    persons = (_persons(released), table.measure.units[PERSON]) if by_person else (None, None)
    after = _by_size(_release(released), width, persons[0], _linking(table, kept))
    before = {} if table.coarse else _by_size(_input(table), width, persons[1], _linking(table, every))
    return tuple(
        RiskByKnowledge(size, worst, mean, of, before[size][0] if size in before else None)
        for size, (worst, mean, of) in after.items()
    )


def _by_size(
    published: PublishedTable, width: int, persons: Units | None, linked: Ties | None
) -> dict[int, tuple[float, float, tuple[str, ...]]]:
    """Return the largest and the mean risk by number of known attributes, and the set with the largest.

    Parameters
    ----------
    persons, linked: of the rows; without the former, records are counted, and without the latter, nobody
        knows which rows are of one person.
    """
    by_size: dict[int, list[tuple[Fraction, tuple[str, ...]]]] = {size: [] for size in range(1, width + 1)}
    if persons is None:
        for each in iter_subset_risks(published, width):
            by_size[len(each.names)].append((Fraction(each.classes, published.records), each.names))
    elif linked is not None:
        number = int(persons.counted(np.zeros(len(published.counts), dtype=np.int64), 1)[0])
        every = (combinations(published.names, size) for size in by_size)
        for names in chain.from_iterable(every):
            row_of = published.class_of(names)
            # Each person is in one class, and found there with 1 / its persons.
            classes = len(np.unique(linked.lists(row_of, int(row_of.max()) + 1)))
            by_size[len(names)].append((Fraction(classes, number), names))
    else:
        row_of, unit_of, people, records = persons.one_by_one
        for own in unit_subsets(published, row_of, unit_of, None, width, people, records):
            by_size[len(own.names)].append((found_share(own.entries), own.names))
    found = {}
    for size, risks in by_size.items():
        most, of = max(risks)
        mean = float(sum((risk for risk, _ in risks), Fraction(0)) / len(risks))
        found[size] = (float(f"{float(most):.2g}"), float(f"{mean:.2g}"), of)
    return found


def _release(released: Released) -> PublishedTable:
    stays = ~released.recoding.removed
    columns = released.recoding.published()
    return PublishedTable(
        "release",
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        np.column_stack([column.codes for column in columns])[stays],
        {},
        released.table.counts[stays],
    )


def _input(table: Table) -> PublishedTable:
    columns = [attribute.column for attribute in table.quasi_identifiers]
    return PublishedTable(
        "input",
        tuple(column.name for column in columns),
        tuple(column.texts for column in columns),
        table.codes[:, : len(columns)],
        {},
        table.counts,
    )


class AttributeLoss(NamedTuple):
    """The loss of one quasi-identifier.

    Attributes
    ----------
    name: of the column.
    loss: the metric ``loss`` of this attribute alone, over all input records, rounded.
    weight: in the loss of the release.
    level, top: generalization level, and that of the root; ``level`` is None if it varies by record.
    values, published: distinct values of the input and of the release, without ``*`` of suppressed records.
    """

    name: str
    loss: float
    weight: float
    level: int | None
    top: int
    values: int
    published: int


def attribute_losses(released: Released) -> tuple[AttributeLoss, ...]:
    """Return the loss of each quasi-identifier, by weights if the table has some, the largest first."""
    table, recoding, metric = released.table, released.recoding, LeafShareLoss()
    kept = np.where(recoding.suppressed, 0, table.counts)
    smallest = smallest_shown(released.k)
    # The loss of an unchanged attribute is the share of suppressed records.
    hide = is_small_count(released.suppressed, smallest)
    step = (share_step(table.records, smallest) or 0.1) if hide else FINEST
    found = []
    for position, attribute in enumerate(table.quasi_identifiers):
        cells = recoding.cells(position)
        records = np.bincount(cells.codes, kept, len(cells.values.covered))
        loss = metric.mean(recoding, position, None if table.sampling is None else table.row_people)
        labels = {cells.labels[code] for code in np.flatnonzero(records).tolist()}
        found.append(
            AttributeLoss(
                attribute.name,
                float(rounded(np.array([loss]), step)[0]),
                attribute.weight,
                None if recoding.levels is None else recoding.levels[position],
                attribute.hierarchy.height,
                attribute.column.size,
                len(labels),
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.loss, each.name)))


NEARLY_ALL = 0.9
"""Share of the records from which on a column counts as published in one way."""

HALF = 0.5
"""Loss of a published value that covers about half of a column's values."""


class UselessColumns(NamedTuple):
    """Quasi-identifiers whose published values say next to nothing about nearly all records.

    Attributes
    ----------
    starred: published as ``*``.
    coarse: published as ``*`` or in groups of at least half of the column's values.
    """

    starred: tuple[str, ...]
    coarse: tuple[str, ...]

    def form(self, name: str) -> str | None:
        """Return how a column is published for nearly all records; None if its values say something."""
        if name in self.starred:
            return SUPPRESSED
        return "coarse groups" if name in self.coarse else None


def useless_columns(released: Released) -> UselessColumns:
    """Return the quasi-identifiers of a release that say next to nothing, in the order of the table."""
    recoding, metric = released.recoding, LeafShareLoss()
    counts = np.where(recoding.removed, 0, recoding.table.counts)
    enough = NEARLY_ALL * int(counts.sum())
    starred, coarse = [], []
    for position, column in enumerate(recoding.published()):
        attribute = recoding.table.quasi_identifiers[position]
        star = np.array([label == SUPPRESSED for label in column.labels])[column.codes]
        cells = recoding.cells(position)
        wide = star | (metric.costs(attribute, cells.values) >= HALF)[cells.codes]
        if counts[star].sum() >= enough:
            starred.append(column.name)
        elif attribute.column.size > 1 and counts[wide].sum() >= enough:
            coarse.append(column.name)
    return UselessColumns(tuple(starred), tuple(coarse))


class Worst(NamedTuple):
    """The classes with the worst measure of a constraint.

    Attributes
    ----------
    classes: their number; None if too small to be shown.
    smallest, largest: their sizes.
    """

    classes: int | None
    smallest: int
    largest: int


def worst_classes(
    released: Released, constraints: Sequence[Constraint], *, moving_reference: bool
) -> tuple[Worst | None, ...]:
    """Return the worst classes of each constraint, None for one on the release, on units or a population.

    Those of scenarios are left out.

    Parameters
    ----------
    moving_reference: whether the distribution p is that of the release, else that of the input.
    """
    classes, linked = _classes(released), released.table.measure.linked
    found: list[Worst | None] = []
    for constraint in constraints:
        if constraint.scenario is not None:
            continue
        counted = linked or constraint.unit is not None or constraint.model.needs_more
        if not isinstance(constraint, ClassConstraint) or counted:
            found.append(None)
            continue
        reference = _reference(released, classes, constraint.attribute, moving=moving_reference)
        sizes = classes.sizes[constraint.is_worst(classes, reference)]
        hide = is_small_count(len(sizes), smallest_shown(released.k))
        found.append(Worst(None if hide else len(sizes), int(sizes.min()), int(sizes.max())))
    return tuple(found)


def _classes(released: Released) -> Classes:
    table, stays = released.table, ~released.recoding.removed
    columns = [column.codes[stays] for column in released.recoding.class_columns()]
    keys, first = numbered(columns, int(stays.sum()))
    sensitive = {
        each.name: SensitiveCodes(each, table.sensitive_codes(each.name)[stays].astype(np.int64))
        for each in table.sensitive
    }
    return Classes(keys, Measure(table.counts[stays]), len(first), sensitive)


def _reference(
    released: Released, classes: Classes, attribute: str | None, *, moving: bool
) -> Reference | None:
    if attribute is None:
        return None
    counts, _ = classes.sensitive_counts(attribute)
    if moving:
        return counts.reference()
    codes = released.table.sensitive_codes(attribute).astype(np.int64)
    return Reference(count(codes, released.table.counts, counts.attribute.column.size))


@dataclass(frozen=True)
class Facts:
    """Further facts of a release for the page, without records and small counts.

    Attributes
    ----------
    smallest: counts of records below this are not shown.
    smallest_class: size of the smallest class, None if below ``smallest``.
    unit: what ``smallest_class``, ``groups`` and ``knowing`` count: persons, if it is known whose the records
        of each row are, else records.
    losses: of the attributes, the largest first.
    distributions: of the attributes, in the order of the table.
    groups: histogram of class sizes, empty with too few classes.
    knowing: vulnerability by number of known attributes, empty if not counted.
    worst: the worst classes of each constraint, None for one on the whole release.
    weights: column by which the losses are averaged; None for records or units.
    loss_unit: over which the losses are averaged; None for records or people.
    """

    smallest: int
    smallest_class: int | None
    losses: tuple[AttributeLoss, ...]
    distributions: tuple[Distribution, ...]
    groups: tuple[SizeBin, ...]
    knowing: tuple[RiskByKnowledge, ...]
    worst: tuple[Worst | None, ...]
    weights: str | None = None
    unit: str = RECORD
    loss_unit: str | None = None

    @property
    def by_record(self) -> bool:
        """Whether records are counted."""
        return self.unit == RECORD


def gather(released: Released, constraints: Sequence[Constraint], *, moving_reference: bool) -> Facts:
    """Return the facts of a release.

    Parameters
    ----------
    constraints: in the order of the report.
    moving_reference: whether the distribution p is that of the release, else that of the input.
    """
    smallest, merged = smallest_shown(released.k), released.merged
    sampling = merged.table.sampling
    least = int(_sizes(released)[1].min(initial=released.records))
    return Facts(
        smallest,
        least if least >= smallest else None,
        attribute_losses(merged),
        distributions(merged),
        group_sizes(released),
        knowing(released),
        worst_classes(merged, constraints, moving_reference=moving_reference),
        None if sampling is None or sampling.unit is not None else sampling.name,
        released_unit(released),
        None if sampling is None else sampling.unit,
    )
