"""How large the equivalence classes of a release are, as a histogram that starts at k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Released
from anonymizer.report.facts.rounding import FINEST, rounded, share_step, smallest_shown


@dataclass(frozen=True)
class SizeBin:
    """Classes of similar size.

    Attributes
    ----------
    low, high: smallest and largest size, both included; ``high`` is None for the last bin, which is open.
    classes: how many there are; 0 or at least as many as may be shown.
    share: of the released records that lie in them, rounded.
    """

    low: int
    high: int | None
    classes: int
    share: float

    @property
    def label(self) -> str:
        """The sizes, as an axis shows them."""
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
    start = max(released.k or 1, 1)
    edges = [start]
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
    """Return the lower edges that stay when each bin with classes is to have enough of them."""
    kept = list(edges[:-1])
    position = len(kept) - 1
    # From the top: a bin that has too few becomes part of the one below it.
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
