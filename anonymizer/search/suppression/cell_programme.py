"""Cell suppression as facility location: which patterns to open, and which records each of them serves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import group_keys
from anonymizer.search.suppression.cell_patterns import Patterns
from anonymizer.search.suppression.cell_problem import CellProblem, CellSuppression, ValueRule
from anonymizer.search.suppression.cell_solver import Effort, Programme, Solved


@dataclass
class _Rows:
    """Constraints that are being collected."""

    row: list[IntArray] = field(default_factory=list)
    column: list[IntArray] = field(default_factory=list)
    coefficient: list[FloatArray] = field(default_factory=list)
    low: list[FloatArray] = field(default_factory=list)
    high: list[FloatArray] = field(default_factory=list)
    number: int = 0

    def add(self, low: FloatArray, high: FloatArray, *terms: tuple[IntArray, IntArray, FloatArray]) -> None:
        """Add constraints; each term gives their positions, the variables and the coefficients."""
        for row, column, coefficient in terms:
            self.row.append(row + self.number)
            self.column.append(column)
            self.coefficient.append(coefficient)
        self.low.append(low)
        self.high.append(high)
        self.number += len(low)


class Assignment:
    """The programme over some of the entries.

    Variables: records served by each entry, which of the patterns are open, and, for rules about distinct
    values, which values each pattern has. Where size is all that counts, records are whole by themselves once
    the patterns are chosen (a transportation problem), so only the patterns are asked to be.

    Parameters
    ----------
    entries: positions of the entries that may be used, ascending.
    open_rows: rows that stay a class as they are, shape (rows,), bool: only what they can spare is assigned.
    """

    def __init__(
        self, problem: CellProblem, patterns: Patterns, entries: IntArray, open_rows: BoolArray
    ) -> None:
        self._problem = problem
        self._patterns = patterns
        self._open = open_rows
        self.entries = self._useful(entries)
        self.pattern_of, self.used = group_keys(patterns.pattern[self.entries], patterns.number)
        row = patterns.row[self.entries]
        spare = np.minimum(problem.counts - problem.smallest, problem.smallest - 1)
        self.capacity = np.where(open_rows, spare, problem.counts)[row]
        self.programme = self._build(row)

    def _useful(self, entries: IntArray) -> IntArray:
        """Leave out what cannot serve: open rows with nothing to spare, and patterns of open rows alone."""
        row, pattern = self._patterns.row[entries], self._patterns.pattern[entries]
        donor = self._open[row]
        able = ~donor | (self._problem.counts[row] > self._problem.smallest)
        needed = np.bincount(pattern[~donor], minlength=self._patterns.number) > 0
        kept: IntArray = entries[able & needed[pattern]]
        return kept

    def _build(self, row: IntArray) -> Programme:
        problem, entries, patterns = self._problem, len(self.entries), len(self.used)
        x, y = np.arange(entries), entries + np.arange(patterns)
        ones, rows = np.ones(entries), _Rows()
        counts = problem.counts.astype(np.float64)
        spare = counts - problem.smallest
        rows.add(np.where(self._open, 0.0, counts), np.where(self._open, spare, counts), (row, x, ones))
        endless = np.full(patterns, np.inf)
        least = -self._patterns.least[self.used].astype(np.float64)
        rows.add(np.zeros(patterns), endless, (self.pattern_of, x, ones), (np.arange(patterns), y, least))
        capacity = self.capacity.astype(np.float64)
        rows.add(
            np.full(entries, -np.inf), np.zeros(entries), (x, x, ones), (x, y[self.pattern_of], -capacity)
        )
        self._limit_gone(rows, x)
        extra = sum(self._add_rule(rows, rule, row, x, y) for rule in problem.rules)
        added = np.zeros(extra)
        whole = np.full(entries, bool(problem.rules))
        return Programme(
            np.concatenate([self._patterns.cost[self.entries], np.zeros(patterns), added]),
            np.concatenate([capacity, np.ones(patterns), added + 1.0]),
            np.concatenate([whole, np.ones(patterns, dtype=bool), np.zeros(extra, dtype=bool)]),
            np.concatenate(rows.row),
            np.concatenate(rows.column),
            np.concatenate(rows.coefficient),
            np.concatenate(rows.low),
            np.concatenate(rows.high),
        )

    def _limit_gone(self, rows: _Rows, x: IntArray) -> None:
        """Few enough records are suppressed."""
        own = np.flatnonzero(self._patterns.gone[self._patterns.pattern[self.entries]])
        if len(own):
            most = np.array([float(self._problem.most_gone)])
            rows.add(np.array([-np.inf]), most, (np.zeros_like(own), x[own], np.ones(len(own))))

    def _add_rule(self, rows: _Rows, rule: ValueRule, row: IntArray, x: IntArray, y: IntArray) -> int:
        """Add what a rule asks of every open pattern; return the number of variables that it needs."""
        values = rule.values[row]
        served = ~self._patterns.gone[self.used]
        known = np.flatnonzero((values >= 0) & served[self.pattern_of])
        size = int(rule.values.max(initial=0)) + 1
        cell, distinct = group_keys(self.pattern_of[known] * size + values[known], len(y) * size)
        number, of_pattern, value = len(distinct), distinct // size, distinct % size
        if rule.caps is not None:
            self._add_caps(rows, rule.caps, known, cell, of_pattern, value)
        if rule.distinct < 1 or (rule.distinct == 1 and (rule.values >= 0).all()):
            # Every record has a value that counts.
            return 0
        z = self._variables(rows) + np.arange(number)
        every, ones = np.arange(number), np.ones(number)
        below, zero = np.full(number, -np.inf), np.zeros(number)
        rows.add(below, zero, (every, z, ones), (cell, x[known], -np.ones(len(known))))
        rows.add(below, zero, (every, z, ones), (every, y[of_pattern], -ones))
        least = np.where(served, -float(rule.distinct), 0.0)
        rows.add(
            np.zeros(len(y)), np.full(len(y), np.inf), (of_pattern, z, ones), (np.arange(len(y)), y, least)
        )
        return number

    def _variables(self, rows: _Rows) -> int:
        """Return how many variables there are so far."""
        return max(
            len(self.entries) + len(self.used), 1 + max(int(each.max(initial=0)) for each in rows.column)
        )

    def _add_caps(
        self,
        rows: _Rows,
        caps: FloatArray,
        known: IntArray,
        cell: IntArray,
        of_pattern: IntArray,
        value: IntArray,
    ) -> None:
        """No value has more than its share of the records that a pattern serves."""
        number = len(value)
        sizes = np.bincount(self.pattern_of, minlength=len(self.used))
        starts = np.cumsum(sizes) - sizes
        spans = sizes[of_pattern]
        within = np.arange(int(spans.sum())) - np.repeat(np.cumsum(spans) - spans, spans)
        members = np.repeat(starts[of_pattern], spans) + within
        of_cell = np.repeat(np.arange(number), spans)
        rows.add(
            np.full(number, -np.inf),
            np.zeros(number),
            (cell, known, np.ones(len(known))),
            (of_cell, members, -caps[value][of_cell]),
        )

    def start(self, served: IntArray) -> FloatArray:
        """Return a solution as values of the variables, given the records served by each of all entries."""
        own = served[self.entries].astype(np.float64)
        opened = np.bincount(self.pattern_of, own, len(self.used)) > 0
        values = np.zeros(len(self.programme.costs))
        values[: len(own)] = own
        values[len(own) : len(own) + len(opened)] = opened
        return values

    def solve(self, effort: Effort, start: IntArray | None) -> Solved:
        """Solve it, from a solution if one is given as the records served by each of all entries."""
        return self.programme.solved(effort, None if start is None else self.start(start))

    def served(self, values: FloatArray, effort: Effort) -> IntArray | None:
        """Return the records served by each of all entries; None where whole records were not found.

        What the open rows do not give away is served by the patterns they are published as.
        """
        records = len(self.entries)
        whole: FloatArray | None = values
        if np.abs(values - np.rint(values))[:records].max(initial=0.0) > 1e-6:
            whole = self._whole(values, effort)
        if whole is None:
            return None
        served = np.zeros(len(self._patterns.row), dtype=np.int64)
        served[self.entries] = np.rint(whole[:records]).astype(np.int64)
        rest = self._problem.counts - np.bincount(self._patterns.row, served, self._problem.rows)
        own = np.flatnonzero(self._patterns.own & self._open[self._patterns.row])
        served[own] += rest[self._patterns.row[own]].astype(np.int64)
        return served

    def _whole(self, values: FloatArray, effort: Effort) -> FloatArray | None:
        """Keep the patterns that a solution opens, and assign whole records to them."""
        records, patterns = len(self.entries), len(self.used)
        upper = self.programme.upper.copy()
        upper[records : records + patterns] = np.rint(values[records : records + patterns])
        whole = np.ones(len(upper), dtype=bool)
        return replace(self.programme, upper=upper, whole=whole).solved(effort, None).values

    def prices(self, effort: Effort) -> FloatArray | None:
        """Return what a record of each row costs by the linear relaxation, shape (rows,).

        None where that did not come to an end.
        """
        return self.programme.duals(self._problem.rows, effort)


def blanking_of(problem: CellProblem, patterns: Patterns, served: IntArray) -> CellSuppression:
    """Return the cells that are blanked when each entry serves so many records."""
    used = np.flatnonzero(served)
    used = used[np.argsort(patterns.row[used], kind="stable")]
    row = patterns.row[used]
    blanks = patterns.blanks[patterns.pattern[used]] & ~problem.native[row]
    return CellSuppression(row, served[used], blanks, patterns.gone[patterns.pattern[used]])
