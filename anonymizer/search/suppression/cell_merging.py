"""A first choice of cells under any models: classes are merged by blanking until all hold."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.suppression.cell_greedy import CheapestClasses
from anonymizer.search.suppression.cell_patterns import Patterns
from anonymizer.search.suppression.cell_problem import BLANK, CellProblem, CellSuppression
from anonymizer.search.suppression.cell_programme import blanking_of

TRIED = 64
"""Classes, cheapest first, that a row without a class may be merged into."""


def first_blanking(problem: CellProblem, patterns: Patterns, served: IntArray) -> CellSuppression | None:
    """Complete a partial choice to a valid one; None where none is found.

    Rows that nothing serves are merged into existing classes, cheapest first. Where that does not end well,
    the whole table is blanked in the same attributes.

    Parameters
    ----------
    served: records served by each entry, shape (entries,).
    """
    left = problem.counts - np.bincount(patterns.row, served, problem.rows).astype(np.int64)
    blanking: CellSuppression | None = blanking_of(problem, patterns, served)
    if blanking is not None and left.any():
        blanking = _Absorption(problem, blanking, left).run()
    if blanking is not None and blanking.holds(problem):
        return blanking
    return _uniform(problem, patterns)


def first_classes(problem: CellProblem, patterns: Patterns) -> IntArray:
    """Return records served by each entry in a quick choice; rows that found no class are not served."""
    if problem.by_size_alone:
        served = CheapestClasses(problem, patterns).run()
        return _with_safe(problem, patterns, served)
    return _by_masks(problem, patterns)


def holding_classes(problem: CellProblem, patterns: Patterns, served: IntArray) -> IntArray:
    """Return the records served by each entry, but for those of classes that fail and suppressed ones."""
    used = np.flatnonzero((served > 0) & ~patterns.gone[patterns.pattern])
    found, classes = np.unique(patterns.pattern[used], return_inverse=True)
    held = problem.judge(classes, patterns.row[used], served[used], len(found))
    kept = np.zeros_like(served)
    own = used[held[classes]]
    kept[own] = served[own]
    return kept


def _with_safe(problem: CellProblem, patterns: Patterns, served: IntArray) -> IntArray:
    """Let what safe rows do not give away stay as it is."""
    rest = problem.counts - np.bincount(patterns.row, served, problem.rows).astype(np.int64)
    filled = served.copy()
    own = np.flatnonzero(patterns.own & problem.safe[patterns.row])
    filled[own] += rest[patterns.row[own]]
    return filled


def _by_masks(problem: CellProblem, patterns: Patterns) -> IntArray:
    """Go through the masks, cheapest first; every class that holds of rows without one is taken."""
    served = np.zeros(len(patterns.row), dtype=np.int64)
    masks, mask_of = np.unique(patterns.blanks, axis=0, return_inverse=True)
    entry_mask = mask_of.reshape(-1)[patterns.pattern]
    sizes = np.bincount(entry_mask, minlength=len(masks))
    mean = np.bincount(entry_mask, patterns.cost, len(masks)) / np.maximum(sizes, 1)
    by_mask = np.argsort(entry_mask, kind="stable")
    starts = np.searchsorted(entry_mask[by_mask], np.arange(len(masks) + 1))
    free = np.ones(problem.rows, dtype=bool)
    for mask in np.lexsort((masks.sum(axis=1), mean)).tolist():
        entries = by_mask[starts[mask] : starts[mask + 1]]
        entries = entries[free[patterns.row[entries]]]
        if len(entries):
            taken = entries[_holding_entries(problem, patterns, entries)]
            served[taken] = problem.counts[patterns.row[taken]]
            free[patterns.row[taken]] = False
    return served


def _holding_entries(problem: CellProblem, patterns: Patterns, entries: IntArray) -> BoolArray:
    """Tell which entries lie in classes that hold, if each pattern serves all rows of its entries."""
    found, classes = np.unique(patterns.pattern[entries], return_inverse=True)
    rows = patterns.row[entries]
    counts = problem.counts[rows]
    sizes = np.bincount(classes, counts, len(found))
    held = (sizes >= problem.smallest) & ~patterns.gone[found]
    held &= problem.judge(classes, rows, counts, len(found))
    inside: BoolArray = held[classes]
    return inside


class _Absorption:
    """Merges rows without a class into existing classes, one row after another.

    A row that costs less when it is suppressed, or finds no class, is suppressed while the limit allows it.
    """

    def __init__(self, problem: CellProblem, blanking: CellSuppression, left: IntArray) -> None:
        self._problem = problem
        codes = np.where(blanking.blanks, BLANK, problem.codes[blanking.row])
        self._class_of, number = problem.published(blanking.row, blanking.blanks)
        self._rows, self._counts = blanking.row, blanking.count
        self._vectors = np.zeros((number, problem.attributes), dtype=np.int64)
        self._vectors[self._class_of] = codes
        self._left = left
        self._gone: list[int] = []
        self._room = problem.most_gone
        self._costs = np.where(problem.native, 0.0, problem.costs)
        self._weights = np.zeros((number, problem.attributes))
        np.add.at(self._weights, self._class_of, self._costs[self._rows] * self._counts[:, None])

    def run(self) -> CellSuppression | None:
        """Return the choice with every row in a class; None where a row found none that would hold."""
        for row in np.flatnonzero(self._left).tolist():
            if not self._absorb(row) and not self._suppress(row):
                return None
        native = self._problem.native
        blanks = (self._vectors[self._class_of] == BLANK) & ~native[self._rows]
        gone = np.array(self._gone, dtype=np.int64)
        rows = np.concatenate([self._rows, gone])
        counts = np.concatenate([self._counts, self._left[gone]])
        blanks = np.concatenate([blanks, ~native[gone]])
        order = np.argsort(rows, kind="stable")
        return CellSuppression(
            rows[order], counts[order], blanks[order], (np.arange(len(rows)) >= len(self._rows))[order]
        )

    def _suppress(self, row: int) -> bool:
        fits = bool(self._left[row] <= self._room)
        if fits:
            self._gone.append(row)
            self._room -= int(self._left[row])
        return fits

    def _absorb(self, row: int) -> bool:
        masks = (self._vectors == BLANK) | (self._vectors != self._problem.codes[row])
        count = int(self._left[row])
        added = np.where(masks, self._weights + self._costs[row] * count, 0.0).sum(axis=1)
        added -= np.where(self._vectors == BLANK, self._weights, 0.0).sum(axis=1)
        added = np.where(masks.all(axis=1) & ~self._problem.native[row].all(), np.inf, added)
        most = np.inf if count > self._room else float(self._problem.gone_costs[row]) * count
        for best in np.argsort(added, kind="stable")[:TRIED].tolist():
            if added[best] < most and self._holds_with(best, row, count):
                self._merge(best, row, count, masks[best])
                return True
        return False

    def _holds_with(self, chosen: int, row: int, count: int) -> bool:
        inside = self._class_of == chosen
        rows = np.append(self._rows[inside], row)
        counts = np.append(self._counts[inside], count)
        return bool(self._problem.judge(np.zeros_like(rows), rows, counts, 1)[0])

    def _merge(self, chosen: int, row: int, count: int, mask: BoolArray) -> None:
        self._vectors[chosen, mask] = BLANK
        self._weights[chosen] += self._costs[row] * count
        self._rows = np.append(self._rows, row)
        self._counts = np.append(self._counts, count)
        self._class_of = np.append(self._class_of, chosen)


def _uniform(problem: CellProblem, patterns: Patterns) -> CellSuppression | None:
    """Blank the same attributes of all records: the cheapest of the listed masks that holds."""
    masks = np.unique(patterns.blanks[~patterns.gone], axis=0)
    if not len(masks):
        return None
    totals: FloatArray = np.where(problem.native, 0.0, problem.costs * problem.counts[:, None]).sum(axis=0)
    none = np.zeros(problem.rows, dtype=bool)
    for mask in masks[np.argsort(masks @ totals, kind="stable")]:
        blanking = CellSuppression(np.arange(problem.rows), problem.counts, mask & ~problem.native, none)
        if blanking.holds(problem):
            return blanking
    return None
