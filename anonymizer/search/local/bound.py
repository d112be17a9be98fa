"""A proven lower bound on the loss of every local recoding under k-anonymity, by Lagrangian prices.

Local recoding is a lower-bounded facility location: a facility is a vector of allowed nodes and serves k
records or more, a record is served once, by a facility that covers it, at the sum of its nodes' costs, or
suppressed at cost 1. Where k units are asked for, a facility serves records of k units: a unit that two items
have counts twice, which only lowers the bound. "Every record is served once" is relaxed. Any dual prices, one
per record, prove a bound; good prices are found by ascent. As no price exceeds 1, suppression never pays more
than it costs, so the bound holds for any limit.

Source: the relaxation of Erlenkotter (Operations Research 26, 1978, doi:10.1287/opre.26.6.992), with
facilities that need k customers; steps scaled by the slopes' second moments: Kingma, Ba (ICLR 2015,
arXiv:1412.6980).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, prod

import numpy as np

from anonymizer.loss.base import ArithmeticMean, CellMetric
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.features import SuppressionMethod
from anonymizer.search.base import SearchProblem, weighs_differently
from anonymizer.search.local.facilities import Facilities, Pricing, Stopped, TooMany, segments
from anonymizer.search.local.neighbours.bound import NeighbourBound, surely_long
from anonymizer.search.local.start import VECTORS
from anonymizer.search.partition.trees import (
    AllowedTrees,
    Items,
    allowed_trees,
    items_of,
    surely_more_items,
)

ROUNDING = 1e-11
"""Relative to the sum of absolute terms: far above the errors of float64 sums."""


class Lagrangian:
    """Lower bound on the total cost of serving all records, as a function of the prices of their items.

    Every facility serves the records whose price exceeds its cost, and if these are of fewer than k units,
    the next best up to k, or none. With price u and n records of each item, the bound is the sum of n * u
    minus the gains of the facilities; it is concave in u.

    Parameters
    ----------
    facilities: all that could gain at the prices of interest.
    items: with their records and units.
    size: fewest units of a facility, k.
    """

    def __init__(self, facilities: Facilities, items: Items, size: int) -> None:
        self._facilities, self._size = facilities, size
        self._counts, self._units = items.counts.astype(np.float64), items.units.astype(np.float64)
        self._owner = segments(facilities.starts)
        self._cost = facilities.cost[self._owner]
        self._bits = max(items.number - 1, 1).bit_length()

    def value(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound, less rounding errors, and its slope in each price.

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
        """Return the entries of the facilities with a record whose price exceeds the cost.

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
        """Return records taken per entry, the part of each facility (at most 0), and the served entries."""
        starts = np.searchsorted(owner, np.arange(len(cost)))
        price, units = prices[items], self._units[items]
        before = np.cumsum(units) - units
        before -= before[starts][owner]
        taken = np.minimum(units, np.maximum(self._size - before, 0.0))
        missing = self._size - np.add.reduceat(taken, starts)
        pays = price > cost[owner]
        taken[pays] = self._counts[items[pays]]
        # Unlisted items of a higher price are assumed to fill up first.
        other = rest[owner]
        gains = np.add.reduceat(taken * (cost[owner] - np.maximum(price, other)), starts)
        short = missing > 0
        gains[short] += missing[short] * (cost[short] - rest[short])
        served = (gains < 0)[owner] & (price >= other)
        return taken, np.minimum(gains, 0.0), served


STEPS = 40
"""Steps of ascent in a round."""

FEW_STEPS = 10
"""Steps of a bound for another search's result."""

FIRST_RATE, LAST_RATE = 0.15, 0.002
"""Share of its ceiling that a price moves by in the first step, and in the last round."""

COOLING = 0.1
"""Rate at the end of a round, relative to its start."""

SLOWING = 0.6
"""Factor of the rate from round to round, once few prices are at their ceilings."""

FEW = 0.01
"""Share of the items that is few."""

MEAN_MEMORY, SQUARE_MEMORY = 0.6, 0.97
"""Weights of the past in the averages of the slopes and of their squares."""

LOWEST = -0.1
"""Lowest price. One below 0 means that too many facilities fill up with an item."""

