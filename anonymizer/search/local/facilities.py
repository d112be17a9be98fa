"""The classes that could pay at given prices: facilities of low reduced cost, by exact pricing.

A facility is a vector of allowed nodes that serves at least k records, or records of k units. With a price u
for each item's records, serving one by a facility of cost c is worth u - c. Facilities that cannot pay while
no price exceeds its ceiling are never built: extending a vector attribute by attribute raises its cost and
reduces its coverage, so a prefix that cannot pay is dropped with all its extensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, group_keys
from anonymizer.search.partition.trees import NONE, AllowedTrees, Items

BLOCK = 1 << 17
"""Pairs of vectors and items that are extended at once."""


@dataclass(frozen=True, eq=False)
class NodePrefixes:
    """Node vectors of the first few attributes, with their covered items.

    Attributes
    ----------
    nodes: shape (vectors, attributes so far).
    cost: shape (vectors,).
    worth: cost from which on no extension of a vector pays, shape (vectors,).
    whole: whether every covered item is listed, shape (vectors,).
    items, vector: of each entry, shape (entries,); by vector, then by falling ceiling. Items are ranked
        by falling ceiling here.
    """

    nodes: CodeArray
    cost: FloatArray
    worth: FloatArray
    whole: BoolArray
    items: IntArray
    vector: IntArray


def starts_of(owner: IntArray, number: int) -> IntArray:
    """Return the first entry of each owner and, last, the number of entries, shape (number + 1,), int64."""
    return np.searchsorted(owner, np.arange(number + 1)).astype(np.int64)


def _some(
    found: NodePrefixes, vectors: slice | BoolArray, entries: slice | BoolArray, vector: IntArray
) -> NodePrefixes:
    """Return some vectors with some entries, and the new number of the vector of each of these."""
    return NodePrefixes(
        found.nodes[vectors],
        found.cost[vectors],
        found.worth[vectors],
        found.whole[vectors],
        found.items[entries],
        vector,
    )


def blocks(found: NodePrefixes) -> list[NodePrefixes]:
    """Cut vectors into blocks of about ``BLOCK`` entries each: small arrays are several times faster."""
    starts = starts_of(found.vector, len(found.cost))
    number = -(-len(found.items) // BLOCK)
    cuts = np.unique(np.searchsorted(starts, np.linspace(0, len(found.items), number + 1)))
    blocks = []
    for first, last in pairwise(cuts.tolist()):
        inside, entries = slice(first, last), slice(starts[first], starts[last])
        blocks.append(_some(found, inside, entries, found.vector[entries] - first))
    return blocks


def unchosen(items: int) -> NodePrefixes:
    """Return the empty prefix, which covers all items."""
    return NodePrefixes(
        np.zeros((1, 0), dtype=np.int32),
        np.zeros(1),
        np.full(1, np.inf),
        np.ones(1, dtype=bool),
        np.arange(items),
        np.zeros(items, dtype=np.int64),
    )


def empty(attributes: int) -> NodePrefixes:
    """Return no vectors of so many attributes."""
    none = np.zeros(0)
    index = np.zeros(0, dtype=np.int64)
    return NodePrefixes(
        np.zeros((0, attributes), dtype=np.int32), none, none, np.zeros(0, dtype=bool), index, index
    )


def joined(blocks: list[NodePrefixes]) -> NodePrefixes:
    """Return the vectors of several blocks as one."""
    offsets = np.cumsum([0] + [len(block.cost) for block in blocks])
    return NodePrefixes(
        np.concatenate([block.nodes for block in blocks]),
        np.concatenate([block.cost for block in blocks]),
        np.concatenate([block.worth for block in blocks]),
        np.concatenate([block.whole for block in blocks]),
        np.concatenate([block.items for block in blocks]),
        np.concatenate([block.vector + first for block, first in zip(blocks, offsets, strict=False)]),
    )


def kept_of(found: NodePrefixes, kept: BoolArray) -> NodePrefixes:
    """Return the kept vectors, shape (vectors,), with their entries."""
    inside = kept[found.vector]
    numbers = np.cumsum(kept) - 1
    return _some(found, kept, inside, numbers[found.vector[inside]])


def cheapest_of_equals(found: NodePrefixes, marks: IntArray) -> BoolArray:
    """Return which vectors are the cheapest with their list of items, shape (vectors,)."""
    number = len(found.cost)
    kept = np.ones(number, dtype=bool)
    if number < 2:
        return kept
    starts = starts_of(found.vector, number)
    sums = np.add.reduceat(marks[found.items], starts[:-1]) * 2 + found.whole
    order = np.lexsort((found.cost, sums))
    new = np.ones(number, dtype=bool)
    new[1:] = sums[order][1:] != sums[order][:-1]
    first = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    twins, leaders = order[~new], first[~new]
    lengths = np.diff(starts)
    alike = lengths[twins] == lengths[leaders]
    twins, leaders = twins[alike], leaders[alike]
    spans = lengths[twins]
    offsets = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
    same = (
        found.items[np.repeat(starts[twins], spans) + offsets]
        == found.items[np.repeat(starts[leaders], spans) + offsets]
    )
    pair = np.repeat(np.arange(len(twins)), spans)
    kept[twins[np.bincount(pair[~same], minlength=len(twins)) == 0]] = False
    return kept


LISTED_SHARE = 0.25
LISTED_MARGIN = 0.05
"""An item whose ceiling is at most ``LISTED_SHARE`` * cost - ``LISTED_MARGIN`` is not listed with a facility:
it could only fill it up, and some record of just that price is assumed to be there instead."""

FILL = 3
"""Multiple of k records up to which items that cannot pay are listed to fill a facility up."""


class TooMany(Exception):
    """The ceilings admit more pairs of items and facilities than allowed."""


class Stopped(Exception):
    """The user wants to stop."""


@dataclass(frozen=True, eq=False)
class Facilities:
    """Facilities with their possible items.

    Attributes
    ----------
    nodes: allowed nodes, shape (facilities, quasi-identifiers), int32.
    cost: of serving one record, shape (facilities,), float64.
    starts: first entry of each facility and, last, the number of entries, shape (facilities + 1,), int64.
    items: item of each entry, shape (entries,), int64; by facility, then by falling ceiling.
    rest: highest price of an unlisted covered item, shape (facilities,), float64; minus infinity if all are
        listed.
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
    size: fewest records of a facility, k.
    """

    def __init__(self, trees: AllowedTrees, items: Items, size: int) -> None:
        self._trees, self._size = trees, size
        self._counts, self._units = items.counts.astype(np.float64), items.units.astype(np.float64)
        self._chains: list[CodeArray] = []
        steps = []
        for nodes in items.nodes.T:
            # Items are many, their nodes few.
            place, distinct = group_keys(nodes.astype(np.int64), int(nodes.max(initial=0)) + 1)
            chain = self._chain(distinct.astype(np.int32))
            self._chains.append(chain[place])
            steps.append(float(self._first_steps(chain)[place].mean()))
        # Attributes with an expensive first step come first, as they rule out most vectors early.
        self._order = sorted(range(trees.attributes), key=lambda position: -steps[position])
        # Fingerprints only suggest which vectors may cover the same items.
        self._marks = np.random.default_rng(0).integers(0, 2**62, items.number, dtype=np.int64)

    def _chain(self, nodes: CodeArray) -> CodeArray:
        """Return each node and those above it, lowest first, without those as expensive as the next."""
        columns = []
        parents, costs = self._trees.parent, self._trees.cost
        while (nodes != NONE).any():
            above = np.where(nodes == NONE, NONE, parents[nodes]).astype(np.int32)
            free = (above != NONE) & (costs[above] <= costs[nodes])
            columns.append(np.where(free, NONE, nodes))
            nodes = above
        return np.stack(columns, axis=1)

    def _first_steps(self, chain: CodeArray) -> FloatArray:
        """Return by how much the second node of each chain costs more than the first, 0 without one."""
        costs = np.where(chain == NONE, np.inf, self._trees.cost[chain])
        costs.sort(axis=1)
        if costs.shape[1] == 1:
            return np.zeros(len(costs))
        return np.where(np.isinf(costs[:, 1]), 0.0, costs[:, 1] - costs[:, 0])

    def facilities(
        self, ceilings: FloatArray, most: int, stopped: Callable[[], bool] = lambda: False
    ) -> Facilities:
        """Return all facilities that could pay.

        Parameters
        ----------
        ceilings: highest price of each item, shape (items,).
        most: allowed pairs of items and facilities.
        stopped: returns whether the user wants to stop.

        Raises
        ------
        TooMany: there are more.
        Stopped: the user wants to stop.
        """
        ranked = np.argsort(-ceilings, kind="stable")
        prices, counts = ceilings[ranked], self._counts[ranked]
        marks = self._marks[ranked]
        # Blocks that wait will be looked at, so that their pairs count as soon as they are known.
        waiting, done, pairs = [(0, unchosen(len(ranked)))], [], len(ranked)
        while waiting:
            depth, found = waiting.pop()
            if depth == len(self._order):
                done.append(found)
                continue
            if stopped():
                raise Stopped
            if pairs > most:
                raise TooMany
            found = self._extended(found, self._chains[self._order[depth]][ranked], prices, counts)
            found = kept_of(found, cheapest_of_equals(found, marks))
            waiting += [(depth + 1, block) for block in blocks(found)]
            pairs += len(found.items) if depth + 1 < len(self._order) else 0
        whole = joined(done) if done else empty(len(self._order))
        return self._listed(
            kept_of(whole, cheapest_of_equals(whole, marks)), ranked, prices, self._units[ranked]
        )

    def _extended(
        self, old: NodePrefixes, chain: CodeArray, prices: FloatArray, counts: FloatArray
    ) -> NodePrefixes:
        """Return the vectors with one more attribute that may still pay."""
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
        """Keep the vectors whose k records of highest price pay."""
        if not len(starts):
            return found
        price, records = prices[found.items], counts[found.items]
        before = np.cumsum(records) - records
        before -= before[starts][found.vector]
        taken = np.clip(self._size - before, 0, records)
        # Unlisted items have at most this price, also in extensions of the vector.
        other = np.where(found.whole, -np.inf, LISTED_SHARE * price[starts] - LISTED_MARGIN)
        paid = np.add.reduceat(taken * np.maximum(price, other[found.vector]), starts)
        missing = self._size - np.add.reduceat(taken, starts)
        filled = np.multiply(missing, other, out=np.zeros_like(other), where=missing > 0)
        worth = (paid + filled) / self._size
        found = NodePrefixes(found.nodes, found.cost, worth, found.whole, found.items, found.vector)
        return kept_of(found, worth > found.cost)

    def _listed(
        self, found: NodePrefixes, ranked: IntArray, prices: FloatArray, units: FloatArray
    ) -> Facilities:
        """Cut each facility's list after the items that may pay and enough to fill it up."""
        starts = starts_of(found.vector, len(found.cost))
        filling = units[found.items]
        before = np.cumsum(filling) - filling
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
    """Return the segment of each entry, shape (entries,), int64."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _bits(values: int) -> int:
    """Return the number of bits for so many values."""
    return max(values - 1, 1).bit_length()
