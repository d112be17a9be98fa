"""A proven lower bound on the loss of every local recoding under k-anonymity, by Lagrangian prices.

Local recoding is a lower-bounded facility location: a facility is a vector of allowed nodes and serves k
records or more, a record is served once, by a facility that covers it, at the sum of its nodes' costs, or
suppressed at cost 1. "Every record is served once" is relaxed. Any dual prices, one per record, prove a
bound; good prices are found by ascent. As no price exceeds 1, suppression never pays more than it costs, so
the bound holds for any limit.

Source: the relaxation of Erlenkotter (Operations Research 26, 1978, doi:10.1287/opre.26.6.992), with
facilities that need k customers; steps scaled by the slopes' second moments: Kingma, Ba (ICLR 2015,
arXiv:1412.6980).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from anonymizer.loss.base import ArithmeticMean, CellMetric
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.search.base import SearchProblem, SuppressionMethod
from anonymizer.search.local.facilities import Facilities, Pricing, Stopped, TooMany, segments
from anonymizer.search.local.trees import AllowedTrees, Items, allowed_trees, items_of, surely_more_items

ROUNDING = 1e-11
"""Of the sum of the absolute values of all terms: far above what float64 sums of them can be wrong by."""


class Lagrangian:
    """Lower bound on the total cost of serving all records, as a function of the prices of their items.

    Every facility serves the records that are worth more than they cost, and if these are fewer than k, the
    next best until there are k, or nobody. With price u and n records of each item, the bound is the sum of
    n * u minus what the facilities gain; it is concave in u.

    Parameters
    ----------
    facilities: all that could gain something at the prices that are asked about.
    counts: records of each item, shape (items,), int64.
    size: records that a facility serves at least, k.
    """

    def __init__(self, facilities: Facilities, counts: IntArray, size: int) -> None:
        self._facilities, self._size = facilities, size
        self._counts = counts.astype(np.float64)
        self._owner = segments(facilities.starts)
        self._cost = facilities.cost[self._owner]
        self._bits = max(len(counts) - 1, 1).bit_length()

    def value(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound, rounding errors taken off, and its slope in each price.

        Parameters
        ----------
        prices: of each item's records, shape (items,), float64, none above its ceiling.

        Returns
        -------
        The bound, and records minus those served, shape (items,), float64.
        """
        own = self._counts * prices
        total, slack = float(own.sum()), float(np.abs(own).sum())
        slope = self._counts.copy()
        items, owner, cost, rest = self._active(prices)
        if len(cost):
            taken, gains, served = self._gains(prices, items, owner, cost, rest)
            total += float(gains.sum())
            slack -= float(gains.sum())
            slope -= np.bincount(items[served], taken[served], len(prices))
        return total - ROUNDING * slack, slope

    def _active(self, prices: FloatArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return the entries of the facilities for which some record is worth more than it costs.

        By facility, then by falling price: item and facility of each entry; cost and rest of each facility.
        """
        active = np.zeros(self._facilities.number, dtype=bool)
        active[self._owner[prices[self._facilities.items] > self._cost]] = True
        entries = np.flatnonzero(active[self._owner])
        owner = (np.cumsum(active) - 1)[self._owner[entries]]
        order = np.argsort(-prices, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        keys = (owner << self._bits) | rank[self._facilities.items[entries]]
        keys.sort()
        items = order[keys & ((1 << self._bits) - 1)]
        return items, owner, self._facilities.cost[active], self._facilities.rest[active]

    def _gains(
        self, prices: FloatArray, items: IntArray, owner: IntArray, cost: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray, np.ndarray]:
        """Return records taken per entry, what each facility adds (at most 0), and the entries served."""
        starts = np.searchsorted(owner, np.arange(len(cost)))
        price, records = prices[items], self._counts[items]
        before = np.cumsum(records) - records
        before -= before[starts][owner]
        taken = np.minimum(records, np.maximum(self._size - before, 0.0))
        pays = price > cost[owner]
        taken[pays] = records[pays]
        # Where an item is cheaper than what is not listed, that is assumed to fill up instead.
        other = rest[owner]
        gains = np.add.reduceat(taken * (cost[owner] - np.maximum(price, other)), starts)
        missing = self._size - np.add.reduceat(taken, starts)
        short = missing > 0
        gains[short] += missing[short] * (cost[short] - rest[short])
        served = (gains < 0)[owner] & (price >= other)
        return taken, np.minimum(gains, 0.0), served


STEPS = 40
"""Steps of ascent in a round."""

FEW_STEPS = 10
"""Steps beside the result of another search, which should hardly take longer for it."""

FIRST_RATE, LAST_RATE = 0.15, 0.002
"""Share of its ceiling that a price moves by in the first step, and in the last round."""

COOLING = 0.1
"""What the rate falls to during a round, relative to its start."""

SLOWING = 0.6
"""By how much the rate falls from round to round, once few prices are at their ceilings."""

FEW = 0.01
"""Share of the items that is few."""

MEAN_MEMORY, SQUARE_MEMORY = 0.6, 0.97
"""Weights of the past in the averages of the slopes and of their squares."""

LOWEST = -0.1
"""No price is below this. One below 0 says that too many facilities want to fill up with an item."""

FIRST_CEILING = 0.1
PAIRS = 30_000_000
"""Most pairs of node vectors and items that pricing may look at; about six seconds."""

ENTRIES = 1_500_000
"""Most pairs of facilities and items in one round; its steps then take about as long as pricing."""

PAIRS_A_SECOND = 100_000
"""Such pairs for each second of the budget of a search that the bound stands beside: a tenth of it, about."""

LOWERINGS = 6
"""Times that the ceilings are drawn halfway towards the prices before a round is given up."""

MOST_ITEMS = 60_000
"""Tables with more distinct items than this get no bound beside the result of another search."""


class DualBound:
    """Prices and the bound that they prove, better after every round.

    Parameters
    ----------
    size: records that every class must have at least.
    pairs: of node vectors and items that each pricing may look at.

    Attributes
    ----------
    items: what is served.
    prices: the best found, shape (items,), float64: what a record of each item adds to the bound.
    loss: the bound on the mean loss of all records; never above the optimum.
    settled: whether further rounds would raise it no more than marginally.
    rounds: completed rounds.
    """

    def __init__(self, trees: AllowedTrees, items: Items, size: int, pairs: int = PAIRS) -> None:
        self._pricing = Pricing(trees, items, size)
        self._pairs = pairs
        self.items, self._size = items, size
        self._records = int(items.counts.sum())
        # An item with k records needs no others: nothing above its own cost could be proven for it.
        alone = np.where(items.counts >= size, trees.costs(items.nodes), np.inf)
        self._most = np.minimum(alone, 1.0)
        self.loss, self.settled, self.rounds = 0.0, False, 0
        self.prices = self._first_prices()
        self._ceilings = np.minimum(2.2 * self.prices + 0.005, self._most)
        self._rate = FIRST_RATE

    def _first_prices(self) -> FloatArray:
        """Return the cost of the cheapest facility that could serve each item: no facility gains then."""
        prices = np.minimum(FIRST_CEILING, self._most)
        try:
            found = self._pricing.facilities(prices, self._pairs)
        except TooMany:
            return np.zeros_like(prices)
        np.minimum.at(prices, found.items, found.cost[segments(found.starts)])
        return prices

    def improve(self, stopped: Callable[[], bool] = lambda: False, steps: int = STEPS) -> None:
        """Raise the bound by one round of ascent of so many steps.

        Deterministic, unless ``stopped`` asks to end within the round: then it is as if it had not begun.
        """
        try:
            found = self._priced(stopped)
        except Stopped:
            return
        if found is None:
            self.settled = True
            return
        bound = Lagrangian(found, self.items.counts, self._size)
        best, prices = bound.value(self.prices)[0], self.prices
        for value, current in self._ascent(bound, steps):
            if stopped():
                return
            if value > best:
                best, prices = value, current
        self._learn(best / self._records, prices)

    def facilities(self, margin: float, stopped: Callable[[], bool]) -> Facilities | None:
        """Return all facilities that would pay if every price were higher by ``margin``.

        None where there are too many, or ``stopped`` asks to end.
        """
        try:
            return self._pricing.facilities(np.maximum(self.prices, 0.0) + margin, self._pairs, stopped)
        except (TooMany, Stopped):
            return None

    def _priced(self, stopped: Callable[[], bool]) -> Facilities | None:
        """Return the facilities below the ceilings, which are lowered until there are not too many."""
        for _ in range(LOWERINGS):
            try:
                found = self._pricing.facilities(self._ceilings, self._pairs, stopped)
            except TooMany:
                found = None
            if found is not None and len(found.items) <= ENTRIES:
                return found
            self._ceilings = np.maximum(self.prices, (self._ceilings + self.prices) / 2)
        return None

    def _ascent(self, bound: Lagrangian, steps: int) -> Iterator[tuple[float, FloatArray]]:
        """Yield values of the bound with the prices that prove them, from the present ones on."""
        prices = self.prices
        mean, square = np.zeros_like(prices), np.zeros_like(prices)
        scale = np.maximum(self._ceilings, 0.0) + 0.005
        for step in range(steps + 1):
            value, slope = bound.value(prices)
            yield value, prices
            slope = slope / self.items.counts
            slope[(prices >= self._ceilings) & (slope > 0)] = 0.0
            mean = MEAN_MEMORY * mean + (1 - MEAN_MEMORY) * slope
            square = SQUARE_MEMORY * square + (1 - SQUARE_MEMORY) * slope**2
            direction = mean / (1 - MEAN_MEMORY ** (step + 1))
            direction /= np.sqrt(square / (1 - SQUARE_MEMORY ** (step + 1))) + 1e-3
            rate = self._rate * COOLING ** (step / steps)
            prices = np.clip(prices + rate * scale * direction, LOWEST, self._ceilings)

    def _learn(self, loss: float, prices: FloatArray) -> None:
        """Take the prices of a round, and set the ceilings and the rate of the next."""
        at_ceiling = (prices >= self._ceilings) & (self._ceilings < self._most)
        few = at_ceiling.mean() <= FEW
        if few:
            self._rate *= SLOWING
        gained = loss - self.loss
        self.settled = bool(few and (self._rate < LAST_RATE or gained < 1e-6 * loss))
        self.loss, self.prices = max(self.loss, loss), prices
        self.rounds += 1
        share, margin = (1.2, 0.01) if not few else (1.1, 0.01)
        raised = np.where(at_ceiling, 1.5 * prices, share * np.maximum(prices, 0.0)) + margin
        self._ceilings = np.minimum(raised, self._most)


def best_possible(
    problem: SearchProblem, stopped: Callable[[], bool] = lambda: False, seconds: float | None = None
) -> float | None:
    """Return a loss that no local recoding of a problem goes below, None where none is known.

    Full-domain and hierarchical multidimensional recodings are special cases, so it stands beside theirs.
    Known for metrics that are weighted means of cell costs, on tables that are not too large, unless cells
    may be blanked beyond the highest levels. Takes a second on 20,000 combinations.

    Parameters
    ----------
    stopped: asked whether to end early, with what is proven by then.
    seconds: budget of the search beside it, which decides how much work the bound is worth: a count, so that
        the same budget proves the same; None for all that it takes.
    """
    if not isinstance(problem.metric, CellMetric) or not isinstance(problem.metric.aggregate, ArithmeticMean):
        return None
    attributes = problem.table.quasi_identifiers
    if problem.suppression is SuppressionMethod.CELLS and any(
        own.maximum < own.hierarchy.height for own in attributes
    ):
        # Elsewhere a blank is at best as good as the root; here it is a node that local recoding may not use.
        return None
    trees = allowed_trees(attributes, problem.metric)
    if problem.table.combinations > MOST_ITEMS and surely_more_items(problem.table, trees, MOST_ITEMS):
        return None
    items = items_of(problem.table, trees)
    if items.number > MOST_ITEMS:
        return None
    pairs = PAIRS if seconds is None else min(max(int(PAIRS_A_SECOND * seconds), 1), PAIRS)
    bound = DualBound(trees, items, problem.minimum_size, pairs)
    bound.improve(stopped, FEW_STEPS)
    return bound.loss if bound.rounds else None
