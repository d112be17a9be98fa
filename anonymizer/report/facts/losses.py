"""How much each quasi-identifier lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.classes import Released
from anonymizer.report.facts.rounding import FINEST, is_small_count, rounded, share_step, smallest_shown


@dataclass(frozen=True)
class AttributeLoss:
    """What became of one quasi-identifier.

    Attributes
    ----------
    name: of the column.
    loss: the metric ``loss`` of this attribute alone, over all input records, rounded.
    weight: in the loss of the release.
    level, top: generalization level, and that of the root; ``level`` is None where records differ in it.
    values, published: distinct values of the input, and distinct published ones, ``*`` of suppressed records
        not counted.
    """

    name: str
    loss: float
    weight: float
    level: int | None
    top: int
    values: int
    published: int


def attribute_losses(released: Released) -> tuple[AttributeLoss, ...]:
    """Return what became of each quasi-identifier, most lost first."""
    table, recoding, metric = released.table, released.recoding, LeafShareLoss()
    kept = np.where(recoding.suppressed, 0, table.counts)
    smallest = smallest_shown(released.k)
    # Of an attribute published unchanged, the loss is the share of suppressed records.
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
