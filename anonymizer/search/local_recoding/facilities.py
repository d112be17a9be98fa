"""The classes that could pay at given prices: facilities of small reduced cost, by exact pricing.

A facility is a vector of allowed nodes that serves at least k records. With a price u for each item's
records, serving one by a facility of cost c is worth u - c. Facilities that cannot be worth anything as long
as no price exceeds its ceiling are never built: a vector that is extended attribute by attribute only gets
dearer and covers less, so a hopeless beginning is dropped with everything below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.search.local_recoding.beginnings import (
    NodePrefixes,
    blocks,
    cheapest_of_equals,
    empty,
    joined,
    kept_of,
    starts_of,
    unchosen,
)
from anonymizer.search.local_recoding.trees import NONE, AllowedTrees, Items

LISTED_SHARE = 0.25
LISTED_MARGIN = 0.05
"""An item whose ceiling is at most ``LISTED_SHARE`` * cost - ``LISTED_MARGIN`` is not listed with a facility:
it could only fill it up, and some record of just that price is assumed to be there instead."""

FILL = 3
"""Items beyond those that may pay are listed until a facility has this many times k records to fill up."""


class TooMany(Exception):
    """The ceilings let more pairs of items and facilities through than were allowed."""


class Stopped(Exception):
    """The user wants to stop."""


@dataclass(frozen=True, eq=False)
class Facilities:
    """Facilities with the items that they may serve.

    Attributes
    ----------
    nodes: allowed nodes, shape (facilities, quasi-identifiers), int32.
    cost: of serving one record, shape (facilities,), float64.
    starts: first entry of each facility and, last, the number of entries, shape (facilities + 1,), int64.
    items: item of each entry, shape (entries,), int64; by facility, then by falling ceiling.
    rest: no covered item that is not listed has a price above this, shape (facilities,), float64; minus
        infinity where all are listed.
    """

    nodes: CodeArray
    cost: FloatArray
    starts: IntArray
    items: IntArray
    rest: FloatArray

    @property
    def number(self) -> int:
        """Number of facilities."""
        return len(self.cost)


class Pricing:
    """Finds the facilities that could pay.

    Parameters
    ----------
    size: records that a facility must serve at least, k.
    """

    def __init__(self, trees: AllowedTrees, items: Items, size: int) -> None:
        self._trees, self._size = trees, size
        self._counts = items.counts.astype(np.float64)
        self._chains = [self._chain(items.nodes[:, position]) for position in range(trees.attributes)]
        # Attributes whose first step is dear come first: they rule out most vectors early.
        steps = [self._first_step(chain) for chain in self._chains]
        self._order = sorted(range(trees.attributes), key=lambda position: -steps[position])
        # Fingerprints only propose which vectors may cover the same items.
        self._marks = np.random.default_rng(0).integers(0, 2**62, items.number, dtype=np.int64)

    def _chain(self, nodes: CodeArray) -> CodeArray:
        """Return the nodes of each item from its smallest up, without those that cost as much as the next."""
        columns = []
        parents, costs = self._trees.parent, self._trees.cost
        while (nodes != NONE).any():
            above = np.where(nodes == NONE, NONE, parents[nodes]).astype(np.int32)
            free = (above != NONE) & (costs[above] <= costs[nodes])
            columns.append(np.where(free, NONE, nodes))
            nodes = above
        return np.stack(columns, axis=1)

    def _first_step(self, chain: CodeArray) -> float:
        costs = np.where(chain == NONE, np.inf, self._trees.cost[chain])
        costs.sort(axis=1)
        if costs.shape[1] == 1:
            return 0.0
        return float(np.where(np.isinf(costs[:, 1]), 0.0, costs[:, 1] - costs[:, 0]).mean())

    def facilities(
        self, ceilings: FloatArray, most: int, stopped: Callable[[], bool] = lambda: False
    ) -> Facilities:
        """Return all facilities that could be worth something.

        Parameters
        ----------
        ceilings: highest price of each item, shape (items,).
        most: number of pairs of items and facilities that may be looked at.
        stopped: asked now and then.

        Raises
        ------
        TooMany: there are more.
        Stopped: the user wants to stop.
        """
        ranked = np.argsort(-ceilings, kind="stable")
        prices, counts = ceilings[ranked], self._counts[ranked]
        marks = self._marks[ranked]
        waiting, done, looked_at = [(0, unchosen(len(ranked)))], [], 0
        while waiting:
            depth, found = waiting.pop()
            if depth == len(self._order):
                done.append(found)
                continue
            if stopped():
                raise Stopped
            looked_at += len(found.items)
            if looked_at > most:
                raise TooMany
            found = self._extended(found, self._chains[self._order[depth]][ranked], prices, counts)
            found = kept_of(found, cheapest_of_equals(found, marks))
            waiting += [(depth + 1, block) for block in blocks(found)]
        whole = joined(done) if done else empty(len(self._order))
        return self._listed(kept_of(whole, cheapest_of_equals(whole, marks)), ranked, prices, counts)

    def _extended(
        self, old: NodePrefixes, chain: CodeArray, prices: FloatArray, counts: FloatArray
    ) -> NodePrefixes:
        """Return the vectors with one more attribute that may still be worth something."""
        base = int(chain[chain != NONE].min())
        item_bits, node_bits = _bits(len(prices)), _bits(int(chain.max()) - base + 1)
        price, cost, worth = prices[old.items], old.cost[old.vector], old.worth[old.vector]
        beginning = old.vector << node_bits
        short = np.zeros(len(old.cost) << node_bits, dtype=bool)
        keys = []
        for nodes in chain.T:
            own = nodes[old.items]
            raised = cost + self._trees.cost[own]
            hopeful = (own != NONE) & (raised < worth)
            listed = hopeful & (price > LISTED_SHARE * raised - LISTED_MARGIN)
            unlisted = np.flatnonzero(hopeful & ~listed)
            short[beginning[unlisted] + (own[unlisted] - base)] = True
            part = np.flatnonzero(listed)
            keys.append(((beginning[part] + (own[part] - base)) << item_bits) | old.items[part])
        key = np.concatenate(keys)
        key.sort()
        vectors = key >> item_bits
        new = np.ones(len(key), dtype=bool)
        new[1:] = vectors[1:] != vectors[:-1]
        starts = np.flatnonzero(new)
        own_key = vectors[starts]
        before = own_key >> node_bits
        node = ((own_key & ((1 << node_bits) - 1)) + base).astype(np.int32)
        extended = NodePrefixes(
            np.concatenate([old.nodes[before], node[:, None]], axis=1),
            old.cost[before] + self._trees.cost[node],
            np.zeros(len(starts)),
            old.whole[before] & ~short[own_key],
            key & ((1 << item_bits) - 1),
            np.cumsum(new) - 1,
        )
        return self._hopeful(extended, starts, prices, counts)

    def _hopeful(
        self, found: NodePrefixes, starts: IntArray, prices: FloatArray, counts: FloatArray
    ) -> NodePrefixes:
        """Keep the vectors of which the dearest k records are worth more than they cost."""
        if not len(starts):
            return found
        price, records = prices[found.items], counts[found.items]
        before = np.cumsum(records) - records
        before -= before[starts][found.vector]
        taken = np.clip(self._size - before, 0, records)
        # What is not listed has a price of at most this, whatever is still added to the vector.
        other = np.where(found.whole, -np.inf, LISTED_SHARE * price[starts] - LISTED_MARGIN)
        paid = np.add.reduceat(taken * np.maximum(price, other[found.vector]), starts)
        missing = self._size - np.add.reduceat(taken, starts)
        filled = np.multiply(missing, other, out=np.zeros_like(other), where=missing > 0)
        worth = (paid + filled) / self._size
        found = NodePrefixes(found.nodes, found.cost, worth, found.whole, found.items, found.vector)
        return kept_of(found, worth > found.cost)

    def _listed(
        self, found: NodePrefixes, ranked: IntArray, prices: FloatArray, counts: FloatArray
    ) -> Facilities:
        """Cut each facility's list after those that may pay and enough to fill it up with."""
        starts = starts_of(found.vector, len(found.cost))
        records = counts[found.items]
        before = np.cumsum(records) - records
        before -= before[starts[:-1]][found.vector] if len(before) else 0
        price, cost = prices[found.items], found.cost[found.vector]
        listed = (price > cost) | (before < FILL * self._size)
        rest = np.where(found.whole, -np.inf, LISTED_SHARE * found.cost - LISTED_MARGIN)
        np.maximum.at(rest, found.vector[~listed], price[~listed])
        nodes = np.empty_like(found.nodes)
        nodes[:, self._order] = found.nodes
        return Facilities(
            nodes,
            found.cost,
            starts_of(found.vector[listed], len(found.cost)),
            ranked[found.items[listed]],
            rest,
        )


def segments(starts: IntArray) -> IntArray:
    """Return the number of the segment that each entry lies in, shape (entries,), int64."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _bits(values: int) -> int:
    """Return how many bits tell so many values apart."""
    return max(values - 1, 1).bit_length()
