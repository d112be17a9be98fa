"""The fewest cells to suppress so that every published class satisfies the models, with a proof.

The search starts from a quick first choice: classes of the lowest cost for each record that they rescue,
or, under any models, classes merged by suppressing cells until all are valid. A cell is published again if
all records of its class have the same value there. For small tables, under any models, every valid class is
listed and the cheapest choice of them is made.

It is solved as facility location: which patterns to open, and which records each serves. The assignment of
rows is relaxed: every record of a row pays its dual price, and each pattern takes the matching records that
pay more than they cost, or none at all, but if any, enough to be a class. Whatever the prices are, what they
pay less what the patterns gain is a lower bound (Lagrangian duality). The prices that prove most come from
the linear relaxation by column generation: patterns are added as they turn out to be worth it. The bound also
proves which patterns can be left out.

Source of the problem: Meyerson, Williams (PODS 2004, doi:10.1145/1055558.1055591), k-anonymity by
suppression of cells; they show that it is NP-hard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, group_keys
from anonymizer.search.base import Control
from anonymizer.search.solver import Effort, Programme, Solved
from anonymizer.search.suppression.cell_problem import (
    BLANK,
    CellProblem,
    CellSolution,
    CellSuppression,
    Patterns,
    ValueRule,
    closed_patterns,
)


@dataclass(frozen=True, eq=False)
class Proof:
    """The bounds that some prices prove.

    Attributes
    ----------
    bound: no valid blanking costs less.
    gains: of each pattern if it is opened, shape (patterns,), float64; the bound includes positive ones.
    penalties: least cost above the bound of a solution in which an entry serves a record, shape (entries,),
        float64.
    outside: the same for an unlisted pattern.
    closing: the same for a row without any record released unchanged, shape (rows,), float64; known only for
        conditions on size alone, else 0.
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
    worst: lowest negative reward of an entry that the class needs, shape (patterns,), float64; 0 without any.
    gains: rewards of all taken records, shape (patterns,), float64; minus infinity if too few match.
    """

    rewards: FloatArray
    records: IntArray
    worst: FloatArray
    gains: FloatArray


def prove(problem: CellProblem, patterns: Patterns, prices: FloatArray) -> Proof:
    """Return the bounds that prices prove.

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
    """Take all records that pay, and the cheapest others until there are enough.

    If distinct values are required, the best record of each of the best values comes first. The other choices
    do not depend on these.
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
    """Return which entries give a record for distinct values, shape (entries,).

    Of several rules, the one with the most values counts.
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
    """Add the cost of opening the pattern and the cost of a record above the one that it replaces.

    It may replace any record taken at a loss; the worst bounds them all.
    """
    opening = np.maximum(-taken.gains, 0.0)[patterns.pattern]
    displaced = taken.worst[patterns.pattern]
    extra = np.where(taken.records > 0, 0.0, np.maximum(displaced - taken.rewards, 0.0))
    return opening + extra


