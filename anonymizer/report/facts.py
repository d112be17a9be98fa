"""The facts of a report page: loss by attribute, class sizes, worst classes, risk by known attributes.

Class sizes are a histogram that starts at k. Worst classes are shown by number and sizes, never by values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.subsets import iter_subset_risks
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.arrays import IntArray, count, numbered
from anonymizer.model.classes import Classes, Reference, Released, SensitiveCodes
from anonymizer.model.table import SUPPRESSED, Table
from anonymizer.privacy.base import ClassConstraint, Constraint
from anonymizer.report.distribution import (
    FINEST,
    Distribution,
    distributions,
    is_small_count,
    rounded,
    share_step,
    smallest_shown,
)


@dataclass(frozen=True)
class SizeBin:
    """Classes of similar size.

    Attributes
    ----------
    low, high: smallest and largest size; ``high`` is None for the open last bin.
    classes: number of classes, 0 or large enough to be shown.
    share: share of the released records in them, rounded.
    """

    low: int
    high: int | None
    classes: int
    share: float

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
    kept_suppressed = np.full(1 if released.kept_suppressed else 0, released.kept_suppressed, dtype=np.int64)
    sizes = np.sort(np.concatenate([released.class_sizes, kept_suppressed]))
    if len(sizes) < smallest or sizes.sum() < smallest:
        return ()
    # Classes may be smaller than k where it counts people of a population.
    edges = [1 if sizes[0] < (released.k or 1) else released.k or 1]
    while edges[-1] <= sizes[-1]:
        edges.append(2 * edges[-1])
    edges = _joined(sizes, edges, smallest)
    total = int(sizes.sum())
    step = share_step(total, smallest) or 0.1
    bins = []
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        own = sizes[(sizes >= low) & ((high is None) | (sizes < (high or 0)))]
        share = rounded(np.array([own.sum() / total]), max(step, FINEST))[0]
        bins.append(SizeBin(low, None if high is None else high - 1, len(own), float(share)))
    return tuple(bins)


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


@dataclass(frozen=True)
class RiskByKnowledge:
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
    """Return the risk for each number of known attributes; empty if there are too many sets."""
    table = released.table
    width = len(table.quasi_identifiers)
    if width == 0 or (2**width) * table.combinations > MOST_WORK:
        return ()
    after = _by_size(_release(released), width)
    before = {} if table.coarse else _by_size(_input(table), width)
    return tuple(
        RiskByKnowledge(size, worst, mean, of, before[size][0] if size in before else None)
        for size, (worst, mean, of) in after.items()
    )


def _by_size(published: PublishedTable, width: int) -> dict[int, tuple[float, float, tuple[str, ...]]]:
    by_size: dict[int, list[tuple[int, tuple[str, ...]]]] = {size: [] for size in range(1, width + 1)}
    for each in iter_subset_risks(published, width):
        by_size[len(each.names)].append((each.classes, each.names))
    records = published.records
    found = {}
    for size, own in by_size.items():
        most, of = max(own, key=lambda pair: (pair[0], pair[1]))
        mean = sum(classes for classes, _ in own) / len(own) / records
        found[size] = (float(f"{most / records:.2g}"), float(f"{mean:.2g}"), of)
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


@dataclass(frozen=True)
class AttributeLoss:
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
    """Return the loss of each quasi-identifier, the largest first."""
    table, recoding, metric = released.table, released.recoding, LeafShareLoss()
    kept = np.where(recoding.suppressed, 0, table.counts)
    smallest = smallest_shown(released.k)
    # The loss of an unchanged attribute is the share of suppressed records.
    hide = is_small_count(released.suppressed, smallest)
    step = (share_step(table.records, smallest) or 0.1) if hide else FINEST
    found = []
    for position, attribute in enumerate(table.quasi_identifiers):
        cells = recoding.cells(position)
        costs = metric.costs(attribute, cells.values)
        records = np.bincount(cells.codes, kept, len(costs))
        loss = (float(costs @ records) + released.suppressed) / table.records
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


@dataclass(frozen=True)
class UselessColumns:
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


@dataclass(frozen=True)
class Worst:
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
    classes, ties = _classes(released), released.table.ties
    linked = ties is not None and ties.records is not None
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
    return Classes(keys, table.counts[stays], len(first), sensitive)


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
    losses: of the attributes, the largest first.
    distributions: of the attributes, in the order of the table.
    groups: histogram of class sizes, empty with too few classes.
    knowing: vulnerability by number of known attributes, empty if not counted.
    worst: the worst classes of each constraint, None for one on the whole release.
    """

    smallest: int
    smallest_class: int | None
    losses: tuple[AttributeLoss, ...]
    distributions: tuple[Distribution, ...]
    groups: tuple[SizeBin, ...]
    knowing: tuple[RiskByKnowledge, ...]
    worst: tuple[Worst | None, ...]


def gather(released: Released, constraints: Sequence[Constraint], *, moving_reference: bool) -> Facts:
    """Return the facts of a release.

    Parameters
    ----------
    constraints: in the order of the report.
    moving_reference: whether the distribution p is that of the release, else that of the input.
    """
    smallest, merged = smallest_shown(released.k), released.merged
    least = min(
        [
            int(released.class_sizes.min(initial=released.records)),
            released.kept_suppressed or released.records,
        ]
    )
    return Facts(
        smallest,
        least if least >= smallest else None,
        attribute_losses(merged),
        distributions(merged),
        group_sizes(released),
        knowing(released),
        worst_classes(merged, constraints, moving_reference=moving_reference),
    )