FIRST_CEILING = 0.1
PAIRS = 30_000_000
"""Most pairs of node vectors and items in one pricing; about six seconds."""

ENTRIES = 1_500_000
"""Most pairs of facilities and items in one round; its steps then take about as long as pricing."""

PAIRS_A_SECOND = 100_000
"""Such pairs for each second of another search's budget: about a tenth of its time."""

QUICK = 2.0
"""Budget in seconds for which a bound takes about a fifth of a second."""

LOWERINGS = 6
"""Times that the ceilings move halfway towards the prices before a round is given up."""

MOST_ITEMS = 60_000
"""Most distinct items of a table with a bound for another search's result."""


class DualBound:
    """Prices and their bound, improved round by round.

    Parameters
    ----------
    size: smallest class.
    pairs: most pairs of node vectors and items in each pricing.

    Attributes
    ----------
    items: to serve.
    prices: the best found, shape (items,), float64; each is the part of a record in the bound.
    loss: the bound on the mean loss of all records; never above the optimum.
    settled: whether further rounds would hardly raise it.
    rounds: completed rounds.
    """

    def __init__(self, trees: AllowedTrees, items: Items, size: int, pairs: int = PAIRS) -> None:
        self._pricing = Pricing(trees, items, size)
        self._pairs = pairs
        self.items, self._size = items, size
        self._records = int(items.counts.sum())
        # An item with k units needs no others, so its price cannot exceed its own cost.
        alone = np.where(items.units >= size, trees.costs(items.nodes), np.inf)
        self._most = np.minimum(alone, 1.0)
        self.loss, self.settled, self.rounds = 0.0, False, 0
        self.prices = self._first_prices()
        self._ceilings = np.minimum(2.2 * self.prices + 0.005, self._most)
        self._rate = FIRST_RATE

    def _first_prices(self) -> FloatArray:
        """Return the cost of the cheapest facility for each item; no facility gains at these prices."""
        prices = np.minimum(FIRST_CEILING, self._most)
        try:
            found = self._pricing.facilities(prices, self._pairs)
        except TooMany:
            return np.zeros_like(prices)
        np.minimum.at(prices, found.items, found.cost[segments(found.starts)])
        return prices

    def improve(self, stopped: Callable[[], bool] = lambda: False, steps: int = STEPS) -> bool:
        """Raise the bound by one round of ascent of so many steps; return False if ``stopped`` ended it.

        Deterministic, unless ``stopped`` ends the round, which then has no effect.
        """
        if stopped():
            return False
        try:
            found = self._priced(stopped)
        except Stopped:
            return False
        if found is None:
            self.settled = True
            return True
        bound = Lagrangian(found, self.items, self._size)
        best, prices = bound.value(self.prices)[0], self.prices
        for value, current in self._ascent(bound, steps):
            if stopped():
                return False
            if value > best:
                best, prices = value, current
        self._learn(best / self._records, prices)
        return True

    @property
    def reach(self) -> float:
        """The most that the next round can prove."""
        return float(self.items.counts @ self._ceilings) / self._records

    def facilities(self, margin: float, stopped: Callable[[], bool]) -> Facilities | None:
        """Return all facilities that would pay if every price were higher by ``margin``.

        None if there are too many, or if ``stopped``.
        """
        try:
            return self._pricing.facilities(np.maximum(self.prices, 0.0) + margin, self._pairs, stopped)
        except (TooMany, Stopped):
            return None

    def _priced(self, stopped: Callable[[], bool]) -> Facilities | None:
        """Return the facilities at the ceilings, which are lowered while there are too many."""
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
        """Yield values of the bound with their prices, from the present ones on."""
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
        """Keep the prices of a round, and set the ceilings and the rate of the next."""
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


ROUNDS_A_SECOND = 0.5
"""Rounds of the bound by neighbours for each second of another search's budget: about a tenth of its time."""

ROUNDS_WEIGHED = 8
"""Most of them of a bound by weights, about two seconds: there the neighbours are all it has."""

MOST_SETS = 8
"""Of more sets of known attributes, those that promise most are bounded."""


