"""The distribution of a quasi-identifier before and after, as far as it may be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Released
from anonymizer.report.facts.binned import binned
from anonymizer.report.facts.drafts import COARSER, OTHERS, Draft
from anonymizer.report.facts.nodes import by_nodes
from anonymizer.report.facts.rounding import folded, rounded, share_step, smallest_shown


@dataclass(frozen=True)
class Distribution:
    """Shares of the input's and of the release's records, rounded.

    Attributes
    ----------
    attribute: its name.
    entries: what is counted, such as "published nodes (level 2)".
    labels, before, after: one of each for an entry; empty where nothing may be shown.
    reason: why nothing is shown, else empty.
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
            attribute.name, "", reason="too few records to draw without telling of single ones"
        )
    levels, numbers = released.recoding.levels, attribute.column.numbers
    if levels is not None and levels[position] == attribute.hierarchy.height:
        return Distribution(
            attribute.name, "", reason="published as one value for everybody: nothing of it is left"
        )
    cells = released.recoding.cells(position)
    if cells.values.levels is None and numbers is not None:
        draft = binned(released, position, smallest)
    else:
        draft = by_nodes(released, position, smallest)
    return _shown(attribute.name, draft, smallest, step)


def _shown(name: str, draft: Draft, smallest: int, step: float) -> Distribution:
    """Fold what is rare, and round what is left."""
    out = folded(draft.counts, smallest, draft.hidden)
    labels = [label for label, gone in zip(draft.labels, out, strict=True) if not gone]
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
    """Add what is published coarser than the entries, where that is so of enough records."""
    if coarser < smallest:
        return counts
    labels.append(COARSER)
    return np.vstack([counts, [0, coarser]])