def _closing(problem: CellProblem, patterns: Patterns, prices: FloatArray, taken: _Taken) -> FloatArray:
    """Raise the price of each closed row to the least cost of its records elsewhere.

    The gain of a pattern grows at most by the excess of the row's new rewards, at most 0, over the worst
    taken ones.
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
    """Collects constraints."""

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

    Variables: records served by each entry, which patterns are open, and, for rules on distinct values, the
    values of each pattern. Under conditions on size alone, records are integral once the patterns are chosen
    (a transportation problem), so only the patterns must be whole.

    Parameters
    ----------
    entries: positions of the entries that may be used, ascending.
    open_rows: rows that stay classes unchanged, shape (rows,), bool; only their spare records are assigned.
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
        """Drop useless entries: open rows without spare records, and patterns of open rows only."""
        row, pattern = self._patterns.row[entries], self._patterns.pattern[entries]
        donor = self._open[row]
        able = ~donor | (self._problem.counts[row] > self._problem.smallest)
        needed = np.bincount(pattern[~donor], minlength=self._patterns.number) > 0
        return entries[able & needed[pattern]]

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
        """Limit the suppressed records."""
        own = np.flatnonzero(self._patterns.gone[self._patterns.pattern[self.entries]])
        if len(own):
            most = np.array([float(self._problem.most_gone)])
            rows.add(np.array([-np.inf]), most, (np.zeros_like(own), x[own], np.ones(len(own))))

    def _add_rule(self, rows: _Rows, rule: ValueRule, row: IntArray, x: IntArray, y: IntArray) -> int:
        """Add the conditions of a rule on every open pattern; return the number of new variables."""
        values = rule.values[row]
        served = ~self._patterns.gone[self.used]
        known = np.flatnonzero((values >= 0) & served[self.pattern_of])
        size = int(rule.values.max(initial=0)) + 1
        cell, distinct = group_keys(self.pattern_of[known] * size + values[known], len(y) * size)
        number, of_pattern, value = len(distinct), distinct // size, distinct % size
        if rule.caps is not None:
            self._add_caps(rows, rule.caps, known, cell, of_pattern, value)
        if rule.distinct < 1 or (rule.distinct == 1 and (rule.values >= 0).all()):
            # Every record has a counted value.
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
        """Return the number of variables so far."""
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
        """Limit the share of each value in the records of a pattern."""
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

    def _start(self, served: IntArray) -> FloatArray:
        """Return a solution as values of the variables, from the records served by each of all entries."""
        own = served[self.entries].astype(np.float64)
        opened = np.bincount(self.pattern_of, own, len(self.used)) > 0
        values = np.zeros(len(self.programme.costs))
        values[: len(own)] = own
        values[len(own) : len(own) + len(opened)] = opened
        return values

    def solve(self, effort: Effort, start: IntArray | None) -> Solved:
        """Solve it, from a solution if one is given as the records served by each of all entries."""
        return self.programme.solved(effort, None if start is None else self._start(start))

    def served(self, values: FloatArray, effort: Effort) -> IntArray | None:
        """Return the records served by each of all entries; None without an integral solution.

        Open rows keep the records that they do not give away.
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
        """Keep the open patterns of a solution, and assign whole records to them."""
        records, patterns = len(self.entries), len(self.used)
        upper = self.programme.upper.copy()
        upper[records : records + patterns] = np.rint(values[records : records + patterns])
        whole = np.ones(len(upper), dtype=bool)
        return replace(self.programme, upper=upper, whole=whole).solved(effort, None).values

    def prices(self, effort: Effort) -> FloatArray | None:
        """Return the dual price of a record of each row in the linear relaxation, shape (rows,).

        None if it did not finish.
        """
        return self.programme.duals(self._problem.rows, effort)


def blanking_of(problem: CellProblem, patterns: Patterns, served: IntArray) -> CellSuppression:
    """Return the suppressed cells if each entry serves so many records."""
    used = np.flatnonzero(served)
    used = used[np.argsort(patterns.row[used], kind="stable")]
    row = patterns.row[used]
    blanks = patterns.blanks[patterns.pattern[used]] & ~problem.native[row]
    return CellSuppression(row, served[used], blanks, patterns.gone[patterns.pattern[used]])


CHEAPEST = 6
"""Patterns of each row in the first relaxation."""

ADDED = 0.5
"""Most new entries of a round, as a share of the present ones."""

MOST_RELAXED = 120_000
"""Most entries of a relaxation; larger ones take minutes."""


