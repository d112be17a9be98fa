"""Local suppression as facility location: which patterns to open, and which records each serves.

The assignment of rows is relaxed: every record of a row pays its dual price, and each pattern takes the
matching records that pay more than they cost, or none at all, but if any, enough to be a class. Whatever
the prices are, what they pay less what the patterns gain is a lower bound (Lagrangian duality). The prices
that prove most come from the linear relaxation by column generation: patterns are added as they turn out to
be worth it. The bound also proves which patterns can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import group_keys
from anonymizer.search.solver import Effort, Programme, Solved
from anonymizer.search.suppression.cell_problem import CellProblem, CellSuppression, Patterns, ValueRule


@dataclass(frozen=True, eq=False)
class Proof:
    """What some prices prove.

    Attributes
    ----------
    bound: no valid blanking costs less.
    gains: what each pattern adds to the bound's slack when it is opened, shape (patterns,), float64; where
        positive, the bound already paid for it.
    penalties: a blanking in which a record is served by an entry costs at least so much more than the bound,
        shape (entries,), float64.
    outside: the same for a pattern that is not listed.
    closing: the same for a row of which no record is published as it was, shape (rows,), float64; known only
        where size is all that counts, else 0.
    """

    bound: float
    gains: FloatArray
    penalties: FloatArray
    outside: float
    closing: FloatArray


@dataclass(frozen=True, eq=False)
class _Taken:
    """The best class of each pattern under some prices.

    Attributes
    ----------
    rewards: price less cost of each entry.
    records: taken of each entry, shape (entries,), int64.
    worst: lowest reward among those taken at a loss because the class needs them, shape (patterns,), float64;
        0 where none is.
    gains: rewards of all taken, shape (patterns,), float64; minus infinity where too few records match.
    """

    rewards: FloatArray
    records: IntArray
    worst: FloatArray
    gains: FloatArray


def prove(problem: CellProblem, patterns: Patterns, prices: FloatArray) -> Proof:
    """Return what prices prove.

    Parameters
    ----------
    prices: of one record of each row, shape (rows,), float64, any numbers.
    """
    taken = _take(problem, patterns, prices)
    unlisted = prices - patterns.outside
    bound = float(
        prices @ problem.counts
        - np.maximum(taken.gains, 0.0).sum()
        - np.maximum(unlisted, 0.0) @ problem.counts
    )
    outside = float(np.maximum(-unlisted, 0.0).min(initial=np.inf))
    return Proof(
        bound, taken.gains, _penalties(patterns, taken), outside, _closing(problem, patterns, prices, taken)
    )


def _take(problem: CellProblem, patterns: Patterns, prices: FloatArray) -> _Taken:
    """Take what pays, and, of the rest, what costs least until there are enough.

    Where distinct values are asked for, the best record of each of so many values comes first: those of the
    values that have the best ones. What is best beside these does not depend on them.
    """
    rewards = prices[patterns.row] - patterns.cost
    forced = _forced(problem, patterns, rewards)
    entry = np.concatenate([np.arange(len(rewards)), np.flatnonzero(forced)])
    first = np.arange(len(entry)) >= len(rewards)
    records = np.where(first, 1, (problem.counts[patterns.row] - forced)[entry])
    order = np.lexsort((-rewards[entry], ~first, patterns.pattern[entry]))
    entry, records, first = entry[order], records[order], first[order]
    pattern = patterns.pattern[entry]
    before = np.cumsum(records) - records
    before -= before[np.searchsorted(pattern, np.arange(patterns.number))][pattern]
    wanted = np.where((rewards[entry] > 0) | first, patterns.most[pattern], patterns.least[pattern])
    taken: IntArray = np.bincount(entry, np.clip(wanted - before, 0, records), len(rewards)).astype(np.int64)
    gains = np.zeros(patterns.number)
    np.add.at(gains, patterns.pattern, rewards * taken)
    worst = np.zeros(patterns.number, dtype=np.float64)
    used = taken > 0
    np.minimum.at(worst, patterns.pattern[used], rewards[used])
    return _Taken(rewards, taken, worst, gains)


def _forced(problem: CellProblem, patterns: Patterns, rewards: FloatArray) -> BoolArray:
    """Tell which entries give a record for the sake of distinct values, shape (entries,).

    Of several rules the one that asks for most values is looked at.
    """
    forced = np.zeros(len(rewards), dtype=bool)
    rule = max(problem.rules, key=lambda each: each.distinct, default=None)
    if rule is None or rule.distinct <= 1:
        return forced
    values = rule.values[patterns.row]
    known = np.flatnonzero((values >= 0) & ~patterns.gone[patterns.pattern])
    known = known[np.lexsort((-rewards[known], values[known], patterns.pattern[known]))]
    new = np.ones(len(known), dtype=bool)
    pattern = patterns.pattern[known]
    new[1:] = (pattern[1:] != pattern[:-1]) | (values[known][1:] != values[known][:-1])
    leaders = known[new]
    leaders = leaders[np.lexsort((-rewards[leaders], patterns.pattern[leaders]))]
    pattern = patterns.pattern[leaders]
    rank = np.arange(len(leaders)) - np.searchsorted(pattern, pattern)
    forced[leaders[rank < rule.distinct]] = True
    return forced


def _penalties(patterns: Patterns, taken: _Taken) -> FloatArray:
    """Add what opening the pattern costs and what a record costs beyond the one it takes the place of.

    That one may be any that is taken at a loss; the worst bounds them all.
    """
    opening = np.maximum(-taken.gains, 0.0)[patterns.pattern]
    displaced = taken.worst[patterns.pattern]
    extra = np.where(taken.records > 0, 0.0, np.maximum(displaced - taken.rewards, 0.0))
    return opening + extra


def _closing(problem: CellProblem, patterns: Patterns, prices: FloatArray, taken: _Taken) -> FloatArray:
    """Raise the price of a closed row to the least that its records cost elsewhere, one row at a time.

    The gain of a pattern grows at most by what the row's records, at their new reward, which is never above
    0, gain over the worst that was taken.
    """
    least = np.full(problem.rows, np.inf)
    elsewhere = ~patterns.own
    np.minimum.at(least, patterns.row[elsewhere], patterns.cost[elsewhere])
    least = np.minimum(least, patterns.outside)
    raised = np.maximum(prices, np.where(np.isfinite(least), least, 0.0))
    rewards = np.minimum(raised[patterns.row], least[patterns.row]) - patterns.cost
    rewards = np.maximum(rewards, taken.rewards)
    better = np.maximum(rewards - np.minimum(taken.worst[patterns.pattern], 0.0), 0.0)
    replaced = np.minimum(problem.counts[patterns.row], problem.smallest) * better
    staying = taken.records * (rewards - taken.rewards)
    opened = np.maximum(taken.gains[patterns.pattern] + replaced + staying, 0.0)
    growth = np.where(elsewhere, opened - np.maximum(taken.gains[patterns.pattern], 0.0), 0.0)
    growth += np.where(patterns.own, -np.maximum(taken.gains[patterns.pattern], 0.0), 0.0)
    paid = (raised - prices) * problem.counts
    penalties = paid - np.bincount(patterns.row, growth, problem.rows)
    known = problem.safe if problem.by_size_alone else np.zeros(problem.rows, dtype=bool)
    return np.where(known, np.maximum(penalties, 0.0), 0.0)


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


CHEAPEST = 6
"""Patterns of each row that the first relaxation has."""

ADDED = 0.5
"""A round adds at most this share of the entries that there are so far."""

MOST_ENTRIES = 120_000
"""Of a relaxation; larger ones take minutes."""


@dataclass
class Prices:
    """Looks for the prices of the highest bound, round by round.

    Attributes
    ----------
    prices: the best so far, shape (rows,), float64.
    proof: what they prove.
    settled: whether no other prices prove more, or no larger relaxation is tried.
    """

    problem: CellProblem
    patterns: Patterns
    chosen: BoolArray
    prices: FloatArray
    proof: Proof
    settled: bool = False

    @classmethod
    def of(cls, problem: CellProblem, patterns: Patterns, served: IntArray) -> Prices:
        """Start from the patterns in use, those that the rows are published as, and each row's cheapest.

        Parameters
        ----------
        served: records served by each entry in a first solution.
        """
        chosen = np.zeros(patterns.number, dtype=bool)
        chosen[patterns.pattern[patterns.own | (served > 0)]] = True
        order = np.lexsort((patterns.cost, patterns.row))
        starts = np.searchsorted(patterns.row[order], np.arange(problem.rows))
        rank = np.arange(len(order)) - starts[patterns.row[order]]
        chosen[patterns.pattern[order[rank < CHEAPEST]]] = True
        nothing = np.zeros(problem.rows)
        return cls(problem, patterns, chosen, nothing, prove(problem, patterns, nothing))

    def improve(self, effort: Effort) -> bool:
        """Solve the relaxation over the chosen patterns, and add those that its prices would open.

        Returns whether there are prices: it came to an end, and there is a solution.
        """
        entries = np.flatnonzero(self.chosen[self.patterns.pattern])
        none_open = np.zeros(self.problem.rows, dtype=bool)
        prices = Assignment(self.problem, self.patterns, entries, none_open).prices(effort)
        if prices is None:
            self.settled = True
            return False
        proof = prove(self.problem, self.patterns, prices)
        if proof.bound >= self.proof.bound:
            self.prices, self.proof = prices, proof
        self._add(proof.gains, len(entries))
        return True

    def _add(self, gains: FloatArray, entries: int) -> None:
        worth = np.flatnonzero((gains > 1e-7) & ~self.chosen)
        worth = worth[np.argsort(-gains[worth], kind="stable")]
        sizes = np.cumsum(np.diff(self.patterns.starts)[worth])
        worth = worth[sizes <= max(ADDED * entries, sizes[0] if len(sizes) else 0)]
        self.chosen[worth] = True
        grown = entries + int(np.diff(self.patterns.starts)[worth].sum())
        self.settled = not len(worth) or grown > MOST_ENTRIES