def best_possible(
    problem: SearchProblem,
    stopped: Callable[[], bool] = lambda: False,
    seconds: float | None = None,
    *,
    telling: float = 0.0,
) -> float | None:
    """Return a lower bound on the loss of every local recoding of a problem, None if unknown.

    Full-domain and hierarchical multidimensional recodings are special cases, so it also bounds these. With
    many attributes, or few records, it is the better one of two. Known for weighted means of cell costs, on
    tables that are not too large, unless suppressed cells may exceed the highest levels. Takes a second on
    20,000 distinct rows.

    What adversaries of scenarios see of a release is a release of the columns that they know, so that the
    loss on these is at least the best one for them alone.

    Parameters
    ----------
    stopped: returns whether to end early, with the bound so far.
    seconds: budget of the other search, which determines the work of the bound: a count, so that the same
        budget gives the same bound; None for no limit.
    telling: least bound worth a round; where its first prices promise less, the bound of prices is unknown.
    """
    found = _best_on_all(problem, stopped, seconds, 0.0 if problem.has_scenarios else telling)
    if found is None or not problem.has_scenarios:
        return found
    weights = {each.name: each.weight for each in problem.table.quasi_identifiers}
    total = sum(weights.values())
    parts = []
    for known in {own for each in problem.class_constraints for own in each.knowledge or ()}:
        share = sum(weights[name] for name in known) / total
        part = problem.of_knowledge(known)
        size, _ = part.smallest_class
        if size > 1 and share > 0:
            parts.append((-share * size, sorted(known), share, part))
    parts = sorted(parts, key=lambda each: each[:2])[:MOST_SETS]
    for _, _, share, part in parts:
        own = None if seconds is None else seconds / len(parts)
        bound = None if stopped() else _best_on_all(part, stopped, own)
        # The shares are sums of weights, which round differently than those of the loss.
        found = max(found, share * (bound or 0.0) * (1 - ROUNDING))
    return found


def _best_on_all(
    problem: SearchProblem, stopped: Callable[[], bool], seconds: float | None, telling: float = 0.0
) -> float | None:
    """Return the bound for adversaries who know all quasi-identifiers, as ``best_possible``."""
    if not isinstance(problem.metric, CellMetric) or not isinstance(problem.metric.aggregate, ArithmeticMean):
        return None
    attributes = problem.table.quasi_identifiers
    if problem.suppression is SuppressionMethod.CELLS and any(
        own.maximum < own.hierarchy.height for own in attributes
    ):
        # A suppressed cell equals the root, which local recoding may not use here.
        return None
    trees = allowed_trees(attributes, problem.metric)
    if problem.table.combinations > MOST_ITEMS and surely_more_items(problem.table, trees, MOST_ITEMS):
        return None
    size, unit = problem.smallest_class
    items = items_of(problem.table, trees, unit)
    if items.number > MOST_ITEMS:
        return None
    pairs = PAIRS if seconds is None else min(max(int(PAIRS_A_SECOND * seconds), 1), PAIRS)
    bound = DualBound(trees, items, size, pairs)
    promising = bound.reach >= telling
    if promising:
        bound.improve(stopped, FEW_STEPS)
    few = prod(own.maximum - own.minimum + 1 for own in attributes) <= VECTORS
    weighed, least = weighs_differently(problem), bound.loss
    if weighed:
        # Every record counts at least as much as the one of lowest weight.
        table = problem.table
        least *= float(table.row_weights.min()) * table.records / table.people * (1 - ROUNDING)
    # Prices are the better bound here, so where they tell nothing, neighbours of some records do not either.
    priced = few and bool(bound.rounds or not promising)
    near = None
    if weighed or not (priced and surely_long(problem.table, size, unit)):
        near = NeighbourBound(problem.table, trees, size, unit, by_weights=weighed)
    if near is None or (priced and not near.brief and not weighed):
        return least if bound.rounds else None
    rounds = inf if seconds is None else max(ROUNDS_A_SECOND * seconds, 1)
    rounds = min(rounds, ROUNDS_WEIGHED) if weighed else rounds
    while rounds > 0 and not near.settled and near.improve(stopped):
        rounds -= 1
    return max(least, near.loss) if bound.rounds else near.loss or None