@dataclass
class Prices:
    """Searches the prices of the highest bound, round by round.

    Attributes
    ----------
    prices: the best so far, shape (rows,), float64.
    proof: what they prove.
    settled: whether no other prices prove a higher bound, or no larger relaxation is tried.
    """

    problem: CellProblem
    patterns: Patterns
    chosen: BoolArray
    prices: FloatArray
    proof: Proof
    settled: bool = False

    @classmethod
    def of(cls, problem: CellProblem, patterns: Patterns, served: IntArray) -> Prices:
        """Start from the used patterns, those of the rows unchanged, and each row's cheapest.

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

        Returns whether the relaxation gave prices.
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
        self.settled = not len(worth) or grown > MOST_RELAXED


MOST_CLASSES = 2_000
"""Most candidates for a class that are judged one by one."""

_Label = tuple[BoolArray, IntArray]


@dataclass(frozen=True, eq=False)
class ValidClasses:
    """Every class that satisfies the models: its label, and its records of each row.

    Attributes
    ----------
    label: number of the published values of each class, from 0, shape (classes,), int64.
    masks: suppressed attributes of each class, shape (classes, attributes), bool.
    records: of each row in each class, shape (classes, rows), int64.
    """

    problem: CellProblem
    label: IntArray
    masks: BoolArray
    records: IntArray

    @classmethod
    def of(cls, problem: CellProblem) -> ValidClasses | None:
        """List the classes; None if there may be too many."""
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
        """Choose classes with different published values for all records but the suppressed ones."""
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
        none = np.zeros(len(row), dtype=bool)
        kept = CellSuppression(row, self.records[chosen][owner, row], blanks, none)
        return CellSuppression.joined(kept, gone, values[len(self.label) + gone], problem.native)


def _labels(problem: CellProblem) -> Iterator[_Label]:
    """Yield every mask with each group of rows that it publishes alike."""
    for mask in map(np.array, product((False, True), repeat=problem.attributes)):
        codes = np.where(mask, BLANK, problem.codes)
        able = ~(problem.native & ~mask).any(axis=1)
        if mask.all():
            # Any other record would be suppressed.
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
    """Opens one pattern after another, under conditions on size alone.

    A pattern serves all matching records without a class; if these are too few, it borrows spare records of
    rows that are classes by themselves. The next pattern is the one of lowest cost per rescued record.
    """

    def __init__(self, problem: CellProblem, patterns: Patterns) -> None:
        self._patterns = patterns
        self._smallest = problem.smallest
        failing = ~problem.safe
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
        """Return the records served by each entry, shape (entries,), 0 for records without a class."""
        while self._left.any() and self._patterns.number:
            best = int(self._scores.argmin())
            if not np.isfinite(self._scores[best]):
                break
            self._open(best)
        return self._served

    def _score(self, chosen: IntArray) -> FloatArray:
        """Return the cost of opening patterns per rescued record; infinite if too few match."""
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
        """Update the records that the patterns of these rows could serve."""
        patterns, starts = self._patterns.of_row
        for at in np.flatnonzero(taken + lent).tolist():
            row = rows[at]
            own = patterns[starts[row] : starts[row + 1]]
            self._needy[own] -= taken[at]
            self._lenders[own] -= lent[at]
            self._scores[own] = self._score(own)


TRIED = 64
"""Classes that are tried for a row without a class, cheapest first."""


def first_blanking(problem: CellProblem, patterns: Patterns, served: IntArray) -> CellSuppression | None:
    """Complete a partial choice to a valid one; None if that fails.

    Unserved rows are merged into existing classes, cheapest first. If that fails, the same attributes of the
    whole table are suppressed.

    Parameters
    ----------
    served: records served by each entry, shape (entries,).
    """
    left = problem.counts - np.bincount(patterns.row, served, problem.rows).astype(np.int64)
    begun = blanking_of(problem, patterns, served)
    blanking = _Absorption(problem, begun, left).run() if left.any() else begun
    if blanking is not None and blanking.holds(problem):
        return blanking
    return _uniform(problem, patterns)


def first_classes(problem: CellProblem, patterns: Patterns) -> IntArray:
    """Return the records served by each entry in a quick choice; rows without a class are not served."""
    if problem.by_size_alone:
        served = CheapestClasses(problem, patterns).run()
        return _with_safe(problem, patterns, served)
    return _by_masks(problem, patterns)


def holding_classes(problem: CellProblem, patterns: Patterns, served: IntArray) -> IntArray:
    """Return the records served by each entry, without those of violating classes and suppressed ones."""
    used = np.flatnonzero((served > 0) & ~patterns.gone[patterns.pattern])
    found, classes = np.unique(patterns.pattern[used], return_inverse=True)
    held = problem.judge(classes, patterns.row[used], served[used], len(found))
    kept = np.zeros_like(served)
    own = used[held[classes]]
    kept[own] = served[own]
    return kept


def _with_safe(problem: CellProblem, patterns: Patterns, served: IntArray) -> IntArray:
    """Let safe rows keep the records that they do not give away."""
    rest = problem.counts - np.bincount(patterns.row, served, problem.rows).astype(np.int64)
    filled = served.copy()
    own = np.flatnonzero(patterns.own & problem.safe[patterns.row])
    filled[own] += rest[patterns.row[own]]
    return filled


def _by_masks(problem: CellProblem, patterns: Patterns) -> IntArray:
    """Go through the masks, cheapest first, and take every valid class of rows without one."""
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
    """Return which entries are in valid classes if each pattern serves all rows of its entries."""
    found, classes = np.unique(patterns.pattern[entries], return_inverse=True)
    rows = patterns.row[entries]
    counts = problem.counts[rows]
    sizes = np.bincount(classes, counts, len(found))
    held = (sizes >= problem.smallest) & ~patterns.gone[found]
    held &= problem.judge(classes, rows, counts, len(found))
    return held[classes]


class _Absorption:
    """Merges rows without a class into existing classes, one row after another.

    A row that is cheaper to suppress, or finds no class, is suppressed while the limit allows it.
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
        """Return the choice with every row in a class; None if a row found no valid one."""
        for row in np.flatnonzero(self._left).tolist():
            if not self._absorb(row) and not self._suppress(row):
                return None
        native = self._problem.native
        blanks = (self._vectors[self._class_of] == BLANK) & ~native[self._rows]
        kept = CellSuppression(self._rows, self._counts, blanks, np.zeros(len(self._rows), dtype=bool))
        gone = np.array(self._gone, dtype=np.int64)
        return CellSuppression.joined(kept, gone, self._left[gone], native)

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
    """Suppress the same attributes of all records: the cheapest valid listed mask."""
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
    """Publish again the cells in which a class agrees, if the result is valid.

    A quick choice suppresses cells that a class once needed, and a programme cells that cost nothing.
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
    """Searches the cheapest choice of cells: a greedy start, prices for a bound, growing programmes.

    Every step is deterministic; a budget only decides after which one to end. A programme has the entries of
    lowest penalty. Any other solution costs at least the lowest penalty left out, so that this and the
    programme's own bound together bound all.

    Parameters
    ----------
    before: steps of the budget that are already spent.
    ceiling: bound at which the search may end.

    Attributes
    ----------
    best: the best choice so far, None without one.
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
        """Find a first choice of cells."""
        served = first_classes(self._problem, self._patterns)
        found = first_blanking(self._problem, self._patterns, served)
        if found is not None:
            self._keep(found)
        if np.array_equal(np.bincount(self._patterns.row, served, self._problem.rows), self._problem.counts):
            self._served = served

    def run(self) -> CellSolution:
        """Improve and prove until the choice is optimal or the budget ends."""
        self.start()
        if self._gap_left() and not self._ended() and not self._exhaust() and self._patterns.number:
            self._prove_and_improve()
        if not self._patterns.number and self.best is None:
            self.bound = np.inf
        bound = min(self.bound, self.cost)
        return CellSolution(self.best, self.cost, bound, self.steps, self._interrupted)

    def _exhaust(self) -> bool:
        """Solve small problems under non-linear models over all classes; return whether that was possible."""
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
        """Return the largest excess of a better solution's cost over the bound of the prices."""
        return self.cost - self._step() - proof.bound

    def _round(self, proof: Proof, most: int) -> bool:
        """Solve a programme over the cheapest entries; return whether a larger one is useless."""
        room = self._room(proof)
        chosen, left_out = self._cheapest(proof, room, most)
        open_rows = self._open(proof, min(room, left_out))
        used = np.zeros(len(self._served), dtype=bool)
        used[chosen] = True
        assignment = Assignment(
            self._problem, self._patterns, np.flatnonzero(used | (self._served > 0)), open_rows
        )
        result = assignment.solve(self._effort(), self._served if self._served.any() else None)
        # What the clock or the user ended does not count as a step, as it is not repeatable.
        self.steps += result.ended
        closed = float(proof.closing[open_rows].min(initial=np.inf))
        self._raise(min(result.bound, proof.bound + left_out, proof.bound + closed))
        if result.values is not None and result.ended:
            self._offer(assignment.served(result.values, self._effort()))
        return left_out > room and result.ended

    def _cheapest(self, proof: Proof, room: float, most: int) -> tuple[IntArray, float]:
        """Return the entries of lowest penalty that could be in a better solution, and the next penalty."""
        within = np.flatnonzero(proof.penalties <= room)
        rest = float(proof.penalties[proof.penalties > room].min(initial=proof.outside))
        if len(within) > most:
            order = within[np.argsort(proof.penalties[within], kind="stable")]
            within, rest = np.sort(order[:most]), min(rest, float(proof.penalties[order[most]]))
        return within, rest

    def _open(self, proof: Proof, room: float) -> BoolArray:
        """Return the safe rows that neither the best nor any solution within this of the bound breaks up."""
        if not self._problem.by_size_alone:
            return np.zeros(self._problem.rows, dtype=bool)
        own = self._patterns.own
        staying = np.bincount(self._patterns.row[own], self._served[own], self._problem.rows)
        intact = (staying >= self._problem.smallest) | (not self._served.any())
        return self._problem.safe & (proof.closing > room) & intact

    def _offer(self, served: IntArray | None) -> None:
        """Keep a solution if it is valid and better."""
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
        """Return the least improvement of a better solution, less rounding errors."""
        return max(self._problem.grain * (1 - 1e-6), 1e-9 * max(1.0, self.cost if self.best else 1.0))

    def _gap_left(self) -> bool:
        if self.bound >= self._ceiling:
            return False
        return self.best is None or self.cost - self.bound > 1e-9 * max(1.0, self.cost)

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(0, self._before + self.steps)

    def _effort(self) -> Effort:
        return Effort(NODES, self._step(), self._control.left, self._control.stopped)
