"""The fewest cells to suppress so that every published class satisfies the models, with a proof.

The search starts from a quick first choice: classes of the lowest cost for each record that they rescue,
or, under any models, classes merged by suppressing cells until all are valid. A cell is published again if
all records of its class have the same value there. For small tables, under any models, every valid class is
listed and the cheapest choice of them is made.

Source of the problem: Meyerson, Williams (PODS 2004, doi:10.1145/1055558.1055591), k-anonymity by
suppression of cells; they show that it is NP-hard. Here it is solved as facility location over masked
patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.solver import Effort, Programme, Solved
from anonymizer.search.suppression.cell_problem import (
    BLANK,
    CellProblem,
    CellSolution,
    CellSuppression,
    Patterns,
    closed_patterns,
)
from anonymizer.search.suppression.cell_programme import Assignment, Prices, Proof, blanking_of

if TYPE_CHECKING:
    from anonymizer.search.base import Control

MOST_CLASSES = 2_000
"""Candidates for a class that are judged one by one."""

_Label = tuple[BoolArray, IntArray]


@dataclass(frozen=True, eq=False)
class ValidClasses:
    """Every class that satisfies the models: its label, and how many records of each row it has.

    Attributes
    ----------
    label: what each class is published as, numbered from 0, shape (classes,), int64.
    masks: blanked attributes of each class, shape (classes, attributes), bool.
    records: of each row in each class, shape (classes, rows), int64.
    """

    problem: CellProblem
    label: IntArray
    masks: BoolArray
    records: IntArray

    @classmethod
    def of(cls, problem: CellProblem) -> ValidClasses | None:
        """List the classes; None where there may be too many."""
        labels = list(_labels(problem))
        if sum(prod((problem.counts[rows] + 1).tolist()) for _, rows in labels) > MOST_CLASSES:
            return None
        parts = [_records(problem, rows) for _, rows in labels]
        sizes = [len(part) for part in parts]
        label = np.repeat(np.arange(len(labels)), sizes)
        masks = np.array([mask for mask, _ in labels], dtype=bool).reshape(-1, problem.attributes)[label]
        records = np.concatenate([np.zeros((0, problem.rows), dtype=np.int64), *parts])
        held = _holding_records(problem, records)
        return cls(problem, label[held], masks[held], records[held])

    def solve(self, effort: Effort) -> tuple[Solved, CellSuppression | None]:
        """Choose classes that hold every record but the suppressed ones, no two published alike."""
        result = self._programme().solved(effort, None)
        if result.values is None:
            return result, None
        return result, self._blanking(np.rint(result.values).astype(np.int64))

    def _programme(self) -> Programme:
        problem, classes, rows = self.problem, len(self.label), self.problem.rows
        labels = int(self.label.max(initial=-1)) + 1
        owner, row = np.nonzero(self.records)
        suppressed = classes + np.arange(rows)
        counts = problem.counts.astype(np.float64)
        ones = np.ones(classes + rows)
        return Programme(
            np.concatenate([self._costs(), problem.gone_costs]),
            np.concatenate([np.ones(classes), counts]),
            np.ones(classes + rows, dtype=bool),
            np.concatenate([row, np.arange(rows), rows + self.label, np.full(rows, rows + labels)]),
            np.concatenate([owner, suppressed, np.arange(classes), suppressed]),
            np.concatenate([self.records[owner, row].astype(np.float64), ones[:rows], ones]),
            np.concatenate([counts, np.full(labels + 1, -np.inf)]),
            np.concatenate([counts, np.ones(labels), [float(problem.most_gone)]]),
        )

    def _costs(self) -> FloatArray:
        charged = np.where(self.problem.native, 0.0, self.problem.costs)
        per_record = self.masks.astype(np.float64) @ charged.T
        costs: FloatArray = (per_record * self.records).sum(axis=1)
        return costs

    def _blanking(self, values: IntArray) -> CellSuppression:
        problem, chosen = self.problem, np.flatnonzero(values[: len(self.label)])
        owner, row = np.nonzero(self.records[chosen])
        gone = np.flatnonzero(values[len(self.label) :])
        blanks = self.masks[chosen][owner] & ~problem.native[row]
        rows = np.concatenate([row, gone])
        counts = np.concatenate([self.records[chosen][owner, row], values[len(self.label) + gone]])
        blanks = np.concatenate([blanks, ~problem.native[gone]])
        order = np.argsort(rows, kind="stable")
        return CellSuppression(
            rows[order], counts[order], blanks[order], (np.arange(len(rows)) >= len(row))[order]
        )


def _labels(problem: CellProblem) -> Iterator[_Label]:
    """Yield every way in which records may be published, and the rows that match."""
    for mask in map(np.array, product((False, True), repeat=problem.attributes)):
        codes = np.where(mask, BLANK, problem.codes)
        able = ~(problem.native & ~mask).any(axis=1)
        if mask.all():
            # Any record that was not blank before would be suppressed.
            able &= problem.native.all(axis=1)
        rows = np.flatnonzero(able)
        if len(rows):
            label = np.unique(codes[rows], axis=0, return_inverse=True)[1].reshape(-1)
            yield from ((mask, rows[label == own]) for own in range(int(label.max()) + 1))


def _records(problem: CellProblem, rows: IntArray) -> IntArray:
    """Return every choice of enough records of some rows, shape (choices, rows of the problem)."""
    sizes = (problem.counts[rows] + 1).tolist()
    chosen = np.indices(sizes).reshape(len(sizes), -1).T
    chosen = chosen[chosen.sum(axis=1) >= max(problem.smallest, 1)]
    records = np.zeros((len(chosen), problem.rows), dtype=np.int64)
    records[:, rows] = chosen
    return records


def _holding_records(problem: CellProblem, records: IntArray) -> BoolArray:
    if not len(records):
        return np.zeros(0, dtype=bool)
    owner, row = np.nonzero(records)
    return problem.judge(owner.astype(np.int64), row.astype(np.int64), records[owner, row], len(records))


class CheapestClasses:
    """Opens one pattern after another, where size is all that counts.

    A pattern serves all records that match it and are in no class yet, and where these are too few it borrows
    from rows that are classes by themselves and can spare some. The next one is that of the lowest cost for
    each record rescued.
    """

    def __init__(self, problem: CellProblem, patterns: Patterns) -> None:
        self._patterns = patterns
        self._smallest = problem.smallest
        failing = problem.counts < problem.smallest
        failing |= ~problem.safe
        self._left = np.where(failing, problem.counts, 0)
        self._spare = np.where(failing, 0, problem.counts - problem.smallest)
        self._costs = patterns.cost
        number = patterns.number
        self._needy = np.bincount(patterns.pattern, self._left[patterns.row], number).astype(np.int64)
        self._lenders = np.bincount(patterns.pattern, self._spare[patterns.row], number).astype(np.int64)
        mean = np.bincount(patterns.pattern, patterns.cost, number)
        self._mean = mean / np.maximum(np.diff(patterns.starts), 1)
        self._scores = self._score(np.arange(number))
        self._served = np.zeros(len(patterns.row), dtype=np.int64)

    def run(self) -> IntArray:
        """Return the records served by each entry, shape (entries,); what found no class is not served."""
        while self._left.any() and self._patterns.number:
            best = int(self._scores.argmin())
            if not np.isfinite(self._scores[best]):
                break
            self._open(best)
        return self._served

    def _score(self, chosen: IntArray) -> FloatArray:
        """Return the cost of opening patterns for each record rescued; infinite where too few match."""
        needy = self._needy[chosen]
        possible = (needy > 0) & (needy + self._lenders[chosen] >= self._smallest)
        possible &= ~self._patterns.gone[chosen]
        size = np.maximum(needy, self._smallest)
        scores = self._mean[chosen] * size / np.maximum(needy, 1) - 1e-6 * needy
        return np.where(possible, scores, np.inf)

    def _open(self, pattern: int) -> None:
        span = slice(self._patterns.starts[pattern], self._patterns.starts[pattern + 1])
        rows = self._patterns.row[span]
        taken = self._left[rows].copy()
        short = max(self._smallest - int(taken.sum()), 0)
        spare = self._spare[rows]
        order = np.lexsort((-spare, self._costs[span]))
        before = np.cumsum(spare[order]) - spare[order]
        lent = np.zeros_like(spare)
        lent[order] = np.clip(short - before, 0, spare[order])
        self._served[span] += taken + lent
        self._left[rows] -= taken
        self._spare[rows] -= lent
        self._update(rows, taken, lent)

    def _update(self, rows: IntArray, taken: IntArray, lent: IntArray) -> None:
        """Count anew what the patterns of these rows could serve."""
        patterns, starts = self._patterns.of_row
        for at in np.flatnonzero(taken + lent).tolist():
            row = rows[at]
            own = patterns[starts[row] : starts[row + 1]]
            self._needy[own] -= taken[at]
            self._lenders[own] -= lent[at]
            self._scores[own] = self._score(own)


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


def tightened(problem: CellProblem, blanking: CellSuppression) -> CellSuppression:
    """Return a blanking without what the classes agree in; the same one where that would not hold.

    A quick choice blanks what a class once needed, and where a blank costs nothing a programme does as well.
    """
    kept = np.flatnonzero(~blanking.gone)
    class_of, number = problem.published(blanking.row[kept], blanking.blanks[kept])
    blanks = blanking.blanks.copy()
    for position in range(problem.attributes):
        codes = problem.codes[blanking.row[kept], position]
        low, high = np.full(number, np.iinfo(np.int64).max), np.full(number, BLANK)
        np.minimum.at(low, class_of, codes)
        np.maximum.at(high, class_of, codes)
        blanks[kept, position] &= (low < high)[class_of]
    if np.array_equal(blanks, blanking.blanks):
        return blanking
    tighter = replace(blanking, blanks=blanks)
    return tighter if tighter.holds(problem) else blanking


FIRST_ENTRIES = 2_500
"""Entries, cheapest by their penalty, of the first programme; each next one has ``GROWTH`` times as many."""

GROWTH = 3

MOST_ENTRIES = 40_000
"""Entries of the last programme."""

NODES = 3_000
"""Branch and bound nodes of one programme, where no time is set."""


class CellSearch:
    """Looks for the cheapest blanking: a greedy start, prices that bound it, programmes that grow.

    Every step is deterministic; a budget of time or steps only decides after which of them to end. A
    programme has the entries of lowest penalty. What it leaves out costs at least the lowest penalty left
    out, so its own bound and that one together bound everything.

    Parameters
    ----------
    before: steps that the budget has been spent on already.
    ceiling: once nothing can be cheaper than this, there is no need to go on.

    Attributes
    ----------
    best: the best blanking so far, None without one.
    cost: of it.
    bound: no valid blanking costs less.
    steps: programmes solved so far.
    """

    def __init__(
        self, problem: CellProblem, control: Control, before: int = 0, ceiling: float = np.inf
    ) -> None:
        self._problem = problem
        self._control = control
        self._before = before
        self._ceiling = ceiling
        self._patterns = closed_patterns(problem)
        self._served = np.zeros(len(self._patterns.row), dtype=np.int64)
        self.best: CellSuppression | None = None
        self.cost = np.inf
        self.bound = 0.0
        self.steps = 0
        self._interrupted = False

    def start(self) -> None:
        """Find a first blanking."""
        served = first_classes(self._problem, self._patterns)
        found = first_blanking(self._problem, self._patterns, served)
        if found is not None:
            self._keep(found)
        if np.array_equal(np.bincount(self._patterns.row, served, self._problem.rows), self._problem.counts):
            self._served = served

    def run(self) -> CellSolution:
        """Improve and prove until it is optimal or the effort is spent."""
        self.start()
        if self._gap_left() and not self._ended() and not self._exhaust() and self._patterns.number:
            self._prove_and_improve()
        if not self._patterns.number and self.best is None:
            self.bound = np.inf
        return self.solution()

    def solution(self) -> CellSolution:
        """Return what is known so far."""
        bound = min(self.bound, self.cost)
        return CellSolution(self.best, self.cost, bound, self.steps, self._interrupted)

    def _exhaust(self) -> bool:
        """Solve small problems under models that are not linear over all classes; tell if that was done."""
        classes = None if self._problem.complete else ValidClasses.of(self._problem)
        if classes is None:
            return False
        result, found = classes.solve(self._effort())
        self.steps += result.ended
        self._raise(result.bound)
        if result.ended and found is not None:
            self._keep(found)
        return True

    def _prove_and_improve(self) -> None:
        prices = Prices.of(self._problem, self._patterns, self._served)
        while self._gap_left() and not prices.settled:
            if self._ended():
                return
            self.steps += prices.improve(self._effort())
            self._raise(prices.proof.bound)
        proof, entries = prices.proof, FIRST_ENTRIES
        while self._gap_left() and not self._ended():
            within = int((proof.penalties <= self._room(proof)).sum())
            entries = MOST_ENTRIES if entries > FIRST_ENTRIES and within <= MOST_ENTRIES else entries
            if self._round(proof, entries) or entries >= MOST_ENTRIES:
                return
            entries = min(entries * GROWTH, MOST_ENTRIES)

    def _room(self, proof: Proof) -> float:
        """Return by how much the cost of a better solution exceeds what the prices prove, at most."""
        return self.cost - self._step() - proof.bound

    def _round(self, proof: Proof, most: int) -> bool:
        """Solve a programme over the cheapest entries; tell whether a larger one cannot do more."""
        room = self._room(proof)
        chosen, left_out = self._cheapest(proof, room, most)
        open_rows = self._open(proof, min(room, left_out))
        used = np.zeros(len(self._served), dtype=bool)
        used[chosen] = True
        assignment = Assignment(
            self._problem, self._patterns, np.flatnonzero(used | (self._served > 0)), open_rows
        )
        result = assignment.solve(self._effort(), self._served if self._served.any() else None)
        # What the clock or the user ended is no step: what it found could not be found again.
        self.steps += result.ended
        closed = float(proof.closing[open_rows].min(initial=np.inf))
        self._raise(min(result.bound, proof.bound + left_out, proof.bound + closed))
        if result.values is not None and result.ended:
            self._offer(assignment.served(result.values, self._effort()))
        return left_out > room and result.ended

    def _cheapest(self, proof: Proof, room: float, most: int) -> tuple[IntArray, float]:
        """Return the entries of lowest penalty that could be in a better solution, and what others cost."""
        within = np.flatnonzero(proof.penalties <= room)
        rest = float(proof.penalties[proof.penalties > room].min(initial=proof.outside))
        if len(within) > most:
            order = within[np.argsort(proof.penalties[within], kind="stable")]
            within, rest = np.sort(order[:most]), min(rest, float(proof.penalties[order[most]]))
        return within, rest

    def _open(self, proof: Proof, room: float) -> BoolArray:
        """Return the safe rows that no solution within this of the bound breaks up, nor the best so far."""
        if not self._problem.by_size_alone:
            return np.zeros(self._problem.rows, dtype=bool)
        own = self._patterns.own
        staying = np.bincount(self._patterns.row[own], self._served[own], self._problem.rows)
        intact = (staying >= self._problem.smallest) | (not self._served.any())
        return self._problem.safe & (proof.closing > room) & intact

    def _offer(self, served: IntArray | None) -> None:
        """Keep a solution that is valid and better."""
        if served is None:
            return
        if self._keep(blanking_of(self._problem, self._patterns, served)):
            self._served = served
        elif not self._problem.complete:
            holding = holding_classes(self._problem, self._patterns, served)
            repaired = first_blanking(self._problem, self._patterns, holding)
            if repaired is not None:
                self._keep(repaired)

    def _keep(self, found: CellSuppression) -> bool:
        if found.cost(self._problem) >= self.cost or not found.holds(self._problem):
            return False
        tighter = tightened(self._problem, found)
        self.best, self.cost = tighter, tighter.cost(self._problem)
        return True

    def _raise(self, bound: float) -> None:
        self.bound = max(self.bound, self._problem.raised(bound))

    def _step(self) -> float:
        """Return by how much a better solution is cheaper, a little less for rounding errors."""
        return max(self._problem.grain * (1 - 1e-6), 1e-9 * max(1.0, self.cost if self.best else 1.0))

    def _gap_left(self) -> bool:
        if self.bound >= self._ceiling:
            return False
        return self.best is None or self.cost - self.bound > 1e-9 * max(1.0, self.cost)

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(0, self._before + self.steps)

    def _effort(self) -> Effort:
        seconds = self._control.seconds
        left = None if seconds is None else max(seconds - self._control.elapsed, 0.0)
        return Effort(NODES, self._step(), left, self._control.stopped)
