"""What a price for serving each row proves: a bound on all blankings, and which patterns can be left out.

The rows' assignment is relaxed: every record of a row pays its price, each pattern takes, of all records that
match, those that pay more than they cost, or none at all, but if any, enough to be a class. Whatever the
prices are, what they pay less what the patterns gain is a lower bound (Lagrangian duality).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.suppression.cell_patterns import Patterns
from anonymizer.search.suppression.cell_problem import CellProblem


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
